"""The tasks for inspect give the numbers of `parley ask`; `make inspect` runs it, offline."""

import math

import pytest
from model_server import serving

from parley.ask.client import Sampling
from parley.ask.log import Questions
from parley.ask.run import Settings, ask
from parley.ask.score import score_log
from parley.asking import Playing
from parley.collection import discover
from parley.folder.built import find_folder
from parley.scoring.gold import Part
from parley.tasks import flat, tasks_of

inspect_ai = pytest.importorskip("inspect_ai", reason="`make inspect` runs it")
pytest.importorskip("httpx2", reason="the extra `ask` is not installed")

TASKS = [
    (name, task_name)
    for name, dataset in discover().items()
    for task_name, task in tasks_of(dataset).items()
    if task.asking
]
ANSWERS = (
    '{"labels": ["small-talk"], "order": ["Food", "Water", "Firewood"], "types": ["search"]}',
    '{"score": 4, "probability": 0.25, "satisfaction": "Undecided", "likeness": "Undecided"}',
    '{"allocation": null}',
    "",
    "[Offer: Food=1 Water=2 Firewood=3]",
    "[Offer: 120]",
    "[Accept]",
)


def answer(messages):
    """Return an answer that depends on everything a model sees."""
    text = "".join(each["content"] for each in messages)
    return ANSWERS[sum(map(ord, text)) % len(ANSWERS)]


@pytest.mark.parametrize(("name", "task"), TASKS)
def test_inspect_gives_the_numbers_of_the_runner(name, task, sample_build, tmp_path):
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    questions = Questions(
        find_folder(sample_build, discover()[name]),
        task,
        tasks_of(discover()[name])[task].chosen({}),
        Part(),
    )
    roles = questions.asking.roles if isinstance(questions.asking, Playing) else ("",)
    with serving(lambda request: answer(request["messages"])) as server:
        given = Settings(dict.fromkeys(roles, "m"), Sampling({"temperature": 0.0}), server.url)
        ask(questions, given, tmp_path / "log.jsonl")
    due = score_log(questions.built, task, {}, tmp_path / "log.jsonl", Part())

    def output(messages, *more):
        said = answer([{"content": each.text} for each in messages])
        found = ModelOutput.from_content("mockllm/model", said)
        found.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return found

    (log,) = inspect_ai.eval(
        f"parley/{name}_{task.replace('-', '_')}",
        model=get_model("mockllm/model", custom_outputs=output),
        task_args={"build": str(sample_build)},
        log_dir=str(tmp_path / "logs"),
        display="none",
    )
    assert log.status == "success", log.error
    metrics = {
        each: value.value for score in log.results.scores for each, value in score.metrics.items()
    }
    for path, value in flat(due.score.metrics).items():
        found = metrics[".".join(path)]
        if isinstance(value, int | float):
            assert found == pytest.approx(value, abs=1e-9)
        else:
            assert math.isnan(found)
