"""Kills, full disks and parallel builds leave either the old or the new build, byte for byte.

The next build removes all other remains. test_killed_commands.py kills builds at random moments.
"""

import json
import os
import random
import shutil
import signal
import time
from itertools import product

import generate
import pytest
from build_changes import everything

from parley.base.errors import OutputError
from parley.base.replace import write_whole
from parley.builds.build import build
from parley.builds.sources import Sources, open_source
from parley.declaration.registry import get
from parley.page.site import write_site
from parley.read.queries import write
from parley.read.sql import builds_in, connect

MISSING = sorted(set(get("cosrec").sources) - {generate.RAW})
PREPARE = """
import datasets, json
from pathlib import Path
from parley.builds.build import build
from parley.declaration.registry import get
from parley.builds.sources import Sources
dataset = get("cosrec")
dataset.builder, dataset.read_card()
"""
JOB = """build(
                Sources(dataset, Path(arguments[0]), missing=json.loads(arguments[1])),
                Path(arguments[2]),
            )"""


def visible(folder):
    return {name: body for name, body in everything(folder).items() if not name.startswith(".")}


def two_sources(place, dialogues):
    made = []
    for seed in (1, 2):
        folder = generate.write(place / f"source-{seed}", dialogues, seed)
        build(Sources(get("cosrec"), folder, missing=MISSING), place / f"built-{seed}")
        made.append((folder, json.dumps(MISSING), everything(place / f"built-{seed}")))
    assert made[0][2].keys() == made[1][2].keys()
    assert made[0][2] != made[1][2]
    return made


# Ends the process before its n-th operation on a file: open, make, move, remove, exchange
KILL_AT = """
import os, signal, sys
def kill_at(number, out):
    def audit(event, details):
        nonlocal number
        if event in ("os.remove", "ctypes.dlsym") or (
            event in ("open", "os.mkdir", "os.rename", "os.rmdir") and out in str(details[0])
        ):
            number -= 1
            if number == 0:
                os.kill(os.getpid(), signal.SIGKILL)
    sys.addaudithook(audit)
"""


def test_killed_before_each_operation_on_a_file(tmp_path, forks):
    """The exchange is too quick for a random moment, so count file operations."""
    (old, missing, before), (new, _, after) = two_sources(tmp_path, 20)
    building = forks(PREPARE + KILL_AT, f"kill_at(int(arguments[3]), arguments[2]); {JOB}")
    out = tmp_path / "out"
    outcomes = []
    for number in range(1, 1000):
        building.start(old, missing, out, 0)  # also clears what the last one left
        assert building.wait() == 0
        assert everything(out) == before
        building.start(new, missing, out, number)
        status = building.wait()
        found = visible(out)
        assert found in (before, after, {})
        outcomes.append("old" if found == before else "new" if found else "none")
        if not found:  # between the two renames; the next build puts it back
            assert len(list(out.glob(".cosrec.parley-*/content/earlier/provenance.json"))) == 1
        if status == 0:
            break
        assert status == -signal.SIGKILL
    assert everything(out) == after
    assert outcomes == sorted(outcomes, reverse=True)  # "none" at most once
    assert outcomes.count("none") <= 1
    assert outcomes.count("old") > 5
    assert outcomes.count("new") > 5


def leave_room(disk, room):
    """Fill a disk up to some bytes."""
    with (disk / "filler").open("wb", buffering=0) as filler:
        filler.write(bytes(max(0, shutil.disk_usage(disk).free - room)))


def test_a_full_disk(small_disk, sample_build, monkeypatch):
    """Under a build, a file as measured.json, a site, results of a query and temporary files."""
    source = open_source(get("casino"), None, sample=True)
    build(source, small_disk / "out")
    write_whole(small_disk / "measured.json", "old")
    folders, before = builds_in(sample_build), everything(small_disk)
    monkeypatch.setattr("tempfile.tempdir", str(small_disk))
    with connect([]) as connection:
        query = "select * from range(100_000)"
        fill = [
            lambda: connect(folders),
            lambda: build(source, small_disk / "out"),
            lambda: write_whole(small_disk / "measured.json", "new" * 30_000),
            lambda: write_site(folders, small_disk / "site"),
            lambda: write(connection, query, small_disk / "a.parquet"),
            lambda: write(connection, query, small_disk / "a.csv"),
        ]
        for room, each in product((0, 4096, 8192, 50_000), fill):
            leave_room(small_disk, room)
            with pytest.raises(OutputError, match=f"^{small_disk}"):
                each()
            (small_disk / "filler").unlink()
            assert everything(small_disk) == before


def test_two_builds_at_once_of_which_one_is_killed(tmp_path, forks):
    (old, missing, before), (new, _, after) = two_sources(tmp_path / "sources", 300)
    first, second = forks(PREPARE, JOB), forks(PREPARE, JOB)
    draw, out, trials = random.Random(24), tmp_path / "out", 5
    for _ in range(trials):
        child = first.start(old, missing, out)
        time.sleep(draw.random() / 10)
        second.start(new, missing, out)
        time.sleep(draw.random() / 10)
        os.kill(child, signal.SIGKILL)
        assert first.wait() in (0, -signal.SIGKILL)
        assert second.wait() == 0
        assert visible(out) in (before, after)
    second.start(new, missing, out)
    assert second.wait() == 0
    assert everything(out) == after
