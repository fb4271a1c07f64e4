"""What version 1.0.0 wrote: a dataset of one's own, its build and predictions.

`version_1` is chatter of its docs/adding.md, with a question for the task; all was made by 1.0.0.
"""

import json
import re
import shutil
from pathlib import Path

import pytest

from parley.base.errors import ScriptError
from parley.base.modules import load_module

OLD = Path(__file__).with_name("version_1")


@pytest.fixture
def place(tmp_path):
    """A copy of the dataset's folder and of its build."""
    shutil.copytree(OLD, tmp_path / "old")
    return tmp_path / "old"


def adapt(path):
    """Do what each refusal of a module says, until it is imported."""
    while True:
        try:
            load_module("chatter", path.parent, path.stem)
            return
        except ScriptError as error:
            moved = re.search(r"(\w+) is in parley\.\w+: (from .+ import \w+)", error.message)
            if not moved:
                raise
        name, line = moved.groups()
        before, old, after = path.read_text().partition("from parley import ")
        names, end, rest = after.partition("\n")
        kept = [each for each in names.split(", ") if each and each != name]
        text = f"{line}\n{before}{old * bool(kept)}{', '.join(kept)}{end}{rest}"
        path.write_text(re.sub(rf"\bparley\.{name}\b", name, text) if not old else text)


def test_what_1_0_0_wrote_is_read_once_names_are_where_messages_say(place, run):
    old, home = place / "datasets/chatter", {"PARLEY_DATASETS": place / "datasets"}
    tasks, text = old / "tasks.py", (old / "tasks.py").read_text()
    for words in (  # so did those of readers and references
        ('reader(read_number, "rating", 1, 5)', "reader(rating=number_from(1, 5))"),
        ("import read_number,", "import number_from,"),
        ('"middle", {"error": "2.0"}, MEASURED', '"middle"'),
        ("import MEASURED, ", "import "),
    ):
        text = text.replace(*words)
    tasks.write_text(text)
    for path in old.glob("*.py"):
        adapt(path)
    scored = "score", "chatter", "rating", "--build", place / "build"
    done = run(*scored, OLD / "predictions.jsonl", **home)
    assert re.search(r"^this +2.000$", done.stdout, re.M), done
    done = run("show", "chatter", "3", "--build", place / "build", **home)
    assert "kettle lantern meadow" in done.stdout, done

    card, build = old / "README.md", ("build", "chatter", "--sample", "--build", place / "new")
    refused = run(*build, **home)
    (parts,) = re.findall(r"Use (.*): `", refused.stderr)
    mark = "<!-- parley: {} from here -->\n<!-- parley: {} to here -->\n"
    marks = "".join(mark.format(part, part) for part in parts.split(", "))
    card.write_text(card.read_text().replace(mark.format("generated", "generated"), marks))
    assert run(*build, **home).returncode == 0
    before, after = (
        json.loads((place / folder / "chatter/provenance.json").read_text())["configs"]
        for folder in ("build", "new")
    )
    for config in before:
        assert before[config]["train"]["digest"] == after[config]["train"]["digest"]
