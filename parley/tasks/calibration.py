"""Probabilities in answers, and calibration: whether 70 of 100 answers held to 70% are right."""

from dataclasses import dataclass
from typing import Any

BINS = 10  # of equal width, as those of scikit-learn's `calibration_curve`
CALIBRATION = ("probability", "answers", "mean probability", "right")
"""The headings of a table of bins."""


@dataclass(frozen=True)
class Bin:
    """The answers with a probability above `low`, up to `high`; the first bin has 0, too.

    `probability` is the mean of their probabilities, and `right` the share of right answers.
    """

    low: float
    high: float
    count: int
    probability: float
    right: float

    @property
    def cells(self) -> tuple[str, ...]:
        """Its texts in a table under `CALIBRATION`."""
        shares = (f"{share:.3f}" for share in (self.probability, self.right))
        return (f"{self.low:.4g}–{self.high:.4g}", f"{self.count:,}", *shares)


def calibration(probabilities: Any, right: Any) -> list[Bin]:
    """Return the bins that hold answers.

    `probabilities` has the probability of each answer, 0 to 1, or NaN for one that is left out;
    `right` has whether it is right, as true and false or as a share of 1.
    """
    import numpy as np

    probabilities, right = np.asarray(probabilities, float), np.asarray(right, float)
    bins, bin_of = list[Bin](), _bin_of(probabilities)
    for number in range(BINS):
        if (has := bin_of == number).any():
            means = (float(np.mean(of[has])) for of in (probabilities, right))
            bins.append(Bin(number / BINS, (number + 1) / BINS, int(has.sum()), *means))
    return bins


def calibration_error(probabilities: Any, right: Any) -> Any:
    """Return an array whose mean is the expected calibration error; NaN for an answer left out.

    The error of a bin is the distance of its mean probability from its share of right answers. The
    metric is its mean over answers. So each answer adds its probability less 1 if it is right, less
    0 if not; the sign is turned if the sum of its bin is negative. The arguments are the arrays of
    `Score.forecasts`. Name the metric in `without_interval`: chance alone puts it above 0, and the
    same answers decide the signs.
    """
    import numpy as np

    away, bin_of = probabilities - right, _bin_of(probabilities)
    for number in range(BINS):
        away[bin_of == number] *= np.sign(away[bin_of == number].sum())
    return away


def _bin_of(probabilities: Any) -> Any:
    """Return the number of the bin of each probability, BINS for NaN."""
    import numpy as np

    edges = np.linspace(0, 1, BINS + 1)[1:-1].round(12)
    bin_of = np.searchsorted(edges, np.round(probabilities, 12))  # 0.1 + 0.2 as 0.3
    return np.where(np.isnan(probabilities), BINS, bin_of)
