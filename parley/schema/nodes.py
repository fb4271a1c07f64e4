"""Nodes: the parts of a parsed shape. Each kind is one class.

A node knows whether a value fits, the problems of one that does not, the column of its row with the
conversion both ways, and the fields of that column.
"""

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property
from typing import Any

from parley.base.errors import Problem, ScriptError, cut
from parley.schema.features import Value

Convert = Callable[[Any], Any]

INSTEAD = "use Converted(shape, into, to_row, to_record) for this part"
FLOAT = Value("float64")
_NUMBER = {Value("int64"), FLOAT}


@dataclass(frozen=True)
class Conversion:
    """The conversion of a shape's values to a column and back; None where both are the same."""

    feature: Any
    to_row: Convert | None = None
    to_record: Convert | None = None


def refusal(path: str, what: str) -> ScriptError:
    """Return the error of a part of a shape that no column fits."""
    return ScriptError("", Problem(path or "the record", what=f"{what}; {INSTEAD}"))


def same(value: Any) -> Any:
    """Return the value."""
    return value


def chain(first: Convert | None, then: Convert | None) -> Convert | None:
    """Return a function that calls both, one after the other."""
    if first is None or then is None:
        return first or then
    return lambda value: then(first(value))


def each(convert: Convert | None) -> Convert | None:
    """Return a function that converts each value of a list."""
    return None if convert is None else lambda values: [convert(value) for value in values]


def or_null(convert: Convert | None) -> Convert | None:
    """Return a function that keeps null."""
    return None if convert is None else lambda value: None if value is None else convert(value)


def to_float(path: str) -> Convert:
    """Return a function that makes a number a float; ValueError if no float equals it."""

    def convert(value: int | float) -> float:
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if isinstance(value, int) and number != value:
            raise ValueError(f"{path}: no float64 holds {value!r:.60} exactly; {INSTEAD}")
        return number

    return convert


def union(one: Any, other: Any, path: str) -> Any:
    """Return the feature that fits values of both, or raise ScriptError."""
    if isinstance(one, dict) and isinstance(other, dict):
        both = dict(one)
        for name, feature in other.items():
            both[name] = union(one[name], feature, f"{path}.{name}") if name in one else feature
        return both
    if isinstance(one, list) and isinstance(other, list):
        return [union(one[0], other[0], f"{path}[]")]
    if isinstance(one, Value) and isinstance(other, Value) and {one, other} == _NUMBER:
        return FLOAT
    if type(one) is type(other) and one == other:
        return one
    raise refusal(path, f"{_word(one)} or {_word(other)}: no column fits both")


def _word(feature: Any) -> str:
    if isinstance(feature, dict):
        return "an object"
    return "a list" if isinstance(feature, list) else str(feature.dtype)


def fitter(part: Any, whole: Any, path: str, widens: bool) -> Convert | None:
    """Return a function that adds the keys of other alternatives as null, or removes them."""
    if part == whole:
        return None
    if isinstance(whole, list):
        return or_null(each(fitter(part[0], whole[0], f"{path}[]", widens)))
    if not isinstance(whole, dict):  # an integer among numbers; `to_row` tells whether it was one
        return or_null(to_float(path) if widens else int)
    found = {name: fitter(part[name], whole[name], f"{path}.{name}", widens) for name in part}
    inner = {name: convert for name, convert in found.items() if convert is not None}
    names = list(whole if widens else part)

    def fit(row: Any) -> Any:
        made = {name: row.get(name) for name in names}
        for name, convert in inner.items():
            made[name] = convert(made[name])
        return made

    return or_null(fit)


Fits = Callable[[Any], bool]

_FEW = 8  # an error lists this many values; of more it names the nearest one
DTYPES = {str: "string", int: "int64", float: "float64", bool: "bool"}
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


Part = tuple["Node", list[Any], str]


class Node(ABC):
    """A part of a shape."""

    kind: type | None = None  # the type that alone decides whether a value fits
    nullable = False  # whether the row may be null
    container: tuple[type, ...] = ()  # list or dict, if a value is one

    @property
    def upstream(self) -> "Node":
        """The node of the upstream value, without what stands around it."""
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
        """Return an expression that tells whether a value, evaluated once and first, fits.

        `names` takes what it refers to.
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

    def parts(self, values: list[Any], path: str) -> Iterator["Part"]:
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
        found = held(names)
        if len(kinds := set(map(type, self.values))) == 1:
            kind, values = held(names, *kinds), held(names, self.values)
            return f"(type({found} := {value}) is {kind} and {found} in {values})"
        pairs, of_kinds = {(each, type(each)) for each in self.values}, held(names, tuple(kinds))
        same = f"({found}, type({found})) in {held(names, pairs)}"
        return f"(isinstance({found} := {value}, {of_kinds}) and {same})"

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
        return f"not {held(names, self._objection)}({value})"

    def _objection(self, value: Any) -> str:
        try:
            self.check(value)
        except ValueError as error:
            return str(error) or "another value"
        return ""

    def expected(self, value: Any) -> str:
        return self._objection(value)

    def conversion(self, path: str = "") -> Conversion:
        raise refusal(path, f"{self.check!r:.60} has no feature")


def held(names: dict[str, Any], value: Any = None) -> str:
    """Return a new name, which stands for a value, or is to be bound in an expression."""
    new = f"x{len(names)}"
    names[new] = value
    return new


def show(value: Any) -> str:
    """Return a value for a message, cut to 64 characters."""
    try:
        return cut(json.dumps(value, ensure_ascii=False, default=repr), 64)
    except (RecursionError, ValueError):  # ValueError: an integer of more than 4,300 digits
        return "a value too large or too deeply nested to show"


def type_of(feature: Any) -> str:
    """Return the name of a feature's type for readers."""
    if isinstance(feature, list):
        return f"list of {type_of(feature[0])}"
    return "struct" if isinstance(feature, dict) else str(getattr(feature, "dtype", feature))
