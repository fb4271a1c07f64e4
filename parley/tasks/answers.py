r"""Read a model's answer by one rule, of which each prompt states the first sentence.

After its thoughts, the last JSON object that has the fields asked for is the answer. It is JSON,
JSON5, or has Python's None, True and False; what stands around it and its other keys do not matter.

A single field is also read from the last line, which is its value, alone or behind the field's name
or "answer"; else from the last \boxed{value}; else from an object or list at the end of the text.
"""

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from parley.base.strict_json import loads
from parley.tasks.asking import EMPTY, INVALID, NO_ANSWER, final_text
from parley.tasks.kinds import AnswerField, normalized_name, place_of, value_at
from parley.tasks.prediction_formats import UNREADABLE

_MOST = 8_000  # characters that are parsed as JSON5, which takes long
_STRICT = json.JSONDecoder()
_PYTHONS = {"None": "null", "True": "true", "False": "false"}  # of the same lengths
_PYTHON = re.compile(r"\b(?:None|True|False)\b")
_OPENING = re.compile(r"""\{|\[(?=\]|\s*[{"'])""")  # an object, or a list of objects or texts
_OBJECT = re.compile(r"""\{\s*(?:["'}/]|[\w$]+\s*:)""")
_BOX = re.compile(r"\\boxed\{((?:[^{}]|\{[^{}]*\})*)\}")
_TEXT = re.compile(r"\\text\w*\{([^{}]*)\}")  # of LaTeX
_MARKS = re.compile(r"(?<!\w)(\*{1,3}|`{1,3}|__?)(\S.{0,200}?)\1(?!\w)")  # of Markdown
_BRACKET = re.compile(r'"(?:[^"\\\n]|\\.)*"|[][{}]')  # or a text in quotes
_BLANKS = " \t\n$"
_AROUND = _BLANKS + "\"'`*.。"
_BULLET = re.compile(r"^(?:[>#-]+\s+)+")
_VALUE_OF_NAME = r"(?i)(?:(?:the|my|final)\s+)*(?:%s|answer)\s*(?:is\b\s*[:=]?|[:=])\s*(.*)"


def read(text: str, fields: Mapping[str, AnswerField]) -> dict[str, Any]:
    """Return the fields of a prediction that an answer gives, or `UNREADABLE` with the reason."""
    if not text.strip():
        return {UNREADABLE: EMPTY}
    text = final_text(text)
    found = _values(text)
    names = {normalized_name(place_of(name, field)[0]) for name, field in fields.items()}
    for value, _ in reversed(found):
        if isinstance(value, Mapping) and names <= {*map(normalized_name, value)}:
            return _of_object(value, fields)
    if len(fields) > 1:
        return {UNREADABLE: NO_ANSWER}
    ((name, field),) = fields.items()
    line, is_named = _last_line(text, place_of(name, field)[-1])
    boxes = () if is_named else _BOX.findall(text)
    at_end = [value for value, rest in found if not text[rest:].strip(_AROUND)]
    for value in (line, *boxes[-1:], *at_end[-1:]):
        with suppress(ValueError):
            return {name: field.read(value)}
    return {UNREADABLE: INVALID if is_named or boxes else NO_ANSWER}


def _of_object(value: Any, fields: Mapping[str, AnswerField]) -> dict[str, Any]:
    """Return the fields of an object that has their names."""
    try:
        return {n: field.read(value_at(value, place_of(n, field))) for n, field in fields.items()}
    except ValueError:
        return {UNREADABLE: INVALID}


def _last_line(text: str, name: str) -> tuple[str, bool]:
    """Return the value on the last line that is not empty, and whether something names it."""
    lines = filter(None, map(_without_marks, reversed(text.splitlines())))
    line = _BULLET.sub("", next(lines, ""))
    in_any_form = r"[\s_-]*".join(map(re.escape, normalized_name(name)))
    match = re.fullmatch(_VALUE_OF_NAME % in_any_form, line)
    return (_without_marks(match[1]), True) if match else (line, False)


def _without_marks(text: str) -> str:
    """Return a text without the marks of Markdown and LaTeX around it."""
    text = _BOX.sub(r"\1", text) if _BOX.fullmatch(text.strip(_AROUND)) else text
    text = _TEXT.sub(r"\1", text).strip(_BLANKS)
    return _MARKS.sub(r"\2", text).strip(_AROUND).rstrip(".。")


def _values(text: str) -> list[tuple[Any, int]]:
    """Return the JSON objects and lists of a text that stand in no other, and their ends.

    Of a list they are its objects. Nothing within a broken one is among them, and nothing at all of
    a text with too much of what is like them.
    """
    values, end, parsed = list[tuple[Any, int]](), 0, 0
    while opening := _OPENING.search(text, end):
        start = opening.start()
        try:
            value, end = _strict(text, start)
        except (ValueError, RecursionError):
            end = _closed(text, start)
            if opening[0] == "{" and not _OBJECT.match(text, start):
                continue
            parsed += end - start
            if parsed > _MOST:
                return []
            found = _lenient(text[start:end])
            if not found:
                continue
            value = found[0]
        if isinstance(value, Mapping) and [*map(normalized_name, value)] == ["answer"]:
            (value,) = value.values()
        items = value if isinstance(value, list) else ()
        objects = [each for each in items if isinstance(each, Mapping)]
        values += [(each, end) for each in objects or [value]]
    return values


def _strict(text: str, start: int) -> tuple[Any, int]:
    """Return the JSON value at a place, and its end; ValueError without one."""
    _, end = _STRICT.raw_decode(text, start)
    return loads(text[start:end]), end  # refuses repeated keys, NaN and halves of characters


def _lenient(text: str) -> tuple[Any] | None:
    """Return the value that a text is in JSON5 or in Python, in a tuple; None if it is none."""
    import json5  # not at the top: only few answers need it

    of_python = _PYTHON.sub(lambda name: _PYTHONS[name[0]], text)
    for source in dict.fromkeys((text, of_python)):
        with suppress(ValueError, RecursionError):
            value = json5.loads(source, allow_duplicate_keys=False)
            return (loads(json.dumps(value)),)
    return None


def _closed(text: str, start: int) -> int:
    """Return the end of the brackets that open at a place; that of the text if they do not close.

    Those in quotes do not count.
    """
    depth = 0
    for each in _BRACKET.finditer(text, start):
        depth += (each[0] in "{[") - (each[0] in "}]")
        if not depth:
            return each.end()
    return len(text)
