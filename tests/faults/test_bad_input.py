"""A damaged file is rejected with an error that names the place, or nothing in it is lost.

Three outcomes are allowed. `rejected`: the error names file, record or line and, if a parser can
know it, the field. `harmless`: records and rows are unchanged. `kept`: the rows give back the
damaged records exactly, and the dataset's documents allow such records.
"""

import json
import re
import shutil
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest
import trial
from subjects import SUBJECTS
from trial import EACH, HARMLESS, KEPT, KINDS, REJECTED, judged, trials

from parley import shapes
from parley.build import build
from parley.collection import get
from parley.errors import ParleyError, Problem
from parley.rows import reader
from parley.rows.reader import Reader
from parley.source.files import Source

OUTCOMES = (REJECTED, HARMLESS, KEPT)


def require_fair(name, source, each, record=lambda kind, cell: None):
    """Damage files in each kind and record the outcomes; fail if one is unfair."""
    counts, unfair = Counter(), []
    for kind, outcome in judged(get(name), source, each):
        if isinstance(outcome, Exception):
            unfair.append(str(outcome))
            outcome = "unfair"
        counts[kind, outcome] += 1
        counts["all", outcome] += 1
    for kind in (*KINDS, "all"):
        shown = (*OUTCOMES, "unfair") if counts[kind, "unfair"] else OUTCOMES
        record(kind, " / ".join(str(counts[kind, outcome]) for outcome in shown))
    assert not unfair, f"{len(unfair)} unfair, such as:\n" + "\n".join(unfair[:5])
    for kind in KINDS:
        assert sum(counts[kind, outcome] for outcome in OUTCOMES) == each
    assert counts["all", HARMLESS]
    assert counts["all", KEPT]


@pytest.mark.parametrize("name", SUBJECTS)
def test_damaged_samples(name):
    require_fair(name, get(name).sample, 12)


@pytest.mark.parametrize("name", SUBJECTS)
def test_damaged_real_files(name, source, record_property):
    def record(kind, cell):
        record_property(f"damage: {kind}", f"{name}: {cell}")

    require_fair(name, source / name, EACH, record)


@pytest.mark.parametrize("name", SUBJECTS)
def test_a_build_ends_as_the_trial_does(name, tmp_path):
    """A whole build, including its writing, agrees with the trial."""
    dataset = get(name)
    seen = set()
    for tested in trials(dataset, dataset.sample, 1):
        for kind in ("key added", "CRLF", "very long text", "broken reference", "empty list"):
            mutant = tested.mutant(kind)
            outcome = tested.judge(mutant)
            (tested.folder / mutant.file).write_bytes(mutant.content)
            error = error_of_build(tested.source, tmp_path)
            (tested.folder / mutant.file).write_bytes(tested.content(mutant.file))
            assert bool(error) == (outcome == REJECTED)
            assert not error or mutant.is_named(error)
            seen.add(outcome)
    assert len(seen) > 1


@pytest.mark.parametrize("value", ["null", "7", '"text"'])
@pytest.mark.parametrize("name", SUBJECTS)
def test_a_file_of_no_records_is_named(name, value, tmp_path):
    dataset = get(name)
    files = [path for path in dataset.sample.rglob("*.json*") if path.is_file()]
    for file in files:
        folder = Path(shutil.copytree(dataset.sample, tmp_path / "source"))
        named = file.relative_to(dataset.sample).as_posix()
        (folder / named).write_text(value)
        error = error_of_build(Source(dataset, folder), tmp_path / "out")
        assert re.search(rf"^ *{re.escape(named)}(, line 1)?: expected ", error, re.MULTILINE), (
            error
        )
        shutil.rmtree(folder)
    assert files


def error_of_build(source, output):
    try:
        build(source, output)
    except ParleyError as error:
        return str(error)
    return ""


def unfair_ones(name, kinds, monkeypatch):
    monkeypatch.setattr(trial, "KINDS", kinds)
    outcomes = [outcome for _, outcome in judged(get(name), get(name).sample, 12)]
    return " ".join(str(outcome) for outcome in outcomes if isinstance(outcome, Exception))


def lenient_rows(rows, schema, where):
    """Convert rows as `datasets` does: missing is null, unknown is dropped, "7" is 7."""
    return pa.RecordBatch.from_pylist(rows, schema)


def test_the_trial_sees_accepted_json_that_python_alone_lets_pass(monkeypatch):
    monkeypatch.setattr(reader, "loads", json.loads)
    assert "accepted, though it is excluded" in unfair_ones(
        "casino", ("duplicate JSON key",), monkeypatch
    )


def test_the_trial_sees_lost_fields(monkeypatch):
    strict = reader.problems

    def knowing_no_unknown_field(value, shape, path=""):
        return (p for p in strict(value, shape, path) if "unknown field" not in p.what)

    monkeypatch.setattr(reader, "problems", knowing_no_unknown_field)
    monkeypatch.setattr(trial, "to_batch", lenient_rows)
    assert "with changed data" in unfair_ones("casino", ("key added",), monkeypatch)


def test_the_trial_sees_errors_without_field_or_record(monkeypatch):
    monkeypatch.setattr(shapes, "_problem", lambda path, expected, value: Problem("", expected))
    assert "vague error" in unfair_ones("duo", ("wrong type", "unknown label"), monkeypatch)
    monkeypatch.setattr(Reader, "explain", lambda self, error: Problem("data", what=str(error)))
    assert "vague error" in unfair_ones("cosrec", ("duplicate id",), monkeypatch)
