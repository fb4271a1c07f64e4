"""Files of labels as records: CSV, JSON, JSON Lines, Parquet, and exports of annotation tools.

A record is a row of a plain file, or one person's answer in the export of a tool. A tool's own ids
and times are left out. `LAYOUTS` has the keys by which each export is known, as the tools wrote it
in these releases: Label Studio 1.23, doccano 1.8, Prodigy 1.11 and newer, Argilla 2.8.
"""

import csv
import gzip
import io
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from parley.base.console import plain
from parley.base.disk import open_regular
from parley.base.errors import Causes, Problem, RecordError, UsageError, few, require_utf8
from parley.base.strict_json import loads
from parley.schema.nodes import show

ANNOTATOR = "annotator"
"""The field of a record with the name of the person who gave its values."""
UNNAMED = ""
"""The field of a record with the labels of a tool that asks one question and gives it no name."""

Values = dict[str, Any]
_LARGEST = 256_000_000  # bytes of a file, decompressed, and values of a Parquet file
_SEPARATORS = ",;\t"


class Record(NamedTuple):
    """The values of a row or answer, and its place in the file."""

    place: str
    values: Values


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
    for place, row in read(_content(file), keys):
        try:
            if isinstance(row, ValueError):
                raise row
            if not isinstance(row, dict):
                raise ValueError(f"expected an object, found {show(row)}")
            found += [Record(place, values) for values in _answers(row)]
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            words = str(error) if isinstance(error, ValueError) else "is no answer as the tool's"
            causes.add(place, Problem("", what=words.lstrip(".: ")))
    if causes:
        raise RecordError("cannot be read", *causes.told())
    if not found:
        raise UsageError("has no answers" if place else "has no rows")
    names = dict.fromkeys(name for record in found for name in record.values)
    if odd := [name for name in names if plain(name) != name]:
        raise UsageError(f"expected names without control characters, found {odd[0]}")
    return found


def _content(file: Path) -> bytes:
    """Return the bytes of a file, decompressed."""
    try:
        with open_regular(file) as opened:
            is_gzip = file.name.lower().endswith(".gz")
            stream: Any = gzip.GzipFile(fileobj=opened) if is_gzip else opened
            content: bytes = stream.read(_LARGEST + 1)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise UsageError(f"damaged gzip data: {error}") from error
    if len(content) > _LARGEST:
        raise UsageError(f"has more than {_LARGEST:,} bytes")
    return content


