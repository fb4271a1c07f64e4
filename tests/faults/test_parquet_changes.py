"""`verify` refuses a Parquet file with right rows and any other byte than a build writes.

Each file has the hash that the provenance states, as somebody writes it who hides the change. Those
of MISLEADING make DuckDB 2.0.0, Polars 2.1.0 or datasets 5.2.0 read something else without an
error; they are refused also where bytes cannot be compared.
"""

import hashlib
import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from folders import restate
from thrift import BINARY, I32, I64, LIST, STRUCT, TRUE, decode, encode

from parley.base.errors import OutputError
from parley.building.build import build
from parley.building.folder import open_folder
from parley.building.registry import get
from parley.building.sources import open_source
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


def empty_group(groups):
    """Add a row group without rows."""
    chunks = [each | {3: (STRUCT, each[3][1] | {5: (I64, 0)})} for each in groups[0][1][1][1]]
    return [*groups, groups[0] | {1: (LIST, (STRUCT, chunks)), 3: (I64, 0), 7: (4, 1)}]


def sorting(column, descending=False):
    by = {1: (I32, column), 2: (TRUE, descending), 3: (TRUE, False)}
    return {4: (LIST, (STRUCT, [by]))}


def logical(number, fields=None):
    return STRUCT, {number: (STRUCT, fields or {})}


# Pages and indexes: functions of what stands before a footer, the footer, and where the first ends


def page_at(data, place):
    """Return header and payload of a page."""
    header, start = decode(data, place)
    return header, data[start : start + header[3][1]]


def page_of(header, content):
    """Return the bytes of a page with other content."""
    payload = bytes(pa.compress(content, "snappy"))
    header = header | {2: (I32, len(content)), 3: (I32, len(payload))}
    return encode({key: value for key, value in header.items() if key != 4}) + payload


def other_dictionary(body, footer, end, both=False):
    """A second chain of pages, with a dictionary of other values.

    With `both`, a reader takes the one or the other: some start at `dictionary_page_offset`, some
    at the smaller of both offsets.
    """
    column = place_in(footer, "column")
    before = column[11]
    header, payload = page_at(body, column[11][1])
    values = memoryview(pa.decompress(payload, header[2][1], "snappy")).cast("q")
    other = page_of(header, b"".join((v + 1).to_bytes(8, "little") for v in values))
    data_header, data_payload = page_at(body, column[9][1])
    column[11] = I64, end
    column[9] = before if both else (I64, end + len(other))
    added = other + encode(data_header) + data_payload
    column[7] = column[7] if both else (I64, len(added))
    return added


