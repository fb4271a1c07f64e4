"""A mirror serves in the place of a file that cannot be had."""

import hashlib
import json
import shutil

import pytest

from parley.base.errors import SourceError
from parley.builds.build import build
from parley.builds.card import parse
from parley.declaration.registry import get
from parley.rows.built_folder import open_folder
from parley.rows.sources import open_source
from parley.verification.verify import verify

NAME = "craigslist_bargains"
DATASET = get(NAME)


@pytest.fixture
def upstream(tmp_path, monkeypatch):
    """A copy of the sample, as pinned."""
    folder = shutil.copytree(DATASET.sample, tmp_path / "upstream" / NAME)
    for path, source in DATASET.sources.items():
        pin = {"url": f"https://example.org/{path}", "sha256": sha256(folder / path)}
        monkeypatch.setitem(vars(source), "pin", pin)
    return folder.parent


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def built(upstream, output):
    build(open_source(DATASET, upstream), output)
    return open_folder(output / NAME)


def failed(found, source):
    return {check.name: check.problems for check in verify(found, source).checks if check.failed}


def test_a_mirrors_bytes_are_named_in_provenance_and_card(upstream, tmp_path, monkeypatch):
    before = built(upstream, tmp_path / "before")
    path = upstream / NAME / "test.json"
    path.write_text(json.dumps(json.loads(path.read_text()), indent=1))  # equal, of other bytes
    with pytest.raises(SourceError, match=r"test\.json: "):
        open_source(DATASET, upstream)
    mirror = {"url": "https://example.org/mirror/test.json", "sha256": sha256(path)}
    monkeypatch.setitem(DATASET.pins["test.json"], "mirrors", [mirror])
    found = built(upstream, tmp_path / "after")
    assert found.provenance["configs"] == before.provenance["configs"]
    assert found.provenance["sources"]["test.json"] == mirror
    _, body = parse(found.card, "")
    assert "**Made from a mirror**: `test.json` came from <https://example.org/mirror/" in body
    assert "Made from a mirror" not in before.card
    assert "provenance" not in failed(found, open_source(DATASET, upstream))
    found.provenance["sources"]["test.json"]["url"] = "https://example.org/elsewhere"
    assert "provenance" in failed(found, open_source(DATASET, upstream))
    assert not found.mirrored
