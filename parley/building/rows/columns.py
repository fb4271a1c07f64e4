"""Convert many records to columns at once, without a row for each, where their shape can."""

from array import array
from collections.abc import Generator
from typing import Any

import pyarrow as pa

from parley.building.configs import Config
from parley.building.rows.arrow import to_batch
from parley.building.rows.split import SplitPlan
from parley.schema.conversion import ToColumns
from parley.source.files import File

AT_ONCE = 1 << 19  # bytes of lines converted at once; each conversion takes a fixed time


class Unsure(Exception):
    """Some record may be wrong; a build row by row can tell, and name it."""


def has_columns(plan: SplitPlan) -> bool:
    """Tell whether the records of a split are JSON lines that its shape converts to columns."""
    file, *others = plan.files
    read = isinstance(file, File) and file.read == "json lines" and not others
    return read and plan.join is None and to_columns(plan) is not None


def to_columns(plan: SplitPlan) -> ToColumns | None:
    """Return the function of its shape that converts many records at once, if it has one."""
    return plan.config.conversion.to_columns if isinstance(plan.config, Config) else None


def column_batches(plan: SplitPlan, keys: "array[int]") -> Generator[pa.RecordBatch, None, None]:
    """Yield the rows of such a split; `keys` is extended with the hash of each row's key.

    Unsure if a record may not fit its shape, or cannot be read or converted.
    """
    try:
        for records in plan.reader.lines(plan.files[0], AT_ONCE):
            batch = batch_of(plan, records)
            found = [batch.column(name).to_pylist() for name in plan.config.keys]
            keys.extend(map(hash, found[0] if len(found) == 1 else zip(*found, strict=True)))
            yield batch
    except Exception as error:
        raise Unsure from error


def batch_of(plan: SplitPlan, records: list[Any]) -> pa.RecordBatch:
    """Return the rows of records of the only file of a split; Unsure unless they fit its shape."""
    file, convert = plan.files[0], to_columns(plan)
    if file.validate is not None:
        for record in records:
            file.validate(record)
    if convert is None or (columns := convert(records)) is None:
        if not all(map(file.node.fits, records)):
            raise Unsure
        return to_batch(list(plan.config.to_rows(records)), plan.schema)
    arrays = [columns[name] for name in plan.schema.names]
    batch = pa.RecordBatch.from_arrays(arrays, schema=plan.schema)
    batch.validate(full=True)
    if batch.num_rows != len(records):
        raise Unsure
    return batch
