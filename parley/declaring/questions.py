"""Questions to a language model, and strict readers of its answers.

A task has an `Asking` or `Playing`; nothing here calls a model. A reader is strict about meaning
and lenient about form: it takes code fences, prose around JSON and any case, and refuses an answer
that can be read in two ways. An answer in words holds hardly more than the answer itself: some
common words, and the `words` that its task names, in lower case, such as "strategy strategies".
"""

import json
import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from parley.base.strict_json import loads
from parley.declaring.prediction_formats import Key

Message = Mapping[str, str]  # {"role": "system" | "user" | "assistant", "content": text}

# Reasons of unreadable answers
EMPTY = "empty answer"
TRUNCATED = "truncated"
TOO_LONG = "too long"
REFUSED = "refused"
TOOL_CALL = "tool call"
NO_ANSWER = "no answer found"
AMBIGUOUS = "several answers"
INVALID = "invalid answer"


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
        read: An answer and its question -> the prediction's fields beside the key, or Unreadable.
        max_tokens: The longest answer, in tokens.
    """

    version: str
    questions: Callable[..., Iterable[Question]]
    read: Callable[[str, Question], Mapping[str, Any] | Unreadable]
    max_tokens: int = 200


@dataclass(frozen=True)
class Playing:
    """A game between two models, played once for each key of a task.

    A state is any value; `start` makes it and `step` returns the next one.

    Args:
        version: A new one for every change of a rule, prompt or reader.
        roles: The names of the two sides.
        start: Build and the task's options -> (key, state), one for each key.
        turn: State -> the role to speak, "" at the end.
        messages: State -> the chat that this role sees.
        step: State, text of this role -> the next state.
        outcome: State at the end -> the prediction's fields beside the key, or Unreadable.
        points: The first state, a prediction's fields -> role -> the points of a side; no role
            where they are undefined.
        agreed: The field of a prediction that holds the deal, None without one.
        people: The baseline of the task with the people's own deals.
        agents: Name -> a scripted agent: state -> text.
        max_tokens: The longest turn, in tokens.
    """

    version: str
    roles: tuple[str, ...]
    start: Callable[..., Iterable[tuple[Key, Any]]]
    turn: Callable[[Any], str]
    messages: Callable[[Any], tuple[Message, ...]]
    step: Callable[[Any, str], Any]
    outcome: Callable[[Any], Mapping[str, Any] | Unreadable]
    points: Callable[[Any, Mapping[str, Any]], Mapping[str, float]]
    agreed: str
    people: str
    agents: Mapping[str, Callable[[Any], str]]
    max_tokens: int = 200


def chat(system: str, user: str) -> tuple[Message, ...]:
    """Return the chat of an instruction and a question."""
    return ({"role": "system", "content": system}, {"role": "user", "content": user})


def spoken(turns: Iterable[tuple[str, str]]) -> str:
    """Return turns as lines "Name: text"; a line break in a text becomes a space."""
    return "\n".join(f"{name}: {' '.join(text.split())}" for name, text in turns)


def object_schema(**fields: Any) -> dict[str, Any]:
    """Return the JSON schema of an object that has exactly these fields."""
    closed = {"required": [*fields], "additionalProperties": False}
    return {"type": "object", "properties": fields, **closed}


# Readers -----------------------------------------------------------------------------------------

LONGEST = 20_000  # characters of an answer after its thoughts; a longer one is not read
_DEEPEST = 20  # levels of JSON; no answer needs as many
_THOUGHT_ENDS = re.compile(r"</(?:think|thinking|thought|reasoning)>|\[/THINK\]", re.IGNORECASE)
_THOUGHT = re.compile(r"<(?:think|thinking|thought|reasoning)>|\[THINK\]", re.IGNORECASE)
_HYPHENS = re.compile("[\u2010-\u2015\u2212]")
_JSON = json.JSONDecoder()


def after_thoughts(text: str) -> str:
    """Return the text after the last mark that ends a thought."""
    return _THOUGHT_ENDS.split(text)[-1]


def final_text(text: str) -> str:
    """Return an answer without the thoughts before it; "" for thoughts alone or too long a text."""
    text = after_thoughts(text)
    if len(text) > LONGEST:
        return ""
    text = after_thoughts(unicodedata.normalize("NFKC", text))
    return "" if _THOUGHT.search(text) else _HYPHENS.sub("-", text).strip()


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects in a text, outermost ones only; also those in single quotes."""
    text = text if '"' in text else text.replace("'", '"')
    place = text.find("{")
    while place >= 0:
        try:
            _, end = _JSON.raw_decode(text, place)
            value = loads(text[place:end])  # refuses repeated keys and NaN
        except (ValueError, RecursionError):
            end = place + 1
        else:
            if not _is_deep(value):
                yield value
        place = text.find("{", end)


