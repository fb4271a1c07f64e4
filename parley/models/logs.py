"""Logs of inspect: what they hold, and whether they answer the questions of today."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from parley.base.errors import Problem, RecordError, UsageError, require_known, shorten
from parley.builds.built_folder import BuiltFolder
from parley.schema.shapes import problems
from parley.scoring.evaluate import POLICIES, WRONG, Result, score
from parley.scoring.gold import ALL, Part
from parley.scoring.metrics import Epoch
from parley.scoring.predictions import is_log
from parley.scoring.questions import Answer, Questions
from parley.tasks.answers import FAILED
from parley.tasks.prediction_formats import UNREADABLE, Key, Prediction

_TEXTS = ("parley", "dataset", "version", "task", "subset", "rows", "asking", "questions")
_STATED = {**dict.fromkeys(_TEXTS, str), "options": {str: str}, "limit": int, "turns?": int}
_STATED |= {"swap?": bool, "schema?": bool, "shots?": int, "prompt?": str}
_TURN = {"role": str, "stop": str, "text": str}
_SAMPLE = {"key": [(str, int)], "cluster": str, "models?": {str: str}, "turns?": [_TURN]}
_SCORER = "parley_answers"


def score_file(
    built: BuiltFolder,
    name: str,
    options: Mapping[str, str | None],
    file: str,
    part: Part = ALL,
    policy: str = WRONG,
) -> Result:
    """Score a file of predictions, or a log of inspect, which states its own part.

    The answers of a log are read again; of several epochs it is the mean. Raises what `score`
    raises. UsageError if a log is of another task, or of other options or another part than those
    given; RecordError if it is unfinished, of other questions or rows, or was changed.
    """
    if not is_log(file):
        return score(built, name, options, file=file, part=part, policy=policy)
    require_known("parley score", "--unreadable", policy, POLICIES)
    log = read_log(Path(file))
    questions, asked_part = _questions(built, file, log, name, options)
    epochs = _epochs(file, log, questions)
    answered_part = questions.part_of(epochs[0].predictions.keys())
    if part not in (ALL, asked_part, answered_part):
        raise UsageError(f"{file}: is a log of {answered_part}, not of {part}")
    facts = _facts(log, questions, epochs)
    result = Result(epochs, file, answered_part, policy, run=facts)
    result.evaluation.name_models(facts["models"])
    return result


def answers_of_log(built: BuiltFolder, file: Path) -> tuple[str, list[Epoch]]:
    """Return the model of a log, and the rows of its task and its predictions, by epoch.

    Errors as `score_file`.
    """
    log = read_log(file)
    questions, _ = _questions(built, str(file), log, log.eval.metadata["task"], {})
    return str(log.eval.model), _epochs(str(file), log, questions)


def _questions(
    built: BuiltFolder, file: str, log: Any, name: str, options: Mapping[str, str | None]
) -> tuple[Questions, Part]:
    """Return what a log states that it asked; UsageError if it is of another task or options."""
    stated = log.eval.metadata
    if (stated["dataset"], stated["task"]) != (built.dataset.name, name):
        task_of_log = f"{stated['dataset']} {stated['task']}"
        what = f"{file}: is a log of {task_of_log!r:.80}"
        raise UsageError(f"{what}, not of {built.dataset.name} {name}")
    of_log = built.dataset.task(name).chosen(stated["options"])
    for option, value in options.items():
        if value is not None and value != of_log[option]:
            raise UsageError(f"--set {option}={value}: the log is of {option}={of_log[option]}")
    asked = Part(stated["subset"], stated["limit"])
    settings = {key: stated[key] for key in ("turns", "swap", "shots", "prompt") if key in stated}
    return Questions(built, name, of_log, asked, **settings), asked


def answer_of(output: Any) -> Answer:
    """Return why a model stopped, and its text, of an output of inspect; a refusal is no answer."""
    if not output.choices:
        return ("unknown", "")
    content = output.message.content
    parts = [] if isinstance(content, str) else content
    is_refusal = any(getattr(part, "refusal", None) for part in parts)
    return ("content_filter" if is_refusal else output.stop_reason), output.message.text


def read_log(path: Path, header_only: bool = False) -> Any:
    """Return a log as inspect reads it; RecordError if it is damaged or not of Parley's tasks."""
    try:
        from inspect_ai.log import read_eval_log
    except ModuleNotFoundError:
        what = f"{path}: a log of inspect"
        raise UsageError(what, remedy='`pip install "parley-datasets[models]"` reads it.') from None
    try:
        unread = {"events", "attachments", "store", "messages"}
        log = read_eval_log(str(path), header_only, exclude_fields=unread)
    except Exception as error:  # what a damaged zip or JSON makes of inspect is not foreseeable
        why = f"{type(error).__name__}: {shorten(str(error), 200)}"
        raise RecordError(f"{path}: is not a readable log ({why})") from error
    if wrong := [*problems(log.eval.metadata, _STATED, "metadata")]:
        raise UsageError(f"{path}: is no log of a task `parley/NAME_TASK`", *wrong)
    return log


