"""The kinds of damage, by their names in the table of `make faults`.

A function of records damages one place in the records of a file. It returns the Wound, or None if
the records lack such a place. A function of bytes returns the damaged file and the damaged line.
"""

import json
from dataclasses import dataclass

from mutations import inner, nodes

HERE = "<the literal of the wound stands here>"


@dataclass(frozen=True)
class Wound:
    """A damaged place."""

    path: tuple  # the record's number, then keys and places in lists
    literal: str = ""  # JSON text that `json` would not write; it replaces HERE
    too_deep: bool = False  # whether a parser may stop at the literal before it knows the path


# Finding a place --------------------------------------------------------------------------


def pattern(path):
    """Return a path below its record with a star for every index."""
    return ".".join("*" if isinstance(step, int) else step for step in path[1:])


def pick(records, draw, fits):
    """Return a random fitting path; each field is equally likely."""
    found = {}
    for path, value in nodes(records):
        if path and fits(path, value, draw):
            found.setdefault(pattern(path), []).append(path)
    return draw.choice(found[draw.choice(sorted(found))]) if found else None


def is_field(path, value, draw):
    return isinstance(path[-1], str)


def is_object(path, value, draw):
    return isinstance(value, dict)


def is_text(path, value, draw):
    return isinstance(value, str)


def is_number(path, value, draw):
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_value(path, value, draw):
    return len(path) > 1 or draw.random() < 0.01  # seldom the whole record


# Records ----------------------------------------------------------------------------------


def changing(*fits, to=lambda old, draw: HERE, literal=lambda draw: "", field=(), too_deep=False):
    """Return a function that changes a value: the first of `fits` that some value fits tells it."""

    def damage(records, draw):
        if path := next(filter(None, (pick(records, draw, each) for each in fits)), None):
            owner = inner(records, path)
            owner[path[-1]] = to(owner[path[-1]], draw)
        return path and Wound((*path, *field), literal(draw), too_deep)

    return damage


def key_removed(records, draw):
    if path := pick(records, draw, is_field):
        del inner(records, path)[path[-1]]
    return path and Wound(path)


def key_twice(records, draw):
    """Give one key two values; `json` would drop the first."""
    if not (path := pick(records, draw, is_field)):
        return None
    owner, key = inner(records, path), path[-1]
    second = owner[key] if draw.random() < 0.5 else None
    inner(records, path[:-1])[path[-2]] = HERE
    again = f", {json.dumps(key)}: {json.dumps(second)}}}"
    return Wound(path, literal=json.dumps(owner)[:-1] + again)


def _other(old, draw):
    others = [0, 1, 7, 0.5, True, "7", ["x"], {"x": 1}, [], {}]
    return draw.choice([other for other in others if type(other) is not type(old)])


def _one_of(*literals):
    return changing(is_number, is_text, literal=lambda draw: draw.choice(literals))


def _deep(draw):
    depth = draw.choice([50, 800, draw.randrange(900, 1000), 20_000, 100_000])
    opening, closing = draw.choice([("[", "]"), ('{"x":', "}")])
    return opening * depth + (draw.choice(["", "1"]) if opening == "[" else "1") + closing * depth


def _inserted(new):
    """Return a change of a text that inserts: at the beginning, at the end or anywhere."""

    def insert(text, draw):
        place = draw.choice([0, len(text), draw.randint(0, len(text))])
        return text[:place] + new + text[place:]

    return insert


def control_character(records, draw):
    """Insert an escaped control character; some are white space or line ends."""
    new = draw.choice("\0\b\t\n\v\f\r\x1b\x1c\x1f\x7f\x85\x9b\u2028")
    return changing(is_text, to=_inserted(new))(records, draw)


def lone_surrogate(records, draw):
    """Insert half of a surrogate pair, escaped, in a text or a key."""
    half = chr(draw.randrange(0xD800, 0xE000))
    if draw.random() < 0.8:
        return changing(is_text, to=_inserted(half))(records, draw)
    keyed = changing(is_object, to=lambda old, _: {**old, f"note{half}": ""}, field=("note",))
    return keyed(records, draw)


OF_RECORDS = {
    "key removed": key_removed,
    "key added": changing(
        is_object,
        to=lambda old, draw: {**old, "note": draw.choice([None, 1, "x", [], {}])},
        field=("note",),
    ),
    "duplicate JSON key": key_twice,
    "wrong type": changing(is_value, to=_other),
    "null": changing(lambda _, value, draw: value is not None, to=lambda old, draw: None),
    "empty list": changing(
        lambda _, value, draw: isinstance(value, list) and value, to=lambda old, draw: []
    ),
    "NaN, infinity": _one_of("NaN", "Infinity", "-Infinity", "1e999", "-1e999", "1e-999"),
    "number too large": _one_of("9223372036854775808", "-9223372036854775809", "1e300", "9" * 5000),
    "deep nesting": changing(is_value, literal=_deep, too_deep=True),
    "lone surrogate": lone_surrogate,
    "control character": control_character,
    "very long text": changing(
        is_text, to=lambda old, draw: (old or "x") * (100_000 // len(old or "x") + 1)
    ),
}


# Bytes ------------------------------------------------------------------------------------


def _starts(content):
    """Return the offsets of line starts."""
    return [0, *(place + 1 for place in range(len(content) - 1) if content[place] == 10)]


def putting(place_in, new):
    """Return a function that inserts bytes at a place."""

    def damage(content, draw):
        place = place_in(content, draw)
        return content[:place] + new(draw) + content[place:], content[:place].count(b"\n") + 1

    return damage


def truncated(content, draw):
    """Cut a line, and half the time all lines after it."""
    start = draw.choice([s for s in _starts(content) if content[s : s + 1] > b" "])
    end = (content + b"\n").index(b"\n", start)
    place = draw.randint(start + 1, max(start + 1, end - 1))
    while content[:place].endswith(b" "):  # whitespace blurs where a parser stops
        place -= 1
    return content[:place] + draw.choice([b"", content[end:]]), content[:place].count(b"\n") + 1


def crlf(content, draw):
    """Change every line end, or one."""
    ends = [place for place, byte in enumerate(content) if byte == 10]
    if draw.random() < 0.5 or not ends:
        return content.replace(b"\n", b"\r\n"), 1
    return putting(lambda *_: draw.choice(ends), lambda _: b"\r")(content, draw)


def _anywhere(content, draw):
    return draw.randrange(len(content))


CONTROLS = [bytes([byte]) for byte in range(0x20) if byte not in b"\r\n"]
NO_UTF8 = [b"\xff", b"\x80", b"\xc3", b"\xed\xa0\xbd", b"\xf5\x80\x80\x80"]
OF_BYTES = {
    "raw control byte": putting(_anywhere, lambda draw: draw.choice(CONTROLS)),
    "truncated line": truncated,
    "byte order mark": putting(
        lambda content, draw: draw.choice([0, draw.choice(_starts(content))]),
        lambda _: b"\xef\xbb\xbf",
    ),
    "CRLF": crlf,
    "invalid UTF-8": putting(_anywhere, lambda draw: draw.choice(NO_UTF8)),
}
KINDS = (*OF_RECORDS, *OF_BYTES)
