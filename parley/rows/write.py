"""Write a split: its rows from this process or from several, as Parquet with a digest."""

import time
from array import array
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pyarrow as pa

from parley.rows import parquet
from parley.rows.arrow import Nulls, to_batches
from parley.rows.columns import Unsure, column_batches, has_columns
from parley.rows.digest import Digest
from parley.rows.generate import are_unique, generate
from parley.rows.split import BuiltSplit, SplitPlan
from parley.rows.workers import Lost, shareable, shared_batches


def write_split(
    plan: SplitPlan,
    folder: Path,
    on_rows: Callable[[str, int], None],
    max_shard_size: int,
    workers: int,
) -> BuiltSplit:
    """Write a split into `folder/<config>`; see `build` for the arguments and errors."""
    start = time.perf_counter()
    target = folder / plan.config.name
    target.mkdir(exist_ok=True)

    def write(batches: Iterator[pa.RecordBatch]) -> BuiltSplit:
        digest, nulls = Digest(plan.schema), Nulls(plan.schema)

        def looked_at() -> Iterator[pa.RecordBatch]:
            rows = 0
            for batch in batches:
                rows += batch.num_rows
                nulls.add(batch)
                on_rows(plan.where, rows)
                yield batch

        files = parquet.write_parquet(
            looked_at(), plan.schema, target, plan.split, max_shard_size, digest
        )
        seconds = time.perf_counter() - start
        return BuiltSplit(*plan.name, digest.hexdigest(), files, seconds, nulls.left)

    keys = array("q")
    fast = None
    if workers and shareable(plan):
        fast = shared_batches(plan, target, workers, keys)
    elif has_columns(plan):
        fast = column_batches(plan, keys)
    if fast:
        try:
            with closing(fast):
                made = write(fast)
        except (Lost, Unsure):
            pass  # one process alone, row by row, can name what is wrong
        else:
            if keys and are_unique(keys):
                return made
    return write(to_batches(generate(plan), plan.schema, plan.where))
