"""A signal at a random moment to any command: outputs stay or are replaced whole, no process stays.

The next run of the same command gives the undisturbed result. TERM, INT and HUP leave no remains.
"""

import json
import os
import random
import shutil
import signal
import sys
import time
from pathlib import Path

import pytest
from build_changes import everything
from catalogue_files import hostile
from file_server import Page, Server, pinned
from local_hub import Hub

from parley.authoring.new import write_skeleton
from parley.builds.build import build
from parley.builds.built_folder import open_folder
from parley.builds.card_parts import marks
from parley.builds.sources import Sources
from parley.cli.process import _MESSAGE as INTERRUPTED
from parley.declaration.registry import Dataset, get
from parley.page.site import write_site

TRIALS = int(os.environ.get("PARLEY_TRIALS", "2"))  # of each command; `make faults` has 20
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
SERVED = "http://127.0.0.1:"

COMMANDS = {
    "check": "check cup", "new": "new tea fresh", "fetch": "fetch kettle",
    "build": "build casino --sample --build out",
    "build and measure": "build kettle --source source --build out --measure",
    "verify": "verify casino duo --build built",
    "export": "export casino convokit -o exported --build built",
    "charts": "charts casino -o drawn --build built",
    "site": "site casino --build built -o page", "browse": "browse casino --sample --no-open",
    "tasks": "tasks casino --update tasks.md",
    "score": "score casino deals --baseline people --save-predictions kept.jsonl --build built",
    "sql": "sql select(1) -o asked.csv --build built",
    "publish": "publish casino --repo org/casino --build built",
    "catalogue": "run cosrec catalogue --input raw --output made/catalogue --workers 2 "
    "--jsonl made/all.jsonl"
}  # fmt: skip
STEPWISE = ("made/catalogue/counts.json", "made/catalogue/provenance.json")  # grow by category
WHOLE = ("out", "page", "exported", "drawn", "fresh")  # appear in one step; else each file does

PREPARE = """
import os, signal, sys
os.environ.clear()
os.environ.update({environ!r})
sys.path.append({tests!r})
for each in (signal.SIGINT, signal.SIGHUP):  # the defaults of a shell, without nohup
    signal.signal(each, signal.SIG_DFL)
import datasets, jinja2, markdown_it, pyarrow.parquet, pydantic.fields, rich.table
import parley.page.serve, parley.page.site, parley.source.fetch
import parley.verification.verify
from importlib import import_module
from parley.cli.commands import MODULES
for name in MODULES:
    import_module("parley.cli." + name + "_commands")
from parley.cli import main
import publish_without_checks
publish_without_checks.remove_checks()

def command(work, said, *arguments):
    os.setsid()
    os.chdir(work)
    for stream in (1, 2):
        os.dup2(os.open(said, os.O_WRONLY | os.O_CREAT | os.O_APPEND), stream)
    sys.argv = ["parley", *arguments]
    main()
"""


class Workplace:
    """A folder with the inputs of all commands, a Hub and a server; can be reset.

    Each run of a command has a session of its own.
    """

    def __init__(self, place, hub, server, forks):
        self.hub, self.server = hub, server
        self.work, self.template, self.log = (place / n for n in ("work", "template", "log"))
        environ = hub.environ(self.work / "hf", "hf_ana")
        places = {"HOME": "home", "PARLEY_CACHE": "cache", "PARLEY_DATASETS": "more"}
        for name, place in (places | {"TMPDIR": "tmp"}).items():
            environ[name] = str(self.work / place)
        environ["PYTHONDONTWRITEBYTECODE"] = "1"  # Python leaves parts of these files
        environ.pop("PARLEY_SOURCE", None)
        prepare = PREPARE.format(environ=environ, tests=str(Path(__file__).parents[1]))
        self.forks = forks(prepare, "command(*arguments)")
        self._fill(self.template)

    def _fill(self, home):
        for name in ("home", "hf", "tmp", "cache/kettle", "source/kettle", "fresh", "made"):
            (home / name).mkdir(parents=True)
        (home / "cache/kettle/notes.txt").write_text("a person's")
        for name in ("casino", "duo"):
            build(Sources(get(name), get(name).sample, sample=True), home / "built")
        for place in ("other", "out"):
            shutil.copytree(home / "built/casino", home / place / "casino")
        (home / "out/casino/README.md").write_text("of the old one")
        write_site([open_folder(home / "built/duo")], home / "page")
        begin, end = marks("tasks")
        (home / "tasks.md").write_text(f"{begin}\nof old\n{end}\n")
        hostile(home / "raw", 1, records=100)
        catalogue = get("cosrec").jobs["catalogue"].run
        catalogue(home / "raw", home / "made/catalogue", ["Alpha"], workers=0)
        write_skeleton("cup", home / "more")
        self._add_kettle(home)
        for folder in home.rglob("__pycache__"):
            shutil.rmtree(folder)

    def _add_kettle(self, home):
        """Add a dataset of many rows, and an old build of it."""
        folder = write_skeleton("kettle", home / "more")
        text = (folder / "sample/dialogues.jsonl").read_text()
        text = text.replace("kettle", "teapot").replace("you", "you two")  # not the sample's
        records = map(json.loads, text.splitlines())
        body = b"".join(
            json.dumps({**record, "id": f"{record['id']}-{number}"}).encode() + b"\n"
            for record in records
            for number in range(1000)
        )
        (home / "source/kettle/dialogues.jsonl").write_bytes(body)
        self.server.pages["/dialogues.jsonl"] = Page(body, pause=0.01)
        pin = pinned(self.server.url("/dialogues.jsonl"), body)
        script = folder / "kettle.py"
        # a File takes no URL but https://
        script.write_text(f"{script.read_text()}\n\nvars(DATA)['pin'] = {pin!r}\n")
        build(Sources(Dataset("kettle", folder), folder / "sample"), home / "out")

    def reset(self):
        """Restore the initial state."""
        shutil.rmtree(self.work, ignore_errors=True)
        shutil.copytree(self.template, self.work, symlinks=True)
        self.hub.repos.clear()
        self.hub.seed("org/casino", self.work / "other/casino")

    def content(self):
        """Return the bytes of all files by path, None for folders; the Hub's files included."""
        online = {f"hub/{path}": data for path, data in self.hub.files("org/casino").items()}
        return everything(self.work) | online

    @property
    def said(self):
        return self.log.read_text()

    def start(self, line):
        self.log.write_text("")
        return self.forks.start(self.work, self.log, *line.split())

    def run(self, line):
        """Run a command to its end, or until it serves a page; return its status."""
        child, deadline = self.start(line), time.monotonic() + 60
        if line.startswith("browse"):
            while SERVED not in self.said:
                assert time.monotonic() < deadline, self.said
                time.sleep(0.01)
            os.kill(child, signal.SIGINT)
        return self.wait(child)

    def wait(self, child):
        """Return the status of a command after all its processes ended."""
        status = self.forks.wait()
        deadline = time.monotonic() + 20
        while left := of_session(child):
            assert time.monotonic() < deadline, f"these go on: {left}"
            time.sleep(0.005)
        return status

    def whole(self, line):
        """Run a command undisturbed; return its seconds and the resulting content."""
        self.reset()
        start = time.perf_counter()
        assert self.run(line) == 0, self.said
        return time.perf_counter() - start, self.content()


