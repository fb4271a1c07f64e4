"""The tasks that can be asked as tasks of inspect: `inspect eval parley/NAME_TASK`.

inspect brings models, retries, logs and a viewer; questions, the reading of answers, rules of games
and scores are Parley's. The sides of a game are model roles: `--model-role SIDE=MODEL`. The
scripted agents of games are the models of a provider: `parley/NAME`.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path
from typing import Any

from click import ClickException
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    ResponseSchema,
    get_model,
    model_roles,
    modelapi,
)
from inspect_ai.scorer import Score, mean, metric, scorer, stderr
from inspect_ai.solver import solver
from inspect_ai.util import JSONSchema

from parley.base.disk import cache_folder
from parley.base.errors import ParleyError, UsageError
from parley.base.values import flat
from parley.builds.built_folder import find_folder
from parley.declaration.registry import discover, get
from parley.models.logs import answer_of, answers_of
from parley.scoring.game_scores import SWAPPED
from parley.scoring.gold import Part
from parley.scoring.metrics import Evaluation, TaskRows
from parley.scoring.questions import Questions
from parley.tasks.games import Playing
from parley.tasks.prediction_formats import UNREADABLE, Key, Prediction


@lru_cache(maxsize=1)
def _questions(
    dataset: str, name: str, options: str, build: str, subset: str, limit: int, **how: Any
) -> Questions:
    """Return the questions of a task; the last ones are kept for its solver, scorer and metric."""
    built = find_folder(Path(build), get(dataset))
    chosen = built.dataset.task(name).chosen(json.loads(options))
    return Questions(built, name, chosen, Part(subset, limit), **how)


@solver  # type: ignore[untyped-decorator]
def parley_question(schema: bool, **which: Any) -> Any:
    """Ask a question, with the JSON schema of its answer unless told otherwise."""
    questions = _questions(**which)

    async def solve(state: Any, generate: Any) -> Any:
        if not schema:
            return await generate(state)
        sent = JSONSchema.model_validate(questions.schema)
        answer = ResponseSchema(name="answer", json_schema=sent, strict=True)
        return await generate(state, response_schema=answer)

    return solve


@solver  # type: ignore[untyped-decorator]
def parley_game(**which: Any) -> Any:
    """Play a game: each turn is a call of the model that has its side."""
    questions = _questions(**which)
    game: Any = questions.asking
    config = GenerateConfig(temperature=0, max_tokens=game.max_tokens)  # a role's own wins

    async def solve(state: Any, generate: Any) -> Any:
        position, turns = questions.by_key[_key(state)], list[dict[str, str]]()
        if unknown := model_roles().keys() - game.roles:
            sides = " and ".join(game.roles)
            raise UsageError(f"--model-role {', '.join(unknown)}: the sides are {sides}")
        models = {role: get_model(role=role, config=config) for role in game.roles}
        state.metadata["models"] = {role: str(model) for role, model in models.items()}
        state.metadata["turns"] = turns
        if _key(state)[-1] == SWAPPED:
            models = dict(zip(game.roles, reversed(models.values()), strict=True))
        while role := game.turn(position):
            messages = Sample(input=list(game.messages(position))).input
            _PLAYED.set((game, position))
            state.output = await models[role].generate(messages)
            stop, text = answer_of(state.output)
            turns.append({"role": role, "stop": stop, "text": text})
            state.messages = [*messages, state.output.message]  # the talk as its speaker sees it
            position = questions.step(position, stop, text)
        return state

    return solve


_PLAYED: ContextVar[tuple[Playing | None, Any]] = ContextVar("played")  # a game, and its state


@modelapi(name="parley")
class ScriptedAgent(ModelAPI):
    """A scripted agent of the game that is played: `parley/firm`."""

    async def generate(self, input: Any, tools: Any, tool_choice: Any, config: Any) -> Any:
        """Return the turn of the agent."""
        game, state = _PLAYED.get((None, None))
        name = f"parley/{self.model_name}"
        if not game or self.model_name not in game.agents:
            agents = game.agents if game else ()
            names = ", ".join(f"parley/{agent}" for agent in agents) or "none, as this is no game"
            raise UsageError(f"{name}: no such agent; there are: {names}")
        return ModelOutput.from_content(name, game.speak(self.model_name, state))


@scorer(metrics=[])  # type: ignore[untyped-decorator]
def parley_answers(**which: Any) -> Any:
    """Read an answer, and score it alone: {metric: value}, and 1 if it is readable."""
    questions = _questions(**which)

    async def read(state: Any, target: Any) -> Any:
        key = _key(state)
        prediction = questions.read(key, answers_of(state.metadata, state.output))
        reason = prediction.get(UNREADABLE)
        alone = questions.epoch({key: prediction}).score.metrics
        value = {name: alone[name] for name in questions.task.per_prediction}
        return Score(
            value={"readable": float(UNREADABLE not in prediction), **value},
            answer=None if reason else _as_json(questions.task.without_key(prediction)),
            explanation=reason and f"{UNREADABLE}: {reason}",
            metadata={
                "epoch": state.epoch,
                "key": list(key),
                "prediction": prediction,
                "models": state.metadata.get("models", {}),
            },
        )

    return read


def _key(state: Any) -> Key:
    return tuple(state.metadata["key"])


@metric(scores="unreduced")  # type: ignore[untyped-decorator]
def parley_score(**which: Any) -> Any:
    """Score all answers together, each epoch for itself; return the means over the epochs.

    The ends of an interval are NAME.low and NAME.high. A number that an epoch lacks is left out;
    `undefined` counts those.
    """
    questions = _questions(**which)

    def score(scores: list[Any]) -> Any:
        epochs: dict[int, dict[Key, Prediction]] = defaultdict(dict)
        models: dict[str, str] = {}  # none of a sample that failed
        for of_sample in scores:
            stated = of_sample.score.metadata
            models |= stated["models"]
            epochs[stated["epoch"]][tuple(stated["key"])] = stated["prediction"]
        if len({frozenset(predictions) for predictions in epochs.values()}) != 1:
            return {}  # inspect asks in the middle of a run, too
        evaluation = Evaluation([questions.epoch(answers) for answers in epochs.values()])
        evaluation.name_models(models)
        numbers = {".".join(path): value for path, value in evaluation.score.numbers.items()}
        undefined = len(flat(evaluation.score.metrics)) - len(numbers)
        for path, of in evaluation.metrics.items():
            if interval := of.interval:
                name = ".".join(path)
                numbers |= {f"{name}.low": interval.low, f"{name}.high": interval.high}
        return {**numbers, "undefined": undefined}

    return score


def _as_json(fields: Mapping[str, Any]) -> str:
    return json.dumps(dict(fields), ensure_ascii=False)


def _declare(dataset: str, name: str) -> Callable[..., Any]:
    def declared(
        build: str = "",
        subset: str = "",
        limit: int = 0,
        turns: int = 0,
        swap: bool = False,
        shots: int = 0,
        prompt: str = "",
        schema: bool = True,
        **options: str,
    ) -> Any:
        _questions.cache_clear()  # the build may be a new one
        try:
            for option, value in (("swap", swap), ("schema", schema)):
                if not isinstance(value, bool):
                    raise UsageError(f"-T {option}={value}: expected true or false")
            which: dict[str, Any] = {"subset": subset, "limit": limit, "turns": turns}
            for option, one in (which | {"shots": shots}).items():
                if not isinstance(one, str | int):
                    raise UsageError(f"-T {option}={one}: expected one value")
            which |= {"dataset": dataset, "name": name, "options": json.dumps(options)}
            which |= {"build": str(build) or _folder_of_builds(dataset)}
            which |= {"swap": swap, "shots": shots, "prompt": _read_prompt(str(prompt))}
            return _inspect_task(which, schema, _questions(**which))
        except ParleyError as error:
            # inspect's command shows it without a traceback, as any command of click does
            raise ClickException(str(error)) from error

    # else inspect adds the package to the name, or in an editable install runs a log again in the
    # folder of this file, where a relative build is another
    declared.__module__ = ""
    return declared


def _inspect_task(which: dict[str, Any], schema: bool, questions: Questions) -> Any:
    """Return the task of inspect that asks questions, made with the arguments `which`."""
    asking: Any = questions.asking
    is_single, task = not questions.is_game, questions.task
    targets = {k: right for k, v in questions.gold.items() if (right := task.right(v))}
    if not (schema or is_single):
        raise UsageError(f"-T schema: {which['dataset']} {which['name']} is a game")
    rows = TaskRows(questions.built, questions.name, questions.options, questions.gold)
    first = next(iter(rows.clusters.values()))
    cluster_of = {key: str(number) for number, keys in enumerate(first) for key in keys}
    samples = [
        Sample(
            id="-".join(map(str, key)),
            input=[*questions.first_messages(key)],
            target=_as_json(targets[key]) if key in targets else "",
            metadata={"key": list(key), "cluster": cluster_of[key[: len(task.key)]]},
        )
        for key in questions.by_key
    ]
    return Task(
        dataset=MemoryDataset(samples, name=f"{which['dataset']} {questions.built.version}"),
        solver=parley_question(schema, **which) if is_single else parley_game(**which),
        scorer=parley_answers(**which),
        metrics=[parley_score(**which), {"*": [mean(), stderr(cluster="cluster")]}],
        config=GenerateConfig(temperature=0, max_tokens=asking.max_tokens),
        score_on_error=True,  # a failed question is unreadable, as `fail_on_error` allows it
        version=asking.version,
        metadata={**questions.facts, **({"schema": schema} if is_single else {})},
    )


def _read_prompt(file: str) -> str:
    """Return the system text in a file, "" without one."""
    try:
        text = Path(file).read_text(encoding="utf-8") if file else ""
    except (OSError, UnicodeError) as error:
        raise UsageError(f"-T prompt={file}: cannot be read: {error}") from error
    if file and not text.strip():
        raise UsageError(f"-T prompt={file}: the file holds no text")
    return text


def _folder_of_builds(dataset: str) -> str:
    """Return the folder of builds that holds a dataset: `build`, else that of `parley.load`."""
    cached = cache_folder() / "built" / get(dataset).version
    return str(cached if not Path("build", dataset).is_dir() and cached.is_dir() else "build")


for _dataset in discover().values():
    for _name, _task in _dataset.tasks.items():
        if _task.asking:
            _id = f"{_dataset.name}_{_name}".replace("-", "_")
            globals()[_id] = task(name=f"parley/{_id}")(_declare(_dataset.name, _name))
