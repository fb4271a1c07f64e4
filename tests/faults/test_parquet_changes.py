"""`verify` refuses a Parquet file with right rows and any other byte than a build writes.

Each change of CHANGES stands with what DuckDB, Polars and `datasets` then read, in this order: `=`
what they read before, `x` something else, `!` an error, `+` the end of the process. Its file has
the hash that the provenance states, as somebody writes it who hides the change.

`python tests/faults/test_parquet_changes.py` prints what they read in the versions at hand.
"""

import contextlib
import hashlib
import io
import json
import subprocess
import sys
import tempfile
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
from folders import restate
from thrift import BINARY, I32, I64, LIST, STRUCT, TRUE, decode, encode

from parley.base.errors import OutputError
from parley.building.build import build
from parley.building.folder import open_folder
from parley.building.registry import get
from parley.building.sources import open_source
from parley.verifying import folder_checks
from parley.verifying.diff import compare

ENGINES = ("duckdb", "polars", "datasets")
VERSIONS = {"duckdb": "2.0.0", "polars": "2.1.0", "datasets": "5.2.0"}  # of what CHANGES states
FILE = "speakers/train-00000-of-00001.parquet"
COLUMN, AGE = 1, 34  # `age`, the second column, and that of the first row


# Changes: functions of the bytes of a file --------------------------------------------------


def split(data):
    """Return what stands before a footer, and the footer."""
    start = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    return data[:start], decode(data, start)[0]


def joined(body, footer):
    written = encode(footer)
    return body + written + len(written).to_bytes(4, "little") + b"PAR1"


def place_in(footer, place):
    """Return the struct of a footer: of the file, or of the column of ages."""
    if place == "file":
        return footer
    if place == "schema":
        return footer[2][1][1][1 + COLUMN]
    group = footer[4][1][1][0]
    chunk = group[1][1][1][COLUMN]
    column = chunk[3][1]
    places = {"group": group, "chunk": chunk, "column": column, "statistics": column[12][1]}
    return places[place]


def put(place, **fields):
    """Return a change of fields of the footer by their ids: `_3=(I64, 7)`; None takes one away."""

    def change(data):
        body, footer = split(data)
        struct = place_in(footer, place)
        before = repr(struct)
        for name, value in fields.items():
            number = int(name[1:])
            if value is None:
                del struct[number]
            else:
                struct[number] = value(struct.get(number)) if callable(value) else value
        assert repr(struct) != before
        return joined(body, footer)

    return change


def every(*changes):
    """Return these changes one after the other."""

    def change(data):
        for each in changes:
            data = each(data)
        return data

    return change


def items(place, number, change):
    """Return a change of a list of the footer."""
    return put(place, **{f"_{number}": lambda old: (LIST, (old[1][0], change(old[1][1])))})


def beside(make):
    """Return a change that adds bytes before the footer; `make` gives them, and changes it."""

    def change(data):
        body, footer = split(data)
        return joined(body + make(body, footer, len(body)), footer)

    return change


def number(value):
    return BINARY, value.to_bytes(8, "little", signed=True)


def bounds(low, high):
    """Return a change of the least and the greatest value of the statistics."""
    return put("statistics", _1=number(high), _2=number(low), _5=number(high), _6=number(low))


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


def column_index(**fields):
    """Return a change of the index of the pages of ages: of its bounds, nulls or order."""

    def make(body, footer, end):
        chunk = place_in(footer, "chunk")
        index = decode(body, chunk[6][1])[0]
        added = encode(index | {int(name[1:]): value for name, value in fields.items()})
        chunk.update({6: (I64, end), 7: (I32, len(added))})
        return added

    return beside(make)


def offset_index(change):
    def make(body, footer, end):
        chunk = place_in(footer, "chunk")
        index = decode(body, chunk[4][1])[0]
        index[1][1][1][0] |= change
        added = encode(index)
        chunk.update({4: (I64, end), 5: (I32, len(added))})
        return added

    return beside(make)


def in_page(change, field=9):
    """Return a change of the header of the data page, or another, which must keep its length."""

    def make(data):
        place = place_in(split(data)[1], "column")[field][1]
        header, start = decode(data, place)
        change(header)
        written = encode(header)
        assert len(written) == start - place
        assert written != data[place:start]
        return data[:place] + written + data[start:]

    return make


