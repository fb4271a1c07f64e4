"""`parley new` writes a folder that passes `parley check`; `parley pin` prints pins."""

import os
from ast import literal_eval

import pytest

from parley.authoring.new import SKELETON, write_skeleton
from parley.authoring.rules import check_folder
from parley.base.errors import UsageError
from parley.declaration.registry import Dataset, discover
from parley.source.files import File
from parley.source.hashes import problem

FILES = [path.relative_to(SKELETON).as_posix() for path in SKELETON.rglob("*.*")]
FILES = sorted(file for file in FILES if not file.endswith(".pyc"))


def test_a_skeleton_passes_every_rule(tmp_path, run):
    status, out, err = run("new", "tea_talk", tmp_path / "a b")
    assert status == 0, err
    assert (out + err).endswith(f"PARLEY_DATASETS='{tmp_path}/a b' parley check tea_talk\n")
    folder = tmp_path / "a b" / "tea_talk"
    texts = {p.relative_to(folder).as_posix(): p.read_text() for p in folder.rglob("*.*")}
    assert sorted(texts) == sorted(file.replace("skeleton", "tea_talk") for file in FILES)
    assert "class TeaTalk(Builder" in texts["tea_talk.py"]
    assert not [file for file, text in texts.items() if "skeleton" in text.lower()]
    checks = check_folder(Dataset("tea_talk", folder))
    unfinished = [check.name for check in checks if check.failed or check.skipped]
    assert unfinished == ["placeholders_are_replaced"]


NO_NAMES = ["Tea", "tea-talk", "2tea", "", "tea/talk", "..", "tea\n", "~"]
NO_NAMES += ["class", "true", "none", "yes", "no", "on", "off", "null", "y", "n"]  # Python, YAML
NO_NAMES += ["json", "statistics", "parley", "datasets", "figures", "jobs", "views"]  # modules
NO_NAMES += ["main", "memory", "system", "temp", "information_schema", "pg_catalog"]  # DuckDB
NO_NAMES += ["builder", "config", "iterator"]  # its class would hide another


@pytest.mark.parametrize("name", [*NO_NAMES, next(iter(discover()))])
def test_new_refuses_a_wrong_name(tmp_path, name):
    with pytest.raises(UsageError):
        write_skeleton(name, tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("make", [os.mkdir, lambda p: p.touch(), lambda p: p.symlink_to("nowhere")])
def test_new_overwrites_nothing(tmp_path, make):
    make(tmp_path / "tea")
    with pytest.raises(UsageError):
        write_skeleton("tea", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["tea"]


def test_a_printed_pin_is_that_of_the_file_or_folder(tmp_path, run):
    (tmp_path / "en").mkdir()
    (tmp_path / "it's.json").write_text("[1]")
    (tmp_path / "en" / "0.json").write_text("{}")
    for name, url in (("it's.json", "https://example.org/a b"), ("en", "")):
        given = [str(tmp_path / name), *([url] if url else [])]
        ((path, pin),) = literal_eval(f"{{{run('pin', *given).stdout}}}").items()
        assert path == name
        assert problem(tmp_path / name, pin) is None
        assert pin["url"] == (url or "https://upstream.invalid/en.zip")
        assert len(File(path, {"id": int}, **pin).pin) == 3 if url else pin["member"] == "en"
    for wrong in (["absent"], ["."], ["en", "archive.zip"], ["en", "http://example.org/en.zip"]):
        assert run("pin", tmp_path / wrong[0], *wrong[1:]).returncode == 2
