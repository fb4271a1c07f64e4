"""Shapes of records: what a value must be, and the column that its row has for it.

A shape is written in plain Python, as docs/adding.md shows, and `parse` makes it a tree of nodes.
Beside the shapes of that table, None alone is null, and in `Converted` a function is a shape that a
value fits if it raises no ValueError.

Different records always have different rows. ScriptError names the part of a shape that cannot
ensure this, that no column fits, or that is no shape. An integer that no float equals is a
ValueError. Each kind of shape is one class.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import groupby, islice
from typing import Any

from parley.base.errors import MOST_PROBLEMS, Causes, ParleyError, Problem, ScriptError
from parley.schema.composites import Alternatives, List, Mapping, Object
from parley.schema.convert import Conversion, chain
from parley.schema.features import ClassLabel, Value, labels_of, require_line, type_of
from parley.schema.nodes import (
    SCALARS,
    Choice,
    Column,
    Function,
    Node,
    NodeValues,
    Null,
    Scalar,
    new_name,
)


def parse(shape: Any, path: str = "") -> Node:
    """Return the node of a shape; ScriptError if a part of it is no shape."""
    if isinstance(shape, Wrapper):
        shape._take(path)
    if isinstance(shape, Node):
        return shape
    if shape is None:
        return Null()
    if isinstance(shape, type) and shape in SCALARS:
        return Scalar(shape)
    if isinstance(shape, set | frozenset):
        return Choice(frozenset(shape))
    if isinstance(shape, list) and len(shape) == 1:
        return List(parse(shape[0], f"{path}[]"))
    if isinstance(shape, tuple) and shape:
        return Alternatives([parse(option, path) for option in shape], shape)
    if isinstance(shape, dict) and list(shape) == [str]:
        return Mapping(parse(shape[str], f"{path}.*"))
    if isinstance(shape, dict):
        return _object(shape, path)
    if isinstance(shape, Value | ClassLabel):
        return Feature(shape)
    if callable(shape) and not isinstance(shape, type):
        return Function(shape)
    what = f"{path}: {shape!r:.60} is no shape".removeprefix(": ")
    remedy = "Use a type, a set, [x], (x, y), a dict, a function, or ClassLabel of `parley`."
    raise ScriptError(what, remedy=remedy)


def _object(shape: dict[Any, Any], path: str) -> Object:
    if not all(isinstance(key, str) for key in shape):
        keys = ", ".join(map(repr, shape))
        what = f"{path}: an object with the keys {keys} is no shape".removeprefix(": ")
        raise ScriptError(what, remedy="Use strings as keys, or only `str` for arbitrary keys.")
    names = {key: key.removesuffix("?") for key in shape}
    fields = {names[key]: parse(inner, f"{path}.{names[key]}") for key, inner in shape.items()}
    return Object(fields, frozenset(name for key, name in names.items() if key != name))


def problems(value: Any, shape: Any, path: str = "") -> Iterator[Problem]:
    """Yield each difference of a value from a shape, with its path in the value."""
    return parse(shape).problems(value, path)


def fitting(node: Node, values: Iterable[Any], kind: type[ParleyError], name: str) -> Iterator[Any]:
    """Yield values of a script as long as they fit; raise an error that names all that do not."""
    causes = Causes("")
    for number, value in enumerate(values):
        if not node.fits(value):
            for problem in islice(node.problems(value), MOST_PROBLEMS):
                causes.add(f"[{number}]", problem)
            if len(causes) >= MOST_PROBLEMS:
                break
        elif not causes:
            yield value
    if causes:
        raise kind("", *(problem.at(name) for problem in causes.problems()))


class Wrapper(Node):
    """A node around the shape of an upstream value, which scripts write by its name."""

    inner: Node

    def __init__(self, shape: Any) -> None:
        self.shape = shape

    def _take(self, path: str) -> None:
        self.inner = parse(self.shape, path)
        self.kind, self.nullable = self.inner.kind, self.inner.nullable
        self.container = self.inner.container

    @property
    def upstream(self) -> Node:
        return self.inner.upstream

    @property
    def column(self) -> Node:
        return self.inner.column

    def _test(self, value: str, names: dict[str, Any]) -> str:
        return self.inner._test(value, names)

    def problems(self, value: Any, path: str = "") -> Iterator[Problem]:
        return self.inner.problems(value, path)

    def expected(self, value: Any) -> str:
        return self.inner.expected(value)

    def described(self) -> str:
        return self.inner.described()

    def conversion(self, path: str = "") -> Conversion:
        return self.inner.conversion(path)

    def columns(self, path: str, null: bool = False) -> list[Column]:
        return self.inner.columns(path, null or self.nullable)

    def within(self, values: list[Any], path: str) -> Iterator[NodeValues]:
        yield self.inner, values, path


_TYPES = {"string": str, "bool": bool, "int": int, "uint": int, "float": float}  # without bits


class Feature(Wrapper):
    """A feature as a column; of a label, values are names."""

    def __init__(self, feature: Any) -> None:
        self.feature, self.labels = feature, labels_of(feature) or []
        kind = _TYPES.get(feature.dtype.rstrip("0123456789"))
        if not self.labels and kind is None:
            raise ScriptError(f"{feature!r:.60} is no type of a column")
        super().__init__(set(self.labels) or kind)
        self._take("")

    def conversion(self, path: str = "") -> Conversion:
        if not self.labels:
            return Conversion(self.feature)
        numbers = {name: number for number, name in enumerate(self.labels)}
        return Conversion(self.feature, numbers.__getitem__, self.labels.__getitem__)

    def columns(self, path: str, null: bool = False) -> list[Column]:
        kind = "ClassLabel" if self.labels else type_of(self.feature)
        meanings = tuple(getattr(self.feature, "meanings", {}).items())
        return [Column(path, kind, null, values=tuple(self.labels), meanings=meanings)]


class Field(Wrapper):
    """A shape with a meaning, for the tables of fields in cards and on pages.

    Args:
        shape: The shape.
        meaning: The meaning of the column or field, in Markdown.
        unit: Its unit, such as "years".
    """

    def __init__(self, shape: Any, meaning: str, unit: str = "") -> None:
        super().__init__(shape)
        for name, text in (("meaning", meaning), ("unit", unit)):
            require_line(f"Field: {name}", text)
        self.meaning, self.unit = meaning, unit

    def columns(self, path: str, null: bool = False) -> list[Column]:
        first, *within = super().columns(path, null)
        return [replace(first, meaning=self.meaning, unit=self.unit), *within]


class Checked(Wrapper):
    """A shape with an additional check.

    Args:
        shape: The shape.
        check: Takes a value; raises ValueError with a description of the expected value.
    """

    def __init__(self, shape: Any, check: Callable[[Any], object]) -> None:
        super().__init__(shape)
        self._check = Function(check)

    def _take(self, path: str) -> None:
        super()._take(path)
        self.kind = None

    def _test(self, value: str, names: dict[str, Any]) -> str:
        found = new_name(names)
        inner = self.inner._test(f"({found} := {value})", names)
        return f"({inner} and {self._check._test(found, names)})"

    def expected(self, value: Any) -> str:
        expected = self._check.expected(value) if self.inner.fits(value) else ""
        return expected or self.inner.expected(value)

    def problems(self, value: Any, path: str = "") -> Iterator[Problem]:
        found = list(islice(self.inner.problems(value, path), MOST_PROBLEMS))
        yield from found or self._check.problems(value, path)


class Converted(Wrapper):
    """A part of a record that has another form in its row.

    Args:
        shape: The upstream shape.
        into: The shape of the converted value; it determines the columns.
        to_row: Converts an upstream value.
        to_record: Converts back.
    """

    def __init__(
        self, shape: Any, into: Any, to_row: Callable[[Any], Any], to_record: Callable[[Any], Any]
    ) -> None:
        super().__init__(shape)
        self.into, self.to_row, self.to_record = into, to_row, to_record

    def _take(self, path: str) -> None:
        super()._take(path)
        self._column = parse(self.into, path)
        self.nullable = self._column.nullable

    @property
    def column(self) -> Node:
        return self._column.column

    def conversion(self, path: str = "") -> Conversion:
        inner = self._column.conversion(path)

        def to_row(value: Any) -> Any:
            found = self.to_row(value)
            if not self._column.fits(found):
                wrong = "; ".join(map(str, islice(self._column.problems(found), MOST_PROBLEMS)))
                raise ValueError(f"to_row gives {path}{wrong}")
            return found

        forth, back = chain(to_row, inner.to_row), chain(inner.to_record, self.to_record)
        return Conversion(inner.feature, forth, back)

    def columns(self, path: str, null: bool = False) -> list[Column]:
        return self._column.columns(path, null or self.nullable)


START = "<start>"  # a user message before an assistant that begins

CHAT: dict[str, Any] = {
    "messages": Field(
        [
            {
                "role": Field(
                    {"system", "user", "assistant"},
                    "`assistant` for the speaker to learn from, `user` for the other",
                ),
                "content": Field(str, "the text"),
            }
        ],
        f"the chat; `user` says `{START}` if the assistant begins",
    ),
    "source_turns": Field(
        [[int]], f"the turns that each message is made from; none for `system` and `{START}`"
    ),
}
"""The columns `messages` and `source_turns` of a config of chats, as trainers read them."""


def chat_of(turns: Iterable[tuple[str, str]], system: str = "") -> dict[str, Any]:
    """Return `messages` and `source_turns` of a chat, from turns of (role, text).

    Consecutive turns of a role become one message. If the assistant begins, a user message START
    precedes it. START and the system message have no source turns.
    """
    messages: list[dict[str, str]] = []
    source_turns: list[list[int]] = []

    def say(role: str, text: str, places: list[int]) -> None:
        messages.append({"role": role, "content": text})
        source_turns.append(places)

    if system:
        say("system", system, [])
    by_role = groupby(enumerate(turns), key=lambda turn: turn[1][0])
    for number, (role, some) in enumerate(by_role):
        if role == "assistant" and number == 0:
            say("user", START, [])
        if role not in ("user", "assistant"):
            raise ValueError(f"expected turns of user and assistant, found {role!r:.60}")
        places, role_turns = zip(*some, strict=True)
        say(role, "\n".join(text for _, text in role_turns), list(places))
    return {"messages": messages, "source_turns": source_turns}
