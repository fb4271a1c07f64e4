"""A fifth dataset is one new folder; no other file changes."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from parley.build import build
from parley.collection import Dataset, discover, folders
from parley.errors import ScriptError
from parley.source.files import open_source

# Reads plain text: two lines that begin with the same id are one dialogue.
SCRIPT = '''"""Chatter: two invented greetings, a line of plain text a turn, `id: what is said`."""

from parley import Builder, Config, Converted, File


def turn(value):
    """Check a line."""
    if ": " not in value:
        raise ValueError("an id, a colon and what is said")


LINES = File(
    "chatter.txt",
    turn,
    url="https://example.org/chatter.txt",
    sha256="0" * 64,
    read="lines",
)


def dialogues(sources):
    found = {}
    for line in sources["chatter.txt"]:
        found.setdefault(line.split(": ")[0], []).append(line)
    for name, lines in found.items():
        yield {"id": name, "lines": lines}


def to_row(record):
    turns = [line.partition(": ")[2] for line in record["lines"]]
    return {"id": record["id"], "turns": turns}


def to_record(row):
    return {"id": row["id"], "lines": [f"{row['id']}: {turn}" for turn in row["turns"]]}


DIALOGUE = Converted(
    {"id": str, "lines": [turn]}, {"id": str, "turns": [str]}, to_row, to_record
)


class Chatter(Builder):
    """Two invented greetings."""

    VERSION = "0.1.0"
    HOMEPAGE = "https://example.org/chatter"
    LICENSE = "cc0-1.0"
    CITATION = "@misc{chatter}"
    CONFIGS = [
        Config(
            "dialogues",
            "all greetings",
            {"train": [LINES]},
            key="id",
            records=dialogues,
            shape=DIALOGUE,
        )
    ]
'''
CARD = """---
license: cc0-1.0
pretty_name: Chatter
---
# Chatter

<!-- parley: generated from here -->
<!-- parley: generated to here -->
"""
SAMPLE = "one: Hi!\none: Hello.\ntwo: Is anybody there?\n"


@pytest.fixture
def more(tmp_path):
    folder = tmp_path / "more" / "chatter"
    (folder / "sample").mkdir(parents=True)
    (folder / "chatter.py").write_text(SCRIPT)
    (folder / "README.md").write_text(CARD)
    (folder / "sample" / "chatter.txt").write_text(SAMPLE)
    return folder.parent


def run(*args, cwd, more):
    return subprocess.run(
        [sys.executable, "-m", "parley", *args],
        cwd=cwd,
        env={**os.environ, "PARLEY_DATASETS": str(more)},
        capture_output=True,
        text=True,
    )


def change(more, old, new, file="chatter.py"):
    path = more / "chatter" / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_a_folder_alone_adds_a_dataset(tmp_path, more):
    listed = json.loads(run("list", "--json", cwd=tmp_path, more=more).stdout)
    assert "chatter" in [dataset["name"] for dataset in listed]
    done = run("build", "chatter", "--sample", cwd=tmp_path, more=more)
    assert done.returncode == 0, done.stderr
    done = run("verify", "chatter", cwd=tmp_path, more=more)
    assert done.returncode == 0, done.stdout
    shown = run("show", "chatter", "two", cwd=tmp_path, more=more)  # with no transcript.py: as JSON
    assert '"id": "two"' in shown.stdout, shown.stderr

    import datasets

    folder = str(tmp_path / "build" / "chatter")
    rows = datasets.load_dataset(folder, split="train", cache_dir=str(tmp_path / "cache"))
    assert next(iter(rows)) == {"id": "one", "turns": ["Hi!", "Hello."]}


def test_a_module_of_the_folder_is_executed_once(more):
    """By the script, by another module, or by its name."""
    (more / "chatter" / "marks.py").write_text("import os\nclass Mark: pass\n")
    (more / "chatter" / "checks.py").write_text("from . import marks\n")
    change(
        more, "from parley import Builder", "from .marks import Mark\nfrom parley import Builder"
    )
    change(more, '    VERSION = "0.1.0"', '    MARK = Mark\n    VERSION = "0.1.0"')
    dataset, again = (Dataset("chatter", more / "chatter") for _ in range(2))
    assert dataset.checks.marks is dataset.load_module("marks")
    assert dataset.builder.MARK is dataset.load_module("marks").Mark
    assert again.builder is dataset.builder


TRANSCRIPT = """from parley.transcript import Transcript, Turn

CONFIGS = ("dialogues",)


def transcript(row):
    return Transcript("Chatter " + row["id"], turns=[Turn("somebody", t) for t in row["turns"]])


def facets(row):
    return {"turns": len(row["turns"])}
