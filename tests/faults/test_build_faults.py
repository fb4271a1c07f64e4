"""What no kill and no full disk may do to a built folder, and two builds at once.

What stood there stays, byte for byte, or the new folder stands there whole; the next build leaves
nothing else beside it.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import generate
import pytest

from parley.build import build
from parley.collection import Dataset, get
from parley.errors import OutputError
from parley.source.files import Source, open_source

MISSING = sorted(set(get("cosrec").sources) - {generate.RAW})
PREPARE = """
import json
from pathlib import Path
from parley.build import build
from parley.collection import get
from parley.source.files import Source
dataset = get("cosrec")
dataset.builder, dataset.read_card()
"""
JOB = """build(
                Source(dataset, Path(arguments[0]), missing=json.loads(arguments[1])),
                Path(arguments[2]),
            )"""


def content(folder):
    """Return every file and folder by its name, with the bytes of files."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


def visible(folder):
    return {name: body for name, body in content(folder).items() if not name.startswith(".")}


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """Two sources of a thousand dialogues, and what is built from each."""
    return two_sources(tmp_path_factory.mktemp("sources"), 1000)


@pytest.fixture(scope="module")
def small_sources(tmp_path_factory):
    """The same with few dialogues."""
    return two_sources(tmp_path_factory.mktemp("sources"), 20)


@pytest.fixture(scope="module")
def large_sources(tmp_path_factory):
    """The same with as many as take workers some tenths of a second."""
    return two_sources(tmp_path_factory.mktemp("sources"), 10_000)


def two_sources(place, dialogues):
    made = []
    for seed in (1, 2):
        folder = generate.write(place / f"source-{seed}", dialogues, seed)
        build(Source(get("cosrec"), folder, missing=MISSING), place / f"built-{seed}")
        made.append((folder, json.dumps(MISSING), content(place / f"built-{seed}")))
    assert made[0][2].keys() == made[1][2].keys()
    assert made[0][2] != made[1][2]
    return made


def test_killed_at_random_moments(sources, tmp_path, forks, tally):
    (old, missing, before), (new, _, after) = sources
    building = forks(PREPARE, JOB)
    building.start(old, missing, tmp_path / "out")
    assert building.wait() == 0
    start = time.perf_counter()
    building.start(new, missing, tmp_path / "whole")
    assert building.wait() == 0
    whole = time.perf_counter() - start
    draw = random.Random(21)
    statuses, stood = [], before
    for number in range(20):
        child = building.start(new, missing, tmp_path / "out")
        time.sleep(whole * (number + draw.random()) / 20)
        os.kill(child, signal.SIGKILL)
        statuses.append(building.wait())
        found = visible(tmp_path / "out")
        assert found in ([after] if stood == after or statuses[-1] == 0 else [before, after])
        stood = found
    assert set(statuses) <= {0, -signal.SIGKILL}
    assert -signal.SIGKILL in statuses
    building.start(new, missing, tmp_path / "out")
    assert building.wait() == 0
    assert content(tmp_path / "out") == after
    tally("build killed", len(statuses))


