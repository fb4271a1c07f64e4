"""The columns that a shape gives for many records are those of their rows, or none."""

import os
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest
from hub import contents
from mutations import nodes

from parley import Checked, Converted
from parley.building.build import build
from parley.building.registry import discover
from parley.building.rows import write
from parley.building.rows.arrow import to_batch
from parley.building.rows.split import plan
from parley.building.rows.write import batch_of, to_columns
from parley.building.upstream import at_hand, open_source
from parley.schema.shapes import parse

TRIED = 5_000  # damaged records
REAL = os.environ.get("PARLEY_SOURCE")
SOURCES = [
    source
    for dataset in discover().values()
    for source in (
        open_source(dataset, None, sample=True),
        at_hand(dataset, Path(REAL)) if REAL else None,
    )
    if source
]
PLANS = [
    pytest.param(each, id=f"{source.folder.name} {each.where}")
    for source in SOURCES
    for each in plan(source)
    if to_columns(each)
]
assert PLANS  # without a shape that gives columns, nothing is compared
TEXTS = ("", "\n", " ", "U", ":", "U: ", "S: ", "\nU: ", "\nS:", "\r", "\0", "é", "👍", "\nU: \n")


def require_the_same(plan, records):
    """Fail unless the columns of records are those of their rows, or none; tell which."""
    columns = None
    with suppress(AttributeError, TypeError, ValueError):  # a build then goes on by rows
        columns = to_columns(plan)(records)
    if columns is not None:
        assert all(map(plan.files[0].node.fits, records))
        due = to_batch(list(plan.config.to_rows(records)), plan.schema)
        assert [columns[name] for name in plan.schema.names] == due.columns
    return columns is not None


@pytest.mark.parametrize("planned", PLANS)
def test_columns_are_those_of_the_rows(planned):
    """Of every record, and of damaged ones that still fit their shape; of the others are none."""
    draw, records, refused = Random(0), list(planned.records()), 0
    assert all(require_the_same(planned, [record]) for record in records[:3])
    require_the_same(planned, records)
    due = to_batch(list(planned.config.to_rows(records)), planned.schema)
    assert batch_of(planned, to_columns(planned), records).equals(due)
    for number in range(TRIED):
        record = damaged(records[number % len(records)], draw)
        refused += not require_the_same(planned, [record, records[number % 7 % len(records)]])
    assert refused > TRIED // 4


def damaged(record, draw):
    """Return a record with one value of another type, a key more or less, or another text."""
    way, value = draw.choice([(way, value) for way, value in nodes(record) if way])
    if draw.random() < 0.1:
        return draw.choice(([], {}, {**record, "more": value}, value, None))
    if not isinstance(value, str) or draw.random() < 0.1:
        value = draw.choice((None, 5, True, 0.5, [value], {"key": value}))
    else:
        start = draw.randrange(len(value) + 1)
        stop = min(len(value), start + draw.randrange(4))
        if draw.random() < 0.5:  # at a line's beginning
            start = stop = value.find("\n", start) + 1
            stop += draw.randrange(5)
        value = value[:start] + draw.choice(TEXTS) + value[stop:]
    return changed(record, way, value)


def changed(record, way, value):
    """Return a copy of a record with another value at a path of keys."""
    key, *rest = way
    inner = changed(record[key], rest, value) if rest else value
    return {**record, key: inner} if isinstance(record, dict) else inner


def test_a_build_without_columns_writes_the_same_bytes(tmp_path, monkeypatch):
    source = next(each for each in SOURCES if each.dataset.name == "cosrec")
    for folder in ("fast", "slow"):
        build(source, tmp_path / folder)
        monkeypatch.setattr(write, "to_columns", lambda plan: None)
    assert contents(tmp_path / "fast") == contents(tmp_path / "slow")


def test_a_checked_shape_gives_no_columns_that_would_pass_by_its_check():
    shape = Converted({"id": str}, {"id": str}, dict, dict, to_columns=lambda records: {})
    assert parse(shape).conversion().to_columns
    assert parse(Checked(shape, lambda record: None)).conversion().to_columns is None
