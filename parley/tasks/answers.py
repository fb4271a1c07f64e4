r"""Readers of a model's answers: they take the form asked for, and choose between no two answers.

After its thoughts, a text holds an answer in these places:

    {"score": 4}    an object with the fields asked for: JSON5, also with Python's None, True, False
    \boxed{4}
    Answer: 4       to the end of the line; also "The final answer is 4", and a line "Score: 4"
    4               a text that is nothing but the answer

All places are found first, and an answer is read only if each of them holds it. An object must have
lines of its own, in a code fence or not: within a sentence it may be denied, and only tells that
another place differs. Other text is not read. Names are the same in any case, with spaces, hyphens
or underscores.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from parley.base.strict_json import loads
from parley.tasks.asking import AMBIGUOUS, INVALID, NO_ANSWER, Unreadable, final_text

__all__ = ["number_from", "one_of", "order_of", "reader", "some_of"]

Parser = Callable[[Any], Any]
"""Takes what a place holds, a JSON value or a text; returns a field's value, or Unreadable."""


# Places ------------------------------------------------------------------------------------------

_MOST = 20  # objects, whole or broken; no answer needs as many, and JSON5 is parsed slowly
_STRICT = json.JSONDecoder()
_PYTHONS = {"None": "null", "True": "true", "False": "false"}  # of the same lengths
_FENCE = re.compile(r"```(?:json5?\b|\w+$)?", re.MULTILINE)
_FOUND = "\0"  # stands for an object in the rest of a text
_AROUND = " \t\n*_`\"'"  # may stand around an answer
_BOX = re.compile(r"\\boxed\{(?:\\text\{)?([^{}]*)\}{1,2}")
_ANSWER = r"(?:(?:the |my )?(?:final )?(?:answer|答え|回答)(?: is|は)?)"
_LABEL = re.compile(rf"(?:{_ANSWER}[\s*_]*[:=]?)?", re.IGNORECASE)
_MARK = (  # a field's name only begins a line
    rf"(?:{_ANSWER}[\s*_]*[:=]|\bfinal answer is\b|^[ \t*_`>-]*(?:my |final )?%s[\s*_`]*[:=])"
    r"[\s*_`]*(.*)"
)


def _objects(text: str) -> tuple[list[dict[str, Any]], str]:
    """Return the JSON objects in a text, outermost ones only, and the rest of the text.

    Nothing within a broken object is read, and nothing at all among too many.
    """
    found, rest, done = list[dict[str, Any]](), "", 0
    for _ in range(_MOST):
        start = text.find("{", done)
        if start < 0:
            return found, rest + text[done:]
        try:
            value, end = _parsed(text, start)
            found.append(value)
            rest += text[done:start] + _FOUND
        except (ValueError, RecursionError):
            end = _closed(text, start)
            rest += text[done:end]
        done = end
    return [], ""


def _parsed(text: str, start: int) -> tuple[Any, int]:
    """Return the JSON or JSON5 value at a place, and where it ends; ValueError if there is none."""
    try:
        _, end = _STRICT.raw_decode(text, start)
    except ValueError:
        import json5  # not at the top: only few answers need it

        names = "|".join(_PYTHONS)
        of_python = re.sub(rf"\b(?:{names})\b", lambda name: _PYTHONS[name[0]], text)
        for each in (text, of_python):
            value, error, end = json5.parse(
                each, start=start, consume_trailing=False, allow_duplicate_keys=False
            )
            if not error:
                return loads(json.dumps(value)), end
        raise
    return loads(text[start:end]), end  # refuses repeated keys, NaN and halves of characters


def _closed(text: str, start: int) -> int:
    """Return the end of the braces that open at a place; that of the text if they do not close."""
    depth = 0
    for brace in re.compile("[{}]").finditer(text, start):
        depth += 1 if brace[0] == "{" else -1
        if not depth:
            return brace.end()
    return len(text)


def _value(text: str) -> Any:
    """Return the list that a text is, else the text without what may stand around an answer."""
    text = text.strip(_AROUND).rstrip(".")
    if text.startswith("["):
        try:
            value, end = _parsed(text, 0)
        except (ValueError, RecursionError):
            return text
        return text if text[end:] else value
    return text


# Readers -----------------------------------------------------------------------------------------


