"""Asking a real model behind llama.cpp's server; `make endpoint` runs it."""

import json
import os
import shlex
import subprocess
from pathlib import Path

import pytest
from test_docs import blocks, stands_for

from parley.building.collection import discover
from parley.declaring.games import WARNINGS
from parley.declaring.questions import Playing

PYTHON = os.environ.get("PARLEY_ENDPOINT", "")  # the one that has llama.cpp
pytestmark = pytest.mark.skipif(not PYTHON, reason="`make endpoint` runs it")

ASKED = [
    (name, each, task)
    for name, dataset in discover().items()
    for each, task in dataset.tasks.items()
    if task.asking
]
QUESTIONS, GAMES, TURNS = 12, 2, 8


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    """The address of the server."""
    command = [PYTHON, str(Path(__file__).with_name("llama_server.py"))]
    said = tmp_path_factory.mktemp("server") / "log"
    with (
        said.open("w") as log,
        subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
        ) as server,
    ):
        if address := server.stdout.readline().strip():
            yield f"{address}/v1"
            server.kill()
    if not address:
        pytest.skip(f"llama.cpp's server does not start here: {said.read_text()[-300:]}")


@pytest.fixture(scope="module")
def builds(request):
    """The folder of the real builds, or of the samples without PARLEY_SOURCE."""
    return request.getfixturevalue(
        "real_build" if os.environ.get("PARLEY_SOURCE") else "sample_build"
    )


COUNTS = {}  # task -> asked, unreadable


@pytest.mark.parametrize(
    ("name", "task_name", "task"), ASKED, ids=[f"{n}-{t}" for n, t, _ in ASKED]
)
def test_a_small_model_is_asked_by_default_options(
    name, task_name, task, url, builds, run, tmp_path
):
    is_game = isinstance(task.asking, Playing)
    given = ["--model", "smollm2", "--base-url", url, "--build", builds, "--log", tmp_path]
    given += ["--turns", TURNS] * is_game + [
        "--limit",
        GAMES if is_game else QUESTIONS,
        "--at-once",
        2,
        "--timeout",
        600,
    ]
    given += [x for option, each in task.options.items() for x in ("--set", f"{option}={each[0]}")]
    done = run("ask", name, task_name, *given, "--json")
    assert done.returncode == 0, done.stderr
    (result,) = json.loads(done.stdout)
    COUNTS[task_name] = result["run"]["asked"], sum(result["unreadable"].values())
    assert not any(result["run"]["mode"].values())  # llama.cpp takes requests in full
    if not is_game:
        return
    (log,) = tmp_path.glob("*.jsonl")
    for line in log.read_text().splitlines()[1:]:
        played = json.loads(line)["prediction"]
        if played.get("end") == "walk_away" and (side := played.get("walked_away")):
            said = [c["text"] for c in json.loads(line)["calls"] if c["role"] == side]
            is_own = "[walk" in said[-1].casefold()
            assert is_own or played["malformed"][side] == WARNINGS


def test_nearly_all_answers_are_read():
    asked, unread = (sum(each) for each in zip(*COUNTS.values(), strict=True))
    assert unread <= asked / 20, COUNTS


def test_the_way_to_a_score_that_the_page_begins_with_runs(url, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    seen = []
    for _, code in blocks("docs/models.md"):
        if code.startswith("export OPENAI_BASE_URL="):
            monkeypatch.setenv("OPENAI_BASE_URL", url)
        elif code.startswith("parley "):
            done = run(*shlex.split(stands_for(code))[1:])
            assert done.returncode == 0, (code, done.stderr)
            seen.append(code.split()[1])
        if seen[-1:] == ["ask"]:
            break
    assert seen == ["build", "ask"]
