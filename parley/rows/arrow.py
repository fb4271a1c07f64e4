"""Strict conversion of Python rows to Arrow, with nothing filled in, dropped or converted.

`datasets` makes a missing column null, drops an extra key and turns "7" into 7. Here each of these
is a RowError that names the path of each problem: only what Arrow holds exactly is converted.
"""

import math
import sys
from collections.abc import Iterable, Iterator
from ctypes import c_float
from functools import lru_cache
from itertools import islice
from typing import Any

import pyarrow as pa

from parley.base.errors import MOST_PROBLEMS, Problem, RowError
from parley.base.strict_json import is_unicode
from parley.schema.composites import List, Object
from parley.schema.nodes import Node, Scalar, new_name
from parley.schema.shapes import Wrapper

AT_ONCE = 500  # rows

_TYPES = {"string": str, "bool": bool, "float": float, "double": float}  # others are integers
_RANGE = {
    "bool": (False, True),
    "double": (-sys.float_info.max, sys.float_info.max),
    **{f"int{bits}": (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": (0, 2**bits - 1) for bits in (8, 16, 32, 64)},
}


def to_batch(
    rows: list[dict[str, Any]], schema: pa.Schema, where: str = "", start: int = 0
) -> pa.RecordBatch:
    """Convert rows to one record batch of the schema, exactly.

    RowError names the path of each wrong value, in the rows `where`, numbered from `start`.
    """
    if not all(map(_row_of(schema).fits, rows)):
        problems = islice(explain(rows, schema, start), MOST_PROBLEMS)
        raise RowError("", *(problem.at(where) for problem in problems))
    batch = pa.RecordBatch.from_pylist(rows, schema)
    return pa.RecordBatch.from_arrays(list(map(_with_null_fields, batch.columns)), schema=schema)


def to_batches(rows: Iterable[Any], schema: pa.Schema, where: str = "") -> Iterator[pa.RecordBatch]:
    """Yield rows as record batches of the schema; errors as in `to_batch`."""
    rest, start = iter(rows), 0
    while some := list(islice(rest, AT_ONCE)):
        yield to_batch(some, schema, where, start)
        start += len(some)


def _with_null_fields(array: pa.Array) -> pa.Array:
    """Return an array whose null structs have null fields."""
    mask = array.is_null() if array.null_count else None
    if pa.types.is_struct(array.type):
        inner = list(map(_with_null_fields, array.flatten()))
        return pa.StructArray.from_arrays(inner, fields=list(array.type), mask=mask)
    if pa.types.is_list(array.type):
        inner = _with_null_fields(array.values)
        return pa.ListArray.from_arrays(array.offsets, inner, type=array.type, mask=mask)
    return array


def explain(rows: Iterable[Any], schema: pa.Schema, start: int = 0) -> Iterator[Problem]:
    """Yield each problem of the rows, e.g. `[17].chat_logs[3].id: expected a string, found 5`."""
    node = _row_of(schema)
    for index, row in enumerate(rows, start):
        yield from node.problems(row, f"[{index}]")


@lru_cache
def _row_of(schema: pa.Schema) -> Node:
    """Return the shape of the rows that a schema holds exactly."""
    return _fields(schema)


def _fields(fields: Iterable[pa.Field]) -> Node:
    return Object({field.name: _OrNull(_node(field.type)) for field in fields}, frozenset())


def _node(type_: pa.DataType) -> Node:
    if pa.types.is_struct(type_):
        return _fields(type_)
    return List(_OrNull(_node(type_.value_type))) if pa.types.is_list(type_) else _Cell(type_)


class _OrNull(Wrapper):
    """A value of a column, or null."""

    def __init__(self, node: Node) -> None:
        super().__init__(node)
        self._take("")
        self.kind = None

    def _test(self, value: str, names: dict[str, Any]) -> str:
        name = new_name(names)
        return f"(({name} := {value}) is None or {self.inner._test(name, names)})"

    def problems(self, value: Any, path: str = "") -> Iterator[Problem]:
        if value is not None:
            yield from self.inner.problems(value, path)


class _Cell(Scalar):
    """A value that a column of an Arrow type, other than a list or struct, holds exactly."""

    def __init__(self, type_: pa.DataType) -> None:
        super().__init__(_TYPES.get(str(type_), int))
        self._type = type_

    def _test(self, value: str, names: dict[str, Any]) -> str:
        name = new_name(names)
        is_kind = super()._test(f"({name} := {value})", names)
        if self.kind is str:
            return f"({is_kind} and ({name}.isascii() or {new_name(names, is_unicode)}({name})))"
        if ends := _RANGE.get(str(self._type)):  # tested without a call
            return f"({is_kind} and {ends[0]!r} <= {name} <= {ends[1]!r})"
        return f"({is_kind} and {new_name(names, self._holds)}({name}))"

    def _holds(self, value: Any) -> bool:
        return self.kind is float and math.isfinite(value) and c_float(value).value == value

    def expected(self, value: Any) -> str:
        if type(value) is not self.kind:
            return super().expected(value)
        if self.kind is str:
            return "valid Unicode, without a lone surrogate"
        return f"a number that {self._type} holds exactly"

    def problem(self, value: Any, path: str) -> Problem:
        try:
            shown = f"{value!r:.60}"
        except ValueError:  # Python writes no integer of more than 4,300 digits
            shown = "a number of thousands of digits"
        return Problem(path, self.expected(value), shown)