def _text(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        byte = f"the byte {content[error.start]:#04x} in line {line:,}, as in Windows-1252"
        is_wide = content[:2] in (b"\xff\xfe", b"\xfe\xff")
        found = "UTF-16, by its first bytes" if is_wide else byte
        what = f"expected UTF-8, found {found}"
        raise UsageError(what, remedy="Save it in UTF-8 (spreadsheets: CSV UTF-8).") from error


Rows = Iterator[tuple[str, Any]]


def _table(content: bytes, keys: set[str]) -> Rows:
    """Yield the rows of a table of texts; an empty cell is None."""
    text = _text(content)
    heads: dict[str, list[str]] = {}
    for sign in _SEPARATORS:
        with_sign = csv.reader(io.StringIO(text, newline=""), delimiter=sign)
        heads[sign] = next(_lines(with_sign), ("", []))[1]
    sign = next((sign for sign in heads if keys.intersection(heads[sign])), ",")
    if twice := [name for name, count in Counter(heads[sign]).items() if count > 1]:
        raise UsageError(f"two columns have the name {few([*map(repr, twice)])}")
    if "" in heads[sign] and len(heads[sign]) > 1:
        remedy = "Name it, or write the table without its index (pandas: index=False)."
        raise UsageError(f"column {heads[sign].index('') + 1} has no name", remedy=remedy)
    lines = _lines(csv.reader(io.StringIO(text, newline=""), delimiter=sign, strict=True))
    next(lines, None)
    for number, (problem, cells) in enumerate(lines, 1):
        row: Any = dict(zip(heads[sign], (cell or None for cell in cells), strict=False))
        if problem or len(cells) != len(heads[sign]):
            what = f"expected {len(heads[sign])} cells, found {len(cells)}"
            row = ValueError(problem or what)
        yield f"row {number}", row


def _lines(reader: Any) -> Iterator[tuple[str, list[str]]]:
    """Yield "" and the cells of each line that is not empty, or why it and the rest have none."""
    try:
        yield from (("", cells) for cells in reader if cells)
    except csv.Error as error:
        yield f"{error} (line {reader.line_num:,})", []


def _json(content: bytes, keys: set[str]) -> Rows:
    """Yield the objects of a list, or of lines."""
    text = _text(content)
    if text.lstrip()[:1] == "[":
        try:
            yield from ((f"row {number}", row) for number, row in enumerate(loads(text), 1))
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

    try:
        file = ParquetFile(io.BytesIO(content))
        if file.metadata.num_rows * file.metadata.num_columns > _LARGEST:
            raise UsageError(f"has more than {_LARGEST:,} values")
        rows = file.read().to_pylist()
    except (ArrowException, OSError, ValueError) as error:
        raise UsageError(f"is no readable Parquet: {error!s:.200}") from error
    yield from ((f"row {number}", row) for number, row in enumerate(rows, 1))


_READERS: dict[str, Callable[[bytes, set[str]], Rows]] = {
    "csv": _table,
    "tsv": _table,
    "json": _json,
    "jsonl": _json,
    "parquet": _parquet,
}

# The exports of annotation tools -------------------------------------------------------------


def _without(values: Values, *names: str) -> Values:
    return {name: value for name, value in values.items() if name not in names}


_LABEL_STUDIO = {ANNOTATOR, "annotation_id", "created_at", "updated_at", "lead_time"}
_KINDS = ("choices", "rating", "number", "text")  # of answers, in Label Studio


def _label_studio(task: Values) -> Iterator[Values]:
    for done in task["annotations"]:
        by = done["completed_by"]
        values = {**task["data"], ANNOTATOR: by["email"] if isinstance(by, dict) else by}
        for result in () if done.get("was_cancelled") else done["result"]:
            if not (kind := next((kind for kind in _KINDS if kind in result["value"]), "")):
                name, kind = result["from_name"], result["type"]
                raise ValueError(f"{name}: expected one of {', '.join(_KINDS)}, found {kind}")
            values[result["from_name"]] = result["value"][kind]
        yield values


def _label_studio_min(row: Values) -> Iterator[Values]:
    """Yield an answer; `{"choices": [...]}` is several choices, `[{"rating": 4}]` a number."""
    if row["annotation_id"] is None:  # nobody answered
        return
    values = _without(row, "id", "agreement", *(_LABEL_STUDIO - {ANNOTATOR}))
    for name, value in values.items():
        if isinstance(value, str) and value.startswith(('{"', '[{"')):
            value = loads(value)
        (inner,) = value if isinstance(value, list) and len(value) == 1 else (value,)
        if isinstance(inner, dict) and len(inner) == 1 and {*_KINDS}.issuperset(inner):
            (values[name],) = inner.values()
    yield values


def _doccano(row: Values) -> Iterator[Values]:
    comments = "; ".join(row["Comments"]) or None
    values = _without(row, "id", "label", "Comments")
    yield values | {UNNAMED: row["label"]} | ({"comments": comments} if comments else {})


_PRODIGY = ("answer", "options", "accept", "config", "meta", "tokens", "spans", "priority", "score")


def _prodigy(row: Values) -> Iterator[Values]:
    if "options" not in row:
        raise ValueError("expected a choice among options, found a yes or no for one label")
    texts = {option["id"]: option["text"] for option in row["options"]}
    own = {name: value for name, value in row.items() if not name.startswith("_")}
    values = (row.get("meta") or {}) | _without(own, *_PRODIGY)
    values[ANNOTATOR] = row.get("_annotator_id", row.get("_session_id"))
    if row["answer"] == "accept":
        values[UNNAMED] = [texts[id] for id in row.get("accept", ())]
    yield values


def _argilla(row: Values) -> Iterator[Values]:
    by_user: dict[str, Values] = {}
    for question, responses in row["responses"].items():
        for response in responses:
            by_user.setdefault(response["user_id"], {})[question] = response["value"]
    for user, values in by_user.items():
        yield {**row["fields"], **row["metadata"], **values, ANNOTATOR: user}


# The keys that an export of a tool has, and their types -> its answers
LAYOUTS: list[tuple[dict[str, Any], Callable[[Values], Iterator[Values]]]] = [
    ({"data": dict, "annotations": list}, _label_studio),
    (dict.fromkeys(_LABEL_STUDIO, object), _label_studio_min),
    ({"id": int, "text": str, "label": list, "Comments": list}, _doccano),
    ({"answer": str, "_input_hash": int, "_task_hash": int}, _prodigy),
    ({"fields": dict, "responses": dict, "_server_id": str}, _argilla),
]


def _answers(row: Values) -> Iterator[Values]:
    """Return the answers in a row of an export, or the row of a plain file."""
    for keys, answers in LAYOUTS:
        if keys.keys() <= row.keys() and all(isinstance(row[n], kind) for n, kind in keys.items()):
            return answers(row)
    return iter([row])
