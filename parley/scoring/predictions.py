"""Read files of predictions once, and check each line.

A file, a pipe or standard input, compressed with gzip or not, which its first bytes tell. All that
is wrong with it is reported at once, each with its line and its key.
"""

import json
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from itertools import islice, product
from pathlib import Path
from typing import IO, Any, NamedTuple

from parley.base.disk import DAMAGED_GZIP, MOST_BYTES, open_regular, unpacked
from parley.base.errors import MOST_PROBLEMS, Causes, Problem, RecordError, UsageError
from parley.base.replace import writing
from parley.base.values import without_numpy
from parley.schema.nodes import Node, show
from parley.schema.shapes import parse
from parley.scoring.game_scores import wrong_end
from parley.scoring.gold import in_order_of_pilots
from parley.tasks.games import Playing
from parley.tasks.prediction_formats import ANSWER, NO_HIT, TREC_RUN, UNREADABLE, Key, Prediction
from parley.tasks.prompts import Asking
from parley.tasks.task import Gold, Task

EPOCH = "epoch"
"""The field of a line that tells several answers to a question apart, numbered from 1."""

_LONGEST = 1_000_000  # bytes of a line
_MOST_WRONG = 100_000  # lines; of a flood no more is counted
_EPOCHS = 1000  # the most of a file: each has a prediction for all of gold
_LOG = re.compile(rb'\s*\{\s*"version":\s*\d+,\s*"status":')  # as JSON


def read(
    file: str, task: Task, gold: Gold, others: Collection[Key] = (), remedy: str = ""
) -> tuple[list[Mapping[Key, Prediction]], list[Mapping[Key, str]]]:
    """Return the predictions of a file ("-": standard input), by epoch, and the raw answers.

    Predictions are in the order of `gold`. Without a field `epoch` there is one. Predictions of the
    keys `others` are left out, as of a subset. RecordError names everything that is wrong, by line
    and key; `remedy` is for missing or unknown keys.
    """
    size = 0
    checker = _Checker(task, gold, "line", others)
    with _opened(file) as stream:
        try:
            for number, line in enumerate(iter(partial(stream.readline, _LONGEST), b""), 1):
                size += len(line)
                if size > MOST_BYTES:
                    what = f"it has more than {MOST_BYTES:,} bytes"
                    checker.broken = f"{what}; nothing was read beyond"
                else:
                    checker.take(number, line.removesuffix(b"\n"))
                if checker.is_over:
                    break
        except DAMAGED_GZIP as error:
            checker.broken = f"damaged gzip data: {error}; compress or copy it again"
    if not size and not checker.broken:
        checker.broken = "it is empty"
    return checker.finish("standard input" if file == "-" else file, remedy)


def is_log(file: str) -> bool:
    """Tell whether a file is a log of inspect."""
    with suppress(OSError), open_regular(Path(file)) as opened:  # a pipe is read once
        return file.endswith(".eval") or bool(_LOG.match(opened.read(100)))
    return False


def validate_predictions(
    predictions: Iterable[Any], task: Task, gold: Gold, name: str, others: Collection[Key] = ()
) -> Mapping[Key, Prediction]:
    """Check and order predictions like those of a file: each is read from its line of one.

    Values of numpy become the equal ones of Python.
    """
    checker = _Checker(task, gold, "prediction", others)
    for number, prediction in enumerate(map(without_numpy, predictions), 1):
        if checker.shape(prediction).fits(prediction):
            (line,) = task.format.lines([prediction])
            checker.take(number, line.encode(errors="surrogatepass"))
        else:
            checker.add(number, prediction)
        if checker.is_over:
            break
    (valid,), _ = checker.finish(name)
    return valid


def write(
    path: Path, task: Task, predictions: Iterable[Prediction], overwrite: bool = False
) -> None:
    """Write predictions to a file, whole or not at all; else raise OutputError."""
    with writing(path, overwrite=overwrite) as file:
        file.writelines(f"{line}\n".encode() for line in task.format.lines(predictions))


class _Wrong(Exception):
    """What is wrong with a prediction."""

    def __init__(self, *problems: Problem) -> None:
        super().__init__(*problems)
        self.problems = problems


class _Line(NamedTuple):
    """A sound prediction with the number of its line, and the raw answer if it is known."""

    number: int
    prediction: Prediction
    text: str | None