def rewritten(**options):
    """Return the same rows, as pyarrow writes them with other options than a build's."""
    due = {
        "write_page_index": True,
        "use_content_defined_chunking": True,
        "write_page_checksum": True,
    }

    def change(data):
        table, target = pq.ParquetFile(io.BytesIO(data)).read(), io.BytesIO()
        pq.write_table(table, target, **due | options)
        return target.getvalue()

    return change


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
    return put("group", _4=(LIST, (STRUCT, [by])))


def logical(number, fields=None):
    return STRUCT, {number: (STRUCT, fields or {})}


CHUNKS = {"min_chunk_size": 9, "max_chunk_size": 99, "norm_level": 0}
MORE = [{1: (BINARY, b"more"), 2: (BINARY, b"words")}]
MILLIS = {1: (TRUE, True), 2: (STRUCT, {1: (STRUCT, {})})}
CHANGES = {
    # the file
    "num_rows: 0": (put("file", _3=(I64, 0)), "=x="),
    "num_rows: 5,000": (put("file", _3=(I64, 5000)), "=x="),
    "num_rows: -1": (put("file", _3=(I64, -1)), "!!="),
    "version: 1": (put("file", _1=(I32, 1)), "==="),
    "version: 9": (put("file", _1=(I32, 9)), "==="),
    "created_by: another": (put("file", _6=(BINARY, b"parquet-mr version 1.8.0")), "==="),
    "created_by: none": (put("file", _6=None), "==="),
    "created_by: text": (put("file", _6=(BINARY, b"public domain")), "==="),
    "metadata: none": (put("file", _5=None), "==x"),
    "metadata: more": (items("file", 5, lambda old: old + MORE), "==="),
    "metadata: twice": (items("file", 5, lambda old: old + old), "==="),
    "metadata: turned": (items("file", 5, lambda old: old[::-1]), "==="),
    "metadata: without Arrow's schema": (items("file", 5, lambda old: old[:-1]), "==="),
    "column orders: none": (put("file", _7=None), "==="),
    "column orders: one": (items("file", 7, lambda old: old[:1]), "==!"),
    "column orders: unknown": (
        items("file", 7, lambda old: [{2: (STRUCT, {})} for _ in old]),
        "===",
    ),
    "unknown field of the file": (put("file", _99=(I32, 7)), "==="),
    # the schema
    "name of a column": (put("schema", _4=(BINARY, b"Age")), "x!!"),
    "column that is required": (put("schema", _3=(I32, 0)), "!!!"),
    "column that is repeated": (put("schema", _3=(I32, 2)), "!!!"),
    "converted type: time": (put("schema", _6=(I32, 9)), "!x!"),
    "converted type: uint64": (put("schema", _6=(I32, 14)), "xxx"),
    "converted type: int32": (put("schema", _6=(I32, 17)), "!!!"),
    "converted type: decimal": (put("schema", _6=(I32, 5), _7=(I32, 1), _8=(I32, 5)), "xx!"),
    "logical type: time": (put("schema", _10=logical(8, MILLIS)), "!x!"),
    "logical type: uint64": (
        put("schema", _10=logical(10, {1: (3, 64), 2: (TRUE, False)})),
        "=xx",
    ),
    "field id": (put("schema", _9=(I32, 7)), "==="),
    "physical type: double": (
        every(put("schema", _1=(I32, 5)), put("column", _1=(I32, 5))),
        "xxx",
    ),
    "physical type of the schema alone": (put("schema", _1=(I32, 5)), "xx!"),
    "physical type of the column alone": (put("column", _1=(I32, 5)), "==!"),
    "columns exchanged": (
        items("file", 2, lambda old: [*old[:2], old[3], old[2], *old[4:]]),
        "xxx",
    ),
    # the row group
    "rows of the group: 0": (put("group", _3=(I64, 0)), "!x!"),
    "rows of the group: 10": (put("group", _3=(I64, 10)), "!!="),
    "rows of the group: -1": (put("group", _3=(I64, -1)), "!!!"),
    "bytes of the group: 0": (put("group", _2=(I64, 0)), "==="),
    "bytes of the group: 1 TB": (put("group", _2=(I64, 10**12)), "==="),
    "compressed bytes of the group: 0": (put("group", _6=(I64, 0)), "==="),
    "offset of the group": (put("group", _5=(I64, 8)), "==="),
    "number of the group": (put("group", _7=(4, 5)), "==="),
    "sorted by age": (sorting(COLUMN), "==="),
    "sorted by age, descending": (sorting(COLUMN, True), "==="),
    "sorted by a column that is not there": (sorting(99), "==="),
    "a group without rows": (items("file", 4, empty_group), "==="),
    "a group twice": (items("file", 4, lambda old: old * 2), "xxx"),
    "no group": (items("file", 4, lambda old: []), "x!!"),
    "a group without a column": (items("group", 1, lambda old: old[:-1]), "!!!"),
    "places of two columns exchanged": (items("group", 1, swap_columns), "xxx"),
    # the column
    "file_path: another file": (put("chunk", _1=(BINARY, b"other.parquet")), "!=="),
    "file_path: above": (put("chunk", _1=(BINARY, b"../../../etc/passwd")), "!=="),
    "file_offset of the column": (put("chunk", _2=(I64, 1)), "==="),
    "encryption of the column": (put("chunk", _8=logical(1)), "!!!"),
    "values of the column: 0": (put("column", _5=(I64, 0)), "!!!"),
    "values of the column: 5": (put("column", _5=(I64, 5)), "!=="),
    "values of the column: 99": (put("column", _5=(I64, 99)), "!!="),
    "path of the column": (put("column", _3=(LIST, (BINARY, [b"gender"]))), "==="),
    "codec: none": (put("column", _4=(I32, 0)), "!!!"),
    "codec: zstd": (put("column", _4=(I32, 6)), "!!!"),
    "encodings of the column": (put("column", _2=(LIST, (I32, [0]))), "==="),
    "encoding statistics: none": (put("column", _13=None), "==="),
    "encoding statistics: all plain": (
        items("column", 13, lambda old: [each | {2: (I32, 0)} for each in old]),
        "===",
    ),
    "uncompressed size: 0": (put("column", _6=(I64, 0)), "==="),
    "compressed size: 1": (put("column", _7=(I64, 1)), "=!!"),
    "compressed size: more": (put("column", _7=(I64, 500)), "==="),
    "metadata of the column": (put("column", _8=(LIST, (STRUCT, MORE))), "==="),
    "place of an index page": (put("column", _10=(I64, 4)), "==="),
    "size statistics: none": (put("column", _16=None), "==="),
    "size statistics: none is there": (
        put("column", _16=(STRUCT, {3: (LIST, (I64, [9, 0]))})),
        "===",
    ),
    "a dictionary that no field names": (put("column", _11=None), "!!!"),
    "second chain: another dictionary": (beside(other_dictionary), "xxx"),
    "second chain: another dictionary that some read": (
        beside(lambda *given: other_dictionary(*given, both=True)),
        "xx=",
    ),
    "second chain: another data page": (beside(other_data_page), "==="),
    "bloom filter without a value": (beside(bloom_filter), "x=="),
    "bloom filter in a page": (put("column", _14=(I64, 4), _15=(I32, 50)), "!=="),
    # statistics
    "statistics: above": (bounds(90, 99), "xxx"),
    "statistics: below": (bounds(1, 3), "xxx"),
    "statistics: one value": (bounds(AGE, AGE), "x=="),
    "statistics: turned": (bounds(99, 1), "=xx"),
    "statistics: the old fields alone": (put("statistics", _1=number(3), _2=number(1)), "==="),
    "statistics: of one byte": (put("statistics", _5=(BINARY, b"a"), _6=(BINARY, b"a")), "!!!"),
    "statistics: not exact": (put("statistics", _7=(TRUE, False), _8=(TRUE, False)), "==="),
    "statistics: none": (put("column", _12=None), "==="),
    "nulls: all": (put("statistics", _3=(I64, 9)), "xxx"),
    "nulls: more than rows": (put("statistics", _3=(I64, 10**6)), "==="),
    "nulls: -1": (put("statistics", _3=(I64, -1)), "==="),
    "nulls: unknown": (put("statistics", _3=None), "==="),
    "distinct values: 1": (put("statistics", _4=(I64, 1)), "==="),
    # page index, and headers of pages
    "page index: none": (put("chunk", _4=None, _5=None, _6=None, _7=None), "==="),
    "page index: of no column": (put("chunk", _6=(I64, 4), _7=(I32, 20)), "==="),
    "page index: bounds above": (
        column_index(_2=(LIST, (BINARY, [number(90)[1]])), _3=(LIST, (BINARY, [number(99)[1]]))),
        "===",
    ),
    "page index: a page of nulls": (column_index(_1=(LIST, (TRUE, [True]))), "==="),
    "page index: all null": (column_index(_5=(LIST, (I64, [9]))), "==="),
    "page index: descending": (column_index(_4=(I32, 2)), "==="),
    "page index: another place": (offset_index({1: (I64, 4)}), "==="),
    "page index: another first row": (offset_index({3: (I64, 5)}), "==="),
    "page index: another size": (offset_index({2: (I32, 1)}), "==="),
    "header: checksum": (in_page(lambda page: page.update({4: (I32, page[4][1] ^ 1)})), "==="),
    "header: values": (in_page(lambda page: page[5][1].update({1: (I32, 8)})), "x!!"),
    "header: encoding": (in_page(lambda page: page[5][1].update({2: (I32, 0)})), "!!!"),
    "header: size": (in_page(lambda page: page.update({2: (I32, page[2][1] + 1)})), "!=!"),
    "header: type": (in_page(lambda page: page.update({1: (I32, 2)})), "x!!"),
    "header: values of the dictionary": (
        in_page(lambda page: page[7][1].update({1: (I32, 1)}), 11),
        "!=!",
    ),
    "header: a sorted dictionary": (
        in_page(lambda page: page[7][1].update({3: (TRUE, True)}), 11),
        "===",
    ),
    # other bytes
    "bytes before the footer": (beside(lambda *_: b"words"), "==="),
    "bytes after the file": (lambda data: data + b"words", "!!!"),
    "a file after the file": (lambda data: data + data, "==="),
    "other first bytes": (lambda data: b"PARX" + data[4:], "==="),
    # other options of the writer
    "other compression": (rewritten(compression="zstd"), "==="),
    "no compression": (rewritten(compression="none"), "==="),
    "no dictionaries": (rewritten(use_dictionary=False), "==="),
    "another format": (rewritten(version="1.0"), "==="),
    "other data pages": (rewritten(data_page_version="2.0"), "==="),
    "no statistics": (rewritten(write_statistics=False), "==="),
    "no page index": (rewritten(write_page_index=False), "==="),
    "no checksums": (rewritten(write_page_checksum=False), "==="),
    "small groups": (rewritten(row_group_size=3), "==="),
    "small pages": (rewritten(data_page_size=1, write_batch_size=1), "==="),
    "no schema of Arrow": (rewritten(store_schema=False), "==x"),
    "fixed chunks": (
        rewritten(
            use_content_defined_chunking={
                "min_chunk_size": 9,
                "max_chunk_size": 99,
                "norm_level": 0,
            }
        ),
        "===",
    ),
    "other encodings": (
        rewritten(use_byte_stream_split=["extraversion"], use_dictionary=["age"]),
        "===",
    ),
}


