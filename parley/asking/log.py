"""Logs of asked questions: JSON Lines, the first line tells what was asked, each other one a key.

An entry is written as soon as its answer is there. A finished log has the entries in the order of
the questions, the last of each key. So it has the same lines whether it was resumed or not.
"""

import fcntl
import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import datetime, timezone
from pathlib import Path
from typing import IO, Any

from parley.asking.client import Mode, Sampling
from parley.asking.probe import CHANGES
from parley.asking.variants import AS_DECLARED, Variant, varied
from parley.base.errors import OutputError, Problem, RecordError, UsageError
from parley.base.replace import require_outside_builds, writing
from parley.base.secret import without_secrets
from parley.base.strict_json import loads
from parley.base.version import __version__
from parley.building.built import BuiltFolder
from parley.declaring.game_scores import SWAPPED
from parley.declaring.prediction_formats import Key
from parley.declaring.questions import Asking, Playing, Question
from parley.declaring.shapes import Checked, problems
from parley.declaring.tasks import Task
from parley.scoring.gold import Part, arguments, load_gold, pilot, rows_digest, running

FORMAT = 1


def _not_negative(number: float) -> None:
    if number < 0:
        raise ValueError("0 or more")


_COUNT = Checked(int, _not_negative)
_CALL = {
    "role?": str,
    "model": str,
    "text": str,
    "finish": str,
    "reasoning?": str,
    "reasoning_tokens?": _COUNT,
    "prompt_tokens": _COUNT,
    "completion_tokens": _COUNT,
    "retries": _COUNT,
    "seconds": Checked((float, int), _not_negative),
}
_ENTRY = (
    {"key": [(str, int)], "calls": [_CALL], "prediction": {str: lambda value: None}},
    {"key": [(str, int)], "calls": [_CALL], "unreadable": str},
    {"key": [(str, int)], "calls": [_CALL], "failed": str},
)
_HEADER = {
    "log": {FORMAT},
    **dict.fromkeys(("parley", "dataset", "version", "task"), str),
    "options": {str: str},
    "subset": str,
    "limit": _COUNT,
    "rows": str,
    "asking": str,
    "questions": str,
    "models": {str: str},
    "sampling": {str: lambda value: None},
    "schema": bool,
    "ask_again?": bool,
    "repeat?": _COUNT,
    "turns?": _COUNT,
    "swap?": bool,
    "shots?": _COUNT,
    "prompt?": str,
    "mode?": {str: [{*CHANGES}]},
}
_WITHOUT = {
    "ask_again": False,
    "repeat": 1,
    "shots": 0,
    "prompt": "",
}  # settings that a header of an older version does not state
_STARTS = b'{"log":'


