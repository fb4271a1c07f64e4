"""Untrusted input stays data: it runs nothing, reads nothing outside and crashes nothing."""

import ast
import copy
import hashlib
import io
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from datetime import date
from pathlib import Path

import huggingface_hub
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from hub import User
from server import Page, Server
from test_publish import held

from parley.cli import main
from parley.collection import discover, get
from parley.errors import PublishError
from parley.folder.built import open_folder
from parley.folder.card import parse, summary
from parley.folder.measured import FILE as MEASURED
from parley.hub.publish import publish
from parley.rows.strict_json import loads
from parley.scoring.prediction_formats import TREC_RUN
from parley.terminal.console import plain, to_json

ROOT = Path(__file__).parents[2]
CANARY = "canary-5d1e7c"
OURS = ("PARLEY_SOURCE", "PYTHONPATH")  # of the environment
# title, clear screen, C1's CSI, backspaces, a return, bidirectional override, a zero-width space
ESCAPES = "\x1b]0;owned\x07\x1b[2J\x9b31m\x08\x08\r\u202egnp\u200b\x7f\u2066"
ACTING = set(ESCAPES) - set("]0;owned[2J31mgnp")


PREPARE = """
import parley.build, parley.exports.export, parley.folder.diff, parley.hub.publish
import parley.terminal.report, parley.terminal.show
from parley.cli import main
from parley.collection import discover
for d in discover().values(): d.builder, d.figures, d.checks, d.transcript, d.exports
"""
PROGRAM = """
import json, os, signal, sys, traceback
{prepare}
from parley.cli import main
for number, command in enumerate(json.load(sys.stdin)):
    child = os.fork()
    if not child:
        signal.alarm(30)  # a hanging command must end
        for stream in (1, 2):
            os.dup2(os.open(f"{{number}}.log", 0o2102), stream)
        sys.argv = ["parley", *command]
        status = 0
        try: main()
        except SystemExit as end: status = end.code or 0
        except BaseException: traceback.print_exc(); status = 3
        sys.stdout.flush(); sys.stderr.flush()
        os._exit(status)  # quicker than a normal exit
    _, status = os.waitpid(child, 0)
    print(os.waitstatus_to_exitcode(status), flush=True)
"""


def run(tmp_path, commands, prepare=PREPARE, **environ):
    """Run each command in a fork of one process; return exit statuses and outputs.

    Each must end with a message without control characters, never with a traceback.
    """
    logs = tmp_path / f"logs-{time.monotonic_ns()}"
    logs.mkdir()
    keep = {k: v for k, v in os.environ.items() if k not in OURS}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(prepare=prepare)],
        input=json.dumps([list(map(str, command)) for command in commands]),
        cwd=logs,
        env=keep | {"PYTHONPATH": str(ROOT)} | environ,
        capture_output=True,
        text=True,
        timeout=180,
    )
    statuses = list(map(int, done.stdout.split()))
    assert len(statuses) == len(commands), done.stderr
    outputs = [(logs / f"{n}.log").read_bytes().decode() for n in range(len(commands))]
    for command, status, output in zip(commands, statuses, outputs, strict=True):
        assert status in (0, 1, 2), f"{status}: {command}\n{output}"
        assert "Traceback" not in output
        assert "internal error" not in output
        assert CANARY not in output
        assert not ACTING & set(output)
    return list(zip(statuses, outputs, strict=True))


# Code -----------------------------------------------------------------------------------

MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve", "joblib", "pty", "code"}
CALLS = {"eval", "exec", "compile", "__import__", "system", "popen", "spawn", "getoutput"}
LOADERS = {"load", "load_all", "unsafe_load", "full_load"}
SAFE = "getattr(yaml, 'CSafeLoader', yaml.SafeLoader)"


def scripts():
    found = [
        *ROOT.glob("parley/**/*.py"),
        *(p for d in discover().values() for p in d.folder.glob("*.py")),
    ]
    assert len(found) > 30
    return sorted(set(found))


