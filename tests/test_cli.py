"""The command line as a person uses it: in a process of its own, from another folder."""

import json
import os
import subprocess
import sys

import pytest

from parley.collection import discover, get


def run(*args, cwd, **environ):
    environ = {k: v for k, v in os.environ.items() if k != "PARLEY_SOURCE"} | environ
    return subprocess.run(
        [sys.executable, "-m", "parley", *map(str, args)],
        cwd=cwd,
        env=environ,
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_help_and_list_import_nothing_heavy(tmp_path):
    for command in ("--help", "list"):
        program = (
            "import sys; sys.argv = ['parley', sys.argv[1]]\n"
            "from parley.cli import main\n"
            "try: main()\n"
            "except SystemExit: pass\n"
            "heavy = {'datasets', 'pyarrow', 'pandas', 'requests', 'huggingface_hub'}\n"
            "print(heavy & set(sys.modules))"
        )
        args = [sys.executable, "-c", program, command]
        done = subprocess.run(args, cwd=tmp_path, capture_output=True, text=True, check=True)
        assert done.stdout.splitlines()[-1] == "set()"


def test_list_names_every_config_and_split(tmp_path):
    done = run("list", cwd=tmp_path, COLUMNS="200")
    assert done.returncode == 0, done.stderr
    as_json = json.loads(run("list", "--json", cwd=tmp_path).stdout)
    for name, dataset in discover().items():
        (found,) = (d for d in as_json if d["name"] == name)
        listed = {config["name"]: list(config["splits"]) for config in found["configs"]}
        assert listed == {c: list(splits) for c, splits in dataset.module.SPLITS.items()}
        for config, splits in dataset.module.SPLITS.items():
            assert config in done.stdout
            assert all(split in done.stdout for split in splits)


def test_build_and_show_from_the_sample(tmp_path):
    done = run("build", "--sample", cwd=tmp_path, COLUMNS="200")
    assert done.returncode == 0, done.stderr
    for name, dataset in discover().items():
        assert name in done.stdout
        assert (tmp_path / "build" / name / "provenance.json").is_file()
        shown = run("show", name, cwd=tmp_path, COLUMNS="160")
        assert shown.returncode == 0, shown.stderr
        assert f"from build/{name}" in shown.stdout
        row = json.loads(run("show", name, "--json", cwd=tmp_path).stdout)
        id = str(next(iter(row.values())))
        assert run("show", name, id, cwd=tmp_path, COLUMNS="160").stdout == shown.stdout
        assert dataset.transcript, name


def test_show_lays_out_a_dialogue(tmp_path):
    done = run("show", "casino", "--sample", cwd=tmp_path, COLUMNS="160")
    assert "the sample (invented)" in done.stdout
    assert "small-talk" in done.stdout  # labels beside the turns
    assert "\x1b[" not in done.stdout  # no colours where there is no terminal


def test_json_of_a_build_is_json(tmp_path):
    done = run("build", "casino", "--sample", "--json", cwd=tmp_path)
    built = json.loads(done.stdout)["built"]
    splits = get("casino").module.SPLITS
    declared = {(config, split) for config in splits for split in splits[config]}
    assert {(entry["config"], entry["split"]) for entry in built} == declared


@pytest.mark.parametrize(
    ("args", "status", "message"),
    [
        (["build", "casinno"], 2, "no dataset is named 'casinno'; there are: casino, "),
        (["show", "casino", "99999", "--sample"], 2, "no dialogue '99999' there; the first are "),
        (["show", "casino", "--build", "nowhere"], 2, "no such folder; run `parley build casino`"),
        (["build", "--source", "nowhere"], 2, "nowhere: no such folder"),
        (["build", "casino"], 1, "Run `parley fetch casino`."),
        (["build", "--sample", "--output", "/proc/nowhere"], 1, "/proc/nowhere: "),
        (["frobnicate"], 2, "frobnicate"),
    ],
)
def test_errors_are_a_message_and_a_status(tmp_path, args, status, message):
    done = run(*args, cwd=tmp_path, PARLEY_CACHE=str(tmp_path / "cache"))
    assert done.returncode == status
    assert message in done.stderr
    assert "Traceback" not in done.stderr + done.stdout
    assert not (tmp_path / "build").exists()


def test_one_broken_dataset_does_not_stop_the_others(tmp_path, source):
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "casino").symlink_to(source / "casino")
    done = run("build", "casino", "duo", "--source", tmp_path / "source", cwd=tmp_path)
    assert done.returncode == 1
    assert (tmp_path / "build/casino/provenance.json").is_file()
    assert "source/duo/ed/en: missing" in done.stderr


def test_missing_sources_are_said_plainly(tmp_path, source):
    done = run("build", "--allow-missing", "--source", source, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "craigslist_bargains/train.json" in done.stderr
    assert "cosrec/dataset/raw/conversations.jsonl" in done.stderr


def test_control_characters_do_not_reach_the_terminal(tmp_path):
    from parley.terminal.console import plain

    nasty = "a\x1b[2Jb\x07c\x9bd\u202ee\u200bf\rg\u2066h"
    shown = plain(nasty)
    assert shown == "a\\x1b[2Jb\\x07c\\x9bd\\u202ee\\u200bf\\rg\\u2066h"
    assert plain("two\nlines, 日本語, 👩‍🚒 and é") == "two\nlines, 日本語, 👩‍🚒 and é"


def test_control_characters_in_an_error_do_not_reach_the_terminal(tmp_path):
    done = run("build", "casino", "--source", "no\x1b[2Jwhere", cwd=tmp_path)
    assert "\x1b" not in done.stderr
    assert "no\\x1b[2Jwhere" in done.stderr
