"""Nodes: the parts of a parsed shape. Each kind is one class.

A node knows whether a value fits, the problems of one that does not, the column of its row with the
conversion both ways, the fields of that column, and its Python code.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property
from itertools import chain
from typing import Any

from parley.base.code import Code, call, listed, literal, mapped
from parley.base.errors import Problem, ScriptError
from parley.declaring.conversion import Conversion, each, refusal, same

KEY = "upstream's key"  # the meaning of the keys of an object with any keys
Fits = Callable[[Any], bool]

_FEW = 8  # an error lists this many values; of more it names the nearest one
_DTYPES = {str: "string", int: "int64", float: "float64", bool: "bool"}
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
    null_items: tuple[str, ...] = ()  # "[]" if the items of a list may be null, "[][]" theirs
    values: tuple[Any, ...] = ()  # if it holds no others


Part = tuple["Node", list[Any], str]


class Node(ABC):
    """A part of a shape."""

    kind: type | None = None  # the type that alone decides whether a value fits
    nullable = False  # whether the row may be null

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
        """Return a Python expression that tells whether a value has no problems.

        Args:
            value: The expression of the value, evaluated once and first.
            names: Takes what the expression refers to.
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

    @abstractmethod
    def code(self, meaning: str = "") -> Code:
        """Return the Python code of the shape, in which each field has this meaning, if any."""

    def problems(self, value: Any, path: str = "") -> Iterator[Problem]:
        """Yield each difference of a value from the shape, with its path in the value."""
        if not self.fits(value):
            yield self.problem(value, path)

    def row(self) -> Conversion:
        """Return the conversion of records to rows; ScriptError unless they are objects."""
        made = self.conversion()
        if not isinstance(made.feature, dict):
            raise refusal("", "must be an object")
        return made

    def _resembles(self, value: Any) -> bool:
        """Tell whether both are objects, or lists."""
        return False

    def parts(self, values: list[Any], path: str) -> Iterator["Part"]:
        """Yield the nodes directly within, each with the values there and its path."""
        yield from ()

    def columns(self, path: str, null: bool = False) -> list[Column]:
        """Return the column at a path, then the fields within it."""
        return [Column(path, type_of(self.conversion(path).feature), null)]

    def problem(self, value: Any, path: str) -> Problem:
        """Return the problem of a value that does not fit as a whole."""
        return Problem(path, self.expected(value), show(value))


# Values -----------------------------------------------------------------------------------


class Scalar(Node):
    """A string, a number, a truth value, or bytes."""

    def __init__(self, kind: type) -> None:
        self.kind: type = kind

    def _test(self, value: str, names: dict[str, Any]) -> str:
        return f"type({value}) is {self.kind.__name__}"

    def expected(self, value: Any) -> str:
        return SCALARS[self.kind]

    def conversion(self, path: str = "") -> Conversion:
        if self.kind not in _DTYPES:
            raise refusal(path, f"{self.kind!r} has no feature")
        return Conversion(_DTYPES[self.kind])

    def code(self, meaning: str = "") -> Code:
        return self.kind.__name__


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
        if len(kinds) != 1 or (dtype := _DTYPES.get(*kinds)) is None:
            raise refusal(path, f"{set(self.values)!r:.60} has no feature")
        return Conversion(dtype)

    def columns(self, path: str, null: bool = False) -> list[Column]:
        (found,) = super().columns(path, null)
        return [replace(found, values=tuple(sorted(self.values)))]

    def code(self, meaning: str = "") -> Code:
        return listed(map(literal, sorted(self.values)), "{}")


class Null(Node):
    """Null alone, an alternative of others."""

    nullable = True

    def _test(self, value: str, names: dict[str, Any]) -> str:
        return f"{value} is None"

    def expected(self, value: Any) -> str:
        return "null"

    def conversion(self, path: str = "") -> Conversion:
        raise refusal(path, "is always null, and no column type fits")

    def code(self, meaning: str = "") -> Code:
        return "None"


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

    def code(self, meaning: str = "") -> Code:
        return self.check.__name__


