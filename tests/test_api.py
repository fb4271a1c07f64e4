"""The functions for programs: `parley.datasets`, `load`, `open` and `score`."""

import json
import subprocess
import sys

import pytest

import parley
from parley.collection import discover, get
from parley.errors import OutputError, SourceError, UsageError
from parley.folder.built import open_folder


def test_import_parley_loads_no_heavy_package():
    program = (
        "import sys, parley\n"
        "heavy = {'datasets', 'pyarrow', 'typer', 'rich', 'requests', 'numpy', 'yaml'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
        "from parley import CHAT, Config, File, Folder, View, datasets, load, open, score\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.splitlines() == ["[]", "[]"], done.stderr
    assert not hasattr(parley, "nothing")
    assert parley.datasets() == list(discover())


@pytest.fixture
def more(monkeypatch, tmp_path):
    """Add a dataset whose cache already has its upstream file."""
    from parley.starting.new import write_skeleton

    monkeypatch.chdir(tmp_path)
    folder = write_skeleton("tea", tmp_path / "more")
    monkeypatch.setenv("PARLEY_DATASETS", str(tmp_path / "more"))
    monkeypatch.setenv("PARLEY_CACHE", str(tmp_path / "cache"))
    cached = tmp_path / "cache" / "tea" / "dialogues.jsonl"
    cached.parent.mkdir(parents=True)
    cached.write_bytes((folder / "sample" / "dialogues.jsonl").read_bytes())
    return folder


def test_load_builds_once_into_the_cache(more, tmp_path):
    every = parley.load("tea")
    assert {split: rows.num_rows for split, rows in every.items()} == {"train": 2}
    rows = parley.load("tea", split="train")
    assert rows.features == get("tea").features("dialogues")
    assert [row["id"] for row in rows] == ["s1", "s2"]
    assert parley.load("tea", "messages", "train").column_names[0] == "id"
    (built,) = (tmp_path / "cache").rglob("provenance.json")
    state = built.stat().st_mtime_ns
    parley.load("tea")
    assert built.stat().st_mtime_ns == state
    assert not (tmp_path / "build").exists()
    (tmp_path / "cache" / "tea" / "dialogues.jsonl").unlink()
    assert parley.load("tea", split="train").num_rows == 2


def test_load_ignores_builds_of_the_sample_or_another_version(more, tmp_path, monkeypatch):
    from parley.build import build
    from parley.source.files import open_source

    build(open_source(get("tea"), None, sample=True), tmp_path / "build")
    monkeypatch.setattr("parley.api._cached", lambda name: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        parley.load("tea")
    place = tmp_path / "build" / "tea" / "provenance.json"
    provenance = json.loads(place.read_text()) | {"sample": False}
    place.write_text(json.dumps(provenance))
    assert parley.load("tea", split="train").num_rows == 2
    place.write_text(json.dumps(provenance | {"version": "0.9.0"}))
    with pytest.raises(ZeroDivisionError):
        parley.load("tea")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("tee",), "no dataset is named 'tee'"),
        (("tea", "chats"), "tea has no config 'chats'; there are: dialogues, messages"),
        (("tea", "messages", "test"), "tea has no split of messages 'test'; there are: train"),
    ],
)
def test_load_names_the_choices(more, args, message):
    with pytest.raises(UsageError, match=message):
        parley.load(*args)


def test_load_refuses_damaged_files(more, tmp_path, monkeypatch):
    (tmp_path / "cache" / "tea" / "dialogues.jsonl").write_text("")
    monkeypatch.setattr("parley.source.fetch.fetch", lambda *_, **__: None)
    with pytest.raises(SourceError, match=r"dialogues\.jsonl: size expected 423"):
        parley.load("tea")


def test_open_returns_a_build(sample_build, tmp_path):
    for place in (sample_build / "casino", str(sample_build / "casino")):
        assert parley.open(place).rows("dialogues", "train")
    with pytest.raises(OutputError):
        parley.open(tmp_path)


def test_score_takes_a_folder_and_predictions_or_a_baseline(sample_build, tmp_path):
    folder = sample_build / "casino"
    task, declared = next(iter(get("casino").tasks.items()))
    baseline = next(iter(declared.baselines))
    due = parley.score(folder, task, baseline=baseline).as_dict()
    assert due["metrics"]
    built = open_folder(folder)
    assert parley.score(built, task, baseline=baseline).as_dict() == due
    predictions = list(declared.baselines[baseline](built))
    file = tmp_path / "predictions.jsonl"
    file.write_text("".join(f"{json.dumps(each)}\n" for each in predictions))
    for given in (predictions, iter(predictions), file, str(file)):
        assert parley.score(built, task, given).as_dict()["metrics"] == due["metrics"]
    for args, options, message in (
        (("nothing",), {"baseline": baseline}, "casino has no task 'nothing'"),
        ((task,), {"baseline": "nothing"}, "no baseline 'nothing'"),
        ((task,), {"baseline": baseline, "colour": "red"}, "colour"),
        ((task,), {}, "predictions"),
    ):
        with pytest.raises(UsageError, match=message):
            parley.score(folder, *args, **options)
