"""Several processes make the same bytes or the same error as one process."""

import json
import os
import signal
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import generate
import pytest

from parley.base.errors import RecordError
from parley.building.build import build
from parley.building.built import PROVENANCE
from parley.building.collection import get
from parley.building.plan import plan
from parley.building.sources import Sources, open_source
from parley.rows import workers, write
from parley.rows.reader import Reader

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux uses several processes")
MISSING = sorted(set(get("cosrec").sources) - {generate.RAW})


@pytest.fixture
def small_parts(monkeypatch):
    """Cut small files into parts of a few lines."""
    monkeypatch.setattr(workers, "PART", 10_000)
    monkeypatch.setattr(workers, "SLOT", 200_000)


@pytest.fixture
def require_sharing(monkeypatch):
    """Return a function that makes builds fail if one process makes rows it could share."""

    def fail(plan):
        assert not workers.shareable(plan), "made in one process"
        return generated(plan)

    generated = write.generate
    return lambda: monkeypatch.setattr(write, "generate", fail)


def source_of(folder, lines):
    path = folder / "source" / generate.RAW
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(lines))
    return Sources(get("cosrec"), folder / "source", missing=MISSING)


def lines_of(dialogues):
    return [json.dumps(line) + "\n" for line in generate.conversations(dialogues)]


def content(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*.*")}


def children():
    """Return the child processes except the resource tracker of multiprocessing."""
    started = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return [
        c for c in started if b"resource_tracker" not in Path(f"/proc/{c}/cmdline").read_bytes()
    ]


def long_line(number, size):
    return json.dumps({f"long_{number}": "U: " + "x" * size}) + "\n"


SHAPES = {
    "many parts, no newline at the end": [*lines_of(300)[:-1], lines_of(300)[-1].rstrip("\n")],
    "long lines": [long_line(0, 45_000), *lines_of(40), long_line(1, 10_000), long_line(2, 35_000)],
    # lines end at a multiple of 10,000, one before and one after
    "lines that end where parts do": [
        long_line(n, 10_000 + more - len(long_line(n, 0)))
        for n, more in enumerate((0, -1, 2, -1, 0, 0, 1))
    ],
}


@pytest.mark.parametrize("shape", SHAPES)
def test_any_number_of_workers_writes_the_same_bytes(shape, tmp_path, small_parts, require_sharing):
    source = source_of(tmp_path, SHAPES[shape])
    due = build(source, tmp_path / "0")
    require_sharing()
    for count in (1, 3, 40):
        progress = []
        made = build(source, tmp_path / str(count), lambda *at: progress.append(at), workers=count)  # noqa: B023
        assert [(s.digest, s.files) for s in made] == [(s.digest, s.files) for s in due]
        assert progress == sorted(progress)
        assert ("cosrec dialogues/raw", len(SHAPES[shape])) in progress
        assert content(tmp_path / str(count)) == content(tmp_path / "0")
        assert children() == []


DAMAGES = {
    "a line that is no JSON": {400: "{]\n"},
    "a record of another shape": {3: '{"id": 5}\n', 650: '{"id": "no turn"}\n'},
    "an id that comes twice, in other parts": {699: lines_of(1)[0]},
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_any_number_of_workers_raises_the_same_error(damage, tmp_path, small_parts):
    lines = lines_of(700)
    for number, line in DAMAGES[damage].items():
        lines[number] = line
    source = source_of(tmp_path, lines)
    errors = []
    for count in (0, 3):
        with pytest.raises(RecordError) as error:
            build(source, tmp_path / "build", workers=count)
        errors.append(str(error.value))
        assert list((tmp_path / "build").iterdir()) == []
        assert children() == []
    assert errors == errors[:1] * 2
    for number in DAMAGES[damage]:
        assert f"line {number + 1}" in errors[0]


@pytest.mark.slow
@pytest.mark.parametrize("what", ["is killed", "hangs", "has no room"])
def test_a_worker_that_fails_costs_only_time(what, tmp_path, small_parts, monkeypatch):
    source = source_of(tmp_path, lines_of(700))
    build(source, tmp_path / "0")
    if what == "has no room":
        monkeypatch.setattr(workers, "SLOT", 1000)  # less than any part needs
    if what == "hangs":
        monkeypatch.setattr(workers, "LONGEST", 1)
    failed = tmp_path / "failed"

    def failing(batches, *arguments):
        for batch in batches(*arguments):
            if "CoSRec-Raw_350" in batch.column(0).to_pylist():
                failed.touch()
                os.kill(os.getpid(), signal.SIGKILL if what == "is killed" else signal.SIGSTOP)
            yield batch

    if what != "has no room":
        for name in ("to_batches", "column_batches"):
            monkeypatch.setattr(workers, name, partial(failing, getattr(workers, name)))
    lost = []

    def share(*arguments):
        try:
            yield from shared(*arguments)
        except workers.Lost:
            lost.append(True)
            raise

    shared = workers.share
    monkeypatch.setattr(workers, "share", share)
    build(source, tmp_path / "3", workers=3)
    assert lost == [True]
    assert failed.exists() == (what != "has no room")
    assert content(tmp_path / "3") == content(tmp_path / "0")
    assert children() == []


def test_a_failed_build_ends_its_workers(tmp_path, small_parts):
    source = source_of(tmp_path, lines_of(700))

    def interrupt(_, rows):
        if rows > 100:
            assert len(children()) == 2
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as error:
        build(source, tmp_path / "build", interrupt, workers=2)
    assert children() == [], error  # although the error keeps the generators alive
    assert list((tmp_path / "build").iterdir()) == []


def test_a_small_file_starts_no_process(tmp_path, monkeypatch):
    monkeypatch.setattr(workers, "share", None)
    build(source_of(tmp_path, lines_of(100)), tmp_path / "build", workers=2)
    assert (tmp_path / "build" / "cosrec" / PROVENANCE).exists()


def shared(source, monkeypatch):
    """Return the plans of the splits that processes would share if their files were large."""
    monkeypatch.setattr(workers, "PART", 0)
    return [each for each in plan(source) if workers.shareable(each)]


def test_rows_from_several_lines_are_not_shared(monkeypatch):
    source = open_source(get("cosrec"), None, sample=True)
    assert {each.config.name for each in shared(source, monkeypatch)} == {"dialogues", "qrels"}


def test_each_line_of_a_shared_file_gives_its_rows_alone(dataset, tmp_path, monkeypatch):
    source = open_source(dataset, None, sample=True)
    for each in shared(source, monkeypatch):
        (file,) = each.files
        due = list(each.keyed_rows())
        path = source.folder / file.path
        part, made = tmp_path / path.name, []
        for line in path.read_bytes().removesuffix(b"\n").split(b"\n"):
            part.write_bytes(line + b"\n")
            made += replace(each, reader=Reader(tmp_path, {file.path: part})).keyed_rows()
        assert made == due
