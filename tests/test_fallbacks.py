"""What serves in the place of a file that cannot be had: a mirror, or what it was made of."""

import hashlib
import json
import shutil

import pytest

from parley.base.errors import RecordError, SourceError
from parley.building.build import build
from parley.building.card import parse
from parley.building.folder import open_folder
from parley.building.registry import get
from parley.building.sources import open_source
from parley.verifying.verify import verify

NAME = "craigslist_bargains"
TRACKER = "price_tracker.pkl"


@pytest.fixture
def dataset():
    return get(NAME)


@pytest.fixture
def upstream(dataset, tmp_path, monkeypatch):
    """A copy of the sample, in which train and validation have the acts that the rules give."""
    folder = shutil.copytree(dataset.sample, tmp_path / "upstream" / NAME)
    rules = dataset.load_module("dialogue_acts")
    records = {split: json.loads((folder / f"{split}.json").read_bytes()) for split in FILES}
    contexts = rules.train_contexts(records["train"])
    for split, negotiations in records.items():
        for record in negotiations:
            for event, act in zip(record["events"], rules.acts(record, contexts), strict=True):
                if event.get("metadata"):
                    event["metadata"]["intent"] = act.intent
                    if "price" in event["metadata"]:
                        event["metadata"]["price"] = act.price
        (folder / f"{split}.json").write_text(json.dumps(negotiations))
    for path, source in dataset.sources.items():
        pin = {"url": f"https://example.org/{path}", "sha256": sha256(folder / path)}
        monkeypatch.setitem(vars(source), "pin", pin)
    return folder.parent


FILES = ("train", "validation", "test")


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def built(dataset, upstream, output):
    build(open_source(dataset, upstream), output)
    return open_folder(output / NAME)


def failed(found, source):
    return {check.name: check.problems for check in verify(found, source).checks if check.failed}


def test_a_mirrors_bytes_are_named_in_the_provenance_and_on_the_card(
    dataset, upstream, tmp_path, monkeypatch
):
    before = built(dataset, upstream, tmp_path / "before")
    path = upstream / NAME / "test.json"
    path.write_text(json.dumps(json.loads(path.read_text()), indent=1))  # equal, of other bytes
    with pytest.raises(SourceError, match=r"test\.json: "):
        open_source(dataset, upstream)
    mirror = {"url": "https://example.org/mirror/test.json", "sha256": sha256(path)}
    monkeypatch.setitem(dataset.pins["test.json"], "mirrors", [mirror])
    found = built(dataset, upstream, tmp_path / "after")
    assert found.provenance["configs"] == before.provenance["configs"]
    assert found.provenance["sources"]["test.json"] == mirror
    _, body = parse(found.card, "")
    assert "**Made from a mirror**: `test.json` came from <https://example.org/mirror/" in body
    assert "Made from a mirror" not in before.card
    assert "provenance" not in failed(found, open_source(dataset, upstream))
    found.provenance["sources"]["test.json"]["url"] = "https://example.org/elsewhere"
    assert "provenance" in failed(found, open_source(dataset, upstream))


def test_word_lists_that_are_missing_are_learnt_from_train(dataset, upstream, tmp_path):
    (upstream / NAME / TRACKER).unlink()
    source = open_source(dataset, upstream)
    assert (source.missing, source.fallbacks) == ([], {TRACKER: ("train.json",)})
    found = built(dataset, upstream, tmp_path)
    assert found.missing == []
    assert found.provenance["fallbacks"] == {TRACKER: ["train.json"]}
    assert TRACKER not in found.provenance["sources"]
    assert f"**Made without `{TRACKER}`**: `train.json` replaced it." in found.card
    assert {"provenance", "source"}.isdisjoint(failed(found, source))
    assert [
        row for row in found.rows("dialogue_acts", *FILES) if row["upstream_intent"] is not None
    ]


def test_learnt_lists_that_change_an_act_of_upstream_fail_the_build(
    dataset, upstream, tmp_path, monkeypatch
):
    (upstream / NAME / TRACKER).unlink()
    path = upstream / NAME / "validation.json"
    records = json.loads(path.read_text())
    event = next(e for r in records for e in r["events"] if (e["metadata"] or {}).get("price"))
    event["metadata"]["price"] += 1
    path.write_text(json.dumps(records))
    monkeypatch.setitem(dataset.pins["validation.json"], "sha256", sha256(path))
    with pytest.raises(RecordError, match=TRACKER):
        built(dataset, upstream, tmp_path)
    assert not (tmp_path / NAME).exists()
