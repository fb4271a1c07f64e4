"""Strict JSON: refuse input that `json.loads` would accept silently or that no row can hold."""

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import orjson

_DEEPEST = 100  # levels; more than any real record has

_LINE = 50_000  # characters; a longer text is probably not a line of JSON
_LONE = re.compile("[\ud800-\udfff]")


def loads(text: str | bytes) -> Any:
    """Parse JSON strictly.

    Raises:
        ValueError: invalid JSON or UTF-8; or, with its path, a key that appears twice in an object,
            NaN, Infinity, a number too large or small for 64 bits, a lone surrogate.
    """
    if isinstance(text, bytes):
        text = text.decode("utf-8")
    if text.startswith("\ufeff"):
        raise json.JSONDecodeError("unexpected BOM, a byte order mark,", text, 0)
    if len(text) <= _LINE and "\n" not in text[:-1] and (value := _plain(text)) is not None:
        return value
    try:
        try:
            value = _DECODER.decode(text)
            orjson.dumps(value)  # refuses lone surrogates faster than a search
        except (_Surprise, orjson.JSONEncodeError):
            for problem in _problems(_LENIENT.decode(text), ""):
                raise ValueError(problem) from None
    except RecursionError:
        raise json.JSONDecodeError("nested too deeply", text, _too_deep(text)) from None
    return value


def _plain(text: str) -> Any:
    """Parse a line in half the time if orjson reproduces its text; else return None.

    A text that orjson reproduces has no duplicate key, no changed number or character, and (with
    this option) no integer of more than 53 bits. The comparison ignores spaces after colons and
    commas, also within strings, where they affect neither keys nor numbers.
    """
    try:
        value = orjson.loads(text)
        again = orjson.dumps(value, option=orjson.OPT_STRICT_INTEGER)
        given = text.rstrip("\n").encode()
    except (ValueError, TypeError):  # the other decoder explains the problem
        return None
    same = again == given.replace(b'": ', b'":', 1) or _tight(again) == _tight(given)
    return value if same else None


def _tight(text: bytes) -> bytes:
    return text.replace(b": ", b":").replace(b", ", b",")


class _Surprise(Exception):
    """A value must be refused; parsing again finds its path."""


class _Refused:
    """Placeholder for a refused value."""

    def __init__(self, problem: str) -> None:
        self.problem = problem


def _decoder(refuse: Callable[[str], Any]) -> json.JSONDecoder:
    """Return a decoder that replaces a bad value by the result of `refuse(problem)`."""

    def unique(pairs: list[tuple[str, Any]]) -> Any:
        found = dict(pairs)
        if len(found) == len(pairs):
            return found
        counts = Counter(key for key, _ in pairs)
        twice = next(key for key, count in counts.items() if count > 1)
        return refuse(f"{_step(twice)}: the key {twice!a} appears twice in one object")

    def whole(number: str) -> Any:
        if len(number) <= 20 and -(2**63) <= int(number) < 2**63:
            return int(number)
        return refuse(f": the number {number:.30} is too large")

    def fraction(number: str) -> Any:
        value = float(number)
        if math.isinf(value):
            return refuse(f": the number {number:.30} is too large")
        if value == 0 and re.match("-?[0.]*[1-9]", number):
            return refuse(f": the number {number:.30} is too small")
        return value

    return json.JSONDecoder(
        object_pairs_hook=unique,
        parse_constant=lambda name: refuse(f": {name} is not JSON"),
        parse_int=whole,
        parse_float=fraction,
    )


def _surprise(problem: str) -> Any:
    raise _Surprise(problem)


_DECODER, _LENIENT = _decoder(_surprise), _decoder(_Refused)


def _too_deep(text: str) -> int:
    """Return the position where the nesting exceeds the limit."""
    depth = 0
    for token in re.finditer(r'"(?:[^"\\]|\\.)*"|[\[\]{}]', text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(token[0], 0)
        if depth > _DEEPEST:
            return token.start()
    return 0


def _problems(value: Any, path: str) -> Iterator[str]:
    """Yield each problem of a parsed value, with its path."""
    if isinstance(value, _Refused):
        yield path + value.problem
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _problems(item, f"{path}[{index}]")
    elif isinstance(value, dict):
        for key, item in value.items():
            if _LONE.search(key):
                yield f"{path}{_step(key)}: the key {key!a} holds a lone surrogate"
            yield from _problems(item, path + _step(key))
    elif isinstance(value, str) and (half := _LONE.search(value)):
        yield f"{path}: {half[0]!a} is a lone surrogate"


def _step(key: str) -> str:
    """Return a key as a printable step of a path."""
    return "." + key.encode("utf-8", "backslashreplace").decode("utf-8")
