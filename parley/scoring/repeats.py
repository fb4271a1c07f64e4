"""Score several predictions of a model for the same rows, of one question asked again and again."""

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from parley.declaring.prediction_formats import UNREADABLE, Key, Prediction
from parley.declaring.tasks import tree
from parley.scoring.compare import Names, Predictions, Rows

_SAMPLES = 200  # enough for a standard error


@dataclass(frozen=True)
class Repeats:
    """The scores of repetitions, each with one prediction for each row; names -> number.

    Args:
        count: The number of repetitions.
        mean: The mean of a metric over them, NaN if it is undefined in one.
        se_samples: Its standard error, as the model's answers vary: SD / sqrt(count).
        se_rows: Its standard error, as the rows vary: the SD of bootstrap samples of whole units.
        majority: The metric of the commonest value of each field and row, the earlier one of two;
            empty where a value is a number, and for games.
        passed: Metric of right predictions -> for k of 1, 2, ... the chance that one of k is right.
    """

    count: int
    mean: Mapping[Names, float]
    se_samples: Mapping[Names, float]
    se_rows: Mapping[Names, float]
    majority: Mapping[Names, float]
    passed: Mapping[str, Sequence[float]]

    def as_dict(self) -> dict[str, Any]:
        """Return it for JSON; an undefined number is null."""
        numbers = {name: getattr(self, name) for name in _NUMBERS}
        shown = {
            name: tree({n: None if math.isnan(v) else v for n, v in found.items()})
            for name, found in numbers.items()
        }
        return {"count": self.count, **shown, "passed": {n: [*v] for n, v in self.passed.items()}}


_NUMBERS = ("mean", "se_samples", "se_rows", "majority")


def score_repeats(rows: Rows, found: Sequence[Predictions]) -> Repeats:
    """Return the scores of two repetitions or more, together."""
    import numpy as np

    each = [rows.numbers(predictions) for predictions in found]
    samples = [rows.samples(predictions, most=_SAMPLES) for predictions in found]
    names = [name for name in each[0] if all(name in numbers for numbers in each)]
    values = {name: np.array([numbers[name] for numbers in each]) for name in names}
    count = len(found)
    return Repeats(
        count,
        {name: float(of.mean()) for name, of in values.items()},
        {name: float(of.std(ddof=1) / math.sqrt(count)) for name, of in values.items()},
        {name: float(np.mean([of[name] for of in samples], axis=0).std(ddof=1)) for name in names},
        rows.numbers(commonest(found)) if _are_labels(rows, found) else {},
        _passed(rows, found),
    )


def commonest(found: Sequence[Predictions]) -> dict[Key, Prediction]:
    """Return the commonest readable value of each field of each row, the earlier one of two."""
    chosen: dict[Key, Prediction] = {}
    for key in found[0]:
        each = [predictions[key] for predictions in found]
        votes = [one for one in each if UNREADABLE not in one] or each
        chosen[key] = {name: _most([one[name] for one in votes]) for name in votes[0]}
    return chosen


def _most(values: Sequence[Any]) -> Any:
    times = Counter(map(_text, values))
    return max(values, key=lambda value: times[_text(value)])


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _are_labels(rows: Rows, found: Sequence[Predictions]) -> bool:
    """Tell whether the commonest prediction has a meaning: there are right ones, and no numbers."""
    fields = (
        value
        for predictions in found
        for prediction in predictions.values()
        for name, value in prediction.items()
        if name not in rows.task.key
    )
    return rows.task.target is not None and not any(isinstance(v, int | float) for v in fields)


def _passed(rows: Rows, found: Sequence[Predictions]) -> dict[str, list[float]]:
    """Return the metrics of `Task.per_prediction` that are all or nothing, for one of k answers.

    The chance that none of k answers is right, of those given, is that of drawing k wrong ones.
    """
    count, right = len(found), dict[str, list[int]]()
    if rows.task.target is None:
        return {}
    whole = 100.0 if rows.task.unit == "percent" else 1.0
    for key in found[0]:
        known: dict[str, Mapping[Names, float]] = {}
        for predictions in found:
            text = _text(predictions[key])
            known[text] = known.get(text) or rows.alone(key, predictions)
        times = Counter(_text(predictions[key]) for predictions in found)
        for name in rows.task.per_prediction:
            values = {text: of.get((name,), math.nan) for text, of in known.items()}
            is_whole = all(value in (0.0, whole) for value in values.values())
            often = sum(times[text] for text, value in values.items() if value == whole)
            right.setdefault(name, []).append(often if is_whole else -1)
    return {
        name: [
            sum(1 - math.comb(count - often, k) / math.comb(count, k) for often in each) / len(each)
            for k in range(1, count + 1)
        ]
        for name, each in right.items()
        if min(each) >= 0
    }