class Questions:
    """The questions of a part of a task, in the order of its gold, and their sha256.

    The sha256 is that of all questions of the task or subset, also in a pilot. A game ends after
    `turns`, 0 for its own limit. With `swap` each scenario is played twice: the key of the second
    game ends in SWAPPED, and each model plays the side of the other one. UsageError for `turns` or
    `swap` of questions, and for a `variant` of a game.
    """

    def __init__(
        self,
        built: BuiltFolder,
        name: str,
        options: Mapping[str, str],
        part: Part,
        turns: int = 0,
        swap: bool = False,
        variant: Variant = AS_DECLARED,
    ) -> None:
        for option, value in (("turns", turns), ("limit", part.limit)):  # from any framework
            if not isinstance(value, int) or value < 0:
                raise UsageError(f"--{option} {value}: expected a whole number, 0 or more")
        task = built.dataset.task(name)
        if task.asking is None:
            why = task.not_asked or "it declares no questions"
            raise UsageError(f"{built.dataset.name} {name} cannot be asked: {why}")
        self.built, self.name, self.task, self.part = built, name, task, part
        self.options = dict(options)
        self.asking: Asking | Playing = task.asking
        self.turns, self.swap, self.variant = turns, swap, variant
        if isinstance(self.asking, Playing):
            self.turns = turns or self.asking.limit
            if variant != AS_DECLARED:
                option = "--shots" if variant.shots else "--prompt"
                raise UsageError(f"{option}: {built.dataset.name} {name} is a game")
        elif turns or swap:
            option = "--turns" if turns else "--swap"
            raise UsageError(f"{option}: {built.dataset.name} {name} is no game")
        if turns == 1:
            raise UsageError("--turns 1: a deal takes two turns or more")
        whole, outside = load_gold(built, name, options, Part(part.subset))
        self.gold = pilot(built, name, whole, part)
        self.others = {*outside, *whole} - self.gold.keys()
        given = {**options, **arguments(task, part)}
        found: dict[Key, Any] = {}
        digest = hashlib.sha256()
        with running(built):
            if isinstance(self.asking, Playing):
                found = dict(self.asking.start(built, self.turns, **given))
            else:
                found = {each.key: each for each in self.asking.questions(built, **given)}
                found = varied(built, name, given, self.gold, found, variant)
            for key in whole:
                digest.update(_text(_shown(self.asking, found[key])) + b"\n")
        self.by_key = {
            each: found[key]
            for key in self.gold
            for each in (key, *([(*key, SWAPPED)] if swap else []))
        }
        self.digest = digest.hexdigest()

    def seat(self, key: Key, role: str) -> str:
        """Return the side that the model of a side plays in the games that are not swapped."""
        return seat_of(self.task, self.roles, key, role)

    @property
    def roles(self) -> tuple[str, ...]:
        """The sides of a game, ("",) of questions."""
        return self.asking.roles if isinstance(self.asking, Playing) else ("",)

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of questions, or of a game, in a log's header."""
        is_game = isinstance(self.asking, Playing)
        return {"turns": self.turns, "swap": self.swap} if is_game else self.variant.header

    def log_in(self, folder: Path, models: Mapping[str, str], sampling: Sampling) -> Path:
        """Return the log of a run in a folder: the newest that it can resume, else today's.

        The name holds dataset, task, options, subset, pilot, settings, models and date (UTC).
        """
        pilot = f"pilot-{self.part.limit}" if self.part.limit else ""
        game = [f"turns-{self.turns}" * (self.turns != getattr(self.asking, "limit", 0))]
        game.append("swap" * self.swap)
        asked = "+".join(dict.fromkeys(models.get(role, "") for role in self.roles))
        repeat = f"r{sampling.repeat}" * (sampling.repeat > 1)
        settings = (*game, *self.variant.names, repeat)
        own = (*self.options.values(), self.part.subset, pilot, *settings, asked)
        parts = [each for each in (self.built.dataset.name, self.name, *own) if each]
        name = ".".join(re.sub(r"[^\w.+-]", "-", each, flags=re.ASCII)[:80] for each in parts)
        header = self.header(models, sampling)
        for path in sorted(folder.glob(f"{name}.{'[0-9]' * 4}-??-??.jsonl"), reverse=True):
            if _begins(path, header):
                return path
        return folder / f"{name}.{datetime.now(timezone.utc).date()}.jsonl"

    def header(self, models: Mapping[str, str], sampling: Sampling) -> dict[str, Any]:
        """Return the first line of a log: models is role -> model, "" for a question's.

        UsageError if a log cannot hold the settings.
        """
        header = {
            "log": FORMAT,
            "parley": __version__,
            "dataset": self.built.dataset.name,
            "version": self.built.version,
            "task": self.name,
            "options": self.options,
            "subset": self.part.subset,
            "limit": self.part.limit,
            "rows": rows_digest(self.built, self.task),
            "asking": self.asking.version,
            "questions": self.digest,
            "models": dict(models),
            "sampling": dict(sampling.fields),
            "schema": sampling.schema,
            "ask_again": sampling.ask_again,
            "repeat": sampling.repeat,
            **self.settings,
        }
        _require_loggable(header)
        return header


def _require_loggable(header: Mapping[str, Any]) -> None:
    """Raise UsageError unless each setting reads back equal from a log, and holds no secret."""
    settings: dict[str, dict[Any, Any]] = {}
    for name, value in header.items():
        if isinstance(value, Mapping):
            settings |= {f"{name} {key}".strip(): {key: each} for key, each in value.items()}
        else:
            settings[name] = {name: value}
    wrong: list[Problem] = []
    for place, setting in settings.items():
        try:
            text = _text(setting)
            what = "" if loads(text) == setting else "it reads back from JSON as another value"
            if without_secrets(text.decode()) != text.decode():
                what = "it holds a key, token or password of the environment"
        except (ValueError, TypeError, RecursionError) as error:
            what = f"JSON cannot hold it: {error}"
        if what:
            wrong.append(Problem(place, what=what))
    if wrong:
        remedy = "Give other values: a log states every setting, and is read again."
        raise UsageError("a log cannot hold these settings", *wrong, remedy=remedy)


def _shown(asking: Asking | Playing, question: Any) -> Any:
    """Return the part of a question that a model sees; for a game, both sides' prompts."""
    if isinstance(question, Question):
        return [question.key, question.messages, question.schema]
    assert isinstance(asking, Playing)  # noqa: S101 - for types
    second = asking.step(question, "Hello.")
    return [asking.messages(question), asking.messages(second)]


