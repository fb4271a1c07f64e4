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
from collections.abc import Callable, Iterable, Iterator
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
    if text.startswith("\ufeff"):
        raise json.JSONDecodeError("unexpected byte order mark", text, 0)
    return _DECODER.decode(text)


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


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_refuse, parse_float=_finite)


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
    alike: list[Any] = [option for option in shape if _is_like(option, value)]
    if not alike:
        yield _problem(path, _expected(shape, value), value)
        return
    # An object is compared with the alternative that it says it is, by the field that tells them
    # apart; else, as a list is, with the nearest one, to name the field inside it.
    if isinstance(value, dict) and (key := _telling_key(alike)) in value:
        named = [option for option in alike if _fits(value[key], option[key])]
        if not named:
            allowed = set().union(*(option[key] for option in alike))
            yield _problem(f"{path}.{key}", _expected(allowed, value), value[key])
            return
        alike = named
    tried = [list(islice(problems(value, option, path), MOST_PROBLEMS)) for option in alike]
    yield from min(tried, key=len)


def _is_like(shape: Any, value: Any) -> bool:
    return isinstance(shape, dict | list) and type(shape) is type(value)


def _telling_key(options: list[Any]) -> str:
    """Return the key whose values tell objects apart, or "" if there is none."""
    for key, values in options[0].items():
        sets = [option.get(key) for option in options]
        if all(isinstance(s, set) for s in sets) and len(set().union(*sets)) == sum(map(len, sets)):
            return str(key) if values else ""
    return ""


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

    def read(self, path: Any, shape: Any) -> Iterator[Any]:
        """Yield the records of one file; once it is read, raise RecordError if any was wrong."""
        file = os.path.relpath(path, self.config.data_dir)  # type: ignore[attr-defined]
        by_line = not file.endswith(".json")
        found: list[str] = []
        number = 0
        try:
            records = super().read(path, shape)  # type: ignore[misc]
            if not isinstance(records, Iterable) or isinstance(records, dict | str):
                raise RecordError(f"{file}: expected a list of records, found {_show(records)}")
            for record in records:
                wrong = list(islice(problems(record, shape), MOST_PROBLEMS))
                for problem in wrong:
                    place = f"{file}, line {number + 1}: " if by_line else f"{file}[{number}]"
                    found.append(place + (problem.lstrip(".: ") if by_line else problem))
                if len(found) >= MOST_PROBLEMS:
                    break
                if not wrong:
                    yield record
                number += 1
        except (ValueError, RecursionError) as error:
            place = f"{file}, line {number + 1}" if by_line else file
            found.append(_explain(error, str(path), file, place, by_line))
        if found:
            raise RecordError(report(found))


def _explain(error: Exception, path: str, file: str, place: str, by_line: bool) -> str:
    """Return what is wrong with a file that cannot be parsed, and on which line."""
    cause = error.__cause__ if isinstance(error.__cause__, ValueError) else error
    if isinstance(cause, json.JSONDecodeError):
        line = "" if by_line else f"line {cause.lineno} "
        return f"{place}: invalid JSON: {cause.msg} at {line}column {cause.colno}"
    if isinstance(cause, UnicodeDecodeError):
        line = "" if by_line else f" on line {cause.object[: cause.start].count(10) + 1}"
        return f"{place}: invalid UTF-8: the byte {cause.object[cause.start]:#04x}{line}"
    if isinstance(cause, RecursionError):
        return f"{place}: nested too deeply to be a record"
    text = str(cause)
    return file + text[len(path) :] if text.startswith(path) else f"{place}: {text}"


def report(found: list[str]) -> str:
    """Return problems one a line, cut after the first twenty."""
    shown = found[:MOST_PROBLEMS]
    if len(found) >= MOST_PROBLEMS:
        shown.append(f"(the first {MOST_PROBLEMS} problems; there may be more)")
    return "\n".join(shown)
