"""Strict conversion of Python rows to Arrow, with nothing filled in, dropped or converted.

`datasets` makes a missing column null, drops an extra key and turns "7" into 7. Here each of these
is a RowError: rows must come back from Arrow as they were. Only if they do not are their values
checked one by one, to name the path of each problem.
"""

import math
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import islice
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from parley.base.errors import MOST_PROBLEMS, Problem, RowError
from parley.schema.nodes import SCALARS

AT_ONCE = 500  # rows

# Tells apart what is equal in Python, as 1 and true; takes no value of numpy
_text = partial(orjson.dumps, option=orjson.OPT_SORT_KEYS | orjson.OPT_PASSTHROUGH_SUBCLASS)
_KINDS = {"string": str, "bool": bool, "float": float, "double": float}  # others are integers


def to_batch(
    rows: list[dict[str, Any]], schema: pa.Schema, where: str = "", start: int = 0
) -> pa.RecordBatch:
    """Convert rows to one record batch of the schema, exactly.

    RowError names the path of each wrong value, in the rows `where`, numbered from `start`.
    """
    what = "a value is of another type"
    try:
        batch = pa.RecordBatch.from_pylist(rows, schema)
        back = batch.to_pylist()
        if back == rows and _text(back) == _text(rows):
            return pa.RecordBatch.from_arrays(list(map(_plain, batch.columns)), schema=schema)
    except MemoryError:  # pyarrow's too
        raise
    except (pa.ArrowException, TypeError, ValueError, AttributeError, OverflowError) as error:
        what = str(error)
    found = list(islice(explain(rows, schema, start), MOST_PROBLEMS)) or [Problem("", what=what)]
    raise RowError("", *(problem.at(where) for problem in found))


def to_batches(rows: Iterable[Any], schema: pa.Schema, where: str = "") -> Iterator[pa.RecordBatch]:
    """Yield rows as record batches."""
    rest, start = iter(rows), 0
    while some := list(islice(rest, AT_ONCE)):
        yield to_batch(some, schema, where, start)
        start += len(some)


def _plain(array: pa.Array) -> pa.Array:
    """Return an array whose null structs have null fields; ValueError if a number is infinite."""
    mask = array.is_null() if array.null_count else None
    if pa.types.is_struct(array.type):
        inner = list(map(_plain, array.flatten()))
        return pa.StructArray.from_arrays(inner, fields=list(array.type), mask=mask)
    if pa.types.is_list(array.type):
        inner = _plain(array.values)
        return pa.ListArray.from_arrays(array.offsets, inner, type=array.type, mask=mask)
    if pa.types.is_floating(array.type) and pc.any(pc.is_inf(array)).as_py():
        raise ValueError("a number is infinite")
    return array


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
    elif type(value) is not (kind := _KINDS.get(str(type_), int)):
        yield Problem(path, SCALARS[kind], _shown(value))
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
