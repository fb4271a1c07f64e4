"""The invented sample of a drafted dataset, in upstream's layout."""

import csv
import io
import json
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import jsonlines

from parley.authoring.starting.draft import Draft
from parley.schema.shapes import Converted

_WORDS = (
    *("amber", "birch", "candle", "drift", "ember", "fern", "garden", "harbour", "island"),
    *("jasmine", "kettle", "lantern", "meadow", "north", "orchard", "pebble", "quiet", "river"),
)
_ABSENT = object()


def write_sample(made: Draft, folder: Path) -> None:
    """Write invented values; those of the first source show each branch of the shape."""
    numbers = count()
    for each in made.given:
        values = _two_or_more(made.value, numbers)
        values = values if each is made.given[0] else values[:1]
        for value in () if made.entries else values:
            for column in made.key:
                if made.value[column] in (str, int):  # no closed set
                    value[column] = made.value[column](next(numbers))  # unique for each record
        if key := made.stated.dialogue:
            values = [value | {key: values[0][key]} for value in values]
        if made.entries:
            values = [{f"id-{next(numbers)}": value for value in values}]
        parts = [[value] for value in values] if each.format == "json value" else [values]
        places = [folder / each.path / name for name in each.names] or [folder / each.path]
        for path, part in zip(places, parts, strict=False):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(_text(part, each.format), encoding="utf-8", newline="")


def _values(shape: Any, numbers: Iterator[int]) -> list[Any]:
    """Return values that show each branch of a shape, the same on every run, no text twice."""
    if isinstance(shape, Converted):
        return _values(shape.shape, numbers)
    if isinstance(shape, list):
        return [_two_or_more(shape[0], numbers)]
    if isinstance(shape, set):
        return [sorted(shape)[next(numbers) % len(shape)]]
    if isinstance(shape, tuple):
        return [value for option in shape for value in _values(option, numbers)]
    if isinstance(shape, dict) and str in shape:
        inner = _two_or_more(shape[str], numbers)
        return [{f"key-{next(numbers)}": value for value in inner}]
    if isinstance(shape, dict):
        columns = {
            key: _values(each, numbers) + [_ABSENT] * key.endswith("?")
            for key, each in shape.items()
        }
        most = max(map(len, columns.values()), default=1)
        for key, column in columns.items():
            while len(column) < most:
                column += _values(shape[key], numbers)
        return [
            {k.removesuffix("?"): c[n] for k, c in columns.items() if c[n] is not _ABSENT}
            for n in range(most)
        ]
    if shape is str:
        start = 5 * next(numbers)
        return [" ".join(_WORDS[(start + step) % len(_WORDS)] for step in range(3))]
    return [None if shape is None else shape(next(numbers))]


def _two_or_more(shape: Any, numbers: Iterator[int]) -> list[Any]:
    values = _values(shape, numbers)
    return values if values[1:] else values + _values(shape, numbers)


def _text(values: list[Any], format: str) -> str:
    if format in ("json", "json value"):
        found = values if format == "json" else values[0]
        return json.dumps(found, ensure_ascii=False, indent=1) + "\n"
    out = io.StringIO()
    if format == "json lines":
        jsonlines.Writer(out).write_all(values)
    else:
        dialect = "excel-tab" if format == "tsv" else "excel"
        writer = csv.DictWriter(out, [*values[0]], dialect=dialect)
        writer.writeheader()
        writer.writerows(values)
    return out.getvalue()