def _is_deep(value: Any) -> bool:
    """Tell whether a value is nested deeper than readers, which may recurse, can follow."""
    level = [value]
    for _ in range(_DEEPEST):
        inner = [each.values() if isinstance(each, dict) else each for each in level]
        level = [each for group in inner for each in group if isinstance(each, dict | list)]
    return bool(level)


def _one(found: Iterable[Any]) -> Any:
    """Return the only distinct value, or Unreadable."""
    distinct = list({json.dumps(each, sort_keys=True): each for each in found}.values())
    if not distinct:
        return Unreadable(NO_ANSWER)
    return distinct[0] if len(distinct) == 1 else Unreadable(AMBIGUOUS)


def read_object(text: str, *fields: str) -> dict[str, Any] | Unreadable:
    """Return the one JSON object of an answer that has these fields, whatever their case.

    Further fields are ignored. Without an object, lines "field: value" for all fields will do.
    """
    text = final_text(text)
    found = []
    for value in _objects(text):
        by_name = {str(name).strip().casefold(): each for name, each in value.items()}
        if len(by_name) == len(value) and all(name.casefold() in by_name for name in fields):
            found.append({name: by_name[name.casefold()] for name in fields})
    if not found and "{" not in text:
        lines = [line.strip(" \t*-`") for line in text.splitlines() if line.strip(" \t*-`")]
        pairs = [line.replace("*", "").partition(":") for line in lines]
        given = {name.strip().casefold(): value.strip() for name, _, value in pairs}
        if len(lines) == len(fields) and given.keys() == {name.casefold() for name in fields}:
            found.append({name: given[name.casefold()] for name in fields})
    one: dict[str, Any] | Unreadable = _one(found)
    return one


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]+", " ", final_text(name).strip("\"'`*.!").casefold()).strip()


def choice(value: Any, options: Sequence[str]) -> str | None:
    """Return the option that a value names, whatever its case, spaces and hyphens; else None."""
    if not isinstance(value, str):
        return None
    return next((each for each in options if _plain(each) == _plain(value)), None)


def _field(text: str, field: str) -> Any:
    """Return the value of a field, of a list that is the whole answer, or of a text without JSON.

    A text stays text. Unreadable for several values, or for an object without the field.
    """
    given = read_object(text, field)
    if isinstance(given, dict):
        return given[field]
    if given.reason != NO_ANSWER:
        return given
    text = re.sub(r"^```\w*\s|```$", "", final_text(text)).strip()
    if text.startswith("["):
        try:
            value = loads(text)
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, list):
            return value
    return Unreadable(NO_ANSWER) if "{" in text or not text else text


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def reader(
    read: Callable[..., Any], field: str, *options: Any, **more: Any
) -> Callable[[str, Question], Mapping[str, Any] | Unreadable]:
    """Return the reader of a field: `read(text, field, *options, **more)` gives its value."""

    def fields_of(text: str, _: Question) -> Mapping[str, Any] | Unreadable:
        found = read(text, field, *options, **more)
        return found if isinstance(found, Unreadable) else {field: found}

    return fields_of


# The words of answers in words
_COMMON = _words("the a an of is are it its this that my answer final i think would say and")
_LABEL_WORDS = _COMMON | _words(
    "label labels type types utterance last uses use used has have shows show both also only with"
)
_NONE_WORDS = _words("none no empty there applies apply them these here in")
_ORDER_WORDS = _COMMON | _words(
    "order priority priorities ranks ranking rank then from over first second third"
)
_NUMBER_WORDS = _COMMON | _words(
    "probability chance score rating estimate give star stars point points"
)
_RANGE = re.compile(r"\b(?:from )?(?:highest|high)(?: priority)? to (?:lowest|low)(?: priority)?\b")
_WORD = re.compile(r"[^\W\d_]+(?:'s)?")
_NUMBERED = re.compile(r"^\s{0,8}(?:\d{1,2}[.)]|[-*\u2022])\s", re.MULTILINE)


def _holds_only(text: str, words: frozenset[str]) -> bool:
    """Tell whether a text has no other words."""
    for each in sorted(words, key=len, reverse=True):
        if not each.isascii():  # of a script without spaces, which joins words
            text = text.replace(each, " ")
    return words.issuperset(_WORD.findall(text))


