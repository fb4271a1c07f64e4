"""Strict conversion of Python rows to Arrow, with nothing filled in, dropped or converted.

`datasets` makes a missing column null, drops an extra key and turns "7" into 7. Here each of these
is a RowError. Values are checked by column, which is fast. Only if a column does not fit are rows
checked one by one, to name the path of each problem.
"""

import math
from collections.abc import Iterable, Iterator
from itertools import accumulate, chain, islice
from operator import itemgetter
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from parley.base.errors import MOST_PROBLEMS, Problem, RowError
from parley.schema.nodes import SCALARS

# Approximate bytes of Arrow data converted at once. More would not fit the processor's cache; fewer
# would cost time for many small arrays.
AT_ONCE = 128_000
MOST_AT_ONCE = 500  # rows

_NULL = type(None)


class _Misfit(Exception):
    """A value of a column does not fit; `explain` names it."""


def to_batch(
    rows: list[dict[str, Any]], schema: pa.Schema, where: str = "", start: int = 0
) -> pa.RecordBatch:
    """Convert rows to one record batch of the schema, exactly.

    RowError names the path of each wrong value, in the rows `where`, numbered from `start`.
    """
    try:
        if None in rows:  # Arrow would make it a row of nulls
            raise _Misfit
        array = _to_array(rows, pa.struct(list(schema)))
    except MemoryError:  # pyarrow's too
        raise
    except (_Misfit, pa.ArrowException, UnicodeEncodeError, OverflowError) as error:
        found = list(islice(explain(rows, schema, start), MOST_PROBLEMS))
        what = str(error) or "a dict or a list is of another type"
        unnamed = [] if found else [Problem("", what=what)]
        raise RowError("", *(problem.at(where) for problem in found or unnamed)) from error
    return pa.RecordBatch.from_struct_array(array).replace_schema_metadata(schema.metadata)


def to_batches(rows: Iterable[Any], schema: pa.Schema, where: str = "") -> Iterator[pa.RecordBatch]:
    """Yield rows as small record batches."""
    rest, start = iter(rows), 0
    count = 10  # the length of rows is unknown at first
    # batches end at each multiple of MOST_AT_ONCE, so that the writer need not cut them
    while some := list(islice(rest, min(count, MOST_AT_ONCE - start % MOST_AT_ONCE))):
        batch = to_batch(some, schema, where, start)
        start += len(some)
        wanted = len(some) * AT_ONCE // max(1, batch.nbytes)
        count = min(max(1, wanted), 4 * count, MOST_AT_ONCE)
        yield batch
        del batch


def _to_array(values: list[Any], type_: pa.DataType) -> pa.Array:
    kinds = set(map(type, values))
    if pa.types.is_struct(type_):
        return _to_struct(values, type_, kinds)
    if pa.types.is_list(type_):
        return _to_list(values, type_, kinds)
    if not kinds <= {_python_type(type_), _NULL}:
        raise _Misfit
    array = pa.array(values, type_)
    if pa.types.is_floating(type_):
        _require_exact(array, values)
    return array


def _to_struct(values: list[Any], type_: pa.StructType, kinds: set[type]) -> pa.Array:
    if not kinds <= {dict, _NULL}:
        raise _Misfit
    absent = dict.fromkeys((field.name for field in type_), None)
    full = [absent if value is None else value for value in values] if _NULL in kinds else values
    if not set(map(len, full)) <= {len(absent)}:
        raise _Misfit
    try:
        children = [
            _to_array(list(map(itemgetter(field.name), full)), field.type) for field in type_
        ]
    except KeyError:
        raise _Misfit from None
    mask = pa.array([value is None for value in values]) if _NULL in kinds else None
    return pa.StructArray.from_arrays(children, fields=list(type_), mask=mask)


def _to_list(values: list[Any], type_: pa.ListType, kinds: set[type]) -> pa.Array:
    if not kinds <= {list, _NULL}:
        raise _Misfit
    full = [value or () for value in values] if _NULL in kinds else values
    inner = _to_array(list(chain.from_iterable(full)), type_.value_type)
    offsets: list[int | None] = [0, *accumulate(map(len, full))]
    if _NULL in kinds:
        offsets[:-1] = [
            None if value is None else offset
            for value, offset in zip(values, offsets[:-1], strict=True)
        ]
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), inner, type=type_)


def _require_exact(array: pa.Array, values: list[Any]) -> None:
    exact = pa.array(values, pa.float64())
    finite = pc.all(pc.is_finite(exact)).as_py()
    if finite is False or not array.cast(pa.float64()).equals(exact):
        raise _Misfit


def _python_type(type_: pa.DataType) -> type:
    if pa.types.is_string(type_):
        return str
    if pa.types.is_boolean(type_):
        return bool
    if pa.types.is_integer(type_):
        return int
    if pa.types.is_floating(type_):
        return float
    raise RowError(f"rows cannot have the type {type_}")


def explain(rows: Iterable[Any], schema: pa.Schema, start: int = 0) -> Iterator[Problem]:
    """Yield each problem of the rows, e.g. `[17].chat_logs[3].id: expected string, found 5`."""
    for index, row in enumerate(rows, start):
        if row is None:
            yield Problem(f"[{index}]", "a row", "null")
        else:
            yield from _explain(row, pa.struct(list(schema)), f"[{index}]")


def _explain(value: Any, type_: pa.DataType, path: str) -> Iterator[Problem]:
    if value is None:
        return
    if pa.types.is_struct(type_):
        if not isinstance(value, dict):
            yield Problem(path, "an object", _shown(value))
            return
        names = {field.name for field in type_}
        for name in sorted(value.keys() - names, key=str):
            yield Problem(f"{path}.{name}", what=f"unknown field, found {_shown(value[name])}")
        for field in type_:
            if field.name in value:
                yield from _explain(value[field.name], field.type, f"{path}.{field.name}")
            else:
                yield Problem(f"{path}.{field.name}", what="missing")
    elif pa.types.is_list(type_):
        if not isinstance(value, list):
            yield Problem(path, "a list", _shown(value))
            return
        for index, item in enumerate(value):
            yield from _explain(item, type_.value_type, f"{path}[{index}]")
    else:
        yield from _explain_leaf(value, type_, path)


def _explain_leaf(value: Any, type_: pa.DataType, path: str) -> Iterator[Problem]:
    if type(value) is not _python_type(type_):
        yield Problem(path, SCALARS[_python_type(type_)], _shown(value))
    elif isinstance(value, float) and not math.isfinite(value):
        yield Problem(path, "a finite number", str(value))
    else:
        try:
            kept = pa.array([value], type_)[0].as_py()
        except (pa.ArrowException, OverflowError):
            yield Problem(path, what=f"{_shown(value)} is too large for {type_}")
        except UnicodeEncodeError:
            yield Problem(path, "valid Unicode", f"a lone surrogate in {value!r:.60}")
        else:
            if kept != value:
                yield Problem(path, what=f"{type_} cannot hold {value!r} exactly")


def _shown(value: Any) -> str:
    try:
        return f"{value!r:.60}"
    except ValueError:  # Python writes no integer of more than 4,300 digits
        return "a number of thousands of digits"
