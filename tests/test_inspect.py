"""The tasks for inspect give the numbers of `parley ask`; `make inspect` runs it, offline."""

import json
import math
import subprocess
import sys
from collections import Counter

import pytest
from hub import Hub
from model_server import serving

from parley.asking.client import Sampling
from parley.asking.log import Questions
from parley.asking.run import Settings, ask
from parley.asking.score import score_log
from parley.building.build import build
from parley.building.built import find_folder
from parley.building.collection import discover, get
from parley.building.sources import open_source
from parley.declaring.questions import Playing
from parley.declaring.tasks import flat
from parley.scoring.gold import Part
from parley.scoring.questions import write_questions

inspect_ai = pytest.importorskip("inspect_ai", reason="`make inspect` runs it")

TASKS = [
    (name, task_name)
    for name, dataset in discover().items()
    for task_name, task in dataset.tasks.items()
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


@pytest.fixture
def evaluated(sample_build, tmp_path):
    """Return a function that runs a task of the samples and returns the log."""
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    def evaluated(name, task, said, sides=(), turns=0, **given):
        def output(messages, *_):
            text = said([{"content": each.text} for each in messages])
            found = ModelOutput.from_content("mockllm/model", text)
            found.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
            return found

        model = get_model("mockllm/model", custom_outputs=output)
        (log,) = inspect_ai.eval(
            f"parley/{name}_{task.replace('-', '_')}",
            model="none/none" if sides else model,
            model_roles=dict.fromkeys(sides, model),
            task_args={"build": str(sample_build), "turns": turns},
            log_dir=str(tmp_path / "logs"),
            display="none",
            **given,
        )
        assert log.status == "success", log.error
        return log

    return evaluated


def numbers(log, name="parley_answers"):
    """Return the metrics of a log under a name."""
    return {
        each: metric.value
        for score in log.results.scores
        if score.name == name
        for each, metric in score.metrics.items()
    }


def questions_of(name, task, sample_build):
    """Return all questions of a task of the samples; games have less turns than usual."""
    dataset = discover()[name]
    declared = dataset.tasks[task]
    turns = 5 if isinstance(declared.asking, Playing) else 0
    return Questions(find_folder(sample_build, dataset), task, declared.chosen({}), Part(), turns)


@pytest.mark.parametrize(("name", "task"), TASKS)
def test_inspect_gives_the_numbers_of_the_runner(name, task, sample_build, evaluated, tmp_path):
    questions = questions_of(name, task, sample_build)
    with serving(lambda request: answer(request["messages"])) as server:
        models = dict.fromkeys(questions.roles, "m")
        given = Settings(models, Sampling({"temperature": 0.0}), server.url)
        ask(questions, given, tmp_path / "log.jsonl")
    due = score_log(questions.built, task, {}, tmp_path / "log.jsonl", Part())

    sides = getattr(questions.asking, "roles", ())
    log = evaluated(name, task, answer, sides, questions.turns)
    metrics = numbers(log)
    undefined = 0
    for path, value in flat(due.score.metrics).items():
        if isinstance(value, int | float):
            assert metrics[".".join(path)] == pytest.approx(value, abs=1e-9)
        else:
            assert ".".join(path) not in metrics
            undefined += 1
    assert metrics["undefined"] == undefined
    for sample in log.samples if sides else ():
        (score,) = sample.scores.values()
        said = [each for each in sample.messages if each.role == "assistant"]
        told = json.loads(score.answer)["turns"]
        assert len(said) == told[sides[(sum(told.values()) - 1) % 2]]  # the last speaker's


@pytest.mark.parametrize(("name", "task"), TASKS)
def test_a_part_in_epochs_has_finite_metrics_targets_and_answers(
    name, task, sample_build, evaluated
):
    from inspect_ai.analysis import samples_df

    declared = discover()[name].tasks[task]
    questions = questions_of(name, task, sample_build)
    right = (
        {}
        if isinstance(questions.asking, Playing)
        else {
            "".join(each["content"] for each in question.messages): declared.asking.answer(
                declared.target(questions.gold[key])
            )
            for key, question in questions.by_key.items()
        }
    )
    asked = Counter()

    def said(messages):
        """Answer a question rightly, and the next time not at all."""
        text = "".join(each["content"] for each in messages)
        asked[text] += 1
        return "[Walk-Away]" if not right else json.dumps(right[text]) if asked[text] == 1 else ""

    log = evaluated(name, task, said, limit=5, epochs=2)
    count = min(5, len(questions.by_key))
    assert len(log.samples) == 2 * count
    assert log.eval.dataset.name
    table = samples_df(log.location)
    assert sorted(table["target"]) == sorted(sample.target for sample in log.samples)
    metrics = numbers(log)
    assert "undefined" in metrics
    assert all(map(math.isfinite, metrics.values()))
    for sample in log.samples:
        (score,) = sample.scores.values()
        assert sample.target
        assert (score.answer is None) == (score.value["readable"] == 0) == bool(score.reason)
        if right and score.answer:
            assert json.loads(score.answer) == json.loads(sample.target)
    for each in ("readable", *declared.per_prediction):
        found = numbers(log, each)
        assert math.isfinite(found["stderr"])
        if right:  # half of the answers are perfect, and the others unreadable
            best = 100 if declared.unit == "percent" else 1
            assert found["mean"] == (0.5 if each == "readable" else best / 2)
    if right and "folds" not in declared.evaluated_on:
        for each in declared.per_prediction:
            assert metrics[each] == numbers(log, each)["mean"]


ASKED = """
import sys
import inspect_ai
from inspect_ai.model import ModelOutput, ModelUsage, get_model

task, answer, logs = sys.argv[1:]
output = ModelOutput.from_content("mockllm/model", answer)
output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
model = get_model("mockllm/model", custom_outputs=lambda *_: output)
inspect_ai.eval(task, model=model, limit=4, log_dir=logs, log_format="json", display="none")
"""


def test_inspect_asks_the_questions_of_a_repository(tmp_path):
    build(open_source(get("casino"), None, sample=True), tmp_path, questions=write_questions)
    said = json.dumps({"order": "Food > Water > Firewood"})
    with Hub() as hub:  # a process of its own, as the Hub's address is read at import
        hub.seed("org/casino", tmp_path / "casino")
        asked = ["hf/org/casino/partner-priorities", said, str(tmp_path / "logs")]
        done = subprocess.run(
            [sys.executable, "-c", ASKED, *asked], env=hub.environ(tmp_path), capture_output=True
        )
    assert done.returncode == 0, done.stderr.decode()
    (file,) = (tmp_path / "logs").glob("*.json")
    log = json.loads(file.read_text())
    assert log["status"] == "success"
    samples = log["samples"]
    assert len({sample["input"] for sample in samples}) == 4
    assert all("Your own order" in sample["input"] for sample in samples)
    targets = [sample["target"] for sample in samples]
    assert {tuple(sorted(json.loads(each)["order"].split(" > "))) for each in targets} == {
        ("Firewood", "Food", "Water")
    }
    found = [sample["scores"]["exact"]["value"] for sample in samples]
    assert found == ["C" if target == said else "I" for target in targets]
    assert "C" in found