def unsafe(tree):
    """Yield the parts of a script that could run data."""
    constants = {
        ast.unparse(node.targets[0]): ast.unparse(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [getattr(node, "module", None) or "", *(alias.name for alias in node.names)]
            yield from (name for name in names if name.split(".")[0] in MODULES)
        elif isinstance(node, ast.Call):
            name = getattr(node.func, "id", None) or getattr(node.func, "attr", "")
            owner = getattr(getattr(node.func, "value", None), "id", "")
            if name in CALLS and owner != "re":
                yield name
            if owner == "yaml" and name in LOADERS:
                loader = ast.unparse(node.args[1]) if node.args[1:] else ""
                if constants.get(loader, loader) != SAFE:
                    yield f"yaml.{name}"
            yield from (k.arg for k in node.keywords if k.arg in ("shell", "trust_remote_code"))
            if any(k.arg == "allow_pickle" for k in node.keywords):
                yield "allow_pickle"


def test_no_code_can_run_data():
    found = {
        f"{path.relative_to(ROOT)}: {what}"
        for path in scripts()
        for what in unsafe(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert found == set()


def test_unsafe_code_is_found():
    scripts = "from pickle import loads|import os.path, dill|eval('1')|builtins.exec(x)"
    scripts += "|os.system('true')|subprocess.run('true', shell=True)|yaml.load(x)"
    scripts += "|loader = yaml.Loader; yaml.load(x, loader)|numpy.load(x, allow_pickle=True)"
    assert [script for script in scripts.split("|") if not list(unsafe(ast.parse(script)))] == []


@pytest.mark.parametrize("command", ["verify", "build"])
def test_no_file_of_the_current_folder_is_code(command, sample_build, tmp_path):
    """Neither the command nor its processes import it."""
    here = tmp_path / "here"
    shutil.copytree(sample_build, here)
    for name in {*sys.stdlib_module_names, "datasets", "numpy", "parley", "pyarrow", "yaml"}:
        (here / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'a').write('{name} ')")
    program = tmp_path / "bin" / "parley"  # as installed: not by -c or -m
    program.parent.mkdir()
    program.write_text("from parley.cli import main\nmain()\n")
    options = {"verify": ["--build", "."], "build": ["--sample", "--build", "built"]}[command]
    done = subprocess.run(
        [sys.executable, program, command, *options],
        cwd=here,
        env={k: v for k, v in os.environ.items() if k != "PYTHONPATH"} | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert not (tmp_path / "ran").exists(), (tmp_path / "ran").read_text()
    assert done.returncode == 0, done.stderr


# Cards ----------------------------------------------------------------------------------

BOMBS = {
    "a command": "a: !!python/object/apply:os.system ['touch owned']",
    "an object": "a: !!python/object/new:subprocess.Popen [[touch, owned]]",
    "a module": "a: !!python/module:antigravity",
    "a name": "a: !!python/name:os.system",
    "a tag of nobody": "a: !whatever 1",
    "aliases": "a: &a [x]\nb: *a",
    "billions": "a0: &a0 [x, x]\n"
    + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 40)),
    "billions merged": "a0: &a0 {k: v}\n"
    + "".join(f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}]}}\n" for n in range(1, 40)),
    "itself": "a: &a [*a]",
    "depth in brackets": "a: " + "[" * 300_000,
    "depth in braces": "a: " + "{a: " * 300_000,
    "depth in dashes": "- " * 300_000,
    "depth in question marks": "? " * 300_000,
    "no date": "a: 2001-99-99",
    "a long number": "a: " + "9" * 100_000,
    "two documents": "a: 1\n---\nb: 2",
}


LIBYAML = {"libyaml": "", "no libyaml": "del yaml.CSafeLoader, yaml.CSafeDumper"}


def bombs(tmp_path):
    """Write each bad card; a program in one would create the file `owned`."""
    for name, bomb in BOMBS.items():
        card = tmp_path / name / "casino" / "README.md"
        card.parent.mkdir(parents=True)
        front = bomb.replace("owned", str(tmp_path / "owned"))
        card.write_text(f"---\n{front}\n---\ntext\n")
        yield name, card


