"""Write a split as Parquet with a digest: by columns where its shape can, else row by row."""

import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pyarrow as pa

from parley.building.configs import Config
from parley.building.rows.arrow import to_batch, to_batches
from parley.building.rows.digest import Digest
from parley.building.rows.parquet import write_parquet
from parley.building.rows.split import BuiltSplit, SplitPlan, generate
from parley.schema.conversion import ToColumns
from parley.source.files import File

AT_ONCE = 1 << 19  # bytes of lines converted at once; each conversion takes a fixed time


class Unsure(Exception):
    """Some record may be wrong; a build row by row can tell, and name it."""


def write_batches(
    name: tuple[str, str],
    batches: Iterable[pa.RecordBatch],
    schema: pa.Schema,
    folder: Path | None,
    version: str = "",
) -> BuiltSplit:
    """Write the rows of a split, or of questions of a version, into `folder/<config>`, if any."""
    start = time.perf_counter()
    config, split = name
    digest = Digest(schema)
    if target := folder and folder / config:
        target.mkdir(exist_ok=True)
    files = write_parquet(batches, schema, target, split, digest)
    seconds = time.perf_counter() - start
    return BuiltSplit(config, split, digest.hexdigest(), files, seconds, digest.nulls(), version)


def write_split(plan: SplitPlan, folder: Path, on_rows: Callable[[str, int], None]) -> BuiltSplit:
    """Write a split into `folder/<config>`; see `build` for the arguments and errors."""

    def write(batches: Iterator[pa.RecordBatch]) -> BuiltSplit:
        def counted() -> Iterator[pa.RecordBatch]:
            rows = 0
            for batch in batches:
                rows += batch.num_rows
                on_rows(plan.where, rows)
                yield batch

        return write_batches(plan.name, counted(), plan.schema, folder)

    if convert := to_columns(plan):
        keys = set[Any]()
        # row by row, what is wrong can be named
        with suppress(Unsure), closing(_column_batches(plan, convert, keys)) as batches:
            made = write(batches)
            if len(keys) == made.rows > 0:
                return made
    return write(to_batches(generate(plan), plan.schema, plan.where))


def to_columns(plan: SplitPlan) -> ToColumns | None:
    """Return the function of a shape that converts many records at once, if it has one.

    They must be the JSON lines of one file.
    """
    file, *others = plan.files
    lines = isinstance(file, File) and file.read == "json lines"
    if not isinstance(plan.config, Config) or not lines or others or plan.join:
        return None
    return plan.config.conversion.to_columns


def _column_batches(
    plan: SplitPlan, convert: ToColumns, keys: set[Any]
) -> Generator[pa.RecordBatch, None, None]:
    """Yield the rows of such a split; `keys` gets the key of each row.

    Unsure if a record may not fit its shape, or cannot be read or converted.
    """
    try:
        for records in plan.reader.lines(plan.files[0], AT_ONCE):
            batch = batch_of(plan, convert, records)
            found = [batch.column(name).to_pylist() for name in plan.config.keys]
            keys.update(zip(*found, strict=True))
            yield batch
    except Exception as error:
        raise Unsure from error


def batch_of(plan: SplitPlan, convert: ToColumns, records: list[Any]) -> pa.RecordBatch:
    """Return the rows of records of a split's only file; Unsure unless they fit their shape."""
    file = plan.files[0]
    if file.validate is not None:
        for record in records:
            file.validate(record)
    if (columns := convert(records)) is None:
        if not all(map(file.node.fits, records)):
            raise Unsure
        return to_batch(list(map(plan.config.to_row, records)), plan.schema)
    arrays = [columns[name] for name in plan.schema.names]
    batch = pa.RecordBatch.from_arrays(arrays, schema=plan.schema)
    batch.validate(full=True)
    if batch.num_rows != len(records):
        raise Unsure
    return batch
