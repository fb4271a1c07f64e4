"""One byte of a built folder is not what it was: verification notices, and lives."""

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
    """Damage a file in place, one byte at a time, and mend it in the end."""
    body = path.read_bytes()
    draw = random.Random(f"{path.parent.name}/{path.name}")
    for _ in range(count):
        damaged = bytearray(body)
        damaged[draw.randrange(len(body))] ^= draw.randrange(1, 256)
        path.write_bytes(damaged)
        yield bytes(damaged)
    path.write_bytes(body)


def test_in_any_parquet(dataset, folder, tally):
    built = integrity.Inputs(open_folder(folder), None)
    assert list(integrity.files(built)) == []
    tried = 0
    for path in sorted(folder.rglob("*.parquet")):
        name = path.relative_to(folder).as_posix()
        for _ in flips(path, PLACES):
            (problem,) = integrity.files(built)
            assert problem.startswith(f"{name}: sha256 expected ")
            tried += 1
    splits = sum(map(len, dataset.splits.values()))
    assert tried == PLACES * splits
    tally("byte of a Parquet file flipped", tried)


def test_in_any_parquet_all_of_verify(dataset, folder, tally):
    """Further checks read the damaged file too; whatever they meet, all of them report."""
    names = [check.name for check in verify(open_folder(folder)).checks][:5]
    tried = 0
    for path in sorted(folder.rglob("*.parquet")):
        for _ in flips(path, 1):
            found = verify(open_folder(folder))
            assert [check.name for check in found.checks][:5] == names
            assert found.checks[0].name == "files"
            assert len(found.checks[0].problems) == 1
            tried += 1
    assert not verify(open_folder(folder)).failed
    tally("byte of a Parquet file flipped, every check", tried)


def noticed(folder):
    """Tell whether `verify` would fail, by those of its checks that read card or provenance."""
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


def test_in_a_provenance(dataset, folder, tally):
    """Noticed, but for the versions of the tools it was built with and spaces between values."""
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
    """Noticed, but for the sizes and the table of splits that are generated into it."""
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


@pytest.mark.parametrize("key", ["download_size", "num_bytes"])
def test_a_misspelt_key_in_a_card(key, folder):
    path = folder / "README.md"
    path.write_text(path.read_text(encoding="utf-8").replace(f"{key}:", f"{key}s:", 1), "utf-8")
    assert noticed(folder)


def without_sizes(value):
    if isinstance(value, dict):
        return {k: without_sizes(v) for k, v in value.items() if not k.endswith(("_size", "bytes"))}
    return list(map(without_sizes, value)) if isinstance(value, list) else value


@pytest.mark.parametrize("where", ["front matter", "config"])
def test_another_licence_on_a_card(sample_build, tmp_path, where):
    folder = shutil.copytree(sample_build / "duo", tmp_path / "duo")
    card = folder / "README.md"
    head, rest = card.read_text(encoding="utf-8").split("dataset_info:", 1)
    part = head if where == "front matter" else rest
    changed = part.replace("cc-by-nc-4.0", "cc-by-4.0", 1).replace("apache-2.0", "mit", 1)
    assert changed != part
    text = (changed, rest) if where == "front matter" else (head, changed)
    card.write_text("dataset_info:".join(text), encoding="utf-8")
    (check,) = (check for check in verify(open_folder(folder)).checks if check.failed)
    assert check.name == "card"
    assert "licen" in check.problems[0]
