"""Strict reading: every record of a file is checked against its declared shape."""

import json
import os
import time
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import orjson

from parley.errors import RecordError
from parley.rows.strict_json import loads
from parley.shapes import MOST_PROBLEMS, fitter, problems, show

SETTLED = 2  # seconds; in a file that has changed since, another change may not show in its times


class Strict:
    """Mixed into a builder class: every record it reads is checked against its shape.

    Expects the builder to read through its methods `loads` and `read(path, shape)`. All problems
    of a file are collected and raised as one RecordError. A file that has passed is not checked
    again for another config, unless it has changed: it is then read with plain `orjson.loads`.

    Attributes:
        passed: The files that were checked, each with its shape; builders may share it.
        file: The file that is being read; "" between files.
        place: Where in it the record stands that the builder has been given last.
    """

    loads = staticmethod(loads)
    file = place = ""
    passed: dict[tuple[Any, ...], Any]

    def read(self, path: Any, shape: Any) -> Iterator[Any]:
        """Yield the records of one file; once it is read, raise RecordError if any was wrong."""
        file = os.path.relpath(path, self.config.data_dir)  # type: ignore[attr-defined]
        by_line = not file.endswith(".json")
        found: list[str] = []
        number = 0
        state = os.stat(path)
        settled = time.time() - max(state.st_mtime, state.st_ctime) > SETTLED
        at = (state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns)
        this = (path, *at, id(shape))
        reader: Any = self
        if this in self.passed:
            # no `copy`: builders of `datasets` would share their attributes with one
            reader = object.__new__(type(self))
            reader.__dict__ = {**self.__dict__, "loads": orjson.loads}
        fits = _pass if this in self.passed else fitter(shape)
        try:
            records = super(Strict, reader).read(path, shape)  # type: ignore[misc]
            if not isinstance(records, Iterable) or isinstance(records, dict | str):
                raise RecordError(f"{file}: expected a list of records, found {show(records)}")
            for record in records:
                place = f"{file}, line {number + 1}" if by_line else f"{file}[{number}]"
                wrong = []
                if not fits(record):
                    wrong = list(islice(problems(record, shape), MOST_PROBLEMS))
                for problem in wrong:
                    found.append(place + (": " + problem.lstrip(".: ") if by_line else problem))
                if len(found) >= MOST_PROBLEMS:
                    break
                if not wrong:
                    self.file, self.place = file, place
                    yield record
                number += 1
        except (ValueError, RecursionError) as error:
            found.append(_explain(error, str(path), file, number, by_line))
        self.file = self.place = ""
        if found:
            raise RecordError(report(found))
        if settled:
            self.passed[this] = shape  # which so keeps its id

    def explain(self, error: Exception) -> str:
        """Return what is wrong with the record at hand, by an error from making it into rows."""
        text = str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
        text = text.replace(f"{self.config.data_dir}{os.sep}", "")  # type: ignore[attr-defined]
        return f"{self.place}: {text.removeprefix(f'{self.file}: ')}" if self.place else text


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


def cut(line: str) -> str:
    """Return a line of an error without the middle of what is too long to read, as an id can be."""
    return line if len(line) <= 500 else f"{line[:300]}…{line[-199:]}"


def report(found: list[str]) -> str:
    """Return problems one a line, cut after the first twenty."""
    shown = found[:MOST_PROBLEMS]
    if len(found) >= MOST_PROBLEMS:
        shown.append(f"(the first {MOST_PROBLEMS} problems; there may be more)")
    return "\n".join(shown)
