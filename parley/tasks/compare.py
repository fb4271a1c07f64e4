"""Compare the metrics of predictions with those of others on the same rows."""

import math
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import product
from typing import TYPE_CHECKING, Any

from parley.base.nested import flat, tree
from parley.tasks.formats import UNREADABLE, Key
from parley.tasks.games import Playing
from parley.tasks.intervals import Interval, Metric, mean_of
from parley.tasks.rows import Advance, Names, Predictions, Rows
from parley.tasks.task import Score, Undefined

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

SWAPS = 5_000
"""The most ways to swap the predictions of units in a permutation test."""
SEED = 0


@dataclass(frozen=True)
class Difference:
    """A metric of one model minus that of another, on the same rows.

    Args:
        value: The difference; None if the metric is undefined for one of the two.
        interval: Its 95% interval.
        p: The p-value of a paired permutation test over units, two-sided.
        p_holm: The same by Holm's correction.
        rows: The number of rows that it is of, if it is not of all: those that have the metric in
            both, as of a readable answer or of a deal.
    """

    value: float | None
    interval: Interval | None = None
    p: float | None = None
    p_holm: float | None = None
    rows: int | None = None


class Measured:
    """The predictions of a model for rows, of an epoch or more, and their metrics.

    Args:
        epochs: For each epoch its rows, those that a policy keeps of the same ones, and their
            predictions.
        advance: Takes the scores computed, and all of them.

    Attributes:
        score: The numbers: the means over the epochs.
        metrics: The same with their spread over units; undefined if they are in one epoch.
    """

    def __init__(
        self,
        epochs: Sequence[tuple[Rows, Predictions]],
        advance: Advance = lambda done, total: None,
    ) -> None:
        self.epochs, self.rows = epochs, epochs[0][0]
        self.each = [rows.measure(predictions, advance) for rows, predictions in epochs]
        self.score, self.metrics = self.each[0]
        if self.each[1:]:
            names = dict.fromkeys(name for _, metrics in self.each for name in metrics)
            self.metrics = {
                name: mean_of([metrics.get(name) for _, metrics in self.each]) for name in names
            }
            why = Undefined("it is undefined in an epoch")
            numbers = {
                name: why if math.isnan(metric.value) else metric.value
                for name, metric in self.metrics.items()
            }
            self.score = Score(tree(numbers), self.score.counts)

    @cached_property
    def answered(self) -> set[Key]:
        """The keys with a readable answer in each epoch; those of games with a deal."""
        return set[Key].intersection(*(_answered(*epoch) for epoch in self.epochs))

    def of_answered(self, names: Iterable[Names]) -> set[Names]:
        """Return those of these metrics that are the same without the rows not answered."""
        kept = {*names}
        for (rows, predictions), (_, metrics) in zip(self.epochs, self.each, strict=True):
            answered = rows.within(_answered(rows, predictions), has_folds=True)
            if len(answered) not in (0, len(rows)):
                found = flat(answered.score(predictions).metrics)
                kept = {name for name in kept if _is_same(metrics.get(name), found.get(name))}
        return kept

    def within(self, keys: Container[Key]) -> "Measured":
        """Return it for the rows of these keys alone."""
        parts = [(rows.within(keys), predictions) for rows, predictions in self.epochs]
        return Measured([(part, {key: given[key] for key in part.gold}) for part, given in parts])


def _answered(rows: Rows, predictions: Predictions) -> set[Key]:
    game = rows.task.asking
    if isinstance(game, Playing):
        return {key for key, each in predictions.items() if each.get(game.agreed) is not None}
    width = len(rows.task.required) or None  # several predictions may have one key of gold
    return {key[:width] for key, each in predictions.items() if UNREADABLE not in each}


def _is_same(metric: Metric | None, number: Any) -> bool:
    is_known = metric is not None and isinstance(number, int | float)
    return bool(is_known and metric and math.isclose(number, metric.value))


def paired_differences(
    one: Measured, other: Measured, names: Iterable[Names]
) -> dict[Names, Difference]:
    """Return metrics of one minus those of the other, each over the same rows in both.

    A metric that is not of every row, as of readable answers or of deals alone, is compared on the
    rows that have it in both.
    """
    names = [name for name in names if name in one.metrics and name in other.metrics]
    apart: set[Names] = set()
    if len({len(rows) for each in (one, other) for rows, _ in each.epochs}) > 1:  # some are dropped
        apart = {*names}
    elif one.answered != other.answered:
        computed = [name for name in names if one.metrics[name].rows is None]
        apart = one.of_answered(computed) & other.of_answered(computed)
    found = {name: _difference(one, other, name) for name in names if name not in apart}
    common = one.answered & other.answered
    if apart and common:
        ours, theirs = one.within(common), other.within(common)
        of_both = {name: _difference(ours, theirs, name) for name in apart}
        found |= {name: replace(each, rows=len(common)) for name, each in of_both.items()}
    elif apart:
        found |= dict.fromkeys(apart, Difference(None, rows=0))
    return {name: found[name] for name in names}


def _difference(one: Measured, other: Measured, name: Names) -> Difference:
    """Return the difference of a metric, over the rows that have a value in both."""
    import numpy as np

    ours, theirs = one.metrics.get(name), other.metrics.get(name)
    if ours is None or theirs is None or math.isnan(ours.value) or math.isnan(theirs.value):
        return Difference(None)
    by, rows = ours.minus(theirs), None
    if ours.rows is not None and theirs.rows is not None:
        known, of_both = ~np.isnan(ours.rows), ~np.isnan(ours.rows - theirs.rows)
        if not np.array_equal(known, ~np.isnan(theirs.rows)):
            by, rows = one.rows.mean(ours.rows - theirs.rows), int(of_both.sum())
    if math.isnan(by.value):
        return Difference(None, rows=rows)
    return Difference(by.value, by.interval, p_value(by), rows=rows)


def p_value(difference: Metric) -> float | None:
    """Return the two-sided p-value of a paired permutation test over units.

    What each unit adds to the difference changes its sign: in all ways, if they are no more than
    `SWAPS`, else in so many random ones, with the difference itself as one more, so that p is never
    0. None if the difference is undefined without a unit.
    """
    import numpy as np

    if math.isnan(difference.value) or np.isnan(difference.added).any():
        return None
    added = difference.added
    if not len(added):  # a median, or equal without each unit
        return 1.0 if len(difference.shifts) else None
    least = abs(added.sum()) * (1 - 1e-9)  # a sum in another order is the same number
    is_all = 2 ** len(added) <= SWAPS
    as_large = int((abs(_signs(len(added)) @ added) >= least).sum())
    return as_large / 2 ** len(added) if is_all else (as_large + 1) / (SWAPS + 1)


@lru_cache(maxsize=2)
def _signs(units: int) -> "Array":
    """Return the signs of each way to swap units, all ways or random ones."""
    import numpy as np

    if 2**units <= SWAPS:
        return np.array([*product((1, -1), repeat=units)], float)
    return np.random.default_rng(SEED).choice([1.0, -1.0], (SWAPS, units))


def holm(values: Sequence[float]) -> list[float]:
    """Return p-values by Holm's correction, in the same order."""
    adjusted, most = [0.0] * len(values), 0.0
    for rank, place in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        most = max(most, min(1.0, (len(values) - rank) * values[place]))
        adjusted[place] = most
    return adjusted
