"""Guess the shape of values, and invent values of a shape.

A key is required, and a set closed, only if all values agree. Notes list each guess in a line.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from json import dumps, loads
from typing import Any

from parley.base.errors import ScriptError
from parley.schema.shapes import Converted, parse

_MANY = 40  # values at least, for a closed set
_FEW = 12  # different values of a closed set
_SHORT = 40  # characters of such a value
_DEEPEST = 12  # steps of a path; deeper values become JSON text
_ID = re.compile(r"[\w.-]*\d[\w.-]*")  # a key that looks like an id
_COLUMN = re.compile(r"(?!_type$|\s*$).*(?<!\?)")  # keys that fit a column
_WORDS = (
    *("amber", "birch", "candle", "drift", "ember", "fern", "garden", "harbour", "island"),
    *("jasmine", "kettle", "lantern", "meadow", "north", "orchard", "pebble", "quiet", "river"),
)


class Invention:
    """Numbers and words for invented values: the same on every run, each text unique."""

    def __init__(self) -> None:
        self._next = 0

    def number(self) -> int:
        """Return the next number, from 0."""
        self._next += 1
        return self._next - 1

    def words(self) -> str:
        """Return a few words from the fixed list."""
        start = self.number()
        return " ".join(_WORDS[(start * 5 + step) % len(_WORDS)] for step in range(3))


@dataclass(frozen=True)
class Guess:
    """A guessed shape."""

    shape: Any
    invent: Callable[[Invention, int], Any]  # makes the n-th value of the shape
    branches: int = 1  # how many values from the first show each branch once

    @property
    def is_object(self) -> bool:
        """Whether it is an object with plain known keys."""
        return isinstance(self.shape, dict) and str not in self.shape

    @property
    def is_record(self) -> bool:
        """Whether it can be a row."""
        node = parse(self.shape)
        try:
            node.row()
        except ScriptError:
            return False
        return not node.nullable


class Notes(list[str]):
    """What was guessed, a line each; texts at the path `speaker` are labels, if they are few."""

    speaker = ""


TEXT = Guess(str, lambda made, n: made.words())


def guess(values: Sequence[Any], path: str, notes: Notes) -> Guess:
    """Return the shape of the values at a path of the records; note each guess."""
    kinds = set(map(type, values))
    if type(None) in kinds:
        given = [value for value in values if value is not None]
        if not given:
            notes.append(f"{path}: is always null; taken for text that may be null")
        return _or_null(guess(given, path, notes) if given else TEXT)
    if len(re.findall(r"\.|\[\]", path)) >= _DEEPEST and kinds & {dict, list}:
        notes.append(f"{path}: is nested deeply; kept as JSON text")
        return _as_json(guess(values, "", Notes()))
    if kinds == {dict}:
        return _guess_object(values, path, notes)
    if kinds == {list}:
        return _guess_list(values, path, notes)
    if kinds == {str}:
        return _guess_text(values, path, notes)
    if kinds == {bool}:
        return Guess(bool, lambda made, n: n % 2 == 0)
    if kinds == {int}:
        low, high = min(values), max(values)
        return Guess(int, lambda made, n: min(high, low + n))
    if kinds == {float}:
        least, most = min(values), max(values)
        return Guess(float, lambda made, n: least if n % 2 == 0 else most)
    if kinds == {int, float} and all(float(value) == value for value in values):
        whole, part = (max(v for v in values if type(v) is kind) for kind in (int, float))
        return Guess((int, float), lambda made, n: whole if n % 2 == 0 else part, 2)
    ordered = sorted(kinds, key=lambda kind: kind.__name__)
    names = ", ".join(kind.__name__ for kind in ordered)
    notes.append(f"{path}: has several types ({names}); kept as JSON text")
    each = [guess([v for v in values if type(v) is kind], path, notes) for kind in ordered]
    return _as_json(_choice(each))


def _as_json(inner: Guess) -> Guess:
    return Guess(Converted(inner.shape, str, dumps, loads), inner.invent, inner.branches)


def _or_null(inner: Guess) -> Guess:
    count = inner.branches + 1
    return Guess(
        (inner.shape, None),
        lambda made, n: None if n % count == inner.branches else inner.invent(made, n % count),
        count,
    )


def _guess_text(values: Sequence[str], path: str, notes: Notes) -> Guess:
    few = sorted(set(values))
    short = max(map(len, few)) <= _SHORT
    often = len(values) >= _MANY and len(few) * 4 <= len(values)
    if len(few) > _FEW or not short or not (often or path == notes.speaker):
        return TEXT
    said = f"one of {len(few)} labels" if few[1:] else f"always {few[0]!r}"
    notes.append(f"guess: {path} is {said}, as in all {len(values):,} values")
    return Guess({*few}, lambda made, n: few[n % len(few)])


def _guess_list(values: Sequence[list[Any]], path: str, notes: Notes) -> Guess:
    items = list(chain.from_iterable(values))
    if not items:
        notes.append(f"{path}: is always empty; taken for a list of texts")
    inner = guess(items, f"{path}[]", notes) if items else TEXT
    most = inner.branches if "[]" in path else max(2, inner.branches)

    def invent(made: Invention, n: int) -> list[Any]:
        return [inner.invent(made, each) for each in (range(most) if n == 0 else [n])]

    return Guess([inner.shape], invent)


# Objects --------------------------------------------------------------------------------


def _guess_object(values: Sequence[dict[str, Any]], path: str, notes: Notes) -> Guess:
    counts = Counter(chain.from_iterable(values))
    here = path or "a record"
    if odd := [k for k in counts if not _COLUMN.fullmatch(k) or not k.isprintable()]:
        notes.append(f"guess: {here} is an object of any keys, as {odd[0]!r:.40} fits no column")
        return _guess_map(values, path, notes)
    if keys_are_data(counts, len(values)):
        notes.append(f"guess: {here} is an object of any keys, as it has {len(counts):,}")
        return _guess_map(values, path, notes)
    if not counts:
        notes.append(f"{here}: is always an object without keys; kept as JSON text")
        return _as_json(Guess({}, lambda made, n: {}))
    parts: dict[str, Guess] = {}
    for key, count in counts.items():
        found = [value[key] for value in values if key in value]
        inner = f"{path}.{key}" if path else key
        if count == len(values):
            parts[key] = guess(found, inner, notes)
        elif any(value is None for value in found):
            notes.append(f"{inner}: is null in some objects and absent from others; JSON text")
            parts[f"{key}?"] = _as_json(guess(found, inner, notes))
        else:
            parts[f"{key}?"] = guess(found, inner, notes)
    # The first values of a key show its branches; an optional key is then absent.
    total = max(part.branches + key.endswith("?") for key, part in parts.items())

    def invent(made: Invention, n: int) -> dict[str, Any]:
        n %= total
        return {
            key.removesuffix("?"): part.invent(made, n)
            for key, part in parts.items()
            if not key.endswith("?") or n < part.branches
        }

    return Guess({key: part.shape for key, part in parts.items()}, invent, total)


def _guess_map(values: Sequence[dict[str, Any]], path: str, notes: Notes) -> Guess:
    """Return the shape of objects with data as keys."""
    inner = guess([each for value in values for each in value.values()], f"{path}.*", notes)

    def invent(made: Invention, n: int) -> dict[str, Any]:
        several = range(max(2, inner.branches)) if n == 0 else [n]
        return {f"key-{made.number()}": inner.invent(made, each) for each in several}

    return Guess({str: inner.shape}, invent)


def keys_are_data(counts: Counter[str], objects: int) -> bool:
    """Tell whether keys are data: ids, or many keys with few in each object.

    `counts` is key -> how many of the objects have it.
    """
    if len(counts) < 4:
        return False
    share = sum(counts.values()) / (objects * len(counts))
    ids = all(map(_ID.fullmatch, counts)) and share < 1
    return ids or (len(counts) > 15 and share < 0.3) or len(counts) > 500


def _choice(options: Sequence[Guess]) -> Guess:
    total = sum(option.branches for option in options)

    def invent(made: Invention, n: int) -> Any:
        n %= total
        for option in options:
            if n < option.branches:
                break
            n -= option.branches
        return option.invent(made, n)

    return Guess(tuple(option.shape for option in options), invent, total)
