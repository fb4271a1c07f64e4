"""A fifth dataset is one new folder; no other file changes."""

import sys
from pathlib import Path

import pytest

from parley.authoring.starting.new import write_skeleton
from parley.building.registry import Dataset, discover, folders


@pytest.fixture
def more(tmp_path, monkeypatch):
    """A folder of one dataset, tea, which is a skeleton."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PARLEY_DATASETS", str(tmp_path / "more"))
    return write_skeleton("tea", tmp_path / "more").parent


def change(more, old, new, file="tea.py"):
    path = more / "tea" / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_a_module_of_the_folder_is_executed_once(more):
    """By the script, by another module, or by its name."""
    (more / "tea" / "marks.py").write_text("import os\nclass Mark: pass\n")
    (more / "tea" / "checks.py").write_text("from . import marks\n")
    change(more, "from parley import", "from .marks import Mark\nfrom parley import")
    change(more, "    VERSION =", "    MARK = Mark\n    VERSION =")
    dataset, again = (Dataset("tea", more / "tea") for _ in range(2))
    assert dataset.checks.marks is dataset.load_module("marks")
    assert dataset.builder.MARK is dataset.load_module("marks").Mark
    assert again.builder is dataset.builder


CHECK = """
from parley.figures import check
@check
def odd(data):
    yield 3
"""
ROWS = "ROWS = {'dialogues': {'train': 'few'}}\n"
LAYOUT = "CONFIGS = ('dialogues',)\ndef transcript(row): return row['nothing']"
ODD_MODULES = [
    ("figures.py", "a", ROWS, "list", "ROWS.dialogues.train: "),
    ("checks.py", "a", CHECK, "verify", "found 3"),
    ("transcript.py", "w", LAYOUT, "show", "tea/transcript.py"),
]


@pytest.mark.parametrize(("file", "mode", "text", "command", "said"), ODD_MODULES)
def test_what_a_module_gives_in_another_form_is_named(more, run, file, mode, text, command, said):
    with (more / "tea" / file).open(mode) as module:
        module.write(text)
    run("build", "tea", "--sample")
    status, out, err = run(command, "tea")
    assert status == 1
    assert said in out + err


CARDS = {
    "licences that are a list": ("cc-by-4.0", "[cc-by-4.0, mit]", 0, "cc-by-4.0"),
    "a title that is a list": ("Tea", "[Tea]", 1, "pretty_name: "),
    "a tag that its value does not fit": ("Tea", "!!bool maybe", 1, "tea/README.md"),
}


@pytest.mark.parametrize(("old", "new", "status", "message"), CARDS.values(), ids=list(CARDS))
def test_an_unusual_card_is_listed_or_reported(more, run, old, new, status, message):
    change(more, old, new, "README.md")
    found, out, err = run("list", "tea")
    assert found == status, err
    assert message in out + err


def test_two_datasets_of_one_name_are_refused(more, run):
    (more / "tea").rename(more / "casino")
    (more / "casino" / "tea.py").rename(more / "casino" / "casino.py")
    status, _, err = run("list")
    assert status == 2
    assert "casino" in err


def test_the_tool_names_no_dataset():
    root = Path(__file__).parent.parent
    examples = root / "parley" / "__init__.py"  # those of public functions take real ones
    files = [*{*(root / "parley").rglob("*.py")} - {examples}]
    files += [root / "pyproject.toml", root / "hatch_build.py"]
    assert len(files) > 30
    for file in files:
        text = file.read_text(encoding="utf-8").lower()
        assert not [name for name in discover() if name in text], file


def test_a_dataset_folder_shadows_nothing_of_the_standard_library():
    for home in folders():
        for path in home.glob("*/*.py"):
            if path.parent.name in discover():
                assert path.stem not in sys.stdlib_module_names, path
