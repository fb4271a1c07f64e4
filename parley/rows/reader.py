"""Strict reading: every record of a file is checked against its declared shape."""

import json
import os
import time
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any

import orjson

from parley.errors import MOST_PROBLEMS, Causes, Problem, RecordError, ScriptError
from parley.rows.strict_json import loads
from parley.shapes import fitter, problems, show

_WHOLE = (".json", ".pkl")  # files whose records are not lines
SETTLED = 2  # seconds; in a file that has changed since, another change may not show in its times


class Reader:
    """Reads the upstream files of one dataset with its script's `read`, and checks each record.

    All problems of a file are collected and raised as one RecordError. A file that has passed is
    not checked again, unless it has changed: it is then read with plain `orjson.loads`.

    Args:
        folder: Where the files are, in upstream's layout.
        module: The script. Its `read(path, shape, loads)` yields the records of one file.

    Attributes:
        file: The file that is being read; "" between files.
        place: Where in it the record stands that was handed out last.
    """

    def __init__(self, folder: Path, module: ModuleType) -> None:
        self._folder, self._module = folder, module
        self._passed: dict[tuple[Any, ...], Any] = {}  # files that were checked, with their shapes
        self._begun: set[str] = set()
        self._ended: set[str] = set()
        self.file = self.place = ""

    def read(self, path: Any, shape: Any) -> Iterator[Any]:
        """Yield the records of one file; once it is read, raise RecordError if any was wrong."""
        file = os.path.relpath(path, self._folder)
        by_line = not file.endswith(_WHOLE)
        comma = ", " if by_line else ""
        causes, found = Causes(": " if by_line else ""), []
        number = 0
        state = os.stat(path)
        settled = time.time() - max(state.st_mtime, state.st_ctime) > SETTLED
        at = (state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns)
        this = (str(path), *at, id(shape))
        passed = this in self._passed
        fits = _pass if passed else fitter(shape)
        self._begun.add(os.path.abspath(path))
        try:
            records = self._module.read(path, shape, orjson.loads if passed else loads)
            if not isinstance(records, Iterable) or isinstance(records, dict | str):
                raise RecordError("", Problem(file, "a list of records", show(records)))
            for record in records:
                part = f"line {number + 1}" if by_line else f"[{number}]"
                wrong = []
                if not fits(record):
                    wrong = list(islice(problems(record, shape), MOST_PROBLEMS))
                for problem in wrong:
                    causes.add(part, problem)
                if len(causes) >= MOST_PROBLEMS:
                    break
                if not wrong:
                    self.file, self.place = file, f"{file}{comma}{part}"
                    yield record
                number += 1
        except (ValueError, RecursionError) as error:
            found.append(Problem("", what=_explain(error, str(path), file, number, by_line)))
        self.file = self.place = ""
        if causes or found:
            told = (each.at(file + comma) for each in causes.told())
            raise RecordError("", *told, *found)
        self._ended.add(os.path.abspath(path))
        if settled:
            self._passed[this] = shape  # which so keeps its id

    def forget(self) -> None:
        """Count no file as read: what is read from now on is for another split."""
        self._begun.clear()
        self._ended.clear()

    def require_ended(self, paths: Iterable[str]) -> None:
        """Raise ScriptError unless each of these files was read to its end since `forget`.

        Of a folder, each file in it. So no record is passed by, and none goes unchecked.
        """
        found = []
        for path in map(Path, paths):
            for file in sorted(path.iterdir()) if path.is_dir() else [path]:
                name = os.path.abspath(file)
                if name not in self._ended:
                    short = os.path.relpath(file, self._folder)
                    ways = ("left before its end", "not read with the `read` it was given")
                    found.append(Problem(short, what=ways[name not in self._begun]))
        if found:
            script = f"{self._module.__name__.rpartition('.')[2]}.py"
            raise ScriptError(
                f"{script} makes rows without all records of their files",
                *found,
                remedy="`records` must go through `read(path, shape)` to the end of each file: "
                "only so is every record checked.",
            )

    def explain(self, error: Exception) -> Problem:
        """Return what is wrong with the record at hand, by an error from making it into rows."""
        text = str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
        text = text.replace(f"{self._folder}{os.sep}", "")
        return Problem(self.place, what=text.removeprefix(f"{self.file}: ") if self.place else text)


def _pass(record: Any) -> bool:
    return True


def _explain(error: Exception, path: str, file: str, number: int, by_line: bool) -> str:
    """Return what is wrong with a file that cannot be parsed, and on which line."""
    place = f"{file}, line {number + 1}" if by_line else file
    cause = error.__cause__ if isinstance(error.__cause__, ValueError) else error
    if isinstance(cause, json.JSONDecodeError):
        line = "" if by_line else f"line {cause.lineno} "
        return f"{place}: invalid JSON: {cause.msg} at {line}column {cause.colno}"
    if isinstance(cause, UnicodeDecodeError):
        row = number + cause.object[: cause.start].count(10) + 1
        problem = f"invalid UTF-8: the byte {cause.object[cause.start]:#04x}"
        return f"{file}, line {row}: {problem}" if by_line else f"{file}: {problem} on line {row}"
    text = str(cause)
    if text.startswith(path):
        return file + text[len(path) :]
    return place + text if text.startswith("[") else f"{place}: {text.lstrip('.: ')}"
