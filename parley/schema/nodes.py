"""Nodes: the parts of a parsed shape. Each kind is one class.

A node knows whether a value fits, the problems of one that does not, the column of its row with the
conversion both ways, and the fields of that column.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property
from typing import Any

from parley.base.errors import Problem, shorten
from parley.schema.convert import Conversion, refusal
from parley.schema.features import DTYPES, Value, type_of

Fits = Callable[[Any], bool]

_FEW = 8  # an error lists this many values; of more it names the nearest one
_FEATURES = {kind: Value(dtype) for kind, dtype in DTYPES.items()}
SCALARS = {
    str: "a string",
    int: "an integer",
    float: "a number with a decimal point",
    bool: "true or false",
    bytes: "bytes",
}


@dataclass(frozen=True)
class Column:
    """A column, or a field of one: its path, as `turns[].text`, and what it holds."""

    path: str
    type: str
    null: bool = False
    meaning: str = ""
    unit: str = ""
    values: tuple[Any, ...] = ()  # if it holds no others
    meanings: tuple[tuple[str, str], ...] = ()  # (label, meaning) of each, if they have some


NodeValues = tuple["Node", list[Any], str]


class Node(ABC):
    """A part of a shape."""

    kind: type | None = None  # the type that alone decides whether a value fits
    nullable = False  # whether the row may be null
    container: tuple[type, ...] = ()  # list or dict, if a value is one

    @property
    def upstream(self) -> "Node":
        """The node of the upstream value itself, such as that within a `Field`."""
        return self

    @property
    def column(self) -> "Node":
        """The node that determines the column."""
        return self

    @cached_property
    def fits(self) -> Fits:
        """A fast function that tells whether a value has no problems."""
        names: dict[str, Any] = {}
        test = self._test("value", names)
        # Code made for a shape takes half the time of calls from node to node.
        return eval(f"lambda value: {test}", names)  # type: ignore[no-any-return] # noqa: S307

    @abstractmethod
    def _test(self, value: str, names: dict[str, Any]) -> str:
        """Return a Python expression that is true if a value fits.

        `value` is the expression of the value: the result evaluates it once, before all else. Each
        object that the result refers to by a name is added to `names`.
        """

    @abstractmethod
    def expected(self, value: Any) -> str:
        """Return a description of the expected value, for an error about another one."""

    def described(self) -> str:
        """Return a description of the values that fit."""
        return self.expected(None)

    @abstractmethod
    def conversion(self, path: str = "") -> Conversion:
        """Return the conversion to a column and back, or raise ScriptError."""

    def problems(self, value: Any, path: str = "") -> Iterator[Problem]:
        """Yield each difference of a value from the shape, with its path in the value."""
        if isinstance(value, self.container):
            yield from self._inside(value, path)
        elif not self.fits(value):
            yield self.problem(value, path)

    def _inside(self, value: Any, path: str) -> Iterator[Problem]:
        """Yield each difference within a value of the node's `container`."""
        yield from ()

    def row(self) -> Conversion:
        """Return the conversion of records to rows; ScriptError unless they are objects."""
        made = self.conversion()
        if not isinstance(made.feature, dict):
            raise refusal("", "must be an object")
        return made

    def within(self, values: list[Any], path: str) -> Iterator["NodeValues"]:
        """Yield the nodes directly within, each with the values there and its path."""
        yield from ()

    def columns(self, path: str, null: bool = False) -> list[Column]:
        """Return the column at a path, then the fields within it."""
        return [Column(path, type_of(self.conversion(path).feature), null)]

    def problem(self, value: Any, path: str) -> Problem:
        """Return the problem of a value that does not fit as a whole."""
        return Problem(path, self.expected(value), show(value))


class Scalar(Node):
    """A string, a number, a truth value, or bytes."""

    def __init__(self, kind: type) -> None:
        self.kind: type = kind

    def _test(self, value: str, names: dict[str, Any]) -> str:
        return f"type({value}) is {self.kind.__name__}"

    def expected(self, value: Any) -> str:
        return SCALARS[self.kind]

    def conversion(self, path: str = "") -> Conversion:
        if self.kind not in _FEATURES:
            raise refusal(path, f"{self.kind!r} has no feature")
        return Conversion(_FEATURES[self.kind])


class Choice(Node):
    """One of some values."""

    def __init__(self, values: frozenset[Any]) -> None:
        self.values = values

    def _test(self, value: str, names: dict[str, Any]) -> str:
        found = new_name(names)
        if len(kinds := set(map(type, self.values))) == 1:
            kind, values = new_name(names, *kinds), new_name(names, self.values)
            return f"(type({found} := {value}) is {kind} and {found} in {values})"
        of_kinds = new_name(names, tuple(kinds))
        pairs = new_name(names, {(each, type(each)) for each in self.values})
        is_pair = f"({found}, type({found})) in {pairs}"
        return f"(isinstance({found} := {value}, {of_kinds}) and {is_pair})"

    def expected(self, value: Any) -> str:
        options = sorted(json.dumps(option, ensure_ascii=False) for option in self.values)
        if len(options) <= _FEW:
            return " or ".join(options)
        near = get_close_matches(show(value), options, 1) if isinstance(value, str) else []
        return f"one of {len(options)} values" + (f", such as {near[0]}" if near else "")

    def conversion(self, path: str = "") -> Conversion:
        kinds = set(map(type, self.values))
        if len(kinds) != 1 or (feature := _FEATURES.get(*kinds)) is None:
            raise refusal(path, f"{set(self.values)!r:.60} has no feature")
        return Conversion(feature)

    def columns(self, path: str, null: bool = False) -> list[Column]:
        (found,) = super().columns(path, null)
        return [replace(found, values=tuple(sorted(self.values)))]


class Null(Node):
    """Null alone, an alternative of others."""

    nullable = True

    def _test(self, value: str, names: dict[str, Any]) -> str:
        return f"{value} is None"

    def expected(self, value: Any) -> str:
        return "null"

    def conversion(self, path: str = "") -> Conversion:
        raise refusal(path, "is always null, and no column type fits")


class Function(Node):
    """A value for which a function raises no ValueError; the error describes the expected one."""

    def __init__(self, check: Callable[[Any], object]) -> None:
        self.check = check

    def _test(self, value: str, names: dict[str, Any]) -> str:
        return f"not {new_name(names, self.expected)}({value})"

    def expected(self, value: Any) -> str:
        try:
            self.check(value)
        except ValueError as error:
            return str(error) or "another value"
        return ""

    def conversion(self, path: str = "") -> Conversion:
        raise refusal(path, f"{self.check!r:.60} has no feature")


def new_name(names: dict[str, Any], value: Any = None) -> str:
    """Return a new name, which stands for a value, or is to be bound in an expression."""
    new = f"x{len(names)}"
    names[new] = value
    return new


def show(value: Any) -> str:
    """Return a value for a message, cut to 64 characters."""
    try:
        return shorten(json.dumps(value, ensure_ascii=False, default=repr), 64)
    except (RecursionError, ValueError):  # ValueError: an integer of more than 4,300 digits
        return "a value too large or too deeply nested to show"
