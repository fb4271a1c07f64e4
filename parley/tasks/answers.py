r"""Read a model's answer by one rule, of which each prompt states the first sentence.

After its thoughts, the last JSON object that has the fields asked for is the answer. It is JSON,
JSON5, or has Python's None, True and False; what stands around it and its other keys do not matter.
Where something opens like an object and names a field, but is none, nothing before its end counts.

A single field, by the name asked for or its own, is also read from the last line, which is its
value, alone or behind the name or "answer". A line that ends in a colon is one with the next, and
in a list nothing is alone. Else it is read from the last \boxed{value} or <answer>value</answer>,
else from an object or list at the end of the text.
"""

import json
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from itertools import chain
from typing import Any

from parley.base.strict_json import loads
from parley.tasks.kinds import AnswerField, normalized_name, place_of, value_at
from parley.tasks.prediction_formats import UNREADABLE
from parley.tasks.thoughts import final_text

# Reasons of unreadable answers
EMPTY = "empty answer"
TRUNCATED = "truncated"
REFUSED = "refused"
TOOL_CALL = "tool call"
NO_ANSWER = "no answer in the form asked for"
INVALID = "invalid answer"
FAILED = "failed"  # a call without an answer; the sample of the log has the error

_MOST_LENIENT = 8_000  # characters that are parsed as JSON5, which takes long
_STRICT = json.JSONDecoder()
_PYTHONS = {"None": "null", "True": "true", "False": "false"}  # of the same lengths
_PYTHON = re.compile(r"\b(?:None|True|False)\b")
_BREAK = re.compile(r"[\t\r\n]")
_OPENING = re.compile(r"""\{|\[(?=\]|\s*[{"'])""")  # an object, or a list of objects or texts
_OBJECT = re.compile(r"""\{\s*(?:["'“”‘’}/]|[\w$]+\s*[:=])""")
_NAMED = r"(?i)\b(?:%s)\W{0,5}?[:=]"
_PLACE = re.compile(r"(?i)\\boxed\{((?:[^{}]|\{[^{}]*\})*)\}|<answer>([^<]*)</answer>")
_TEXT = re.compile(r"\\text\w*\{([^{}]*)\}")  # of LaTeX
_MARKS = re.compile(r"(?<!\w)(\*{1,3}|`{1,3}|__?)(\S.{0,200}?)\1(?!\w)")  # of Markdown
_BRACKET = re.compile(r"""(?s)\\.|"(?:[^"\\\n]|\\.)*"|(?<!\w)'(?:[^'\\\n]|\\.)*'|[][{}]""")
_BLANKS = " \t\n$"
_AROUND = _BLANKS + "\"'`*.。"
_BULLET = re.compile(r"\A(?:[>#*+•-]+\s+)+")
_ITEM = re.compile(r"(?:[>#]+\s+)*[*+•-]\s")  # of a list
_VALUE_OF = r"(?i)(?:(?:the|final%s)\s+)*(?:%s)\s*(?:is\b\s*[:=]?|[:=])\s*(.*)"


def read(text: str, fields: Mapping[str, AnswerField], by_own: bool = False) -> dict[str, Any]:
    """Return the fields of a prediction that an answer gives, or `UNREADABLE` with the reason.

    With `by_own` they are read by their own names alone, and not by those asked for.
    """
    if not text.strip():
        return {UNREADABLE: EMPTY}
    text = final_text(text)
    asked = {name: place_of(name, field) for name, field in fields.items()}
    own = {name: [name] for name in fields}
    places = [own] if by_own else [asked, own] if len(fields) == 1 else [asked]
    found, end = _objects(text, [*chain.from_iterable(chain(*(of.values() for of in places)))])
    text = "?" * end + text[end:]
    for place in places:
        names = {normalized_name(way[0]) for way in place.values()}
        for value, _ in reversed(found):
            if isinstance(value, Mapping) and names <= {*map(normalized_name, value)}:
                with suppress(ValueError):
                    return {n: f.read(value_at(value, place[n])) for n, f in fields.items()}
                return {UNREADABLE: INVALID}
    if len(fields) > 1:
        return {UNREADABLE: NO_ANSWER}
    at_end = [value for value, rest in found if not text[rest:].strip(_AROUND)]
    ((name, field),) = fields.items()
    return _of_text(text, name, field, at_end[-1:])


