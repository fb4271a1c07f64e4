"""Questions to a language model, which is called elsewhere; `answers.py` reads what it says."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from parley.tasks.prediction_formats import UNREADABLE, Key, Prediction

__all__ = ["Asking", "Question", "Unreadable", "chat", "object_schema", "spoken"]

Message = Mapping[str, str]  # {"role": "system" | "user" | "assistant", "content": text}

# Reasons of unreadable answers
EMPTY = "empty answer"
TRUNCATED = "truncated"
REFUSED = "refused"
TOOL_CALL = "tool call"
NO_ANSWER = "no answer in the form asked for"
AMBIGUOUS = "several answers"
INVALID = "invalid answer"
FAILED = "failed"  # a call without an answer; the sample of the log has the error


@dataclass(frozen=True)
class Unreadable:
    """An answer that is no prediction, and the reason."""

    reason: str = INVALID


@dataclass(frozen=True)
class Question:
    """A prompt for one prediction.

    Args:
        key: The values of the task's key.
        messages: The chat that a model sees.
        schema: A JSON schema of the answer, sent where the endpoint takes one.
    """

    key: Key
    messages: tuple[Message, ...]
    schema: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Asking:
    """The questions of a task and the reader of answers.

    Args:
        version: A new one for every change of a prompt or reader.
        questions: Build and the task's options -> the questions, one for each key.
        read: An answer -> the prediction's fields beside the key, or Unreadable.
        max_tokens: The longest answer, in tokens.
        answer: The fields of a prediction -> the object of an answer, for examples.
        examples: Keywords for `questions` and `gold` that give rows to take examples of, if others
            than those of the task: {"split": "validation"}.
        shown: Build and options -> the predictions that examples show instead of the right ones,
            which would teach a model to be certain.
    """

    version: str
    questions: Callable[..., Iterable[Question]]
    read: Callable[[str], Mapping[str, Any] | Unreadable]
    max_tokens: int = 200
    answer: Callable[[Mapping[str, Any]], Mapping[str, Any]] = dict
    examples: Mapping[str, str] = field(default_factory=dict)
    shown: Callable[..., Iterable[Prediction]] | None = None

    def fields(self, text: str) -> Mapping[str, Any]:
        """Return the fields that an answer gives beside the key, or why it is unreadable."""
        answer = self.read(text) if text.strip() else Unreadable(EMPTY)
        return {UNREADABLE: answer.reason} if isinstance(answer, Unreadable) else answer


def chat(system: str, user: str, form: str) -> tuple[Message, ...]:
    """Return the chat of an instruction and a question, which ends in the form of the answer."""
    question = f"{user}\n\n{form}"
    return ({"role": "system", "content": system}, {"role": "user", "content": question})


def spoken(turns: Iterable[tuple[str, str]]) -> str:
    """Return turns as lines "Name: text"; a line break in a text becomes a space."""
    return "\n".join(f"{name}: {' '.join(text.split())}" for name, text in turns)


def object_schema(**fields: Any) -> dict[str, Any]:
    """Return the JSON schema of an object that has exactly these fields."""
    closed = {"required": [*fields], "additionalProperties": False}
    return {"type": "object", "properties": fields, **closed}


LONGEST = 20_000  # characters of an answer after its thoughts; a longer one is not read
_TAG = "(?:think|thinking|thought|reasoning)>"
_THOUGHT = re.compile(rf"(?i)<{_TAG}|\[THINK\]|<\|channel\|>analysis")
_THOUGHT_ENDS = re.compile(rf"(?i)</{_TAG}|\[/THINK\]|<\|channel\|>final<\|message\|>")
_HYPHENS = re.compile("[\u2010-\u2015\u2212]")


def final_text(text: str) -> str:
    """Return an answer without the thoughts before it; "" for thoughts alone or too long a text.

    "120²" becomes "120^2" and so no other number.
    """
    text = "".join(f"^{c}" if c.isdigit() and not c.isdecimal() else c for c in text)
    text = _THOUGHT_ENDS.split(text)[-1]
    if len(text) <= LONGEST:  # else NFKC takes long; it can make a text 18 times longer
        text = _THOUGHT_ENDS.split(unicodedata.normalize("NFKC", text))[-1]
    if len(text) > LONGEST:
        return ""
    return "" if _THOUGHT.search(text) else _HYPHENS.sub("-", text).strip()
