"""Guess the shape of values.

A key is required, and a set closed, only if all values agree. Notes list each guess in a line.
"""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import chain
from json import dumps, loads
from typing import Any

from parley.schema.shapes import Converted

_MANY = 40  # values at least, for a closed set
_FEW = 12  # different values of a closed set
_SHORT = 40  # characters of such a value
_ID = re.compile(r"[\w.-]*\d[\w.-]*")  # a key that looks like an id
_COLUMN = re.compile(r"(?!_type$|\s*$).*(?<!\?)")  # keys that fit a column


class Notes(list[str]):
    """What was guessed, a line each; texts at the path `speaker` are labels, if they are few."""

    speaker = ""


def guess(values: Sequence[Any], path: str, notes: Notes) -> Any:
    """Return the shape of the values at a path of the records; note each guess."""
    kinds = set(map(type, values))
    if type(None) in kinds:
        given = [value for value in values if value is not None]
        if not given:
            notes.append(f"{path}: is always null; taken for text that may be null")
        return (guess(given, path, notes) if given else str, None)
    if kinds == {dict}:
        return _guess_object(values, path, notes)
    if kinds == {list}:
        items = list(chain.from_iterable(values))
        if not items:
            notes.append(f"{path}: is always empty; taken for a list of texts")
        return [guess(items, f"{path}[]", notes) if items else str]
    if kinds == {str}:
        return _guess_text(values, path, notes)
    if kinds in ({bool}, {int}, {float}):
        return kinds.pop()
    if kinds == {int, float} and all(float(value) == value for value in values):
        return (int, float)
    ordered = sorted(kinds, key=lambda kind: kind.__name__)
    names = ", ".join(kind.__name__ for kind in ordered)
    notes.append(f"{path}: has several types ({names}); kept as JSON text")
    each = (guess([v for v in values if type(v) is kind], path, notes) for kind in ordered)
    return _as_json(tuple(each))


def _as_json(shape: Any) -> Converted:
    return Converted(shape, str, dumps, loads)


def _guess_text(values: Sequence[str], path: str, notes: Notes) -> Any:
    few = sorted(set(values))
    often = len(values) >= _MANY and len(few) * 4 <= len(values)
    if len(few) > _FEW or max(map(len, few)) > _SHORT or not (often or path == notes.speaker):
        return str
    said = f"one of {len(few)} labels" if few[1:] else f"always {few[0]!r}"
    notes.append(f"guess: {path} is {said}, as in all {len(values):,} values")
    return {*few}


def _guess_object(values: Sequence[dict[str, Any]], path: str, notes: Notes) -> Any:
    counts = Counter(chain.from_iterable(values))
    here = path or "a record"
    odd = [key for key in counts if not _COLUMN.fullmatch(key) or not key.isprintable()]
    if odd or keys_are_data(counts, len(values)):
        why = f"{odd[0]!r:.40} fits no column" if odd else f"it has {len(counts):,}"
        notes.append(f"guess: {here} is an object of any keys, as {why}")
        every = list(chain.from_iterable(map(dict.values, values)))
        return {str: guess(every, f"{path}.*", notes)}
    if not counts:
        notes.append(f"{here}: is always an object without keys; kept as JSON text")
        return _as_json({})
    parts: dict[str, Any] = {}
    for key, count in counts.items():
        found = [value[key] for value in values if key in value]
        inner = f"{path}.{key}" if path else key
        name = key if count == len(values) else f"{key}?"
        shape = guess(found, inner, notes)
        if name != key and None in found:
            notes.append(f"{inner}: is null in some objects and absent from others; JSON text")
            shape = _as_json(shape)
        parts[name] = shape
    return parts


def keys_are_data(counts: Counter[str], objects: int) -> bool:
    """Tell whether keys, counted in objects, are data: ids, or many with few in each object."""
    if len(counts) < 4:
        return False
    share = sum(counts.values()) / (objects * len(counts))
    ids = all(map(_ID.fullmatch, counts)) and share < 1
    return ids or (len(counts) > 15 and share < 0.3) or len(counts) > 500
