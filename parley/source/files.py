"""Declarations of upstream's files, `File` and `Folder`, and the formats that they may have.

Each declaration validates itself: a mistake raises a ScriptError that names the field. A format
yields the records of an open file, strictly: a ValueError says what is wrong with it.
"""

import codecs
import csv
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any, BinaryIO, ClassVar

from parley.base.errors import Problem, ScriptError
from parley.schema.nodes import Node, show
from parley.schema.shapes import parse

REMEDY = "See docs/adding.md."
_DIGITS = {"sha256": 64, "git_blob": 40, "git_tree": 40}
_OF_FILES = ("sha256", "git_blob")
_BRANCH = r"/(main|master|HEAD)(/|\.(zip|tar)\b)"
_COMMIT = "/[0-9a-f]{40}[/.]"  # a URL with a commit may have a folder named main


class Opened:
    """An opened source of a split; iterate it for its checked records in order."""

    def __init__(self, read: Callable[[], Iterator[tuple[str, Any]]]) -> None:
        self._read = read

    def __iter__(self) -> Iterator[Any]:
        return (record for _, record in self.items())

    def items(self) -> Iterator[tuple[str, Any]]:
        """Yield each record with the name of its file within a folder, or "" for a file."""
        return self._read()


@dataclass(frozen=True, eq=False)
class _Source:
    path: str
    shape: Any
    _: KW_ONLY
    url: str
    read: str | Callable[[Any, Any], Iterable[Any]] = ""
    validate: Callable[[Any], None] | None = None

    _format: ClassVar[str] = ""  # usual one, whatever the suffix
    _pinned: ClassVar[tuple[str, ...]]

    @cached_property
    def node(self) -> Node:
        """The parsed shape of its records."""
        return parse(self.shape)

    def __post_init__(self) -> None:
        if not self.read:
            usual = self._format or BY_SUFFIX.get(PurePosixPath(str(self.path)).suffix, "")
            object.__setattr__(self, "read", usual)
        require(self, self.path, list(self._problems()))

    @cached_property
    def pin(self) -> dict[str, Any]:
        """The pin of its content (`parley.source.hashes`)."""
        values = {name: getattr(self, name) for name in self._pinned}
        return {name: value for name, value in values.items() if value not in ("", None, [], ())}

    def _problems(self) -> Iterable[Problem]:
        if not _is_path(self.path):
            yield Problem("path", "a path within upstream's layout", repr(self.path))
        try:
            _ = self.node.fits
        except ScriptError as error:
            yield Problem("shape", what=f"{error.message}. {error.remedy}")
        if not callable(self.read) and self.read not in list(FORMATS):
            yield Problem("read", f"one of {', '.join(FORMATS)}, or a function", repr(self.read))
        if self.validate is not None and not callable(self.validate):
            yield Problem("validate", "a function of (record)", repr(self.validate))


def _is_path(path: Any) -> bool:
    parts = PurePosixPath(str(path)).parts
    return bool(parts) and path == "/".join(parts) and not {"..", "/"} & set(parts)


def _is_count(number: Any) -> bool:
    return number is None or (type(number) is int and number >= 0)


def _pin_problems(pin: Mapping[str, Any], kinds: Sequence[str]) -> Iterable[Problem]:
    """Yield the problems of a URL, a size, and exactly one hash of these kinds."""
    url, size = pin.get("url"), pin.get("size")
    if not isinstance(url, str) or not url.startswith("https://"):
        yield Problem("url", "an https:// URL", repr(url))
    elif (branch := re.search(_BRANCH, url)) and not re.search(_COMMIT, url):
        yield Problem("url", "the id of a commit", f"the branch {branch[1]}, which changes")
    if not _is_count(size):
        yield Problem("size", "a number of bytes", repr(size))
    hashes = {kind: pin[kind] for kind in kinds if pin.get(kind)}
    if len(hashes) != 1:
        yield Problem("", f"one of {' and '.join(kinds)}", ", ".join(hashes) or "none")
    for kind, digits in hashes.items():
        if not re.fullmatch(f"[0-9a-f]{{{_DIGITS[kind]}}}", str(digits)):
            yield Problem(kind, f"{_DIGITS[kind]} hexadecimal digits", repr(digits))


@dataclass(frozen=True, eq=False)
class File(_Source):
    """A pinned upstream file.

    Args:
        path: Its path in upstream's layout, also in the source folder and the sample.
        shape: The shape of each record (`parley.schema.shapes`).
        url: The upstream URL of one fixed version.
        size: Its bytes, if known.
        sha256: The hash of its content, unless `git_blob` is given.
        git_blob: The hash that git has of its content, unless `sha256` is given.
        read: The format of its records, by default that of the suffix, or a function that takes
            the open file and a JSON decoder and yields the records.
        validate: Takes each record that fits the shape; raises ValueError if it contradicts itself.
        mirrors: Replacements for a URL that does not answer, each a dict of url, one hash and,
            if known, size.
    """

    _: KW_ONLY
    size: int | None = None
    sha256: str = ""
    git_blob: str = ""
    mirrors: Sequence[Mapping[str, Any]] = ()

    _pinned = ("url", "size", *_OF_FILES, "mirrors")

    def _problems(self) -> Iterable[Problem]:
        yield from super()._problems()
        yield from _pin_problems(vars(self), _OF_FILES)
        mirrors = self.mirrors
        is_list = isinstance(mirrors, list | tuple)
        if not is_list or not all(isinstance(mirror, Mapping) for mirror in mirrors):
            yield Problem("mirrors", "a list of dicts", f"{mirrors!r:.60}")
            return
        for number, mirror in enumerate(mirrors):
            place = f"mirrors[{number}]"
            for problem in _pin_problems(mirror, _OF_FILES):
                yield problem.at(f"{place}.") if problem.place else problem.at(place)
            for key in sorted(mirror.keys() - {"url", "size", *_OF_FILES}):
                yield Problem(f"{place}.{key}", what="unknown key")


