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


def write_sample(made: Draft, folder: Path) -> None:
    """Write invented values; those of the first source show each branch of the shape."""
    numbers = count()
    for each in made.given:
        some = max(2, _branches(made.value)) if each is made.given[0] else 1
        values = [_value(made, numbers, number) for number in range(some)]
        if key := made.stated.dialogue:
            values = [value | {key: values[0][key]} for value in values]
        if made.entries:
            values = [{f"id-{next(numbers)}": value for value in values}]
        contents = {folder / each.path: values}
        if each.names:
            parts = [[value] for value in values] if each.format == "json value" else [values]
            contents = {
                folder / each.path / name: part
                for name, part in zip(each.names, parts, strict=False)
            }
        for path, part in contents.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(_text(part, each.format), encoding="utf-8", newline="")


def _value(made: Draft, numbers: Iterator[int], number: int) -> Any:
    value = _invent(made.value, numbers, number)
    for column in () if made.entries else made.key:
        if made.value[column] in (str, int):  # no closed set
            value[column] = made.value[column](next(numbers))  # unique for each record
    return value


def _branches(shape: Any) -> int:
    """Return how many values of a shape, from the first, show each branch once."""
    if isinstance(shape, Converted):
        return _branches(shape.shape)
    if isinstance(shape, tuple):
        return sum(map(_branches, shape))
    if isinstance(shape, dict) and str not in shape:  # an optional key is absent, too
        return max((_branches(each) + key.endswith("?") for key, each in shape.items()), default=1)
    return 1


def _invent(shape: Any, numbers: Iterator[int], n: int) -> Any:
    """Return the n-th value of a shape: the same on every run, and each text unique."""
    if isinstance(shape, Converted):
        return _invent(shape.shape, numbers, n)
    if isinstance(shape, list):
        some = range(max(2, _branches(shape[0]))) if n == 0 else [n]
        return [_invent(shape[0], numbers, each) for each in some]
    if isinstance(shape, set):
        return sorted(shape)[n % len(shape)]
    if isinstance(shape, tuple):
        every = [(option, each) for option in shape for each in range(_branches(option))]
        option, each = every[n % len(every)]
        return _invent(option, numbers, each)
    if isinstance(shape, dict) and str in shape:
        some = range(max(2, _branches(shape[str]))) if n == 0 else [n]
        return {f"key-{next(numbers)}": _invent(shape[str], numbers, each) for each in some}
    if isinstance(shape, dict):
        n %= _branches(shape)
        return {
            key.removesuffix("?"): _invent(each, numbers, n)
            for key, each in shape.items()
            if not key.endswith("?") or n < _branches(each)
        }
    if shape is str:
        start = 5 * next(numbers)
        return " ".join(_WORDS[(start + step) % len(_WORDS)] for step in range(3))
    return None if shape is None else shape(n + 1)


def _text(values: list[Any], format: str) -> str:
    if format in ("json", "json value"):
        found = values if format == "json" else values[0]
        return json.dumps(found, ensure_ascii=False, indent=1) + "\n"
    out = io.StringIO()
    if format == "json lines":
        jsonlines.Writer(out).write_all(values)
    else:
        writer = csv.DictWriter(
            out, [*values[0]], dialect="excel-tab" if format == "tsv" else "excel"
        )
        writer.writeheader()
        writer.writerows(values)
    return out.getvalue()
