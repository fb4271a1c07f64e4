"""The askable tasks as tasks of inspect (inspect_ai): `inspect eval parley/NAME_TASK`.

Prompts, readers and scores are those of `parley ask`; inspect brings models, logs and a viewer.
Parameters of each task (`-T`): build, the folder of builds; subset; limit, for a pilot; options,
as NAME=VALUE; turns, the limit of a game's. The sides of a game are model roles: --model-role
SIDE=MODEL.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import GenerateConfig, get_model
from inspect_ai.scorer import Score, mean, metric, scorer, stderr
from inspect_ai.solver import generate, solver

from parley.asking.client import reason_unread
from parley.asking.log import Questions
from parley.asking.run import read_calls
from parley.building.built import find_folder
from parley.building.collection import discover, get
from parley.declaring.prediction_formats import UNREADABLE, Key, Prediction
from parley.declaring.questions import Asking, Unreadable
from parley.declaring.spread import Interval
from parley.declaring.tasks import Undefined, flat
from parley.scoring.evaluate import compute
from parley.scoring.gold import Part, arguments, running
from parley.scoring.predictions import validate_predictions

READABLE = "readable"


@lru_cache(maxsize=1)
def _questions(
    dataset: str, name: str, build: str, subset: str, limit: int, options: str, turns: int
) -> Questions:
    """Return the questions of a task; the last ones are kept for its solver, scorer and metric."""
    found = get(dataset)
    given = dict(each.split("=", 1) for each in options.split(",") if each)
    chosen = found.task(name).chosen(given)
    return Questions(find_folder(Path(build), found), name, chosen, Part(subset, limit), turns)


def _answer(output: Any) -> tuple[str, str]:
    """Return the reason of an answer's end, and its text."""
    return output.stop_reason, output.completion


@solver  # type: ignore[untyped-decorator]
def parley_game(**which: Any) -> Any:
    """Play a game: each turn is a call of its side's model."""
    questions = _questions(**which)
    game: Any = questions.asking

    async def solve(state: Any, generate: Any) -> Any:
        at, said = questions.by_key[tuple(state.metadata["key"])], list[tuple[str, str]]()
        config = GenerateConfig(temperature=0, max_tokens=game.max_tokens)  # a role's own wins
        while role := game.turn(at):
            messages = Sample(input=list(game.messages(at))).input
            state.output = await get_model(role=role, config=config).generate(messages)
            said.append(_answer(state.output))
            state.messages = [*messages, state.output.message]  # the talk as its speaker sees it
            at = game.step(at, said[-1][1], reason_unread(*said[-1]))
        state.metadata["turns"] = said
        return state

    return solve


@scorer(metrics=[])  # type: ignore[untyped-decorator]
def parley_answers(**which: Any) -> Any:
    """Read an answer, and score it alone: {metric: value}, and 1 if it is readable."""
    questions = _questions(**which)

    async def read(state: Any, target: Any) -> Any:
        key = tuple(state.metadata["key"])
        said = state.metadata.get("turns") or [_answer(state.output)]
        found = read_calls(questions.asking, questions.by_key[key], said)
        reason = found.reason if isinstance(found, Unreadable) else None
        fields = {UNREADABLE: reason} if isinstance(found, Unreadable) else dict(found)
        prediction = {**dict(zip(questions.task.key, key, strict=True)), **fields}
        return Score(
            value=_alone(questions, key, prediction),
            answer=None if reason else _text(fields),
            explanation=reason and f"{UNREADABLE}: {reason}",
            reason=reason,
            metadata={"epoch": state.epoch, "prediction": prediction},
        )

    return read


def _alone(questions: Questions, key: Key, prediction: Prediction) -> dict[str, float]:
    """Return the values of a single prediction."""
    value = {READABLE: float(UNREADABLE not in prediction)}
    if names := questions.task.per_prediction:
        found = _score(questions, [prediction]).metrics
        value |= {name: found[name] for name in names}
    return value


