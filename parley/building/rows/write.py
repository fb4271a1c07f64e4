"""Write a split: its rows from this process or from several, as Parquet with a digest."""

import time
from array import array
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from pathlib import Path

import pyarrow as pa

from parley.building.rows.arrow import Nulls, to_batches
from parley.building.rows.columns import Unsure, column_batches, has_columns
from parley.building.rows.digest import Digest
from parley.building.rows.generate import are_unique, generate
from parley.building.rows.parquet import write_parquet
from parley.building.rows.split import BuiltSplit, SplitPlan


def write_batches(
    name: tuple[str, str],
    batches: Iterable[pa.RecordBatch],
    schema: pa.Schema,
    folder: Path | None,
    version: str = "",
) -> BuiltSplit:
    """Write the rows of a config's split into `folder/<config>`; None writes no file.

    `version` is that of questions.
    """
    start = time.perf_counter()
    config, split = name
    digest, nulls = Digest(schema), Nulls(schema)
    if target := folder and folder / config:
        target.mkdir(exist_ok=True)

    def looked_at() -> Iterator[pa.RecordBatch]:
        for batch in batches:
            nulls.add(batch)
            yield batch

    files = write_parquet(looked_at(), schema, target, split, digest)
    seconds = time.perf_counter() - start
    return BuiltSplit(config, split, digest.hexdigest(), files, seconds, nulls.left, version)


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

    if has_columns(plan):
        keys = array("q")
        try:
            with closing(column_batches(plan, keys)) as batches:
                made = write(batches)
        except Unsure:
            pass  # row by row, what is wrong can be named
        else:
            if keys and are_unique(keys):
                return made
    return write(to_batches(generate(plan), plan.schema, plan.where))