@pytest.mark.parametrize("libyaml", LIBYAML)
def test_verify_rejects_a_card_that_is_a_bomb_or_a_program(sample_build, tmp_path, libyaml, tally):
    """With 2 GB of memory and, in `run`, 30 seconds."""
    commands = []
    for _, card in bombs(tmp_path):
        shutil.copy(sample_build / "casino" / "provenance.json", card.parent)
        commands.append(("verify", "casino", "--build", card.parents[1]))
    limit = "import resource, yaml; resource.setrlimit(resource.RLIMIT_DATA, (2 << 30, 2 << 30))"
    found = run(tmp_path, commands, prepare=f"{limit}\n{LIBYAML[libyaml]}\n{PREPARE}")
    assert [status for status, _ in found] == [1] * len(BOMBS)
    invalid = ["is not valid YAML" in output for _, output in found]
    assert dict(zip(BOMBS, invalid, strict=True)) == {b: b != "two documents" for b in BOMBS}
    assert not (tmp_path / "owned").exists()
    tally("card that is a bomb or a program", len(BOMBS))


def test_results_without_libyaml_are_the_same(sample_build, tmp_path):
    """PyYAML without a wheel for the system lacks libyaml."""
    without = f"import yaml; {LIBYAML['no libyaml']}"
    commands = [
        ("build", "--sample", "--build", tmp_path / "out"),
        ("verify", "--build", sample_build),
        ("list", "--json"),
    ]
    built, verified, listed = run(tmp_path, commands, prepare=without)
    assert (built[0], verified[0], listed[0]) == (0, 0, 0)
    assert json.loads(listed[1]) == [summary(dataset) for dataset in discover().values()]
    files = [path.relative_to(sample_build) for path in sample_build.rglob("*.*")]
    assert len(files) > 50
    for file in files:
        assert (tmp_path / "out" / file).read_bytes() == (sample_build / file).read_bytes()


def test_a_card_may_be_40_levels_deep():
    deep = "[" * 40 + "]" * 40
    assert parse(f"---\na: {deep}\n---\n", "")[0]


ODD = (None, True, 5, 1.5, "x", [], {}, [None], [[]], [{}], {"a": 1}, date(2001, 1, 1))


def places(value, path=()):
    """Yield the path of every value in front matter, but only the first of each list."""
    yield path
    if isinstance(value, dict | list):
        for step, inner in value.items() if isinstance(value, dict) else enumerate(value[:1]):
            yield from places(inner, (*path, step))


def test_list_shows_any_folder_or_names_the_odd_place(tmp_path, monkeypatch, capsys, tally):
    folder = tmp_path / "datasets" / "talks"
    folder.mkdir(parents=True)
    (folder / "talks.py").touch()
    monkeypatch.setenv("PARLEY_DATASETS", str(folder.parent))
    monkeypatch.setattr("sys.argv", ["parley", "list", "talks"])
    monkeypatch.setattr("signal.signal", lambda *_: None)
    known = json.loads((get("casino").folder / MEASURED).read_text())
    known |= {part: dict([*known[part].items()][:1]) for part in ("configs", "splits", "figures")}
    sound = {"README.md": {"pretty_name": "Talks"}, MEASURED: known}
    statuses = []
    for file, path in [(name, path) for name in sound for path in places(sound[name])]:
        for odd in ODD:
            holder = [copy.deepcopy(sound[file])]
            value = holder
            for step in (0, *path)[:-1]:
                value = value[step]
            value[(0, *path)[-1]] = odd
            found = sound | {file: holder[0]}
            front = yaml.safe_dump(found["README.md"])
            (folder / "README.md").write_text(f"---\n{front}---\n")
            (folder / MEASURED).write_text(json.dumps(found[MEASURED], default=str))
            with pytest.raises(SystemExit) as ended:
                main()
            statuses.append(ended.value.code or 0)
            said = capsys.readouterr().err
            assert (said == "") == (statuses[-1] == 0), (path, odd)
            assert f"{folder}/{file}:" in said or not said, said
    assert set(statuses) == {0, 1}
    tally("dataset folder of an odd form listed", len(statuses))


# What a person types --------------------------------------------------------------------


