"""Variants of a task's questions: with examples, or with another system text."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

from parley.base.errors import ScriptError, UsageError
from parley.building.built import BuiltFolder
from parley.declaring.prediction_formats import Key
from parley.declaring.questions import Asking, Message, Question
from parley.declaring.tasks import Gold
from parley.scoring.gold import in_order_of_pilots, running, script_of


@dataclass(frozen=True)
class Variant:
    """How questions differ from those that a task declares.

    Args:
        shots: The number of examples, question and right answer, before each question.
        prompt: The system text in the place of the task's own, "" for that one.
    """

    shots: int = 0
    prompt: str = ""

    def __post_init__(self) -> None:
        if type(self.shots) is not int or self.shots < 0:
            raise UsageError(f"shots {self.shots!r:.60}: expected a whole number, 0 or more")
        if self.prompt and not self.prompt.strip():
            raise UsageError("prompt: the file holds no text")


AS_DECLARED = Variant()


def varied(
    built: BuiltFolder,
    name: str,
    given: Mapping[str, str],
    scored: Gold,
    questions: Mapping[Key, Question],
    variant: Variant,
) -> dict[Key, Question]:
    """Return questions in a variant; `given` are the arguments that they were made with.

    UsageError if there are too few examples.
    """
    shown = _examples(built, name, given, scored, questions, variant.shots)
    found = {}
    for key, question in questions.items():
        system, user = _parts(question, variant.prompt)
        found[key] = replace(question, messages=(*system, *shown, *user))
    return found


def _parts(question: Question, prompt: str) -> tuple[tuple[Message, ...], tuple[Message, ...]]:
    """Return the system's messages, which a prompt replaces, and the others."""
    system = tuple(each for each in question.messages if each["role"] == "system")
    others = tuple(each for each in question.messages if each["role"] != "system")
    return ({"role": "system", "content": prompt},) if prompt else system, others


def _examples(
    built: BuiltFolder,
    name: str,
    given: Mapping[str, str],
    scored: Gold,
    questions: Mapping[Key, Question],
    count: int,
) -> tuple[Message, ...]:
    """Return as many questions with their right answers: the first in the order of pilots.

    None is of a dialogue that is scored. A task may name other rows that may be seen.
    """
    if not count:
        return ()
    task = built.dataset.task(name)
    asking, target = task.asking, task.target
    assert isinstance(asking, Asking)  # noqa: S101 - for types
    with running(built):
        seen = {**given, **asking.examples}
        gold = task.gold(built, **seen)
        asked = {each.key: each for each in asking.questions(built, **seen)}
        used = {each for key, value in scored.items() for each in task.dialogues(key, value)}
        free = [key for key, value in gold.items() if used.isdisjoint(task.dialogues(key, value))]
        if target is None or len(free) < count:
            raise UsageError(
                f"shots {count}: {built.dataset.name} {name} has {len(free) if target else 0:,} "
                "examples outside the dialogues that are scored",
                remedy="Ask a part: limit or subset leaves others as examples.",
            )
        messages: list[Message] = []
        for key in in_order_of_pilots(free)[:count]:
            fields = dict(target(gold[key]))
            answer = json.dumps(asking.answer(fields), ensure_ascii=False)
            if asking.read(answer, asked[key]) != fields:
                raise ScriptError(
                    f"{script_of(built)}: {name}: its reader reads the example {answer:.200} as "
                    "another answer"
                )
            messages += _parts(asked[key], "")[1]
            messages.append({"role": "assistant", "content": answer})
    return tuple(messages)
