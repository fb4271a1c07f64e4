"""Files of labels as records: CSV, JSON, JSON Lines, Parquet, and exports of annotation tools.

A record is a row of a plain file, or one person's answer in the export of a tool. A tool's own ids
and times are left out. `LAYOUTS` has the keys by which each export is known, as the tools wrote it
in these releases: Label Studio 1.23, doccano 1.4 to 1.8, Prodigy 1.11 and newer, Argilla 2.8.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

from parley.annotators.columns import listed_in
from parley.base.console import plain
from parley.base.disk import DAMAGED_GZIP, MOST_BYTES, open_regular, unpacked
from parley.base.errors import Causes, Problem, RecordError, UsageError, few, require_utf8, shorten
from parley.base.strict_json import loads
from parley.read.export.export import cell
from parley.schema.nodes import show

ANNOTATOR = "annotator"
"""The field of a record with the name of the person who gave its values."""
UNNAMED = ""
"""The field of a record with the labels of a tool that asks one question and gives it no name."""
LONG = (
    f"Write a row for each annotator, not a column, with the name in the column {ANNOTATOR}. Write "
    "all labels into one column, not each label into its own."
)
"""What to do with a wide table."""

Values = dict[str, Any]
LIMITS = {"bytes": MOST_BYTES, "rows": 2_000_000, "columns": 1_000, "cells": 20_000_000}
# Of what one call of a library reads or makes, whose end a signal waits for
LIMITS |= {"values in lists": 2_000_000, "bytes about columns": 10_000_000}
_ROWS_AT_ONCE = 100
_SEPARATORS = ",;\t"


class Record(NamedTuple):
    """The values of a row or answer, and its place in the file.

    `answers` are those that a person gave; `values` itself where a file does not tell.
    """

    place: str
    values: Values
    answers: Values


def records(file: Path, keys: set[str]) -> list[Record]:
    """Return the records of a file; UsageError or RecordError says what is wrong with it.

    `keys` are names of which a table has one: they tell the separator of its cells.
    """
    require_utf8(file)
    read = _READERS.get(file.name.lower().removesuffix(".gz").rpartition(".")[2])
    if read is None or not file.is_file():
        kinds = ", .".join(_READERS)
        raise UsageError(f"expected an existing file that ends in .{kinds}, or .gz after it")
    causes, found, place = Causes(), list[Record](), ""
    for count, (place, row) in enumerate(read(_content(file), keys), 1):
        try:
            if isinstance(row, ValueError):
                raise row
            if not isinstance(row, dict):
                raise ValueError(f"expected an object, found {show(row)}")
            found += _answers(place, row)
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            words = str(error) if isinstance(error, ValueError) else "is no answer as the tool's"
            causes.add(place, Problem("", what=words.lstrip(".: ")))
        _require_few("rows", max(count, len(found)))
    if asked := {n for r in found for n, of in r.answers.items() if isinstance(of, Regions)}:
        each = chain.from_iterable(_by_turn(record, asked) for record in found)
        found = [*islice(each, LIMITS["rows"] + 1)]
        _require_few("rows", len(found))
    if causes:
        raise RecordError("cannot be read", *causes.problems())
    if not found:
        raise UsageError("has no answers" if place else "has no rows")
    names = dict.fromkeys(name for record in found for name in record.values)
    _require_few("columns", len(names))
    if odd := [name for name in names if plain(name) != name]:
        raise UsageError(f"expected names without control characters, found {odd[0]}")
    return found


def _require_few(what: str, found: int) -> None:
    """Raise UsageError if a file has too much of something."""
    if found > LIMITS[what]:
        raise UsageError(f"has more than {LIMITS[what]:,} {what}")


def _content(file: Path) -> bytes:
    """Return the bytes of a file, decompressed."""
    try:
        with open_regular(file) as opened:
            content = unpacked(opened).read(LIMITS["bytes"] + 1)
    except DAMAGED_GZIP as error:
        raise UsageError(f"damaged gzip data: {error}") from error
    _require_few("bytes", len(content))
    return content


def _text(content: bytes) -> str:
    text, found = "", "zero bytes, as in UTF-16" if b"\0" in content else ""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        byte = f"the byte {content[error.start]:#04x} in line {line:,}, as in Windows-1252"
        found = found or byte
    if found:
        remedy = "Save it in UTF-8 (spreadsheets: CSV UTF-8)."
        raise UsageError(f"expected UTF-8, found {found}", remedy=remedy)
    _require_few("cells", sum(map(text.count, (*_SEPARATORS, "\n"))))
    return text


Rows = Iterator[tuple[str, Any]]


def _rows_of_csv(content: bytes, keys: set[str]) -> Rows:
    """Yield the rows of a table of texts; an empty cell is None."""
    csv.field_size_limit(LIMITS["bytes"])
    text = re.sub(r"\A[\r\n]*(sep=.[\r\n]+)?", "", _text(content))  # a line of Excel's
    if text.lstrip()[:1] in ("{", "["):
        raise UsageError("expected a table, found JSON", remedy="Call it .jsonl or .json.")
    heads: dict[str, list[str]] = {}
    for sign in _SEPARATORS:
        head = _lines(csv.reader(io.StringIO(text, newline=""), delimiter=sign))
        cells = next(filter(any, islice(head, 1_000)), ("", []))[1]
        heads[sign] = [name.strip() for name in cells]
    sign = next((sign for sign in heads if keys.intersection(heads[sign])), ",")
    names = heads[sign]
    while names[1:] and not names[-1]:  # Excel writes empty columns
        names.pop()
    _require_names(names)
    lines = _lines(csv.reader(io.StringIO(text, newline=""), delimiter=sign, strict=True))
    if problem := next(filter(any, lines), ("", names))[0]:
        raise UsageError(f"cannot be read: {problem}")
    for number, (problem, cells) in enumerate(lines, 1):
        _require_few("rows", number)  # also of empty cells
        cells = cells if any(cells[len(names) :]) else cells[: len(names)]
        row: Any = dict(zip(names, map(_cell, cells), strict=False))
        if problem or len(cells) != len(names):
            row = ValueError(problem or f"expected {len(names)} cells, found {len(cells)}")
        if problem or any(cells):  # a spreadsheet may end with rows of empty cells
            yield f"row {number}", row


def _cell(text: str) -> str | None:
    """Return a cell without the sign by which `parley` marks a text that is no formula."""
    is_marked = text[:1] == "'" and cell(text[1:]) == text
    return (text[1:] if is_marked else text) or None


def _require_names(names: list[str]) -> None:
    """Raise UsageError if the name of a column is lacking or doubled."""
    if twice := [name for name, count in Counter(names).items() if count > 1]:
        raise UsageError(f"two columns have the name {few([*map(repr, twice)])}")
    for number, name in enumerate(names, 1):
        if names[1:] and (not name or name.startswith(("__index_level_", "Unnamed: "))):
            remedy = "Name it, or write the table without its index (pandas: index=False)."
            raise UsageError(f"column {number} has no name of yours", remedy=remedy)


def _lines(reader: Any) -> Iterator[tuple[str, list[str]]]:
    """Yield "" and the cells of each line, or why it and the rest have none."""
    try:
        yield from (("", cells) for cells in reader)
    except csv.Error as error:
        yield f"{error} (line {reader.line_num:,})", []


def _objects_of_json(content: bytes, keys: set[str]) -> Rows:
    """Yield the objects of a list, or of lines."""
    text = _text(content)
    if re.match(r"\s*(\[|\{\s*\n)", text):  # a list, or one object over several lines
        try:
            found = loads(text)
            rows = found if isinstance(found, list) else [found]
            yield from ((f"row {number}", row) for number, row in enumerate(rows, 1))
        except ValueError as error:
            raise UsageError(f"is not valid JSON: {error}".replace(": .", ": ")) from error
        return
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield f"line {number}", loads(line.strip())
            except ValueError as error:
                yield f"line {number}", error


def _parquet(content: bytes, keys: set[str]) -> Rows:
    from pyarrow import ArrowException
    from pyarrow.parquet import ParquetFile

    _require_few("bytes about columns", int.from_bytes(content[-8:-4], "little"))
    cells, rows = 0, list[Values]()
    try:
        file = ParquetFile(io.BytesIO(content))
        stated = file.metadata
        _require_few("rows", stated.num_rows)
        _require_few("columns", stated.num_columns)
        for group in map(stated.row_group, range(stated.num_row_groups)):
            sizes = [group.column(number).num_values for number in range(stated.num_columns)]
            cells += sum(sizes)
            _require_few("cells", cells)
            _require_few("values in lists", max(sizes, default=0) - group.num_rows)
        _require_names(file.schema_arrow.names)
        for batch in file.iter_batches(_ROWS_AT_ONCE):
            _require_few("values in lists", sum(map(_cells, batch.columns)))  # stated or not
            rows += batch.to_pylist()
    except (ArrowException, OSError, ValueError, OverflowError, LookupError) as error:
        raise UsageError(f"is no readable Parquet: {shorten(str(error), 200)}") from error
    yield from ((f"row {number}", row) for number, row in enumerate(rows, 1))


def _cells(array: Any) -> int:
    """Return how many values an array holds, those within its lists and objects included."""
    if not array.type.num_fields:
        return len(array)
    is_map = hasattr(array, "keys")
    inner = [array.keys, array.items] if is_map else array.flatten()
    return len(array) + sum(map(_cells, inner if isinstance(inner, list) else [inner]))


_READERS: dict[str, Callable[[bytes, set[str]], Rows]] = {
    "csv": _rows_of_csv,
    "tsv": _rows_of_csv,
    "json": _objects_of_json,
    "jsonl": _objects_of_json,
    "parquet": _parquet,
}

Answer = tuple[Values, Values]
"""The fields of a record that was labelled, and the answers of one person with the name."""
Layout = Callable[[Values], Iterator[Answer]]

_ANSWER_KINDS = ("choices", "rating", "number", "text")  # of answers, in Label Studio
_MIN = {ANNOTATOR, "annotation_id", "created_at", "updated_at", "lead_time"}
_REGION = ("start", "startOffset", "end", "endOffset")


class Region(NamedTuple):
    """Labels of a part of the paragraphs of a task of Label Studio."""

    start: tuple[int, int]  # the numbers of a paragraph and a letter
    end: tuple[int, int]
    labels: list[str]


class Regions(list[Region]):
    """The regions that a person labelled in the paragraphs of a task of Label Studio."""


class PartlyLabelled(list[str]):
    """The labels of regions in a turn, of which one is a part of its text."""


class Nth(int):
    """The number of a turn among those of its dialogue that a config has."""


def _region(value: Any) -> Region | None:
    """Return a region of paragraphs with labels; None if a value is none."""
    places = [str(value.get(name)) for name in _REGION] if isinstance(value, dict) else [""]
    if not all(re.fullmatch(r"\d{1,9}", place) for place in places):
        return None
    first, offset, last, end = map(int, places)
    labels = listed_in(value.get("paragraphlabels", value.get("choices"))) or []
    is_labelled = labels and all(isinstance(label, str) for label in labels)
    return Region((first, offset), (last, end), labels) if is_labelled and first <= last else None


def _by_turn(record: Record, asked: set[str]) -> Iterator[Record]:
    """Yield an answer for each paragraph of a task: the labels of the regions in it."""
    place, values, answers = record
    listed = {n: listed_in(v) or [] for n, v in values.items() if n not in asked}
    lists = [n for n, of in listed.items() if of and all(isinstance(each, dict) for each in of)]
    given = {n: v for n, v in answers.items() if n in asked or answers is not values}
    regions: Values = {n: v for n, v in given.items() if n != ANNOTATOR and v is not None}
    whole = [name for name, of in regions.items() if not isinstance(of, Regions)]
    if len(lists) != 1 or whole:
        due = "labels of regions alone, in one list of paragraphs"
        raise UsageError(f"{place}: expected {due}, found {few([*lists, *whole]) or 'none'}")
    rest, turns = _without(values, lists[0], *asked), listed[lists[0]]
    most = max((region.end[0] for of in regions.values() for region in of), default=0)
    if most >= len(turns) or not all(turn.keys() & {"turn", "text"} for turn in turns):
        due = f"regions of {len(turns)} paragraphs, each with a turn or a text"
        raise UsageError(f"{place}: expected {due}")
    for number, turn in enumerate(turns):
        own = {name: turn[name] for name in ("turn", "text") if name in turn}
        text = str(own.get("text", ""))
        labels = {name: _in_paragraph(regions.get(name, ()), number, text) for name in asked}
        told = {ANNOTATOR: answers.get(ANNOTATOR)} | labels
        found = {"turn": Nth(number)} | rest | own | told
        yield Record(place, found, found if answers is values else told)


def _in_paragraph(regions: Iterable[Region], number: int, text: str) -> list[str]:
    """Return the labels of the regions in a paragraph, each once."""
    inside = [each for each in regions if each.start[0] <= number <= each.end[0]]
    end = number, len(text.rstrip().encode("utf-16-le")) // 2  # offsets count as JavaScript does
    labels = [*dict.fromkeys(chain.from_iterable(each.labels for each in inside))]
    is_part = any(each.start > (number, 0) or each.end < end for each in inside)
    return PartlyLabelled(labels) if is_part else labels


def _without(values: Values, *names: str) -> Values:
    return {name: value for name, value in values.items() if name not in names}


def _submit(answers: Values, question: str, value: Any) -> None:
    """Add an answer to those of a person; ValueError if the question has one."""
    if question in answers:
        several = f"one answer of {answers[ANNOTATOR]}, found several"
        due = "another name of the question" if question == ANNOTATOR else several
        raise ValueError(f"{question}: expected {due}")
    answers[question] = value


def _label_studio(task: Values) -> Iterator[Answer]:
    for done in task["annotations"]:
        if done.get("was_cancelled"):  # a skip is no answer, and takes none away
            continue
        by = done["completed_by"]
        answers = {ANNOTATOR: (by.get("email") or by["id"]) if isinstance(by, dict) else by}
        for result in done["result"]:
            name, value = result.get("from_name", ""), result.get("value", {})
            kind = next((kind for kind in _ANSWER_KINDS if value.keys() == {kind}), "")
            if region := _region(value):
                if not isinstance(answers.get(name), Regions):
                    _submit(answers, name, Regions())
                answers[name].append(region)
            elif kind:
                _submit(answers, name, value[kind])
            else:
                of = " of a region (perRegion)" * (result["type"] in _ANSWER_KINDS)
                due = (
                    f"labels of a paragraph, or one of {', '.join(_ANSWER_KINDS)} of the whole text"
                )
                raise ValueError(f"{name}: expected {due}, found {result['type']}{of}")
        yield task["data"], answers


def _label_studio_min(row: Values) -> Iterator[Answer]:
    """Yield an answer; `{"choices": [...]}` is several choices, `[{"rating": 4}]` a number."""
    values = _without(row, "id", "agreement", *(_MIN - {ANNOTATOR}))
    for name, value in values.items():
        is_object = isinstance(value, str) and re.match(
            rf'{{"({"|".join(_ANSWER_KINDS)})": ?', value
        )
        listed = listed_in(value) or [loads(value) if is_object else value]
        inner = listed[0] if len(listed) == 1 else None
        if any(isinstance(each, dict) and each.keys() >= {*_REGION} for each in listed):
            values[name] = Regions(filter(None, map(_region, listed)))
            if len(values[name]) < len(listed):
                raise ValueError(f"{name}: expected labels of regions: export them as JSON")
        elif isinstance(inner, dict) and len(inner) == 1 and {*_ANSWER_KINDS}.issuperset(inner):
            (values[name],) = inner.values()
    if row["annotation_id"] is not None:  # else nobody answered
        yield {}, values


def _doccano(row: Values) -> Iterator[Answer]:
    """Yield an answer: a list of labels, or in CSV `a#b`; before 1.6 `text` is called `data`."""
    label, comments, id = row.get("label"), row.get("Comments"), row["id"]
    if "entities" in row or any(isinstance(each, list | dict) for each in label or ()):
        raise ValueError("expected labels, found spans: Text Classification of doccano has none")
    if isinstance(id, str) and id.isdigit() and isinstance(label, str | None):
        parts = (label or "").split("#")
        label = parts if all(parts) else [label] if label else []
    if not isinstance(label, list):
        yield {}, row
        return
    given: Values = {UNNAMED: label}
    if comments:
        given["comments"] = comments if isinstance(comments, str) else "; ".join(comments)
    own = {"text" if name == "data" else name: value for name, value in row.items()}
    own = _without(own, "label", "Comments")
    if row.keys() & {"Comments", "data"}:
        yield _without(own, "id"), given
    else:  # a plain file may be like this, with other columns to compare
        yield {}, own | given


_PRODIGY = ("answer", "accept", "options", "config", "meta", "tokens", "spans")


def _prodigy(row: Values) -> Iterator[Answer]:
    if "options" not in row:
        raise ValueError("expected a choice among options, found a yes or no for one label")
    texts = {option["id"]: option["text"] for option in row["options"]}
    own = {name: value for name, value in row.items() if not name.startswith("_")}
    by, answers = row.get("_annotator_id", row.get("_session_id")), Values()
    if row["answer"] == "accept":  # an id that is a text is a label
        accepted = row.get("accept") or ()
        if odd := [id for id in accepted if type(id) not in (int, str)]:
            raise ValueError(f"accept: expected ids of options, found {show(odd[0])}")
        answers[UNNAMED] = [id if isinstance(id, str) else texts[id] for id in accepted]
    answers |= {} if by is None else {ANNOTATOR: by}
    yield (row.get("meta") or {}) | _without(own, *_PRODIGY), answers


def _argilla(row: Values) -> Iterator[Answer]:
    by_user: dict[str, Values] = {}
    for question, responses in row["responses"].items():
        for response in responses:
            user = response["user_id"]
            _submit(by_user.setdefault(user, {ANNOTATOR: user}), question, response["value"])
    for answers in by_user.values():
        yield {**row["fields"], **row["metadata"]}, answers


def _argilla_flat(row: Values) -> Iterator[Answer]:
    by_user: dict[str, Values] = {}
    questions = [name.removesuffix(_USERS) for name in row if name.endswith(_USERS)]
    for question in questions:
        columns = [row[f"{question}.responses{part}"] or () for part in ("", ".users", ".status")]
        if len({*map(len, columns)}) > 1:
            raise ValueError(f"{question}: expected as many answers as users and statuses")
        for value, user, status in zip(*columns, strict=True):
            answers = by_user.setdefault(user, {ANNOTATOR: user})
            if status == "submitted":  # else a draft, or discarded
                _submit(answers, question, value)
    parts = tuple(f"{question}.{part}" for question in questions for part in _PARTS)
    own = {name: value for name, value in row.items() if not name.startswith(parts)}
    for answers in by_user.values():
        yield _without(own, "id", "status", "_server_id"), answers


def _argilla_1(row: Values) -> Iterator[Answer]:
    what = "is of Argilla 1, which is not read: write each answer as a row with the columns of the"
    raise ValueError(f"{what} key, {ANNOTATOR} and the question")


_USERS, _PARTS = ".responses.users", ("responses", "suggestion")  # of a question of Argilla

# The keys that an export of a tool has, and their types -> its answers
LAYOUTS: list[tuple[dict[str, Any], Layout]] = [
    ({"data": dict, "annotations": list}, _label_studio),
    (dict.fromkeys(_MIN, object), _label_studio_min),
    ({"answer": str, "_input_hash": int, "_task_hash": int}, _prodigy),
    ({"fields": dict, "responses": dict, "_server_id": str}, _argilla),
    ({"external_id": object, "metadata": object}, _argilla_1),
    ({"annotation": object, "annotation_agent": object}, _argilla_1),
    ({"id": int | str, "label": object}, _doccano),
    ({"id": int, "entities": list, "Comments": list}, _doccano),
]


def _answers(place: str, row: Values) -> Iterator[Record]:
    """Yield the answers in a row of an export, or the row of a plain file."""
    matches = (
        layout
        for keys, layout in LAYOUTS
        if keys.keys() <= row.keys() and all(isinstance(row[n], kind) for n, kind in keys.items())
    )
    is_flat = any(name.endswith(_USERS) for name in row)
    found = _argilla_flat if is_flat else next(matches, None)
    for own, given in found(row) if found else [({}, row)]:
        values = {name.strip(): value for name, value in (own | given).items()}
        if len(values) < len(own | given):
            raise ValueError(f"expected each name once, found {few([*values])} again with blanks")
        answers = {name: values[name] for name in map(str.strip, given)} if own else values
        yield Record(place, values, answers)
