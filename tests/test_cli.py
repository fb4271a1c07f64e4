"""The command line as a person uses it, from another folder."""

import asyncio
import json
import os
import re
import shlex
import shutil
import signal
import sys
from dataclasses import replace
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
import typer
from file_server import Page, pinned
from processes import python

from parley.authoring.new import write_skeleton
from parley.base import console, secret
from parley.base.errors import Interrupted, shorten
from parley.cli import app
from parley.cli.commands import NAMES, summaries
from parley.cli.options import completing
from parley.declaration.measured import FILE
from parley.declaration.registry import Dataset, discover, get


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


HEAVY = {"datasets", "pyarrow", "pandas", "httpx2", "huggingface_hub", "duckdb"}
RUN_ALL = f"""
import sys
from parley.cli import main
for commands in sys.argv[1:]:
    for command in commands.split(", "):
        sys.argv = ["parley", *command.split()]
        try: main()
        except SystemExit as end: assert not end.code or command == "verify --build none", command
    print("heavy:", *sorted({HEAVY} & set(sys.modules)))
"""
IMPORT_ALL = f"""
import sys
import parley
from parley import CHAT, Config, File, Folder, View, list, load, open, score
heavy = {{*{HEAVY}, "numpy", "typer", "rich", "yaml"}}
assert not heavy & set(sys.modules), heavy & set(sys.modules)
sys.modules["jinja2"] = None  # as where the extra is not installed
import typer
from parley.cli import app
group = typer.main.get_command(app)
for name in group.list_commands(None):
    group.get_command(None, name)
print(*sorted({HEAVY} & set(sys.modules)))
"""
LIGHT = "--help, list, run, run cosrec catalogue --help, fetch --help, tasks, tasks casino"
READING = "export casino jsonl, export casino sharegpt, export casino convokit, "
READING += "site casino, charts casino, sql from(casino.dialogues)"


def test_commands_import_no_more_than_they_need(tmp_path, sample_build):
    (tmp_path / "build").symlink_to(sample_build)
    shown = "show casino, show duo --json, export casino csv"
    commands = f"{LIGHT}, verify --build none", shown, READING
    done = python("-c", RUN_ALL, *commands, cwd=tmp_path)
    light, of_shown, others = re.findall("^heavy:(.*)$", done.stdout, re.MULTILINE)
    assert (light, of_shown, "datasets" in others) == ("", " pyarrow", False)


def test_neither_parley_nor_the_help_of_a_command_imports_anything_heavy(tmp_path):
    """Nor does completion, which imports the command too."""
    assert python("-c", IMPORT_ALL, cwd=tmp_path).stdout == "\n"


def test_help_lists_each_command_once_with_the_summary_that_its_own_begins_with(run):
    text = run("--help", COLUMNS=80).stdout.partition("-h, --help")[2]
    listed = re.findall(r"^  (\w+)  +\w", text, re.MULTILINE)
    assert listed == NAMES
    assert "..." not in text
    commands = {name: typer.main.get_command(app).get_command(None, name) for name in NAMES}
    helps = {each.name: each.help.partition("\n")[0] for each in commands.values()}
    assert helps == summaries()


@pytest.mark.parametrize(("typed", "completed"), [
    ("verify cas", {"casino"}), ("run cosrec ", {"catalogue"}),
    ("show duo ", {*get("duo").configs}), ("export casino c", {"convokit", "csv"}),
    ("score casino ", {*get("casino").tasks}),
    ("score casino deals --baseline ", {*get("casino").task("deals").baselines}),
    ("score nothing deals --baseline ", set()),
])  # fmt: skip
def test_a_shell_completes_the_names_of_a_dataset(run, monkeypatch, typed, completed):
    monkeypatch.setattr(sys.modules["__main__"], "__package__", None)  # else it is `python -m ...`
    words = f"parley {typed}"
    number = len(words.split()) - (not words.endswith(" "))
    done = run(_PARLEY_COMPLETE="complete_bash", COMP_WORDS=words, COMP_CWORD=number)
    assert {*done.stdout.split()} == completed
    complete = completing(lambda dataset: [f"{dataset.name}\x1b[2J"])
    assert complete(SimpleNamespace(params={"name": "casino"})) == ["casino\\x1b[2J"]