class Feature(Node):
    """A feature of `parley` or `datasets` as a column; of a label, values are names."""

    def __init__(self, feature: Any) -> None:
        self.feature = feature
        self.labels: list[str] = list(getattr(feature, "names", None) or ())
        kind = feature.dtype.removeprefix("u").rstrip("0123456789")
        of = {dtype.rstrip("64"): each for each, dtype in _DTYPES.items()}
        if not self.labels and kind not in of:
            raise ScriptError(f"{feature!r:.60} is no type of a column")
        self._value = Choice(frozenset(self.labels)) if self.labels else Scalar(of[kind])

    @property
    def upstream(self) -> Node:
        return self._value

    def _test(self, value: str, names: dict[str, Any]) -> str:
        return self._value._test(value, names)

    def expected(self, value: Any) -> str:
        return self._value.expected(value)

    def conversion(self, path: str = "") -> Conversion:
        if not self.labels:
            return Conversion(self.feature)
        numbers = {name: number for number, name in enumerate(self.labels)}
        return Conversion(self.feature, numbers.__getitem__, self.labels.__getitem__)

    def columns(self, path: str, null: bool = False) -> list[Column]:
        (found,) = super().columns(path, null)
        if self.labels:
            found = replace(found, type="ClassLabel", values=tuple(self.labels))
        return [found]

    def code(self, meaning: str = "") -> Code:
        return repr(self.feature)


# Lists and objects ------------------------------------------------------------------------


class List(Node):
    """A list of values of one shape."""

    def __init__(self, item: Node) -> None:
        self.item = item

    def _test(self, value: str, names: dict[str, Any]) -> str:
        found = held(names)
        if kind := self.item.kind:
            every = f"{held(names, {kind})}.issuperset(map(type, {found}))"
        else:
            every = f"all(map({held(names, self.item.fits)}, {found}))"
        return f"(isinstance({found} := {value}, list) and {every})"

    def problems(self, value: Any, path: str = "") -> Iterator[Problem]:
        if not isinstance(value, list):
            yield self.problem(value, path)
            return
        for index, item in enumerate(value):
            yield from self.item.problems(item, f"{path}[{index}]")

    def _resembles(self, value: Any) -> bool:
        return isinstance(value, list)

    def expected(self, value: Any) -> str:
        return "a list"

    def conversion(self, path: str = "") -> Conversion:
        inner = self.item.conversion(f"{path}[]")
        return Conversion([inner.feature], each(inner.to_row), each(inner.to_record))

    def columns(self, path: str, null: bool = False) -> list[Column]:
        first, *within = self.item.columns(f"{path}[]")
        kind = f"list of {first.type}{' or null' if first.null else ''}"
        items = tuple(f"[]{each}" for each in first.null_items) + ("[]",) * first.null
        return [replace(first, path=path, type=kind, null=null, null_items=items), *within]

    def code(self, meaning: str = "") -> Code:
        return listed([self.item.code(meaning)])

    def parts(self, values: list[Any], path: str) -> Iterator[Part]:
        yield self.item, [*chain.from_iterable(values)], f"{path}[]"


class Mapping(Node):
    """An object with arbitrary keys."""

    def __init__(self, item: Node) -> None:
        self.item = item

    def _test(self, value: str, names: dict[str, Any]) -> str:
        found, fits = held(names), held(names, self.item.fits)
        return f"(isinstance({found} := {value}, dict) and all(map({fits}, {found}.values())))"

    def problems(self, value: Any, path: str = "") -> Iterator[Problem]:
        if not isinstance(value, dict):
            yield self.problem(value, path)
            return
        for key, item in value.items():
            yield from self.item.problems(item, f"{path}.{key}")

    def _resembles(self, value: Any) -> bool:
        return isinstance(value, dict)

    def expected(self, value: Any) -> str:
        return "an object"

    def conversion(self, path: str = "") -> Conversion:
        inner = self.item.conversion(f"{path}.*")
        to_value, to_item = inner.to_row or same, inner.to_record or same
        return Conversion(
            [{"key": "string", "value": inner.feature}],
            lambda found: [{"key": key, "value": to_value(value)} for key, value in found.items()],
            lambda row: {entry["key"]: to_item(entry["value"]) for entry in row},
        )

    def columns(self, path: str, null: bool = False) -> list[Column]:
        key = Column(f"{path}[].key", "string", meaning=KEY)
        entries = Column(path, "list of struct", null)
        value, *within = self.item.columns(f"{path}[].value")
        return [entries, key, replace(value, meaning=value.meaning or "its value"), *within]

    def code(self, meaning: str = "") -> Code:
        return mapped([("str", _field(self.item, meaning))])

    def parts(self, values: list[Any], path: str) -> Iterator[Part]:
        yield self.item, [*chain.from_iterable(map(dict.values, values))], f"{path}.*"


