import hashlib
import json
import math
import struct

import numpy as np
import pyarrow as pa
import pytest

from parley.base.errors import RowError
from parley.rows.arrow import to_batch, to_batches
from parley.rows.digest import Digest
from parley.rows.splits import write_batches
from parley.schema.features import Value, arrow_schema
from parley.verification.changes import exactly_equal, row_differences

V = Value
FEATURES = {
    "id": V("string"), "count": V("int32"), "price": V("float32"), "score": V("float64"),
    "flag": V("bool"), "pairs": [[V("string")]],
    "turns": [{"text": V("string"), "labels": [V("string")], "deal": {"n": V("int64")}}],
}  # fmt: skip
SCHEMA = arrow_schema(FEATURES)
ROW = {
    "id": "1", "count": 3, "price": 0.5, "score": 0.1, "flag": True, "pairs": [["a", "b"], []],
    "turns": [
        {"text": "a", "labels": ["x", "y"], "deal": {"n": 1}},
        {"text": "", "labels": [], "deal": None},
        {"text": None, "labels": None, "deal": {"n": None}},
    ],
}  # fmt: skip
NULLS = dict.fromkeys(ROW)
TURN = ROW["turns"][0]


@pytest.mark.parametrize(("change", "path"), [
    ({"extra": 1}, ".extra"), ({"id": 1}, ".id"), ({"count": "3"}, ".count"),
    ({"count": True}, ".count"), ({"count": 3.0}, ".count"), ({"count": 2**31}, ".count"),
    ({"count": -(2**31) - 1}, ".count"), ({"count": 10**5000}, ".count"),
    ({"id": np.str_("1")}, ".id"), ({"price": 0.1}, ".price"), ({"price": math.inf}, ".price"),
    ({"score": 1}, ".score"), ({"score": math.nan}, ".score"), ({"score": -math.inf}, ".score"),
    ({"flag": 1}, ".flag"), ({"turns": {}}, ".turns"), ({"turns": (TURN,)}, ".turns"),
    ({"pairs": [["a", 1]]}, ".pairs[0][1]"), ({"id": "\ud83d"}, ".id"),
    ({"turns": [TURN, TURN | {"labels": [2]}]}, ".turns[1].labels[0]"),
    ({"turns": [{"text": "", "labels": []}]}, ".turns[0].deal"),
    ({"turns": [TURN | {"deal": {"m": 2}}]}, ".turns[0].deal.m"),
])  # fmt: skip
def test_a_wrong_value_is_named(change, path):
    with pytest.raises(RowError) as error:
        to_batch([ROW, {**ROW, **change}], SCHEMA, "x/y", start=2000)
    assert str(error.value).startswith(f"x/y[2001]{path}: ")


def digest(*batches, schema=SCHEMA):
    result = Digest(schema)
    for batch in batches:
        result.update(batch)
    return result.hexdigest()


def plain_digest(rows, schema):
    """Compute the digest from Python values, as the module documents it."""
    columns = []

    def add(path, type_, values):
        there = [value for value in values if value is not None]
        streams = [bytes(value is not None for value in values)]
        inner = []
        if pa.types.is_struct(type_):
            name = "struct"
            inner = [
                ([*path, f.name], f.type, [None if v is None else v[f.name] for v in values])
                for f in type_
            ]
        elif pa.types.is_list(type_):
            name = "list"
            streams.append(b"".join(struct.pack("<q", len(value)) for value in there))
            inner = [([*path, 0], type_.value_type, [item for value in there for item in value])]
        elif (name := str(type_)) == "string":
            texts = [value.encode() for value in there]
            streams.append(b"".join(struct.pack("<q", len(text)) for text in texts))
            streams.append(b"".join(texts))
        else:
            form = {"bool": "?", "int32": "i", "int64": "q", "float": "f", "double": "d"}[name]
            streams.append(b"".join(struct.pack(f"<{form}", value) for value in there))
        columns.append([path, name, [hashlib.sha256(stream).hexdigest() for stream in streams]])
        for each in inner:
            add(*each)

    for field in schema:
        add([field.name], field.type, [row[field.name] for row in rows])
    text = json.dumps([len(rows), columns]).replace(" ", "")
    return hashlib.sha256(text.encode()).hexdigest()


LIKE = [None, 0.0, -0.0, math.nan, math.inf, -math.inf]
ODD = {
    **ROW, "id": "\u00e4\U0001f600\x00", "price": -0.0,
    "turns": [{"text": "\u00df", "labels": [None, "", "z"], "deal": {"n": 2}}],
    "pairs": [None, [None], [], ["\u2028"]],
}  # fmt: skip