def _text(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def seat_of(task: Task, roles: Iterable[str], key: Key, role: str) -> str:
    """Return the side by which a header names the model that plays `role` in the game of a key.

    The key of a game with swapped sides is longer than that of the task.
    """
    if len(key) == len(task.key):
        return role
    return next((each for each in roles if each != role), role)  # a damaged log may lack a side


class Log:
    """A log that is being written; one process at a time.

    UsageError if the file is not a log, is in use, or belongs to other questions or settings.
    `begin` writes the header of a new log, before any entry; `begun` tells whether it is there.
    """

    def __init__(self, path: Path, header: Mapping[str, Any]) -> None:
        self.path, self.entries = path, dict[Key, dict[str, Any]]()
        self._header, self.begun = dict(header), False
        require_outside_builds(path.resolve())
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file: IO[bytes] = path.open("a+b")
        except OSError as error:
            raise OutputError(f"{path}: {error.strerror}") from error
        try:
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise UsageError(f"{path}: another process writes it") from None
            self._resume()
        except BaseException:
            self._file.close()
            raise

    def _resume(self) -> None:
        self._file.seek(0)
        text = self._file.read()
        whole = text[: text.rfind(b"\n") + 1]  # a kill may leave half a line
        if whole:
            there, self.entries = read_log(self.path, whole)
            if wrong := [*differences(there, self._header)]:
                raise UsageError(
                    f"{self.path}: holds answers to other questions",
                    *wrong,
                    remedy="Name another --log, or run it with the same settings.",
                )
            self._header |= {"mode": there["mode"]} if "mode" in there else {}
            self.begun = True
        elif text and not (text.startswith(_STARTS) or _STARTS.startswith(text)):
            raise UsageError(f"{self.path}: is not a log; name another --log")
        self._file.truncate(len(whole))

    @property
    def mode(self) -> Mapping[str, Mode]:
        """Role -> the mode of its requests; no role where no endpoint was asked."""
        return {role: tuple(mode) for role, mode in self._header.get("mode", {}).items()}

    def begin(self, mode: Mapping[str, Mode]) -> None:
        """Write the header of a new log, with the mode of each role; no other mode follows."""
        if not self.begun:
            self._header["mode"] = {role: [*each] for role, each in mode.items()}
            self._write(self._header)
            self.begun = True

    def _write(self, value: Mapping[str, Any]) -> None:
        try:
            self._file.write(_text(value) + b"\n")
            self._file.flush()
        except OSError as error:
            remedy = "Run the same command again when there is room: it resumes."
            raise OutputError(f"{self.path}: {error.strerror}", remedy=remedy) from error

    def add(self, entry: dict[str, Any]) -> None:
        """Append the entry of a key; an answer is never replaced."""
        if "failed" not in self.entries.get(tuple(entry["key"]), {"failed": ""}):
            return
        self.entries[tuple(entry["key"])] = entry
        self._write(entry)

    def finish(self, keys: Iterable[Key]) -> None:
        """Put the entries in order, one for each key."""
        with writing(self.path) as file:
            lines = [self._header, *(self.entries[key] for key in keys if key in self.entries)]
            file.writelines(_text(line) + b"\n" for line in lines)

    def close(self) -> None:
        """Close the file; remove it if it was not begun, as nothing was answered."""
        with suppress(OSError):
            if not self.begun:
                self.path.unlink()
            self._file.close()


def differences(there: Mapping[str, Any], due: Mapping[str, Any]) -> Iterable[Problem]:
    """Yield where the header of a log differs from what is due, but for the version of Parley."""
    for name, value in due.items():
        stated = there.get(name, _WITHOUT.get(name))
        if name != "parley" and stated != value:
            yield Problem(name, str(value), str(stated))


def _begins(path: Path, header: Mapping[str, Any]) -> bool:
    """Tell whether a file is a log with this header."""
    with suppress(OSError, ValueError), path.open("rb") as file:
        there = loads(file.readline())
        return isinstance(there, dict) and not [*differences(there, header)]
    return False


def is_log(file: str) -> bool:
    """Tell whether a file is a log."""
    with suppress(OSError), open(file, "rb") as lines:
        return os.path.isfile(file) and lines.read(len(_STARTS)) == _STARTS
    return False


def read_log(
    path: Path, text: bytes | None = None
) -> tuple[dict[str, Any], dict[Key, dict[str, Any]]]:
    """Return the header of a log and its entries by key, the last one of each key.

    RecordError names every line that is no entry, or repeats a key that has an answer.
    """
    lines = (path.read_bytes() if text is None else text).split(b"\n")
    if not lines[-1]:
        lines.pop()
    header: dict[str, Any] = {}
    entries: dict[Key, dict[str, Any]] = {}
    wrong: list[Problem] = []
    for number, line in enumerate(lines, 1):
        try:
            value = loads(line)
        except ValueError as error:
            wrong.append(Problem(f"line {number}", what=f"invalid JSON: {error}"))
            continue
        found = [*problems(value, _ENTRY if number > 1 else _HEADER, f"line {number}")]
        wrong += found
        if number == 1:
            header = value
        elif not found:
            key = tuple(value["key"])
            if "failed" not in entries.get(key, {"failed": ""}):
                what = f"the key {list(key)} has an answer in a line before"
                wrong.append(Problem(f"line {number}", what=what))
            entries[key] = value
    if wrong or not header:
        raise RecordError(f"{path}: is not a readable log", *wrong)
    return header, entries