class _Checker:
    """Collect predictions one by one, with their problems; a unit is "line" or "prediction".

    `broken` is what keeps the rest from being read, "" for nothing. An epoch is 0 where lines have
    none.
    """

    def __init__(self, task: Task, gold: Gold, unit: str, others: Collection[Key]) -> None:
        self._task, self._gold, self._unit, self._others = task, gold, unit, others
        self._shapes = _other_shapes(task)
        self._lines: dict[tuple[int, Key], _Line] = {}  # by epoch and key
        self._first: dict[tuple[int, Key], Key] = {}  # epoch and key of gold -> the first key
        self._seen: set[tuple[int, Key]] = set()  # epochs and keys of gold, of wrong lines too
        self._causes = Causes()
        self._wrong = 0  # lines
        self._advice = ""  # the form of a file, if the first line of this one cannot be of one
        self.broken = ""

    @property
    def is_over(self) -> bool:
        """Whether to stop reading: an error shows only the problems found so far."""
        return bool(self.broken) or len(self._causes) >= MOST_PROBLEMS

    def shape(self, prediction: Any) -> Node:
        """Return the shape of a prediction: that of the task, of a raw answer, or without one."""
        if isinstance(prediction, dict):
            for name, shape in self._shapes.items():
                if name in prediction:
                    return shape
        return self._task.node

    def take(self, number: int, line: bytes) -> None:
        """Parse a line and add its prediction."""
        if len(line) >= _LONGEST:
            what = f"has {_LONGEST:,} bytes or more; nothing was read beyond it"
            self.broken = f"{self._unit} {number}: {what}"
            return
        if not line.strip():
            self._report(number, 0, None, [Problem("", "a prediction", "an empty line")])
            return
        try:
            prediction = self._task.format.parse(line)
        except ValueError as error:
            known = None
            with suppress(ValueError, RecursionError):  # less strict: its key
                known = self._task.format.glimpse(line)
            self._report(number, 0, known, [Problem("", what=_explain(error))])
        else:
            self.add(number, prediction)

    def add(self, number: int, prediction: Any) -> None:
        """Check a prediction, and keep it or what is wrong with it."""
        epoch, text = 0, None
        try:
            if self._unit == "line" and isinstance(prediction, dict):
                epoch, prediction = _without_epoch(prediction, self._task)
                text, prediction = _without_text(prediction, self._task)
            if self._lines and bool(epoch) != bool(next(iter(self._lines))[0]):
                raise _Wrong(Problem(EPOCH, "in each line or in none", str(epoch or "none")))
            self._keep(number, epoch, prediction, text)
        except _Wrong as wrong:
            self._report(number, epoch, prediction, wrong.problems)

    def _keep(self, number: int, epoch: int, prediction: Any, text: str | None) -> None:
        """Keep a prediction with its raw answer, None without one; `_Wrong` if it is wrong."""
        task, shape = self._task, self.shape(prediction)
        if not shape.fits(prediction):
            raise _Wrong(*islice(shape.problems(prediction), MOST_PROBLEMS))
        key = tuple([prediction[name] for name in task.key])
        gold_key = self._gold_key(key)
        if gold_key not in self._gold and gold_key in self._others:
            return
        self._require_place(epoch, key)
        game = task.asking
        if isinstance(game, Playing) and (wrong := [*wrong_end(prediction, game.agreed)]):
            raise _Wrong(*wrong)
        if shape is self._shapes.get(ANSWER):
            text = prediction.pop(ANSWER)
            prediction |= task.read(text)
        self._lines[epoch, key] = _Line(number, prediction, text)
        self._seen.add((epoch, gold_key))

    def _gold_key(self, key: Key) -> Key:
        """Return the key of gold that a prediction of this key is for."""
        return key[: len(self._task.gold_key)]

    def _require_place(self, epoch: int, key: Key) -> None:
        """Raise `_Wrong` if there is no place for a prediction of this key."""
        gold_key = self._gold_key(key)
        if gold_key not in self._gold:
            what = f"no such {' and '.join(self._task.gold_key)} to predict"
            raise _Wrong(Problem("", what=what))
        if line := self._lines.get((epoch, key)):
            raise _Wrong(Problem("", what=f"repeated, first in {self._unit} {line.number}"))
        first = self._first.setdefault((epoch, gold_key), key)
        if self._task.format is TREC_RUN and first != key and NO_HIT in (first[-1], key[-1]):
            number = self._lines[epoch, first].number
            what = f"though {NO_HIT} says that nothing was found"
            raise _Wrong(Problem("", what=f"stands beside {self._unit} {number}, {what}"))

    def _report(
        self, number: int, epoch: int, prediction: Any, problems: Iterable[Problem]
    ) -> None:
        """Keep problems of a prediction, and do not report its key as missing."""
        place, names = f"{self._unit} {number}", self._task.key
        if number == 1 and not isinstance(prediction, dict):
            (example,) = self._task.format.lines([self._task.example])
            form = f"{self._task.format.name}, plain or compressed with gzip"
            self._advice = f"A file holds {form}; a line is such as {example}"
        if isinstance(prediction, dict) and prediction.keys() >= set(names):
            key = tuple(prediction[name] for name in names)
            place += f" ({_key_text(names, key)})"
            if all(type(part) in (str, int) for part in key):  # true is no 1
                self._seen.add((epoch, self._gold_key(key)))
        for problem in problems:
            self._causes.add(place, replace(problem, place=problem.place.replace("\n", "\\n")))
        self._wrong += 1
        if self._wrong >= _MOST_WRONG:
            self.broken = f"{self._wrong:,} {self._unit}s are wrong; nothing was read beyond"

    def finish(
        self, name: str, remedy: str = ""
    ) -> tuple[list[Mapping[Key, Prediction]], list[Mapping[Key, str]]]:
        """Return each epoch's predictions in the order of gold, and its raw answers.

        Those with one key of gold are in the order of their keys. RecordError with the problems.
        """
        epochs = sorted({epoch for epoch, _ in self._lines}) or [0]
        missing = [] if self.is_over else self._missing(epochs)
        for epoch, key in missing:
            of_epoch = f"{EPOCH} {epoch}, " if epochs != [0] else ""
            place = of_epoch + _key_text(self._task.key, key)
            self._causes.add(place, Problem("", what="missing"))
        problems = self._causes.problems()
        if self.broken:
            problems.append(Problem("", what=self.broken))
        if problems:
            message = f"{name}: cannot be scored as {self._task.format.name}"
            if missing:
                count = len(epochs) * len(self._gold)
                message += f", {len(missing):,} of {count:,} predictions are missing"
            remedy = self._advice or self._remedy(remedy, bool(missing))
            raise RecordError(message, *problems, remedy=remedy)
        place_of = {key: place for place, key in enumerate(self._gold)}
        predictions: dict[int, dict[Key, Prediction]] = {epoch: {} for epoch in epochs}
        texts: dict[int, dict[Key, str]] = {epoch: {} for epoch in epochs}
        in_order = sorted((place_of[self._gold_key(key)], key, epoch) for epoch, key in self._lines)
        for _, key, epoch in in_order:
            line = self._lines[epoch, key]
            predictions[epoch][key] = line.prediction
            if line.text is not None:
                texts[epoch][key] = line.text
        return [*predictions.values()], [*texts.values()]

    def _missing(self, epochs: Iterable[int]) -> list[tuple[int, Key]]:
        """Return the epochs and keys of gold without a prediction."""
        # a wrong line may have no epoch: then its key is missing in none
        without_epoch = {key for epoch, key in self._seen if not epoch and self._wrong}
        due = product(epochs, (key for key in self._gold if key not in without_epoch))
        return [each for each in due if each not in self._seen]

    def _remedy(self, remedy: str, is_missing: bool) -> str:
        """Return the remedy for missing or unknown keys if there are some, also for a pilot."""
        if not is_missing:
            is_unknown = {key for _, key in self._seen}.difference(self._gold, self._others)
            return remedy if is_unknown else ""
        keys = {key for _, key in self._lines}
        is_part = 0 < len(keys) < len(self._gold)
        if is_part and keys == {*in_order_of_pilots(self._gold)[: len(keys)]}:
            pilot = f"It has those of a pilot: --limit {len(keys)} scores them."
            return f"{pilot} {remedy}".strip()
        return remedy


