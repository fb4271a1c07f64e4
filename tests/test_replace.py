import os
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest

from parley.base.errors import OutputError
from parley.base.replace import replacing, write_whole
from parley.base.temporary import MARK as OF_COMMANDS
from parley.base.temporary import temporary_folder

MARK = "made.json"


def fill(folder, text):
    with replacing(folder, MARK) as staging:
        (staging / MARK).write_text(text)


def test_a_folder_is_made_and_then_replaced_whole(tmp_path):
    fill(tmp_path / "deep" / "er" / "out", "one")
    (tmp_path / "deep/er/out/left over").write_text("from the first")
    fill(tmp_path / "deep" / "er" / "out", "two")
    assert [p.name for p in (tmp_path / "deep/er/out").iterdir()] == [MARK]
    assert (tmp_path / "deep/er/out" / MARK).read_text() == "two"
    assert [p.name for p in (tmp_path / "deep/er").iterdir()] == ["out"]


def test_an_error_leaves_what_was_there(tmp_path):
    fill(tmp_path / "out", "one")

    def fail():
        with replacing(tmp_path / "out", MARK) as staging:
            (staging / MARK).write_text("two")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert (tmp_path / "out" / MARK).read_text() == "one"
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("name", ["out/thesis.tex", "out"])
def test_what_others_made_is_not_overwritten(tmp_path, name):
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("years of work")
    with pytest.raises(OutputError, match="was not made by parley"):
        fill(tmp_path / "out", "one")
    assert (tmp_path / name).read_text() == "years of work"


def test_a_full_disk(tmp_path):
    fill(tmp_path / "out", "one")
    with (
        pytest.raises(OutputError, match=r"the disk is full\. What stood in .* is unchanged"),
        replacing(tmp_path / "out", MARK),
        open("/dev/full", "w") as full,
    ):
        full.write("no room" * 10_000)
    assert (tmp_path / "out" / MARK).read_text() == "one"


def test_without_an_atomic_exchange_too(tmp_path, monkeypatch):
    monkeypatch.setattr("parley.base.replace.ctypes.CDLL", lambda *_, **__: object())
    fill(tmp_path / "out", "one")
    fill(tmp_path / "out", "two")
    assert (tmp_path / "out" / MARK).read_text() == "two"
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


CUT = """
import os, pathlib, signal, sys
from parley.base import replace
replace.ctypes.CDLL = lambda *_, **__: object()
renamed = pathlib.Path.rename
def rename(self, target):
    if self.name in {names}:
        {between}
    return renamed(self, target)
pathlib.Path.rename = rename
with replace.replacing(pathlib.Path(sys.argv[1]), "made.json") as staging:
    (staging / "made.json").write_text("two")
"""
ERROR = "raise OSError(5, 'Input/output error')"
BETWEEN = {
    "an error": (["new"], ERROR),
    "an error, and it cannot be undone": (["new", "earlier"], ERROR),
    "an interrupt": (["new"], "raise KeyboardInterrupt"),
    "a kill": (["new"], "os.kill(os.getpid(), signal.SIGKILL)"),
}


@pytest.mark.parametrize("what", BETWEEN)
def test_a_move_that_was_cut_in_two_is_undone(what, tmp_path):
    """Where two folders cannot be exchanged in one step."""
    target = tmp_path / "out"
    fill(target, "one")
    names, between = BETWEEN[what]
    program = CUT.format(names=names, between=between)
    done = subprocess.run([sys.executable, "-c", program, target], capture_output=True, timeout=60)
    assert done.returncode != 0
    if what in ("an error", "an interrupt"):
        assert (target / MARK).read_text() == "one"
        assert [p.name for p in tmp_path.iterdir()] == ["out"]
    else:
        assert (tmp_path / ".out.parley" / "earlier" / MARK).read_text() == "one"
    with pytest.raises(RuntimeError), replacing(target, MARK):  # the next run, of whatever outcome
        raise RuntimeError
    assert (target / MARK).read_text() == "one"
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


PLACES = (".", "..", "{}", "../link", "/")  # {} is its own path


