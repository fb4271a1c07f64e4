"""95% intervals of metrics over units: whole dialogues, with all their rows.

The standard error is that of the jackknife: from the metric with each unit left out in turn. The
interval is Student's t; for the mean of units of one size it is the t-interval over the units. If
the unit of the metric has a least and a largest number, it is on the scale of the logit. A share
has Wilson's interval for as many rows as would spread as much if they were independent; so it has
one also where all are right or all are wrong.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Interval:
    """A 95% interval."""

    low: float
    high: float


@dataclass(frozen=True)
class Metric:
    """A metric of the predictions for some rows.

    `shifts` tells how far it moves as each unit is left out, NaN where it is then undefined;
    `sizes` the rows of each unit that have a part in it.
    """

    value: float  # NaN if it is undefined
    shifts: Array = field(default_factory=partial(np.zeros, 0))
    sizes: Array = field(default_factory=partial(np.zeros, 0))
    rows: Array | None = None  # the value of each, NaN for none; None if it is no mean over rows
    is_share: bool = False  # each row is right or wrong
    largest: float = math.inf  # of its unit, as the least
    least: float = -math.inf

    @property
    def units(self) -> int:
        """The number of units that have a part in it."""
        return int((self.sizes > 0).sum())

    @property
    def freedom(self) -> float:
        """The degrees of freedom: units less one, fewer where some have many of the rows.

        Satterthwaite's approximation, for units whose rows agree.
        """
        shares = self.sizes / self.sizes.sum()
        return max(1.0, float((shares**2).sum() ** 2 / (shares**4).sum()) - 1)

    @property
    def error(self) -> float:
        """The standard error over units; NaN if there are no two units, or it is undefined."""
        moved = self.shifts[self.sizes > 0]
        return math.sqrt((self.units - 1) * float(moved.var())) if len(moved) > 1 else math.nan

    @property
    def added(self) -> Array:
        """What each unit adds: pseudo-values, of means of units of one size the units' means."""
        moved = self.shifts[self.sizes > 0]
        return self.value - (self.units - 1) * (moved - moved.mean()) if len(moved) else moved

    def minus(self, other: "Metric") -> "Metric":
        """Return the difference from another metric of the same rows."""
        sizes = np.maximum(self.sizes, other.sizes)
        return Metric(self.value - other.value, self.shifts - other.shifts, sizes)

    @property
    def interval(self) -> Interval | None:
        """The 95% interval; None for fewer than two units, or if they do not differ."""
        from scipy.stats import t

        if math.isnan(self.error):
            return None
        wide = float(t.ppf(0.975, self.freedom))
        if self.is_share and self.rows is not None:
            return self._wilson(wide, int((self.rows == self.rows).sum()))  # NaN is not itself
        if self.error <= 1e-12 * max(1.0, abs(self.value)):
            return None
        if self.least < self.value < self.largest < math.inf:
            return self._by_logits(wide)
        least = self.least if self.rows is None or (self.rows < 0).any() else 0.0
        low, high = self.value - wide * self.error, self.value + wide * self.error
        return Interval(max(low, least), min(high, self.largest))

    def _by_logits(self, wide: float) -> Interval:
        """Return the interval on the scale of the logit; of a correlation that is Fisher's z."""
        from scipy.special import expit, logit

        span = self.largest - self.least
        share = (self.value - self.least) / span
        half = wide * self.error / (share * (1 - share) * span)
        low, high = (self.least + span * float(expit(logit(share) + h)) for h in (-half, half))
        return Interval(low, high)

    def _wilson(self, wide: float, rows: int) -> Interval:
        share, error = self.value / self.largest, self.error / self.largest
        count = float(self.units)  # if all are alike, one for each unit
        if 0 < share < 1:
            count = min(rows, share * (1 - share) / max(error**2, 1e-12))
        ratio = wide**2 / count
        middle = (share + ratio / 2) / (1 + ratio)
        half = math.sqrt(ratio * (share * (1 - share) + ratio / 4)) / (1 + ratio)
        low, high = max(0.0, middle - half), min(1.0, middle + half)
        return Interval(low * self.largest, high * self.largest)


def mean_of(metrics: Sequence[Metric | None]) -> Metric:
    """Return the mean of a metric over epochs of the same units, undefined if one lacks it."""
    known = [each for each in metrics if each is not None and not math.isnan(each.value)]
    if len(known) < len(metrics):
        return Metric(math.nan)
    values, shifts, sizes = (
        np.mean([getattr(each, name) for each in known], axis=0)
        for name in ("value", "shifts", "sizes")
    )
    of_rows = [each.rows for each in known if each.rows is not None]
    rows = None
    if len(of_rows) == len(known) and len({*map(len, of_rows)}) == 1:
        rows = np.mean(of_rows, axis=0)
    return Metric(float(values), shifts, sizes, rows)
