"""Calibration: whether what is held probable to 70% is so in 70 of 100 cases."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["calibration", "calibration_error"]

BINS = 10  # of equal width, as those of scikit-learn's `calibration_curve`


@dataclass(frozen=True)
class Bin:
    """The answers with a probability above `low`, up to `high`; the first bin has 0, too.

    `probability` is the sum of their probabilities, and `right` the number of right answers.
    """

    low: float
    high: float
    count: int = 0
    probability: float = 0.0
    right: float = 0.0

    def means(self) -> dict[str, float]:
        """Return its ends, its count, the mean probability and the share of right answers."""
        shares = {"probability": self.probability / self.count, "right": self.right / self.count}
        return {"low": self.low, "high": self.high, "count": self.count, **shares}


def calibration(probabilities: Any, right: Any) -> tuple[Bin, ...]:
    """Return the bins that hold answers, of ten.

    `probabilities` has the probability of each answer, 0 to 1, or NaN for one that is left out;
    `right` has whether it is right, as true and false or as a share of 1.
    """
    import numpy as np

    is_given, edges = ~np.isnan(probabilities), np.linspace(0, 1, BINS + 1).round(9)
    given, shares = probabilities[is_given], np.asarray(right, float)[is_given]
    sums = (np.bincount(_bin_of(given), of, BINS).tolist() for of in (None, given, shares))
    bins = [Bin(*of) for of in zip(edges.tolist(), edges[1:].tolist(), *sums, strict=False)]
    return tuple(each for each in bins if each.count)


def calibration_error(probabilities: Any, right: Any) -> Any:
    """Return an array whose mean is the expected calibration error; NaN for one left out.

    That error is the distance of a bin's mean probability from its share of right answers, mean
    over answers. So an answer adds its own difference, with the sign of its bin's.
    """
    import numpy as np

    away = probabilities - np.asarray(right, float)
    is_given = ~np.isnan(probabilities)
    bin_of = _bin_of(probabilities[is_given])
    signs = np.sign(np.bincount(bin_of, away[is_given], BINS))
    away[is_given] *= signs[bin_of]
    return away


def _bin_of(probabilities: Any) -> Any:
    import numpy as np

    return np.searchsorted(np.linspace(0, 1, BINS + 1)[1:-1], probabilities)


def merged(calibrations: Iterable[Sequence[Bin]]) -> tuple[Bin, ...]:
    """Return the bins of several parts together."""
    found: dict[float, Bin] = {}
    for each in (each for bins in calibrations for each in bins):
        one = found.get(each.low, Bin(each.low, each.high))
        sums = (one.probability + each.probability, one.right + each.right)
        found[each.low] = Bin(each.low, each.high, one.count + each.count, *sums)
    return tuple(found[low] for low in sorted(found))