class Object(Node):
    """An object with known keys.

    Args:
        fields: Key -> its node.
        optional: The keys that may be absent.
    """

    def __init__(self, fields: dict[str, Node], optional: frozenset[str]) -> None:
        self.fields, self.optional = fields, optional

    def _test(self, value: str, names: dict[str, Any]) -> str:
        found, keys = held(names), held(names, frozenset(self.fields))
        tests = [f"isinstance({found} := {value}, dict)"]
        if self.optional:
            required = held(names, frozenset(self.fields) - self.optional)
            tests.append(f"{required} <= {found}.keys() <= {keys}")
        else:
            tests.append(f"{found}.keys() == {keys}")
        for key, node in self.fields.items():
            within = node._test(f"{found}[{key!r}]", names)
            tests.append(
                f"({key!r} not in {found} or {within})" if key in self.optional else within
            )
        return f"({' and '.join(tests)})"

    def problems(self, value: Any, path: str = "") -> Iterator[Problem]:
        if not isinstance(value, dict):
            yield self.problem(value, path)
            return
        for key in sorted(value.keys() - self.fields):
            yield Problem(f"{path}.{key}", what="unknown field", found=show(value[key]))
        for key, node in self.fields.items():
            if key in value:
                yield from node.problems(value[key], f"{path}.{key}")
            elif key not in self.optional:
                yield Problem(f"{path}.{key}", node.expected(None), what="missing")

    def _resembles(self, value: Any) -> bool:
        return isinstance(value, dict)

    def expected(self, value: Any) -> str:
        return "an object"

    def described(self) -> str:
        return f"an object of {', '.join(self.fields)}"

    def conversion(self, path: str = "") -> Conversion:
        if not self.fields:
            raise refusal(path, "an object without keys has no column")
        made = {name: node.conversion(f"{path}.{name}") for name, node in self.fields.items()}
        optional = [name for name in self.fields if name in self.optional]
        for name in optional:
            if self.fields[name].nullable:
                what = "may be absent or null, but both have the same row"
                raise refusal(f"{path}.{name}", what)
        feature = {name: each.feature for name, each in made.items()}
        forth = [(name, each.to_row) for name, each in made.items() if each.to_row]
        back = [(name, each.to_record) for name, each in made.items() if each.to_record]

        def to_row(record: dict[str, Any]) -> dict[str, Any]:
            row = dict.fromkeys(feature) | record if optional else dict(record)
            for name, convert in forth:
                if name in record:
                    row[name] = convert(row[name])
            return row

        def to_record(row: dict[str, Any]) -> dict[str, Any]:
            record = dict(row)
            for name in optional:
                if record[name] is None:
                    del record[name]
            for name, convert in back:
                if name in record:
                    record[name] = convert(record[name])
            return record

        return Conversion(
            feature, to_row if optional or forth else None, to_record if optional or back else None
        )

    def columns(self, path: str, null: bool = False) -> list[Column]:
        found = [Column(path, "struct", null)]
        for name, node in self.fields.items():
            place = f"{path}.{name}" if path else name
            found += node.columns(place, node.nullable or name in self.optional)
        return found

    def parts(self, values: list[Any], path: str) -> Iterator[Part]:
        for name, node in self.fields.items():
            yield node, [each[name] for each in values if name in each], f"{path}.{name}"

    def code(self, meaning: str = "") -> Code:
        return mapped(
            (literal(f"{name}?" if name in self.optional else name), _field(node, meaning))
            for name, node in self.fields.items()
        )


# Code -------------------------------------------------------------------------------------


def _field(node: Node, meaning: str) -> Code:
    """Return the code of a field, with a meaning unless it is ""."""
    code = node.code(meaning)
    return call("Field", code, literal(meaning)) if meaning else code


def held(names: dict[str, Any], value: Any = None) -> str:
    """Return a new name, which stands for a value, or is to be bound in an expression."""
    new = f"x{len(names)}"
    names[new] = value
    return new


# Text -------------------------------------------------------------------------------------


def show(value: Any) -> str:
    """Return a value for a message, cut to 64 characters."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=repr)
    except (RecursionError, ValueError):  # ValueError: an integer of more than 4,300 digits
        return "a value too large or too deeply nested to show"
    return text if len(text) <= 64 else f"{text[:36]}…{text[-27:]}"


def type_of(feature: Any) -> str:
    """Return the name of a feature's type for readers."""
    if isinstance(feature, list):
        return f"list of {type_of(feature[0])}"
    if isinstance(feature, str):
        return feature
    return "struct" if isinstance(feature, dict) else str(getattr(feature, "dtype", feature))