def _other_shapes(task: Task) -> dict[str, Node]:
    """Return a field that stands instead of the task's -> the shape of a prediction with it."""
    names = [] if task.format is TREC_RUN else [UNREADABLE]
    if isinstance(task.asking, Asking) and ANSWER not in task.fields:
        names.append(ANSWER)
    return {name: parse({**task.key, name: str}) for name in names}


def _without_epoch(prediction: Prediction, task: Task) -> tuple[int, Prediction]:
    """Return the epoch of a line, 0 without one, and the rest; `_Wrong` for a wrong epoch."""
    if EPOCH not in prediction or EPOCH in task.fields:
        return 0, prediction
    epoch = prediction[EPOCH]
    if type(epoch) is not int or not 1 <= epoch <= _EPOCHS:
        raise _Wrong(Problem(EPOCH, f"a whole number from 1 to {_EPOCHS:,}", show(epoch)))
    return epoch, {name: value for name, value in prediction.items() if name != EPOCH}


def _without_text(prediction: Prediction, task: Task) -> tuple[str | None, Prediction]:
    """Return the text of an answer that was read, and its reading, which alone counts."""
    text, reading = prediction.get(ANSWER), {*task.answer, UNREADABLE}
    if ANSWER in task.fields or not isinstance(text, str) or reading.isdisjoint(prediction):
        return None, prediction
    return text, {name: value for name, value in prediction.items() if name != ANSWER}


def _key_text(names: Iterable[str], key: Key) -> str:
    """Return a key for people: "dialogue_id 4, turn 7"."""
    return ", ".join(f"{name} {show(value)}" for name, value in zip(names, key, strict=False))


def _explain(error: ValueError) -> str:
    """Return the problem of a line that cannot be parsed."""
    if isinstance(error, json.JSONDecodeError):
        return f"invalid JSON: {error.msg} at column {error.colno}"
    if isinstance(error, UnicodeDecodeError):
        return f"invalid UTF-8: the byte {error.object[error.start]:#04x}"
    return str(error).lstrip(".: ")


@contextmanager
def _opened(file: str) -> Iterator[IO[bytes]]:
    """Open a file or standard input, and decompress gzip."""
    if file == "-" and sys.stdin is None:  # as Python has it where the descriptor is closed
        raise UsageError("standard input is closed; name a file of predictions")
    if file != "-" and not Path(file).exists():
        raise UsageError(f"{file}: no such file; name a file of predictions")
    with open(sys.stdin.fileno() if file == "-" else file, "rb", closefd=file != "-") as raw:
        yield unpacked(raw)
