"""Untrusted input stays data: it runs nothing, reads nothing outside and crashes nothing."""

import io
import json
import math
import os
import re
import shutil
import signal
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from build_changes import of_rows, reseal, restate, retable
from file_server import Page, pinned
from processes import python

from parley.base.console import plain, to_json
from parley.base.strict_json import loads
from parley.declaration.registry import discover

ROOT = Path(__file__).parents[2]
PYTHONPATH = {"PYTHONPATH": str(ROOT)}
CANARY = "canary-5d1e7c"
OURS = ("PARLEY_SOURCE", "PYTHONPATH")  # of the environment
# title, clear screen, C1's CSI, backspaces, a return, bidirectional override, a zero-width space
ESCAPES = "\x1b]0;owned\x07\x1b[2J\x9b31m\x08\x08\r\u202egnp\u200b\x7f\u2066"
ACTING = set(ESCAPES) - set("]0;owned[2J31mgnp")


PROGRAM = """
import contextlib, io, json, sys
{prepare}
from parley.cli import main
found = []
for command in json.load(sys.stdin):
    sys.argv, said, status = ["parley", *command], io.StringIO(), 0
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try: main()
        except SystemExit as end: status = end.code or 0
    found.append((status, said.getvalue()))
print(json.dumps(found))
"""


def apart(commands, prepare="", **environ):
    asked = json.dumps([list(map(str, command)) for command in commands])
    environ = {k: v for k, v in os.environ.items() if k not in OURS} | environ
    done = python("-c", PROGRAM.format(prepare=prepare), input=asked, env=environ)
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture
def answers(run):
    """Run commands here; each must end, in a minute, with a message without control characters."""

    def answers(commands, **environ):
        found = []
        for command in commands:
            signal.alarm(60)
            done = run(*command, **environ)
            signal.alarm(0)
            output = done.stdout + done.stderr
            assert CANARY not in output
            assert not ACTING & set(output), command
            found.append((done.returncode, output))
        return found

    return answers


UNSAFE = re.compile(  # what could run data; the rules S of ruff find more
    r"^ *(?:import|from) .*(?<![.\w])(?:c?[pP]ickle|cloudpickle|dill|marshal|shelve|joblib)\b"
    r"|^ *(?:import|from) .*(?<![.\w])(?:pty|code)\b"
    r"|(?<!re\.)\b(?:eval|exec|compile|__import__|system|popen|spawn|getoutput)\("
    r"|\b(?:shell|trust_remote_code|allow_pickle)="
    r"|\byaml\.(?!load\(text, _Loader\)|safe_)\w*load\w*\(",
    re.MULTILINE,
)


def test_no_code_can_run_data():
    folders = [ROOT / "parley", *(dataset.folder for dataset in discover().values())]
    scripts = [*folders[0].rglob("*.py"), *(s for folder in folders for s in folder.glob("*.py"))]
    assert len(scripts) > 30
    unsafe = {path: UNSAFE.findall(path.read_text(encoding="utf-8")) for path in scripts}
    # the code of a shape's check, which is made of the script alone
    assert unsafe.pop(ROOT / "parley" / "schema" / "nodes.py") == ["eval("]
    assert not {path: found for path, found in unsafe.items() if found}
    assert not [path for path in scripts if "API_KEY" in path.read_text(encoding="utf-8")]
    scripts = "from pickle import loads|import os.path, dill|eval('1')|builtins.exec(x)"
    scripts += "|os.system('true')|subprocess.run('true', shell=True)|yaml.load(x)"
    scripts += "|yaml.load(x, yaml.Loader)|numpy.load(x, allow_pickle=True)"
    assert [script for script in scripts.split("|") if not UNSAFE.search(script)] == []


AT_EXIT = """import atexit, subprocess, sys
if sys.version_info >= (3, 11):
    atexit.register(subprocess.run, [sys.executable, "-c", "import yaml"])
"""


def test_no_file_of_the_current_folder_is_code(sample_build, tmp_path):
    """Nor in a Python that the process starts, from 3.11."""
    here = tmp_path / "here"
    shutil.copytree(sample_build, here)
    for name in {*sys.stdlib_module_names, "datasets", "numpy", "parley", "pyarrow", "yaml"}:
        (here / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'a').write('{name} ')")
    program = tmp_path / "bin" / "parley"  # as installed: not by -c or -m
    program.parent.mkdir()
    program.write_text(f"{AT_EXIT}from parley.cli import main\nmain()\n")
    python(program, "verify", "duo", "--build", ".", cwd=here, env=os.environ | PYTHONPATH)
    assert not (tmp_path / "ran").exists(), (tmp_path / "ran").read_text()


