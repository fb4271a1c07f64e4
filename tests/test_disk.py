import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from build_changes import everything
from catalogue_files import PRODUCT, REVIEW

from parley.base.errors import OutputError
from parley.base.replace import MARK as OF_COMMANDS
from parley.base.replace import replacing, temporary_folder, write_whole, writing

MARK = "made.json"


def ours(folder):
    return [MARK, "of the first"]


def fill(folder, text):
    with replacing(folder, ours) as staging:
        (staging / MARK).write_text(text)


def test_a_folder_is_made_and_then_replaced_whole_or_not_at_all(tmp_path):
    out = tmp_path / "deep" / "er" / "out("
    fill(out, "one")
    (out / "of the first").write_text("one")
    (out / "empty").mkdir()
    fill(out, "two")
    with pytest.raises(ZeroDivisionError), replacing(out, ours) as staging:
        (staging / MARK).write_text(f"{1 / 0}")
    assert [p.name for p in out.iterdir()] == [MARK]
    assert (out / MARK).read_text() == "two"
    assert [p.name for p in out.parent.iterdir()] == ["out("]


def put(folder, **files):
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def test_what_others_put_there_keeps_the_folder(tmp_path):
    put(tmp_path, **{"mine/notes": "years of work"})
    out = tmp_path / "out"
    out.write_text("years of work")
    with pytest.raises(OutputError):
        fill(out, "one")
    out.unlink()
    fill(out, "one")
    (out / "of the first").symlink_to(tmp_path / "mine")  # a listed name
    fill(out, "two")
    (out / "more").symlink_to(tmp_path / "mine")
    with pytest.raises(OutputError):
        fill(out, "three")
    (out / "more").unlink()
    with pytest.raises(OutputError), replacing(out, ours):
        put(tmp_path, **{"out/notes": "of a long build"})
    names = sorted(path.name for path in tmp_path.rglob("*"))
    assert names == [MARK, "mine", "notes", "notes", "out"]
    assert (out / MARK).read_text() == "two"


# command -> the folder that it makes, and whether a second run replaces it
MAKING = {
    "build casino --sample --build made": ("made/casino", True),
    "site casino --build built -o made": ("made", True),
    "export casino csv --build built": ("casino-csv", False),
    "charts casino --build built": ("casino-charts", False),
    "new tea made": ("made/tea", False),
    "run cosrec catalogue --input raw --output made": ("made", True),
}
FORGED = [  # marks of other programs
    ("site.json", {}), ("site.json", {"parley": "2", "datasets": {}, "files": None}),
    ("provenance.json", {"tool": "other"}),
    ("provenance.json", {"job": "cosrec catalogue", "given": {}, "categories": {}}),
]  # fmt: skip


@pytest.fixture
def here(tmp_path, sample_build, monkeypatch):
    """The current folder: a build, and raw files."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "built").symlink_to(sample_build)
    raw = {"meta_categories/meta_A.jsonl": PRODUCT, "review_categories/A.jsonl": REVIEW}
    put(tmp_path / "raw", **{file: json.dumps(record) for file, record in raw.items()})
    return tmp_path


@pytest.mark.parametrize("command", MAKING)
def test_no_command_replaces_a_file_that_it_did_not_write(command, here, run):
    place, is_replaced = MAKING[command]
    for name, mark in FORGED:
        put(here / place, **{name: json.dumps(mark), "thesis.tex": "years of work"})
        before = everything(here)
        assert run(*command.split()).returncode != 0
        assert everything(here) == before
        (here / place / name).unlink()
    (here / place / "thesis.tex").unlink()
    (here / place).rmdir()
    assert run(*command.split()).returncode == 0
    made = everything(here / place)
    put(here / place, **{".git/HEAD": "ref", "notes/draft.ipynb": "{}"})
    before = everything(here)
    again = run(*command.split())
    kept = {path: text for path, text in everything(here).items() if path in before}
    assert kept.keys() == before.keys()
    if "catalogue" not in command:  # which adds to its folder
        assert again.returncode != 0
        assert everything(here) == before
    for name in (".git/HEAD", ".git", "notes/draft.ipynb", "notes"):
        path = here / place / name
        path.rmdir() if path.is_dir() else path.unlink()
    assert (run(*command.split()).returncode == 0) == is_replaced
    assert everything(here / place).keys() == made.keys()


LABELS = "dialogue_id,turn,labels\n2001,0,small-talk\n"
_SCORE = "score casino beliefs --baseline uniform --save-predictions"


@pytest.mark.parametrize(
    "command",
    ["sql select(1) -o a.csv", "labels casino strategies own.csv -o a.csv",
     f"{_SCORE} a.csv", f"{_SCORE} b.jsonl --chart a.csv.svg",
     "questions casino outcomes --output a.csv"],
)  # fmt: skip
def test_a_file_is_replaced_only_if_asked(command, here, run):
    put(here, **{"own.csv": LABELS})
    words = [*command.split(), "--build", "built"]
    assert run(*words).returncode == 0
    out = here / words[-3]
    made = out.read_bytes()
    out.write_text("mine")
    assert run(*words).returncode == 1
    assert out.read_text() == "mine"
    (here / "b.jsonl").unlink(missing_ok=True)
    out.chmod(0o600)
    assert run(*words, "--overwrite").returncode == 0
    assert (out.read_bytes(), out.stat().st_mode & 0o777) == (made, 0o600)


@pytest.mark.parametrize(
    "command",
    ["sql from(own) --with own.csv -o linked.csv",
     "labels casino strategies own.csv -o linked.csv",
     "score casino beliefs own.svg --chart folder/../own.svg",
     f"{_SCORE} own.svg --chart folder/../own.svg", f"{_SCORE} new.svg --chart folder/../new.svg",
     f"{_SCORE} own.svg --ids folder/own.svg",
     "questions casino outcomes -o own.svg --ids folder/own.svg",
     "sql select(1)", "sql select(1) -o folder"],
)  # fmt: skip
def test_neither_an_input_nor_another_output_is_replaced(command, here, run):
    put(here, **{"own.csv": LABELS, "own.svg": "2001", "folder/mine": ""})
    os.link(here / "own.csv", here / "linked.csv")
    (here / "folder/own.svg").symlink_to(here / "own.svg")
    before = everything(here)
    assert run(*command.split(), "--overwrite", "--build", "built").returncode in (1, 2)
    assert everything(here) == before


def test_a_file_that_appears_meanwhile_is_not_replaced(tmp_path):
    with pytest.raises(OutputError), writing(out := tmp_path / "out", overwrite=False):
        out.write_text("mine")
    assert out.read_text() == "mine"


def test_neither_a_catalogue_nor_the_cache_stands_in_a_build(here, run):
    shutil.copytree(here / "built/casino", here / "made/casino")
    (here / "link").symlink_to("made/casino")
    before = everything(here)
    for place in ("made/casino", "made/casino/deep/er", "link/within"):
        job = f"run cosrec catalogue --input raw --output {place}"
        assert run(*job.split()).returncode != 0
        assert run("fetch", "casino", PARLEY_CACHE=place).returncode != 0
    assert everything(here) == before


def test_a_build_of_another_dataset_is_not_replaced(here, run):
    assert run("build", "duo", "--sample", "--build", "made").returncode == 0
    (here / "made/duo").rename(here / "made/casino")
    before = everything(here)
    assert run(*["build", "casino", "--sample", "--build", "made"]).returncode != 0
    assert everything(here) == before


CUT = """
import os, pathlib, signal, sys
from parley.base import replace
renamed = pathlib.Path.rename
def rename(self, target):
    if self.name in {names}:
        {between}
    return renamed(self, target)
