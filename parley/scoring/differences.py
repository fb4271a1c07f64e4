"""Differences of metrics between two models on the same rows, with intervals and p."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, cycle, islice

import numpy as np

from parley.scoring.intervals import Array, Interval, Metric
from parley.scoring.metrics import Evaluation, Names

ENUMERATED, SIGNS, SEED = 20, 9_999, 0
"""A permutation test tries all signs of at most `ENUMERATED` clusters. Of more it takes `SIGNS`
random changes of signs, drawn with `SEED`."""


@dataclass(frozen=True)
class MetricDifference:
    """A metric of one model minus that of another on the same rows.

    `p` is two-sided: of a mean over rows that of a paired permutation test over clusters, for two
    kinds of clusters the larger of two; of other metrics that of Student's t for the interval. Some
    metrics exist only for some rows, such as those with a deal: then `rows` is the number of rows
    that have the metric in both models, else None.
    """

    value: float | None  # None if the metric is undefined for one of the two
    interval: Interval | None = None
    p: float | None = None
    p_holm: float | None = None
    rows: int | None = None


def paired_differences(
    one: Evaluation, other: Evaluation, names: Iterable[Names]
) -> dict[Names, MetricDifference]:
    """Return metrics of one minus those of the other, each over the same rows in both.

    A metric that is not of every row, as of readable answers or of deals alone, is compared on the
    rows that have it in both.
    """
    names = [name for name in names if name in one.metrics and name in other.metrics]
    if len({frozenset(epoch.rows.gold) for epoch in (*one.epochs, *other.epochs)}) > 1:
        apart = {*names}  # some are dropped
    else:
        metrics = [epoch.metrics for epoch in (*one.epochs, *other.epochs)]
        owns = {n: [of[n].own for of in metrics if n in of] for n in names}
        apart = {n for n, of in owns.items() if len({o.tobytes() for o in of if o is not None}) > 1}
    differences = _differences(one, other, [name for name in names if name not in apart])
    common = one.readable_keys & other.readable_keys
    if apart and common:
        of_both = _differences(one.within(common), other.within(common), apart)
        differences |= {name: replace(by, rows=len(common)) for name, by in of_both.items()}
    elif apart:
        differences |= dict.fromkeys(apart, MetricDifference(None, rows=0))
    return {name: differences[name] for name in names}


def _differences(
    one: Evaluation, other: Evaluation, names: Iterable[Names]
) -> dict[Names, MetricDifference]:
    """Return differences of metrics, over the rows that have a value in both."""
    differs = _differing_rows(one, other)
    return {name: _difference(one, other, name, differs) for name in names}


def _differing_rows(one: Evaluation, other: Evaluation) -> Array:
    """Return whether two models answer each row differently, in the order of metrics."""
    width, count = len(one.rows.task.gold_key), math.lcm(len(one.epochs), len(other.epochs))
    differing = {
        key[:width]
        for ours, theirs in islice(zip(cycle(one.epochs), cycle(other.epochs), strict=True), count)
        for key in ours.predictions.keys() | theirs.predictions.keys()
        if ours.predictions.get(key) != theirs.predictions.get(key)
    }
    return np.array([key in differing for key in chain.from_iterable(one.rows.folds)], bool)


def _difference(
    one: Evaluation, other: Evaluation, name: Names, differs: Array
) -> MetricDifference:
    """Return the difference of a metric; `differs` says which rows have two answers."""
    ours, theirs = one.metrics.get(name), other.metrics.get(name)
    if ours is None or theirs is None or math.isnan(ours.value) or math.isnan(theirs.value):
        return MetricDifference(None)
    by, rows = ours.minus(theirs), None
    if (
        ours.rows is not None
        and theirs.rows is not None
        and not np.array_equal(np.isnan(ours.rows), np.isnan(theirs.rows))
    ):
        of_both = ours.rows - theirs.rows
        by, rows = one.rows.mean(of_both), int((~np.isnan(of_both)).sum())
    if math.isnan(by.value):
        return MetricDifference(None, rows=rows)
    if sums := [spread.sums for spread in by.spreads[:2] if spread.sums is not None]:
        return MetricDifference(by.value, by.interval, max(map(_p_of_sums, sums)), rows=rows)
    if not by.spreads:  # a median
        return MetricDifference(by.value)
    for epoch in (*one.epochs, *other.epochs):
        if (own := epoch.metrics[name].own) is not None:
            differs = differs & own
    kinds = [len(np.unique(of[differs[row]])) for _, of, row in one.rows.members[:2]]
    return MetricDifference(by.value, by.interval, p_of_error(by, min(kinds)))


def p_of_error(by: Metric, clusters: int) -> float | None:
    """Return p by Student's t of a difference and its standard error.

    It is at least the least p that swapping the models' answers can give in so many clusters, those
    in which they differ. None if the standard error is undefined.
    """
    from scipy.stats import t

    least = 2.0 ** (1 - clusters)
    if least >= 1 or abs(by.value) < 1e-10:  # no more than rounding
        return 1.0
    if math.isnan(by.error):
        return None
    distance = abs(by.value) / max(by.error, 1e-300)
    return max(least, 2 * float(t.sf(distance, by.freedom)))


def _p_of_sums(added: Array) -> float:
    """Return p by changing the sign of what each cluster adds to a difference.

    As in `scipy.stats.permutation_test` of samples: in all ways for up to `ENUMERATED` clusters
    that add something, else in `SIGNS` random ways and that of the difference itself.
    """
    added = added[abs(added) > 1e-12 * abs(added).max(initial=0)]  # another sign of 0 changes none
    least = abs(added.sum()) - 1e-9 * abs(added).sum()  # a sum in another order is the same number
    if len(added) > ENUMERATED:
        signs = np.random.default_rng(SEED).choice([1.0, -1.0], (SIGNS, len(added)))
        return float((abs(signs @ added) >= least).sum() + 1) / (SIGNS + 1)
    sums = np.zeros(1)
    for each in added:
        sums = np.concatenate([sums + each, sums - each])
    return float((abs(sums) >= least).mean())


def holm(values: Sequence[float]) -> list[float]:
    """Return p-values by Holm's correction, in the same order."""
    adjusted, most = [0.0] * len(values), 0.0
    for rank, place in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        most = max(most, min(1.0, (len(values) - rank) * values[place]))
        adjusted[place] = most
    return adjusted
