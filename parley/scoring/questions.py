"""The questions that a model is asked, and what its answers give."""

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from parley.base.errors import UsageError
from parley.base.version import __version__
from parley.builds.built_folder import BuiltFolder
from parley.scoring.game_scores import SWAPPED
from parley.scoring.gold import (
    ALL,
    Part,
    in_order_of_pilots,
    load_gold,
    pilot,
    rows_digest,
    running,
)
from parley.scoring.metrics import Epoch, Predictions, TaskRows
from parley.scoring.predictions import validate_predictions
from parley.tasks.answers import FAILED, REFUSED, TOOL_CALL, TRUNCATED
from parley.tasks.games import LIMIT, NegotiationState, Playing
from parley.tasks.kinds import schema_of, written
from parley.tasks.prediction_formats import TREC_RUN, UNREADABLE, Key, Prediction
from parley.tasks.prompts import Asking, Message

Answer = tuple[str, str]  # why a model stopped, in inspect's words, and its text

_ENDS: tuple[Key, ...] = ((), (SWAPPED,))  # of the keys of a scenario's games
_REASONS = {
    "stop": "",
    "max_tokens": TRUNCATED,
    "model_length": TRUNCATED,
    "tool_calls": TOOL_CALL,
    "content_filter": REFUSED,
}


