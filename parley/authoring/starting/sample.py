"""The invented sample of a drafted dataset, in upstream's layout."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import jsonlines

from parley.authoring.starting.draft import Draft
from parley.authoring.starting.given import Given
from parley.authoring.starting.invention import Invention, branches, invent
from parley.schema.shapes import parse

_WHOLE = ("json value", "text")  # formats with one value a file


def write_sample(made: Draft, folder: Path) -> None:
    """Write invented values; those of the first source show each branch of the shape."""
    made_up = Invention(made.ends)
    for each in made.given:
        count = max(2, branches(made.value)) if each is made.given[0] else 1
        values = [_value(made, made_up, number) for number in range(count)]
        if made.stated and (key := made.stated.dialogue):  # two turns of a dialogue, if there are
            values = [value | {key: values[n - n % 2][key]} for n, value in enumerate(values)]
        if made.naming and made.naming.entries:
            entries = {f"id-{made_up.number()}": value for value in values}
            alone = made.format == "json lines"
            values = [{key: value} for key, value in entries.items()] if alone else [entries]
        _write(each, values, made.format, folder / each.path)


def _value(made: Draft, made_up: Invention, number: int) -> Any:
    value = invent(made.value, made_up, number)
    if made.naming is None and isinstance(value, dict):  # else the key is not in the value
        fits = parse(made.value).fits
        for column in made.key.keys() & value.keys():
            each = made_up.number()  # unique for each record
            own = {column: each if made.key[column] is int else f"{each}"}
            value |= own if fits(value | own) else {}  # unless it is a closed set
    return value


def _write(given: Given, values: list[Any], format: str, target: Path) -> None:
    contents = {target: values}
    if given.place.is_dir():
        parts = [[value] for value in values] if format in _WHOLE else [values]
        contents = {target / name: part for name, part in zip(given.files, parts, strict=False)}
    for path, part in contents.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", encoding="utf-8", newline="") as file:
            file.write(_text(part, format))


def _text(values: list[Any], format: str) -> str:
    if format in ("json", "json value"):
        found = values if format == "json" else values[0]
        return json.dumps(found, ensure_ascii=False, indent=1) + "\n"
    out = io.StringIO()
    if format == "json lines":
        jsonlines.Writer(out).write_all(values)
        return out.getvalue()
    if format in ("csv", "tsv"):
        dialect = {"delimiter": "," if format == "csv" else "\t", "lineterminator": "\n"}
        writer = csv.DictWriter(out, list(values[0]), **dialect)  # type: ignore[arg-type]
        writer.writeheader()
        # a table has one header: skip values with other keys
        writer.writerows(value for value in values if value.keys() == values[0].keys())
        return out.getvalue()
    return "".join(f"{value}\n" for value in values)
