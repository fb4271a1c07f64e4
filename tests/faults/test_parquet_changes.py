"""`verify` refuses a Parquet file with right rows and any other byte than a build writes.

Each file has the hash that the provenance states, as somebody writes it who hides the change. Those
of MISLEADING make DuckDB 2.0.0, Polars 2.1.0 or datasets 5.2.0 read something else without an
error; they are refused also where bytes cannot be compared.
"""

import hashlib

import pytest
from folders import restate
from thrift import BINARY, I32, I64, LIST, STRUCT, TRUE, decode, encode

from parley.base.errors import OutputError
from parley.building.build import build
from parley.building.folder import open_folder
from parley.building.registry import get
from parley.building.upstream import open_source
from parley.verifying import folder_checks
from parley.verifying.check import NotChecked
from parley.verifying.diff import compare

FILE = "speakers/train-00000-of-00001.parquet"
COLUMN, AGE = 1, 34  # `age`, the second column, and that of the first row


def split(data):
    """Return what stands before a footer, and the footer."""
    start = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    return data[:start], decode(data, start)[0]


def joined(body, footer):
    written = encode(footer)
    return body + written + len(written).to_bytes(4, "little") + b"PAR1"


def place_in(footer, place):
    """Return the struct of a footer: of the file, or of the column of ages."""
    group = footer[4][1][1][0]
    chunk = group[1][1][1][COLUMN]
    column = chunk[3][1]
    places = {"file": footer, "schema": footer[2][1][1][1 + COLUMN], "group": group}
    return (places | {"chunk": chunk, "column": column, "statistics": column[12][1]})[place]


def put(data, place, fields):
    """Change fields of the footer by their numbers; None takes one away."""
    body, footer = split(data)
    struct = place_in(footer, place)
    for number, value in fields.items():
        if value is None:
            del struct[number]
        else:
            struct[number] = value(struct.get(number)) if callable(value) else value
    return joined(body, footer)


def items(change):
    return lambda old: (LIST, (old[1][0], change(old[1][1])))


def number(value):
    return BINARY, value.to_bytes(8, "little", signed=True)


def bounds(low, high):
    return {1: number(high), 2: number(low), 5: number(high), 6: number(low)}


def swap_columns(chunks):
    """Exchange the places of two columns of the same type, whose names stay."""
    one, other = chunks[COLUMN], chunks[2]
    one[3], other[3] = (
        (STRUCT, {**mine[3][1], **{n: yours[3][1][n] for n in (6, 7, 9, 11)}})
        for mine, yours in ((one, other), (other, one))
    )
    return chunks


def logical(number, fields=None):
    return STRUCT, {number: (STRUCT, fields or {})}


# Pages and indexes: functions of what stands before a footer, the footer, and where the first ends


def second_chain(body, footer, end):
    """The pages of ages once more, behind all others: a reader may start at either offset."""
    column = place_in(footer, "column")
    start = column[11][1]
    column[9], column[11] = (I64, end + column[9][1] - start), (I64, end)
    return body[start : start + column[7][1]]


# fmt: off
MILLIS = {1: (TRUE, True), 2: (STRUCT, {1: (STRUCT, {})})}
MISLEADING = {  # place in the footer -> changes; "pages" of what stands before it
    "file": [
        {3: (I64, 0)}, {3: (I64, 5000)},  # rows
        {5: None},  # metadata
        {2: items(lambda old: [*old[:2], old[3], old[2], *old[4:]])},
        {4: items(lambda old: old * 2)}, {4: items(lambda old: [])},  # groups
    ],
    "schema": [
        {4: (BINARY, b"Age")}, {1: (I32, 5)},  # name, type
        *({6: (I32, converted)} for converted in (9, 14)), {6: (I32, 5), 7: (I32, 1), 8: (I32, 5)},
        {10: logical(8, MILLIS)}, {10: logical(10, {1: (3, 64), 2: (TRUE, False)})},
    ],
    "group": [{3: (I64, 0)}, {1: items(swap_columns)}],
    "statistics": [
        *(bounds(*each) for each in ((90, 99), (1, 3), (AGE, AGE), (99, 1))),
        {3: (I64, 9)},  # nulls
    ],
    "column": [{14: (I64, 4), 15: (I32, 50)}],  # a filter that has no value
    "pages": [second_chain],
}
OTHERS = {"group": [{1: items(lambda old: old[:-1])}], "": [lambda data: data + data]}
# fmt: on
CASES = [
    (place, number, change, table is MISLEADING)
    for table in (MISLEADING, OTHERS)
    for place, changes in table.items()
    for number, change in enumerate(changes)
]


def changed(data, place, change):
    if place == "pages":
        body, footer = split(data)
        return joined(body + change(body, footer, len(body)), footer)
    return put(data, place, change) if place else change(data)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("changed")
    build(open_source(get("casino"), None, sample=True), place)
    return place / "casino"


@pytest.fixture(scope="module")
def sound(folder):
    return (folder / FILE).read_bytes()


def put_in(folder, data):
    """Replace a file of a build, and its hash in the provenance."""
    (folder / FILE).write_bytes(data)
    recorded = {"path": FILE, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    restate(folder, "configs.speakers.train.files[0]", recorded)
    built = open_folder(folder)
    assert list(folder_checks.files(built)) == []
    return built


def refused(built):
    try:
        found = [*folder_checks.schema(built)]
        found = found or folder_checks.shards(built, folder_checks.Remeasured(built))
        return [each for each in found if not isinstance(each, NotChecked)]
    except OutputError:
        return True


@pytest.mark.parametrize(("place", "number", "change", "misleads"), CASES)
def test_a_file_of_other_bytes_is_refused(folder, sound, place, number, change, misleads):
    data = changed(sound, place, change)
    assert data != sound
    built = put_in(folder, data)
    assert refused(built)
    if misleads:
        built.provenance["built_with"]["pyarrow"] = "1.0.0"
        assert refused(built)


def test_a_difference_names_equal_rows_of_other_bytes(folder, sound, sample_build):
    built = put_in(folder, changed(sound, "statistics", bounds(90, 99)))
    found = compare(open_folder(sample_build / "casino"), built)
    (split,) = (split for split in found.splits if split.differs)
    assert (split.config, split.changed, len(split.schema)) == ("speakers", [], 1)
