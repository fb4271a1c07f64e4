"""Shapes of records, and the problems of a value that does not fit its shape.

A shape is written in plain Python:

    str, int, float, bool      exactly that type (4 is no float, true is no int); or bytes
    {"a", "b"}                 one of these values
    [x]                        a list of x
    (x, y)                     x or y
    None                       null
    {"key": x, "key?": y}      an object with exactly these keys; the second may be absent
    {str: x}                   an object with arbitrary keys
    Checked(x, function)       an x for which the function raises no ValueError
    Converted(x, ...)          an x that has another form in its row

`fitter` raises ScriptError for anything else.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from itertools import islice
from typing import Any

from parley.base.errors import MOST_PROBLEMS, Problem, ScriptError

_FEW = 8  # an error lists this many values; of more it names the nearest one


@dataclass(frozen=True)
class Checked:
    """A shape with an additional check.

    Args:
        shape: The shape.
        check: Takes a value; raises ValueError with a description of the expected value.
    """

    shape: Any
    check: Callable[[Any], object]


@dataclass(frozen=True)
class Converted:
    """A part of a record that has another form in its row.

    Args:
        shape: The upstream shape.
        into: The shape of the converted value; it determines the columns.
        to_row: Converts an upstream value.
        to_record: Converts back.
    """

    shape: Any
    into: Any
    to_row: Callable[[Any], Any]
    to_record: Callable[[Any], Any]


def as_json(shape: Any) -> Converted:
    """Return a shape whose values become JSON text in the row, for values that fit no column."""
    return Converted(shape, str, partial(json.dumps, ensure_ascii=False), json.loads)


def null_or_absent(shape: dict[str, Any], *keys: str) -> Converted:
    """Return the shape of an object where some keys may be null or absent.

    The row has null for both, and for each key a flag `<key>_absent`.

    Args:
        shape: The object's shape, where each of the keys is optional and not null.
        keys: The keys.
    """
    flags = {f"{key}_absent": bool for key in keys}

    def to_row(record: dict[str, Any]) -> dict[str, Any]:
        kept = {key: value for key, value in record.items() if key not in keys or value is not None}
        return kept | {f"{key}_absent": key not in record for key in keys}

    def to_record(row: dict[str, Any]) -> dict[str, Any]:
        record = {key: value for key, value in row.items() if key not in flags}
        missing = {key: None for key in keys if key not in row and not row[f"{key}_absent"]}
        return record | missing

    upstream = shape | {f"{key}?": (shape[f"{key}?"], None) for key in keys}
    return Converted(upstream, shape | flags, to_row, to_record)


def problems(value: Any, shape: Any, path: str = "") -> Iterator[Problem]:
    """Yield each difference from the shape, with its path in the value."""
    if isinstance(shape, dict):
        yield from _object_problems(value, shape, path)
    elif isinstance(shape, list):
        if not isinstance(value, list):
            yield _problem(path, "a list", value)
        else:
            for index, item in enumerate(value):
                yield from problems(item, shape[0], f"{path}[{index}]")
    elif isinstance(shape, tuple):
        yield from _alternative_problems(value, shape, path)
    elif isinstance(shape, Converted):
        yield from problems(value, shape.shape, path)
    elif isinstance(shape, Checked):
        found = list(islice(problems(value, shape.shape, path), MOST_PROBLEMS))
        if not found and (expected := _objection(value, shape.check)):
            found = [_problem(path, expected, value)]
        yield from found
    elif not _fits(value, shape):
        yield _problem(path, in_words(shape, value), value)


def fitter(shape: Any, path: str = "") -> Callable[[Any], bool]:
    """Return a fast function that tells whether a value has no `problems`.

    Raises:
        ScriptError: a part of it is no shape.
    """
    if isinstance(shape, dict):
        return _object_fitter(shape, path)
    if isinstance(shape, list) and len(shape) == 1:
        if _is_type(kind := shape[0]):
            return lambda value: isinstance(value, list) and {kind}.issuperset(map(type, value))
        item = fitter(kind, f"{path}[]")
        return lambda value: isinstance(value, list) and all(map(item, value))
    if isinstance(shape, tuple):
        return _alternative_fitter([fitter(option, path) for option in shape])
    if _is_type(shape):
        return lambda value: type(value) is shape
    if isinstance(shape, set | frozenset) and len(kinds := set(map(type, shape))) == 1:
        (kind,) = kinds
        return lambda value: type(value) is kind and value in shape
    if isinstance(shape, Converted):
        return fitter(shape.shape, path)
    if isinstance(shape, Checked):
        fits, check = fitter(shape.shape, path), shape.check
        return lambda value: fits(value) and _objection(value, check) is None
    if callable(shape) and not isinstance(shape, type):
        return lambda value: _objection(value, shape) is None
    if shape is None or isinstance(shape, set | frozenset):
        return lambda value: _fits(value, shape)
    raise ScriptError(
        f"{path}: {shape!r:.60} is no shape".removeprefix(": "),
        remedy="Use a type, a set, [x], (x, y), a dict or a function.",
    )


def _is_type(shape: Any) -> bool:
    return isinstance(shape, type) and shape in _NAMES


def _alternative_fitter(options: list[Callable[[Any], bool]]) -> Callable[[Any], bool]:
    def fits(value: Any) -> bool:
        for option in options:  # noqa: SIM110 - a generator takes longer
            if option(value):
                return True
        return False

    return fits


def _object_fitter(shape: dict[Any, Any], path: str) -> Callable[[Any], bool]:
    if list(shape) == [str]:
        item = fitter(shape[str], f"{path}.*")
        return lambda value: isinstance(value, dict) and all(map(item, value.values()))
    if not all(isinstance(key, str) for key in shape):
        keys = ", ".join(map(repr, shape))
        what = f"{path}: an object with the keys {keys} is no shape".removeprefix(": ")
        raise ScriptError(what, remedy=_OF_AN_OBJECT)
    required = {key for key in shape if not key.endswith("?")}
    fields = {  # types are compared directly, without a call
        key.removesuffix("?"): each if _is_type(each) else fitter(each, f"{path}.{key}")
        for key, each in shape.items()
    }

    def fits(value: Any) -> bool:
        if not isinstance(value, dict) or not required <= value.keys():
            return False
        for key, item in value.items():
            field = fields.get(key)
            if type(item) is not field and (
                field is None or isinstance(field, type) or not field(item)
            ):
                return False
        return True

    return fits


def _object_problems(value: Any, shape: dict[Any, Any], path: str) -> Iterator[Problem]:
    if not isinstance(value, dict):
        yield _problem(path, "an object", value)
        return
    if str in shape:
        for key, item in value.items():
            yield from problems(item, shape[str], f"{path}.{key}")
        return
    known = {key.removesuffix("?") for key in shape}
    for key in sorted(value.keys() - known):
        yield Problem(f"{path}.{key}", what="unknown field", found=show(value[key]))
    for key, inner in shape.items():
        name = key.removesuffix("?")
        if name in value:
            yield from problems(value[name], inner, f"{path}.{name}")
        elif name == key:
            yield Problem(f"{path}.{name}", in_words(inner, None), what="missing")


def _alternative_problems(value: Any, shape: tuple[Any, ...], path: str) -> Iterator[Problem]:
    if any(next(problems(value, option, path), None) is None for option in shape):
        return
    alike: list[Any] = [option for option in shape if _is_like(option, value)]
    if not alike:
        yield _problem(path, in_words(shape, value), value)
        return
    # An object is compared with the alternative that it says it is, by the field that tells them
    # apart; else, as a list is, with the nearest one, to name the field inside it.
    if isinstance(value, dict) and (key := _telling_key(list(map(bare, alike)))) in value:
        named = [option for option in alike if _fits(value[key], bare(option)[key])]
        if not named:
            allowed = set().union(*(bare(option)[key] for option in alike))
            yield _problem(f"{path}.{key}", in_words(allowed, value[key]), value[key])
            return
        alike = named
    tried = [list(islice(problems(value, option, path), MOST_PROBLEMS)) for option in alike]
    yield from min(tried, key=len)


def _is_like(shape: Any, value: Any) -> bool:
    shape = bare(shape)
    return isinstance(shape, dict | list) and type(shape) is type(value)


def bare(shape: Any) -> Any:
    """Return the shape of the upstream value, without checks and conversions around it."""
    while isinstance(shape, Checked | Converted):
        shape = shape.shape
    return shape


def _telling_key(options: list[Any]) -> str:
    """Return the key whose values tell objects apart, or "" if there is none."""
    for key, values in options[0].items():
        sets = [option.get(key) for option in options]
        if all(isinstance(s, set) for s in sets) and len(set().union(*sets)) == sum(map(len, sets)):
            return str(key) if values else ""
    return ""


def _fits(value: Any, shape: Any) -> bool:
    if isinstance(shape, type):
        return type(value) is shape
    if isinstance(shape, set | frozenset):
        return any(value == option and type(value) is type(option) for option in shape)
    if shape is None:
        return value is None
    return _objection(value, shape) is None


def _objection(value: Any, check: Callable[[Any], object]) -> str | None:
    try:
        check(value)
    except ValueError as error:
        return str(error)
    return None


_NAMES = {
    str: "a string",
    int: "an integer",
    float: "a number with a decimal point",
    bool: "true or false",
    bytes: "bytes",
}
_OF_AN_OBJECT = "Use strings as keys, or only `str` for arbitrary keys."


def in_words(shape: Any, value: Any) -> str:
    """Return a shape in words, for an error about a value."""
    if isinstance(shape, type):
        return _NAMES[shape]
    if isinstance(shape, set | frozenset):
        options = sorted(json.dumps(option, ensure_ascii=False) for option in shape)
        if len(options) <= _FEW:
            return " or ".join(options)
        near = get_close_matches(show(value), options, 1) if isinstance(value, str) else []
        return f"one of {len(options)} values" + (f", such as {near[0]}" if near else "")
    if shape is None:
        return "null"
    if isinstance(shape, dict):
        return "an object"
    if isinstance(shape, list):
        return "a list"
    if isinstance(shape, tuple):
        return " or ".join(in_words(option, value) for option in shape)
    if isinstance(shape, Checked | Converted):
        return in_words(shape.shape, value)
    return _objection(value, shape) or "another value"


def _problem(path: str, expected: str, value: Any) -> Problem:
    return Problem(path, expected, show(value))


def show(value: Any) -> str:
    """Return a value for a message, cut to 64 characters."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=repr)
    except (RecursionError, ValueError):  # ValueError: an integer of more than 4,300 digits
        return "a value too large or too deeply nested to show"
    return text if len(text) <= 64 else f"{text[:36]}…{text[-27:]}"
