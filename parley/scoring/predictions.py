"""Files of predictions: read once, checked line by line, and never guessed at.

A file, a pipe or standard input, compressed with gzip or not, which its first bytes tell. All that
is wrong with it is reported at once, each with its line and its key.
"""

import gzip
import io
import json
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import IO, Any

from parley.errors import MOST_PROBLEMS, OutputError, Problem, RecordError, UsageError
from parley.scoring.forms import Key, Prediction
from parley.shapes import fitter, problems, show
from parley.tasks import Gold, Task

_LONGEST = 1_000_000  # bytes of a line; what is longer is no prediction
_GZIP = b"\x1f\x8b"


def read(file: str, task: Task, gold: Gold) -> dict[Key, Prediction]:
    """Return the predictions of a file, one for each key of `gold` and in its order.

    Args:
        file: A path, or "-" for standard input.
        task: What they must look like.
        gold: What is to be predicted.

    Raises:
        RecordError: naming everything that is wrong with the file, by line and key.
        UsageError: standard input is closed.
        OSError: it cannot be read.
    """
    name = "standard input" if file == "-" else file
    with _opened(file) as stream:
        checker = _Checker(task, gold, "line")
        try:
            for number, line in enumerate(iter(lambda: stream.readline(_LONGEST), b""), 1):
                checker.take(number, line)
                if checker.is_over:
                    break
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            checker.stop(f"damaged gzip data: {error}; compress or copy it again")
    return checker.finish(name)


def check(found: Iterable[Any], task: Task, gold: Gold, name: str) -> dict[Key, Prediction]:
    """Return predictions that a function made, checked and ordered as those of a file are.

    Each is read from the line that it has in a file: `write` can write what is returned.
    """
    checker = _Checker(task, gold, "prediction")
    for number, prediction in enumerate(found, 1):
        if checker.fits(prediction):
            (line,) = task.form.lines([prediction])
            checker.take(number, line.encode())
        else:
            checker.add(number, prediction)
        if checker.is_over:
            break
    return checker.finish(name)


def write(path: Path, task: Task, predictions: Iterable[Prediction]) -> None:
    """Write predictions in the form that a file of them has, to a new file, whole or not at all.

    Raises:
        OutputError: something stands there already, or it cannot be written.
    """
    from parley.folder.replace import write_whole

    require_free(path)
    write_whole(path, "".join(f"{line}\n" for line in task.form.lines(predictions)))


def require_free(path: Path) -> None:
    """Raise OutputError if something stands at a path, or there is no folder to make it in."""
    if path.exists() or path.is_symlink():
        raise OutputError(f"{path}: stands there already; name a file to make")
    if not path.parent.is_dir():
        raise OutputError(f"{path}: there is no folder {path.parent} to make it in")


