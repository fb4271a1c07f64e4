"""JSON without surprises: what `json.loads` would pass over, or no row can hold, is an error."""

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import orjson

_DEEPEST = 100  # no record of a dialogue is nested so deeply, and few programs can follow

_LINE = 50_000  # characters; a longer text is hardly one line with one key

_LONE = re.compile("[\ud800-\udfff]")


def loads(text: str | bytes) -> Any:
    """Parse JSON, refusing what `json.loads` would pass over and what 64 bits cannot hold.

    Raises:
        ValueError: for invalid JSON or UTF-8; and, beginning with the path to it, for a key that
            an object holds twice, NaN, Infinity, a number too large or small, a lone surrogate.
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
            orjson.dumps(value)  # refuses lone surrogates, in less time than a search takes
        except (_Surprise, orjson.JSONEncodeError):
            for problem in _problems(_LENIENT.decode(text), ""):
                raise ValueError(problem) from None
    except RecursionError:  # of either decoder
        raise json.JSONDecodeError("nested too deeply", text, _too_deep(text)) from None
    return value


def _plain(text: str) -> Any:
    """Parse a line in half the time if orjson writes it just so again; else return None.

    What is the same as orjson's own output holds no key twice, no number or character other than
    was read, and, as it is asked for here, no integer of more than 53 bits. Spaces after colons
    and commas may be there or not: in strings too they are left out of both sides, where they
    make or hide no key and no number.
    """
    try:
        value = orjson.loads(text)
        again = orjson.dumps(value, option=orjson.OPT_STRICT_INTEGER)
        given = text.rstrip("\n").encode()
    except (ValueError, TypeError):  # of both, for what the other decoder then explains
        return None
    same = again == given.replace(b'": ', b'":', 1) or _tight(again) == _tight(given)
    return value if same else None


def _tight(text: bytes) -> bytes:
    return text.replace(b": ", b":").replace(b", ", b",")


class _Surprise(Exception):
    """There is something to refuse; parsing once more finds the path to it."""


class _Refused:
    """Stands in a parsed value for what is refused."""

    def __init__(self, problem: str) -> None:
        self.problem = problem


def _decoder(refuse: Callable[[str], Any]) -> json.JSONDecoder:
    """Return a decoder that calls `refuse` with what is wrong, and takes what it returns."""

    def unique(pairs: list[tuple[str, Any]]) -> Any:
        found = dict(pairs)
        if len(found) == len(pairs):
            return found
        counts = Counter(key for key, _ in pairs)
        twice = next(key for key, count in counts.items() if count > 1)
        return refuse(f"{_step(twice)}: the key {twice!a} stands twice in one object")

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
    """Return the place in JSON where its nesting passes what a record may have."""
    depth = 0
    for token in re.finditer(r'"(?:[^"\\]|\\.)*"|[\[\]{}]', text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(token[0], 0)
        if depth > _DEEPEST:
            return token.start()
    return 0


def _problems(value: Any, path: str) -> Iterator[str]:
    """Yield what is refused in a parsed value, each with the path to it."""
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
    """Return a key as a step of a path, which can be printed even if the key cannot."""
    return "." + key.encode("utf-8", "backslashreplace").decode("utf-8")