def _score(questions: Questions, predictions: Iterable[Prediction]) -> Any:
    """Return the score of predictions for some of the questions."""
    task = questions.task
    found = {tuple(each[name] for name in task.key): each for each in predictions}
    gold = {key: value for key, value in questions.gold.items() if key in found}
    checked = validate_predictions(found.values(), task, gold, "the answers")
    of = questions.built, questions.name, questions.options
    return compute(*of, gold, checked, questions.part)


@metric(scores="unreduced")  # type: ignore[untyped-decorator]
def parley_score(**which: Any) -> Any:
    """Score all answers together, each epoch for itself; return the means over the epochs.

    An interval is NAME.low and NAME.high, a sample SD over folds NAME.sd. A number that an epoch
    lacks is left out; `undefined` counts those.
    """
    questions = _questions(**which)

    def score(scores: list[Any]) -> Any:
        by_epoch: dict[int, list[Prediction]] = defaultdict(list)
        for each in scores:
            by_epoch[each.score.metadata["epoch"]].append(each.score.metadata["prediction"])
        epochs = [_numbers(_score(questions, each)) for each in by_epoch.values()]
        names = dict.fromkeys(name for each in epochs for name in each)
        values = {name: [each.get(name) for each in epochs] for name in names}
        means = {
            name: sum(known) / len(each)
            for name, each in values.items()
            if len(known := [value for value in each if value is not None]) == len(each)
        }
        return {**means, "undefined": len(names) - len(means)}

    return score


def _numbers(found: Any) -> dict[str, float | None]:
    """Return the metrics of a score and their spread; None for an undefined metric."""
    numbers: dict[str, float | None] = {}
    for path, value in flat(found.metrics).items():
        numbers[".".join(path)] = None if isinstance(value, Undefined) else value
    for path, spread in flat(found.spread).items():
        name = ".".join(path)
        if isinstance(spread, Interval):
            numbers |= {f"{name}.low": spread.low, f"{name}.high": spread.high}
        elif spread:
            numbers[f"{name}.sd"] = spread.sd
    return numbers


def _targets(questions: Questions) -> Mapping[Key, str]:
    """Return the fields of each right prediction; of a game, those of the people's own deal."""
    task, asking = questions.task, questions.asking
    if task.target:
        return {key: _text(task.target(gold)) for key, gold in questions.gold.items()}
    if isinstance(asking, Asking):
        return {}
    given = {**questions.options, **arguments(task, questions.part)}
    with running(questions.built):
        people = [*task.baselines[asking.people](questions.built, **given)]
    return {
        tuple(each[name] for name in task.key): _text(
            {name: value for name, value in each.items() if name not in task.key}
        )
        for each in people
    }


def _text(fields: Mapping[str, Any]) -> str:
    return json.dumps(fields, ensure_ascii=False)


def _declare(dataset: str, name: str) -> Callable[..., Any]:
    def declared(
        build: str = "build", subset: str = "", limit: int = 0, options: str = "", turns: int = 0
    ) -> Any:
        _questions.cache_clear()  # the build may be a new one
        which: dict[str, Any] = {"dataset": dataset, "name": name, "build": build}
        which |= {"subset": subset, "limit": limit, "options": options, "turns": turns}
        questions = _questions(**which)
        asking: Any = questions.asking
        is_single = isinstance(asking, Asking)
        targets = _targets(questions)
        samples = [
            Sample(
                id="-".join(map(str, key)),
                input=list(each.messages if is_single else asking.messages(each)),
                target=targets.get(key, ""),
                metadata={"key": list(key)},
            )
            for key, each in questions.by_key.items()
        ]
        return Task(
            dataset=MemoryDataset(samples, name=f"{dataset} {questions.built.version}"),
            solver=generate() if is_single else parley_game(**which),
            scorer=parley_answers(**which),
            metrics=[parley_score(**which), {"*": [mean(), stderr()]}],
            config=GenerateConfig(temperature=0, max_tokens=asking.max_tokens),
            version=asking.version,
            metadata={"questions": questions.digest, "limit": limit, "subset": subset},
        )

    return declared


for _dataset in discover().values():
    for _name, _task in _dataset.tasks.items():
        if _task.asking:
            _id = f"{_dataset.name}_{_name}".replace("-", "_")
            globals()[_id] = task(name=_id)(_declare(_dataset.name, _name))
