"""The askable tasks as tasks of inspect (inspect_ai): `inspect eval parley/NAME_TASK`.

Prompts, readers and scores are those of `parley ask`; inspect brings models, logs and a viewer.
Parameters of each task (`-T`): build, the folder of builds; subset; limit, for a pilot; options,
as NAME=VALUE. The sides of a game are model roles: --model-role SIDE=MODEL.
"""

import math
from collections.abc import Callable
from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.model import GenerateConfig, get_model
from inspect_ai.scorer import Score, metric, scorer
from inspect_ai.solver import generate, solver

from parley.ask.client import reason_unread
from parley.ask.log import Questions
from parley.ask.run import read_calls
from parley.asking import Asking, Unreadable
from parley.collection import discover
from parley.folder.built import find_folder
from parley.scoring.evaluate import score as score_predictions
from parley.scoring.gold import Part
from parley.scoring.prediction_formats import UNREADABLE
from parley.tasks import flat, tasks_of

_FINISH = {"max_tokens": "length", "model_length": "length"}  # inspect's word -> the endpoint's


def _answer(output: Any) -> tuple[str, str]:
    """Return the reason of an answer's end, and its text."""
    return _FINISH.get(output.stop_reason, output.stop_reason), output.completion


def _play(questions: Questions) -> Any:
    """Return the solver of a game: each turn is a call of its side's model."""
    game: Any = questions.asking

    async def solve(state: Any, generate: Any) -> Any:
        at, said = questions.by_key[tuple(state.metadata["key"])], list[tuple[str, str]]()
        config = GenerateConfig(temperature=0, max_tokens=game.max_tokens)
        while role := game.turn(at):
            messages = Sample(input=list(game.messages(at))).input
            state.output = await get_model(role=role).generate(messages, config=config)
            said.append(_answer(state.output))
            if reason_unread(*said[-1]):
                break
            at = game.step(at, said[-1][1])
        state.metadata["turns"] = said
        return state

    return solver(name="parley_game")(lambda: solve)()


def _reader(questions: Questions) -> Any:
    """Return the scorer of a sample: 1 for an answer that can be read."""

    async def read(state: Any, target: Any) -> Any:
        key = tuple(state.metadata["key"])
        said = state.metadata.get("turns") or [_answer(state.output)]
        found = read_calls(questions.asking, questions.by_key[key], said)
        is_read = not isinstance(found, Unreadable)
        fields = {UNREADABLE: found.reason} if isinstance(found, Unreadable) else found
        named = dict(zip(questions.task.key, key, strict=True))
        return Score(value=int(is_read), metadata={"prediction": {**named, **fields}})

    return scorer(metrics=[], name="parley_reader")(lambda: read)()


def _metrics(questions: Questions) -> Any:
    """Return the metric of all samples: the score of the task, NaN for an undefined one.

    inspect also asks for it before all samples are there; then there is none.
    """

    def compute(scores: list[Any]) -> Any:
        found = [each.score.metadata["prediction"] for each in scores]
        if len(found) < len(questions.gold):
            return math.nan
        built, name, part = questions.built, questions.name, questions.part
        result = score_predictions(built, name, questions.options, found=found, part=part)
        values = {".".join(path): value for path, value in flat(result.score.metrics).items()}
        return {
            name: value if isinstance(value, int | float) else math.nan
            for name, value in values.items()
        }

    return metric(name="parley")(lambda: compute)()


def _declare(dataset: Any, name: str) -> Callable[..., Any]:
    def declared(build: str = "build", subset: str = "", limit: int = 0, options: str = "") -> Any:
        from pathlib import Path

        given = dict(each.split("=", 1) for each in options.split(",") if each)
        chosen = tasks_of(dataset)[name].chosen(given)
        part = Part(subset, limit)
        questions = Questions(find_folder(Path(build), dataset), name, chosen, part)
        asking: Any = questions.asking
        is_single = isinstance(asking, Asking)
        return Task(
            dataset=[
                Sample(
                    id="-".join(map(str, key)),
                    input=list(each.messages if is_single else asking.messages(each)),
                    metadata={"key": list(key)},
                )
                for key, each in questions.by_key.items()
            ],
            solver=generate() if is_single else _play(questions),
            scorer=_reader(questions),
            metrics=[_metrics(questions)],
            config=GenerateConfig(temperature=0, max_tokens=questions.asking.max_tokens),
            version=questions.asking.version,
            metadata={"questions": questions.digest, "limit": limit, "subset": subset},
        )

    return declared


for _dataset in discover().values():
    for _name, _task in tasks_of(_dataset).items():
        if _task.asking:
            _id = f"{_dataset.name}_{_name}".replace("-", "_")
            globals()[_id] = task(name=_id)(_declare(_dataset, _name))