def _epochs(file: str, log: Any, questions: Questions) -> list[Epoch]:
    """Return the epochs of a log, of a game with its turns as texts; RecordError if it is wrong."""
    stated, today = log.eval.metadata, questions.facts
    unlike = [
        Problem(name, repr(today[name]), f"{stated[name]!r:.80}")
        for name in ("version", "rows", "asking", "questions")
        if stated[name] != today[name]
    ]
    wrong = unlike or [*_unfinished(log)]
    if log.invalidated:
        wrong.append(Problem("invalidated", what="the log is marked so"))
    epochs = dict[int, tuple[dict[Key, Prediction], dict[Key, str]]]()
    for sample in () if wrong else log.samples:
        try:
            key, prediction = _prediction(sample, questions)
        except ValueError as error:
            wrong.append(Problem(f"sample {sample.id}, epoch {sample.epoch}", what=str(error)))
        else:
            predictions, texts = epochs.setdefault(sample.epoch, ({}, {}))
            predictions[key] = prediction
            texts[key] = "\n".join(text for _, text in answers_of(sample.metadata, sample.output))
    if wrong:
        remedy = _remedy(file, log, bool(unlike))
        raise RecordError(f"{file}: cannot be scored", *wrong, remedy=remedy)
    return [questions.epoch(*of_epoch) for of_epoch in epochs.values()]


def _remedy(file: str, log: Any, unlike: bool) -> str:
    if unlike:
        by = log.eval.metadata["parley"]
        return f"A log is scored with the version and the build that asked: here Parley {by!r:.40}."
    if log.status == "success":
        return ""
    recover = f"`inspect log recover {file}`, and then " if log.status == "started" else ""
    return f"{recover}`inspect eval-retry` of the log asks what is missing."


def _unfinished(log: Any) -> Iterator[Problem]:
    """Yield why a log lacks answers."""
    if log.status != "success":
        reasons = [_reason(sample.error) for sample in log.samples or () if sample.error]
        failed = f": {len(reasons):,} questions failed, the first: {reasons[0]}" if reasons else ""
        yield Problem("status", "success", log.status + failed)
        return
    epochs = range(1, (log.eval.config.epochs or 1) + 1)
    expected = {(id, epoch) for id in log.eval.dataset.sample_ids or () for epoch in epochs}
    counts = Counter((sample.id, sample.epoch) for sample in log.samples or ())
    if missing := len(expected - counts.keys()):
        yield Problem("samples", what=f"{missing:,} of {len(expected):,} are missing")
    for what, samples in (
        ("is none of its questions", counts.keys() - expected),
        ("is there twice", {sample for sample, count in counts.items() if count > 1}),
    ):
        for id, epoch in sorted(samples, key=str):
            yield Problem(f"sample {id}, epoch {epoch}", what=what)
    if not expected:
        yield Problem("samples", what="there are none")