def read_labels(
    text: str, field: str, labels: Sequence[str], words: str = ""
) -> list[str] | Unreadable:
    """Return the labels that an answer names, in the order of `labels`.

    Takes {field: [...]}, {label: true or false}, a JSON list, or a list of labels in words with
    few other words. "None" or an empty list means no labels.
    """
    for value in _objects(final_text(text)):
        if value and all(type(each) is bool and choice(n, labels) for n, each in value.items()):
            return _known([name for name, each in value.items() if each], labels)
    given = _field(text, field)
    if isinstance(given, Unreadable):
        return given
    if isinstance(given, list):
        is_none = len(given) == 1 and isinstance(given[0], str) and _plain(given[0]) == "none"
        return [] if is_none else _known(given, labels)
    if not isinstance(given, str):
        return Unreadable()
    rest, named = _NUMBERED.sub(" ", final_text(given).casefold()), []
    for label in sorted(labels, key=len, reverse=True):  # one may be a part of another
        spelled = r"[-_ ]".join(map(re.escape, re.split("[-_ ]", label.casefold())))
        rest, times = re.subn(rf"(?<![\w-]){spelled}(?![\w-])", " ", rest)
        if times:
            named.append(label)
    own, found = _words(words), {*_WORD.findall(rest)}
    odd = bool(re.search(r"\d|\[\s*\]|[?]", rest))
    if named:
        is_list = _holds_only(rest, _LABEL_WORDS | own) and not odd
        return _known(named, labels) if is_list else Unreadable(AMBIGUOUS)
    is_none = _holds_only(rest, _LABEL_WORDS | _NONE_WORDS | own) and not odd
    says_none = "none" in found or ("no" in found and found & {"labels", "types", *own})
    says_none = says_none or given.strip() == ""
    return [] if is_none and says_none else Unreadable(NO_ANSWER)


def _known(named: Iterable[Any], labels: Sequence[str]) -> list[str] | Unreadable:
    chosen = [choice(each, labels) for each in named]
    return Unreadable() if None in chosen else [label for label in labels if label in chosen]


def read_order(
    text: str, field: str, items: Sequence[str], words: str = ""
) -> list[str] | Unreadable:
    """Return all items in the order of an answer.

    Takes {field: [...]}, a JSON list, or a list in words with few other words:
    "A > B > C", "1. A 2. B 3. C", "The order is A, B, C".
    """
    given = _field(text, field)
    if isinstance(given, Unreadable):
        return given
    if isinstance(given, list):
        order = [choice(each, items) for each in given]
        complete = sorted(map(str, order)) == sorted(items)
        return [str(each) for each in order] if complete else Unreadable()
    if not isinstance(given, str):
        return Unreadable()
    rest = _RANGE.sub(" ", final_text(given).casefold())
    names = {item.casefold(): item for item in items}
    pattern = rf"(?<![\w-])(?:{'|'.join(map(re.escape, names))})(?![\w-])"
    found = [names[each] for each in re.findall(pattern, rest)]
    size = len(items)
    orders = [found[start : start + size] for start in range(0, len(found), size)]
    if not found or any(sorted(order) != sorted(items) for order in orders):
        return Unreadable(NO_ANSWER)
    rest = re.sub(pattern, " ", rest)
    numbers = re.findall(r"\d+", rest)
    ascending = [str(number) for number in range(1, size + 1)] * len(orders)
    allowed = _ORDER_WORDS | _words(words)
    if not _holds_only(rest, allowed) or re.search(r"[<=?~\u2248-\u2265]", rest):
        return Unreadable(AMBIGUOUS)
    if numbers and numbers != ascending:
        return Unreadable(AMBIGUOUS)
    one: list[str] | Unreadable = _one(orders)
    return one


_DIGITS = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:e[-+]?\d{1,3})?|\.\d+"
_NUMBER = re.compile(
    rf"([-+]?)({_DIGITS})(?:\s{{0,2}}(%|percent\b|/\s{{0,2}}\d+|(?:out )?of \d+))?", re.ASCII
)


def read_number(
    text: str, field: str, low: float, high: float, words: str = ""
) -> float | Unreadable:
    """Return the number of an answer, from `low` to `high`.

    Takes {field: number}, or one number with few other words: "0.8", "80%" where `high` is 1,
    "4/5" or "4 out of 5" where `high` is 5.
    """
    given = _field(text, field)
    if isinstance(given, Unreadable):
        return given
    if not isinstance(given, str):
        return _within(given, low, high)
    rest = final_text(given).casefold()
    found = []
    for match in _NUMBER.finditer(rest):
        sign, digits, unit = match[1], match[2], match[3] or ""
        value = float(digits.replace(",", "")) * (-1 if sign == "-" else 1)
        if unit.startswith(("%", "percent")):
            value = value / 100 if high == 1 else math.inf
        elif unit and float(re.sub(r"\D", "", unit)) != high:
            value = math.inf
        found.append(value)
    one = _one(found)
    if isinstance(one, Unreadable):
        return one
    rest = _NUMBER.sub(" ", rest)
    allowed = _NUMBER_WORDS | _words(words)
    if not _holds_only(rest, allowed) or re.search(r"[<>=?~]", rest.replace("=", "", 1)):
        return Unreadable(AMBIGUOUS)
    return _within(one, low, high)


def _within(number: Any, low: float, high: float) -> float | Unreadable:
    is_number = type(number) in (int, float) and low <= number <= high
    return float(number) if is_number else Unreadable()
