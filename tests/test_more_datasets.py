"""Two more kinds of datasets: frames in folders of many files, and texts in an archive."""

import hashlib
import io
import shutil
import zipfile
from pathlib import Path

import pytest

from parley.build import build
from parley.collection import Dataset
from parley.folder.built import open_folder
from parley.folder.verify import verify
from parley.linting.dataset_folder import DatasetFolder
from parley.linting.run import check_folder
from parley.source.files import open_source
from parley.source.pins import git_tree
from parley.starting.new import drafted_card

HOME = Path(__file__).parent / "more_datasets"
NAMES = sorted(path.name for path in HOME.iterdir())
MOST_LINES = 150


def with_card(name, home):
    """Copy a dataset folder into `home`, with the card of a draft."""
    dataset = Dataset(name, home / name)
    shutil.copytree(HOME / name, dataset.folder)
    dataset.card.write_text(drafted_card(dataset))
    return dataset


@pytest.fixture(params=NAMES)
def another(request, monkeypatch, tmp_path):
    monkeypatch.setenv("PARLEY_DATASETS", str(tmp_path / "more"))
    return with_card(request.param, tmp_path / "more")


def test_it_passes_every_rule(another, tmp_path):
    found = check_folder(DatasetFolder(another, tmp_path))
    assert [problem for check in found for problem in check.problems] == []
    assert [check.name for check in found if check.skipped] == []


def test_it_takes_few_lines_by_hand(another):
    lines = [
        line
        for path in another.folder.glob("*.py")
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.strip()
    ]
    assert len(lines) <= MOST_LINES


def real_files(dataset, home, monkeypatch):
    """Lay the sample out as upstream's files, and let the sources pin them."""
    for path, source in dataset.sources.items():
        target = home / dataset.name / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_archive:
            body = io.BytesIO()
            with zipfile.ZipFile(body, "w", zipfile.ZIP_DEFLATED) as archive:
                for file in sorted((dataset.sample / path).rglob("*.*"), reverse=True):
                    archive.write(file, file.relative_to(dataset.sample / path))
            target.write_bytes(body.getvalue())
            pin = {"sha256": hashlib.sha256(body.getvalue()).hexdigest()}
        else:
            shutil.copytree(dataset.sample / path, target)
            pin = {"git_tree": git_tree(list(target.iterdir()))}
        monkeypatch.setitem(vars(source), "pin", {**source.pin, **pin})


def test_real_files_give_the_rows_of_the_sample_in_any_number_of_processes(
    another, tmp_path, monkeypatch
):
    real_files(another, tmp_path / "upstream", monkeypatch)
    build(open_source(another, None, sample=True), tmp_path / "sample")
    due = open_folder(tmp_path / "sample" / another.name, another)
    for workers in (0, 2):
        source = open_source(another, tmp_path / "upstream")
        build(source, tmp_path / "real", workers=workers)
        found = open_folder(tmp_path / "real" / another.name, another)
        assert found.declared == due.declared
        for config, split in due.declared:
            assert found.rows(config, split) == due.rows(config, split) != []
        assert not [check.problems for check in verify(found, source).checks if check.failed]


def test_rows_hold_the_values_of_the_files(tmp_path):
    rows = {}
    for name in NAMES:
        dataset = with_card(name, tmp_path / "more")
        build(open_source(dataset, None, sample=True), tmp_path)
        rows[name] = open_folder(tmp_path / name, dataset).rows("dialogues", "train")
    user, system, *_ = (turn["frames"][0] for turn in rows["booking_frames"][0]["turns"])
    assert user["state"]["slot_values"] == [{"key": "to", "value": ["Alder"]}]
    assert user["actions"] is user["service_call"] is system["state"] is None
    assert system["service_call"]["parameters"][0] == {"key": "to", "value": "Alder"}
    assert [(row["quad"], row["talk_id"]) for row in rows["map_routes"]] == [
        ("q1", "q1ec1"),
        ("q2", "q2nc1"),
    ]
    assert rows["map_routes"][1]["turns"] == [
        {"speaker": "follower", "text": "do you have a gate"},
        {"speaker": "giver", "text": "no"},
    ]
