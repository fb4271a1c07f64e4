"""Intervals of scores, and differences of two on the same rows, over whole dialogues.

A unit is what `Task.dialogues` gives for a key, for most tasks a dialogue: predictions of one
dialogue depend on each other, so they are drawn together. Every number comes from the task's own
`score`, computed anew for each sample; so F1, AUC and correlations are treated like means.
"""

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any

from parley.building.built import BuiltFolder
from parley.declaring.prediction_formats import UNREADABLE, Key, Prediction
from parley.declaring.questions import Playing
from parley.declaring.spread import RESAMPLES, SEED, Interval, interval, no_resamples, resamples
from parley.declaring.tasks import Gold, Undefined, flat
from parley.scoring.evaluate import compute
from parley.scoring.gold import ALL, Part

if TYPE_CHECKING:
    import numpy as np

Names = tuple[str, ...]  # that lead to a metric
Predictions = Mapping[Key, Prediction]
Advance = Callable[[int, int], None]  # takes the samples computed, and all of them


@dataclass(frozen=True)
class Difference:
    """A metric of one model minus that of another, on the same rows.

    Args:
        value: The difference; None if the metric is undefined for one of the two.
        interval: Its 95% interval, from the samples that both models' intervals have.
        p: The p-value of a paired permutation test, two-sided.
        p_holm: The same by Holm's correction, set by `corrected`.
        rows: The number of rows that it is of, if it is not of all: those that both models have a
            readable answer for, or a deal.
    """

    value: float | None
    interval: Interval | None = None
    p: float | None = None
    p_holm: float | None = None
    rows: int | None = None


class Rows:
    """The rows of a part of a task, in units, and scores of predictions for them."""

    def __init__(
        self,
        built: BuiltFolder,
        name: str,
        options: Mapping[str, str],
        gold: Gold,
        part: Part = ALL,
    ) -> None:
        self._of, self._gold, self._part = (built, name, options), gold, part
        self.task = built.dataset.task(name)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._gold)

    def within(self, keys: Collection[Key]) -> "Rows":
        """Return the rows of these keys."""
        gold = {key: value for key, value in self._gold.items() if key in keys}
        return Rows(*self._of, gold, self._part)

    @cached_property
    def units(self) -> list[list[Key]]:
        """The keys of each unit."""
        found: dict[tuple[object, ...], list[Key]] = {}
        for key, gold in self._gold.items():
            found.setdefault(tuple(self.task.dialogues(key, gold)), []).append(key)
        return [*found.values()]

    def numbers(self, predictions: Predictions) -> dict[Names, float]:
        """Return the metrics of predictions, one for each row; NaN for an undefined one."""
        return self._numbers((key, predictions) for key in self._gold)

    def _numbers(self, drawn: Iterable[tuple[Key, Predictions]]) -> dict[Names, float]:
        """Return the metrics of keys, some of them repeated, each with its predictions."""
        gold, found = {}, {}
        for number, (key, predictions) in enumerate(drawn):
            own = ((number, key[0]), *key[1:])  # tells repeated keys apart
            gold[own], found[own] = self._gold[key], predictions[key]
        with no_resamples():
            metrics = flat(compute(*self._of, gold, found, self._part).metrics)
        return {
            path: math.nan if isinstance(value, Undefined) else float(value)
            for path, value in metrics.items()
        }

    def alone(self, key: Key, predictions: Predictions) -> dict[Names, float]:
        """Return the metrics of the prediction of a row as if there were no other."""
        return self._numbers([(key, predictions)])

    def told(self, predictions: Predictions) -> set[Key]:
        """Return the keys with a readable answer; those of games with a deal."""
        game = self.task.asking
        if isinstance(game, Playing):
            return {key for key, each in predictions.items() if each.get(game.agreed) is not None}
        return {key for key, each in predictions.items() if UNREADABLE not in each}

    def over_told(self, models: Iterable[Predictions]) -> set[Names]:
        """Return the metrics over readable answers alone, or over deals alone.

        If half of the rows are told nothing, such a metric is that of the other half, whichever
        half it is. There must be two rows or more.
        """
        game = self.task.asking
        none = {game.agreed: None} if isinstance(game, Playing) else {UNREADABLE: "none"}
        keys = [*self._gold]
        found: set[Names] | None = None
        for predictions, start in product(models, (0, 1)):
            untold = {
                key: {**dict(zip(self.task.key, key, strict=False)), **none}
                for key in keys[start::2]
            }
            whole = self.numbers({**predictions, **untold})
            without = self._numbers((key, predictions) for key in keys[1 - start :: 2])
            same = {
                name
                for name, value in whole.items()
                if math.isclose(value, other := without.get(name, math.nan), rel_tol=1e-12)
                or (math.isnan(value) and math.isnan(other))
            }
            found = same if found is None else found & same
        return found or set()

    def samples(
        self,
        predictions: Predictions,
        advance: Advance = lambda done, total: None,
        most: int = RESAMPLES,
    ) -> dict[Names, "np.ndarray[Any, Any]"]:
        """Return the metrics of bootstrap samples of the units, the same samples for each model."""
        drawn = resamples(len(self.units))[:most]
        return _columns(
            self.numbers(predictions),
            (
                self._numbers((key, predictions) for unit in places for key in self.units[unit])
                for places in drawn
            ),
            lambda done: advance(done, len(drawn)),
        )

    def swapped(
        self,
        one: Predictions,
        other: Predictions,
        advance: Advance = lambda done, total: None,
    ) -> dict[Names, "np.ndarray[Any, Any]"]:
        """Return differences of metrics as predictions of whole units change sides.

        All ways to change them, if they are no more than `RESAMPLES`, else so many random ones.
        """
        ways = [*_swaps(len(self.units))]

        def differences() -> Iterator[dict[Names, float]]:
            for way in ways:
                ours, theirs = (
                    self._numbers(
                        (key, second if swaps else first)
                        for unit, swaps in zip(self.units, way, strict=True)
                        for key in unit
                    )
                    for first, second in ((one, other), (other, one))
                )
                yield {name: value - theirs.get(name, math.nan) for name, value in ours.items()}

        return _columns(self.numbers(one), differences(), lambda done: advance(done, len(ways)))