pathlib.Path.rename = rename
with replace.replacing(pathlib.Path(sys.argv[1]), lambda folder: ["made.json"]) as staging:
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
        (earlier,) = tmp_path.glob(".out.parley-*/content/earlier")
        assert (earlier / MARK).read_text() == "one"
    with pytest.raises(RuntimeError), replacing(target, ours):  # the next run, of whatever outcome
        raise RuntimeError
    assert (target / MARK).read_text() == "one"
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("place", [".", "..", "{}", "../link", "/"])  # {} is its own path
def test_the_current_folder_is_not_replaced(place, tmp_path, monkeypatch):
    """A shell would be left in a folder that is gone."""
    current = tmp_path / "out" / "inner"
    current.mkdir(parents=True)
    (tmp_path / "out" / "link").symlink_to(current)
    (tmp_path / "out" / MARK).touch()
    monkeypatch.chdir(current)
    with pytest.raises(OutputError), replacing(Path(place.format(current)), ours) as staging:
        (staging / MARK).write_text("two")
    assert Path.cwd().samefile(current)
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["inner", "link", MARK, "out"]


def test_where_the_current_folder_is_gone_another_is_replaced(tmp_path, monkeypatch):
    (tmp_path / "current").mkdir()
    monkeypatch.chdir(tmp_path / "current")
    (tmp_path / "current").rmdir()
    fill(tmp_path / "out", "one")
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("write", [fill, write_whole])
def test_hidden_files_of_others_beside_the_target_stay(tmp_path, write):
    """Whatever their names: the folder of a killed command has a mark, which no link gives."""
    names = (".out.partial", ".out.earlier", ".out.parley/thesis", ".out.parley-12345678/thesis")
    put(tmp_path, **dict.fromkeys(names, "years of work"), **{f"mine/{OF_COMMANDS}": "mine"})
    (tmp_path / ".out.parley-abcdefgh").symlink_to(tmp_path / "mine")
    before = everything(tmp_path)
    write(tmp_path / "out", "one")
    write(tmp_path / "out", "two")
    assert {path: text for path, text in everything(tmp_path).items() if path in before} == before


def test_a_link_to_a_file_stays(tmp_path):
    put(tmp_path, **{"mine/file": "one"})
    (tmp_path / "link").symlink_to("mine/file")
    write_whole(tmp_path / "link", "two")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "mine/file").read_text() == "two"


LEFT = """
import os, signal
from parley.base.replace import MARK as OF_COMMANDS
from parley.base.replace import temporary_folder
with temporary_folder("publish") as place:
    (place / "file").write_text("some")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_temporary_folder_of_a_killed_run_is_removed_by_the_next(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "parley-publish-notours1").mkdir()
    (tmp_path / "parley-publish-notours1" / "file").write_text("a person's")
    (tmp_path / "parley-publish-linked_1").symlink_to(tmp_path / "parley-publish-notours1")
    (tmp_path / "parley-publish-unmarked").mkdir()  # of a run that was killed before it had a mark
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
