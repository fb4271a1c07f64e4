"""The kinds of damage, as small functions.

A function of records damages one place in the records of a file. It returns the Wound, or None if
the records lack such a place. A function of bytes returns the damaged file and the damaged line.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from mutations import nodes

Path = tuple[int | str, ...]  # the record's number, then keys and places in lists
Records = list[Any]

HERE = "<the literal of the wound stands here>"


@dataclass(frozen=True)
class Wound:
    """A damaged place."""

    path: Path
    literal: str = ""  # JSON text that `json` would not write; it replaces HERE
    too_deep: bool = False  # whether a parser may stop at the literal before it knows the path


OfRecords = Callable[[Records, Random], Wound | None]
OfBytes = Callable[[bytes, Random], tuple[bytes, int]]

# Finding a place --------------------------------------------------------------------------


def pattern(path: Path) -> str:
    """Return a path below its record with a star for every index."""
    return ".".join("*" if isinstance(step, int) else step for step in path[1:])


def pick(records: Records, draw: Random, fits: Callable[[Path, Any], bool]) -> Path | None:
    """Return a random fitting path; each field is equally likely."""
    found: dict[str, list[Path]] = {}
    for path, value in nodes(records):
        if path and fits(path, value):
            found.setdefault(pattern(path), []).append(path)
    return draw.choice(found[draw.choice(sorted(found))]) if found else None


def at(records: Records, path: Path) -> Any:
    for step in path:
        records = records[step]
    return records


def put(records: Records, path: Path, value: Any) -> None:
    at(records, path[:-1])[path[-1]] = value


def _is_field(path: Path, value: Any) -> bool:
    return isinstance(path[-1], str)


def _is_object(path: Path, value: Any) -> bool:
    return isinstance(value, dict)


def _is_text(path: Path, value: Any) -> bool:
    return isinstance(value, str)


def _is_number(path: Path, value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


# Keys -------------------------------------------------------------------------------------


def key_removed(records: Records, draw: Random) -> Wound | None:
    if path := pick(records, draw, _is_field):
        del at(records, path[:-1])[path[-1]]
    return path and Wound(path)


def key_added(records: Records, draw: Random) -> Wound | None:
    if path := pick(records, draw, _is_object):
        at(records, path)["note"] = draw.choice([None, 1, "x", [], {}])
    return path and Wound((*path, "note"))


def key_twice(records: Records, draw: Random) -> Wound | None:
    """Give one key two values; `json` would drop the first."""
    if path := pick(records, draw, _is_field):
        owner, key = at(records, path[:-1]), path[-1]
        second = owner[key] if draw.random() < 0.5 else None
        put(records, path[:-1], HERE)
        again = f", {json.dumps(key)}: {json.dumps(second)}}}"
        return Wound(path, literal=json.dumps(owner)[:-1] + again)
    return None


# Values -----------------------------------------------------------------------------------


def wrong_type(records: Records, draw: Random) -> Wound | None:
    others = [0, 1, 7, 0.5, True, "7", ["x"], {"x": 1}, [], {}]
    if path := pick(records, draw, lambda path, _: len(path) > 1 or draw.random() < 0.01):
        old = type(at(records, path))
        put(records, path, draw.choice([other for other in others if type(other) is not old]))
    return path and Wound(path)


def null(records: Records, draw: Random) -> Wound | None:
    if path := pick(records, draw, lambda _, value: value is not None):
        put(records, path, None)
    return path and Wound(path)


def list_emptied(records: Records, draw: Random) -> Wound | None:
    if path := pick(records, draw, lambda _, value: isinstance(value, list) and value):
        put(records, path, [])
    return path and Wound(path)


def _literal(*literals: str) -> OfRecords:
    def put_literal(records: Records, draw: Random) -> Wound | None:
        if path := pick(records, draw, _is_number) or pick(records, draw, _is_text):
            put(records, path, HERE)
        return path and Wound(path, literal=draw.choice(literals))

    return put_literal


not_finite = _literal("NaN", "Infinity", "-Infinity", "1e999", "-1e999", "1e-999")
too_large = _literal("9223372036854775808", "-9223372036854775809", "1e300", "9" * 5000)


def nested(records: Records, draw: Random) -> Wound | None:
    if path := pick(records, draw, lambda path, _: len(path) > 1 or draw.random() < 0.01):
        put(records, path, HERE)
        depth = draw.choice([50, 800, draw.randrange(900, 1000), 20_000, 100_000])
        opening, closing = draw.choice([("[", "]"), ('{"x":', "}")])
        inner = draw.choice(["", "1"]) if opening == "[" else "1"
        return Wound(path, opening * depth + inner + closing * depth, too_deep=True)
    return None


# Text -------------------------------------------------------------------------------------


def _insert(text: str, new: str, draw: Random) -> str:
    """Insert at the beginning, at the end or anywhere."""
    place = draw.choice([0, len(text), draw.randint(0, len(text))])
    return text[:place] + new + text[place:]


def control_character(records: Records, draw: Random) -> Wound | None:
    """Insert an escaped control character; some are white space or line ends."""
    if path := pick(records, draw, _is_text):
        new = draw.choice("\0\b\t\n\v\f\r\x1b\x1c\x1f\x7f\x85\x9b\u2028")
        put(records, path, _insert(at(records, path), new, draw))
    return path and Wound(path)


def lone_surrogate(records: Records, draw: Random) -> Wound | None:
    """Insert half of a surrogate pair, escaped, in a text or a key."""
    half = chr(draw.randrange(0xD800, 0xE000))
    if draw.random() < 0.8:
        if path := pick(records, draw, _is_text):
            put(records, path, _insert(at(records, path), half, draw))
        return path and Wound(path)
    if path := pick(records, draw, _is_object):
        at(records, path)["note" + half] = ""
    return path and Wound((*path, "note"))


def long_text(records: Records, draw: Random) -> Wound | None:
    if path := pick(records, draw, _is_text):
        text = at(records, path) or "x"
        put(records, path, text * (100_000 // len(text) + 1))
    return path and Wound(path)


# Bytes ------------------------------------------------------------------------------------


def _line_of(content: bytes, place: int) -> int:
    return content[:place].count(b"\n") + 1


def _starts(content: bytes) -> list[int]:
    """Return the offsets of line starts."""
    return [0, *(place + 1 for place in range(len(content) - 1) if content[place] == 10)]


def raw_control_character(content: bytes, draw: Random) -> tuple[bytes, int]:
    place = draw.randrange(len(content))
    new = draw.choice([byte for byte in range(0x20) if byte not in b"\r\n"])
    return content[:place] + bytes([new]) + content[place:], _line_of(content, place)


def truncated(content: bytes, draw: Random) -> tuple[bytes, int]:
    """Cut a line, and half the time all lines after it."""
    start = draw.choice([s for s in _starts(content) if content[s : s + 1] > b" "])
    end = (content + b"\n").index(b"\n", start)
    place = draw.randint(start + 1, max(start + 1, end - 1))
    while content[:place].endswith(b" "):  # whitespace blurs where a parser stops
        place -= 1
    rest = draw.choice([b"", content[end:]])
    return content[:place] + rest, _line_of(content, place)


def byte_order_mark(content: bytes, draw: Random) -> tuple[bytes, int]:
    place = draw.choice([0, draw.choice(_starts(content))])
    return content[:place] + b"\xef\xbb\xbf" + content[place:], _line_of(content, place)


def crlf(content: bytes, draw: Random) -> tuple[bytes, int]:
    """Change every line end, or one."""
    ends = [place for place, byte in enumerate(content) if byte == 10]
    if draw.random() < 0.5 or not ends:
        return content.replace(b"\n", b"\r\n"), 1
    place = draw.choice(ends)
    return content[:place] + b"\r" + content[place:], _line_of(content, place)


def invalid_utf8(content: bytes, draw: Random) -> tuple[bytes, int]:
    place = draw.randint(0, len(content) - 1)
    new = draw.choice([b"\xff", b"\x80", b"\xc3", b"\xed\xa0\xbd", b"\xf5\x80\x80\x80"])
    return content[:place] + new + content[place:], _line_of(content, place)
