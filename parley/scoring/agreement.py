"""Agreement of people who gave values to the same units: alpha, kappa and percent agreement.

Krippendorff's alpha is that of Computing Krippendorff's Alpha-Reliability (2011), of nominal and
ordinal values, and of sets of labels with the MASI distance (Passonneau, 2006). Cohen's kappa is
not weighted. Both are computed from counts of pairs of values. To leave out a cluster, an interval
subtracts the counts of its pairs, and reads no unit again. The tests compare with the package
`krippendorff`; it needs units times values squared, which is gigabytes for sets of labels. An
undefined value is NaN.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from operator import sub
from typing import Any

import numpy as np

from parley.scoring.intervals import FEW_CORRELATED, Array, Metric, Spread

Distance = Callable[[Array, Array, Array], tuple[Array, float]]
"""Takes the first and the second values of pairs, and the count of each value.

Returns the distance of each pair, and the sum of the distances of all pairs that the counts make.
"""

NONE = -1
"""The number of no value."""
VARIED = 10
"""Fewest clusters with other values than the commonest of which a coefficient has an interval."""


def nominal(first: Array, second: Array, counts: Array) -> tuple[Array, float]:
    """Equal or not."""
    return (first != second).astype(float), float(counts.sum() ** 2 - (counts**2).sum())


def ordinal(first: Array, second: Array, counts: Array) -> tuple[Array, float]:
    """The farther apart, the more values lie between; the numbers of values have their order."""
    middle = counts.cumsum() - counts / 2
    spread = counts.sum() * (counts * middle**2).sum() - (counts @ middle) ** 2
    return (middle[first] - middle[second]) ** 2, 2 * float(spread)


def masi(sets: Sequence[frozenset[str]]) -> Distance:
    """Return the distance of sets of labels, by their numbers: 1 less overlap times likeness.

    The likeness is 1 for equal sets, 2/3 if one holds the other, 1/3 if they only overlap.
    """
    labels = sorted(frozenset().union(*sets))
    has = np.array([[label in each for label in labels] for each in sets], float)
    has = has.reshape(len(sets), len(labels))
    both, sizes = has @ has.T, has.sum(axis=1)
    either, least = sizes[:, None] + sizes - both, np.minimum(sizes[:, None], sizes)
    overlap = np.divide(both, either, out=np.ones_like(both), where=either > 0)
    distances = 1 - np.where(both == either, 1, np.where(both == least, 2 / 3, 1 / 3)) * overlap
    return lambda one, other, counts: (distances[one, other], float(counts @ distances @ counts))


def alpha_of(codes: Array, cluster: Array, values: int, distance: Distance = nominal) -> Metric:
    """Krippendorff's alpha, with its spread over clusters.

    `codes` is an array of shape (people, units). It holds the number of each value, from 0 up to
    `values` - 1, or `NONE`. `cluster` holds the number of each unit's cluster.
    """
    cluster, clusters = _numbered(cluster)
    unit, person = np.nonzero(codes.T != NONE)
    # each value of a unit once, with how many gave it
    key, number = np.unique(unit * values + codes[person, unit], return_counts=True)
    unit, code = key // values, key % values
    counts = np.bincount(unit, number, codes.shape[1])
    # pairs of values of a unit, the equal ones first; those of a unit weigh as many as its values
    pairs, units = [code * values + code], [unit]
    times: list[Array] = [number * (number - 1) / 2]
    for apart in range(1, len(key)):  # places of two values in the order of units
        here = np.flatnonzero(unit[apart:] == unit[:-apart])
        if not len(here):
            break
        pairs.append(code[here] * values + code[here + apart])
        units.append(unit[here])
        times.append(number[here] * number[here + apart])
    of_unit = np.concatenate(units)
    order = np.argsort(cluster[of_unit], kind="stable")
    of_unit, weight = of_unit[order], np.concatenate(times)[order]
    weight /= np.maximum(counts[of_unit] - 1, 1)
    pair, place = np.unique(np.concatenate(pairs)[order], return_inverse=True)
    first, second = pair // values, pair % values

    def value(weight: Array) -> float:
        counts = np.bincount(first, weight, values) + np.bincount(second, weight, values)
        if (counts > 1e-9).sum() < 2:  # what is left of a sum may differ from 0
            return math.nan
        apart, all_apart = distance(first, second, counts)
        return 1 - float((counts.sum() - 1) * 2 * (weight @ apart) / all_apart)

    whole = np.bincount(place, weight)
    starts = np.searchsorted(cluster[of_unit], range(clusters + 1))
    of_cluster = (np.bincount(place[a:b], weight[a:b], len(pair)) for a, b in pairwise(starts))
    left = np.array([value(whole - each) for each in of_cluster])
    paired = counts[unit] > 1
    varied = _varied(code[paired], cluster[unit[paired]], number[paired])
    return _coefficient(value(whole), left, np.bincount(cluster, counts > 1), varied)


def kappa(one: Array, other: Array, cluster: Array, values: int) -> Metric:
    """Cohen's kappa of the values of two people, with its spread over clusters.

    The arguments are as those of `alpha_of`, whose table has the two as lines.
    """
    both = (one != NONE) & (other != NONE)
    cluster, clusters = _numbered(cluster)
    order = np.flatnonzero(both)[np.argsort(cluster[both], kind="stable")]
    one, other, cluster = one[order], other[order], cluster[order]

    def counts(start: int, end: int) -> tuple[Array, Array, int]:
        first, second = one[start:end], other[start:end]
        of_one, of_other = (np.bincount(each, minlength=values) for each in (first, second))
        return of_one, of_other, int((first != second).sum())

    def value(of_one: Array, of_other: Array, apart: int) -> float:
        count = int(of_one.sum())
        by_chance = count**2 - float(of_one @ of_other)  # pairs that differ, if shuffled
        return 1 - apart * count / by_chance if by_chance else math.nan

    starts = np.searchsorted(cluster, range(clusters + 1))
    whole = counts(0, len(one))
    left = [value(*map(sub, whole, counts(*ends))) for ends in pairwise(starts)]
    varied = _varied(np.append(one, other), np.append(cluster, cluster))
    return _coefficient(value(*whole), np.array(left), np.diff(starts), varied)


def _numbered(cluster: Array) -> tuple[Array, int]:
    """Return clusters numbered from 0, and how many there are."""
    ids, cluster = np.unique(cluster, return_inverse=True)
    return cluster, len(ids)


def _varied(code: Array, cluster: Array, times: Array | None = None) -> int:
    """Return in how many clusters there are other values than the commonest of all."""
    commonest = np.bincount(code, times, 1).argmax()
    return len(np.unique(cluster[code != commonest]))


def _coefficient(whole: float, left: Array, sizes: Array, varied: int) -> Metric:
    """Return a coefficient of agreement, which is `left` without each cluster of so many units."""
    shifts = np.where(sizes > 0, left - whole, 0.0)
    spread = Spread(shifts, sizes * (shifts != 0))
    spreads = (spread,) if varied >= VARIED else ()
    return Metric(whole, spreads, None, False, (-1.0, 1.0), FEW_CORRELATED)


def percent_alike(codes: Array, cluster: Array) -> Metric:
    """Return the percentage of units to which all gave one value, of those with two or more."""
    has_two = (codes != NONE).sum(axis=0) > 1
    if not has_two.any():
        return Metric(math.nan)
    codes, cluster = codes[:, has_two], np.unique(cluster[has_two], return_inverse=True)[1]
    least = np.where(codes == NONE, codes.max(), codes).min(axis=0)
    rows = (codes.max(axis=0) == least) * 100.0
    sums, sizes, mean = np.bincount(cluster, rows), np.bincount(cluster), float(rows.mean())
    with np.errstate(invalid="ignore", divide="ignore"):  # a cluster may have all units
        shifts = (sizes * mean - sums) / (len(rows) - sizes)
    return Metric(mean, (Spread(shifts, sizes, sums / len(rows)),), rows, True, (0.0, 100.0))


def alpha(units: Iterable[Iterable[Any]], distance: Distance = nominal) -> float:
    """Return Krippendorff's alpha of the values of each unit, which can be ordered; or NaN.

    Who gave a value does not matter.

    >>> round(alpha([[1, 1], [2, 2], [1, 2], [2, 2, 2], [1]], ordinal), 3)
    0.556
    """
    table = [[*values] for values in units]
    domain = sorted({value for values in table for value in values})
    number = {value: place for place, value in enumerate(domain)}
    codes = np.full((max(map(len, table), default=0), len(table)), NONE)
    for unit, values in enumerate(table):
        codes[: len(values), unit] = [number[value] for value in values]
    return alpha_of(codes, np.zeros(len(table), int), len(domain), distance).value