# Readers ------------------------------------------------------------------------------------


def duckdb_reads(path):
    import duckdb

    table = f"read_parquet('{path}')"
    with duckdb.connect() as connection:
        connection.execute("SET threads = 1")
        for query in ("count(*) FROM {}", "speaker_id FROM {} WHERE age = 34", "* FROM {}"):
            relation = connection.sql("SELECT " + query.format(table))
            yield relation.fetchall(), list(map(str, relation.types)), relation.columns


def polars_reads(path):
    import polars

    file = polars.scan_parquet(path)
    for frame in (
        file.select(polars.len()),
        file.filter(polars.col("age") == AGE).select("speaker_id"),
        file,
    ):
        found = frame.collect()
        yield found.rows(), str(found.schema)


def datasets_reads(path):
    import datasets

    given = {"data_files": path, "split": "train"}
    with tempfile.TemporaryDirectory() as cache:
        found = datasets.load_dataset("parquet", cache_dir=cache, **given)
        yield len(found), list(found), str(found.features)
    given |= {"streaming": True, "filters": [("age", "==", AGE)]}
    yield [row["speaker_id"] for row in datasets.load_dataset("parquet", **given)]


READERS = {"duckdb": duckdb_reads, "polars": polars_reads, "datasets": datasets_reads}