class _Checker:
    """Takes predictions one by one, and knows at the end what is wrong with them.

    Args:
        task: What they must look like.
        gold: What is to be predicted.
        unit: What is counted: "line" or "prediction".
    """

    def __init__(self, task: Task, gold: Gold, unit: str) -> None:
        self._task, self._gold, self._unit = task, gold, unit
        self.fits = fitter(task.shape)  # whether a prediction has the shape
        self._required = len(task.required or task.key)
        self._found: dict[Key, Prediction] = {}
        self._numbers: dict[Key, int] = {}
        self._seen: set[Key] = set()  # required keys, of what is wrong too
        self._problems: list[Problem] = []
        self._is_broken = False

    @property
    def is_over(self) -> bool:
        """Whether reading on is of no use: what is wrong so far is all that an error tells."""
        return self._is_broken or len(self._problems) >= MOST_PROBLEMS

    def stop(self, what: str) -> None:
        """Note what is wrong with the file, of which nothing more can be read."""
        self._problems.append(Problem("", what=what))
        self._is_broken = True

    def take(self, number: int, line: bytes) -> None:
        """Parse a line and add what it says."""
        if len(line) >= _LONGEST:
            what = f"has {_LONGEST:,} bytes or more; nothing was read beyond it"
            self._object(number, None, [Problem("", what=what)])
            self._is_broken = True
            return
        if not line.strip():
            self._object(number, None, [Problem("", "a prediction", "an empty line")])
            return
        try:
            prediction = self._task.form.parse(line)
        except ValueError as error:
            glimpsed = None
            with suppress(ValueError, RecursionError):
                glimpsed = self._task.form.glimpse(line)
            self._object(number, glimpsed, [Problem("", what=_explain(error))])
        else:
            self.add(number, prediction)

    def add(self, number: int, prediction: Any) -> None:
        """Check a prediction and keep it."""
        if not self.fits(prediction):
            self._object(number, prediction, problems(prediction, self._task.shape))
            return
        key = tuple([prediction[name] for name in self._task.key])
        due = key[: self._required]
        if due not in self._gold:
            what = f"there is no {_named(self._task.key, due)} to predict"
            self._problems.append(Problem(f"{self._unit} {number}", what=what))
        elif key in self._found:
            what = f"stands twice, first in {self._unit} {self._numbers[key]}"
            self._object(number, prediction, [Problem("", what=what)])
        else:
            self._found[key] = prediction
            self._numbers[key] = number
            self._seen.add(due)
            if wrong := list(self._task.objections(prediction, self._gold[due])):
                self._object(number, prediction, wrong)

    def _object(self, number: int, prediction: Any, found: Iterable[Problem]) -> None:
        """Keep problems of a prediction, whose key is not to be missed besides."""
        place = f"{self._unit} {number}"
        names = self._task.key
        if isinstance(prediction, dict) and prediction.keys() >= set(names):
            key = tuple(prediction[name] for name in names)
            place += f" ({_named(names, key)})"
            if all(type(part) in (str, int) for part in key):  # true is no 1
                self._seen.add(key[: self._required])
        for problem in islice(found, MOST_PROBLEMS):
            inner = problem.place.lstrip(".").replace("\n", "\\n")
            where = f"{place}: {inner}" if inner else place
            self._problems.append(Problem(where, problem.expected, problem.found, problem.what))

    def finish(self, name: str) -> dict[Key, Prediction]:
        """Return the predictions in the order of gold.

        Raises:
            RecordError: something is wrong with them.
        """
        message = f"{name}: cannot be scored"
        if not self.is_over and (missing := [key for key in self._gold if key not in self._seen]):
            message += f", {len(missing):,} of {len(self._gold):,} predictions are missing"
            self._problems += [
                Problem(_named(self._task.key, key), what="missing")
                for key in missing[: MOST_PROBLEMS - len(self._problems)]
            ]
        if self._problems:
            raise RecordError(message, *self._problems)
        if self._required == len(self._task.key):
            return {key: self._found[key] for key in self._gold}
        order = {key: number for number, key in enumerate(self._gold)}
        ranked = sorted(self._found, key=lambda key: (order[key[: self._required]], key))
        return {key: self._found[key] for key in ranked}


def _named(names: Iterable[str], key: Key) -> str:
    """Return a key for people: "dialogue_id 4, turn 7"."""
    return ", ".join(f"{name} {show(value)}" for name, value in zip(names, key, strict=False))


def _explain(error: ValueError) -> str:
    """Return what is wrong with a line that cannot be parsed."""
    if isinstance(error, json.JSONDecodeError):
        return f"invalid JSON: {error.msg} at column {error.colno}"
    if isinstance(error, UnicodeDecodeError):
        return f"invalid UTF-8: the byte {error.object[error.start]:#04x}"
    return str(error).lstrip(".: ")


@contextmanager
def _opened(file: str) -> Iterator[IO[bytes]]:
    """Open a file or standard input, decompressed if its first bytes are those of gzip."""
    if file == "-" and sys.stdin is None:  # as Python has it where the descriptor is closed
        raise UsageError("standard input is closed; name a file of predictions")
    with open(sys.stdin.fileno() if file == "-" else file, "rb", closefd=file != "-") as raw:
        head = raw.read(len(_GZIP))
        stream: IO[bytes] = io.BufferedReader(_Joined(head, raw))
        yield gzip.GzipFile(fileobj=stream) if head == _GZIP else stream  # type: ignore[misc]


class _Joined(io.RawIOBase):
    """A stream from its beginning again, of which the first bytes have been read."""

    def __init__(self, head: bytes, rest: io.BufferedReader) -> None:
        self._head, self._rest = head, rest

    def readable(self) -> bool:
        """Tell that it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read some bytes."""
        found = self._head or self._rest.read1(len(buffer))
        self._head = b""
        buffer[: len(found)] = found
        return len(found)
