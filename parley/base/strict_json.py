"""Strict JSON: refuse input that `json.loads` would accept silently or that no row can hold."""

import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import orjson

_LONE = re.compile("[\ud800-\udfff]")


def loads(text: str | bytes) -> Any:
    """Parse JSON strictly; ValueError if it is invalid, or names the place of a refused value."""
    if isinstance(text, bytes):
        text = text.decode("utf-8")
    if text.startswith("\ufeff"):
        raise json.JSONDecodeError("unexpected BOM, a byte order mark,", text, 0)
    try:
        value = _DECODER.decode(text)
        try:
            orjson.dumps(value)  # which finds a refused value or lone surrogate in less time
        except orjson.JSONEncodeError:
            for problem in _problems(value, ""):
                raise ValueError(problem) from None
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return value


def is_unicode(text: str) -> bool:
    """Tell whether a text has no lone surrogate, which no file can hold."""
    return text.isascii() or not _LONE.search(text)


class _Refused:
    """Placeholder for a refused value."""

    def __init__(self, problem: str) -> None:
        self.problem = problem


def _unique(pairs: list[tuple[str, Any]]) -> Any:
    by_key = dict(pairs)
    if len(by_key) == len(pairs):
        return by_key
    twice = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
    return _Refused(f"{_step(twice)}: the key {twice!a} appears twice in one object")


def _whole(number: str) -> Any:
    if len(number) <= 20 and -(2**63) <= int(number) < 2**63:
        return int(number)
    return _Refused(f": the number {number:.30} is too large")


def _fraction(number: str) -> Any:
    value = float(number)
    if math.isinf(value):
        return _Refused(f": the number {number:.30} is too large")
    if value == 0 and re.match("-?[0.]*[1-9]", number):
        return _Refused(f": the number {number:.30} is too small")
    return value


_DECODER = json.JSONDecoder(
    object_pairs_hook=_unique,
    parse_constant=lambda name: _Refused(f": {name} is not JSON"),
    parse_int=_whole,
    parse_float=_fraction,
)


def _problems(value: Any, path: str) -> Iterator[str]:
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
    return "." + key.encode("utf-8", "backslashreplace").decode("utf-8")
