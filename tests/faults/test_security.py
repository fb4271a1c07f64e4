"""What comes from elsewhere is data: it runs nothing, reaches nothing outside, ends nothing."""

import ast
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import huggingface_hub
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hub import User
from server import Page, Server

from parley.collection import discover, get
from parley.errors import OutputError, PublishError
from parley.folder.card import parse
from parley.hub.publish import publish
from parley.terminal.console import plain, to_json

ROOT = Path(__file__).parents[2]
CANARY = "canary-5d1e7c"
OURS = ("PARLEY_SOURCE", "COLUMNS", "PYTHONPATH")  # of the environment
# title, clear screen, C1's CSI, backspaces, a return, bidirectional override, a zero-width space
ESCAPES = "\x1b]0;owned\x07\x1b[2J\x9b31m\x08\x08\r\u202egnp\u200b\x7f\u2066"
ACTING = set(ESCAPES) - set("]0;owned[2J31mgnp")


def run(*args, cwd, **environ):
    """Run the command line, bounded; it must end in words, with nothing that acts."""
    environ = {k: v for k, v in os.environ.items() if k not in OURS} | environ
    done = subprocess.run(
        [sys.executable, "-m", "parley", *map(str, args)],
        cwd=cwd,
        env={"PYTHONPATH": str(ROOT), "COLUMNS": "200", **environ},
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=60,
    )
    output = (done.stdout + done.stderr).decode("utf-8")
    assert done.returncode in (0, 1, 2), output
    assert "Traceback" not in output
    assert CANARY not in output
    assert not ACTING & set(output)
    return done.returncode, output


def in_one_process(tmp_path, commands, **environ):
    """Run several commands one after another, each in a fork of one process; return the outputs."""
    program = (
        "import json, os, signal, sys, traceback\n"
        "import parley.folder.diff, parley.terminal.show, parley.export, parley.hub.publish\n"
        "import parley.terminal.report\n"
        "from parley.collection import discover\n"
        "for d in discover().values(): d.builder, d.statistics, d.transcript, d.exports\n"
        "from parley.cli import main\n"
        "for number, command in enumerate(json.load(sys.stdin)):\n"
        "    child = os.fork()\n"
        "    if not child:\n"
        "        signal.alarm(30)\n"  # what hangs must not outlive the test
        "        for stream in (1, 2):\n"
        "            os.dup2(os.open(f'{number}.log', 0o2102), stream)\n"
        "        sys.argv = ['parley', *command]\n"
        "        status = 0\n"
        "        try: main()\n"
        "        except SystemExit as end: status = end.code or 0\n"
        "        except BaseException: traceback.print_exc(); status = 3\n"
        "        sys.stdout.flush(); sys.stderr.flush()\n"
        "        os._exit(status)\n"  # not as Python ends, which takes longer than most commands
        "    _, status = os.waitpid(child, 0)\n"
        "    print(os.waitstatus_to_exitcode(status), flush=True)\n"
    )
    logs = tmp_path / f"logs-{time.monotonic_ns()}"
    logs.mkdir()
    keep = {k: v for k, v in os.environ.items() if k not in OURS}
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=json.dumps([list(map(str, command)) for command in commands]),
        cwd=logs,
        env=keep | {"PYTHONPATH": str(ROOT), "COLUMNS": "200"} | environ,
        capture_output=True,
        text=True,
        timeout=180,
    )
    statuses = list(map(int, done.stdout.split()))
    assert len(statuses) == len(commands), done.stderr
    outputs = [(logs / f"{n}.log").read_bytes().decode() for n in range(len(commands))]
    for status, output in zip(statuses, outputs, strict=True):
        assert status in (0, 1, 2), output
        assert "Traceback" not in output
        assert CANARY not in output
        assert not ACTING & set(output)
    return list(zip(statuses, outputs, strict=True))


# Code -----------------------------------------------------------------------------------

MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve", "joblib", "pty", "code"}
CALLS = {"eval", "exec", "compile", "__import__", "system", "popen", "spawn", "getoutput"}
LOADERS = {"load", "load_all", "unsafe_load", "full_load"}


def scripts():
    found = [
        *ROOT.glob("parley/**/*.py"),
        *(p for d in discover().values() for p in d.folder.glob("*.py")),
    ]
    assert len(found) > 30
    return sorted(set(found))


def unsafe(tree):
    """Yield what stands in a script that could run data."""
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
                loader = node.args[1:] and getattr(node.args[1], "attr", "")
                if loader != "CSafeLoader":
                    yield f"yaml.{name}"
            yield from (k.arg for k in node.keywords if k.arg in ("shell", "trust_remote_code"))
            if any(k.arg == "allow_pickle" for k in node.keywords):
                yield "allow_pickle"