def test_list_names_every_config_and_split_and_what_is_only_documented(run):
    text = run("list").stdout
    as_json = {each["name"]: each["configs"] for each in json.loads(run("list", "--json").stdout)}
    for name, dataset in discover().items():
        listed = {config["name"]: list(config["splits"]) for config in as_json[name]}
        assert listed == {c: list(splits) for c, splits in dataset.splits.items()}
        assert f"\n{name}\nlicence: " in f"\n{text}"
        for config in dataset.configs.values():  # the modules are read, not run
            first = listed[config.name][0]
            assert re.search(rf"^{config.name} +{first} .* {config.description}$", text, re.M)
    configs = [config for each in as_json.values() for config in each]
    documented = [(c, split, rows) for c in configs for split, rows in c["documented"].items()]
    assert documented
    for config, split, rows in documented:
        assert config["splits"][split] is None
        assert re.search(rf" {split} +{rows:,}\*", text)


def test_build_and_show_every_sample(sample_build, run):
    done = run("build", "duo", "--sample", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    built = [(each["config"], each["split"]) for each in json.loads(done.stdout)["built"]]
    assert built == [(c, split) for c, splits in get("duo").splits.items() for split in splits]
    of = ("--build", sample_build)
    for name in discover():
        shown = run("show", name, *of).stdout
        row = json.loads(run("show", name, *of, "--json").stdout)
        assert json.loads(run("show", name, "--json", "--sample").stdout) == row
        assert run("show", name, str(next(iter(row.values()))), *of).stdout == shown
    for args in (["list"], ["verify", "casino", *of], ["show", "casino", *of]):
        text = run(*args).stdout
        assert "\x1b[" not in text  # no colours where there is no terminal
        assert max(map(len, text.splitlines())) > 90  # not cut, not padded
        assert not re.search(r" $", text, re.M)
    assert "small-talk" in text  # labels beside the turns


LONG = "x" * 300  # more than a name may have
# arguments, exit status, part of the message
ERRORS = [
    ("build casinno", 2, "'casinno'"), ("verify build/casino", 2, "casino"),
    ("show casino --build out/casino", 2, "above"), ("show casino 99999 --sample", 2, "'99999'"),
    ("show casino 12", 2, "`parley build casino`"),
    ("show casino --build nowhere", 2, "`parley build casino --build nowhere`"),
    ("diff out/casino out/duo", 2, "duo"), ("diff out out/casino", 2, "out/casino"),
    ("show casino --sample --build out", 2, "--sample"),
    ("export duo trec --build out", 2, "convokit"),
    ("show casino --build out --source out", 2, "--source"),
    ("build --source nowhere", 2, "--source nowhere: "),
    ("build casino --source upstream/casino", 2, "--source"),
    ("build casino", 1, "`parley fetch casino`"), ("build casino --source out", 1, "PARLEY_SOURCE"),
    ("publish casino --repo casino --build out", 2, "ORG/NAME"),
    ("publish casino --repo org/casino --build out --dry-run", 1, "out/casino"),
    (f"diff {LONG} {LONG}", 2, LONG[:100]),
    ("export casino csv --build out --ids pipe", 2, "--ids pipe: "),
    ("export casino csv --build out --ids nowhere", 2, "--ids nowhere: "),
    ("export casino csv --build out --ids long", 2, "9999"), ("pin pipe", 1, "pipe: "),
    ("tasks --update pipe", 2, "--update pipe: "),
    *((f"{command} out/casino/new", 1, "/samples/casino, ") for command in (
        "export casino csv --build out -o", "charts casino --build out -o", "site --build out -o",
        "build --sample --build", "new tea",
        "score casino strategies --build out --baseline majority --save-predictions",
    )),
    ("questions casino deals -o new --build out", 2, "inspect eval parley/casino_deals`"),
    ("questions cosrec retrieval -o new --build out", 2, "`parley export cosrec trec`"),
    ("run casino catalogue", 2, "'catalogue'"), ("run cosrec index", 2, "catalogue"),
    ("fetch cosrec --part Books", 2, "--job"),
    ("fetch cosrec --job catalogue --part Book", 2, "'Book'")
]  # fmt: skip


@pytest.fixture
def _in_time():
    """End the process if a command waits for ever."""
    signal.alarm(300)
    yield
    signal.alarm(0)


@pytest.mark.usefixtures("_in_time")
@pytest.mark.parametrize(("args", "status", "message"), ERRORS)
def test_errors_are_a_message_and_a_status(tmp_path, sample_build, run, args, status, message):
    (tmp_path / "out").symlink_to(sample_build)
    (tmp_path / "upstream").mkdir()
    (tmp_path / "long").write_text("9" * 1_000_000)
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "upstream/casino").symlink_to(get("casino").sample)
    done = run(*shlex.split(args), PARLEY_CACHE=tmp_path / "cache")
    assert (done.returncode, done.stdout) == (status, "")
    assert message in done.stderr
    assert len(done.stderr) < 2000
    assert not (tmp_path / "build").exists()


