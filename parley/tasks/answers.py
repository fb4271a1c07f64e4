r"""Read what a model answers, by the rule that each prompt states.

After its thoughts, the last JSON object that has the fields asked for is the answer. It is JSON,
JSON5, or has Python's None, True and False; what stands around it and its other keys do not matter.

A single field is also read without its name: from an object that is its value, from \boxed{value},
or from the last line, which is the value alone or behind the field's name or "answer".
"""

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from itertools import chain
from typing import Any

from parley.base.strict_json import loads
from parley.tasks.asking import EMPTY, INVALID, NO_ANSWER, final_text
from parley.tasks.kinds import AnswerField, place_of, plain_name, value_at
from parley.tasks.prediction_formats import UNREADABLE

_MOST = 100  # objects and lists that are no JSON; JSON5 is parsed slowly
_STRICT = json.JSONDecoder()
_PYTHONS = {"None": "null", "True": "true", "False": "false"}  # of the same lengths
_PYTHON = re.compile(r"\b(?:None|True|False)\b")
_OPENING = re.compile(r"""\{|\[(?=\]|\s*[{"'])""")  # an object, or a list of objects or texts
_OBJECT = re.compile(r"""\{\s*(?:["'}/]|[\w$]+\s*:)""")
_BOX = re.compile(r"\\boxed\{((?:[^{}]|\{[^{}]*\})*)\}")
_TEXT = re.compile(r"\\text\w*\{([^{}]*)\}")  # of LaTeX
_MARKS = re.compile(r"(?<!\w)(\*{1,3}|`{1,3}|__?)(\S.{0,200}?)\1(?!\w)")  # of Markdown
_BULLET = re.compile(r"^(?:[>#-]+\s+)+")
_NAMED = r"(?i)(?:(?:the|my|final)\s+)*(?:%s|answer)\s*(?:is\b\s*[:=]?|[:=])\s*(.*)"


def read(text: str, fields: Mapping[str, AnswerField]) -> dict[str, Any]:
    """Return the fields of a prediction that an answer gives, or `UNREADABLE` with the reason."""
    if not text.strip():
        return {UNREADABLE: EMPTY}
    text = final_text(text)
    values = [*map(_within_answer, _values(text))]
    names = {plain_name(place_of(name, field)[0]) for name, field in fields.items()}
    for value in reversed(values):
        if isinstance(value, Mapping) and names <= {*map(plain_name, value)}:
            return _of_object(value, fields)
    if len(fields) > 1:
        return {UNREADABLE: NO_ANSWER}
    ((name, field),) = fields.items()
    for value in reversed(values):
        with suppress(ValueError):
            return {name: field.read(value)}
    value, is_named = _alone(text, place_of(name, field)[-1])
    try:
        return {name: field.read(value)}
    except ValueError:
        return {UNREADABLE: INVALID if is_named else NO_ANSWER}


def _of_object(value: Any, fields: Mapping[str, AnswerField]) -> dict[str, Any]:
    """Return the fields of an object that has their names."""
    try:
        return {n: field.read(value_at(value, place_of(n, field))) for n, field in fields.items()}
    except ValueError:
        return {UNREADABLE: INVALID}


def _within_answer(value: Any) -> Any:
    """Return the value of {"answer": ...}; another value as it is."""
    if isinstance(value, Mapping) and [*map(plain_name, value)] == ["answer"]:
        (value,) = value.values()
    return value


def _alone(text: str, name: str) -> tuple[str, bool]:
    """Return the value in the last box or on the last line, and whether something names it."""
    boxes = _BOX.findall(text)
    lines = filter(None, map(_without_marks, reversed(text.splitlines())))
    value = boxes[-1] if boxes else next(lines, "")
    named = re.fullmatch(_NAMED % r"[\s_-]*".join(plain_name(name)), value)
    return _without_marks(named[1] if named else value), bool(boxes or named)


def _without_marks(text: str) -> str:
    """Return a line without the marks of Markdown and LaTeX around its value."""
    text = _BULLET.sub("", _TEXT.sub(r"\1", text).strip(" \t$"))
    return _MARKS.sub(r"\2", text).strip(" \t$\"'`*").removesuffix(".")


def _values(text: str) -> list[Any]:
    """Return the JSON objects and lists of a text that stand in no other; of a list its objects.

    Nothing within a broken object is among them, and nothing at all of a text with too many.
    """
    values, end, tries = list[Any](), 0, 0
    while opening := _OPENING.search(text, end):
        start = opening.start()
        try:
            value, end = _strict(text, start)
        except (ValueError, RecursionError):
            is_like_one = opening[0] == "[" or _OBJECT.match(text, start)
            tries += bool(is_like_one)
            if tries > _MOST:
                return []
            found = _lenient(text, start) if is_like_one else None
            if not found:
                end = _closed(text, start) if opening[0] == "{" else start + 1
                continue
            value, end = found
        objects = [each for each in value if isinstance(each, Mapping)]
        values += [value] if isinstance(value, Mapping) else objects or [value]
    return values


def _strict(text: str, start: int) -> tuple[Any, int]:
    """Return the JSON value at a place, and its end; ValueError without one."""
    _, end = _STRICT.raw_decode(text, start)
    return loads(text[start:end]), end  # refuses repeated keys, NaN and halves of characters


def _lenient(text: str, start: int) -> tuple[Any, int] | None:
    """Return the JSON5 or Python value at a place, and its end; None without one."""
    import json5  # not at the top: only few answers need it

    of_python = map(_PYTHON.sub, [lambda name: _PYTHONS[name[0]]], [text])  # only if it is needed
    for source in chain([text], of_python):
        with suppress(ValueError, RecursionError):
            value, error, end = json5.parse(
                source, start=start, consume_trailing=False, allow_duplicate_keys=False
            )
            if not error:
                return loads(json.dumps(value)), end
    return None


def _closed(text: str, start: int) -> int:
    """Return the end of the braces that open at a place; that of the text if they do not close."""
    depth = 0
    for brace in re.compile("[{}]").finditer(text, start):
        depth += 1 if brace[0] == "{" else -1
        if not depth:
            return brace.end()
    return len(text)