AUDIT = """
import _posixsubprocess, json, os, sys

STARTS = ("os.exec", "os.posix_spawn", "os.spawn", "os.system", "pty.spawn", "subprocess.Popen")

def note(*found):
    file = os.open({log!r}, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(file, json.dumps(found, default=os.fsdecode).encode() + b"\\n")
    os.close(file)

def fork_exec(args, *others, start=_posixsubprocess.fork_exec):
    note("start", args)  # multiprocessing starts programs by it without an event
    return start(args, *others)

_posixsubprocess.fork_exec = fork_exec
sys.addaudithook(lambda event, args: note("start", args[:2]) if event in STARTS else None)
note("listening")
"""


def test_a_command_starts_no_program(hub, server, tea, sample_build, tmp_path, monkeypatch):
    monkeypatch.delenv("PARLEY_SOURCE", raising=False)  # the sources are in the cache
    data = (tea.sample / "dialogues.jsonl").read_bytes()
    data = data.replace(b"kettle", b"teapot").replace(b"you", b"you two")  # not the sample's
    build = ("--build", tmp_path / "build")
    server.pages["/dialogues.jsonl"] = Page(data)
    script, pin = tea.folder / "tea.py", pinned(server.url("/dialogues.jsonl"), data)
    text = f"{script.read_text(encoding='utf-8')}\n\nDATA.pin.update({pin!r})\n"
    script.write_text(text, encoding="utf-8")
    commands = [
        ("new", "talks", tmp_path / "more"), ("check", "tea"), ("fetch", "tea"),
        ("build", "tea", *build, "--measure"), ("verify", "tea", *build),
        ("verify", "casino", "duo", "--build", sample_build), ("show", "tea", *build),
        ("site", "tea", *build, "-o", tmp_path / "site"),
        ("score", "casino", "strategies", "--baseline", "lr-tfidf", "--build", sample_build),
        ("publish", "tea", *build, "--repo", "org/tea")
    ]  # fmt: skip
    environ = hub.environ(tmp_path, "hf_writes") | {"PARLEY_CACHE": str(tmp_path / "cache")}
    environ |= {"PARLEY_DATASETS": str(tmp_path / "more")}
    log = tmp_path / "audit.log"
    found = apart(commands, prepare=AUDIT.format(log=str(log)), **environ)
    assert [(each, output) for each, (status, output) in enumerate(found) if status] == []
    assert log.read_text() == '["listening"]\n'


BOMBS = {
    "a command": "a: !!python/object/apply:os.system ['touch owned']",
    "billions merged": "a0: &a0 {k: v}\n"
    + "".join(f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}]}}\n" for n in range(1, 40)),
    "aliases": "a: &a [x]\nb: *a", "depth in brackets": "a: " + "[" * 300_000,
    "depth in dashes": "- " * 300_000, "no date": "a: 2001-99-99",
    "a long number": "a: " + "9" * 100_000
}  # fmt: skip
CARDS = {"two documents": "a: 1\n---\nb: 2", "40 levels": f"a: {'[' * 40 + ']' * 40}"}


PARSE = """
import json, resource, sys, yaml
resource.setrlimit(resource.RLIMIT_DATA, (2 << 30, 2 << 30))
{without}
from parley.base.errors import OutputError
from parley.builds.card import parse
for bomb in json.load(sys.stdin):
    try: print(parse(f"---\\n{{bomb}}\\n---\\ntext\\n", "README.md"))
    except OutputError as error: print("refused" if len(str(error)) < 1000 else error)
"""


