"""Nodes of lists and objects, which have nodes within."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from typing import Any

from parley.base.errors import Problem
from parley.schema.conversion import Conversion, each, refusal, same
from parley.schema.features import Value
from parley.schema.nodes import Column, Node, Part, held, show

KEY = "upstream's key"  # the meaning of the keys of an object with any keys


class List(Node):
    """A list of values of one shape."""

    container = (list,)

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

    def expected(self, value: Any) -> str:
        return "a list"

    def conversion(self, path: str = "") -> Conversion:
        inner = self.item.conversion(f"{path}[]")
        return Conversion([inner.feature], each(inner.to_row), each(inner.to_record))

    def columns(self, path: str, null: bool = False) -> list[Column]:
        first, *within = self.item.columns(f"{path}[]")
        kind = f"list of {first.type}{' or null' if first.null else ''}"
        return [replace(first, path=path, type=kind, null=null), *within]

    def parts(self, values: list[Any], path: str) -> Iterator[Part]:
        yield self.item, [*chain.from_iterable(values)], f"{path}[]"


class Mapping(Node):
    """An object with arbitrary keys."""

    container = (dict,)

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

    def expected(self, value: Any) -> str:
        return "an object"

    def conversion(self, path: str = "") -> Conversion:
        inner = self.item.conversion(f"{path}.*")
        to_value, to_item = inner.to_row or same, inner.to_record or same
        return Conversion(
            [{"key": Value("string"), "value": inner.feature}],
            lambda found: [{"key": key, "value": to_value(value)} for key, value in found.items()],
            lambda row: {entry["key"]: to_item(entry["value"]) for entry in row},
        )

    def columns(self, path: str, null: bool = False) -> list[Column]:
        key = Column(f"{path}[].key", "string", meaning=KEY)
        entries = Column(path, "list of struct", null)
        value, *within = self.item.columns(f"{path}[].value")
        return [entries, key, replace(value, meaning=value.meaning or "its value"), *within]

    def parts(self, values: list[Any], path: str) -> Iterator[Part]:
        yield self.item, [*chain.from_iterable(map(dict.values, values))], f"{path}.*"


class Object(Node):
    """An object with known keys, each with its node; the optional ones may be absent."""

    container = (dict,)

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
            test = node._test(f"{found}[{key!r}]", names)
            tests.append(f"({key!r} not in {found} or {test})" if key in self.optional else test)
        return f"({' and '.join(tests)})"

    def problems(self, value: Any, path: str = "") -> Iterator[Problem]:
        if not isinstance(value, dict):
            yield self.problem(value, path)
            return
        for key in sorted(value.keys() - self.fields):
            name = key or '""'  # as a table names the column of its index
            yield Problem(f"{path}.{name}", what="unknown field", found=show(value[key]))
        for key, node in self.fields.items():
            if key in value:
                yield from node.problems(value[key], f"{path}.{key}")
            elif key not in self.optional:
                yield Problem(f"{path}.{key}", node.expected(None), what="missing")

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