def test_any_argument_gets_an_answer(sample_build, tmp_path, tally):
    """tests/test_cli.py has long paths and wrong names."""
    (tmp_path / "file").write_text("")
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "zero").symlink_to("/dev/zero")
    names = ("file", "fifo", "zero", ":bomb:", ESCAPES)
    paths = [*(tmp_path / name for name in names), "", "\udcff"]
    texts = ["", "/", "\udcff", "\n", "x" * 5000, "-1", ":bomb:", ESCAPES]
    build = ("--build", sample_build)
    commands = [
        command
        for path in paths
        for command in (
            ("build", "casino", "--sample", "--build", path),
            ("build", "casino", "--source", path),
            ("verify", "casino", "--build", path),
            ("verify", "casino", *build, "--source", path),
            ("show", "casino", "--build", path),
            ("show", "casino", "--source", path),
            ("diff", path, sample_build / "casino"),
            ("export", "casino", "convokit", path, *build),
            ("site", "casino", "--build", path, "--output", tmp_path / "site"),
            ("site", "casino", *build, "--output", path),
            ("publish", "casino", "--repo", "org/a", "--build", path, "--dry-run"),
        )
    ] + [
        command
        for text in texts
        for command in (
            ("build", "--sample", "--", text),
            ("build", "casino", "--sample", "--build", tmp_path / "out", "--workers", text),
            ("build", "casino", "--sample", "--build", tmp_path / "out", "--max-shard-size", text),
            ("show", "casino", *build, "--", text),
            ("export", "casino", *build, "--", text, tmp_path / "new"),
            ("publish", "casino", "--dry-run", *build, "--repo", text),
            ("publish", "casino", "--dry-run", *build, "--repo", "org/a", "--endpoint", text),
            ("list", f"--{text}"),
            ("run", "cosrec", "catalogue", f"--{text}"),
            ("new", text, tmp_path / ":bomb:"),
        )
    ]
    found = run(tmp_path, commands)
    assert all(output.strip() for _, output in found)
    assert not [output for _, output in found if "\N{BOMB}" in output]
    for command, answer in zip(commands, found, strict=True):
        if any("\udcff" in str(word) for word in command):
            assert (answer[0], "is not UTF-8" in answer[1]) == (2, True)
    tally("command with an odd path, name or number", len(commands))


def test_on_windows_one_line_says_where_it_runs(tmp_path):
    commands = [("build", "--sample"), ("fetch",), ("export", "casino", "convokit", "x"), ("list",)]
    *others, listed = run(tmp_path, commands, prepare="sys.modules['fcntl'] = None")
    for status, output in others:  # other libraries may print before it
        *_, line = output.splitlines()
        assert (status, line) == (1, "parley runs on Linux and macOS; on Windows, use it in WSL")
    assert listed[0] == 0


# The terminal ---------------------------------------------------------------------------


def test_controls_are_shown_instead_of_acting():
    assert not ACTING & set(plain(ESCAPES))
    assert json.loads(to_json([ESCAPES, {ESCAPES: 1}, "é\u200d\n😀"])) == [
        ESCAPES,
        {ESCAPES: 1},
        "é\u200d\n😀",
    ]
    assert not ACTING & set(to_json([ESCAPES, {ESCAPES: 1}]))


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_json_parses_strictly_whatever_the_terminal_takes(encoding, monkeypatch):
    stream = io.TextIOWrapper(io.BytesIO(), encoding, errors="backslashreplace")
    monkeypatch.setattr("sys.stdout", stream)
    print(to_json([math.nan, {"é😀": math.inf}, (-math.inf,), 0.5]), flush=True)
    text = stream.buffer.getvalue().decode(encoding)
    read = json.loads(text, parse_constant=pytest.fail)
    assert read == ["NaN", {"é😀": "Infinity"}, ["-Infinity"], 0.5]


def reseal(folder):
    """Update the hashes in a provenance, as somebody who hides a change would."""
    path = folder / "provenance.json"
    provenance = json.loads(path.read_text())
    for config in provenance["configs"].values():
        for split in config.values():
            for file in split["files"]:
                body = (folder / file["path"]).read_bytes()
                file.update(bytes=len(body), sha256=hashlib.sha256(body).hexdigest())
    path.write_text(json.dumps(provenance))