class Questions:
    """The questions of a part of a task, those of a pilot first, and their sha256.

    `by_key` has the messages of each question, or the state in which a game begins; `schema` is the
    JSON schema of an answer, None in a game. The sha256 is that of all questions of the task or
    subset, also in a pilot. UsageError if the task cannot be asked, or not so.

    A game ends after so many `turns`, 0 for its own limit. With `swap` each scenario is played
    twice: the key of the second game ends in SWAPPED, and each model plays the side of the other
    one. So many `shots`, question and answer, stand before each question, and `prompt` instead of
    the task's own system text.
    """

    def __init__(
        self,
        built: BuiltFolder,
        name: str,
        options: Mapping[str, str],
        part: Part = ALL,
        *,
        turns: int = 0,
        swap: bool = False,
        shots: int = 0,
        prompt: str = "",
    ) -> None:
        for option, value in (("turns", turns), ("limit", part.limit), ("shots", shots)):
            if type(value) is not int or value < 0:
                raise UsageError(f"{option} {value!r:.60}: expected a whole number, 0 or more")
        self.built, self.name, self.options = built, name, dict(options)
        self.task = task = built.dataset.task(name)
        self.asking: Any = task.asking
        self.is_game = isinstance(self.asking, Playing)
        title = f"{built.dataset.name} {name}"
        if task.asking is None:
            why = task.not_asked or "it declares no questions"
            topics = f"`parley export {built.dataset.name} trec` writes its topics."
            remedy = topics if "trec" in built.dataset.exports and task.format is TREC_RUN else ""
            raise UsageError(f"{title} cannot be asked: {why}", remedy=remedy)
        if (turns or swap) and not self.is_game:
            raise UsageError(f"{'turns' if turns else 'swap'}: {title} is no game")
        if (shots or prompt) and self.is_game:
            raise UsageError(f"{'shots' if shots else 'prompt'}: {title} is a game")
        if turns == 1:
            raise UsageError("turns 1: a deal takes two turns or more")
        self.schema = None if self.is_game else schema_of(task.asked)
        self.turns, self.swap = turns or LIMIT, swap
        self.shots, self.prompt = shots, prompt
        whole, outside = load_gold(built, name, options, Part(part.subset, ids=part.ids))
        self.part = replace(part, limit=part.limit if part.limit < len(whole) else 0)
        self.gold = pilot(built, name, whole, self.part)
        self.is_part = bool(outside) or len(self.gold) < len(whole)
        arguments = {**options, **task.subset(part.subset).arguments}
        digest = hashlib.sha256()
        with running(built):
            questions = self._games(arguments) if self.is_game else self._varied(arguments)
            for key in whole:
                prompt_of_key = self._prompt(key, questions[key])
                text = json.dumps(prompt_of_key, ensure_ascii=False, separators=(",", ":"))
                digest.update(text.encode() + b"\n")
        ends, pilots = _ENDS if swap else _ENDS[:1], in_order_of_pilots(self.gold)
        self.by_key = {key + end: questions[key] for key in pilots for end in ends}
        self.digest = digest.hexdigest()

    def _games(self, arguments: Mapping[str, str]) -> dict[Key, Any]:
        """Return the state in which each game begins."""
        scenarios = self.asking.scenarios(self.built, **arguments)
        return {key: NegotiationState(scenario, self.turns) for key, scenario in scenarios}

    def _asked(self, arguments: Mapping[str, str]) -> dict[Key, tuple[Message, ...]]:
        """Return the messages of each question as the task declares it."""
        form = self.task.form
        return {q.key: q.messages(form) for q in self.asking.questions(self.built, **arguments)}

    def _varied(self, arguments: Mapping[str, str]) -> dict[Key, tuple[Message, ...]]:
        """Return the questions with the system text and the examples that are asked for."""
        examples = self._examples(arguments) if self.shots else ()
        questions = {}
        for key, (system, user) in self._asked(arguments).items():
            if self.prompt:
                system = {"role": "system", "content": self.prompt}
            questions[key] = (system, *examples, user)
        return questions

    def _examples(self, arguments: Mapping[str, str]) -> tuple[Message, ...]:
        """Return questions with their right answers, or those shown: the first of a pilot.

        None is of a dialogue that is scored. A task may name other rows for examples. `arguments`
        are those of the questions that are asked. UsageError if there are too few.
        """
        task, asking = self.task, self.asking
        arguments = {**arguments, **asking.examples}
        gold = task.gold(self.built, **arguments)
        questions = self._asked(arguments)
        scored = {id for key, value in self.gold.items() for id in task.dialogues(key, value)}
        free = [key for key, value in gold.items() if scored.isdisjoint(task.dialogues(key, value))]
        if len(free) < self.shots:
            title = f"{self.built.dataset.name} {self.name}"
            what = f"{title} has {len(free):,} examples outside the dialogues that are scored"
            remedy = "Ask a part: limit or subset leaves other dialogues as examples."
            raise UsageError(f"shots {self.shots}: {what}", remedy=remedy)
        predicted = asking.shown(self.built, **arguments) if asking.shown else ()
        shown = {tuple([of[name] for name in task.key]): task.without_key(of) for of in predicted}
        messages: list[Message] = []
        for key in in_order_of_pilots(free)[: self.shots]:
            answer = written(task.asked, shown[key] if shown else gold[key])
            messages += [questions[key][1], {"role": "assistant", "content": answer}]
        return tuple(messages)

    def _prompt(self, key: Key, question: Any) -> Any:
        """Return the part of a question that a model sees; for a game, both sides' prompts."""
        if not self.is_game:
            return [key, question, self.schema]
        second = self.asking.step(question, "Hello.")
        return [self.asking.messages(question), self.asking.messages(second)]

    @property
    def facts(self) -> dict[str, Any]:
        """What a log states of them: what they are of, their versions, digests and settings."""
        settings: dict[str, Any] = {"shots": self.shots, "prompt": self.prompt}
        if self.is_game:
            settings = {"turns": self.turns, "swap": self.swap}
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
            **settings,
        }

    def part_of(self, keys: Collection[Key]) -> Part:
        """Return the part that these keys are: the first N are a pilot of N, others chosen."""
        gold_keys = {key[: len(self.task.key)] for key in keys}
        if len(gold_keys) == len(self.gold):
            return self.part
        if gold_keys == {*in_order_of_pilots(self.gold)[: len(gold_keys)]}:
            return replace(self.part, limit=len(gold_keys))
        return replace(self.part, limit=0, chosen=frozenset(gold_keys))

    def read(self, key: Key, answers: Sequence[Answer]) -> Prediction:
        """Return the prediction that an answer, or the turns of a game, give for a key.

        A game without an end is unreadable: a call failed. ValueError for turns after the end.
        """
        asking, question = self.asking, self.by_key[key]
        if isinstance(asking, Asking):
            ((stop, text),) = answers
            reason = _reason(stop)
            fields = {UNREADABLE: reason} if reason else self.task.read(text)
        else:
            for stop, text in answers:
                question = self.step(question, stop, text)
            fields = {UNREADABLE: FAILED} if asking.turn(question) else asking.outcome(question)
        return {**dict(zip(self.task.key, key, strict=False)), **fields}

    def step(self, state: Any, stop: str, text: str) -> Any:
        """Return the state of a game after a turn."""
        return self.asking.step(state, text, _reason(stop))

    def first_messages(self, key: Key) -> tuple[Message, ...]:
        """Return the messages of a question, or of a game's first turn."""
        first: Any = self.by_key[key]
        return tuple(self.asking.messages(first) if self.is_game else first)

    @cached_property
    def _places(self) -> dict[Key, int]:
        return {key: place for place, key in enumerate(self.gold)}

    def epoch(self, predictions: Predictions, texts: Mapping[Key, str] | None = None) -> Epoch:
        """Return predictions with the rows that they are for; some answers may be lacking."""
        gold, ordered = dict[Key, Any](), dict[Key, Prediction]()
        keys = {key[: len(self.task.key)] for key in predictions}.intersection(self._places)
        in_order = sorted(keys, key=self._places.__getitem__)
        for end in _ENDS:
            of_end = {key: self.gold[key] for key in in_order if key + end in predictions}
            answers = (predictions[key + end] for key in of_end)
            valid = validate_predictions(answers, self.task, of_end, "the answers")
            gold |= {key + end: value for key, value in of_end.items()}
            ordered |= {key + end: prediction for key, prediction in valid.items()}
        is_part = self.is_part or len(keys) < len(self.gold)
        rows = TaskRows(self.built, self.name, self.options, gold, is_part)
        return Epoch(rows, ordered, texts or {})


def asked(
    built: BuiltFolder, name: str, options: Mapping[str, str | None], part: Part
) -> list[dict[str, Any]]:
    """Return the questions of a part of a task as `parley.questions` does, those of a pilot first.

    UsageError also for a game, whose questions depend on the answers.
    """
    task = built.dataset.task(name)
    if isinstance(task.asking, Playing):
        id = f"{built.dataset.name}_{name}".replace("-", "_")
        what = f"{built.dataset.name} {name} is a game: each question depends on the turns before"
        raise UsageError(what, remedy=f"inspect plays it: `inspect eval parley/{id}`.")
    questions, rows = Questions(built, name, task.chosen(options), part), []
    for place, (key, messages) in enumerate(questions.by_key.items()):
        right = task.right(questions.gold[key])
        row = {
            "key": dict(zip(task.key, key, strict=True)),
            "messages": [*messages],
            "schema": questions.schema,
            "target": right and json.loads(written(task.asked, right)),
            "pilot": place,
        }
        rows.append(row)
    return rows


def _reason(stop: str) -> str:
    """Return why what a model said is no whole answer, or ""."""
    return _REASONS.get(stop, f"ended: {stop:.40}")
