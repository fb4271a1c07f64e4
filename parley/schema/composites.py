"""Nodes of lists and objects, which have nodes within."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice, permutations
from typing import Any

from parley.base.errors import MOST_PROBLEMS, Problem
from parley.schema.convert import Conversion, chain, each, fitter, or_null, refusal, to_float, union
from parley.schema.features import FLOAT, Value, type_of
from parley.schema.nodes import Choice, Column, Node, NodeValues, Null, new_name, show

KEY = "upstream's key"  # the meaning of the keys of an object with any keys


def _unchanged(value: Any) -> Any:
    return value


class List(Node):
    """A list of values of one shape."""

    container = (list,)

    def __init__(self, item: Node) -> None:
        self.item = item

    def _test(self, value: str, names: dict[str, Any]) -> str:
        found = new_name(names)
        if kind := self.item.kind:
            every = f"{new_name(names, {kind})}.issuperset(map(type, {found}))"
        else:
            every = f"all(map({new_name(names, self.item.fits)}, {found}))"
        return f"(isinstance({found} := {value}, list) and {every})"

    def _inside(self, value: Any, path: str) -> Iterator[Problem]:
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

    def within(self, values: list[Any], path: str) -> Iterator[NodeValues]:
        yield self.item, [item for value in values for item in value], f"{path}[]"


class Mapping(Node):
    """An object with arbitrary keys."""

    container = (dict,)

    def __init__(self, item: Node) -> None:
        self.item = item

    def _test(self, value: str, names: dict[str, Any]) -> str:
        found, fits = new_name(names), new_name(names, self.item.fits)
        has_texts = f"{new_name(names, {str})}.issuperset(map(type, {found}))"
        values_fit = f"all(map({fits}, {found}.values()))"
        return f"(isinstance({found} := {value}, dict) and {has_texts} and {values_fit})"

    def _inside(self, value: Any, path: str) -> Iterator[Problem]:
        for key, item in value.items():
            if type(key) is not str:
                yield Problem(f"{path}.{key}", "a string as the key", show(key))
            yield from self.item.problems(item, f"{path}.{key}")

    def expected(self, value: Any) -> str:
        return "an object"

    def conversion(self, path: str = "") -> Conversion:
        inner = self.item.conversion(f"{path}.*")
        to_value, to_item = inner.to_row or _unchanged, inner.to_record or _unchanged
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

    def within(self, values: list[Any], path: str) -> Iterator[NodeValues]:
        yield self.item, [item for value in values for item in value.values()], f"{path}.*"


class Object(Node):
    """An object with known keys, each with its node; the optional ones may be absent."""

    container = (dict,)

    def __init__(self, fields: dict[str, Node], optional: frozenset[str]) -> None:
        self.fields, self.optional = fields, optional

    def _test(self, value: str, names: dict[str, Any]) -> str:
        found = new_name(names)
        tests = [f"isinstance({found} := {value}, dict)"]
        if self.optional:
            tests.append(f"{found}.keys() <= {new_name(names, frozenset(self.fields))}")
        else:  # with each field, it has no other
            tests.append(f"len({found}) == {len(self.fields)}")
        for key, node in self.fields.items():
            test = node._test(f"{found}[{key!r}]", names)
            is_optional = key in self.optional
            tests.append(
                f"({key!r} {'not in' if is_optional else 'in'} {found} "
                f"{'or' if is_optional else 'and'} {test})"
            )
        return f"({' and '.join(tests)})"

    def _inside(self, value: Any, path: str) -> Iterator[Problem]:
        for key in sorted(value.keys() - self.fields, key=str):
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
                raise refusal(f"{path}.{name}", "may be absent or null, but both have the same row")
        feature = {name: way.feature for name, way in made.items()}
        forth = [(name, way.to_row) for name, way in made.items() if way.to_row]
        back = [(name, way.to_record) for name, way in made.items() if way.to_record]

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

    def within(self, values: list[Any], path: str) -> Iterator[NodeValues]:
        for name, node in self.fields.items():
            yield node, [value[name] for value in values if name in value], f"{path}.{name}"


# A conversion back to a record raises one of these if the row is of another alternative
_OF_ANOTHER = (TypeError, ValueError, LookupError, AttributeError)


class Alternatives(Node):
    """One of several shapes; one of them may be null.

    `shape` is what the script wrote. Several fields may have the same object as their shape.
    """

    def __init__(self, options: Sequence[Node], shape: Any = None) -> None:
        self.options, self.shape = options, shape
        self.nullable = any(option.nullable for option in options)
        self.container = tuple(kind for option in options for kind in option.container)

    def _test(self, value: str, names: dict[str, Any]) -> str:
        found, (first, *others) = new_name(names), self.options
        tests = [first._test(f"({found} := {value})", names)]
        return f"({' or '.join([*tests, *(other._test(found, names) for other in others)])})"

    def problems(self, value: Any, path: str = "") -> Iterator[Problem]:
        if self.fits(value):
            return
        alike = [option for option in self.options if isinstance(value, option.container)]
        if not alike:
            yield self.problem(value, path)
            return
        # An object is compared with the alternative that it says it is, by the field that tells
        # them apart; else, as a list is, with the nearest one, to name the field inside it.
        key, choices = _telling_choices(alike)
        if isinstance(value, dict) and key in value and choices:
            pairs = zip(alike, choices, strict=True)
            alike = [option for option, choice in pairs if choice.fits(value[key])]
            if not alike:
                allowed = Choice(frozenset().union(*(choice.values for choice in choices)))
                yield from allowed.problems(value[key], f"{path}.{key}")
                return
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
        by_option = [option.columns(path, null) for option in options]
        for column in (column for columns in by_option for column in columns):
            first = found.setdefault(column.path, column)
            found[column.path] = replace(
                first,
                null=first.null or column.null,
                meaning=first.meaning or column.meaning,
                unit=first.unit or column.unit,
                values=_merged(first.values, column.values),
            )
        everywhere = set.intersection(*({c.path for c in columns} for columns in by_option))
        first, *within = found.values()
        if not within and len(options) > 1:
            first = replace(first, type=type_of(self.conversion(path).feature))
        return [first, *(replace(c, null=c.null or c.path not in everywhere) for c in within)]

    def within(self, values: list[Any], path: str) -> Iterator[NodeValues]:
        for option in self.options:
            yield option, list(filter(option.fits, values)), path


def _merged(one: tuple[Any, ...], other: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the values of two closed sets; none if one of them is open."""
    return tuple(dict.fromkeys((*one, *other))) if one and other else ()