@pytest.mark.usefixtures("_in_time")
@pytest.mark.parametrize("file", ["measured.json", "README.md", "sample/dialogues.jsonl", "tea.py"])
def test_a_fifo_in_a_dataset_folder_holds_up_no_command(file, run, tmp_path):
    assert run("new", "tea", tmp_path / "own").returncode == 0
    (tmp_path / "own/tea" / file).unlink(missing_ok=True)
    os.mkfifo(tmp_path / "own/tea" / file)
    for command in ("list", "card tea", "check tea", "build tea --sample", "verify tea"):
        done = run(*command.split(), PARLEY_DATASETS=tmp_path / "own")
        needs_it = file != "sample/dialogues.jsonl" or command.startswith(("check", "build"))
        assert (done.returncode != 0) == needs_it or command == "verify tea"


@pytest.mark.skipif(sys.platform != "linux", reason="such a name cannot be made")
def test_a_place_that_is_not_utf8_is_to_blame(run, tmp_path, monkeypatch):
    odd = tmp_path / "\udcff"
    odd.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(odd))
    done = [run("check", "casino")]
    monkeypatch.chdir(odd)
    done.append(run("build", "casino", "--sample"))
    assert [each.returncode for each in done] == [2, 2]
    assert all("\\udcff" in each.stderr for each in done)
    assert not list(odd.iterdir())


def test_the_variable_to_blame_and_an_internal_error_are_named(run, monkeypatch):
    done = run("build", "casino", PARLEY_SOURCE="nowhere")
    assert done.returncode == 2
    assert "PARLEY_SOURCE nowhere: " in done.stderr
    monkeypatch.setattr("parley.cli.common.discover", lambda: {}["nothing"])
    with pytest.raises(AssertionError, match="KeyError: 'nothing'"):
        run("list")


CONTROLS = (  # the first and the last of each kind
    "\0\t\x0b\r\x1b\x1f\x7f\x9b\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028\u2029\u202a\u202e"
    "\u2060\u2066\u2069\ufeff\ufff9\ufffb\ufffe\uffff\U000e0000\U000e007f"
)


def test_a_library_swallows_no_signal():
    """As asyncio does others of a callback, and Python some while it compiles a module."""

    async def wait():
        asyncio.get_running_loop().call_soon(interrupted.throw, Interrupted(2))
        await asyncio.sleep(0.1)

    interrupted = (number for number in range(1))
    with pytest.raises(Interrupted):
        asyncio.run(wait())


def test_a_token_is_looked_up_once_for_a_print_and_hidden(run, sample_build, monkeypatch):
    monkeypatch.setattr(secret, "_secrets", found := Mock(wraps=secret._secrets))
    query = "select 'hf_writes' from range(500)"
    done = run("sql", query, "--build", sample_build, HF_TOKEN="hf_writes")
    assert (done.stdout.count("…"), "hf_writes" in done.stdout) == (501, False)
    assert found.call_count < 10


def test_control_characters_do_not_reach_the_terminal(run):
    for each in CONTROLS:
        assert console.plain(f"a{each}b") == f"a{each.encode('unicode_escape').decode()}b"
        assert each not in console.to_json([each])
        assert json.loads(console.to_json([each])) == [each]
    kept = "two\nlines, 日本語, 👩‍🚒 and é"
    assert console.plain(kept) == kept
    done = run("build", "casino", "--source", "no\x1b[2Jwhere")
    assert "\x1b" not in done.stderr
    assert "no\\x1b[2Jwhere" in done.stderr


@pytest.mark.parametrize("length", [499, 500, 501, 5000])
def test_a_long_line_is_shortened_in_the_middle(length):
    line = "".join(chr(0x4E00 + number) for number in range(length))
    assert shorten(line) == (line if length <= 500 else f"{line[:300]}…{line[-199:]}")


FREE = [
    "--help", "list", "tasks casino", "show casino --sample", "build casino --sample",
    "verify casino", "fetch --help", "run --help", "run cosrec", "run cosrec catalogue --help",
    "score --help", "score casino deals --template",
]  # fmt: skip
BROKEN = [
    "def",
    "JOBS = TASKS = EXPORTS = CHARTS = {'x': 1}; CONFIGS = ()", "raise BaseException",
    "class Odd(Exception):\n    __str__ = None\nraise Odd",
]  # fmt: skip
NEEDING = {
    "jobs": ["run", "run spoilt", "run spoilt x", "fetch spoilt --job x"],
    "tasks": ["tasks", "score spoilt x"],
    **dict.fromkeys(("export", "transcript", "charts", "figures", "checks"), ()),
    "spoilt": ["build spoilt --sample"],
}


