"""The spread of a score: over folds, or over bootstrap samples."""

import statistics
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from parley.base.exact import plain

if TYPE_CHECKING:
    import numpy as np

RESAMPLES = 1000
SEED = 0
_count: ContextVar[int] = ContextVar("count of resamples", default=RESAMPLES)


@contextmanager
def no_resamples() -> Iterator[None]:
    """Let scores of the block have no bootstrap intervals: they are themselves of resamples."""
    before = _count.set(1)  # of no resample, arrays would have no shape
    try:
        yield
    finally:
        _count.reset(before)


@dataclass(frozen=True)
class Interval:
    """A 95% interval by the percentile bootstrap."""

    low: float
    high: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "low", plain(self.low))
        object.__setattr__(self, "high", plain(self.high))


@dataclass(frozen=True)
class Folds:
    """The sample SD over folds."""

    sd: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "sd", plain(self.sd))


def resamples(size: int) -> "np.ndarray[Any, np.dtype[np.int64]]":
    """Return the places drawn by a bootstrap, always the same, of shape (RESAMPLES, size)."""
    import numpy as np

    return np.random.default_rng(SEED).integers(0, size, (_count.get(), size))


def interval(values: Sequence[float]) -> Interval | None:
    """Return the interval of a statistic from its value on each of the `resamples`.

    None if it is undefined (NaN) on one: an interval of the rest would be too narrow. One value
    alone has none.
    """
    import numpy as np

    if len(values) == 1:
        return None
    low, high = np.percentile(np.asarray(values, dtype=float), [2.5, 97.5])
    return None if np.isnan(low) or np.isnan(high) else Interval(float(low), float(high))


def means(values: Mapping[str, Sequence[float]]) -> tuple[dict[str, float], dict[str, Interval]]:
    """Return the means of metrics, and their intervals by name where they are defined."""
    import numpy as np

    arrays = {name: np.array(each, dtype=float) for name, each in values.items()}
    drawn = resamples(len(next(iter(arrays.values()))))
    spread = {name: interval(array[drawn].mean(axis=1)) for name, array in arrays.items()}
    known = {name: each for name, each in spread.items() if each is not None}
    return {name: float(array.mean()) for name, array in arrays.items()}, known


def over_folds(values: Sequence[float]) -> tuple[float, Folds | None]:
    """Return the mean of a metric over folds, and its sample SD, None for one fold."""
    spread = Folds(statistics.stdev(values)) if len(values) > 1 else None
    return statistics.mean(values), spread
