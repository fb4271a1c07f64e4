"""The questions that a model is asked, and what its answers give."""

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from parley.base.errors import ScriptError, UsageError
from parley.base.version import __version__
from parley.building.folder import BuiltFolder
from parley.tasks.asking import (
    FAILED,
    REFUSED,
    TOOL_CALL,
    TRUNCATED,
    Asking,
    Message,
    Question,
    unread,
)
from parley.tasks.formats import UNREADABLE, Key, Prediction
from parley.tasks.game_scores import SWAPPED
from parley.tasks.games import LIMIT, NegotiationState, Playing
from parley.tasks.gold import (
    Part,
    arguments,
    in_order_of_pilots,
    load_gold,
    pilot,
    rows_digest,
    running,
    script_of,
)

Answer = tuple[str, str]  # why a model stopped, in inspect's words, and its text

_REASONS = {
    "stop": "",
    "max_tokens": TRUNCATED,
    "model_length": TRUNCATED,
    "tool_calls": TOOL_CALL,
    "content_filter": REFUSED,
}


@dataclass(frozen=True)
class Variant:
    """How questions differ from those that a task declares.

    Args:
        shots: The number of examples, question and right answer, before each question.
        prompt: The system text in the place of the task's own, "" for that one.
    """

    shots: int = 0
    prompt: str = ""


AS_DECLARED = Variant()