def serve(engine):
    """Read the files that lines of the input name, and print what an engine gives."""
    import datasets

    datasets.disable_progress_bars()
    for line in sys.stdin:
        try:
            with contextlib.redirect_stdout(sys.stderr):
                found = repr(list(READERS[engine](line.rstrip("\n"))))
        except BaseException as error:
            found = f"! {type(error).__name__}"
        print(json.dumps(found), flush=True)


def readings(engine, paths):
    """Return what an engine reads of each file; "+" where its process ends or hangs."""
    found, command = [], [sys.executable, __file__, engine]
    while len(found) < len(paths):
        given = "".join(f"{path}\n" for path in paths[len(found) :])
        try:
            done = subprocess.run(command, input=given, capture_output=True, text=True, timeout=120)
            said = done.stdout
        except subprocess.TimeoutExpired as error:
            said = (error.stdout or b"").decode()
        found += map(json.loads, said.splitlines())
        if len(found) < len(paths):
            found.append("+")
    return found


def recorded(folder, engines):
    """Return by change what each engine reads of its file, one sign each."""
    paths = [folder / f"{number}.parquet" for number in range(len(CHANGES))]
    sound = folder / "sound.parquet"
    signs = dict.fromkeys(CHANGES, "")
    for engine in engines:
        due, *found = readings(engine, [sound, *paths])
        assert not due.startswith(("!", "+")), due
        for what, each in zip(CHANGES, found, strict=True):
            signs[what] += "=" if each == due else each[0] if each[0] in "!+" else "x"
    return signs


