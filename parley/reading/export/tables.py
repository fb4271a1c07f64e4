"""Write the rows of a build as CSV or JSON Lines, all of them or those of some dialogues.

    DIR/<config>-<split>.csv      one row per line, its fields in columns
    DIR/<config>-<split>.jsonl    one row per line, as an object

CSV begins with a byte order mark, by which a spreadsheet knows UTF-8. A field of an object is a
column of its own, named by its path (`outcomes.points_scored`), and a list is JSON. Null is an
empty cell, and so is an empty text. A text that a spreadsheet could take for a formula gets a `'`
before it: one that begins with =, +, -, @ or a wide or small form of them, also after blanks and
invisible characters; with a tab or a line's end; or with `'` itself. To read it back, drop the
first `'` of a cell.

And chats as prompts and completions, the format of preference trainers:

    DIR/<split>.jsonl    one line for each turn of the assistant in `messages`:
                         {"prompt": [message, ...], "completion": [message], key: value, ...}

A message is {"role", "content"}. The keys are those of the row of `messages`, and `turn`, the place
of the completion in its `messages`, from 0.
"""

import csv
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import jsonlines

from parley.building.folder import BuiltFolder
from parley.reading.dialogues import places, require_dialogues

CHATS = "messages"  # the config of chats

# A text that could be a formula; the page's selection.js has the same expression. The characters
# before the sign are those that Unicode calls white space or default-ignorable, or that are blank.
_FORMULA = re.compile(
    r"['\t\r\n]|[\s\x00-\x20\x7f-\xa0\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    r"\u200b-\u200f\u2028-\u202f\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    r"\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]*"
    r"[=+\-@\ufe62\ufe63\ufe66\ufe6b\uff0b\uff0d\uff1d\uff20]"
)
Ids = Collection[str] | None
Keys = tuple[str, ...]


def write_csv(built: BuiltFolder, folder: Path, ids: Ids = None) -> None:
    """Write each split as CSV; with `ids`, the rows of these dialogues only."""
    for config, split, rows in _chosen(built, ids):
        columns = list(_columns(built.features(config)))
        path = folder / f"{config}-{split}.csv"
        with path.open("w", encoding="utf-8-sig", newline="") as file:
            writer = csv.writer(file)  # ends lines with \r\n, so quotes texts with \r or \n
            writer.writerow(cell(".".join(column)) for column in columns)
            writer.writerows(_cells(row, columns) for row in rows)


def write_json_lines(built: BuiltFolder, folder: Path, ids: Ids = None) -> None:
    """Write each split as JSON Lines; with `ids`, the rows of these dialogues only."""
    for config, split, rows in _chosen(built, ids):
        write_lines(folder / f"{config}-{split}.jsonl", rows)


def write_lines(path: Path, values: Iterable[Any], ascii: bool = False) -> None:
    """Write values as JSON Lines; ValueError for a number that is not finite."""
    dumps = partial(json.dumps, ensure_ascii=ascii, allow_nan=False)
    with jsonlines.open(path, "w", dumps=dumps) as file:
        file.write_all(values)


def prompt_completion(built: BuiltFolder, folder: Path) -> None:
    """Write the chats of each split as prompts and completions."""
    keys = built.dataset.configs[CHATS].keys
    for split in built.splits(CHATS):
        lines = (
            {"prompt": chat[:turn], "completion": [message]}
            | {key: row[key] for key in keys}
            | {"turn": turn}
            for row in built.each_row(CHATS, split)
            for chat in [row["messages"]]
            for turn, message in enumerate(chat)
            if message["role"] == "assistant"
        )
        write_lines(folder / f"{split}.jsonl", lines)


def csv_lines(built: BuiltFolder, config: str, column: str) -> Iterator[tuple[str, str]]:
    """Yield the heading of a config, then each row as a line of CSV, with the split first.

    Each comes with the value of `column`, the id of its dialogue, as text; the heading's is "".
    """
    columns = list(_columns(built.features(config)))
    writer: Any = csv.writer(_Lines())
    yield "", writer.writerow(["split", *(cell(".".join(path)) for path in columns)])
    for split in built.splits(config):
        for row in built.each_named(config, split):
            yield str(row[column]), writer.writerow([split, *_cells(row, columns)])


class _Lines:
    """A file for `csv.writer`, whose `writerow` returns what this does."""

    def write(self, line: str) -> str:
        return line


def _chosen(built: BuiltFolder, ids: Ids) -> Iterator[tuple[str, str, Iterator[dict[str, Any]]]]:
    """Yield config, split and rows; with `ids` leave out the configs of `without_dialogues`."""
    require_dialogues(built, ids or ())
    chosen, columns_of = set(ids or ()), _columns_of_ids(built)
    for config, split in built.declared:
        rows = built.each_named(config, split)
        columns = columns_of[config]
        if ids is None:
            yield config, split, rows
        elif columns:
            kept = (row for row in rows if any(str(row[column]) in chosen for column in columns))
            yield config, split, kept


def _columns_of_ids(built: BuiltFolder) -> dict[str, list[str]]:
    """Return config -> its columns that name the dialogue of a row."""
    dataset = built.dataset
    named = {next(iter(built.features(config))) for config, _ in places(built)}
    named |= set(getattr(dataset.transcript, "BESIDE", {}).values())
    return {
        config: [column for column in built.features(config) if column in named]
        for config, _ in built.declared
    }


def without_dialogues(built: BuiltFolder) -> list[str]:
    """Return the configs whose rows belong to no single dialogue."""
    return [config for config, columns in _columns_of_ids(built).items() if not columns]


def _columns(features: Mapping[str, Any], path: Keys = ()) -> Iterator[Keys]:
    """Yield the path of each column."""
    for name, feature in features.items():
        if isinstance(feature, dict):
            yield from _columns(feature, (*path, name))
        else:
            yield (*path, name)


def _cells(row: Any, columns: list[Keys]) -> Iterator[str]:
    """Yield the value of each column."""
    for column in columns:
        value = row
        for key in column:
            value = None if value is None else value[key]
        yield cell(value)


def cell(value: Any) -> str:
    """Return a value as a cell that no spreadsheet takes for a formula."""
    if value is None:
        return ""
    if isinstance(value, str):
        return f"'{value}" if _FORMULA.match(value) else value
    if isinstance(value, bool | int | float | list | dict):
        return json.dumps(value, ensure_ascii=False, default=str)
    return cell(str(value))  # such as a date