@pytest.mark.parametrize("mark", [MARK, ""])
@pytest.mark.parametrize("place", PLACES)
def test_the_current_folder_is_not_replaced(place, mark, tmp_path, monkeypatch):
    """A shell would be left in a folder that is gone."""
    current = tmp_path / "out" / "inner"
    current.mkdir(parents=True)
    (tmp_path / "out" / "link").symlink_to(current)
    (tmp_path / "out" / MARK).touch()
    monkeypatch.chdir(current)
    with (
        pytest.raises(OutputError),
        replacing(Path(place.format(current)), mark) as staging,
    ):
        (staging / MARK).write_text("two")
    assert Path.cwd().samefile(current)
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["inner", "link", MARK, "out"]


OF_A_FOLDER = """
import sys, pathlib
from parley.base.replace import replacing
for turn in range(int(sys.argv[2])):
    with replacing(pathlib.Path(sys.argv[1]), "made.json") as staging:
        for name in (*range(20), "made.json"):
            (staging / f"{name}").write_text(f"{turn}")
"""
OF_A_FILE = """
import sys, pathlib
from parley.base.replace import write_whole
for turn in range(int(sys.argv[2])):
    write_whole(pathlib.Path(sys.argv[1]), f"{turn:5}" * 10_000)
"""


def is_whole(target):
    """Tell whether one turn has written all of it."""
    if target.is_dir():
        texts = [path.read_text() for path in target.iterdir()]
        return texts == texts[:1] * 21
    text = target.read_text()
    return text == text[:5] * 10_000


@pytest.mark.parametrize("program", [OF_A_FOLDER, OF_A_FILE], ids=["a folder", "a file"])
def test_two_writers_wait_for_each_other(program, tmp_path):
    command = [sys.executable, "-c", program, tmp_path / "out", "60"]
    processes = [subprocess.Popen(command, stderr=subprocess.PIPE) for _ in range(2)]
    for process in processes:
        assert process.communicate(timeout=60)[1] == b""
        assert process.returncode == 0
    assert is_whole(tmp_path / "out")
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


WRITERS = {"a folder": fill, "a file": write_whole}


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
def test_hidden_files_of_others_beside_the_target_stay(tmp_path, write):
    """Whatever their names: the workplace of a target has a mark."""
    for name in (".out.partial", ".out.earlier", ".out.part", ".out.parley/thesis.tex"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("years of work")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(OutputError, match=r"\.out\.parley: was not made by parley"):
        write(tmp_path / "out", "one")
    assert sorted(tmp_path.rglob("*")) == before
    (tmp_path / ".out.parley").rename(tmp_path / "mine")
    write(tmp_path / "out", "one")
    write(tmp_path / "out", "two")
    texts = [path.read_text() for path in tmp_path.rglob("*") if path.is_file()]
    assert sorted(texts) == ["two", *["years of work"] * 4]


LINKS = {"the workplace": ".out.parley", "in the workplace": ".out.parley/new"}


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
@pytest.mark.parametrize("link", LINKS.values(), ids=LINKS)
def test_no_link_in_the_workplace_is_followed(tmp_path, write, link):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/thesis.tex").write_text("years of work")
    if link != ".out.parley":
        (tmp_path / ".out.parley").mkdir()
        (tmp_path / ".out.parley" / OF_COMMANDS).touch()
    (tmp_path / link).symlink_to(tmp_path / "mine")
    with suppress(OutputError):
        write(tmp_path / "out", "one")
    assert (tmp_path / "mine/thesis.tex").read_text() == "years of work"


LEFT = """
import os, signal
from parley.base.temporary import MARK as OF_COMMANDS
from parley.base.temporary import temporary_folder
with temporary_folder("publish") as place:
    (place / "file").write_text("some")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_temporary_folder_of_a_killed_run_is_removed_by_the_next(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "parley-publish-notours1").mkdir()
    (tmp_path / "parley-publish-notours1" / "file").write_text("a person's")
    (tmp_path / "parley-publish-unmarked").mkdir()  # killed before the mark
    (tmp_path / "parley-publish-linked_1").symlink_to(tmp_path / "parley-publish-notours1")
    for _ in range(2):
        subprocess.run([sys.executable, "-c", LEFT], env={**os.environ, "TMPDIR": str(tmp_path)})
        assert len(list(tmp_path.glob("*/*/file"))) == 1
    with temporary_folder("publish") as used:
        assert len(list(tmp_path.glob("*/*/file"))) == 0
        (used / "file").write_text("mine")
        with temporary_folder("publish") as other:  # leaves alone what is in use
            assert other != used
            assert (used / "file").read_text() == "mine"
    assert {path.name[15:] for path in tmp_path.iterdir()} == {"notours1", "linked_1"}
