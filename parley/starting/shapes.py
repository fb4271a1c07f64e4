"""Guesses the shape of records from the records themselves, as Python code and as a tree.

A guess is a tree of Nodes. Each tells what stands in a script (`code`), and invents values of its
kind (`invent`). What is not certain is added to a list of remarks.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

_MANY = 40  # values of which few are different are a closed set
_FEW = 12  # different values of a closed set
_SHORT = 40  # characters of a value of a closed set
_ID = re.compile(r"[\w.-]*\d[\w.-]*")  # a key that looks like an id
WORDS = (
    *("amber", "birch", "candle", "drift", "ember", "fern", "garden", "harbour", "island"),
    *("jasmine", "kettle", "lantern", "meadow", "north", "orchard", "pebble", "quiet", "river"),
)

SPEAKERS = ("speaker", "role", "agent", "sender", "from", "author", "user", "id")  # of turns

Remark = Callable[[str], None]


class Invention:
    """Numbers and words for invented values: the same on every run, each text another."""

    def __init__(self) -> None:
        self._next = 0

    def number(self) -> int:
        """Return the next number, from 0."""
        self._next += 1
        return self._next - 1

    def words(self) -> str:
        """Return a few words from the fixed list."""
        start = self.number()
        return " ".join(WORDS[(start * 5 + step) % len(WORDS)] for step in range(3))


HELPERS = ("as_json", "null_or_absent")  # functions of parley that a shape calls


@dataclass
class Node:
    """A guessed part of a shape.

    Args:
        code: Its text in a script, without line breaks; for an object and a list see `parts`.
        invent: Makes the n-th value of its kind.
        branches: How many values show each of its branches once.
        parts: The keys and nodes of an object, or the one node of a list or map under "".
        kind: "value", "object", "list", "map", "choice", "null", or one of HELPERS.
    """

    code: str
    invent: Callable[[Invention, int], Any]
    branches: int = 1
    parts: Mapping[str, "Node"] = field(default_factory=dict)
    kind: str = "value"


def guess(values: Sequence[Any], path: str, remark: Remark) -> Node:
    """Return the shape of these values, which stand at a path of their records."""
    kinds = {type(value) for value in values}
    if type(None) in kinds:
        given = [value for value in values if value is not None]
        if not given:
            remark(f"{path}: is always null; taken for text that may be null")
            return _or_null(_value("str", lambda made, n: made.words()))
        return _or_null(guess(given, path, remark))
    if kinds == {dict}:
        return _guess_object(values, path, remark)
    if kinds == {list}:
        return _guess_list(values, path, remark)
    if kinds == {str}:
        return _guess_text(values, path, remark)
    if kinds == {bool}:
        return _value("bool", lambda made, n: n % 2 == 0)
    if kinds == {int}:
        low, high = min(values), max(values)
        return _value("int", lambda made, n: min(high, low + n))
    if kinds <= {int, float}:
        low, high = float(min(values)), float(max(values))
        code = "float" if kinds == {float} else "(int, float)"
        return _value(code, lambda made, n: round((low + high) / 2, 2) if n else low)
    ordered = sorted(kinds, key=str)
    names = ", ".join(kind.__name__ for kind in ordered)
    remark(f"{path}: is of several kinds ({names}); kept as JSON text")
    each = [guess([v for v in values if type(v) is kind], path, remark) for kind in ordered]
    return _as_json(_choice(each))


def _value(code: str, invent: Callable[[Invention, int], Any]) -> Node:
    return Node(code, invent)


def _as_json(inner: Node) -> Node:
    """Return a part that no column holds as it is: JSON text in the row."""
    return Node("", inner.invent, inner.branches, {"": inner}, "as_json")


def _or_null(inner: Node) -> Node:
    return Node(
        f"({inner.code}, None)" if inner.kind == "value" else "",
        lambda made, n: None if n == inner.branches else inner.invent(made, n),
        inner.branches + 1,
        {"": inner},
        "null",
    )


def _guess_text(values: Sequence[str], path: str, remark: Remark) -> Node:
    different = sorted(set(values))
    few = len(different) <= _FEW and max(map(len, different)) <= _SHORT
    spoken = path.rpartition(".")[2] in SPEAKERS and "[]" in path
    if few and (spoken or (len(values) >= _MANY and len(different) * 4 < len(values))):
        code = "{" + ", ".join(json.dumps(each, ensure_ascii=False) for each in different) + "}"
        remark(f"{path}: has {len(different)} values in {len(values):,}; taken for a closed set")
        return Node(code, lambda made, n: different[n % len(different)], len(different))
    return _value("str", lambda made, n: made.words())


def _guess_list(values: Sequence[list[Any]], path: str, remark: Remark) -> Node:
    items = [item for value in values for item in value]
    if items:
        inner = guess(items, f"{path}[]", remark)
    else:
        remark(f"{path}: is always empty; taken for a list of texts")
        inner = _value("str", lambda made, n: made.words())
    empty = any(not value for value in values)

    def invent(made: Invention, n: int) -> Any:
        if empty and n == 1:
            return []
        return [inner.invent(made, number) for number in range(max(2, inner.branches))]

    code = f"[{inner.code}]" if inner.kind == "value" else ""
    return Node(code, invent, 1 + empty, {"": inner}, "list")


def _guess_object(values: Sequence[dict[str, Any]], path: str, remark: Remark) -> Node:
    counts = Counter(key for value in values for key in value)
    if _is_map(values, counts):
        remark(f"{path}: has {len(counts):,} different keys; taken for an object of any keys")
        inner = guess([item for value in values for item in value.values()], f"{path}.*", remark)
        code = f"{{str: {inner.code}}}" if inner.kind == "value" else ""
        return Node(
            code,
            lambda made, n: {f"key-{made.number()}": inner.invent(made, k) for k in range(2)},
            1,
            {"": inner},
            "map",
        )
    if not counts:
        remark(f"{path}: is always an object without keys; kept as JSON text")
        return _as_json(Node("{}", lambda made, n: {}))
    if choices := _told_apart(values, counts):
        key, groups = choices
        names = " or ".join(json.dumps(found[0][key]) for found in groups)
        remark(f"{path}: objects of different keys, which `{key}` tells apart ({names}, ...)")
        options = [_object(found, path, remark, tell=key) for found in groups]
        return _choice(options)
    return _object(values, path, remark)


def _is_map(values: Sequence[dict[str, Any]], counts: Counter[str]) -> bool:
    """Tell whether the keys are data: ids, or many of which each object has few."""
    if len(counts) < 4:
        return False
    share = sum(counts.values()) / (len(values) * len(counts))
    return (all(map(_ID.fullmatch, counts)) and share < 1) or (len(counts) > 15 and share < 0.3)


def _told_apart(
    values: Sequence[dict[str, Any]], counts: Counter[str]
) -> tuple[str, list[list[dict[str, Any]]]] | None:
    """Return the key whose few values go with different keys, and the objects of each; or None."""
    if all(count == len(values) for count in counts.values()):
        return None
    for key in (key for key, count in counts.items() if count == len(values)):
        if not all(isinstance(value[key], str) for value in values):
            continue
        by_value: dict[str, list[dict[str, Any]]] = {}
        for value in values:
            by_value.setdefault(value[key], []).append(value)
        if not 1 < len(by_value) <= _FEW:
            continue
        groups: dict[frozenset[str], list[dict[str, Any]]] = {}
        for found in by_value.values():
            always = frozenset.intersection(*(frozenset(each) for each in found))
            groups.setdefault(always, []).extend(found)
        if len(groups) > 1 and all(
            frozenset(each) == always for always, found in groups.items() for each in found
        ):
            return key, list(groups.values())
    return None


def _choice(options: list[Node]) -> Node:
    total = sum(option.branches for option in options)

    def invent(made: Invention, n: int) -> Any:
        for option in options:
            if n < option.branches:
                return option.invent(made, n)
            n -= option.branches
        return options[0].invent(made, 0)

    parts = {str(number): option for number, option in enumerate(options)}
    return Node("", invent, total, parts, "choice")


def _object(values: Sequence[dict[str, Any]], path: str, remark: Remark, tell: str = "") -> Node:
    parts: dict[str, Node] = {}
    counts = Counter(key for value in values for key in value)
    unclear = []
    for key in counts:
        found = [value[key] for value in values if key in value]
        here = f"{path}.{key}" if path else key
        if key == tell:
            different = sorted({*found})
            code = "{" + ", ".join(json.dumps(each, ensure_ascii=False) for each in different) + "}"
            parts[key] = Node(code, partial(_pick, different), len(different))
            continue
        optional = counts[key] < len(values)
        if optional and None in found:
            unclear.append(key)
            found = [value for value in found if value is not None] or [""]
        inner = guess(found, here, remark)
        parts[f"{key}?" if optional else key] = inner
    for key in unclear:
        remark(f"{path}.{key}: is null in some records and absent from others; two columns")
    some = any(key.endswith("?") for key in parts)
    total = max([part.branches for part in parts.values()] + [2 if some else 1])

    def invent(made: Invention, n: int) -> Any:
        shown = {
            key.removesuffix("?"): part.invent(made, n % part.branches)
            for key, part in parts.items()
            if not key.endswith("?") or n == 0
        }
        if n:
            shown |= dict.fromkeys(unclear)
        return shown

    node = Node("", invent, total, parts, "object")
    if unclear:
        node = Node("", invent, total, {"": node, **dict.fromkeys(unclear, node)}, "null_or_absent")
    return node


def _pick(options: list[Any], made: Invention, n: int) -> Any:
    return options[n % len(options)]


def code_of(node: Node, indent: int = 0) -> str:
    """Return a guess as Python code, its lines at most 100 characters where they can be."""
    flat = _flat(node)
    if len(flat) + 4 * indent <= 88:
        return flat
    inner, end = "    " * (indent + 1), "    " * indent
    if node.kind == "object":
        lines = [
            f"{inner}{json.dumps(key, ensure_ascii=False)}: {code_of(part, indent + 1)},\n"
            for key, part in node.parts.items()
        ]
        return "{\n" + "".join(lines) + end + "}"
    if node.kind in ("list", "map"):
        open_, close = ("[", "]") if node.kind == "list" else ("{", "}")
        key = "str: " if node.kind == "map" else ""
        body = code_of(node.parts[""], indent + 1)
        return f"{open_}\n{inner}{key}{body},\n{end}{close}"
    if node.kind == "choice":
        lines = [f"{inner}{code_of(part, indent + 1)},\n" for part in node.parts.values()]
        return "(\n" + "".join(lines) + end + ")"
    if node.kind == "null":
        body = code_of(node.parts[""], indent + 1)
        return f"(\n{inner}{body},\n{inner}None,\n{end})"
    if node.kind in HELPERS:
        return _call(node, code_of(node.parts[""], indent))
    if flat.startswith("{"):
        lines = [f"{inner}{each},\n" for each in re.findall(r'"(?:[^"\\]|\\.)*"', flat)]
        return "{\n" + "".join(lines) + end + "}"
    return flat


def _flat(node: Node) -> str:
    if node.kind == "object":
        parts = (
            f"{json.dumps(key, ensure_ascii=False)}: {_flat(part)}"
            for key, part in node.parts.items()
        )
        return "{" + ", ".join(parts) + "}"
    if node.kind == "list":
        return f"[{_flat(node.parts[''])}]"
    if node.kind == "map":
        return f"{{str: {_flat(node.parts[''])}}}"
    if node.kind == "choice":
        return f"({', '.join(map(_flat, node.parts.values()))})"
    if node.kind == "null":
        inner = _flat(node.parts[""])
        return f"({inner}, None)"
    if node.kind in HELPERS:
        return _call(node, _flat(node.parts[""]))
    return node.code


def _call(node: Node, inner: str) -> str:
    names = [json.dumps(key, ensure_ascii=False) for key in list(node.parts)[1:]]
    return f"{node.kind}({', '.join([inner, *names])})"


def key_of(records: Iterable[Any]) -> str:
    """Return the field whose text or number tells all records apart, an id before others; or ""."""
    found = list(records)
    if not found or not all(isinstance(record, dict) for record in found):
        return ""
    shared = [key for key in found[0] if all(key in record for record in found)]
    unique = [
        key
        for key in shared
        if all(type(record[key]) in (str, int) for record in found)
        and len({record[key] for record in found}) == len(found)
    ]
    return min(unique, key=lambda key: ("id" not in key.lower(), shared.index(key)), default="")
