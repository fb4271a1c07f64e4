"""The catalogue on Spark: the same rules under `mapInArrow`, the same statements for the rest.

A plain file is split among tasks; a gzip file cannot be, and is one task. All machines must see the
input and the output under the same paths.
"""

import json
import os
import shutil
import sys
import warnings
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import accumulate
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from parley import ParleyError

from . import rules, sift
from .files import opened
from .sift import Read
from .tables import Query


class Spark:
    """The engine of a cluster: `master`, unless SPARK_REMOTE is set."""

    name, package = "spark", "pyspark"

    def __init__(self, master: str | None) -> None:
        from pyspark import cloudpickle
        from pyspark.sql import SparkSession

        for module in (rules, sift):  # the machines of a cluster have not got them
            cloudpickle.register_pickle_by_value(module)
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        # of a pandas that is not used here
        warnings.filterwarnings("ignore", "PySpark does not yet", FutureWarning)
        self._session: Any = _session(SparkSession.builder, master)

    def __enter__(self) -> "Spark":
        return self

    def __exit__(self, *_: object) -> None:
        self._session.stop()

    def read(self, table: str, path: Path, folder: Path) -> Read:
        """Apply the rules to a file of a table, products first, and store the rows."""
        from pyspark.sql import functions as f
        from pyspark.sql.pandas.types import from_arrow_schema

        with opened(path) as file:  # Spark passes over a byte order mark
            mark = BOM_UTF8 if file.read(len(BOM_UTF8)) == BOM_UTF8 else b""
        target = f"file://{folder.resolve() / table}"
        with _explained(path):
            lines = self._session.read.text(f"file://{path.resolve()}").select(
                f.col("value").cast("binary").alias("line"),
                f.col("_metadata.file_block_start").alias("start"),
            )
            columns = from_arrow_schema(sift.SCHEMAS[table])
            lines.mapInArrow(_sifter(table, mark), columns).write.parquet(target)
            sifted = self._session.read.parquet(target)
            summaries = sifted.where("key IS NULL").select("exact").collect()
        found = Read()
        for (text,) in summaries:
            counts, broken = json.loads(text)
            found.add(counts, [(_line(path, *place), why) for place, why in broken])
        return found

    @contextmanager
    def querying(self, folder: Path) -> Iterator[Query]:
        """Yield a function that runs the statements of `tables` on the rows in a folder."""
        for table in sift.SCHEMAS:
            sifted = self._session.read.parquet(f"file://{folder.resolve() / table}")
            sifted.where("key IS NOT NULL").createOrReplaceTempView(f"sifted_{table}")
        parts = folder / "parts"

        def query(statement: str) -> Iterator[pa.RecordBatch]:
            with _explained(parts):
                self._session.sql(statement).write.parquet(f"file://{parts.resolve()}")
            for path in sorted(parts.glob("part-*.parquet")):
                with pq.ParquetFile(path) as file:
                    yield from file.iter_batches(10_000)
            shutil.rmtree(parts)

        yield query


def _session(builder: Any, master: str | None) -> Any:
    builder = builder.appName("parley: CoSRec's catalogue")
    if master is None and "SPARK_REMOTE" in os.environ:
        return builder.getOrCreate()
    master = master or "local[*]"
    options = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}
    if master.startswith("local"):  # nothing of it is for other machines
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        options |= {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
    session = builder.master(master).config(map=options).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


def _sifter(
    table: str, mark: bytes
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return the function that a task runs: lines and the byte that their split begins at.

    `mark` comes before the first line of the file. It yields the rows of `sift` and one without a
    key, which has the task's outcome under `exact`.
    """
    apply, schema = sift.sift, sift.SCHEMAS[table]

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        found, numbers = Read(), Counter[int]()  # numbers of the lines of each split so far
        for batch in batches:
            lines, starts = (column.to_pylist() for column in batch.columns)
            places = []
            for start in starts:
                places.append((start, numbers[start]))
                numbers[start] += 1
            if (0, 0) in places:
                lines[places.index((0, 0))] = mark + lines[places.index((0, 0))]
            # A line takes a byte at least, so that this grows through all splits of a file.
            rows, outcome = apply(table, lines, map(sum, places))
            found.add(outcome.counts, [(places[index], why) for index, why in outcome.broken])
            yield rows
        summary = json.dumps([found.counts, found.broken])
        yield pa.RecordBatch.from_pylist([{"exact": summary}], schema)

    return run


def _line(path: Path, start: int, index: int) -> int:
    """Return the number of the line that is `index` lines after the first of a split.

    A line that begins where a split does is of the split before, but for that of the file.
    """
    with path.open("rb") as file:
        begins = enumerate(accumulate(map(len, file), initial=0))
        first = next(number for number, begin in begins if begin > start or not start)
    return first + index + 1


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Turn an error of Spark into one message that names the path."""
    try:
        yield
    except Exception as error:
        if not type(error).__module__.startswith(("pyspark", "py4j", "grpc")):
            raise
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        causes = [line for line in lines if line.startswith("Caused by:")]
        raise ParleyError(f"{path}: Spark failed: {(causes or lines)[-1]}") from error