@pytest.mark.parametrize("without", ["", "del yaml.CSafeLoader, yaml.CSafeDumper"])
def test_a_card_that_is_a_bomb_or_a_program_is_refused(tmp_path, without):
    """With 2 GB of memory and, or without, libyaml; a program would make `owned`."""
    cards = json.dumps([*BOMBS.values(), *CARDS.values()])
    environ = os.environ | PYTHONPATH | {"ARROW_DEFAULT_MEMORY_POOL": "system"}
    program = PARSE.format(without=without)
    done = python("-c", program, input=cards, cwd=tmp_path, env=environ, timeout=120)
    *refused, two, deep = done.stdout.splitlines()
    assert refused == ["refused"] * len(BOMBS), done.stderr
    assert two == "({'a': 1}, 'b: 2\\n---\\ntext\\n')"
    assert deep.startswith("({'a': [[")
    assert not (tmp_path / "owned").exists()


TYPED = [  # PATH and TEXT stand for odd ones, other capitals for good ones
    "build casino --sample --build PATH", "build casino --source PATH",
    "verify casino --build PATH", "verify casino --build BUILD --source PATH",
    "show casino --build PATH", "show casino --source PATH", "diff PATH CASINO",
    "export casino convokit -o PATH --build BUILD", "tasks casino --update PATH",
    "export casino csv -o IDS --build BUILD --ids PATH", "site casino --build PATH -o SITE",
    "site casino --build BUILD -o PATH", "publish casino --repo org/a --build PATH --dry-run",
    "build --sample -- TEXT", "show casino --build BUILD -- TEXT", "list --TEXT",
    "export casino --build BUILD -o NEW -- TEXT", "run cosrec catalogue --TEXT",
    "publish casino --dry-run --build BUILD --repo TEXT", "new TEXT :BOMB:",
    "publish casino --dry-run --build BUILD --repo org/a --endpoint TEXT",
]  # fmt: skip