def _of_text(text: str, name: str, field: AnswerField, at_end: list[Any]) -> dict[str, Any]:
    """Return a single field of the last line, of a place for a value, or of the text's end."""

    def first(*values: Any) -> dict[str, Any]:
        for value in values:
            with suppress(ValueError):
                return {name: field.read(value)}
        return {}

    lines = ["", "", *filter(_without_marks, map(str.strip, text.splitlines()))][-2:]
    is_listed, is_item = (bool(_ITEM.match(each)) for each in lines)
    before, line = (_without_marks(_BULLET.sub("", each)) for each in lines)
    is_place = _PLACE.search(lines[1])
    joined = f"{before} {line}" if before.endswith(":") and not is_place else line
    asked = re.compile(_VALUE_OF % ("|my", f"{_in_any_form(field.asked or name)}|answer"))
    own = re.compile(_VALUE_OF % ("", _in_any_form(name)))  # "my" is another side's
    named = asked.fullmatch(line) or asked.fullmatch(joined) or own.fullmatch(joined)
    if not named and not is_place and (found := first(line)):
        is_alone = not is_item and joined == line and (is_listed or not first(before))
        return found if is_alone else {UNREADABLE: NO_ANSWER}
    values = [named[1]] if named else [each[1] or each[2] for each in _PLACE.finditer(text)][-1:]
    found = first(*map(_without_marks, values), *at_end)
    return found or {UNREADABLE: INVALID if values else NO_ANSWER}


def _in_any_form(name: str) -> str:
    """Return the pattern of a name in any case, with any blanks, hyphens and underscores."""
    return r"[\s\\_-]*".join(map(re.escape, normalized_name(name)))


def _without_marks(text: str) -> str:
    """Return a text without the marks of Markdown and LaTeX around it."""
    if place := _PLACE.fullmatch(text.strip(_AROUND)):
        text = place[1] or place[2] or ""
    text = _TEXT.sub(r"\1", text).strip(_BLANKS)
    return _MARKS.sub(r"\2", text).strip(_AROUND).rstrip(".。")


def _objects(text: str, names: Iterable[str]) -> tuple[list[tuple[Any, int]], int]:
    """Return the JSON objects and lists of a text that stand in no other, and their ends.

    Of a list they are its objects. The second result is the end of the last that is broken and has
    one of the names; all are behind it. It is that of a text with too much of what is like them.
    """
    named = re.compile(_NAMED % "|".join(map(_in_any_form, {*names, "answer"})))
    values, end, broken, parsed = list[tuple[Any, int]](), 0, 0, 0
    in_one_line = _BREAK.sub(" ", text)
    while opening := _OPENING.search(text, end):
        start = opening.start()
        try:
            value, end = _strict(in_one_line, start)
        except (ValueError, RecursionError):
            end = start + 1
            if opening[0] == "{" and not _OBJECT.match(text, start):
                continue
            close = _closed(text, start)
            parsed += close - start
            if parsed > _MOST_LENIENT:
                return [], len(text)
            if not (found := _lenient(text[start:close])):
                if opening[0] == "{":  # a bracket that opens no list is a character
                    end = close
                    if named.search(text, start, end):
                        values, broken = [], end
                continue
            (value,), end = found, close
        if isinstance(value, Mapping) and [*map(normalized_name, value)] == ["answer"]:
            values, (value,) = [], value.values()
        items = value if isinstance(value, list) else ()
        objects = [each for each in items if isinstance(each, Mapping)]
        values += [(each, end) for each in objects or [value]]
    return values, broken


def _strict(text: str, start: int) -> tuple[Any, int]:
    """Return the JSON value at a place, and its end; ValueError without one."""
    _, end = _STRICT.raw_decode(text, start)
    return loads(text[start:end]), end  # refuses repeated keys, NaN and halves of characters


def _lenient(text: str) -> tuple[Any] | None:
    """Return the value that a text is in JSON5 or in Python, in a tuple; None if it is none."""
    import json5  # not at the top: only few answers need it

    of_python = _PYTHON.sub(lambda name: _PYTHONS[name[0]], text)
    for source in dict.fromkeys((text, of_python, _BREAK.sub(" ", of_python))):
        with suppress(ValueError, RecursionError):
            value = json5.loads(source, allow_duplicate_keys=False)
            return (loads(json.dumps(value)),)
    return None


def _closed(text: str, start: int) -> int:
    """Return the end of the brackets that open at a place; that of the text if they do not close.

    Those in quotes or behind a backslash do not count.
    """
    depth = 0
    for each in _BRACKET.finditer(text, start):
        depth += (each[0] in "{[") - (each[0] in "}]")
        if not depth:
            return each.end()
    return len(text)