"""


def test_a_fifth_dataset_has_its_page(tmp_path, more):
    """Its fields, and with a transcript.py its dialogues and filters."""
    run("build", "chatter", "--sample", cwd=tmp_path, more=more)

    def data(script):
        done = run("site", "chatter", cwd=tmp_path, more=more)
        assert done.returncode == 0, done.stderr
        text = (tmp_path / "site" / "chatter" / "data" / script).read_text(encoding="utf-8")
        return json.loads(json.loads(re.search(r'".*"', text)[0]))

    assert data("0.js")[0] == {"before": [["id", "one"], ["turns", "Hi!\nHello."]]}
    (more / "chatter" / "transcript.py").write_text(TRANSCRIPT)
    turns = [{"speaker": 0, "text": "Hi!"}, {"speaker": 0, "text": "Hello."}]
    assert data("0.js")[0] == {"speakers": ["somebody"], "turns": turns}
    index = data("index.js")
    assert index["titles"] == ["Chatter one", "Chatter two"]
    codes = [[1], [0]]
    assert index["filters"] == [
        {"name": "turns", "labels": ["1", "2"], "codes": codes, "many": False}
    ]


BREAKS = {
    "goes around the reader": (
        'for line in sources["chatter.txt"]:',
        'for line in ["one: Hi!"]:',
        "chatter.txt: not read to its end",
    ),
    "fails": (
        "    turns = [line",
        "    record['nothing']\n    turns = [line",
        "chatter.py fails:\n  KeyError: 'nothing'",
    ),
    "has a pin without a hash": (
        '    sha256="0" * 64,\n',
        "",
        "line 12: File('chatter.txt'):\n  expected one of sha256 and git_blob, found none",
    ),
    "names a source that there is not": (
        'sources["chatter.txt"]',
        'sources["other.txt"]',
        "chatter.py fails:\n  KeyError: 'other.txt'",
    ),
    "has no shape for its records": ("            shape=DIALOGUE,\n", "", "shape: requires"),
    "has no licence": ('LICENSE = "cc0-1.0"', "", "Chatter:\n  LICENSE: expected text, found ''"),
}


@pytest.mark.parametrize(("old", "new", "message"), BREAKS.values(), ids=list(BREAKS))
def test_a_broken_script_is_reported(tmp_path, more, old, new, message):
    change(more, old, new)
    with pytest.raises(ScriptError) as error:
        build(open_source(Dataset("chatter", more / "chatter"), None, sample=True), tmp_path)
    assert message in str(error.value)
    assert not (tmp_path / "chatter").exists()


TRANSCRIPTS = {
    "fails": (
        "CONFIGS = ('dialogues',)\ndef transcript(row): return row['nothing']",
        "chatter/transcript.py fails on this row (KeyError: 'nothing')",
    ),
    "gives something else": (
        "CONFIGS = ('dialogues',)\ndef transcript(row): return row",
        "(TypeError: expected a Transcript, found {",
    ),
    "gives no text": (
        "from parley.transcript import Transcript, Turn\nCONFIGS = ('dialogues',)\n"
        "def transcript(row): return Transcript('a', turns=[Turn('b', None)])",
        "(TypeError: turns[0].text: expected text, found None)",
    ),
}


@pytest.mark.parametrize(("text", "message"), TRANSCRIPTS.values(), ids=list(TRANSCRIPTS))
def test_a_broken_transcript_is_reported(tmp_path, more, text, message):
    (more / "chatter" / "transcript.py").write_text(text)
    done = run("show", "chatter", "--sample", cwd=tmp_path, more=more)
    assert done.returncode == 1
    assert message in done.stderr
    assert "Traceback" not in done.stderr


CARDS = {
    "licences that are a list": ("cc0-1.0", "[cc0-1.0, mit]", 0, "cc0-1.0, mit"),
    "configs that are null": ("pretty_name: Chatter", "configs: null", 1, "configs: expected a"),
    "a config without files": (
        "pretty_name: Chatter",
        "configs: [{config_name: dialogues}]",
        1,
        "configs[0].data_files: missing",
    ),
    "a tag that its value does not fit": ("Chatter", "!!bool maybe", 1, "not valid YAML"),
}


@pytest.mark.parametrize(("old", "new", "status", "message"), CARDS.values(), ids=list(CARDS))
def test_an_unusual_card_is_listed_or_reported(tmp_path, more, old, new, status, message):
    change(more, old, new, "README.md")
    if status == 0:
        front = 'configs: [{config_name: dialogues, data_files: [{split: train, path: "x"}]}]'
        change(more, "pretty_name", f"{front}\npretty_name", "README.md")
    done = run("list", "chatter", cwd=tmp_path, more=more)
    assert done.returncode == status, done.stderr
    assert message in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_two_datasets_of_one_name_are_refused(tmp_path, more):
    (more / "chatter").rename(more / "casino")
    (more / "casino" / "chatter.py").rename(more / "casino" / "casino.py")
    done = run("list", cwd=tmp_path, more=more)
    assert done.returncode == 2
    assert "two datasets are named casino" in done.stderr


def test_the_tool_names_no_dataset():
    root = Path(__file__).parent.parent
    files = [*(root / "parley").rglob("*.py"), root / "pyproject.toml", root / "hatch_build.py"]
    assert len(files) > 30
    for file in files:
        text = file.read_text(encoding="utf-8").lower()
        assert not [name for name in discover() if name in text], file


def test_a_dataset_folder_shadows_nothing_of_the_standard_library():
    for home in folders():
        for path in home.glob("*/*.py"):
            if path.parent.name in discover():
                assert path.stem not in sys.stdlib_module_names, path
