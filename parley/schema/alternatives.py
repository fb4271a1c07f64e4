"""Alternatives: a value of one of several shapes, told apart so that its row converts back."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice, permutations
from typing import Any

from parley.base.errors import MOST_PROBLEMS, Problem
from parley.schema.containers import Object
from parley.schema.conversion import (
    FLOAT,
    Conversion,
    fitter,
    or_null,
    refusal,
    same,
    to_float,
    union,
)
from parley.schema.nodes import Choice, Column, Node, Null, Part, held, type_of

# A function that converts a row back raises one of these on the row of another alternative
_OF_ANOTHER = (TypeError, ValueError, LookupError, AttributeError)


class Alternatives(Node):
    """One of several shapes, null perhaps; fields may share `shape`, which a script writes."""

    def __init__(self, options: Sequence[Node], shape: Any = None) -> None:
        self.options, self.shape = options, shape
        self.nullable = any(option.nullable for option in options)
        self.container = tuple(kind for option in options for kind in option.container)

    def _test(self, value: str, names: dict[str, Any]) -> str:
        found, (first, *others) = held(names), self.options
        tests = [first._test(f"({found} := {value})", names)]
        return f"({' or '.join([*tests, *(each._test(found, names) for each in others)])})"

    def problems(self, value: Any, path: str = "") -> Iterator[Problem]:
        if self.fits(value):
            return
        alike = [option for option in self.options if isinstance(value, option.container)]
        if not alike:
            yield self.problem(value, path)
            return
        # An object is compared with the alternative that it says it is, by the field that tells
        # them apart; else, as a list is, with the nearest one, to name the field inside it.
        if isinstance(value, dict) and (told := _told_apart(alike)) and told[0] in value:
            key, choices = told
            given = value[key]
            named = [o for o, c in zip(alike, choices, strict=True) if c.fits(given)]
            if not named:
                allowed = Choice(frozenset().union(*(choice.values for choice in choices)))
                yield from allowed.problems(given, f"{path}.{key}")
                return
            alike = named
        tried = [list(islice(option.problems(value, path), MOST_PROBLEMS)) for option in alike]
        yield from min(tried, key=len)

    def expected(self, value: Any) -> str:
        return " or ".join(option.expected(value) for option in self.options)

    def conversion(self, path: str = "") -> Conversion:
        options = [option for option in self.options if not isinstance(option, Null)]
        if len(options) > 1:
            made = _of_several(options, path)
        else:
            made = (options or self.options)[0].conversion(path)
        if len(options) == len(self.options):
            return made
        return Conversion(made.feature, or_null(made.to_row), or_null(made.to_record))

    def columns(self, path: str, null: bool = False) -> list[Column]:
        null = null or self.nullable
        options = [option for option in self.options if not isinstance(option, Null)]
        found: dict[str, Column] = {}
        each = [option.columns(path, null) for option in options]
        for column in (column for columns in each for column in columns):
            first = found.setdefault(column.path, column)
            found[column.path] = replace(
                first,
                null=first.null or column.null,
                meaning=first.meaning or column.meaning,
                unit=first.unit or column.unit,
                values=_merged(first.values, column.values),
            )
        everywhere = set.intersection(*({column.path for column in columns} for columns in each))
        first, *within = found.values()
        if not within and len(options) > 1:
            first = replace(first, type=type_of(self.conversion(path).feature))
        return [first, *(replace(c, null=c.null or c.path not in everywhere) for c in within)]

    def parts(self, values: list[Any], path: str) -> Iterator[Part]:
        for option in self.options:
            yield option, list(filter(option.fits, values)), path


def _merged(one: tuple[Any, ...], other: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the values of two closed sets; none if one of them is open."""
    return tuple(dict.fromkeys((*one, *other))) if one and other else ()


def _told_apart(options: list[Node]) -> tuple[str, list[Choice]] | None:
    """Return the key whose values tell objects apart, with its choice in each; or None."""
    objects = [node for option in options if isinstance(node := option.upstream, Object)]
    if len(objects) < len(options):
        return None
    for key in objects[0].fields:
        nodes = [object_.fields.get(key) for object_ in objects]
        choices = [n for node in nodes if node and isinstance(n := node.upstream, Choice)]
        values = [choice.values for choice in choices]
        if len(choices) == len(nodes) and len(set().union(*values)) == sum(map(len, values)):
            return key, choices
    return None


def _of_several(options: list[Node], path: str) -> Conversion:
    # an alternative may be an object without keys
    empty = [isinstance(option, Object) and not option.fields for option in options]
    made = [
        Conversion({}) if is_empty else option.conversion(path)
        for option, is_empty in zip(options, empty, strict=True)
    ]
    feature = made[0].feature
    for other in made[1:]:
        feature = union(feature, other.feature, path)
    if feature == {}:
        raise refusal(path, "objects without keys have no column")
    if not isinstance(feature, dict | list):
        if any(way.to_row for way in made):
            raise refusal(path, "a converted value or another: their rows could be the same")
        return Conversion(feature, to_float(path)) if feature == FLOAT else Conversion(feature)
    _require_told_apart(options, path)
    ways = [
        (
            *(option.fits, way.to_row or same, way.to_record or same),
            *(fitter(way.feature, feature, path, widens) or same for widens in (True, False)),
        )
        for option, way in zip(options, made, strict=True)
    ]

    def to_row(record: Any) -> Any:
        for fits, forth, _, widen, _ in ways:
            if fits(record):
                return widen(forth(record))
        raise ValueError(f"fits no alternative: {record!r:.60}")

    def to_record(row: Any) -> Any:
        for fits, _, back, _, narrow in ways:
            try:
                record = back(narrow(row))
            except _OF_ANOTHER:
                continue
            if fits(record) and to_row(record) == row:
                return record
        raise ValueError(f"no alternative gives {row!r:.60}")

    return Conversion(feature, to_row, to_record)


def _require_told_apart(options: list[Node], path: str) -> None:
    """Refuse a key that may be null in one alternative but absent from another: rows are equal."""
    objects = [node for option in options if isinstance(node := option.column, Object)]
    for one, other in permutations(objects, 2):
        for key, node in one.fields.items():
            unclear = node.nullable and key not in {*one.optional, *other.fields}
            if unclear and not _apart(one, other) and not _apart(other, one):
                raise refusal(f"{path}.{key}", "null in one alternative but absent from another")


def _apart(one: Object, other: Object) -> bool:
    """Tell whether the second object lacks a never-null key of the first, or fills it otherwise."""
    for key, node in one.fields.items():
        if key in one.optional or node.nullable:
            continue
        if key not in other.fields:
            return True
        mine, theirs = node.column, other.fields[key].column
        if isinstance(mine, Choice) and isinstance(theirs, Choice):
            return not mine.values & theirs.values
    return False
