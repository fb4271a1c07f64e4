"""Write a build in another format: a common one, or one of its dataset folder.

Every dataset can be written as `csv` and `jsonl` (all rows, or those of some dialogues), and one
with chats as `prompt-completion` and `sharegpt`; an `export.py` in its folder may add others.

CSV, whose form docs/using.md describes, begins with a byte order mark, by which a spreadsheet knows
UTF-8. To read a text back, drop the first `'` of a cell.
"""

import csv
import io
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any, BinaryIO

import jsonlines

from parley.base.errors import MOST_PROBLEMS, OutputError, Problem, UsageError, words_of
from parley.base.replace import files_in, replacing
from parley.base.values import flat
from parley.builds.built_folder import BuiltFolder
from parley.declaration.registry import Dataset
from parley.read.dialogues import id_columns, require_dialogues
from parley.schema.features import arrow_schema

CHATS = "messages"  # the config of chats

# A text that could be a formula; the page's export.js has the same expression. The characters
# before the sign are those that Unicode calls white space or default-ignorable, or that are blank.
_FORMULA = re.compile(
    r"['\t\r\n]|[\s\x00-\x20\x7f-\xa0\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    r"\u200b-\u200f\u2028-\u202f\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    r"\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]*"
    r"[=+\-@\ufe62\ufe63\ufe66\ufe6b\uff0b\uff0d\uff1d\uff20]"
)
_FROM = {"system": "system", "user": "human", "assistant": "gpt"}  # role -> as ShareGPT names it
Ids = Collection[str] | None
Keys = tuple[str, ...]
SAMPLE = "SAMPLE.txt"  # beside what was exported of a sample


def formats(dataset: Dataset) -> dict[str, Callable[..., None]]:
    """Return the formats of a dataset, each with the function that writes it."""
    chats = {"prompt-completion": prompt_completion, "sharegpt": sharegpt}
    chats = chats if CHATS in dataset.configs else {}
    return {**dataset.exports, **chats, **_OF_ROWS}


def export(built: BuiltFolder, format: str, target: Path, ids: Ids = None) -> list[str]:
    """Write a build in one of `formats`, and return the names of the files.

    `target` must be missing or an empty folder; it appears whole, or not at all. With `ids`,
    write only the rows of these dialogues, and no config whose rows belong to no single one.
    """
    dataset = built.dataset
    offered = formats(dataset)
    if format not in offered:
        raise UsageError(f"{dataset.name} has no export {format!r}; it has: {', '.join(offered)}")
    if ids is not None and format not in _OF_ROWS:
        raise UsageError(f"{format} takes no ids; {', '.join(_OF_ROWS)} do")
    built.require_whole()
    with replacing(target) as folder:
        of = (f"export.py: {format}", built.path, partial(_misfits, built), OutputError)
        with dataset.running(*of) if format in dataset.exports else explained(built):
            offered[format](built, folder, *(() if ids is None else (ids,)))
        note_sample(built, folder)
        return sorted(files_in(folder))


@contextmanager
def explained(built: BuiltFolder) -> Iterator[None]:
    """Turn an error of rows that nobody verified into an OutputError that names the misfits."""
    try:
        yield
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        what = f"{built.path}: cannot be exported ({words_of(error)})"
        remedy = f"Run {built.command('verify')}."
        raise OutputError(what, *islice(_misfits(built), MOST_PROBLEMS), remedy=remedy) from error


def note_sample(built: BuiltFolder, folder: Path) -> None:
    """Note beside files made of a sample that they hold no data of the dataset."""
    if built.is_sample:
        text = f"These files were made of the invented sample of {built.dataset.name}: "
        (folder / SAMPLE).write_text(f"{text}they hold no data of it.\n", encoding="utf-8")


def _misfits(built: BuiltFolder) -> Iterator[Problem]:
    """Yield where rows of a build differ from their features."""
    from parley.rows.arrow import explain  # not at the top: sound rows need none of it

    for config, split in built.declared_splits:
        schema = arrow_schema(built.column_types(config))
        for problem in explain(built.each_row(config, split), schema):
            yield problem.at(f"{config}/{split}")


def write_csv(built: BuiltFolder, folder: Path, ids: Ids = None) -> None:
    """Write each split as CSV; with `ids`, the rows of these dialogues only."""
    for config, split, rows in _chosen(built, ids):
        columns, path = [*flat(built.column_types(config))], folder / f"{config}-{split}.csv"
        columns = (
            [("split",), *columns] if built.dataset.configs[config].splits_share_keys else columns
        )
        with path.open("wb") as file:
            write_cells(file, map(".".join, columns), (_cells_of(row, columns) for row in rows))