def other_data_page(body, footer, end):
    """A second data page, which `data_page_offset` names: all rows have the first value."""
    column = place_in(footer, "column")
    header, payload = page_at(body, column[9][1])
    content = bytes(pa.decompress(payload, header[2][1], "snappy"))
    levels = 4 + int.from_bytes(content[:4], "little")
    width = content[levels]
    zeros = content[: levels + 1] + bytes([column[5][1] << 1]) + bytes((width + 7) // 8)
    column[9] = I64, end
    return page_of(header, zeros)


def bloom_filter(body, footer, end):
    """A filter without a value."""
    header = {number: (STRUCT, {1: (STRUCT, {})}) for number in (2, 3, 4)} | {1: (I32, 32)}
    added = encode(header) + bytes(32)
    place_in(footer, "column").update({14: (I64, end), 15: (I32, len(added))})
    return added


def index(field, change):
    """Return a change of the index of columns (6) or of offsets (4) of the pages of ages."""

    def make(body, footer, end):
        chunk = place_in(footer, "chunk")
        found = decode(body, chunk[field][1])[0]
        (found if field == 6 else found[1][1][1][0]).update(change)
        added = encode(found)
        chunk.update({field: (I64, end), field + 1: (I32, len(added))})
        return added

    return make


def in_header(page, part, field, value):
    """Return a change of a field of the header of a page, which keeps its length."""

    def change(data):
        place = place_in(split(data)[1], "column")[page][1]
        header, start = decode(data, place)
        struct = header[part][1] if part else header
        struct[field] = value if isinstance(value, tuple) else (I32, struct[field][1] + value)
        written = encode(header)
        assert len(written) == start - place
        return data[:place] + written + data[start:]

    return change


def rewritten(**options):
    """Return the same rows, as pyarrow writes them with other options than a build's."""
    due = dict.fromkeys(
        ("write_page_index", "use_content_defined_chunking", "write_page_checksum"), True
    )

    def change(data):
        target = io.BytesIO()
        pq.write_table(pq.ParquetFile(io.BytesIO(data)).read(), target, **due | options)
        return target.getvalue()

    return change


# fmt: off
CHUNKS = {"min_chunk_size": 9, "max_chunk_size": 99, "norm_level": 0}
MORE = [{1: (BINARY, b"more"), 2: (BINARY, b"words")}]
MILLIS = {1: (TRUE, True), 2: (STRUCT, {1: (STRUCT, {})})}
WORD = BINARY, b"a"
NO_INDEX = dict.fromkeys((4, 5, 6, 7))
MISLEADING = {  # place in the footer -> changes; "pages" of what stands before it, "" of all
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
    "pages": [
        other_dictionary, lambda *given: other_dictionary(*given, both=True), bloom_filter,
    ],
    "": [
        lambda data: put(put(data, "schema", {1: (I32, 5)}), "column", {1: (I32, 5)}),
        in_header(9, 5, 1, -1), in_header(9, None, 1, (I32, 2)),
        rewritten(store_schema=False),
    ],
}
OTHERS = {
    "file": [
        {3: (I64, -1)}, {1: (I32, 1)}, {1: (I32, 9)},  # rows, version
        {6: None}, {6: (BINARY, b"parquet-mr version 1.8.0")}, {6: (BINARY, b"public domain")},
        *({5: items(change)} for change in (
            lambda old: old + MORE, lambda old: old + old, lambda old: old[::-1],
            lambda old: old[:-1])),
        {7: None}, {7: items(lambda old: old[:1])},  # orders of columns
        {7: items(lambda old: [{2: (STRUCT, {})} for _ in old])},
        {99: (I32, 7)}, {4: items(empty_group)},
    ],
    "schema": [{3: (I32, 0)}, {3: (I32, 2)}, {6: (I32, 17)}, {9: (I32, 7)}],
    "group": [
        {3: (I64, 10)}, {3: (I64, -1)}, {2: (I64, 0)}, {2: (I64, 10**12)}, {6: (I64, 0)},
        {5: (I64, 8)}, {7: (4, 5)}, {1: items(lambda old: old[:-1])},
        sorting(COLUMN), sorting(COLUMN, True), sorting(99),
    ],
    "chunk": [
        {1: (BINARY, b"other.parquet")}, {1: (BINARY, b"../../../etc/passwd")}, {2: (I64, 1)},
        {8: logical(1)}, NO_INDEX, {6: (I64, 4), 7: (I32, 20)},
    ],
    "column": [
        {1: (I32, 5)}, {5: (I64, 0)}, {5: (I64, 5)}, {5: (I64, 99)},  # type, values
        {3: (LIST, (BINARY, [b"gender"]))}, {4: (I32, 0)}, {4: (I32, 6)},  # path, codec
        {2: (LIST, (I32, [0]))}, {13: None},  # encodings
        {13: items(lambda old: [each | {2: (I32, 0)} for each in old])},
        {6: (I64, 0)}, {7: (I64, 1)}, {7: (I64, 500)}, {8: (LIST, (STRUCT, MORE))},  # sizes
        {10: (I64, 4)}, {11: None}, {14: (I64, 4), 15: (I32, 50)},  # places of pages
        {12: None}, {16: None}, {16: (STRUCT, {3: (LIST, (I64, [9, 0]))})},  # statistics
    ],
    "statistics": [
        {1: number(3), 2: number(1)}, {5: WORD, 6: WORD}, {7: (TRUE, False), 8: (TRUE, False)},
        {3: (I64, 10**6)}, {3: (I64, -1)}, {3: None}, {4: (I64, 1)},
    ],
    "pages": [
        other_data_page, lambda *_: b"words",
        *(index(6, each) for each in (
            {2: (LIST, (BINARY, [number(90)[1]])), 3: (LIST, (BINARY, [number(99)[1]]))},
            {1: (LIST, (TRUE, [True]))}, {5: (LIST, (I64, [9]))}, {4: (I32, 2)})),
        *(index(4, each) for each in ({1: (I64, 4)}, {3: (I64, 5)}, {2: (I32, 1)})),
    ],
    "": [
        in_header(9, None, 4, 1), in_header(9, None, 2, 1),  # checksum, size
        in_header(9, 5, 2, (I32, 0)),  # encoding
        in_header(11, 7, 1, (I32, 1)), in_header(11, 7, 3, (TRUE, True)),  # of the dictionary
        lambda data: data + b"words", lambda data: data + data, lambda data: b"PARX" + data[4:],
        *(rewritten(compression=codec) for codec in ("zstd", "none")),
        *(rewritten(**{option: False}) for option in (
            "use_dictionary", "write_statistics", "write_page_index", "write_page_checksum")),
        rewritten(version="1.0"), rewritten(data_page_version="2.0"), rewritten(row_group_size=3),
        rewritten(data_page_size=1, write_batch_size=1),
        rewritten(use_content_defined_chunking=CHUNKS),
        rewritten(use_byte_stream_split=["extraversion"], use_dictionary=["age"]),
    ],
}
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
