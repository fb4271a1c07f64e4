"""Score a log: read its answers again, and compare it with the questions of today."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from parley.asking.client import reason_unread
from parley.asking.log import Questions, is_log, read_log
from parley.asking.run import SCRIPT, read_calls
from parley.base.errors import Problem, RecordError, UsageError
from parley.building.built import BuiltFolder
from parley.declaring.prediction_formats import UNREADABLE, Key, Prediction
from parley.declaring.questions import Playing, Unreadable
from parley.scoring.evaluate import WRONG, Result, score
from parley.scoring.gold import Part, rows_digest


def score_file(
    built: BuiltFolder,
    name: str,
    given: Mapping[str, str | None],
    file: str,
    part: Part,
    policy: str = WRONG,
) -> Result:
    """Score a file of predictions, or a log, which states its own part."""
    if not is_log(file):
        return score(built, name, given, file=file, part=part, policy=policy)
    return score_log(built, name, given, Path(file), part, policy)


def score_log(
    built: BuiltFolder,
    name: str,
    given: Mapping[str, str | None],
    path: Path,
    part: Part,
    policy: str = WRONG,
) -> Result:
    """Score the answers of a log as its readers read them now.

    The options and the part given must be those of the log; no option and `Part()` fit any. Else
    UsageError. RecordError if it answers other questions, or too few, or has failed calls.
    """
    return open_log(built, name, given, path, part).score(policy)


@dataclass(frozen=True)
class AnsweredLog:
    """A log that answers all its questions, and the predictions that were read."""

    path: Path
    questions: Questions
    header: Mapping[str, Any]
    entries: Mapping[Key, Mapping[str, Any]]

    @property
    def predictions(self) -> list[Prediction]:
        """The predictions, in the order of the questions."""
        return [*_predictions(self.questions.task.key, self.entries, self.questions)]

    def score(self, policy: str = WRONG) -> Result:
        """Return its score, with the facts of the log."""
        of, found = self.questions, self.predictions
        due = of.gold, of.others
        scored = score(
            of.built, of.name, of.options, found=found, due=due, part=of.part, policy=policy
        )
        facts = facts_of(self.header, self.entries)
        return Result(**{**vars(scored), "predictions": str(self.path), "run": facts})


def open_log(
    built: BuiltFolder, name: str, given: Mapping[str, str | None], path: Path, part: Part
) -> AnsweredLog:
    """Return a log that can be scored; raises what `score_log` raises."""
    header, entries = read_log(path)
    own = header["dataset"], header["task"]
    if own != (built.dataset.name, name):
        raise UsageError(f"{path}: is a log of {' '.join(own)}, not of {built.dataset.name} {name}")
    task = built.dataset.task(name)
    options = task.chosen(header["options"])
    for option, value in given.items():
        if value is not None and value != options[option]:
            raise UsageError(f"--{option} {value}: the log is of --{option} {options[option]}")
    of = Part(header["subset"], header["limit"])
    if part not in (Part(), of):
        raise UsageError(f"{path}: is a log of {of}, not of {part}")
    questions = Questions(built, name, options, of)
    if wrong := [*_wrong(header, entries, questions)]:
        raise RecordError(
            f"{path}: cannot be scored",
            *wrong,
            remedy="`parley ask` with the same settings asks the missing questions; a log of other "
            "questions or rows cannot be scored here.",
        )
    return AnsweredLog(path, questions, header, entries)


def _wrong(
    header: Mapping[str, Any], entries: Mapping[Key, Mapping[str, Any]], questions: Questions
) -> Iterator[Problem]:
    """Yield why a log cannot be scored."""
    due = {
        "version": questions.built.version,
        "rows": rows_digest(questions.built, questions.task),
        "asking": questions.asking.version,
        "questions": questions.digest,
    }
    wrong = [Problem(name, due[name], header[name]) for name in due if header[name] != due[name]]
    yield from wrong
    if wrong:
        return
    yield from _wrong_models(header["models"], questions.asking)
    if missing := len(questions.by_key.keys() - entries.keys()):
        yield Problem("", what=f"{missing:,} of {len(questions.by_key):,} questions are not asked")
    for key, entry in entries.items():
        place = f"key {list(key)}"
        if key not in questions.by_key:
            yield Problem(place, what="no such question")
        elif "failed" in entry:
            yield Problem(place, what=f"failed: {entry['failed']}")
        else:
            read = _read(questions, key, entry)
            stated = Unreadable(entry[UNREADABLE]) if UNREADABLE in entry else entry["prediction"]
            if read != stated:
                yield Problem(place, str(read), str(stated), "not the prediction of its answers")
            elif odd := _wrong_calls(questions, key, entry, header["models"]):
                yield Problem(place, what=odd)


def _wrong_models(models: Mapping[str, str], asking: Any) -> Iterator[Problem]:
    """Yield why the models of a log cannot have been asked."""
    roles = asking.roles if isinstance(asking, Playing) else ("",)
    if {*roles} != models.keys():
        yield Problem("models", str([*roles]), str([*models]), "other roles than those asked")
    for role, model in models.items():
        if not model:
            yield Problem(f"models.{role}", what="names no model")


def _wrong_calls(
    questions: Questions, key: Key, entry: Mapping[str, Any], models: Mapping[str, str]
) -> str:
    """Return why the calls of a readable entry cannot be those of its roles, or ""."""
    game, state = questions.asking, questions.by_key[key]
    for number, call in enumerate(entry["calls"], 1):
        role, stated = "", call.get("role", "")
        if isinstance(game, Playing):
            role = game.turn(state)
            reason = reason_unread(call["finish"], call["text"])
            state = game.step(state, call["text"], reason)
        if stated != role:
            return f"call {number} is of the role {role!r}, not of {stated!r}"
        asked, answered = models.get(role, ""), call["model"]
        if asked != answered and (asked.startswith(SCRIPT) or answered.startswith(SCRIPT)):
            return f"call {number} is of the agent {answered!r}, not of {asked!r}"
    return ""


def _read(questions: Questions, key: Key, entry: Mapping[str, Any]) -> Any:
    answers = [(call["finish"], call["text"]) for call in entry["calls"]]
    try:
        return read_calls(questions.asking, questions.by_key[key], answers)
    except ValueError as error:
        return error


def _predictions(
    names: tuple[str, ...], entries: Mapping[Key, Mapping[str, Any]], questions: Questions
) -> Iterator[Prediction]:
    for key in questions.by_key:
        entry = entries[key]
        fields = entry.get("prediction") or {UNREADABLE: entry[UNREADABLE]}
        yield {**dict(zip(names, key, strict=True)), **fields}


def facts_of(header: Mapping[str, Any], entries: Mapping[Key, Mapping[str, Any]]) -> dict[str, Any]:
    """Return the facts of a log for a report."""
    calls = [call for entry in entries.values() for call in entry["calls"]]
    totals = {
        name: sum(call[name] for call in calls)
        for name in ("prompt_tokens", "completion_tokens", "retries")
    }
    totals["reasoning_tokens"] = sum(call.get("reasoning_tokens", 0) for call in calls)
    return {
        "models": header["models"],
        "answered_by": dict(sorted(Counter(call["model"] for call in calls).items())),
        "asking": header["asking"],
        "questions": header["questions"],
        "sampling": header["sampling"],
        "schema": header["schema"],
        "mode": header.get("mode", {}),
        "asked": len(entries),
        "calls": len(calls),
        **totals,
        "seconds": round(sum(call["seconds"] for call in calls), 3),
    }
