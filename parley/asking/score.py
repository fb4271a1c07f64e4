"""Score a log: read its answers again, and compare it with the questions of today."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from parley.asking.client import reason_unread
from parley.asking.log import Questions, differences, is_log, read_log
from parley.asking.run import SCRIPT, read_calls
from parley.asking.variants import variant_of
from parley.base.errors import Problem, RecordError, UsageError
from parley.building.built import BuiltFolder
from parley.declaring.game_scores import score_models
from parley.declaring.prediction_formats import UNREADABLE, Key, Prediction
from parley.declaring.questions import Asking, Playing, Unreadable
from parley.declaring.tasks import Score
from parley.scoring.evaluate import WRONG, Result, compute, score
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

    A log of an older version of the questions is scored by the predictions that it holds, if the
    rows are today's and no key lacks one. The result says so, and how many other keys it has.

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
    def predictions(self) -> dict[Key, Prediction]:
        """The predictions by the keys of the questions, and in their order."""
        return dict(_predictions(self.questions.task.key, self.entries, self.questions))

    def score(self, policy: str = WRONG) -> Result:
        """Return its score, with the facts of the log."""
        if self.questions.swap:
            scored = _score_swapped(self.questions, self.predictions, self.header["models"], policy)
        else:
            scored = _score(self.questions, self.predictions.values(), policy)
        facts = facts_of(self.header, self.entries, self.questions.asking)
        if left_out := len(self.entries.keys() - self.questions.by_key.keys()):
            facts["left_out"] = left_out
        return replace(scored, predictions=str(self.path), run=facts)


def is_older(header: Mapping[str, Any], asking: Asking | Playing) -> bool:
    """Tell whether a log answers an older version of its questions than today's."""
    versions = header["asking"], asking.version
    return all(each.isdecimal() for each in versions) and int(versions[0]) < int(versions[1])


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
    settings = header.get("turns", 0), header.get("swap", False), variant_of(header)
    questions = Questions(built, name, options, of, *settings)
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
    due: dict[str, Any] = {"rows": rows_digest(questions.built, questions.task)}
    is_old = is_older(header, questions.asking)
    if not is_old:
        due |= {"version": questions.built.version, "asking": questions.asking.version}
        due |= {"questions": questions.digest, **questions.settings}
    wrong = [*differences(header, due)]
    yield from wrong
    if wrong:
        return
    yield from _wrong_models(header["models"], questions)
    if missing := len(questions.by_key.keys() - entries.keys()):
        yield Problem("", what=f"{missing:,} of {len(questions.by_key):,} questions are not asked")
    for key, entry in entries.items():
        place = f"key {list(key)}"
        if key not in questions.by_key:
            if not is_old:  # an older version may have asked for keys without a right answer
                yield Problem(place, what="no such question")
        elif "failed" in entry:
            yield Problem(place, what=f"failed: {entry['failed']}")
        elif not is_old:
            read = _read(questions, key, entry)
            stated = Unreadable(entry[UNREADABLE]) if UNREADABLE in entry else entry["prediction"]
            if read != stated:
                yield Problem(place, str(read), str(stated), "not the prediction of its answers")
            elif odd := _wrong_calls(questions, key, entry, header):
                yield Problem(place, what=odd)


def _wrong_models(models: Mapping[str, str], questions: Questions) -> Iterator[Problem]:
    """Yield why the models of a log cannot have been asked."""
    roles = questions.roles
    if {*roles} != models.keys():
        yield Problem("models", str([*roles]), str([*models]), "other roles than those asked")
    elif questions.swap and len({*models.values()}) == 1:
        yield Problem("models", what="one model has no other side to swap")
    for role, model in models.items():
        if not model:
            yield Problem(f"models.{role}", what="names no model")


def _wrong_calls(
    questions: Questions, key: Key, entry: Mapping[str, Any], header: Mapping[str, Any]
) -> str:
    """Return why the calls of an entry cannot be those of its roles and settings, or ""."""
    game, state, models = questions.asking, questions.by_key[key], header["models"]
    due, there = 1 + header.get("ask_again", False), len(entry["calls"])
    if not isinstance(game, Playing) and there != due and (there > 1 or UNREADABLE in entry):
        return f"{there} answers, not {due}"
    for number, call in enumerate(entry["calls"], 1):
        role, stated = "", call.get("role", "")
        if isinstance(game, Playing):
            role = game.turn(state)
            reason = reason_unread(call["finish"], call["text"])
            state = game.step(state, call["text"], reason)
        if stated != role:
            return f"call {number} is of the role {role!r}, not of {stated!r}"
        asked, answered = models.get(questions.seat(key, role), ""), call["model"]
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
) -> Iterator[tuple[Key, Prediction]]:
    """Yield key and prediction; the keys of games with swapped sides have a part more."""
    for key in questions.by_key:
        entry = entries[key]
        fields = entry.get("prediction") or {UNREADABLE: entry[UNREADABLE]}
        yield key, {**dict(zip(names, key, strict=False)), **fields}


def _score(questions: Questions, predictions: Iterable[Prediction], policy: str) -> Result:
    """Return the score of predictions, one for each key of gold."""
    of, due = questions, (questions.gold, questions.others)
    return score(
        of.built, of.name, of.options, found=predictions, due=due, part=of.part, policy=policy
    )


def _score_swapped(
    questions: Questions,
    predictions: Mapping[Key, Prediction],
    models: Mapping[str, str],
    policy: str,
) -> Result:
    """Return the score of all games, by side over both games of a scenario, and by model."""
    game = questions.asking
    assert isinstance(game, Playing)  # noqa: S101 - for types
    width = len(questions.task.key)
    of_seats = (
        [each for key, each in predictions.items() if (len(key) > width) is is_swapped]
        for is_swapped in (False, True)
    )
    first, second = (_score(questions, each, policy) for each in of_seats)
    gold = {key: questions.gold[key[:width]] for key in predictions}
    of = questions.built, questions.name, questions.options
    found = compute(*of, gold, predictions, questions.part)

    def model_of(key: Key, role: str) -> str:
        return models[questions.seat(key, role)]

    own = score_models(game, questions.by_key, predictions, model_of)
    metrics = {**found.metrics, "by_model": own.metrics}
    spread = {**found.spread, "by_model": own.spread}
    digests = "".join(each.provenance["predictions"] for each in (first, second))
    proof = {**first.provenance, "predictions": hashlib.sha256(digests.encode()).hexdigest()}
    whole = Score(metrics, spread, found.counts)
    return replace(first, score=whole, provenance=proof, due=first.due + second.due)


def facts_of(
    header: Mapping[str, Any],
    entries: Mapping[Key, Mapping[str, Any]],
    asking: Asking | Playing | None,
) -> dict[str, Any]:
    """Return the facts of a log for a report, and today's version of questions that are older."""
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
        **({"asking_today": asking.version} if asking and is_older(header, asking) else {}),
        "questions": header["questions"],
        "sampling": header["sampling"],
        "schema": header["schema"],
        "ask_again": header.get("ask_again", False),
        "repeat": header.get("repeat", 1),
        **{name: header[name] for name in ("turns", "swap") if name in header},
        **variant_of(header).facts(),
        "mode": header.get("mode", {}),
        "asked": len(entries),
        "calls": len(calls),
        **totals,
        "seconds": round(sum(call["seconds"] for call in calls), 3),
    }