def _columns(
    named: Iterable[Names], found: Iterable[Mapping[Names, float]], advance: Callable[[int], None]
) -> dict[Names, "np.ndarray[Any, Any]"]:
    """Return arrays by metric; NaN where a sample lacks it."""
    import numpy as np

    columns: dict[Names, list[float]] = {path: [] for path in named}
    for done, numbers in enumerate(found, 1):
        for path, column in columns.items():
            column.append(numbers.get(path, math.nan))
        advance(done)
    return {path: np.array(column) for path, column in columns.items()}


def _swaps(units: int) -> Iterable[Sequence[bool]]:
    """Return for each permutation whether each unit changes sides; the first changes none."""
    import numpy as np

    if 2**units <= RESAMPLES:
        return product((False, True), repeat=units)
    return np.random.default_rng(SEED).integers(0, 2, (RESAMPLES, units)).astype(bool)


def intervals(samples: Mapping[Names, Any]) -> dict[Names, Interval]:
    """Return the 95% intervals of samples; none of a metric that is undefined on one."""
    found = {path: interval(values) for path, values in samples.items()}
    return {path: each for path, each in found.items() if each is not None}


def p_value(difference: float, swapped: Any, units: int) -> float | None:
    """Return the two-sided p-value of a difference among those of `Rows.swapped`.

    None if it is undefined on one. Random swaps count the difference itself as one more, so that
    p is never 0.
    """
    import numpy as np

    found = np.asarray(swapped)
    if math.isnan(difference) or np.isnan(found).any():
        return None
    least = abs(difference) * (1 - 1e-9)  # a sum in another order is the same number
    as_large = int((np.abs(found) >= least).sum())
    is_all = 2**units <= RESAMPLES
    return as_large / len(found) if is_all else (as_large + 1) / (len(found) + 1)


def paired(
    rows: Rows,
    one: Predictions,
    other: Predictions,
    names: Iterable[Names],
    samples: tuple[Mapping[Names, Any], Mapping[Names, Any]],
    advance: Advance = lambda done, total: None,
) -> dict[Names, Difference]:
    """Return metrics of one minus those of the other on rows; `samples` are theirs on the rows."""
    ours, theirs = rows.numbers(one), rows.numbers(other)
    swapped = rows.swapped(one, other, advance)
    found = {}
    for name in names:
        by = ours.get(name, math.nan) - theirs.get(name, math.nan)
        if math.isnan(by):
            found[name] = Difference(None)
        else:
            drawn = interval(samples[0][name] - samples[1][name])
            found[name] = Difference(by, drawn, p_value(by, swapped[name], len(rows.units)))
    return found


def holm(values: Sequence[float]) -> list[float]:
    """Return p-values by Holm's correction, in the same order."""
    adjusted, most = [0.0] * len(values), 0.0
    for rank, place in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        most = max(most, min(1.0, (len(values) - rank) * values[place]))
        adjusted[place] = most
    return adjusted