class Questions:
    """The questions of a part of a task, those of a pilot first, and their sha256.

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
        for option, value in (("turns", turns), ("limit", part.limit), ("shots", variant.shots)):
            if type(value) is not int or value < 0:
                raise UsageError(f"{option} {value!r:.60}: expected a whole number, 0 or more")
        task = built.dataset.task(name)
        if task.asking is None:
            why = task.not_asked or "it declares no questions"
            raise UsageError(f"{built.dataset.name} {name} cannot be asked: {why}")
        self.built, self.name, self.task = built, name, task
        self.options = dict(options)
        self.asking: Any = task.asking
        self.turns, self.swap, self.variant = turns, swap, variant
        if isinstance(self.asking, Playing):
            self.turns = turns or LIMIT
            if variant != AS_DECLARED:
                option = "shots" if variant.shots else "prompt"
                raise UsageError(f"{option}: {built.dataset.name} {name} is a game")
        elif turns or swap:
            option = "turns" if turns else "swap"
            raise UsageError(f"{option}: {built.dataset.name} {name} is no game")
        if turns == 1:
            raise UsageError("turns 1: a deal takes two turns or more")
        whole, outside = load_gold(built, name, options, Part(part.subset))
        self.part = replace(part, limit=part.limit * (part.limit < len(whole)))
        self.gold = pilot(built, name, whole, self.part)
        self.others = {*outside, *whole} - self.gold.keys()
        given = {**options, **arguments(task, part)}
        found: dict[Key, Any] = {}
        digest = hashlib.sha256()
        with running(built):
            if isinstance(self.asking, Playing):
                scenarios = self.asking.scenarios(built, **given)
                found = {key: NegotiationState(each, self.turns) for key, each in scenarios}
            else:
                found = {each.key: each for each in self.asking.questions(built, **given)}
                examples = self._examples(given, found)
                for key, each in found.items():
                    system, others = _parts(each, variant.prompt)
                    found[key] = replace(each, messages=(*system, *examples, *others))
            for key in whole:
                shown = _shown(self.asking, found[key])
                text = json.dumps(shown, ensure_ascii=False, separators=(",", ":"))
                digest.update(text.encode() + b"\n")
        self.by_key = {
            each: found[key]
            for key in in_order_of_pilots(self.gold)
            for each in (key, *([(*key, SWAPPED)] if swap else []))
        }
        self.digest = digest.hexdigest()

    def _examples(
        self, given: Mapping[str, str], questions: Mapping[Key, Question]
    ) -> tuple[Message, ...]:
        """Return questions with their right answers: the first in the order of pilots.

        None is of a dialogue that is scored. A task may name other rows that may be seen. `given`
        are the arguments that the questions were made with. UsageError if there are too few.
        """
        if not (count := self.variant.shots):
            return ()
        task, built = self.task, self.built
        asking, target = self.asking, task.target
        seen = {**given, **asking.examples}
        gold = task.gold(built, **seen)
        asked = {each.key: each for each in asking.questions(built, **seen)}
        used = {each for key, value in self.gold.items() for each in task.dialogues(key, value)}
        free = [key for key, value in gold.items() if used.isdisjoint(task.dialogues(key, value))]
        if target is None or len(free) < count:
            raise UsageError(
                f"shots {count}: {built.dataset.name} {self.name} has "
                f"{len(free) if target else 0:,} examples outside the dialogues that are scored",
                remedy="Ask a part: limit or subset leaves others as examples.",
            )
        messages: list[Message] = []
        for key in in_order_of_pilots(free)[:count]:
            fields = dict(target(gold[key]))
            answer = json.dumps(asking.answer(fields), ensure_ascii=False)
            if asking.read(answer, asked[key]) != fields:
                raise ScriptError(
                    f"{script_of(built)}: {self.name}: its reader reads the example "
                    f"{answer:.200} as another answer"
                )
            messages += [*_parts(asked[key])[1], {"role": "assistant", "content": answer}]
        return tuple(messages)

    @property
    def roles(self) -> tuple[str, ...]:
        """The sides of a game, none of questions."""
        return self.asking.roles if isinstance(self.asking, Playing) else ()

    @property
    def facts(self) -> dict[str, Any]:
        """What a log states of them: what they are of, their versions, digests and settings."""
        is_game = isinstance(self.asking, Playing)
        return {
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
            **({"turns": self.turns, "swap": self.swap} if is_game else vars(self.variant)),
        }

    def seat(self, key: Key, role: str) -> str:
        """Return the side that the model of a side plays in the games that are not swapped."""
        if len(key) == len(self.task.key):
            return role
        return next(each for each in self.roles if each != role)

    def cut(self, keys: Collection[Key]) -> Part:
        """Return the part that these keys are: the first N are a pilot of N, others chosen."""
        asked = {key[: len(self.task.key)] for key in keys}
        if len(asked) == len(self.gold):
            return self.part
        if asked == {*in_order_of_pilots(self.gold)[: len(asked)]}:
            return replace(self.part, limit=len(asked))
        return replace(self.part, limit=0, chosen=frozenset(asked))

    def read(self, key: Key, answers: Sequence[Answer]) -> Prediction:
        """Return the prediction that an answer, or the turns of a game, give for a key.

        A game without an end is unreadable: a call failed. ValueError for turns after the end.
        """
        asking, question = self.asking, self.by_key[key]
        if isinstance(asking, Asking):
            ((stop, text),) = answers
            reason = reason_unread(stop, text)
            fields = {UNREADABLE: reason} if reason else asking.fields(text, question)
        else:
            state = question
            for stop, text in answers:
                if not asking.turn(state):
                    raise ValueError("turns after the end")
                state = self.step(state, stop, text)
            fields = {UNREADABLE: FAILED} if asking.turn(state) else asking.outcome(state)
        return {**dict(zip(self.task.key, key, strict=False)), **fields}

    def step(self, state: Any, stop: str, text: str) -> Any:
        """Return the state of a game after a turn."""
        return self.asking.step(state, text, reason_unread(stop, text))

    def begins(self, key: Key) -> tuple[Message, ...]:
        """Return the messages of a question, or of a game's first turn."""
        asking, first = self.asking, self.by_key[key]
        return tuple(first.messages if self.roles == () else asking.messages(first))


def _parts(question: Question, prompt: str = "") -> tuple[tuple[Message, ...], tuple[Message, ...]]:
    """Return the system's messages, which a prompt replaces, and the others."""
    system = tuple(each for each in question.messages if each["role"] == "system")
    others = tuple(each for each in question.messages if each["role"] != "system")
    return ({"role": "system", "content": prompt},) if prompt else system, others


def reason_unread(stop: str, text: str) -> str:
    """Return why an answer is not even read, or ""."""
    return _REASONS.get(stop, f"ended: {stop:.40}") or unread(text)


def _shown(asking: Any, question: Any) -> Any:
    """Return the part of a question that a model sees; for a game, both sides' prompts."""
    if isinstance(question, Question):
        return [question.key, question.messages, question.schema]
    second = asking.step(question, "Hello.")
    return [asking.messages(question), asking.messages(second)]
