"""The spread of a score: over folds, or over bootstrap samples."""

import math
import statistics
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from parley.base.exact import plain

if TYPE_CHECKING:
    import numpy as np

Name = TypeVar("Name", bound=Hashable)
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


def means(
    values: Mapping[Name, Sequence[float]], groups: Sequence[int] | None = None
) -> tuple[dict[Name, float], dict[Name, Interval]]:
    """Return the means of metrics, and their intervals by name where they are defined.

    NaN stands for no value: it is left out of a mean, and the mean of none is NaN. `groups` has the
    number, from 0, of the group of each value; the bootstrap draws the values of a group together.
    """
    import numpy as np

    arrays = {name: np.array(each, dtype=float) for name, each in values.items()}
    of = np.arange(len(next(iter(arrays.values())))) if groups is None else np.asarray(groups)
    drawn = resamples(int(of.max()) + 1)
    found, spread = dict[Name, float](), dict[Name, Interval]()
    for name, array in arrays.items():
        is_known = ~np.isnan(array)
        sums, counts = np.bincount(of, np.where(is_known, array, 0)), np.bincount(of, is_known)
        found[name] = float(array[is_known].mean()) if is_known.any() else math.nan
        with np.errstate(invalid="ignore"):  # no value in a sample
            each = interval(sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1))
        if each is not None:
            spread[name] = each
    return found, spread


def over_folds(values: Sequence[float]) -> tuple[float, Folds | None]:
    """Return the mean of a metric over folds, and its sample SD, None for one fold."""
    spread = Folds(statistics.stdev(values)) if len(values) > 1 else None
    return statistics.mean(values), spread
