"""A build that version 1.0.0 wrote."""

import json
import shutil
from pathlib import Path

from parley.authoring.new import write_skeleton
from parley.declaration.registry import get
from parley.rows.built_folder import open_folder

OLD = Path(__file__).with_name("version_1") / "build"  # of chatter, made by 1.0.0


def test_a_build_of_1_0_0_is_read_and_its_rows_have_the_same_digests(tmp_path, monkeypatch, run):
    monkeypatch.setenv("PARLEY_DATASETS", str(tmp_path / "more"))
    folder = write_skeleton("chatter", tmp_path / "more")
    old, config = open_folder(OLD / "chatter"), get("chatter").configs["dialogues"]
    records = [config.to_record(row) for row in old.rows("dialogues", "train")]
    assert len(records) == 2
    lines = "".join(f"{json.dumps(record)}\n" for record in records)
    (folder / "sample/dialogues.jsonl").write_text(lines)
    assert run("show", "chatter", "--build", OLD).returncode == 0
    assert run("build", "chatter", "--sample", "--build", tmp_path).returncode == 0
    new = open_folder(tmp_path / "chatter").provenance["configs"]
    for name, splits in old.provenance["configs"].items():
        assert new[name]["train"]["digest"] == splits["train"]["digest"]
    shutil.copytree(OLD, tmp_path / "old")
    assert run("build", "chatter", "--sample", "--build", tmp_path / "old").returncode == 0
