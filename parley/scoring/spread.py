"""The spread of a score: over folds, or over bootstrap samples."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

RESAMPLES = 1000
SEED = 0


@dataclass(frozen=True)
class Interval:
    """A 95% interval by the percentile bootstrap."""

    low: float
    high: float


@dataclass(frozen=True)
class Folds:
    """The sample SD over folds."""

    sd: float


def resamples(size: int) -> "np.ndarray[Any, np.dtype[np.int64]]":
    """Return the places drawn by a bootstrap, always the same, of shape (RESAMPLES, size)."""
    import numpy as np

    return np.random.default_rng(SEED).integers(0, size, (RESAMPLES, size))


def interval(values: Sequence[float]) -> Interval | None:
    """Return the interval of a statistic from its value on each of the `resamples`.

    None if it is undefined (NaN) on one: an interval of the rest would be too narrow.
    """
    import numpy as np

    low, high = np.percentile(np.asarray(values, dtype=float), [2.5, 97.5])
    return None if np.isnan(low) or np.isnan(high) else Interval(float(low), float(high))


def over_folds(values: Sequence[float]) -> tuple[float, Folds | None]:
    """Return the mean of a metric over folds, and its sample SD, None for one fold."""
    spread = Folds(statistics.stdev(values)) if len(values) > 1 else None
    return statistics.mean(values), spread
