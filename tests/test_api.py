"""The functions for programs: `parley.list`, `load`, `open` and `score`."""

import json
import shutil
from pathlib import Path
from unittest.mock import Mock

import datasets
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from build_changes import restate, retable
from local_hub import contents

import parley
from parley.base.errors import FetchError, OutputError, SourceError, UsageError
from parley.builds.build import build
from parley.builds.built_folder import open_folder
from parley.builds.provenance import read_provenance
from parley.builds.sources import Sources, open_source
from parley.declaration.measured import FILE
from parley.declaration.registry import get
from parley.source.hashes import hash_file


@pytest.fixture
def more(tea, monkeypatch, tmp_path):
    """Add a dataset whose cache already has its upstream file; return its folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PARLEY_DATASETS", str(tmp_path / "more"))
    monkeypatch.delenv("PARLEY_SOURCE", raising=False)
    monkeypatch.setenv("PARLEY_CACHE", str(tmp_path / "cache"))
    shutil.copytree(tea.sample, tmp_path / "cache" / "tea")
    return tea.folder


def test_load_builds_once_into_the_cache_and_says_so(more, tmp_path, capsys):
    every = parley.load("tea")
    assert str(tmp_path / "cache" / "built") in capsys.readouterr().err
    assert {split: rows.num_rows for split, rows in every.items()} == {"train": 2}
    rows = parley.load("tea", split="train")
    assert rows.features == get("tea").features("dialogues")
    assert [row["id"] for row in rows] == ["s1", "s2"]
    assert parley.load("tea", "messages", "train").column_names[0] == "id"
    (built,) = (tmp_path / "cache").rglob("provenance.json")
    assert parley.open(built.parent).provenance["sources"] == get("tea").pins
    state = built.stat().st_mtime_ns
    parley.load("tea")
    assert not capsys.readouterr().err
    assert built.stat().st_mtime_ns == state
    assert not (tmp_path / "build").exists()
    built.write_text("[")
    parley.load("tea")  # mends its own build
    (tmp_path / "cache" / "tea" / "dialogues.jsonl").unlink()
    assert parley.load("tea", split="train").num_rows == 2


def built(folder, **options):
    """Build tea into a folder of builds; return its build."""
    build(open_source(get("tea"), None, **options), folder)
    return folder / "tea"


@pytest.fixture
def no_upstream(more, tmp_path, monkeypatch):
    """Return a function that leaves only builds: no upstream file, and no network."""

    def leave():
        (tmp_path / "cache" / "tea" / "dialogues.jsonl").unlink()
        monkeypatch.setattr("parley.builds.load.fetch", Mock(side_effect=FetchError("offline")))

    return leave


def test_load_ignores_builds_of_the_sample_or_another_version_or_format(no_upstream, tmp_path):
    folder = built(tmp_path / "build", sample=True)
    no_upstream()
    with pytest.raises(SourceError):
        parley.load("tea")
    restate(folder, "sample", False)
    assert parley.load("tea", split="train").num_rows == 2
    for place, other in (("format", 2), ("version", "0.9.0")):
        stated = read_provenance(folder)[place]
        restate(folder, place, other)
        with pytest.raises(SourceError):
            parley.load("tea")
        restate(folder, place, stated)


def test_load_takes_a_named_folder_or_none(more, tmp_path):
    parley.load("tea")  # the cache and build/ stand in for no other folder
    for name in ("build", "named", "older"):
        built(tmp_path / name)
    built(tmp_path / "samples", sample=True)
    restate(tmp_path / "older" / "tea", "version", "0.9.0")
    assert parley.load("tea", split="train", build="named").num_rows == 2
    for name, error in {"absent": UsageError, "named/tea": UsageError, "samples": SourceError,
                        "older": SourceError}.items():  # fmt: skip
        with pytest.raises(error):
            parley.load("tea", build=name)
    for options in ({"source": "absent"}, {"build": "named", "source": "cache"}):
        with pytest.raises(UsageError):
            parley.load("tea", **options)


def test_load_takes_the_splits_of_a_partial_build_and_names_all_places(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PARLEY_CACHE", str(tmp_path / "cache"))
    dataset = get("craigslist_bargains")
    upstream = tmp_path / "upstream"
    shutil.copytree(dataset.sample, upstream / dataset.name)
    (upstream / dataset.name / "train.json").unlink()
    sources = Sources(dataset, upstream / dataset.name, missing=["train.json"])
    build(sources, tmp_path / "build")
    due = parley.open("build/craigslist_bargains").rows("dialogues", "test")
    assert list(parley.load(dataset.name, split="test")) == due
    monkeypatch.setenv("PARLEY_SOURCE", str(upstream))
    for split in ("train", None):
        with pytest.raises(SourceError) as caught:
            parley.load(dataset.name, split=split)
        cached = tmp_path / "cache" / "built" / dataset.version / dataset.name
        tried = (f"build/{dataset.name}", str(cached), f"{upstream}/{dataset.name}/train.json")
        places = (problem.place for problem in caught.value.problems)
        assert (*(place for place in places if place in tried),) == tried


def test_load_takes_upstream_files_by_one_rule(no_upstream, tmp_path, monkeypatch):
    shutil.copytree(tmp_path / "cache" / "tea", tmp_path / "elsewhere" / "tea")
    no_upstream()
    for variable, given in (("", None), ("nowhere", None), ("elsewhere", "absent")):
        monkeypatch.setenv("PARLEY_SOURCE", variable)
        error = UsageError if variable else SourceError
        with pytest.raises(error, match=given or variable or None):
            parley.load("tea", source=given)
    for variable, given in (("nowhere", "elsewhere"), ("elsewhere", None)):
        monkeypatch.setenv("PARLEY_SOURCE", variable)
        assert parley.load("tea", source=given)["train"].num_rows == 2
        shutil.rmtree(tmp_path / "cache" / "built")


def test_a_source_that_is_swapped_while_it_is_built_leaves_the_old_build(more, tmp_path):
    folder, file = built(tmp_path), tmp_path / "cache" / "tea" / "dialogues.jsonl"
    before = (folder / "provenance.json").read_bytes()
    swapped = file.read_bytes().splitlines(keepends=True)[::-1]

    def swap(where, rows):
        file.write_bytes(b"".join(swapped))

    with pytest.raises(SourceError) as error:
        build(open_source(get("tea"), None), tmp_path, swap)
    assert [problem.place for problem in error.value.problems] == [str(file)]
    assert (folder / "provenance.json").read_bytes() == before


def reversed_rows(table):
    return table.take([1, 0])


def of_large_text(table):
    long = [f.with_type(pa.large_string()) if f.type == pa.string() else f for f in table.schema]
    return table.cast(pa.schema(long))


def resealed(file, change):
    retable(file, change)
    found = {"path": f"dialogues/{file.name}", "bytes": file.stat().st_size}
    recorded = [found | {"sha256": hash_file(file, "sha256")}]
    restate(file.parent.parent, "configs.dialogues.train.files", recorded)


DAMAGES = {
    "rows in another order, and their hash": lambda file: resealed(file, reversed_rows),
    "columns of another type, and their hash": lambda file: resealed(file, of_large_text),
    "the same rows in other bytes": lambda file: retable(file, lambda table: table, "gzip"),
    "missing": Path.unlink,
    "a link": lambda file: file.symlink_to(file.rename(file.parents[2] / "elsewhere")),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_load_gives_the_recorded_rows_or_an_error(damage, more, tmp_path):
    due = list(parley.load("tea", split="train"))
    for folder in (tmp_path / "build", next((tmp_path / "cache" / "built").iterdir())):
        (file,) = built(folder).glob("dialogues/*.parquet")
        assert list(parley.load("tea", split="train")) == due
        DAMAGES[damage](file)
        if folder.name == "build":
            with pytest.raises(OutputError, match=f"{file.parent.name}/train"):
                parley.load("tea", split="train")
            shutil.rmtree(folder)
        else:  # the cache is parley's own
            with pytest.warns(UserWarning, match=f"{file.parent.name}/train"):
                assert list(parley.load("tea", split="train")) == due
            assert list(parley.load("tea", split="train")) == due


def test_load_reads_no_path_of_the_card_and_no_rows_of_another_build(more, tmp_path):
    due = list(parley.load("tea", split="train"))
    other = built(tmp_path / "other")
    (file,) = other.glob("dialogues/*.parquet")
    retable(file, reversed_rows)
    assert list(pq.read_table(file).to_pylist()) != due
    folder = built(tmp_path / "build")
    card = folder / "README.md"
    for path in ("../../other/tea/dialogues/train-*.parquet", str(file)):
        card.write_text(card.read_text().replace("dialogues/train-*.parquet", path))
        datasets.load_dataset(str(other), "dialogues", cache_dir=str(tmp_path / "hf"))
        assert list(parley.load("tea", split="train")) == due


@pytest.mark.parametrize("args", [("tee",), ("tea", "chats"), ("tea", "messages", "test")])
def test_load_takes_names_that_there_are(more, args):
    with pytest.raises(UsageError):
        parley.load(*args)


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
    with pytest.raises(KeyError):  # the caller's own error stays
        parley.score(built, task, ({}[each["none"]] for each in predictions))
    wrong = [{}, {"baseline": "nothing"}, {"baseline": baseline, "colour": "red"}]
    for name, options in [("nothing", {"baseline": baseline}), *((task, each) for each in wrong)]:
        with pytest.raises(UsageError):
            parley.score(folder, name, **options)


def test_build_measures_as_the_command_does(more, tmp_path, run):
    record = {"id": "u1", "turns": [{"speaker": "clerk", "text": "Upstream lacks this text."}]}
    (more / "sample/dialogues.jsonl").write_text(json.dumps(record))
    assert run("build", "tea", "--measure", "--build", tmp_path / "commanded").returncode == 0
    by_command = (more / FILE).read_bytes()
    (more / FILE).unlink()
    parley.build("tea", tmp_path / "unmeasured")
    assert not (more / FILE).exists()
    parley.build("tea", tmp_path / "measured", measure=True)
    assert (more / FILE).read_bytes() == by_command
    assert json.loads(by_command)["splits"]["dialogues"]["train"]["rows"] == 2
    assert contents(tmp_path / "measured/tea") == contents(tmp_path / "commanded/tea")


def test_a_wrong_argument_is_refused_before_anything_is_done(sample_build, tmp_path):
    folder = Path(shutil.copytree(sample_build / "casino", tmp_path / "casino"))
    with pytest.raises(UsageError):
        parley.browse(folder, port=99999, open_browser=False)
    for wrong in ({"source": folder}, {"measure": True}):
        with pytest.raises(UsageError, match="sample"):
            parley.build("casino", tmp_path, sample=True, **wrong)
    for predictions in ("predictions.jsonl", []):
        with pytest.raises(UsageError, match="baseline"):
            parley.score(folder, "strategies", predictions, baseline="majority")
    assert [path.name for path in tmp_path.iterdir()] == ["casino"]
