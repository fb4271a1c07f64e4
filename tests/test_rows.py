import datasets
import pyarrow as pa
import pytest

from parley.errors import RowError
from parley.rows.arrow import AT_ONCE, MOST_AT_ONCE, Nulls, to_batch, to_chunks
from parley.rows.digest import Digest
from parley.rows.features import arrow_schema

V = datasets.Value
FEATURES = datasets.Features(
    {
        "id": V("string"),
        "count": V("int32"),
        "price": V("float32"),
        "score": V("float64"),
        "flag": V("bool"),
        "turns": [{"text": V("string"), "labels": [V("string")], "deal": {"n": V("int64")}}],
        "pairs": [[V("string")]],
    }
)
SCHEMA = arrow_schema(FEATURES)
ROW = {
    "id": "1",
    "count": 3,
    "price": 0.5,
    "score": 0.1,
    "flag": True,
    "turns": [
        {"text": "a", "labels": ["x", "y"], "deal": {"n": 1}},
        {"text": "", "labels": [], "deal": None},
        {"text": None, "labels": None, "deal": {"n": None}},
    ],
    "pairs": [["a", "b"], []],
}
NULLS = dict.fromkeys(ROW)


def test_rows_come_back_as_they_were():
    rows = [ROW, NULLS, {**ROW, "turns": [], "pairs": None}, ROW]
    batch = to_batch(rows, SCHEMA)
    assert batch.to_pylist() == rows
    assert batch.schema.equals(SCHEMA, check_metadata=True)
    batch.validate(full=True)


def test_the_conversion_is_that_of_pyarrow():
    rows = [ROW, NULLS, ROW]
    assert to_batch(rows, SCHEMA).equals(pa.RecordBatch.from_pylist(rows, SCHEMA))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"extra": 1}, ".extra: unknown field, found 1"),
        ({"id": 1}, ".id: expected string, found 1"),
        ({"count": "3"}, ".count: expected int32, found '3'"),
        ({"count": True}, ".count: expected int32, found True"),
        ({"count": 3.0}, ".count: expected int32, found 3.0"),
        ({"count": 2**31}, ".count: 2147483648 is too large for int32"),
        ({"price": 0.1}, ".price: float cannot hold 0.1 exactly"),
        ({"score": 1}, ".score: expected double, found 1"),
        ({"score": float("nan")}, ".score: expected a finite number, found nan"),
        ({"score": float("inf")}, ".score: expected a finite number, found inf"),
        ({"flag": 1}, ".flag: expected bool, found 1"),
        ({"turns": {}}, ".turns: expected a list, found {}"),
        ({"turns": ("a",)}, ".turns: expected a list, found ('a',)"),
        ({"pairs": [["a", 1]]}, ".pairs[0][1]: expected string, found 1"),
        ({"id": "\ud83d"}, ".id: expected valid Unicode, found a lone surrogate in '\\ud83d'"),
        (
            {"turns": [ROW["turns"][0], {"text": "b", "labels": ["x", 2], "deal": None}]},
            ".turns[1].labels[1]: expected string, found 2",
        ),
        (
            {"turns": [{"text": "b", "labels": []}]},
            ".turns[0].deal: missing, expected struct<n: int64>",
        ),
        (
            {"turns": [{"text": "b", "labels": [], "deal": {"n": 1, "m": 2}}]},
            ".turns[0].deal.m: unknown field, found 2",
        ),
    ],
)
def test_what_does_not_fit_is_named(change, problem):
    with pytest.raises(RowError) as error:
        to_batch([ROW, {**ROW, **change}], SCHEMA, "x/y", start=2000)
    assert str(error.value) == f"x/y[2001]{problem}"


def test_a_missing_column_is_an_error_not_a_null():
    with pytest.raises(RowError, match=r"\[0\]\.id: missing, expected string"):
        to_batch([{key: value for key, value in ROW.items() if key != "id"}], SCHEMA)


def test_a_column_under_another_name_is_two_problems():
    row = {**ROW, "identifier": "1"}
    del row["id"]
    with pytest.raises(RowError) as error:
        to_batch([row], SCHEMA)
    assert "identifier: unknown" in str(error.value)
    assert ".id: missing" in str(error.value)


def test_digest_is_of_values_and_their_order():
    def digest(*rows):
        result = Digest()
        result.update(rows)
        return result.hexdigest()

    assert digest(ROW, NULLS) == digest(dict(reversed(ROW.items())), NULLS)
    assert digest(ROW, NULLS) != digest(NULLS, ROW)
    assert digest(ROW) != digest({**ROW, "score": 0.2})
    # stated here so that anyone can recompute it without parley
    import hashlib
    import json

    text = json.dumps(ROW, sort_keys=True, ensure_ascii=False, separators=(",", ":")) + "\n"
    assert digest(ROW) == hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize("length", [0, 5_000, AT_ONCE, 2 * AT_ONCE])
def test_rows_come_in_chunks_of_a_size_and_none_is_lost(length):
    rows = [{"text": f"{number}{'x' * length}"} for number in range(2400 if length == 0 else 60)]
    chunks = list(to_chunks(iter(rows), pa.schema({"text": pa.string()})))
    assert [row for batch, _ in chunks for row in batch.to_pylist()] == rows
    digest, whole = Digest(), Digest()
    for batch, lines in chunks:
        digest.add(lines, batch.num_rows)
    whole.update(rows)
    assert (digest.rows, digest.hexdigest()) == (len(rows), whole.hexdigest())
    first, *later, _ = [batch.num_rows for batch, _ in chunks]
    if length == 0:
        assert later == [4 * first, 16 * first, *[MOST_AT_ONCE] * 4]
    else:
        assert set(later) == {max(1, AT_ONCE // (length + 14))}


def test_a_row_of_a_later_chunk_is_named_by_its_number():
    rows = [{"text": "x"}] * 1100 + [{"text": 7}]
    with pytest.raises(RowError, match=r"^here\[1100\]\.text: expected string, found 7$"):
        list(to_chunks(rows, pa.schema({"text": pa.string()}), "here"))


def test_columns_that_are_null_in_all_rows_are_named_with_their_fields():
    inner = pa.struct([("x", pa.int64()), ("y", pa.string())])
    schema = pa.schema([("a", pa.int64()), ("b", inner), ("c", inner), ("d", pa.list_(inner))])
    nulls = Nulls(schema)
    for a, b in ((None, None), (None, {"x": None, "y": "text"})):
        rows = [{"a": a, "b": b, "c": None, "d": []}] * 2
        nulls.add(pa.RecordBatch.from_pylist(rows, schema))
    assert nulls.left == ["a", "b.x", "c"]
    filled = [{"a": 1, "b": {"x": 0}, "c": {}, "d": None}, {"a": None, "b": None}]
    nulls.add(pa.RecordBatch.from_pylist(filled, schema))
    assert nulls.left == ["c.x", "c.y"]