def spoil(value):
    """Put escapes into every text."""
    if isinstance(value, str):
        return ESCAPES + value
    if isinstance(value, list):
        return list(map(spoil, value))
    return {k: spoil(v) for k, v in value.items()} if isinstance(value, dict) else value


@pytest.fixture
def hostile(sample_build, tmp_path):
    """The built samples with escapes in every text of every row."""
    build = shutil.copytree(sample_build, tmp_path / "hostile")
    for path in build.rglob("*.parquet"):
        table = pq.read_table(path)
        pq.write_table(pa.Table.from_pylist(spoil(table.to_pylist()), table.schema), path)
    for name in discover():
        reseal(build / name)
    return build


def test_rows_with_escapes(sample_build, hostile, tmp_path, tally):
    commands = []
    for name, dataset in discover().items():
        out = tmp_path / name
        commands += [
            ("show", name, "--build", hostile),
            ("show", name, "--build", hostile, "--json"),
            ("show", name, ESCAPES, "--build", hostile),
            ("verify", name, "--build", hostile),
            ("diff", sample_build / name, hostile / name),
            *(("export", name, x, out / x, "--build", hostile) for x in [*dataset.exports, "csv"]),
            ("charts", name, out / "charts", "--build", hostile),
        ]
    found = run(tmp_path, commands)
    for (name, *args), (status, output) in zip(commands, found, strict=True):
        if name in ("verify", "diff"):
            assert (status, "\\x1b" in output) == (1, True)
        elif ESCAPES in args:
            assert (status, "no dialogue" in output) == (2, True)
        elif name == "show":
            assert ("\\u001b[2J" if "--json" in args else "\\x1b[2J") in output
    tally("command on rows with terminal escapes", len(commands))


def test_names_and_provenance_with_escapes(sample_build, tmp_path, tally):
    builds = [shutil.copytree(sample_build, tmp_path / name) for name in ("one", "two")]
    for build in builds:
        folder = build / "casino"
        shutil.copytree(folder / "strategies", folder / ESCAPES)
        (folder / ESCAPES[::-1]).write_text("")
    path = builds[1] / "casino" / ESCAPES / "train-00000-of-00001.parquet"
    table = pq.read_table(path)
    assert table.num_rows > 10
    pq.write_table(pa.Table.from_pylist(spoil(table.to_pylist()), table.schema), path)
    provenance = builds[1] / "casino/provenance.json"
    said = json.loads(provenance.read_text())
    said |= {"version": ESCAPES, "missing": [ESCAPES], "sources": {ESCAPES: {ESCAPES: ESCAPES}}}
    provenance.write_text(json.dumps(said))
    one, two = (build / "casino" for build in builds)
    commands = [
        ("verify", "casino", "--build", builds[1]),
        ("diff", one, two),
        ("verify", "casino", "--build", builds[1], "--json"),
        ("diff", one, two, "--json"),
    ]
    wrong = ({**said, ESCAPES: 1}, {**said, "dataset": ESCAPES}, {**said, "version": [ESCAPES]})
    for number, what in enumerate(wrong):
        other = shutil.copytree(two, tmp_path / str(number) / "casino")
        (other / "provenance.json").write_text(json.dumps(what))
        commands += [("verify", "casino", "--build", other.parent), ("diff", other, other)]
    verified, differs, *others = run(tmp_path, commands)
    assert (verified[0], "unknown file" in verified[1], "\\x1b" in verified[1]) == (1, True, True)
    assert (differs[0], "more changed rows" in differs[1]) == (1, True)
    assert {status for status, _ in others} <= {1, 2}
    tally("command on names with terminal escapes", len(commands))


