"""A fifth dataset is one new folder and not a changed line elsewhere."""

import json
import os
import subprocess
import sys

import pytest

SCRIPT = '''
"""Chatter: two invented greetings."""

import json
import os

import datasets

SOURCES = {"chatter.json": {"url": "https://example.org/chatter.json", "sha256": "0" * 64}}
SPLITS = {"dialogues": {"train": "chatter.json"}}
CHATTER = {"id": str, "turns": [str]}
FEATURES = {
    "dialogues": datasets.Features(
        {"id": datasets.Value("string"), "turns": [datasets.Value("string")]}
    )
}


class Chatter(datasets.GeneratorBasedBuilder):
    VERSION = datasets.Version("0.1.0")
    DEFAULT_CONFIG_NAME = "dialogues"
    BUILDER_CONFIGS = [datasets.BuilderConfig("dialogues", VERSION)]
    loads = staticmethod(json.loads)

    def _info(self):
        return datasets.DatasetInfo(features=FEATURES["dialogues"], license="cc0-1.0")

    def _split_generators(self, dl_manager):
        path = os.path.join(self.config.data_dir, "chatter.json")
        return [datasets.SplitGenerator(name="train", gen_kwargs={"path": path})]

    def _generate_examples(self, path):
        return self.records(path)

    def records(self, path):
        for record in self.read(path, CHATTER):
            yield record["id"], record

    def read(self, path, shape):
        with open(path, "rb") as file:
            return self.loads(file.read())


TO_RECORD = {"dialogues": lambda row: row}
'''
CARD = """---
license: cc0-1.0
pretty_name: Chatter
---
# Chatter

<!-- parley: generated from here -->
<!-- parley: generated to here -->
"""


@pytest.fixture
def more(tmp_path):
    folder = tmp_path / "more" / "chatter"
    (folder / "sample").mkdir(parents=True)
    (folder / "chatter.py").write_text(SCRIPT)
    (folder / "README.md").write_text(CARD)
    records = [{"id": "one", "turns": ["Hi!", "Hello."]}, {"id": "two", "turns": []}]
    (folder / "sample" / "chatter.json").write_text(json.dumps(records))
    return folder.parent


def run(*args, cwd, more):
    return subprocess.run(
        [sys.executable, "-m", "parley", *args],
        cwd=cwd,
        env={**os.environ, "PARLEY_DATASETS": str(more)},
        capture_output=True,
        text=True,
    )


def test_a_fifth_folder_is_all_it_takes(tmp_path, more):
    listed = json.loads(run("list", "--json", cwd=tmp_path, more=more).stdout)
    assert "chatter" in [dataset["name"] for dataset in listed]
    done = run("build", "chatter", "--sample", cwd=tmp_path, more=more)
    assert done.returncode == 0, done.stderr
    shown = run("show", "chatter", "two", cwd=tmp_path, more=more)  # with no transcript.py: as JSON
    assert '"id": "two"' in shown.stdout, shown.stderr

    import datasets

    folder = str(tmp_path / "build" / "chatter")
    rows = datasets.load_dataset(folder, split="train", cache_dir=str(tmp_path / "cache"))
    assert next(iter(rows)) == {"id": "one", "turns": ["Hi!", "Hello."]}


def test_two_datasets_of_one_name_are_refused(tmp_path, more):
    (more / "chatter").rename(more / "casino")
    (more / "casino" / "chatter.py").rename(more / "casino" / "casino.py")
    done = run("list", cwd=tmp_path, more=more)
    assert done.returncode == 2
    assert "two datasets are named casino" in done.stderr


def test_the_tool_names_no_dataset():
    from pathlib import Path

    import parley
    from parley.collection import discover

    home = Path(parley.__file__).parent
    files = [*home.rglob("*.py"), home.parent / "pyproject.toml", home.parent / "hatch_build.py"]
    for file in files:
        text = file.read_text(encoding="utf-8").lower()
        assert not [name for name in discover() if name in text], file