def test_any_argument_gets_an_answer(answers, sample_build, tmp_path, monkeypatch):
    """tests/test_cli.py has long paths and wrong names."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "zero").symlink_to("/dev/zero")
    names = ("file", "fifo", "zero", ":bomb:", ESCAPES)
    paths = [*(tmp_path / name for name in names), "", "\udcff"]
    texts = ["", "/", "\udcff", "\n", "x" * 5000, "-1", ":bomb:", ESCAPES]
    known = {"BUILD": sample_build, "CASINO": sample_build / "casino"}
    known |= {name: tmp_path / name.lower() for name in ("IDS", "SITE", "NEW", ":BOMB:")}
    commands = [
        [(known | {kind: odd, f"--{kind}": f"--{odd}"}).get(word, word) for word in form.split()]
        for kind, values in (("PATH", paths), ("TEXT", texts))
        for odd in values
        for form in TYPED
        if kind in form
    ]
    found = answers(commands)
    assert all(output.strip() for _, output in found)
    assert not [output for _, output in found if "\N{BOMB}" in output]
    for command, answer in zip(commands, found, strict=True):
        if any("\udcff" in str(word) for word in command):
            assert (answer[0], "UTF-8" in answer[1]) == (2, True)


def test_on_windows_one_line_says_where_it_runs():
    commands = [("build", "--sample"), ("fetch",), ("list",)]
    *others, listed = apart(commands, prepare="sys.modules['fcntl'] = None")
    for status, output in others:  # other libraries may print before it
        *_, line = output.splitlines()
        assert (status, "WSL" in line) == (1, True)
    assert listed[0] == 0


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_json_parses_strictly_whatever_the_terminal_takes(encoding, monkeypatch):
    stream = io.TextIOWrapper(io.BytesIO(), encoding, errors="backslashreplace")
    monkeypatch.setattr("sys.stdout", stream)
    value = [math.nan, {"é\u200d😀": math.inf}, (-math.inf,), 0.5, {ESCAPES: ESCAPES}]
    print(to_json(value), plain(ESCAPES), sep="\n", flush=True)
    text = stream.buffer.getvalue().decode(encoding)
    assert not ACTING & set(text)
    read = json.loads(text.rpartition("\n]")[0] + "]", parse_constant=pytest.fail)
    assert read == ["NaN", {"é\u200d😀": "Infinity"}, ["-Infinity"], 0.5, {ESCAPES: ESCAPES}]


def spoil(value):
    if isinstance(value, str):
        return ESCAPES + value
    if isinstance(value, list):
        return list(map(spoil, value))
    return {k: spoil(v) for k, v in value.items()} if isinstance(value, dict) else value


def test_rows_with_escapes(answers, sample_build, tmp_path):
    hostile, commands = shutil.copytree(sample_build, tmp_path / "hostile"), []
    for path in hostile.rglob("*.parquet"):
        retable(path, of_rows(spoil))
    for name, dataset in discover().items():
        reseal(hostile / name)
        out = tmp_path / name
        build = ("--build", hostile)
        commands += [
            ("show", name, *build),
            ("show", name, *build, "--json"),
            ("show", name, ESCAPES, *build),
            ("verify", name, *build),
            ("diff", sample_build / name, hostile / name),
            *(("export", name, x, "-o", out / x, *build) for x in [*dataset.exports, "csv"]),
            ("charts", name, "-o", out / "charts", *build),
        ]
    found = answers(commands)
    for (name, *args), (status, output) in zip(commands, found, strict=True):
        if name in ("verify", "diff"):
            assert (status, "\\x1b" in output) == (1, True)
        elif ESCAPES in args:
            assert (status, "\\x1b" in output) == (2, True)
        elif name == "show":
            assert ("\\u001b[2J" if "--json" in args else "\\x1b[2J") in output


@pytest.fixture
def outside(tmp_path):
    """Files that no command may read, named like those of a build."""
    outside = tmp_path / "outside"
    outside.mkdir()
    for name in ("secret.txt", "README.md"):
        (outside / name).write_text(CANARY)
    (outside / "provenance.json").write_text(json.dumps({"dataset": CANARY}))
    rows = [{"text": CANARY, "dialogue_id": CANARY}]
    pq.write_table(pa.Table.from_pylist(rows), outside / Path(TRAIN).name)
    return outside


def link(path, target):
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    path.symlink_to(target)


def fifo(path, _=None):
    path.unlink(missing_ok=True)
    os.mkfifo(path)


TRAIN = "dialogues/train-00000-of-00001.parquet"
IN_PLACE = (  # of a file, given that of its name outside
    link,
    lambda path, other: link(path, other.with_name("secret.txt")),
    lambda path, other: link(path, "/dev/zero"),
    fifo,
    lambda path, other: os.truncate(path, 1 << 40),
)
PLACED = [
    *((name, way) for name in (TRAIN, "README.md", "provenance.json") for way in IN_PLACE),
    ("dialogues", lambda path, other: link(path, other.parent)),
    ("more", lambda path, other: link(path, other.parent)), ("secret.txt", link), ("more", fifo)
]  # fmt: skip


def state(*folders):
    paths = [path for folder in folders for path in folder.rglob("*")]
    return {p: os.readlink(p) if p.is_symlink() else p.lstat().st_mtime_ns for p in paths}


def test_nothing_outside_a_folder_is_read_or_written(answers, hub, sample_build, outside, tmp_path):
    folders, commands = [tmp_path / str(number) for number in range(len(PLACED))], []
    for folder, (name, place) in zip(folders, PLACED, strict=True):
        shutil.copytree(sample_build / "casino", folder / "casino")
        place(folder / "casino" / name, outside / Path(name).name)
        build, out = ("--build", folder), tmp_path / "out" / folder.name
        commands += [
            ("verify", "casino", *build), ("diff", sample_build / "casino", folder / "casino"),
            ("show", "casino", *build), ("export", "casino", "csv", "-o", out / "csv", *build),
            ("charts", "casino", "-o", out / "charts", *build),
            ("site", "casino", *build, "-o", out / "site"),
        ]  # fmt: skip
    publishing = ("publish", "casino", "--repo", "org/casino", "--build", folders[0])
    restate(folders[0] / "casino", "sample", False)  # a sample would be refused unread
    before = state(outside, *folders)
    found = answers(commands)
    assert {status for status, _ in found[::6]} == {1}
    environ = hub.environ(tmp_path / "home", "hf_writes")
    ((status, output),) = apart([publishing], **environ)
    assert (status, "`parley verify casino --build " in output) == (1, True)
    assert not hub.repos  # nothing was uploaded, and nothing made
    assert state(outside, *folders) == before
    exported = [path.read_text() for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert exported
    assert not any(CANARY in text for text in exported)


def test_no_line_takes_long_to_refuse():
    keys = b"{%s}" % b",".join(b'"%d":0' % max(number, 2) for number in range(70_000, 0, -1))
    start = time.monotonic()
    with pytest.raises(ValueError, match=r"\.2: "):
        loads(keys)
    assert time.monotonic() - start < 10