def test_a_digest_follows_its_documentation():
    rows = [ROW, NULLS, ODD, {**ROW, "turns": [], "pairs": None}, {**NULLS, "turns": [None]}] * 3
    whole = to_batch(rows, SCHEMA)
    whole.validate(full=True)
    assert whole.schema.equals(SCHEMA, check_metadata=True)
    due = plain_digest(rows, SCHEMA)
    assert digest(whole) == due
    for cut in range(len(rows)):
        parts = whole.slice(0, cut), whole.slice(cut)
        assert digest(*parts) == digest(pa.Table.from_batches(parts)) == due
    assert plain_digest(rows[2:9], SCHEMA) == digest(whole.slice(2, 4), whole.slice(6, 3))
    assert plain_digest(rows[2:4], SCHEMA) == digest(whole.slice(2, 2))  # no text is null
    numbers = pa.table({"x": LIKE})
    due = plain_digest(numbers.to_pylist(), numbers.schema)
    assert digest(numbers, schema=numbers.schema) == due


def test_a_digest_ignores_encodings_and_memory_under_nulls():
    text = pa.array(["a", None, "b", "a"])
    plain = pa.table({"x": text})
    due = digest(plain, schema=plain.schema)
    for other in (text.dictionary_encode(), text.cast(pa.large_string())):
        assert digest(pa.table({"x": other}), schema=plain.schema) == due
    mask = pa.array([False, True])
    lists = pa.ListArray.from_arrays([0, 1, 3], pa.array([1, 8, 9]), mask=mask)
    structs = pa.StructArray.from_arrays([pa.array([1, 9])], ["n"], mask=mask)
    for hidden, values in ((lists, [[1], None]), (structs, [{"n": 1}, None])):
        table, rows = pa.table({"x": hidden}), [{"x": value} for value in values]
        assert digest(table, schema=table.schema) == plain_digest(rows, table.schema)


def test_values_that_are_alike_are_told_apart():
    for one in LIKE:
        assert [exactly_equal({"x": [one]}, {"x": [two]}) for two in LIKE].count(True) == 1


def test_rows_are_compared_exactly_in_the_columns_that_are_due():
    rows = [{"a": 1, "b": {"c": [0.0]}, "d": "x"}, {"a": True, "b": None}, {"a": {"n": 1}}]
    assert not list(row_differences("all", rows, [{"a": 1, "b": {"c": [0.0]}}, {"b": None}, {}]))
    due = [{"a": 1, "b": {"c": [-0.0]}}, {"a": 1, "e": 2}, {"a": {"n": 1.0}}, {}]
    found = [each.partition(": ")[0] for each in row_differences("all", rows, due)]
    assert found == ["all", "all[0].b.c[0]", "all[1].a", "all[2].a.n"]


def test_a_type_without_a_digest_is_refused():
    with pytest.raises(RowError, match="date32"):
        Digest(pa.schema({"x": pa.date32()}))


def test_errors_count_rows_across_batches():
    rows = [{"text": "x"}] * 1100 + [{"text": 7}]
    with pytest.raises(RowError, match=r"^here\[1100\]\.text: "):
        list(to_batches(rows, pa.schema({"text": pa.string()}), "here"))


@pytest.mark.parametrize(("type_", "value"), [
    (pa.float32(), 0.1), (pa.float64(), math.inf), (pa.float64(), math.nan), (pa.int8(), 128),
    (pa.string(), "\ud800"), (pa.list_(pa.float32()), [0.5, 0.1]),
])  # fmt: skip
def test_a_value_of_the_right_kind_that_a_column_cannot_hold_is_an_error(type_, value):
    """A shape gave the row, so its keys and types are right."""
    with pytest.raises(RowError, match=r"^\[0\]\.x"):
        list(to_batches([{"x": value}], pa.schema({"x": type_})))


def test_columns_and_fields_without_values_are_named():
    inner = pa.struct([("x", pa.int64()), ("y", pa.string())])
    schema = pa.schema([("a", pa.int64()), ("b", inner), ("c", inner), ("d", pa.list_(inner))])
    first = [{"a": None, "b": b, "c": None, "d": []} for b in (None, {"x": None, "y": "text"})]
    more = [{"a": 1, "b": {"x": 0}, "c": {}, "d": None}, {"a": None, "b": None}]
    for rows, due in ((first, ["a", "b.x", "c"]), (first + more, ["c.x", "c.y"])):
        batches = [pa.RecordBatch.from_pylist([row], schema) for row in rows]
        assert write_batches(("config", "split"), batches, schema, None).nulls == due