@dataclass(frozen=True, eq=False)
class Folder(_Source):
    """A pinned flat folder of files that hold records in one format, in a zip archive upstream.

    Args:
        path: The path of the folder in upstream's layout.
        shape: The shape of each record (`parley.schema.shapes`).
        url: The upstream URL of the zip archive.
        member: The folder within the archive.
        git_tree: The git hash of the folder's content.
        files: The number of files in the folder, if known.
        read: The format of the files, by default `json value`.
        validate: See `File`.
    """

    _: KW_ONLY
    member: str
    git_tree: str
    files: int | None = None

    _format = "json value"
    _pinned = ("url", "member", "git_tree", "files")

    def _problems(self) -> Iterable[Problem]:
        yield from super()._problems()
        yield from _pin_problems(vars(self), ("git_tree",))
        if not _is_path(self.member):
            yield Problem("member", "a folder in the archive", repr(self.member))
        if not _is_count(self.files):
            yield Problem("files", "a number of files", repr(self.files))


Source = File | Folder


def require(declared: object, name: str, found: list[Problem]) -> None:
    """Raise ScriptError if something declared has problems."""
    if found:
        raise ScriptError(f"{type(declared).__name__}({name!r})", *found, remedy=REMEDY)


Loads = Callable[[bytes], Any]
Format = Callable[[BinaryIO, Loads], Iterable[Any]]

MOST_BYTES = 1 << 30  # limit for a file that is read at once


def _whole(file: BinaryIO) -> bytes:
    content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise ValueError(f"expected at most {MOST_BYTES:,} bytes")
    return content


def _json_list(file: BinaryIO, loads: Loads) -> Iterable[Any]:
    records = loads(_whole(file))
    if not isinstance(records, list):
        raise ValueError(f"expected a list of records, found {show(records)}")
    return records


def _json_lines(file: Iterable[bytes], loads: Loads) -> Iterator[Any]:
    # Not by `jsonlines`, which decodes each line first: with strict JSON that takes 1.3 to 1.6
    # times as long. It also skips marks.
    for line in file:
        if line[:1] not in b'{["-0123456789tfn':
            raise ValueError(f"expected a JSON value, found {line[:40]!r}")
        yield loads(line)


def _lines(file: Iterable[bytes]) -> Iterator[str]:
    return (line.removesuffix("\n") for line in _decoded(file))


def _decoded(parts: Iterable[bytes]) -> Iterator[str]:
    for number, part in enumerate(parts):
        if number == 0 and part.startswith(codecs.BOM_UTF8):
            what = "line 1 begins with a byte order mark; to skip it, pass a function as `read`"
            raise ValueError(what)
        yield part.decode("utf-8")


def _unmarked(file: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of a table without the byte order mark that spreadsheets write."""
    if first := file.readline().removeprefix(codecs.BOM_UTF8):
        yield first
    yield from file


def _cells(file: BinaryIO) -> Iterator[list[str]]:
    try:
        yield from csv.reader(_decoded(_unmarked(file)), strict=True)
    except csv.Error as error:
        raise ValueError(f"invalid CSV: {error}") from error


def _rows_of_csv(rows: Iterator[list[str]]) -> Iterator[dict[str, str]]:
    """Return the rows as dicts; read the header at once, for its errors to come first."""
    if (header := next(rows, None)) is None:
        raise ValueError("expected a header, found an empty file")
    if len(set(header)) < len(header):
        raise ValueError(f"expected each column once in the header, found {header}")

    def record(row: list[str]) -> dict[str, str]:
        if len(row) != len(header):
            raise ValueError(f"expected {len(header)} cells, as in the header, found {len(row)}")
        return dict(zip(header, row, strict=True))

    return map(record, rows)


FORMATS: dict[str, Format] = {
    "json": _json_list,
    "json value": lambda file, loads: [loads(_whole(file))],
    "json lines": _json_lines,
    "csv": lambda file, _: _rows_of_csv(_cells(file)),
    "tsv": lambda file, _: _rows_of_csv(
        line.removesuffix("\r").split("\t") for line in _lines(_unmarked(file))
    ),
    "lines": lambda file, _: _lines(file),
    "text": lambda file, _: ["".join(_decoded([_whole(file)]))],
    "bytes": lambda file, _: [_whole(file)],
}
HEADED = {"csv", "tsv"}
# Errors name a record by this word, else by its index; a CSV row may span several lines.
NAMED_BY: dict[object, str] = {"json lines": "line", "lines": "line", "csv": "row", "tsv": "line"}
BY_SUFFIX = {".json": "json", ".jsonl": "json lines", ".csv": "csv", ".tsv": "tsv", ".txt": "text"}