def test_a_source_and_a_server_with_escapes(tmp_path, tally):
    """The records break the shape and the server answers nonsense."""
    folder = shutil.copytree(get("casino").folder, tmp_path / "datasets" / "talks")
    script = (folder / "casino.py").read_text(encoding="utf-8")
    (folder / "casino.py").unlink()
    data = folder / "sample/data/casino.json"
    records = json.loads(data.read_text(encoding="utf-8"))
    records[0][ESCAPES] = ESCAPES
    records[1]["annotations"][0][1] = ESCAPES
    data.write_text(json.dumps(records, ensure_ascii=False), encoding="utf-8")
    answer = f"HTTP/1.1 404 {ESCAPES!s}".encode().replace(b"\r", b"")
    with Server() as server:
        server.pages["/a"] = Page(b"", raw=answer + b"\r\nContent-Length: 0\r\n\r\n")
        pin = {"url": server.url("/a"), "sha256": "0" * 64}
        pins = f'for each in Casino.sources().values():\n    vars(each)["pin"] = {pin}\n'
        (folder / "talks.py").write_text(f"{script}\n{pins}", encoding="utf-8")
        more = {"PARLEY_DATASETS": str(tmp_path / "datasets"), "NO_PROXY": "127.0.0.1"}
        more["PARLEY_CACHE"] = str(tmp_path / "cache")
        commands = [("build", "talks", "--sample"), ("fetch", "talks")]
        built, fetched = run(tmp_path, commands, **more)
        assert (built[0], "unknown field" in built[1]) == (1, True)
        assert (fetched[0], "the server answered 404" in fetched[1]) == (1, True)
    tally("command on a source or server with terminal escapes", 2)


# Folders from elsewhere -----------------------------------------------------------------


