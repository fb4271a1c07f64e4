"""Agreement of people who gave values to the same units: alpha, kappa and percent agreement.

Krippendorff's alpha is that of Computing Krippendorff's Alpha-Reliability (2011), of nominal and
ordinal values, and of sets of labels with the MASI distance (Passonneau, 2006). Cohen's kappa is
not weighted. Both are computed from counted pairs of values, so that an interval, which leaves out
the pairs of some clusters, needs no unit twice. The package `krippendorff`, which the tests compare
with, needs units times values squared: gigabytes for sets of labels. An undefined value is NaN.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from parley.tasks.intervals import Array, Metric, Spread
from parley.tasks.metrics import BLOCKS

Distance = Callable[[Array, Array, Array], tuple[Array, float]]
"""Takes the values of pairs and the count of each value; returns the distance of each pair, and the
sum of those of all pairs of counted values."""

NONE = -1
"""The number of no value."""


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


@dataclass(frozen=True)
class Pairs:
    """Pairs of values of the same unit, each with a weight: those of a unit weigh its values."""

    first: Array  # numbers of values
    second: Array
    weight: Array
    block: Array  # of clusters, by which an interval leaves them out
    sizes: Array  # the units of each block
    values: int  # the number of different values

    @classmethod
    def of(cls, codes: Array, cluster: Array, values: int) -> "Pairs":
        """Return the pairs in a table, people by units, with `NONE` for no value.

        `cluster` has the number of the cluster of each unit.
        """
        _, cluster = np.unique(cluster, return_inverse=True)
        blocks = min(BLOCKS, int(cluster.max(initial=0)) + 1)
        counts, block = (codes != NONE).sum(axis=0), cluster % blocks
        # block and both values as one number, with the weight of each such pair
        key, weight = [np.empty(0, int)], [np.empty(0)]
        for one, other in combinations(codes, 2):
            both = (one != NONE) & (other != NONE)
            key.append((block[both] * values + one[both]) * values + other[both])
            weight.append(1 / (counts[both] - 1))
        keys, place = np.unique(np.concatenate(key), return_inverse=True)
        weights = np.bincount(place, np.concatenate(weight), len(keys))
        sizes = np.bincount(block, counts > 1, blocks)
        first, second = keys // values % values, keys % values
        return cls(first, second, weights, keys // values**2, sizes, values)

    def alpha(self, distance: Distance = nominal) -> Metric:
        """Krippendorff's alpha, with its spread over clusters."""

        def value(kept: Array) -> float:
            first, second, weight = self.first[kept], self.second[kept], self.weight[kept]
            counts = np.bincount(first, weight, self.values)
            counts += np.bincount(second, weight, self.values)
            if np.count_nonzero(counts) < 2:
                return math.nan
            apart, all_apart = distance(first, second, counts)
            return 1 - float((counts.sum() - 1) * 2 * (weight @ apart) / all_apart)

        return self._spread(value)

    def kappa(self) -> Metric:
        """Cohen's kappa of two people, with its spread over clusters."""
        from sklearn.metrics import cohen_kappa_score

        def value(kept: Array) -> float:
            first, second = self.first[kept], self.second[kept]
            if len(np.union1d(first, second)) < 2:
                return math.nan
            return float(cohen_kappa_score(first, second, sample_weight=self.weight[kept]))

        return self._spread(value)

    def _spread(self, value: Callable[[Array], float]) -> Metric:
        """Return a value of all pairs, and how it moves without those of each block."""
        whole = value(np.ones(len(self.block), bool))
        moves = [  # none without what has no pairs
            value(self.block != block) - whole if size else 0.0
            for block, size in enumerate(self.sizes)
        ]
        shifts = np.array(moves)
        spread = Spread(shifts, self.sizes * (shifts != 0))
        return Metric(whole, (spread,), largest=1.0, least=-1.0)


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
    return Metric(mean, (Spread(shifts, sizes, sums / len(rows)),), rows, True, 100.0, 0.0)


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
    return Pairs.of(codes, np.zeros(len(table), int), len(domain)).alpha(distance).value