def write_cells(file: BinaryIO, heads: Iterable[Any], rows: Iterable[Iterable[Any]]) -> int:
    """Write a table as CSV, with a byte order mark, and return the number of its rows."""
    count, lines = 0, io.TextIOWrapper(file, encoding="utf-8-sig", newline="")
    writer = csv.writer(lines)  # ends lines with \r\n, so quotes texts with \r or \n
    writer.writerow(map(cell, heads))
    for row in rows:
        writer.writerow(map(cell, row))
        count += 1
    lines.detach()
    return count


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
    """Write a line for each turn of the assistant, with the keys of its row of `messages`.

    `turn` is its place in the chat, from 0.
    """
    keys = built.dataset.configs[CHATS].keys
    for split in built.splits(CHATS):
        lines = (
            {"prompt": row["messages"][:turn], "completion": [message]}
            | {key: row[key] for key in keys}
            | {"turn": turn}
            for row in built.each_row(CHATS, split)
            for turn, message in enumerate(row["messages"])
            if message["role"] == "assistant"
        )
        write_lines(folder / f"{split}.jsonl", lines)


def sharegpt(built: BuiltFolder, folder: Path) -> None:
    """Write each row of `messages` with its chat as ShareGPT's `conversations`."""

    def conversations(row: Mapping[str, Any]) -> dict[str, Any]:
        keys = {key: value for key, value in row.items() if key != "messages"}
        turns = [{"from": _FROM[m["role"]], "value": m["content"]} for m in row["messages"]]
        return keys | {"conversations": turns}

    for split in built.splits(CHATS):
        write_lines(
            folder / f"{split}.jsonl", map(conversations, built.each_row_with_names(CHATS, split))
        )


def csv_lines(built: BuiltFolder, config: str, column: str) -> Iterator[tuple[str, str]]:
    """Yield the heading of a config, then each row as a line of CSV, with the split first.

    Each comes with the id of its dialogue, which `column` has; the heading's is "".
    """
    columns = [*flat(built.column_types(config))]
    writer: Any = csv.writer(SimpleNamespace(write=str))  # `writerow` returns what this does
    yield "", writer.writerow(["split", *(cell(".".join(path)) for path in columns)])
    for split in built.splits(config):
        for row in built.each_row_with_names(config, split):
            id = built.dataset.dialogue_id(split, row[column])
            yield id, writer.writerow([split, *map(cell, _cells_of(row, columns))])


def _chosen(built: BuiltFolder, ids: Ids) -> Iterator[tuple[str, str, Iterator[dict[str, Any]]]]:
    """Yield config, split and rows; with `ids` leave out the configs of `without_dialogues`.

    A row has its split where splits share keys.
    """
    require_dialogues(built, ids or ())
    chosen, columns_of = set(ids or ()), _columns_of_ids(built)
    for config, split in built.declared_splits:
        rows, columns = built.each_row_with_names(config, split), columns_of[config]
        if built.dataset.configs[config].splits_share_keys:
            rows = map({"split": split}.__or__, rows)
        if ids is None:
            yield config, split, rows
        elif columns:
            named = partial(built.dataset.dialogue_id, split)
            yield config, split, (r for r in rows if any(named(r[c]) in chosen for c in columns))


def _columns_of_ids(built: BuiltFolder) -> dict[str, list[str]]:
    """Return config -> its columns that name the dialogue of a row."""
    named = id_columns(built)
    configs = dict.fromkeys(config for config, _ in built.declared_splits)
    return {config: [c for c in built.column_types(config) if c in named] for config in configs}


def without_dialogues(built: BuiltFolder) -> list[str]:
    """Return the configs whose rows belong to no single dialogue."""
    return [config for config, columns in _columns_of_ids(built).items() if not columns]


def _cells_of(row: Any, columns: list[Keys]) -> Iterator[Any]:
    """Yield the value of each column."""
    for column in columns:
        value = row
        for key in column:
            value = None if value is None else value[key]
        yield value


def cell(value: Any) -> str:
    """Return a value as a cell that no spreadsheet takes for a formula."""
    if value is None:
        return ""
    if isinstance(value, bool | int | float | list | dict):
        return json.dumps(value, ensure_ascii=False, default=str)
    text = str(value)  # also of a date
    return f"'{text}" if _FORMULA.match(text) else text


_OF_ROWS = {"csv": write_csv, "jsonl": write_json_lines}
