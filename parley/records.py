"""Strict reading: JSON without surprises, and records checked against their declared shape.

A shape is written in plain Python, as a builder script's own comment says:

    str, int, float, bool      a value of that type; an int is a float too, a bool is not an int
    {"a", "b"}                 one of these values
    [x]                        a list of x
    (x, y)                     x or y
    None                       null
    {"key": x, "key?": y}      an object with just these keys; the second may be absent
    {str: x}                   an object with any keys
    function                   raises ValueError, saying what was expected
"""

import json
import math
import os
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from parley.errors import RecordError

MOST_PROBLEMS = 20


def loads(text: str | bytes) -> Any:
    """Parse JSON, refusing what `json.loads` would pass over.

    Raises:
        ValueError: for invalid JSON or UTF-8, a key that an object holds twice, NaN, Infinity or
            a number too large.
    """
    if isinstance(text, bytes):
        text = text.decode("utf-8")
    return json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse, parse_float=_finite)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {twice!r} stands twice in one object")
    return found


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def _finite(number: str) -> float:
    value = float(number)
    if math.isinf(value):
        raise ValueError(f"the number {number} is too large")
    return value


def problems(value: Any, shape: Any, path: str = "") -> Iterator[str]:
    """Yield what differs from the shape: path, what was expected and what was found."""
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
    elif not _fits(value, shape):
        yield _problem(path, _expected(shape, value), value)


def _object_problems(value: Any, shape: dict[Any, Any], path: str) -> Iterator[str]:
    if not isinstance(value, dict):
        yield _problem(path, "an object", value)
        return
    if str in shape:
        for key, item in value.items():
            yield from problems(item, shape[str], f"{path}.{key}")
        return
    known = {key.removesuffix("?") for key in shape}
    for key in sorted(value.keys() - known):
        yield f"{path}.{key}: unknown field, found {_show(value[key])}"
    for key, inner in shape.items():
        name = key.removesuffix("?")
        if name in value:
            yield from problems(value[name], inner, f"{path}.{name}")
        elif name == key:
            yield f"{path}.{name}: missing, expected {_expected(inner, None)}"


def _alternative_problems(value: Any, shape: tuple[Any, ...], path: str) -> Iterator[str]:
    if any(next(problems(value, option, path), None) is None for option in shape):
        return
    # An object or list is compared with the nearest alternative, to name the field inside it.
    alike = [option for option in shape if isinstance(option, dict | list)]
    tried = [
        list(islice(problems(value, option, path), MOST_PROBLEMS))
        for option in alike
        if type(option) is type(value)
    ]
    if tried:
        yield from min(tried, key=len)
    else:
        yield _problem(path, _expected(shape, value), value)


def _fits(value: Any, shape: Any) -> bool:
    if isinstance(shape, type):
        return type(value) is shape or (shape is float and type(value) is int)
    if isinstance(shape, set | frozenset):
        return any(value == option and type(value) is type(option) for option in shape)
    if shape is None:
        return value is None
    return _objection(value, shape) is None


def _objection(value: Any, check: Callable[[Any], None]) -> str | None:
    try:
        check(value)
    except ValueError as error:
        return str(error)
    return None


_NAMES = {str: "a string", int: "an integer", float: "a number", bool: "true or false"}


def _expected(shape: Any, value: Any) -> str:
    if isinstance(shape, type):
        return _NAMES[shape]
    if isinstance(shape, set | frozenset):
        return " or ".join(sorted(json.dumps(option, ensure_ascii=False) for option in shape))
    if shape is None:
        return "null"
    if isinstance(shape, dict):
        return "an object"
    if isinstance(shape, list):
        return "a list"
    if isinstance(shape, tuple):
        return " or ".join(_expected(option, value) for option in shape)
    return _objection(value, shape) or "another value"


def _problem(path: str, expected: str, value: Any) -> str:
    return f"{path}: expected {expected}, found {_show(value)}"


def _show(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=repr)
    return text if len(text) <= 64 else f"{text[:36]}…{text[-27:]}"


class Strict:
    """Mixed into a builder class: every record it reads is checked against its shape.

    Expects the builder to read through its methods `loads` and `read(path, shape)`. All problems
    of a file are collected and raised as one RecordError.
    """

    loads = staticmethod(loads)

    def read(self, path: str, shape: Any) -> Iterator[Any]:
        """Yield the records of one file; once it is read, raise RecordError if any was wrong."""
        found: list[str] = []
        where = os.path.relpath(path, self.config.data_dir)  # type: ignore[attr-defined]
        place = "{}[{}]" if where.endswith(".json") else "{}, line {}: "
        first = 0 if where.endswith(".json") else 1
        try:
            for index, record in enumerate(super().read(path, shape), first):  # type: ignore[misc]
                wrong = list(islice(problems(record, shape), MOST_PROBLEMS))
                found.extend(place.format(where, index) + problem for problem in wrong)
                if len(found) >= MOST_PROBLEMS:
                    break
                if not wrong:
                    yield record
        except (ValueError, TypeError) as error:
            found.append(f"{where}: {error}")
        if found:
            raise RecordError(report(found))


def report(found: list[str]) -> str:
    """Return problems one a line, cut after the first twenty."""
    shown = found[:MOST_PROBLEMS]
    if len(found) >= MOST_PROBLEMS:
        shown.append(f"(the first {MOST_PROBLEMS} problems; there may be more)")
    return "\n".join(shown)