@pytest.fixture(scope="module")
def workplace(tmp_path_factory, forks):
    with Hub() as hub, Server() as server:
        hub.tokens["hf_ana"] = "write"
        yield Workplace(tmp_path_factory.mktemp("kills"), hub, server, forks)


def of_session(number):
    """Return the command lines of the running processes of a session."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            state, _, _, session = (place / "stat").read_text().rpartition(")")[2].split()[:4]
            if int(session) == number and state != "Z":
                found.append((place / "cmdline").read_bytes().replace(b"\0", b" "))
        except (FileNotFoundError, ProcessLookupError):
            pass
    return found


def send(child, signum):
    """Send a signal, INT as Ctrl-C does to all processes."""
    try:
        (os.killpg if signum == signal.SIGINT else os.kill)(child, signum)
    except ProcessLookupError:  # it has not begun its session yet
        os.kill(child, signum)


def hidden(path):
    """Tell whether a path is partial, temporary or Python's cache."""
    return path.endswith(".parley-part") or any(
        part.startswith(".") or part in ("tmp", "__pycache__") for part in path.split("/")
    )


def require_undamaged(now, before, after):
    """Each visible file, and each folder replaced in one step, is as before or as after."""
    for path in STEPWISE:
        assert json.loads(now[path]).keys() >= json.loads(before[path]).keys()
    stepwise = (*STEPWISE, "made/catalogue/README.md")
    for path in before.keys() | after.keys() | now.keys():
        if not hidden(path) and path not in stepwise:
            either = [each.get(path, "absent") for each in (before, after)]
            assert now.get(path, "absent") in either, path
    for folder in (*WHOLE, "hub"):
        seen, *either = (
            {p: each[p] for p in each if p.startswith(f"{folder}/") and not hidden(p)}
            for each in (now, before, after)
        )
        assert seen in either, folder


@pytest.mark.skipif(sys.platform != "linux", reason="Linux lists the processes of a session")
@pytest.mark.parametrize("name", COMMANDS)
def test_ended_at_a_random_moment(name, workplace):
    workplace.reset()
    before = workplace.content()
    whole, after = workplace.whole(command := COMMANDS[name])
    if TRIALS >= 20:  # the first may wait for a busy disk, and no moment would meet one
        whole = min(whole, workplace.whole(command)[0])
    draw = random.Random(name)
    moments = [whole * (number + draw.random()) / TRIALS for number in range(TRIALS)]
    draw.shuffle(moments)
    signals = [signal.SIGKILL, *draw.sample(SIGNALS[1:], 3)]
    met = left = 0
    for number, moment in enumerate(moments):
        signum = signals[number % len(signals)]
        workplace.reset()
        child = workplace.start(command)
        time.sleep(moment)
        send(child, signum)
        status = workplace.wait(child)
        said, now = workplace.said, workplace.content()
        met += status != 0
        assert status in (0, 128 + signum, -signum), said
        assert "Traceback" not in said
        require_undamaged(now, before, after)
        if status == 128 + signum:
            assert said.splitlines()[-1] == INTERRUPTED
            assert said.count(INTERRUPTED) == 1
        if signum != signal.SIGKILL:  # only a fetch may leave a part to resume
            new = now.keys() - before.keys() - after.keys()
            left += any(not path.endswith(".parley-part") for path in new)
        if status == -signum != -signal.SIGKILL:  # it had not begun or was done
            assert now in (before, after)
        status = workplace.run(command)
        is_done = all(now.get(path, "absent") == after[path] for path in after)
        refused = status in (1, 2) and "Traceback" not in workplace.said  # the output is there
        assert status == 0 or (is_done and refused), workplace.said
        assert workplace.content() == after
    assert met or TRIALS < 20  # a few may all come after a quick command
    assert left <= max(1, TRIALS // 4)  # a signal can come just as something is made or removed
