"""Tables of fields for readers, from the shapes of configs.

Configs with the same columns share a table, structs with the same fields and fields with the same
meaning share a row, and a column that an earlier table explains is only named.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from parley.schema.nodes import Column

if TYPE_CHECKING:
    from parley.building.configs import Config, View

HEADINGS = ("field", "type", "null", "meaning")
_MOST = 40  # values of a closed set; of more, the first are listed
_FIRST = 8
_MARKS = re.compile(r"[`|<\x00-\x1f\x7f-\x9f\u2028\u2029]")  # of Markdown, HTML and lines


@dataclass(frozen=True)
class FieldTable:
    """The fields of some configs."""

    configs: Mapping[str, str]  # config -> its description
    rows: Sequence[tuple[str, str, str, str]]  # as HEADINGS
    elsewhere: Mapping[str, Sequence[str]]  # config of an earlier table -> columns told there


@dataclass(frozen=True)
class _Field:
    """A field with those within it; `name` is "" or the end of its path, as `.text`."""

    name: str
    column: Column  # without its path
    within: tuple["_Field", ...]


def field_tables(configs: "Mapping[str, Config | View]") -> list[FieldTable]:
    """Return the tables of the fields of configs."""
    by_fields: dict[tuple[_Field, ...], dict[str, str]] = {}
    for name, config in configs.items():
        by_fields.setdefault(_tree(columns_of(config)), {})[name] = config.description
    told: dict[_Field, str] = {}
    tables = []
    for fields, described in by_fields.items():
        elsewhere: dict[str, list[str]] = {}
        own = [field for field in fields if field not in told]
        for field in fields:
            if field in told:
                elsewhere.setdefault(told[field], []).append(field.name)
        told |= dict.fromkeys(own, next(iter(described)))
        tables.append(FieldTable(described, list(_rows(own, "")), elsewhere))
    return tables


def columns_of(config: "Config | View") -> list[Column]:
    """Return the columns of a config, each followed by the fields within it."""
    return config.node.columns("")[1:]


def _tree(columns: Sequence[Column], above: str = "") -> tuple[_Field, ...]:
    found = []
    while columns:
        first, *rest = columns
        starts = (f"{first.path}.", f"{first.path}[") if first.type.endswith("struct") else ()
        ends = (n for n, each in enumerate(rest) if not each.path.startswith(starts))
        inside = next(ends, len(rest))
        name = re.sub(r"^(\[\])*\.", "", first.path.removeprefix(above)) if above else first.path
        within, columns = rest[:inside], rest[inside:]
        found.append(_Field(name, replace(first, path=""), _tree(within, first.path)))
    return tuple(found)


def _rows(fields: Sequence[_Field], above: str) -> Iterator[tuple[str, str, str, str]]:
    """Yield the rows of fields, of which equal ones share a row."""
    alike: dict[Any, list[str]] = {}
    within: dict[Any, list[str]] = {}
    for field in fields:
        # without a meaning, a row is not shared
        apart = "" if field.column.meaning or field.within else field.name
        alike.setdefault((field.column, field.within, apart), []).append(field.name)
        within.setdefault((field.column.type, field.within), []).append(field.name)
    told: set[str] = set()
    for (column, inner, _), names in alike.items():
        told.update(names)
        others = (in_code(f"{'.' * bool(above)}{name}") for name in names[1:])
        paths = [in_code(f"{above}{names[0]}"), *others]
        yield ", ".join(paths), column.type, "yes" if column.null else "", meaning_of(column)
        if inner and told.issuperset(names := within[column.type, inner]):
            joined = names[0] if len(names) == 1 else f"{{{','.join(names)}}}"
            joined = "*" if len(names) == len(fields) > 1 else joined
            lists = "[]" * column.type.count("list of ")
            yield from _rows(inner, f"{above}{joined}{lists}.")


def meaning_of(column: Column) -> str:
    """Return the meaning of a column with its unit and its values."""
    text = column.meaning + (f", in {column.unit}" if column.unit else "")
    if not column.values:
        return text
    shown = column.values if len(column.values) <= _MOST else column.values[:_FIRST]
    more = len(column.values) - len(shown)
    values = ", ".join(map(in_code, shown))
    values += f" and {more} more" if more else ""
    values = f"{'one of' if len(column.values) > 1 else 'always'} {values}"
    return f"{text}; {values}" if text else values


def in_code(value: Any) -> str:
    """Return a value as code in a cell of Markdown: JSON where its text could end code or cell."""
    if isinstance(value, str) and value.strip() and not _MARKS.search(value):
        return f"`{value}`"
    text = json.dumps(value, ensure_ascii=False)
    return "`" + _MARKS.sub(lambda mark: rf"\u{ord(mark[0]):04x}", text) + "`"
