"""Readers for the file formats of a declaration.

    json        a JSON list; each item is a record
    json value  one JSON value, the only record
    json lines  one JSON value per line
    csv, tsv    a header and rows; a record is an object of strings. TSV has no quotes.
    lines       text; each line without its newline is a record; a carriage return stays
    text        text; the whole file is the only record
    bytes       the bytes of the whole file are the only record

All text is UTF-8, without a byte order mark, which only `csv` and `tsv` skip. Each reader takes an
open file and a JSON decoder, and raises ValueError if it cannot read the file.
"""

import codecs
import csv
from collections.abc import Callable, Iterable, Iterator
from typing import Any, BinaryIO

from parley.schema.nodes import show

Loads = Callable[[bytes], Any]
Format = Callable[[BinaryIO, Loads], Iterable[Any]]

MOST_BYTES = 1 << 30  # limit for a file that is read at once


def _whole(file: BinaryIO) -> bytes:
    content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise ValueError(f"expected at most {MOST_BYTES:,} bytes")
    return content


def _json(file: BinaryIO, loads: Loads) -> Iterable[Any]:
    found = loads(_whole(file))
    if not isinstance(found, list):
        raise ValueError(f"expected a list of records, found {show(found)}")
    return found


def json_lines(file: Iterable[bytes], loads: Loads) -> Iterator[Any]:
    """Yield the value of each line; ValueError for a blank line or a byte order mark.

    Not by `jsonlines`, which decodes each line first: with strict JSON that takes 1.3 to 1.6 times
    as long. It also skips marks.
    """
    for line in file:
        if line[:1] not in b'{["-0123456789tfn' or line == b"\n":
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


def _table(rows: Iterator[list[str]]) -> Iterator[dict[str, str]]:
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
    "json": _json,
    "json value": lambda file, loads: [loads(_whole(file))],
    "json lines": json_lines,
    "csv": lambda file, _: _table(_cells(file)),
    "tsv": lambda file, _: _table(
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
