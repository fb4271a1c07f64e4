"""Conversions of values to a column and back, and what they are made of."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from parley.base.errors import Problem, ScriptError
from parley.schema.features import FLOAT, Value

Convert = Callable[[Any], Any]
INSTEAD = "use Converted(shape, into, to_row, to_record) for this part"
_NUMBERS = {Value("int64"), FLOAT}


@dataclass(frozen=True)
class Conversion:
    """The conversion of a shape's values to a column and back; None where both are the same."""

    feature: Any
    to_row: Convert | None = None
    to_record: Convert | None = None


def refusal(path: str, what: str) -> ScriptError:
    """Return the error of a part of a shape that no column fits."""
    return ScriptError("", Problem(path or "the record", what=f"{what}; {INSTEAD}"))


def chain(first: Convert | None, then: Convert | None) -> Convert | None:
    """Return a function that calls both, one after the other."""
    if first is None or then is None:
        return first or then
    return lambda value: then(first(value))


def each(convert: Convert | None) -> Convert | None:
    """Return a function that converts each value of a list."""
    return None if convert is None else lambda values: [convert(value) for value in values]


def or_null(convert: Convert | None) -> Convert | None:
    """Return a function that keeps null."""
    return None if convert is None else lambda value: None if value is None else convert(value)


def to_float(path: str) -> Convert:
    """Return a function that makes a number a float; ValueError if no float equals it."""

    def convert(value: int | float) -> float:
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if isinstance(value, int) and number != value:
            raise ValueError(f"{path}: no float64 holds {value!r:.60} exactly; {INSTEAD}")
        return number

    return convert


def union(one: Any, other: Any, path: str) -> Any:
    """Return the feature that fits values of both, or raise ScriptError."""
    if isinstance(one, dict) and isinstance(other, dict):
        both = dict(one)
        for name, feature in other.items():
            both[name] = union(one[name], feature, f"{path}.{name}") if name in one else feature
        return both
    if isinstance(one, list) and isinstance(other, list):
        return [union(one[0], other[0], f"{path}[]")]
    if isinstance(one, Value) and isinstance(other, Value) and {one, other} == _NUMBERS:
        return FLOAT
    if type(one) is type(other) and one == other:
        return one
    raise refusal(path, f"{_word(one)} or {_word(other)}: no column fits both")


def _word(feature: Any) -> str:
    if isinstance(feature, dict):
        return "an object"
    return "a list" if isinstance(feature, list) else str(feature.dtype)


def fitter(part: Any, whole: Any, path: str, widens: bool) -> Convert | None:
    """Return a function that adds the keys of other alternatives as null, or removes them."""
    if part == whole:
        return None
    if isinstance(whole, list):
        return or_null(each(fitter(part[0], whole[0], f"{path}[]", widens)))
    if not isinstance(whole, dict):  # an integer among numbers; `to_row` tells whether it was one
        return or_null(to_float(path) if widens else int)
    found = {name: fitter(part[name], whole[name], f"{path}.{name}", widens) for name in part}
    inner = {name: convert for name, convert in found.items() if convert is not None}
    names = list(whole if widens else part)

    def fit(row: Any) -> Any:
        made = {name: row.get(name) for name in names}
        for name, convert in inner.items():
            made[name] = convert(made[name])
        return made

    return or_null(fit)
