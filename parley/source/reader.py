"""Strict reading: check every record of a source against its declared shape."""

import json
import os
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import orjson

from parley.base.disk import open_regular
from parley.base.errors import MOST_PROBLEMS, Causes, Problem, RecordError, ScriptError, words_of
from parley.base.strict_json import loads
from parley.source.files import FORMATS, HEADED, NAMED_BY, Folder, Opened, Source


class Reader:
    """Reads the upstream files in a folder; one RecordError lists all problems of a file.

    An unchanged file that has passed is not checked again, but read with plain `orjson.loads`.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        # each version of a file that was checked; the source keeps its id unique
        self._passed: dict[tuple[Any, ...], Source] = {}
        self._ended: set[str] = set()
        self._at: tuple[Source, str, int] | None = None  # the last record read
        self.joined: int | None = None  # the last record that a script made of several files

    @property
    def place(self) -> str:
        """The place of the last record read; between files, the number of the joined one."""
        if self._at is None:
            return "" if self.joined is None else f"records[{self.joined}]"
        source, name, number = self._at
        return name + _comma(source) + _part(source, number)

    def open(self, sources: Iterable[Source]) -> dict[str, Opened]:
        """Return path -> opened source."""
        return {each.path: Opened(partial(self.read, each)) for each in sources}

    def read(self, source: Source) -> Iterator[tuple[str, Any]]:
        """Yield each record with the name of its file in a folder; RecordError if one is wrong."""
        whole = self._folder / source.path
        files = sorted(whole.iterdir()) if isinstance(source, Folder) else [whole]
        if not files:
            raise RecordError("", Problem(source.path, "a file", "none"))
        for file in files:
            within = file.name if isinstance(source, Folder) else ""
            for record in self._checked(source, file, f"{source.path}/{within}".rstrip("/")):
                yield within, record
        self._ended.add(source.path)

    def _checked(self, source: Source, path: Path, name: str) -> Iterator[Any]:
        """Yield the records of a file; RecordError lists the problems of all that do not fit."""
        state = os.stat(path)
        at = (state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns)
        version = (name, *at, id(source))
        read = source.read if callable(source.read) else FORMATS[source.read]
        passed = version in self._passed
        wrong = (lambda record: []) if passed else _checker(source)
        causes = Causes(_comma(source) and ": ")
        number = -2  # until the header is read, if there is one
        found: list[Problem] = []
        try:
            with open_regular(path) as opened:
                records = read(opened, orjson.loads if passed else loads)
                number = -1
                for number, record in enumerate(records):
                    if some := wrong(record):
                        for each in some:
                            causes.add(_part(source, number), each)
                        if len(causes) >= MOST_PROBLEMS:
                            break
                    elif not causes:
                        self._at = source, name, number
                        yield record
        except (ValueError, RecursionError) as error:
            part = _part(source, number + 1) if _comma(source) else ""
            found.append(Problem("", what=_explain(error, name, part)))
        self._at = None
        if causes or found:
            told = (each.at(name + _comma(source)) for each in causes.problems())
            raise RecordError("", *told, *found)
        self._passed[version] = source

    def forget(self) -> None:
        """Count no source as read, for the next split."""
        self._ended.clear()
        self.joined = None

    def require_ended(self, sources: Iterable[Source]) -> None:
        """Raise ScriptError unless each of these was read to its end since `forget`."""
        left = [source.path for source in sources if source.path not in self._ended]
        if found := [Problem(path, what="not read to its end") for path in left]:
            what = "the rows do not use all records of their files"
            remedy = "`records` and `rows` must read all of their input."
            raise ScriptError(what, *found, remedy=remedy)

    def explain(self, error: Exception) -> Problem:
        """Return the problem of the last record read, from an error of its conversion."""
        text = str(error) if isinstance(error, ValueError) else words_of(error)
        return Problem(self.place, what=text)


_WHOLE = ("json value", "text", "bytes")  # one record per file


def _checker(source: Source) -> Callable[[Any], list[Problem]]:
    node, validate = source.node, source.validate

    def wrong(record: Any) -> list[Problem]:
        if not node.fits(record):
            return list(islice(node.problems(record), MOST_PROBLEMS))
        if validate is not None:
            try:
                validate(record)
            except ValueError as error:
                return [Problem("", what=str(error))]
        return []

    return wrong


def _comma(source: Source) -> str:
    return ", " if source.read in NAMED_BY else ""


def _part(source: Source, number: int) -> str:
    """Return the name of a record within its file: its line, with a header, index, or nothing."""
    if word := NAMED_BY.get(source.read):
        return f"{word} {max(1, number + (2 if source.read in HEADED else 1))}"
    return "" if source.read in _WHOLE else f"[{number}]"


def _explain(error: Exception, file: str, line: str) -> str:
    place = f"{file}, {line}" if line else file
    cause = error.__cause__ if isinstance(error.__cause__, ValueError) else error
    if isinstance(cause, json.JSONDecodeError):
        within = "" if line else f"line {cause.lineno} "
        return f"{place}: invalid JSON: {cause.msg} at {within}column {cause.colno}"
    if isinstance(cause, UnicodeDecodeError):
        problem = f"invalid UTF-8: the byte {cause.object[cause.start]:#04x}"
        row = cause.object[: cause.start].count(10) + 1
        return f"{place}: {problem}" if line else f"{place}: {problem} on line {row}"
    text = str(cause)
    return place + text if text.startswith("[") else f"{place}: {text.lstrip('.: ')}"