def changed_files(folder):
    """Build the sample, and write each changed file into a folder; return the build."""
    build(open_source(get("casino"), None, sample=True), folder)
    sound = (folder / "casino" / FILE).read_bytes()
    (folder / "sound.parquet").write_bytes(sound)
    for number, (change, _) in enumerate(CHANGES.values()):
        data = change(sound)
        assert data != sound
        (folder / f"{number}.parquet").write_bytes(data)
    return folder / "casino"


def at_hand():
    """Return the engines of the versions that CHANGES is of."""
    return [name for name in ENGINES if find_spec(name) and version(name) == VERSIONS[name]]


@pytest.fixture(scope="module")
def changed(tmp_path_factory):
    return changed_files(tmp_path_factory.mktemp("changed"))


def put_in(folder, number):
    """Replace a file of a build by a changed one, and its hash in the provenance."""
    data = (folder.parent / f"{number}.parquet").read_bytes()
    (folder / FILE).write_bytes(data)
    recorded = {"path": FILE, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    with contextlib.suppress(AssertionError):  # the last one was the same
        restate(folder, "configs.speakers.train.files[0]", recorded)
    return open_folder(folder)


@pytest.mark.parametrize(("number", "what"), [*enumerate(CHANGES)])
def test_a_file_of_other_bytes_is_refused(changed, number, what):
    built = put_in(changed, number)
    assert list(folder_checks.files(built)) == []
    with contextlib.suppress(OutputError):
        measured = folder_checks.Remeasured(built)
        assert [*folder_checks.schema(built)] or [*folder_checks.shards(built, measured)]


@pytest.mark.parametrize(
    ("number", "what"),
    [each for each in enumerate(CHANGES) if "x" in CHANGES[each[1]][1]],
)
def test_what_misleads_a_reader_is_refused_where_bytes_cannot_be_compared(changed, number, what):
    built = put_in(changed, number)
    built.provenance["built_with"]["pyarrow"] = "1.0.0"
    with contextlib.suppress(OutputError):
        measured = folder_checks.Remeasured(built)
        assert [*folder_checks.schema(built)] or [*folder_checks.shards(built, measured)]


def test_a_difference_names_equal_rows_of_other_bytes(changed, sample_build):
    built = put_in(changed, [*CHANGES].index("statistics: above"))
    found = compare(open_folder(sample_build / "casino"), built)
    (split,) = (split for split in found.splits if split.differs)
    assert (split.config, split.changed, len(split.schema)) == ("speakers", [], 1)


@pytest.mark.slow
def test_what_engines_read_of_the_changed_files(changed):
    engines = at_hand()
    if not engines:
        pytest.skip(f"CHANGES states what others read: {VERSIONS}")
    assert recorded(changed.parent, engines) == {
        what: "".join(sign for name, sign in zip(ENGINES, signs, strict=True) if name in engines)
        for what, (_, signs) in CHANGES.items()
    }


if __name__ == "__main__":
    if sys.argv[1:]:
        serve(sys.argv[1])
    else:
        with tempfile.TemporaryDirectory() as place:
            changed_files(Path(place))
            for what, signs in recorded(Path(place), ENGINES).items():
                print(signs, CHANGES[what][1], what)