@pytest.fixture
def outside(tmp_path):
    """Files that no command may read: text, Parquet and a fifo that would block."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text(CANARY)
    (outside / "provenance.json").write_text(json.dumps({"dataset": CANARY}))
    rows = [{"text": CANARY, "dialogue_id": CANARY}]
    pq.write_table(pa.Table.from_pylist(rows), outside / "train-00000-of-00001.parquet")
    os.mkfifo(outside / "fifo")
    return outside


def link(path, target):
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
    path.symlink_to(target)


def fifo(path, _=None):
    path.unlink()
    os.mkfifo(path)


def huge(path, _=None):
    with path.open("r+b") as file:
        file.truncate(1 << 40)


TRAIN = "dialogues/train-00000-of-00001.parquet"
PLACED = {
    "a Parquet file is a link": lambda f, o: link(f / TRAIN, o / "train-00000-of-00001.parquet"),
    "a Parquet file is a link to text": lambda f, o: link(f / TRAIN, o / "secret.txt"),
    "a Parquet file is a link to a device": lambda f, o: link(f / TRAIN, "/dev/zero"),
    "a Parquet file is a fifo": lambda f, o: fifo(f / TRAIN),
    "a Parquet file is huge": lambda f, o: huge(f / TRAIN),
    "a config is a link": lambda f, o: link(f / "dialogues", o),
    "the card is a link": lambda f, o: link(f / "README.md", o / "secret.txt"),
    "the card is a fifo": lambda f, o: fifo(f / "README.md"),
    "the card is a link to a device": lambda f, o: link(f / "README.md", "/dev/zero"),
    "the card is huge": lambda f, o: huge(f / "README.md"),
    "the provenance is a link": lambda f, o: link(f / "provenance.json", o / "provenance.json"),
    "the provenance is a fifo": lambda f, o: fifo(f / "provenance.json"),
    "the provenance is huge": lambda f, o: huge(f / "provenance.json"),
    "a file more is a link": lambda f, o: link(f / "more.txt", o / "secret.txt"),
    "a folder more is a link": lambda f, o: link(f / "more", o),
    "a file more is a fifo": lambda f, o: os.mkfifo(f / "more"),
}


def state(*folders):
    """Return the links and times of all files in folders."""
    return {
        str(path): (os.readlink(path) if path.is_symlink() else path.lstat().st_mtime_ns)
        for folder in folders
        for path in sorted(folder.rglob("*"))
    }


def commands_on(folder, sound, out):
    """Return commands that read a build of CaSiNo; `verify` comes first."""
    build = ("--build", folder.parent)
    return [
        ("verify", "casino", *build),
        ("diff", sound, folder),
        ("show", "casino", *build),
        ("show", "casino", *build, "--json"),
        ("export", "casino", "convokit", out / "convokit", *build),
        ("export", "casino", "csv", out / "csv", *build),
        ("charts", "casino", out / "charts", *build),
        ("site", "casino", *build, "--output", out / "site"),
    ]


def test_nothing_outside_a_folder_is_read_or_written(hub, sample_build, outside, tmp_path, tally):
    hub.tokens["hf_writes"] = User("ana", orgs=("org",))
    commands, folders = [], []
    for number, place in enumerate(PLACED.values()):
        folder = shutil.copytree(sample_build / "casino", tmp_path / str(number) / "casino")
        place(folder, outside)
        folders.append(folder)
        commands += commands_on(folder, sample_build / "casino", tmp_path / "out" / str(number))
    commands.append(("publish", "casino", "--repo", "org/casino", "--build", tmp_path / "0"))
    provenance = folders[0] / "provenance.json"  # a sample would be refused unread
    said = json.loads(provenance.read_text()) | {"sample": False}
    provenance.write_text(json.dumps(said))
    before = state(outside, *folders)
    found = run(tmp_path, commands, **hub.environ(tmp_path / "home", "hf_writes"))
    assert {status for status, _ in found[:-1:8]} == {1}
    status, output = found[-1]
    assert (status, "`parley verify casino --build " in output) == (1, True)
    assert "` fails; read its output" in output
    assert not hub.repos  # nothing was uploaded, and nothing made
    assert state(outside, *folders) == before
    exported = [path.read_text() for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert exported
    assert not any(CANARY in text for text in exported)
    tally("command on a link, device or huge file in a folder", len(commands))


@contextmanager
def bounded(seconds):
    """Fail after some seconds, for example when a fifo blocks."""

    def give_up(*_):
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


LONG = {
    "digits of a score": (TREC_RUN.parse, b"q Q0 d 1 " + b"1" * 900_000 + b"x tag"),
    "keys, one of them twice": (
        loads,
        b"{%s}" % b",".join(b'"%d":0' % max(number, 2) for number in range(70_000, 0, -1)),
    ),
}


@pytest.mark.parametrize(("parse", "line"), LONG.values(), ids=list(LONG))
def test_no_line_takes_long_to_refuse(parse, line):
    """Quadratic work would take minutes or hours."""
    with bounded(20), pytest.raises(ValueError, match=r"twice|expected a finite number"):
        parse(line)


FILE = {"path": "../../outside/secret.txt", "bytes": 1, "sha256": "0" * 64}
SAID = {
    "a path upwards": ("configs", {"dialogues": {"train": {"files": [FILE]}}}),
    "an absolute path": ("configs", {"x": {"y": {"files": [FILE | {"path": "/dev/zero"}]}}}),
    "a config that is a path": ("configs", {"../../outside": {"train": {"files": []}}}),
    "a split that is a pattern": ("configs", {"dialogues": {"**/*": {"files": []}}}),
    "an empty path": ("configs", {"": {"": {"files": [FILE | {"path": ""}]}}}),
    "a path with a zero": ("configs", {"\x00": {"\x00": {"files": [FILE | {"path": "\x00"}]}}}),
    "half a character": ("configs", {"\ud800": {"\ud800": {"files": [FILE | {"path": "\ud800"}]}}}),
    "a dataset that is a path": ("dataset", "../../outside"),
    "a dataset that is a list": ("dataset", ["casino"]),
    "a version that is a path": ("version", "../../outside"),
    "a source that is a path": ("sources", {"/etc/passwd": {"url": "file:///etc/passwd"}}),
    "no configs": ("configs", []),
    "a number for a list": ("missing", 7),
    "a text for a truth": ("sample", "yes"),
    "null": ("configs", None),
}
TEXTS = {
    "a huge number": '{"dataset": ' + "9" * 100_000 + "}",
    "a huge exponent": '{"dataset": 1e999999999}',
    "not a number": '{"dataset": NaN}',
    "deep lists": "[" * 1_000_000,
    "deep objects": '{"a":' * 1_000_000,
    "deep in a field": '{"sources": ' + "[" * 900 + "]" * 900 + "}",
    "many keys": "{" + ", ".join(f'"{n}": 1' for n in range(200_000)) + "}",
    "no text": "\udcff\udcfe",
}


def test_a_provenance_from_elsewhere(hub, sample_build, outside, tmp_path, tally):
    commands = []
    for number, (key, value) in enumerate([*SAID.values(), *((None, t) for t in TEXTS.values())]):
        folder = shutil.copytree(sample_build / "casino", tmp_path / str(number) / "casino")
        path = folder / "provenance.json"
        if key is None:
            path.write_bytes(value.encode("utf-8", "surrogateescape"))
        else:
            whole = json.loads(path.read_text())
            if key == "configs" and isinstance(value, dict):
                for splits in value.values():
                    for split in splits.values():
                        split |= {"rows": 10**30, "digest": CANARY[:0]}
            path.write_text(json.dumps(whole | {key: value}))
        found = commands_on(folder, sample_build / "casino", tmp_path / "out" / str(number))
        commands += [*found[:2], found[-1]]
    publishing = ("publish", "casino", "--repo", "org/a", "--build", tmp_path / "0", "--dry-run")
    commands.append(publishing)
    before = state(outside)
    found = run(tmp_path, commands, **hub.environ(tmp_path / "home"))
    assert {status for status, _ in found[:-1:3]} == {1}
    assert found[-1][0] == 1
    assert state(outside) == before
    assert not hub.repos
    tally("command on a provenance from elsewhere", len(commands))


ROWS = {
    "no column": pa.table({}),
    "no row": None,
    "another column": pa.table({"x": [1]}),
    "numbers for texts": pa.table({"dialogue_id": [1], "chat_logs": [5], "participant_info": [7]}),
    "nulls": pa.table({"dialogue_id": pa.nulls(3), "chat_logs": pa.nulls(3)}),
    "lists": pa.table({"dialogue_id": [[1], [2]], "chat_logs": [[[1]], [[2]]]}),
    "objects": pa.table({"dialogue_id": [{"a": 1}], "chat_logs": [{"a": 1}]}),
    "no numbers": pa.table({"dialogue_id": [math.nan], "chat_logs": [math.inf]}),
    "the same twice": pa.table({"dialogue_id": [1, 1], "chat_logs": [[], []]}),
    "bytes": pa.table({"dialogue_id": [b"\xff\x9b"], "chat_logs": [[b"\xff"]]}),
    "dates": pa.table({"dialogue_id": pa.array([1 << 62], pa.timestamp("us"))}),
    "half a character": pa.table(
        {"dialogue_id": pa.array([b"\xff"]).view(pa.string()), "chat_logs": ["x"]}
    ),
}


def test_rows_of_another_shape(sample_build, tmp_path, tally):
    commands = []
    for number, table in enumerate(ROWS.values()):
        folder = shutil.copytree(sample_build / "casino", tmp_path / str(number) / "casino")
        for path in folder.rglob("*.parquet"):
            pq.write_table(pq.read_table(path)[:0] if table is None else table, path)
        reseal(folder)
        commands += commands_on(folder, sample_build / "casino", tmp_path / "out" / str(number))
    found = run(tmp_path, commands)
    assert [status for status, _ in found[0::8]] == [1] * len(ROWS)
    tally("command on rows of another shape", len(commands))


def test_a_hub_with_escapes_and_a_path_upwards(hub, sample_build, tmp_path, monkeypatch, tally):
    """Names and content in a repository do not escape the message or the temporary folder."""
    hub.tokens["hf_writes"] = User("ana", orgs=("org",))
    monkeypatch.setenv("HF_TOKEN", "hf_writes")
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    folder = sample_build / "casino"
    given = open_folder(folder), held(folder), "org/casino"
    hub.seed("org/casino", folder)
    said = {"dataset": ESCAPES, "../outside.txt": CANARY}
    hub.push("org/casino", {"provenance.json": json.dumps(said).encode(), f"{ESCAPES}.csv": b"x"})
    with pytest.raises(PublishError) as caught:
        publish(*given, endpoint=hub.endpoint)
    assert not ACTING & set(plain(str(caught.value)))
    provenance = (folder / "provenance.json").read_bytes()
    hub.push("org/casino", {"provenance.json": provenance, "/up.csv": b"x"})
    with pytest.raises(PublishError, match="data from elsewhere, 2 files such as"):
        publish(*given, endpoint=hub.endpoint)
    assert not list(tmp_path.rglob("up.csv"))
    tally("answer of a Hub with escapes or a path upwards", 2)