def runs(process):
    """Tell whether a process runs; one that has ended may wait to be asked for its status."""
    try:
        return ") Z " not in Path(f"/proc/{process}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_killed_while_others_make_its_rows(large_sources, tmp_path, forks, tally):
    """The processes end with the one that started them, and leave nothing to the next build."""
    (old, missing, before), (new, _, after) = large_sources
    prepare = PREPARE + "from parley.rows import workers\nworkers.PART = 50_000\n"
    building = forks(prepare, JOB.replace("Path(arguments[2]),", "Path(arguments[2]), workers=2,"))
    building.start(old, missing, tmp_path / "out")
    assert building.wait() == 0
    assert content(tmp_path / "out") == before
    draw = random.Random(24)
    while_shared = 0
    for _ in range(20):
        child = building.start(new, missing, tmp_path / "out")
        children = Path(f"/proc/{child}/task/{child}/children")
        deadline = time.monotonic() + 10
        while len(children.read_text().split()) < 2:
            assert time.monotonic() < deadline, "no workers"
            time.sleep(0.001)
        time.sleep(draw.random() / 10)
        workers = children.read_text().split()
        os.kill(child, signal.SIGKILL)
        while_shared += building.wait() == -signal.SIGKILL and len(workers) == 2
        assert visible(tmp_path / "out") in (before, after)
        deadline = time.monotonic() + 10
        while any(map(runs, workers)):
            assert time.monotonic() < deadline, "a worker goes on"
            time.sleep(0.01)
    assert while_shared > 10
    building.start(new, missing, tmp_path / "out")
    assert building.wait() == 0
    assert content(tmp_path / "out") == after
    tally("build killed while workers make its rows", while_shared)


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


def test_killed_before_each_operation_on_a_file(small_sources, tmp_path, forks, tally):
    """The exchange takes no time that a random moment would meet, so the moments are counted."""
    (old, missing, before), (new, _, after) = small_sources
    building = forks(PREPARE + KILL_AT, f"kill_at(int(arguments[3]), arguments[2]); {JOB}")
    out = tmp_path / "out"
    outcomes = []
    for number in range(1, 1000):
        building.start(old, missing, out, 0)  # also clears what the last one left
        assert building.wait() == 0
        assert content(out) == before
        building.start(new, missing, out, number)
        status = building.wait()
        found = visible(out)
        assert found in (before, after)
        outcomes.append("old" if found == before else "new")
        if status == 0:
            break
        assert status == -signal.SIGKILL
    assert content(out) == after
    assert outcomes == sorted(outcomes, reverse=True)  # "old" until the exchange, then "new"
    assert outcomes.count("old") > 5
    assert outcomes.count("new") > 5
    tally("build killed before a file operation", len(outcomes) - 1)


def test_a_full_disk(sample_build, small_disk, tally):
    """Builds a sample onto a disk with ever less room, in processes that pyarrow might end."""
    source = open_source(get("casino"), None, sample=True)
    subprocess.run(["mount", "-o", "remount,size=900k", str(small_disk)], check=True, timeout=20)
    build(source, small_disk / "out")
    before = content(small_disk / "out")
    filler = small_disk / "filler"
    program = (
        "import shutil, sys; from pathlib import Path; from parley.build import build\n"
        "from parley.collection import get; from parley.errors import OutputError\n"
        "from parley.source.files import open_source\n"
        "source = open_source(get('casino'), None, sample=True)\n"
        "for line in sys.stdin:\n"
        "    room, filler, out = int(line), Path(sys.argv[1], 'filler'), Path(sys.argv[1], 'out')\n"
        "    filler.unlink(missing_ok=True)\n"
        "    with filler.open('wb', buffering=0) as file:\n"
        "        file.write(bytes(max(0, shutil.disk_usage(filler).free - room)))\n"
        "    try:\n"
        "        build(source, out)\n"
        "    except OutputError as error:\n"
        "        print(error, flush=True)\n"
        "    else:\n"
        "        print('built', flush=True)\n"
    )
    draw = random.Random(22)
    rooms = [0, 4096, 8192, *(draw.randrange(200_000) for _ in range(17)), 500_000]
    done = subprocess.run(
        [sys.executable, "-c", program, small_disk],
        input="".join(f"{room}\n" for room in rooms),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    *failed, last = done.stdout.splitlines()
    assert last == "built"
    for line in failed:
        assert "the disk is full. What stood in" in line
    assert len(failed) == 20
    assert content(small_disk / "out") == before
    filler.unlink()
    assert [path.name for path in small_disk.iterdir()] == ["out"]
    tally("full disk under a build", len(failed))


def copy_of_casino(place):
    """Return a dataset of the test's own, whose card is to be renewed."""
    folder = Path(shutil.copytree(get("casino").folder, place / "casino"))
    with (folder / "README.md").open("a", encoding="utf-8") as card:
        card.write("\nAnd more.\n")
    return Dataset("casino", folder)


def update(dataset, output):
    """Build with `--update-cards` from the sample, as if it were the upstream files."""
    build(Source(dataset, dataset.sample), output, update_card=True)


def test_a_card_is_renewed_in_one_step(tmp_path):
    own = copy_of_casino(tmp_path / "own")
    before = own.read_card()
    with own.card.open(encoding="utf-8") as reader:
        update(own, tmp_path / "out")
        assert reader.read() == before  # who reads it meanwhile reads all of the old one
    assert own.read_card() != before


def test_a_full_disk_under_a_card(small_disk, tmp_path, tally):
    subprocess.run(["mount", "-o", "remount,size=1m", str(small_disk)], check=True, timeout=20)
    roomy = copy_of_casino(tmp_path)
    update(roomy, tmp_path / "out")
    after = content(roomy.folder)
    own = copy_of_casino(small_disk)
    before = content(own.folder)
    size = len(before["README.md"])
    rooms = [0, 4096, size // 2, size - 4096]
    for room in rooms:
        with (small_disk / "filler").open("wb", buffering=0) as filler:
            filler.write(bytes(shutil.disk_usage(small_disk).free - room))
        full = r"(README\.md|measured\.json).*: the disk is full\. What stood in"
        with pytest.raises(OutputError, match=full):
            update(own, tmp_path / "out")
        (small_disk / "filler").unlink()
        found = content(own.folder)
        assert found.keys() == before.keys()
        assert found["README.md"] == before["README.md"]
        assert all(found[name] in (before[name], after[name]) for name in before)
    update(own, tmp_path / "out")
    assert content(own.folder) == after
    tally("full disk under a card that is renewed", len(rooms))


def test_two_builds_at_once(sources, tmp_path, forks, tally):
    (old, missing, before), (new, _, after) = sources
    first, second = forks(PREPARE, JOB), forks(PREPARE, JOB)
    draw = random.Random(23)
    for number in range(3):
        out = tmp_path / str(number)
        first.start(old, missing, out)
        time.sleep(draw.random() / 10)
        second.start(new, missing, out)
        assert [first.wait(), second.wait()] == [0, 0]
        assert content(out) in (before, after)
    tally("two builds at once", 3)


def test_one_of_two_is_killed_and_the_other_completes(sources, tmp_path, forks, tally):
    (old, missing, _), (new, _, after) = sources
    first, second = forks(PREPARE, JOB), forks(PREPARE, JOB)
    draw = random.Random(24)
    for _ in range(5):
        child = first.start(old, missing, tmp_path)
        time.sleep(draw.random() / 10)
        second.start(new, missing, tmp_path)
        time.sleep(draw.random() / 10)
        os.kill(child, signal.SIGKILL)
        first.wait()
        assert second.wait() == 0
        found = content(tmp_path)
        assert found.keys() == after.keys()
        assert found in (after, sources[0][2])
    tally("two builds at once, one killed", 5)
