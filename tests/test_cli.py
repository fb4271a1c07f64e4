"""The command line as a person uses it, from another folder."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console
from server import Page, Server, pinned

from parley.cli import main
from parley.collection import Dataset, discover, get
from parley.folder.card import summary
from parley.folder.diff import Difference, SplitDifference
from parley.terminal import console
from parley.terminal.listing import listing
from parley.terminal.report import differences


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
    for command in ("--help", "list", "run", "run cosrec catalogue --help", "fetch --help"):
        program = (
            "import sys; sys.argv = ['parley', *sys.argv[1].split()]\n"
            "from parley.cli import main\n"
            "try: main()\n"
            "except SystemExit: pass\n"
            "heavy = {'datasets', 'pyarrow', 'pandas', 'requests', 'huggingface_hub', 'duckdb'}\n"
            "print(heavy & set(sys.modules))"
        )
        args = [sys.executable, "-c", program, command]
        done = subprocess.run(args, cwd=tmp_path, capture_output=True, text=True, check=True)
        assert done.stdout.splitlines()[-1] == "set()"


@pytest.mark.parametrize("level", [1, 2])
def test_without_docstrings_it_refuses_to_run(tmp_path, level):
    """Help, jobs and the definitions of figures are docstrings; nothing rests on an assert."""
    command = [sys.executable, "-m", "parley", "run"]
    environ = os.environ | {"PYTHONOPTIMIZE": str(level)}
    done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True)
    if level == 1:
        assert done.returncode == 0
        assert "catalogue" in done.stdout
        return
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(r".*PYTHONOPTIMIZE.*\n", done.stderr)


def test_list_names_every_config_and_split(run):
    done = run("list")
    as_json = json.loads(run("list", "--json").stdout)
    for name, dataset in discover().items():
        (found,) = (d for d in as_json if d["name"] == name)
        listed = {config["name"]: list(config["splits"]) for config in found["configs"]}
        assert listed == {c: list(splits) for c, splits in dataset.splits.items()}
        lines = [line.split() for line in done.stdout.splitlines() if line.startswith(f"{name} ")]
        assert [line[1:3] for line in lines] == [
            [config, split] for config, splits in dataset.splits.items() for split in splits
        ]
        for config in dataset.configs.values():  # the modules are read, not run
            assert re.search(rf"^{name} +{config.name} .* {config.description}$", done.stdout, re.M)


@pytest.mark.parametrize("group", ["", "run", "run cosrec", "score", "score casino"])
def test_help_cuts_no_summary(run, group):
    text = run(*group.split(), "--help", COLUMNS=80).stdout.partition("Commands:")[2]
    assert text
    assert "..." not in text


def test_list_tells_what_is_documented_from_what_was_counted(run):
    configs = [config for d in json.loads(run("list", "--json").stdout) for config in d["configs"]]
    documented = {split: rows for c in configs for split, rows in c["documented"].items()}
    assert documented
    assert all(c["splits"][split] is None for c in configs for split in c["documented"])
    text = run("list").stdout
    for split, rows in documented.items():
        assert re.search(rf" {split} +{rows:,}\*", text)
    assert "\u00a0" not in text
    assert "\n* documented, not counted" in text
    assert "–: neither" in text.splitlines()[-1]


@pytest.mark.parametrize("width", [50, 80, 200])
def test_list_loses_no_word_in_a_narrow_terminal(width, monkeypatch):
    terminal = Console(width=width, force_terminal=True, color_system=None)
    monkeypatch.setattr("parley.terminal.listing.out", terminal)
    for dataset in map(summary, discover().values()):
        with terminal.capture() as caught:
            terminal.print(listing([dataset], {}))
        words = caught.get().split()
        for config in dataset["configs"]:
            assert {config["name"], *config["splits"]} <= set(words)
            assert set(config["license"].split()) <= {word.rstrip(";") for word in words}


@pytest.mark.parametrize("width", [20, 40, 60])
def test_no_cell_of_a_table_is_cut_where_there_is_no_room(width, monkeypatch):
    """The lines are longer than the terminal then, which wraps them."""
    monkeypatch.setattr(console, "out", Console(width=width, force_terminal=True, no_color=True))
    cells = [("official_split", "14,297", "1.2 MB"), ("dialogues", "-0.558", "0.205…0.279")]
    with console.out.capture() as caught:
        console.print_output(console.table(("config", ">rows", ">Parquet"), cells))
    lines = [line.strip() for line in caught.get().splitlines()]
    for row in cells:
        assert any(re.fullmatch(" +".join(map(re.escape, row)), line) for line in lines), lines


def test_numbers_of_a_difference_are_written_as_elsewhere(capsys):
    keys = [f"row {number}" for number in range(1030)]
    split = SplitDifference("dialogues", "train", 0, 1030, added=keys)
    found = Difference("casino", [split], [], [("dialogues", None, 1030)])
    console.print_output(differences(found))
    said = capsys.readouterr().out
    assert re.search(r"dialogues +train +0 +1,030 +1,030 +·", said)
    assert "and 1,020 more" in said
    assert "dialogues: nothing -> 1030" in said


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
    splits = get("casino").splits
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
        "out/casino: is itself a build. --build takes the folder above it",
    ),
    "no such dialogue": (
        ["show", "casino", "99999", "--sample"],
        2,
        "no dialogue '99999' in the sample (invented); the first are 2001, ",
    ),
    "no such dialogue, and nothing built": (
        ["show", "casino", "12"],
        2,
        "No build in build/: run `parley build casino` for the dataset.",
    ),
    "nothing built in a folder with a space": (
        ["show", "casino", "--build", "no where"],
        2,
        "Run `parley build casino --build 'no where'` first.",
    ),
    "nothing built": (
        ["show", "casino", "--build", "nowhere"],
        2,
        "nowhere/casino: no such folder. Run `parley build casino --build nowhere` first.",
    ),
    "nothing built to export": (
        ["export", "casino", "convokit", "new", "--build", "nowhere"],
        2,
        "nowhere/casino: no such folder",
    ),
    "nothing to compare": (["diff", "nowhere", "out/casino"], 2, "nowhere: not a build"),
    "the folder above to compare": (
        ["diff", "out", "out/casino"],
        2,
        "out: not a build (no provenance.json). Name a build inside it, such as out/casino.",
    ),
    "two places for a dialogue": (
        ["show", "casino", "--sample", "--build", "out"],
        2,
        "--sample excludes --build and --source",
    ),
    "a build and a source for a dialogue": (
        ["show", "casino", "--build", "out", "--source", "out"],
        2,
        "--build excludes --source",
    ),
    "no such source": (
        ["build", "--source", "nowhere"],
        2,
        "--source names nowhere, which is no folder",
    ),
    "a source of one dataset": (
        ["build", "casino", "--source", "upstream/casino"],
        2,
        "upstream/casino: holds the files of casino itself. --source takes the folder above it",
    ),
    "nothing fetched": (["build", "casino"], 1, "Run `parley fetch casino`."),
    "nothing in the source": (
        ["build", "casino", "--source", "out"],
        1,
        "or leave out --source (and unset PARLEY_SOURCE) and run `parley fetch casino`",
    ),
    "nowhere to write": (["build", "--sample", "--build", "/proc/no"], 1, "/proc/no: "),
    "no such command": (["frobnicate"], 2, "frobnicate"),
    "a long path to verify": (["verify", "casino", "--build", LONG], 1, "File name too long"),
    "a long path to build": (["build", "--sample", "--build", LONG], 1, "File name too long"),
    "a long path to compare": (["diff", LONG, LONG], 2, "File name too long"),
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


def test_an_internal_error_is_a_message(run, monkeypatch):
    monkeypatch.setattr("parley.cli.common.discover", lambda: {}["nothing"])
    done = run("list")
    assert done.returncode == 1
    assert "internal error: KeyError: 'nothing'. " in done.stderr


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


def test_a_build_of_a_sample_is_labelled(sample_build, tmp_path, run):
    shown = run("show", "duo", "--build", sample_build).stdout
    assert "a build of the invented sample" in shown
    done = run("export", "casino", "convokit", tmp_path / "out", "--build", sample_build)
    assert "the invented sample, no data of the dataset" in done.stdout
    assert "hold no data of it" in (tmp_path / "out" / "SAMPLE.txt").read_text()


def test_a_damaged_build_is_a_message(sample_build, tmp_path, run):
    folder = shutil.copytree(sample_build / "casino", tmp_path / "build" / "casino")
    (folder / "dialogues" / "train-00000-of-00001.parquet").write_bytes(b"PAR1")
    for args in (["show", "casino"], ["export", "casino", "convokit", tmp_path / "x"]):
        done = run(*args)
        assert done.returncode == 1
        assert "unreadable Parquet file" in done.stderr
    assert run("verify", "casino").returncode == 1


def test_one_broken_dataset_does_not_stop_the_others(tmp_path, source, run):
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "casino").symlink_to(source / "casino")
    done = run("build", "duo", "casino", "--source", tmp_path / "source")
    assert done.returncode == 1
    assert (tmp_path / "build/casino/provenance.json").is_file()
    assert "source/duo/ed/en: missing" in done.stderr


def test_missing_sources_are_listed(tmp_path, source, run):
    done = run("build", "--allow-missing", "--source", source)
    assert done.returncode == 0, done.stderr
    assert "craigslist_bargains/train.json" in done.stderr
    assert "cosrec/dataset/raw/conversations.jsonl" in done.stderr


def test_control_characters_do_not_reach_the_terminal(tmp_path, run):
    plain = console.plain
    assert (
        plain("a\x1b[2Jb\x07c\x9bd\u202ee\u200bf\rg\u2066h")
        == "a\\x1b[2Jb\\x07c\\x9bd\\u202ee\\u200bf\\rg\\u2066h"
    )
    assert plain("two\nlines, 日本語, 👩‍🚒 and é") == "two\nlines, 日本語, 👩‍🚒 and é"
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
        monkeypatch.setattr(type(dataset), "pins", {"test.json": source})
        done = run("fetch", "craigslist_bargains", PARLEY_CACHE=tmp_path / "cache")
    assert done.returncode == 0, done.stderr
    assert f"test.json comes from the mirror {mirror['url']}, since test.json: " in done.stderr
    assert "404" in done.stderr
    assert (tmp_path / "cache/craigslist_bargains/test.json").read_bytes() == content


FREE = [
    ["--help"], ["list"], ["tasks", "casino"], ["show", "casino", "--sample"],
    ["build", "casino", "--sample"], ["verify", "casino"], ["fetch", "--help"],
    ["run", "--help"], ["run", "cosrec", "--help"], ["run", "cosrec", "catalogue", "--help"],
    ["score", "--help"], ["score", "casino", "--help"], ["score", "casino", "deals", "--template"],
]  # fmt: skip
BROKEN = {
    "no Python": "def",
    "a lacking package": "import nothing_of_this_name",
    "a way out": "raise SystemExit",
    "no dict": "JOBS = TASKS = EXPORTS = 1",
    "other things in it": "JOBS = TASKS = EXPORTS = {'x': 1}; CONFIGS = ()",
}
NEEDING = {
    "jobs": [["run"], ["run", "spoilt"], ["run", "spoilt", "x"], ["fetch", "spoilt", "--job", "x"]],
    "tasks": [["tasks"], ["score", "spoilt", "x"]],
    "export": [],
    "transcript": [],
    "figures": [],
    "checks": [],
    "spoilt": [["build", "spoilt", "--sample"]],
}


@pytest.mark.parametrize("module", NEEDING)
def test_a_broken_module_stops_only_commands_that_need_it(module, run, tmp_path):
    for number, text in enumerate(BROKEN.values()):
        folder = tmp_path / str(number) / "spoilt"
        folder.mkdir(parents=True)
        shutil.copy(get("duo").card, folder)
        (folder / "spoilt.py").touch()
        (folder / f"{module}.py").write_text(text)
        home = {"PARLEY_DATASETS": folder.parent, "PARLEY_CACHE": tmp_path}
        for command in FREE:
            done = run(*command, **home)
            assert (done.returncode, done.stderr) == (0, ""), (command, text)
        for command in NEEDING[module]:
            done = run(*command, **home)
            assert done.returncode in (1, 2)
            assert f"{folder}/{module}.py" in done.stderr, (command, text)


def test_a_broken_script_does_not_stop_the_fetch_of_others(run, tmp_path, monkeypatch):
    for dataset in discover().values():
        monkeypatch.setattr(dataset.builder, "sources", classmethod(lambda cls: {}))
    (tmp_path / "more/spoilt").mkdir(parents=True)
    (tmp_path / "more/spoilt/spoilt.py").write_text("def")
    done = run("fetch", PARLEY_DATASETS=tmp_path / "more", PARLEY_CACHE=tmp_path)
    assert done.returncode == 1
    assert "casino: all files are in" in done.stdout
    assert "spoilt/spoilt.py" in done.stderr


def test_a_broken_card_does_not_stop_the_list(run, tmp_path):
    (tmp_path / "more/spoilt").mkdir(parents=True)
    (tmp_path / "more/spoilt/spoilt.py").touch()
    (tmp_path / "more/spoilt/README.md").write_text("no card")
    for options in ([], ["--json"]):
        done = run("list", *options, PARLEY_DATASETS=tmp_path / "more")
        assert done.returncode == 1
        assert done.stderr.startswith(f"{tmp_path}/more/spoilt/README.md: ")
        assert "strategies" in done.stdout


# Jobs -----------------------------------------------------------------------------------------


def test_run_lists_the_jobs(run):
    lines = run("run").stdout.splitlines()
    expected = [
        [name, job, found.summary]
        for name, dataset in discover().items()
        for job, found in dataset.jobs.items()
    ]
    assert ["cosrec", "catalogue"] in [row[:2] for row in expected]
    assert [line.split(maxsplit=2) for line in lines[2:]] == expected


def test_a_job_of_a_dataset_of_ones_own(run, tmp_path):
    """What the tool knows of a job it has from the folder."""
    folder = tmp_path / "more" / "own"
    shutil.copytree(get("casino").folder, folder)
    (folder / "casino.py").rename(folder / "own.py")
    (folder / "jobs.py").write_text(
        "from parley.jobs import Job\n\n\n"
        "def count(upto: int = 3) -> None:\n"
        '    """Count aloud."""\n'
        "    print(*range(upto))\n\n\n"
        'JOBS = {"count": Job(count)}\n'
    )
    home = {"PARLEY_DATASETS": tmp_path / "more"}
    (folder.parent / "spoilt").mkdir()
    (folder.parent / "spoilt/spoilt.py").touch()
    (folder.parent / "spoilt/jobs.py").write_text("JOBS")
    assert "Count aloud." in run("run", **home).stdout
    assert run("run", "own", "count", "--upto", "2", **home).stdout == "0 1\n"
    done = run("fetch", "own", "--job", "count", **home)
    assert (done.returncode, done.stderr) == (2, "the job count of own needs no files\n")
    done = run("fetch", "own", "--job", "count", "--spoon", "3", **home)
    assert (done.returncode, done.stdout) == (2, "")
    assert "No such option: --spoon\n" in done.stderr
    assert "spoilt/jobs.py" in done.stderr  # which may be the one that has it


JOB_ERRORS = {
    "a dataset without jobs": (
        ["run", "casino", "catalogue"], "casino has no jobs; there are some of: cosrec"
    ),
    "no such dataset": (["run", "cosrek"], "Did you mean cosrec?"),
    "no such job": (["run", "cosrec", "index"], "No such command 'index'"),
    "no such job to fetch for": (
        ["fetch", "cosrec", "--job", "index"], "cosrec has no job 'index'; there are: catalogue"
    ),
    "all datasets": (["fetch", "--job", "catalogue"], "--job takes the name of one dataset"),
    "a part of nothing": (["fetch", "cosrec", "--category", "Books"], "say which with --job"),
    "no such part": (
        ["fetch", "cosrec", "--job", "catalogue", "--category", "Book"],
        "no category is named Book; there are: All_Beauty,",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", JOB_ERRORS)
def test_errors_about_jobs(case, run):
    arguments, message = JOB_ERRORS[case]
    done = run(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


def test_a_job_without_its_extra_says_what_to_install(run, tmp_path, monkeypatch):
    (tmp_path / "raw").mkdir()
    monkeypatch.setitem(sys.modules, "duckdb", None)
    extras = ["duckdb>=1.5; extra == 'catalogue'", "duckdb>=1.1; extra == 'engines'"]
    monkeypatch.setattr("parley.extras.requires", lambda name: extras)
    done = run("run", "cosrec", "catalogue", "--input", "raw", "--output", "out")
    assert done.returncode == 1
    assert done.stderr == (
        'the package duckdb is not installed. Run `pip install "parley-datasets[catalogue]"`.\n'
    )


@pytest.fixture
def catalogue(monkeypatch):
    """A server of the raw files of two categories, which the job takes for its sources."""
    jobs = get("cosrec").load_module("jobs").JOBS
    with Server() as server:
        sources = {}
        for category in ("Small", "Large"):
            files = (f"raw/meta/meta_{category}.jsonl", f"raw/review/{category}.jsonl")
            for file in files:
                server.pages[f"/{file}"] = Page(file.ljust(25).encode() * 1000)
            sources[category] = {
                file: pinned(server.url(f"/{file}"), server.pages[f"/{file}"].body)
                for file in files
            }
        monkeypatch.setitem(jobs, "catalogue", replace(jobs["catalogue"], sources=sources))
        yield server


def test_the_files_of_a_job_are_fetched_in_parts(run, tmp_path, catalogue):
    file = tmp_path / "cache/cosrec-catalogue/raw/meta/meta_Small.jsonl"
    file.parent.mkdir(parents=True)
    body = catalogue.pages["/raw/meta/meta_Small.jsonl"].body
    file.with_name("meta_Small.jsonl.part").write_bytes(body[:20_000])  # of an interrupted fetch
    command = ["fetch", "cosrec", "--job", "catalogue", "--category", "Small"]
    done = run(*command, PARLEY_CACHE=tmp_path / "cache")
    assert done.returncode == 0, done.stderr
    assert "2 files of 50.0 kB, 30.0 kB to fetch; " in done.stderr
    assert f"--input {tmp_path}/cache/cosrec-catalogue\n" in done.stdout
    assert file.read_bytes() == body
    assert catalogue.ranges("/raw/meta/meta_Small.jsonl") == ["bytes=20000-"]
    assert not [path for path, _ in catalogue.requests if "Large" in path]
    asked = len(catalogue.requests)
    assert " 0 B to fetch" in run(*command, PARLEY_CACHE=tmp_path / "cache").stderr
    assert len(catalogue.requests) == asked
    done = run(*command, "--category", "Large", PARLEY_CACHE=tmp_path / "cache")
    assert "4 files of 100.0 kB, 50.0 kB to fetch" in done.stderr
    assert len(list((tmp_path / "cache").rglob("*.jsonl"))) == 4


def test_fetch_leaves_out_the_files_of_jobs(run, tmp_path, catalogue, monkeypatch):
    monkeypatch.setattr(Dataset, "pins", {})
    assert run("fetch", "cosrec", PARLEY_CACHE=tmp_path / "cache").returncode == 0
    assert catalogue.requests == []


def test_a_download_that_does_not_fit_is_not_begun(run, tmp_path, catalogue, monkeypatch):
    monkeypatch.setattr("shutil.disk_usage", lambda folder: SimpleNamespace(free=60_000))
    done = run("fetch", "cosrec", "--job", "catalogue", PARLEY_CACHE=tmp_path / "cache")
    assert done.returncode == 1
    assert "100.0 kB do not fit into the 60.0 kB that are free" in done.stderr
    assert catalogue.requests == []
    assert not Path(tmp_path / "cache").exists()