def test_nothing_in_the_code_runs_data():
    found = {
        f"{path.relative_to(ROOT)}: {what}"
        for path in scripts()
        for what in unsafe(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert found == set()


@pytest.mark.parametrize(
    "script",
    [
        "import pickle",
        "from pickle import loads",
        "import os.path, dill",
        "eval('1')",
        "builtins.exec(x)",
        "os.system('true')",
        "subprocess.run('true', shell=True)",
        "yaml.load(x, yaml.Loader)",
        "yaml.load(x)",
        "yaml.unsafe_load(x)",
        "numpy.load(x, allow_pickle=True)",
    ],
)
def test_code_that_would(script):
    assert list(unsafe(ast.parse(script)))


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


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_card_is_only_data(sample_build, tmp_path, monkeypatch, bomb, tally):
    """In a process of its own, for the library may end it; with little memory."""
    folder = shutil.copytree(sample_build / "casino", tmp_path / "casino")
    (folder / "README.md").write_text(f"---\n{BOMBS[bomb]}\n---\ntext\n")
    program = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_CPU, (30, 30))\n"
        "from parley.folder.card import parse; from parley.errors import *\n"
        "parse('---\\na: 1\\n---\\n', '')\n"
        "used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "try: parse(Path(sys.argv[1]).read_text(), 'README.md'); print('taken')\n"
        "except OutputError as error: print(error)\n"
        "assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - used < 100_000  # kB\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, folder / "README.md"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT)},
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    expected = {"two documents": "taken"}.get(bomb, "README.md: the front matter is not valid YAML")
    assert done.stdout.startswith(expected), done.stdout[:200]
    assert not (tmp_path / "owned").exists()
    if bomb in ("billions merged", "depth in dashes", "a command"):
        status, output = run("verify", "casino", "--build", tmp_path, cwd=tmp_path)
        assert (status, "is not valid YAML" in output) == (1, True)
        assert not (tmp_path / "owned").exists()
    tally("card that is a bomb or a program", 1)


def test_a_card_may_be_as_deep_as_ours_and_more():
    deep = "[" * 40 + "]" * 40
    assert parse(f"---\na: {deep}\n---\n", "")[0]


# The terminal ---------------------------------------------------------------------------


def test_controls_are_shown_instead_of_acting():
    assert not ACTING & set(plain(ESCAPES))
    assert json.loads(to_json([ESCAPES, {ESCAPES: 1}, "é\u200d\n😀"])) == [
        ESCAPES,
        {ESCAPES: 1},
        "é\u200d\n😀",
    ]
    assert not ACTING & set(to_json([ESCAPES, {ESCAPES: 1}]))


def reseal(folder):
    """Make a provenance state the files that are there, as somebody would who hides a change."""
    import hashlib

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


def test_rows_with_escapes(dataset, sample_build, hostile, tmp_path, tally):
    name = dataset.name
    commands = [
        ("show", name, "--build", hostile),
        ("show", name, "--build", hostile, "--json"),
        ("show", name, ESCAPES, "--build", hostile),
        ("verify", name, "--build", hostile),
        ("diff", sample_build / name, hostile / name),
        *(("export", x, name, tmp_path / x, "--build", hostile) for x in dataset.exports),
    ]
    shown, as_json, unknown, verified, differs, *_ = in_one_process(tmp_path, commands)
    assert "\\x1b[2J" in shown[1]
    assert "\\u001b[2J" in as_json[1]
    assert (unknown[0], "no dialogue" in unknown[1]) == (2, True)
    assert verified[0] == differs[0] == 1
    assert "\\x1b" in differs[1]
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
    verified, differs, *others = in_one_process(tmp_path, commands)
    assert (verified[0], "unknown file" in verified[1], "\\x1b" in verified[1]) == (1, True, True)
    assert (differs[0], "more changed rows" in differs[1]) == (1, True)
    assert {status for status, _ in others} <= {1, 2}
    tally("command on names with terminal escapes", len(commands))


def test_a_source_and_a_server_with_escapes(tmp_path, tally):
    """A dataset from elsewhere: its records break its rules, its server answers nonsense."""
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
        start = script.index("SOURCES")
        end = script.index("\n}\n", start) + 3
        pin = {"data/casino.json": {"url": server.url("/a"), "sha256": "0" * 64}}
        script = f"{script[:start]}SOURCES = {pin!r}\n{script[end:]}"
        (folder / "talks.py").write_text(script, encoding="utf-8")
        more = {"PARLEY_DATASETS": str(tmp_path / "datasets"), "NO_PROXY": "127.0.0.1"}
        more["PARLEY_CACHE"] = str(tmp_path / "cache")
        status, output = run("build", "talks", "--sample", cwd=tmp_path, **more)
        assert (status, "unknown field" in output) == (1, True)
        status, output = run("fetch", "talks", cwd=tmp_path, **more)
        assert (status, "the server answered 404" in output) == (1, True)
    tally("command on a source or server with terminal escapes", 2)


# Folders from elsewhere -----------------------------------------------------------------


@pytest.fixture
def outside(tmp_path):
    """Files outside a folder that nothing may read: text, Parquet, and a fifo that would block."""
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
    """Return what stands in folders, fifos not read."""
    return {
        str(path): (os.readlink(path) if path.is_symlink() else path.lstat().st_mtime_ns)
        for folder in folders
        for path in sorted(folder.rglob("*"))
    }


def test_nothing_outside_a_folder_is_read_or_written(hub, sample_build, outside, tmp_path, tally):
    hub.tokens["hf_writes"] = User("ana", orgs=("org",))
    commands, folders = [], []
    for number, place in enumerate(PLACED.values()):
        build = tmp_path / str(number)
        folder = shutil.copytree(sample_build / "casino", build / "casino")
        place(folder, outside)
        folders.append(folder)
        commands += [
            ("verify", "casino", "--build", build),
            ("diff", sample_build / "casino", folder),
            ("show", "casino", "--build", build),
            ("export", "convokit", "casino", tmp_path / "out" / str(number), "--build", build),
        ]
    commands.append(("publish", "casino", "--repo", "org/casino", "--build", tmp_path / "0"))
    provenance = folders[0] / "provenance.json"  # a sample would be refused unread
    said = json.loads(provenance.read_text()) | {"sample": False}
    provenance.write_text(json.dumps(said))
    before = state(outside, *folders)
    found = in_one_process(tmp_path, commands, **hub.environ(tmp_path / "home", "hf_writes"))
    assert {status for status, _ in found[:-1:4]} == {1}  # verify objects, whatever it is
    assert (found[-1][0], "verify casino` fails" in found[-1][1]) == (1, True)
    assert not hub.repos  # nothing was uploaded, and nothing made
    assert state(outside, *folders) == before
    exported = [path.read_text() for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert exported
    assert not any(CANARY in text for text in exported)
    tally("command on a link, device or huge file in a folder", len(commands))


@pytest.mark.parametrize(
    "what",
    [
        "a Parquet file is a link",
        "a Parquet file is a fifo",
        "a config is a link",
        "the card is a link to a device",
        "a file more is a link",
        "a folder more is a link",
        "a file more is a fifo",
    ],
)
def test_a_link_is_not_uploaded(hub, sample_build, outside, tmp_path, monkeypatch, what):
    """Not even by a caller that does not verify first."""
    folder = shutil.copytree(sample_build / "casino", tmp_path / "casino")
    PLACED[what](folder, outside)
    log_in(hub, monkeypatch)
    with pytest.raises(OutputError, match="expected a file, found a link or device"):
        publish(folder, "org/casino", endpoint=hub.endpoint)
    assert set(hub.files("org/casino")) <= {".gitattributes"}


def log_in(hub, monkeypatch):
    hub.tokens["hf_writes"] = User("ana", orgs=("org",))
    monkeypatch.setenv("HF_TOKEN", "hf_writes")
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)


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
        commands += [
            ("verify", "casino", "--build", folder.parent),
            ("diff", sample_build / "casino", folder),
        ]
    commands += [
        ("export", "convokit", "casino", tmp_path / "out", "--build", tmp_path / "0"),
        ("publish", "casino", "--repo", "org/a", "--build", tmp_path / "0", "--dry-run"),
    ]
    before = state(outside)
    found = in_one_process(tmp_path, commands, **hub.environ(tmp_path / "home"))
    assert {status for status, _ in found[:-2:2]} == {1}
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
        commands += [
            ("verify", "casino", "--build", folder.parent),
            ("diff", sample_build / "casino", folder),
            ("show", "casino", "--build", folder.parent),
            ("show", "casino", "--build", folder.parent, "--json"),
            ("export", "convokit", "casino", tmp_path / f"out-{number}", "--build", folder.parent),
        ]
    found = in_one_process(tmp_path, commands)
    assert [status for status, _ in found[0::5]] == [1] * len(ROWS)
    tally("command on rows of another shape", len(commands))


def test_a_hub_with_escapes_and_a_path_upwards(hub, sample_build, tmp_path, monkeypatch, tally):
    """What a repository says of itself goes into a temporary folder and into words."""
    log_in(hub, monkeypatch)
    hub.seed("org/casino", sample_build / "casino")
    said = {"dataset": ESCAPES, "../outside.txt": CANARY}
    hub.push("org/casino", {"provenance.json": json.dumps(said).encode(), ESCAPES: b"x"})
    with pytest.raises(PublishError) as caught:
        publish(sample_build / "casino", "org/casino", endpoint=hub.endpoint)
    assert not ACTING & set(plain(str(caught.value)))
    build = tmp_path / "real" / "casino"
    shutil.copytree(sample_build / "casino", build)
    provenance = build / "provenance.json"
    hub.push("org/casino", {"provenance.json": provenance.read_bytes(), "/up.txt": b"x"})
    with pytest.raises(PublishError, match="files that parley did not bring, 2 as"):
        publish(build, "org/casino", endpoint=hub.endpoint, tag=False)
    assert not list(tmp_path.rglob("up.txt"))
    tally("answer of a Hub with escapes or a path upwards", 2)