def _prediction(sample: Any, questions: Questions) -> tuple[Key, Prediction]:
    """Return key and prediction of a sample; ValueError tells how it was changed."""
    for wrong in problems(sample.metadata, _SAMPLE, "metadata"):
        raise ValueError(str(wrong))
    key = tuple(sample.metadata["key"])
    if sample.id != "-".join(map(str, key)):
        raise ValueError(f"its id is not that of its key {key}")
    if sample.invalidation:
        raise ValueError("is marked as invalidated")
    score = (sample.scores or {}).get(_SCORER)
    if score is None or "prediction" not in (score.metadata or {}):
        raise ValueError(f"has no score {_SCORER}")
    stated: Prediction = score.metadata["prediction"]
    if key not in questions.by_key:
        raise ValueError("no such question")
    read = questions.read(key, answers_of(sample.metadata, sample.output))
    if read != stated:
        raise ValueError(f"its answer is read as {read}, but the log says {stated}")
    if sample.error and UNREADABLE not in read:
        raise ValueError("has an error and an answer")
    if sample.error:
        read = {**read, UNREADABLE: f"{FAILED}: {_reason(sample.error)}"}
    return key, read


def _reason(error: Any) -> str:
    """Return the end of an error, which names the cause after the request."""
    words = " ".join(error.message.replace("\\n", " ").split())
    end = words[-100:]
    return words if len(words) <= 100 else f"… {end.partition(' ')[2] or end}"


def answers_of(metadata: Mapping[str, Any], output: Any) -> list[Answer]:
    """Return the answer of a sample, or the turns of its game."""
    if "turns" in metadata:
        return [(turn["stop"], turn["text"]) for turn in metadata["turns"]]
    return [answer_of(output)]


def _facts(log: Any, questions: Questions, epochs: Sequence[Epoch]) -> dict[str, Any]:
    """Return what a report states of a log."""
    stated, prompt, sides = log.eval.metadata, questions.prompt, log.eval.model_roles or {}
    samples = log.samples
    calls = sum(len(answers_of(sample.metadata, sample.output)) for sample in samples)
    usage = [of_model for sample in samples for of_model in sample.model_usage.values()]
    costs = [of_model.total_cost for of_model in usage]
    names = ("asking", "questions", "schema", "turns", "swap", "shots")
    return {
        # side of a game -> model; "" -> model of questions, and of a side without one of its own
        "models": {
            role: str(sides[role].model if role in sides else log.eval.model)
            for role in (questions.asking.roles if questions.is_game else ("",))
        },
        "answered_by": dict(sorted(Counter(sample.output.model for sample in samples).items())),
        **{name: stated[name] for name in names if name in stated},
        **({"prompt": hashlib.sha256(prompt.encode()).hexdigest()} if prompt else {}),
        "settings": _settings(log),
        "epochs": len(epochs),
        "asked": sum(len(epoch.predictions) for epoch in epochs),
        "calls": calls,
        # None where no endpoint stated any
        "input_tokens": sum(of.total_tokens - of.output_tokens for of in usage) or None,
        "output_tokens": sum(of.output_tokens for of in usage) or None,
        "reasoning_tokens": sum(of.reasoning_tokens or 0 for of in usage) or None,
        "cost": None if not costs or None in costs else sum(costs),
    }


_OPERATIONAL = re.compile("max_retries|.*timeout|.*connections|batch|cache.*|display.*")


def _settings(log: Any) -> dict[str, Any]:
    """Return the settings of the calls that may change an answer; of a side with its name."""
    settings = log.plan.config.model_dump(exclude_none=True)
    for role, model in (log.eval.model_roles or {}).items():
        of_role = model.config.model_dump(exclude_none=True)
        settings |= {f"{role}.{name}": value for name, value in of_role.items()}
    return {name: value for name, value in settings.items() if not _OPERATIONAL.match(name)}
