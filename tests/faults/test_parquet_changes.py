"""`verify` refuses a Parquet file with right rows and any other byte than a build writes.

Each file has the hash that the provenance states, as somebody writes it who hides the change. Those
of MISLEADING make DuckDB 2.0.0, Polars 2.1.0 or datasets 5.2.0 read something else without an
error; they are refused also where bytes cannot be compared.
"""

import hashlib
import io
import shutil

import pytest
from build_changes import restate

from parley.base.errors import OutputError
from parley.builds.built_folder import open_folder
from parley.verification import folder_checks
from parley.verification.diff import compare_builds
from parley.verification.folder_checks import NotChecked

# Thrift's compact protocol, in which Parquet writes footers -----------------------------------

# A struct is a dict of field's id -> (type, value), a list is (type of its items, items); the value
# of a boolean field is its type
TRUE, FALSE, BYTE, I32, I64, BINARY, LIST, STRUCT = 1, 2, 3, 5, 6, 8, 9, 12
_NUMBERS = (4, I32, I64)


def decode(data, at=0):
    """Return the struct that stands at a place."""
    return _read(STRUCT, io.BytesIO(data[at:]))


def encode(fields):
    """Return the bytes of a struct."""
    return _written(STRUCT, fields)


def _varint(data):
    (byte,) = data.read(1)
    return byte if byte < 128 else byte & 127 | _varint(data) << 7


def _read(kind, data):
    if kind in (TRUE, FALSE, BYTE):  # booleans as items of a list
        return data.read(1)[0]
    if kind in _NUMBERS:
        value = _varint(data)
        return value >> 1 ^ -(value & 1)
    if kind == BINARY:
        return data.read(_varint(data))
    if kind == LIST:
        length, inner = divmod(data.read(1)[0], 16)
        length = _varint(data) if length == 15 else length
        return inner, [_read(inner, data) for _ in range(length)]
    fields, number = {}, 0
    while byte := data.read(1)[0]:
        step, kind = divmod(byte, 16)
        number = number + step if step else _read(I32, data)
        fields[number] = kind, kind if kind in (TRUE, FALSE) else _read(kind, data)
    return fields


def _bytes_of(value):
    return bytes([value]) if value < 128 else bytes([value & 127 | 128]) + _bytes_of(value >> 7)


def _written(kind, value):
    if kind in (TRUE, FALSE, BYTE):
        return bytes([value])
    if kind in _NUMBERS:
        return _bytes_of((value << 1 ^ value >> 63) & (1 << 64) - 1)
    if kind == BINARY:
        return _bytes_of(len(value)) + value
    if kind == LIST:
        inner, items = value
        head = bytes([min(len(items), 15) << 4 | inner])
        head += _bytes_of(len(items)) if len(items) > 14 else b""
        return head + b"".join(_written(inner, item) for item in items)
    found, before = b"", 0
    for number, (kind, inner) in sorted(value.items()):
        step = number - before
        found += bytes([step << 4 | kind]) if step < 16 else bytes([kind]) + _written(I32, number)
        found += b"" if kind in (TRUE, FALSE) else _written(kind, inner)
        before = number
    return found + b"\0"


# Changes of a file -----------------------------------------------------------------------------

FILE = "speakers/train-00000-of-00001.parquet"
COLUMN, AGE = 1, 34  # `age`, the second column, and that of the first row


def split(data):
    """Return what stands before a footer, and the footer."""
    start = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    return data[:start], decode(data, start)


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


def second_chain(body, footer):
    """The pages of ages once more, behind all others: a reader may start at either offset."""
    column = place_in(footer, "column")
    start, end = column[11][1], len(body)
    column[9], column[11] = (I64, end + column[9][1] - start), (I64, end)
    return body[start : start + column[7][1]]


# fmt: off
MILLIS = {1: (TRUE, TRUE), 2: (STRUCT, {1: (STRUCT, {})})}
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
        {10: logical(8, MILLIS)}, {10: logical(10, {1: (BYTE, 64), 2: (FALSE, FALSE)})},
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
    (place, change, table is MISLEADING)
    for table in (MISLEADING, OTHERS)
    for place, changes in table.items()
    for change in changes
]


def changed(data, place, change):
    """Change a file; a dict has fields of the footer by their numbers, None to take one away."""
    if not place:
        return change(data)
    body, footer = split(data)
    if place == "pages":
        return joined(body + change(body, footer), footer)
    struct = place_in(footer, place)
    for number, value in change.items():
        struct[number] = value(struct.get(number)) if callable(value) else value
        if value is None:
            del struct[number]
    return joined(body, footer)


@pytest.fixture(scope="module")
def folder(sample_build, tmp_path_factory):
    return shutil.copytree(sample_build / "casino", tmp_path_factory.mktemp("changed") / "casino")


def refused(built):
    try:
        found = [*folder_checks.schema(built)]
        found = found or folder_checks.shards(built, folder_checks.Rebuilt(built, {}))
        return [each for each in found if not isinstance(each, NotChecked)]
    except OutputError:
        return True


def put_in(folder, data):
    """Write a file, with its hash in the provenance."""
    (folder / FILE).write_bytes(data)
    recorded = {"path": FILE, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    restate(folder, "configs.speakers.train.files[0]", recorded)
    return open_folder(folder)


@pytest.mark.parametrize(("place", "change", "misleads"), CASES)
def test_a_file_of_other_bytes_is_refused(sample_build, folder, place, change, misleads):
    sound = (sample_build / "casino" / FILE).read_bytes()
    data = changed(sound, place, change)
    assert data != sound
    built = put_in(folder, data)
    assert list(folder_checks.files(built)) == []
    assert refused(built)
    if misleads:
        built.provenance["built_with"]["pyarrow"] = "1.0.0"
        assert refused(built)


def test_a_difference_names_equal_rows_of_other_bytes(folder, sample_build):
    sound = (sample_build / "casino" / FILE).read_bytes()
    built = put_in(folder, changed(sound, "statistics", bounds(90, 99)))
    found = compare_builds(open_folder(sample_build / "casino"), built)
    (differing,) = (each for each in found.splits if each.differs)
    assert (differing.config, differing.changed, len(differing.schema)) == ("speakers", [], 1)