def reader(**parsers: Parser) -> Callable[[str], Mapping[str, Any] | Unreadable]:
    """Return the reader of answers with these fields, each read by its parser.

    Several fields are read in objects alone. An object may be the value of a single field.
    """

    def read(text: str) -> Mapping[str, Any] | Unreadable:
        objects, rest = _objects(final_text(text).replace(_FOUND, " "))
        rest = _FENCE.sub("", rest)
        is_alone = [
            bool(_LABEL.fullmatch(line.strip(f"{_AROUND}{_FOUND}$.,;-")))
            for line in rest.splitlines()
            for _ in range(line.count(_FOUND))
        ]
        places = [
            (fields, alone)
            for given, alone in zip(objects, is_alone, strict=True)
            if (fields := fields_of(given)) is not None
        ]
        if len(parsers) == 1:
            marked = _marked(rest, *parsers)
            places += [(single(_value(each)), True) for each in marked]
            if not places and not isinstance(whole := single(_value(rest)), Unreadable):
                return whole
        answers = [each for each, _ in places if not isinstance(each, Unreadable)]
        if any(each != answers[0] for each in answers):
            return Unreadable(AMBIGUOUS)
        if not any(alone for _, alone in places):
            return Unreadable(NO_ANSWER)
        return answers[0] if len(answers) == len(places) else Unreadable(INVALID)

    def single(value: Any) -> Mapping[str, Any] | Unreadable:
        ((field, parse),) = parsers.items()
        found = parse(value)
        return found if isinstance(found, Unreadable) else {field: found}

    def fields_of(given: Mapping[str, Any]) -> Mapping[str, Any] | Unreadable | None:
        by_name = {_plain(name): value for name, value in given.items()}
        due = {name: _plain(name) for name in parsers}
        if len(by_name) == len(given) and by_name.keys() >= {*due.values()}:
            values = {name: parse(by_name[due[name]]) for name, parse in parsers.items()}
            is_wrong = any(isinstance(each, Unreadable) for each in values.values())
            return Unreadable() if is_wrong else values
        whole = single(given) if len(parsers) == 1 else Unreadable()
        return None if isinstance(whole, Unreadable) else whole

    return read


def _marked(rest: str, field: str) -> list[str]:
    """Return the texts in boxes and after marks, given a text without its objects."""
    boxed = _BOX.findall(rest)
    mark = re.compile(_MARK % re.escape(field), re.IGNORECASE | re.MULTILINE)
    lines = (each.strip(f"{_AROUND}$").rstrip(".") for each in mark.findall(_BOX.sub("", rest)))
    return boxed + [each for each in lines if each and not each.startswith(_FOUND)]


# Parsers -----------------------------------------------------------------------------------------


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]+", " ", name.strip(_AROUND + ".!")).strip().casefold()


def _named(name: Any, options: Sequence[str]) -> str | None:
    is_text = isinstance(name, str)
    return next((each for each in options if is_text and _plain(each) == _plain(name)), None)


def one_of(options: Sequence[str]) -> Parser:
    """Return the parser of one of these names."""
    return lambda value: _named(value, options) or Unreadable()


def some_of(labels: Sequence[str]) -> Parser:
    """Return the parser of none or more labels, given in the order of `labels`.

    They stand in {label: true or false} with all labels, in a JSON list, or between commas;
    "none" stands for none.
    """

    def parse(value: Any) -> list[str] | Unreadable:
        if isinstance(value, Mapping):
            known = [(label, has) for name, has in value.items() if (label := _named(name, labels))]
            is_whole = sorted(label for label, _ in known) == sorted(labels)
            if not is_whole or any(type(has) is not bool for _, has in known):
                return Unreadable()
            names = [label for label, has in known if has]
        else:
            names = re.split("[,;\n]", value) if isinstance(value, str) else value
        if not isinstance(names, list):
            return Unreadable()
        if [_named(each, ["none"]) for each in names] == ["none"]:
            return []
        chosen = [_named(each, labels) for each in names]
        return Unreadable() if None in chosen else [each for each in labels if each in chosen]

    return parse


def order_of(items: Sequence[str]) -> Parser:
    """Return the parser of an order of all items: "A > B > C", "A, B, C" or a JSON list."""

    def parse(value: Any) -> list[str] | Unreadable:
        names = re.split("[>,]", value) if isinstance(value, str) else value
        if not isinstance(names, list):
            return Unreadable()
        found = [_named(each, items) or "" for each in names]
        return found if sorted(found) == sorted(items) else Unreadable()

    return parse


def number_from(low: float, high: float) -> Parser:
    """Return the parser of a number from `low` to `high`."""

    def parse(value: Any) -> float | Unreadable:
        if isinstance(value, str) and re.fullmatch(r"[-+]?(\d+(\.\d*)?|\.\d+)", value, re.ASCII):
            value = float(value)
        is_number = type(value) in (int, float) and low <= value <= high
        return float(value) if is_number else Unreadable()

    return parse