def test_a_broken_module_stops_only_commands_that_need_it(run, tmp_path):
    folder = tmp_path / "more/spoilt"
    folder.mkdir(parents=True)
    for file in (get("duo").card, get("duo").folder / FILE):
        shutil.copy(file, folder)
    home = {"PARLEY_DATASETS": folder.parent, "PARLEY_CACHE": tmp_path}
    for text in BROKEN:
        for module in NEEDING:
            (folder / f"{module}.py").write_text(text)
        for module, commands in NEEDING.items():
            for command in commands:
                done = run(*command.split(), **home)
                assert done.returncode in (1, 2)
                assert f"{folder}/{module}.py" in done.stderr, command
    for command in FREE:
        done = run(*command.split(), **home)
        steps = re.sub(r"^casino: [\w ]+\n", "", done.stderr, flags=re.MULTILINE)  # of a slow run
        assert (done.returncode, steps) == (0, ""), command
        assert command != "list" or "spoilt" in done.stdout


def test_a_broken_script_or_card_does_not_stop_the_others(run, tmp_path, monkeypatch):
    monkeypatch.setattr(Dataset, "sources", property(lambda dataset: dataset.builder and {}))
    (tmp_path / "more/spoilt").mkdir(parents=True)
    (tmp_path / "more/spoilt/spoilt.py").write_text("def")
    home = {"PARLEY_DATASETS": tmp_path / "more", "PARLEY_CACHE": tmp_path}
    for command, card, said, failed in (
        ("fetch", "", "casino: ", "spoilt.py"),
        ("list", "no card", "strategies", "README.md:"),
        ("list", "---\npretty_name: [a]\n---\n", "strategies", "README.md:"),
    ):
        (tmp_path / "more/spoilt/README.md").write_text(card)
        done = run(command, **home)
        assert done.returncode == 1
        assert said in done.stdout
        assert f"{tmp_path}/more/spoilt/{failed}" in done.stderr


JOB = '''
from parley.declaration.jobs import Job

def count(upto: int = 3):
    """Count aloud."""
    print(*range(upto))

JOBS = {"count": Job(count)}
'''


def test_a_job_of_a_dataset_of_ones_own(run, tmp_path):
    """What the tool knows of a job it has from the folder."""
    (write_skeleton("own", tmp_path / "more") / "jobs.py").write_text(JOB)
    home = {"PARLEY_DATASETS": tmp_path / "more"}
    assert "Count aloud." in run("run", **home).stdout
    assert run("run", "own", "count", "--upto", "2", **home).stdout == "0 1\n"
    done = run("fetch", "own", "--job", "count", **home)
    assert (done.returncode, "count" in done.stderr) == (2, True)


def test_the_files_of_a_job_are_fetched_in_parts_if_they_fit(run, server, tmp_path, monkeypatch):
    jobs = get("cosrec").load_module("jobs").JOBS
    command = ["fetch", "cosrec", "--job", "catalogue"]
    home = {"PARLEY_CACHE": tmp_path / "cache"}
    sources = {}
    for category in ("Small", "Large"):
        sources[category] = {}
        for file in (f"raw/meta/meta_{category}.jsonl", f"raw/review/{category}.jsonl"):
            page = server.pages[f"/{file}"] = Page(file.ljust(25).encode() * 1000)
            sources[category][file] = pinned(server.url(f"/{file}"), page.body)
    monkeypatch.setitem(jobs, "catalogue", replace(jobs["catalogue"], sources=sources))
    with monkeypatch.context() as patch:
        patch.setattr(Dataset, "pins", {})
        assert run("fetch", "cosrec", **home).returncode == 0  # no file of a job
        patch.setattr("shutil.disk_usage", lambda folder: SimpleNamespace(free=60_000))
        done = run(*command, **home)
    assert done.returncode == 1
    assert re.search(r"100\.0 kB.* 60\.0 kB", done.stderr)
    assert server.requests == []
    assert not (tmp_path / "cache/cosrec-catalogue").exists()
    done = run(*command, "--part", "Small", **home)
    assert done.returncode == 0, done.stderr
    assert re.search(r"\b2 .*50\.0 kB.*50\.0 kB", done.stderr)
    assert f"--input {tmp_path}/cache/cosrec-catalogue\n" in done.stdout
    assert not [path for path, _ in server.requests if "Large" in path]
    done = run(*command, "--part", "Small", "--part", "Large", **home)
    assert re.search(r"\b4 .*100\.0 kB.*50\.0 kB", done.stderr)
    assert len(list((tmp_path / "cache").rglob("*.jsonl"))) == 4
