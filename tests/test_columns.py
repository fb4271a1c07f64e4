"""The columns that a shape gives for many records are those of their rows, or none."""

from contextlib import suppress

from hub import contents
from hypothesis import given, settings
from hypothesis import strategies as st

from parley import Checked, Converted
from parley.builds.build import build
from parley.declaration.registry import get
from parley.rows import splits as write
from parley.rows.arrow import to_batch
from parley.rows.splits import batch_of, plan, to_columns
from parley.rows.upstream import open_source
from parley.schema.shapes import parse

SAMPLE = open_source(get("cosrec"), None, sample=True)
PLAN = next(each for each in plan(SAMPLE) if to_columns(each))  # of the one shape with columns
PARTS = ("\n", " ", "U", ":", "U: ", "S: ", "\nU: ", "\nS: x", "\nS:", "\r", "\0", "é", "👍")
LINES = st.lists(st.sampled_from(PARTS), max_size=9).map("".join)
TEXT = st.builds("{}{}".format, st.sampled_from(("U: a", "S: é", "")), LINES)
VALUE = TEXT | st.sampled_from((None, 5, True, 0.5, [], ["U: a"], {"U: a": "U: a"}))
RECORD = st.dictionaries(st.sampled_from("ab"), TEXT, min_size=1, max_size=1)
ODD = st.dictionaries(st.sampled_from("ab"), VALUE, max_size=2) | VALUE


def test_columns_are_those_of_the_rows():
    """Of every record, and of damaged ones that still fit their shape; of the others are none."""
    found = []

    @settings(max_examples=400)
    @given(st.lists(RECORD, min_size=1, max_size=3), st.lists(ODD, max_size=1))
    def holds(records, odd):
        records = odd + records
        columns = None
        with suppress(AttributeError, TypeError, ValueError):  # a build then goes on by rows
            columns = to_columns(PLAN)(records)
        found.append(columns is not None)
        if columns is not None:
            assert all(map(PLAN.files[0].node.fits, records))
            due = to_batch(list(map(PLAN.config.to_row, records)), PLAN.schema)
            assert [columns[name] for name in PLAN.schema.names] == due.columns

    holds()
    assert found.count(True) > 10
    assert found.count(False) > 10
    records = list(PLAN.records())
    assert all(to_columns(PLAN)([record]) for record in records)
    due = to_batch(list(map(PLAN.config.to_row, records)), PLAN.schema)
    assert batch_of(PLAN, to_columns(PLAN), records).equals(due)


def test_a_build_without_columns_writes_the_same_bytes(tmp_path, monkeypatch):
    for folder in ("fast", "slow"):
        build(SAMPLE, tmp_path / folder)
        monkeypatch.setattr(write, "to_columns", lambda plan: None)
    assert contents(tmp_path / "fast") == contents(tmp_path / "slow")


def test_a_checked_shape_gives_no_columns_that_would_pass_by_its_check():
    shape = Converted({"id": str}, {"id": str}, dict, dict, to_columns=lambda records: {})
    assert parse(shape).conversion().to_columns
    assert parse(Checked(shape, lambda record: None)).conversion().to_columns is None
