"""`parley verify` notices a flipped byte of a build and does not crash."""

import json
import random
import shutil

import pytest

from parley.folder import integrity
from parley.folder.built import open_folder
from parley.folder.card import GENERATED, parse, prose
from parley.folder.verify import verify

PLACES = 50  # in each file


@pytest.fixture
def folder(dataset, sample_build, tmp_path):
    """A copy of a built folder to damage."""
    return shutil.copytree(sample_build / dataset.name, tmp_path / dataset.name)


def flips(path, count):
    """Damage a file in place, one byte at a time, and restore it at the end."""
    body = path.read_bytes()
    draw = random.Random(f"{path.parent.name}/{path.name}")
    for _ in range(count):
        damaged = bytearray(body)
        damaged[draw.randrange(len(body))] ^= draw.randrange(1, 256)
        path.write_bytes(damaged)
        yield bytes(damaged)
    path.write_bytes(body)


def noticed(folder):
    """Tell whether a check of card or provenance fails."""
    try:
        subject = integrity.Inputs(open_folder(folder), None)
        found = (
            integrity.files,
            integrity.provenance,
            integrity.card,
            integrity.counts,
            integrity.digests,
        )
        return any(problem for check in found for problem in check(subject))
    except Exception:  # as verify takes it
        return True


def test_in_any_parquet(dataset, folder, tally):
    """The check of files names the file; all of `verify` survives the last damage."""
    built = integrity.Inputs(open_folder(folder), None)
    assert list(integrity.files(built)) == []
    tried = 0
    for path in sorted(folder.rglob("*.parquet")):
        name = path.relative_to(folder).as_posix()
        for number, _ in enumerate(flips(path, PLACES), 1):
            (problem,) = integrity.files(built)
            assert problem.startswith(f"{name}: sha256 expected ")
            if number == PLACES:
                assert verify(open_folder(folder)).checks[0].problems == [problem]
            tried += 1
    assert tried == PLACES * sum(map(len, dataset.splits.values()))
    tally("byte of a Parquet file flipped", tried)


def test_in_a_provenance(dataset, folder, tally):
    """All is noticed except tool versions and spaces between values."""
    path = folder / "provenance.json"
    assert not noticed(folder)
    whole = json.loads(path.read_bytes())
    tried = harmless = 0
    for damaged in flips(path, PLACES):
        tried += 1
        if not noticed(folder):
            harmless += 1
            found = json.loads(damaged)
            assert found.pop("built_with").keys() == whole["built_with"].keys()
            assert found == {k: v for k, v in whole.items() if k != "built_with"}
    assert harmless < tried / 2
    tally("byte of a provenance flipped", tried, harmless)


def test_in_a_card(dataset, folder, tally):
    """All is noticed except the generated sizes and the table of splits."""
    path = folder / "README.md"
    assert not noticed(folder)
    whole, body = parse(path.read_text(encoding="utf-8"), "")
    tried = unnoticed = 0
    for damaged in flips(path, PLACES):
        tried += 1
        if not noticed(folder):
            unnoticed += 1
            found, damaged_body = parse(damaged.decode(), "")
            assert prose(damaged_body) == prose(body)
            assert found["license"] == whole["license"]
            for key in GENERATED:
                assert without_sizes(found[key]) == without_sizes(whole[key])
    assert tried > unnoticed
    tally("byte of a card flipped (unnoticed in its sizes and table of splits)", tried, unnoticed)


def without_sizes(value):
    if isinstance(value, dict):
        return {k: without_sizes(v) for k, v in value.items() if not k.endswith(("_size", "bytes"))}
    return list(map(without_sizes, value)) if isinstance(value, list) else value