def _telling_choices(options: list[Node]) -> tuple[str, list[Choice]]:
    """Return the key whose values tell objects apart, with its choice in each; none if none is."""
    objects = [node for option in options if isinstance(node := option.upstream, Object)]
    if len(objects) < len(options):
        return "", []
    for key in objects[0].fields:
        nodes = [object_.fields.get(key) for object_ in objects]
        choices = [n for node in nodes if node and isinstance(n := node.upstream, Choice)]
        values = [choice.values for choice in choices]
        if len(choices) == len(nodes) and len(set().union(*values)) == sum(map(len, values)):
            return key, choices
    return "", []


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
    ways = []
    for option, way in zip(options, made, strict=True):
        forth = chain(way.to_row, fitter(way.feature, feature, path, widens=True))
        back = chain(fitter(way.feature, feature, path, widens=False), way.to_record)
        ways.append((option.fits, forth or _unchanged, back or _unchanged))

    def to_row(record: Any) -> Any:
        for fits, forth, _ in ways:
            if fits(record):
                return forth(record)
        raise ValueError(f"fits no alternative: {record!r:.60}")

    def to_record(row: Any) -> Any:
        for fits, _, back in ways:
            try:
                record = back(row)
            except _OF_ANOTHER:
                continue
            if fits(record) and to_row(record) == row:
                return record
        raise ValueError(f"no alternative gives {row!r:.60}")

    return Conversion(feature, to_row, to_record)


def _require_told_apart(options: list[Node], path: str) -> None:
    """Refuse a key that may be null in one alternative and absent from another.

    The rows of both would be equal, so no row could be converted back.
    """
    objects = [node for option in options if isinstance(node := option.column, Object)]
    for one, other in permutations(objects, 2):
        for key, node in one.fields.items():
            unclear = node.nullable and key not in {*one.optional, *other.fields}
            if unclear and not _apart(one, other) and not _apart(other, one):
                raise refusal(f"{path}.{key}", "null in one alternative but absent from another")


def _apart(one: Object, other: Object) -> bool:
    """Tell whether rows of one object differ from those of the other in some key.

    The key is never null in the first, and in the second absent or of other values.
    """
    for key, node in one.fields.items():
        if key in one.optional or node.nullable:
            continue
        if key not in other.fields:
            return True
        mine, theirs = node.column, other.fields[key].column
        if not isinstance(mine, Choice) or not isinstance(theirs, Choice):
            continue
        if mine.values.isdisjoint(theirs.values):
            return True
    return False
