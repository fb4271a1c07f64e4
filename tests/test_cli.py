"""The command line as a person uses it, from another folder."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from types import SimpleNamespace

import pytest
from server import Page, Server

from parley.cli import main
from parley.collection import discover, get


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run a command in `tmp_path`, without PARLEY_SOURCE unless it is given."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PARLEY_SOURCE", raising=False)
    monkeypatch.setattr("signal.signal", lambda *_: None)

    def run(*args, **environ):
        capsys.readouterr()
        with monkeypatch.context() as patch:
            patch.setattr("sys.argv", ["parley", *map(str, args)])
            for name, value in environ.items():
                patch.setenv(name, str(value))
            with pytest.raises(SystemExit) as ended:
                main()
        out, err = capsys.readouterr()
        assert "Traceback" not in out + err
        return SimpleNamespace(returncode=ended.value.code or 0, stdout=out, stderr=err)

    return run


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


def test_list_names_every_config_and_split(run):
    done = run("list")
    as_json = json.loads(run("list", "--json").stdout)
    for name, dataset in discover().items():
        (found,) = (d for d in as_json if d["name"] == name)
        listed = {config["name"]: list(config["splits"]) for config in found["configs"]}
        assert listed == {c: list(splits) for c, splits in dataset.module.SPLITS.items()}
        for config, splits in dataset.module.SPLITS.items():
            assert config in done.stdout
            assert all(split in done.stdout for split in splits)


def test_build_and_show_from_the_sample(tmp_path, run):
    done = run("build", "--sample")
    assert done.returncode == 0, done.stderr
    for name, dataset in discover().items():
        assert name in done.stdout
        assert (tmp_path / "build" / name / "provenance.json").is_file()
        shown = run("show", name)
        assert shown.returncode == 0, shown.stderr
        assert f"from build/{name}" in shown.stdout
        row = json.loads(run("show", name, "--json").stdout)
        id = str(next(iter(row.values())))
        assert run("show", name, id).stdout == shown.stdout
        assert dataset.transcript, name


def test_show_lays_out_a_dialogue(tmp_path, run):
    done = run("show", "casino", "--sample")
    assert "the sample (invented)" in done.stdout
    assert "small-talk" in done.stdout  # labels beside the turns
    assert "\x1b[" not in done.stdout  # no colours where there is no terminal


def test_json_of_a_build_is_json(tmp_path, run):
    done = run("build", "casino", "--sample", "--json")
    built = json.loads(done.stdout)["built"]
    splits = get("casino").module.SPLITS
    declared = {(config, split) for config in splits for split in splits[config]}
    assert {(entry["config"], entry["split"]) for entry in built} == declared


LONG = "x" * 300  # more than a name may have

ERRORS = {
    # what was typed: arguments, exit status, what the message says
    "an unknown name": (
        ["build", "casinno"],
        2,
        "no dataset is named 'casinno'; there are: casino, cosrec, craigslist_bargains, duo. "
        "Did you mean casino?",
    ),
    "a folder where a name belongs": (
        ["verify", "build/casino"],
        2,
        "Did you mean casino? Give the name alone",
    ),
    "a built folder where the one above belongs": (
        ["show", "casino", "--build", "out/casino"],
        2,
        "out/casino: is a built folder itself. --build names the folder above it",
    ),
    "no such dialogue": (
        ["show", "casino", "99999", "--sample"],
        2,
        "no dialogue '99999' in the source ",
    ),
    "nothing built": (
        ["show", "casino", "--build", "nowhere"],
        2,
        "nowhere/casino: no such folder. Run `parley build casino --output nowhere` first.",
    ),
    "nothing built to export": (
        ["export", "casino", "convokit", "new", "--build", "nowhere"],
        2,
        "nowhere/casino: no such folder",
    ),
    "nothing to compare": (["diff", "nowhere", "out/casino"], 2, "nowhere: not a built folder"),
    "the folder above to compare": (
        ["diff", "out", "out/casino"],
        2,
        "out: not a built folder (no provenance.json). Name one of those in it, as out/casino.",
    ),
    "two places for a dialogue": (
        ["show", "casino", "--sample", "--build", "out"],
        2,
        "--sample excludes --build and --source",
    ),
    "no such source": (
        ["build", "--source", "nowhere"],
        2,
        "--source names nowhere, which is no folder",
    ),
    "a source of one dataset": (
        ["build", "casino", "--source", "upstream/casino"],
        2,
        "upstream/casino: holds the files of casino itself. --source names the folder above it",
    ),
    "nothing fetched": (["build", "casino"], 1, "Run `parley fetch casino`."),
    "nothing in the source": (
        ["build", "casino", "--source", "out"],
        1,
        "or leave out --source (and unset PARLEY_SOURCE) and run `parley fetch casino`",
    ),
    "nowhere to write": (["build", "--sample", "--output", "/proc/no"], 1, "/proc/no: "),
    "no such command": (["frobnicate"], 2, "frobnicate"),
    "a format in place of a name": (
        ["export", "convokit", "casino", "new"],
        2,
        "no dataset is named 'convokit'",
    ),
    "a long path to verify": (["verify", "casino", "--build", LONG], 1, "File name too long"),
    "a long path to show": (["show", "casino", "--build", LONG], 1, "File name too long"),
    "a long path to build": (["build", "--sample", "--output", LONG], 1, "File name too long"),
    "a long path to compare": (["diff", LONG, LONG], 1, "File name too long"),
    "a long path to export": (
        ["export", "casino", "convokit", LONG, "--build", "out"],
        1,
        "File name too long",
    ),
}


@pytest.mark.parametrize(("args", "status", "message"), ERRORS.values(), ids=list(ERRORS))
def test_errors_are_a_message_and_a_status(tmp_path, sample_build, run, args, status, message):
    (tmp_path / "out").symlink_to(sample_build)
    (tmp_path / "upstream").mkdir()
    (tmp_path / "upstream/casino").symlink_to(get("casino").sample)
    done = run(*args, PARLEY_CACHE=tmp_path / "cache")
    assert done.returncode == status
    assert message in done.stderr
    assert not (tmp_path / "build").exists()


def test_the_environment_variable_is_named_when_it_is_to_blame(run):
    done = run("build", "casino", PARLEY_SOURCE="nowhere")
    assert done.returncode == 2
    assert "PARLEY_SOURCE names nowhere, which is no folder" in done.stderr


def test_an_error_that_nobody_foresaw_is_a_message(run, monkeypatch):
    monkeypatch.setattr("parley.cli.discover", lambda: {}["nothing"])
    done = run("list")
    assert done.returncode == 1
    assert "does not know: KeyError: 'nothing'. Please report it" in done.stderr


def test_where_there_is_no_home_a_cache_must_be_named(sample_build, tmp_path):
    """As in a container: no HOME, and a user id without an entry."""
    program = (
        "import os, sys; from pathlib import Path; from unittest.mock import patch\n"
        "with patch.object(Path, 'home', side_effect=RuntimeError('no home')):\n"
        "    from parley.cli import main; main()"
    )
    environ = {k: v for k, v in os.environ.items() if not k.startswith(("PARLEY", "XDG"))}
    for args, status, message in (
        (["build", "duo"], 2, "Set PARLEY_CACHE"),
        (["verify", "duo", "--build", str(sample_build)], 0, ""),
    ):
        command = [sys.executable, "-c", program, *args]
        done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True)
        assert done.returncode == status, done.stderr
        assert message in done.stderr
        assert "Traceback" not in done.stderr


def test_piped_text_is_not_cut_padded_or_said_twice(sample_build, run):
    done = run("build", "casino", "--sample")
    assert done.stderr == ""
    for args in (["list"], ["verify", "casino", "--build", sample_build], ["show", "casino"]):
        lines = run(*args).stdout.splitlines()
        assert max(map(len, lines)) > 90
        assert [line for line in lines if line != line.rstrip()] == []


def test_the_first_dialogue_is_the_same_from_a_build_and_from_a_source(dataset, sample_build, run):
    built = run("show", dataset.name, "--json", "--build", sample_build).stdout
    assert json.loads(built) == json.loads(run("show", dataset.name, "--json", "--sample").stdout)


def test_what_was_built_of_a_sample_says_so(sample_build, tmp_path, run):
    shown = run("show", "duo", "--build", sample_build).stdout
    assert "a build of the invented sample" in shown
    done = run("export", "casino", "convokit", tmp_path / "out", "--build", sample_build)
    assert "the invented sample, no data of the dataset" in done.stdout
    assert "hold no data of it" in (tmp_path / "out" / "SAMPLE.txt").read_text()


def test_a_folder_of_the_build_that_is_damaged_is_no_traceback(sample_build, tmp_path, run):
    folder = shutil.copytree(sample_build / "casino", tmp_path / "build" / "casino")
    (folder / "dialogues" / "train-00000-of-00001.parquet").write_bytes(b"PAR1")
    for args in (["show", "casino"], ["export", "casino", "convokit", tmp_path / "x"]):
        done = run(*args)
        assert done.returncode == 1
        assert "not a Parquet file that can be read" in done.stderr
    assert run("verify", "casino").returncode == 1


def test_one_broken_dataset_does_not_stop_the_others(tmp_path, source, run):
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "casino").symlink_to(source / "casino")
    done = run("build", "duo", "casino", "--source", tmp_path / "source")
    assert done.returncode == 1
    assert (tmp_path / "build/casino/provenance.json").is_file()
    assert "source/duo/ed/en: missing" in done.stderr


def test_missing_sources_are_said_plainly(tmp_path, source, run):
    done = run("build", "--allow-missing", "--source", source)
    assert done.returncode == 0, done.stderr
    assert "craigslist_bargains/train.json" in done.stderr
    assert "cosrec/dataset/raw/conversations.jsonl" in done.stderr


def test_control_characters_do_not_reach_the_terminal(tmp_path, run):
    from parley.terminal.console import plain

    nasty = "a\x1b[2Jb\x07c\x9bd\u202ee\u200bf\rg\u2066h"
    shown = plain(nasty)
    assert shown == "a\\x1b[2Jb\\x07c\\x9bd\\u202ee\\u200bf\\rg\\u2066h"
    assert plain("two\nlines, 日本語, 👩‍🚒 and é") == "two\nlines, 日本語, 👩‍🚒 and é"


def test_control_characters_in_an_error_do_not_reach_the_terminal(tmp_path, run):
    done = run("build", "casino", "--source", "no\x1b[2Jwhere")
    assert "\x1b" not in done.stderr
    assert "no\\x1b[2Jwhere" in done.stderr


def test_fetch_says_which_mirror_it_took_and_why(tmp_path, run, monkeypatch):
    dataset = get("craigslist_bargains")
    content = (dataset.sample / "test.json").read_bytes()
    with Server() as server:
        server.pages["/mirror/test.json"] = Page(content)
        pin = {"sha256": hashlib.sha256(content).hexdigest()}
        mirror = {"url": server.url("/mirror/test.json"), **pin}
        source = {"url": server.url("/lost"), **pin, "mirrors": [mirror]}
        monkeypatch.setattr(dataset.module, "SOURCES", {"test.json": source})
        done = run("fetch", "craigslist_bargains", PARLEY_CACHE=tmp_path / "cache")
    assert done.returncode == 0, done.stderr
    assert f"test.json comes from the mirror {mirror['url']}, since test.json: " in done.stderr
    assert "404" in done.stderr
    assert (tmp_path / "cache/craigslist_bargains/test.json").read_bytes() == content
