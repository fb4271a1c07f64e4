"""95% intervals of metrics over clusters: rows that depend on each other, as those of a dialogue.

The jackknife leaves out each cluster in turn and computes the metric again. The standard error
comes from these values, and the interval from it by Student's t. If all clusters have one size, the
interval of a mean is the t-interval over the clusters. If the metric has two ends, the interval is
computed on the scale of the logit.

A share has Wilson's interval. Its number of rows is that of independent rows with the same standard
error. If all rows are right, or all wrong, it has the interval of Clopper and Pearson; its number
of rows is then that of the clusters.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

FEW, FEW_CORRELATED = 50, 15
"""The fewest rows for an interval of a metric that is no mean over rows; the fewest for one of a
correlation or a coefficient of agreement. `benchmarks/intervals.py` measures both."""


@dataclass(frozen=True)
class Interval:
    """A 95% interval."""

    low: float
    high: float


@dataclass(frozen=True)
class Spread:
    """How a metric depends on clusters of one kind.

    Each array has a number for each cluster. `shifts`: how far the metric moves without it, NaN if
    the metric is then undefined. `sizes`: how many of its rows count in the metric. `sums`: the sum
    of its rows, for a mean over rows.
    """

    shifts: Array
    sizes: Array
    sums: Array | None = None  # None for no mean over rows

    @property
    def count(self) -> int:
        """The number of clusters that have a part in it."""
        return int((self.sizes > 0).sum())

    @property
    def freedom(self) -> float:
        """The degrees of freedom: clusters less one, or fewer if some hold many of the rows.

        This is Satterthwaite's approximation for clusters whose rows are alike.
        """
        shares = self.sizes / self.sizes.sum()
        return max(1.0, float((shares**2).sum() ** 2 / (shares**4).sum()) - 1)

    @property
    def variance(self) -> float:
        """The variance by the jackknife; NaN if there are no two clusters, or it is undefined."""
        shifts = self.shifts[self.sizes > 0]
        return (self.count - 1) * float(shifts.var()) if len(shifts) > 1 else math.nan


@dataclass(frozen=True)
class Metric:
    """A metric of the predictions for some rows.

    `spreads` has one Spread for clusters of one kind. For two kinds it has three: one for each
    kind, and one for the pairs of a cluster of each.
    """

    value: float  # NaN if it is undefined
    spreads: tuple[Spread, ...] = ()
    rows: Array | None = None  # the value of each, NaN for none; None if it is no mean over rows
    is_share: bool = False  # each row is right or wrong
    ends: tuple[float, float] = (-math.inf, math.inf)  # its least and its greatest number
    few: int = FEW  # rows that it needs for an interval if it is no mean over them
    own: Array | None = None  # whether each row counts in it, if it is no mean over them

    @property
    def error(self) -> float:
        """The standard error; NaN if it is undefined.

        For two kinds of clusters the variances of both kinds are added, and that of the pairs is
        subtracted. The result is at least the variance of the first kind.
        """
        variances = [spread.variance for spread in self.spreads] or [math.nan]
        if len(variances) > 1 and not any(map(math.isnan, variances)):
            one, other, both = variances
            return math.sqrt(max(one, one + other - both))
        return math.sqrt(variances[0])

    @property
    def freedom(self) -> float:
        """The degrees of freedom; of two kinds of clusters, the fewer."""
        return min(spread.freedom for spread in self.spreads[:2])  # the third is of both

    def minus(self, other: "Metric") -> "Metric":
        """Return the difference from another metric of the same rows."""
        is_mean, spreads = self.rows is not None and other.rows is not None, []
        for one, by in zip(self.spreads, other.spreads, strict=False):
            sums = None
            if is_mean and one.sums is not None and by.sums is not None:
                sums = one.sums - by.sums
            spreads.append(Spread(one.shifts - by.shifts, np.maximum(one.sizes, by.sizes), sums))
        return Metric(self.value - other.value, (*spreads,), few=self.few)

    @property
    def interval(self) -> Interval | None:
        """The 95% interval; None for fewer than two clusters, or if they do not differ.

        None, too, for a metric of fewer than `few` rows that is no mean over them: too narrow.
        """
        from scipy.stats import t

        if math.isnan(self.error):
            return None
        (first, *_), (least, most) = self.spreads, self.ends
        if first.sums is None and first.sizes.sum() < self.few:
            return None
        if self.is_share and self.value in (0, most):
            far = most * (1 - 0.025 ** (1 / min(spread.count for spread in self.spreads[:2])))
            return Interval(self.value and most - far, self.value or far)
        wide = float(t.ppf(0.975, self.freedom))
        if self.is_share and self.rows is not None:
            return self._wilson(wide, int((self.rows == self.rows).sum()))  # NaN is not itself
        if self.error <= 1e-12 * max(1.0, abs(self.value)):
            return None
        if math.isfinite(least) and least < self.value < most < math.inf:
            return self._by_logits(wide)
        low, high = self.value - wide * self.error, self.value + wide * self.error
        return Interval(max(low, least), min(high, most))

    def _by_logits(self, wide: float) -> Interval:
        """Return the interval on the scale of the logit; of a correlation that is Fisher's z."""
        from scipy.special import expit, logit

        least, most = self.ends
        share = (self.value - least) / (most - least)
        half = wide * self.error / (share * (1 - share) * (most - least))
        shares = (float(expit(logit(share) + far)) for far in (-half, half))
        low, high = (least + (most - least) * each for each in shares)
        return Interval(low, high)

    def _wilson(self, wide: float, rows: int) -> Interval:
        _, most = self.ends
        share, error = self.value / most, self.error / most
        count = min(rows, share * (1 - share) / max(error**2, 1e-12))
        ratio = wide**2 / count
        middle = (share + ratio / 2) / (1 + ratio)
        half = math.sqrt(ratio * (share * (1 - share) + ratio / 4)) / (1 + ratio)
        low, high = max(0.0, middle - half), min(1.0, middle + half)
        return Interval(low * most, high * most)


def mean_of(metrics: Sequence[Metric | None]) -> Metric:
    """Return the mean of a metric over epochs of the same rows, undefined if one lacks it."""
    defined = [metric for metric in metrics if metric and not math.isnan(metric.value)]
    if len(defined) < len(metrics):
        return Metric(math.nan)
    of_rows, spreads = [metric.rows for metric in defined if metric.rows is not None], []
    for of_kind in zip(*(metric.spreads for metric in defined), strict=False):
        sums = [spread.sums for spread in of_kind if spread.sums is not None]
        mean = np.mean(sums, axis=0) if len(sums) == len(defined) else None
        shifts = np.mean([spread.shifts for spread in of_kind], axis=0)
        spreads.append(Spread(shifts, np.mean([spread.sizes for spread in of_kind], axis=0), mean))
    rows = None
    if len(of_rows) == len(defined) and len({*map(len, of_rows)}) == 1:
        rows = np.mean(of_rows, axis=0)
    is_share, first = all(metric.is_share for metric in defined), defined[0]
    value = float(np.mean([metric.value for metric in defined]))
    return Metric(value, (*spreads,), rows, is_share, first.ends, first.few)
