"""The catalogue on Spark: the same rules under `mapInArrow`, the same statements for the rest.

A plain file is split among tasks; a gzip file cannot be, and is one task. All machines must see the
input and the output under the same paths.
"""

import gzip
import json
import os
import shutil
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from parley import ParleyError

from . import rules, sift
from .files import changed, hash_file
from .sift import MOST_SHOWN, Read, Sifted
from .tables import Query

_BOM = b"\xef\xbb\xbf"


class Spark:
    """The engine of a cluster.

    Args:
        master: Where to run if SPARK_REMOTE is not set; all cores of this machine unless given.
    """

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
        """See `build.Engine`."""
        from pyspark.sql import functions as f
        from pyspark.sql.pandas.types import from_arrow_schema

        pin = hash_file(path)
        state = path.stat()
        apply = _applier(table)
        target = f"file://{folder.resolve() / table}"
        with _explained(path):
            lines = self._session.read.text(f"file://{path.resolve()}").select(
                f.col("value").cast("binary").alias("line"),
                f.col("_metadata.file_block_start").alias("start"),
            )
            columns = from_arrow_schema(sift.SCHEMAS[table])
            lines.mapInArrow(apply, columns).write.parquet(target)
            sifted = self._session.read.parquet(target)
            summaries = sifted.where("key IS NULL").select("exact").collect()
        now = path.stat()
        if (state.st_size, state.st_mtime_ns) != (now.st_size, now.st_mtime_ns):
            raise changed(path)
        read = Read(pin)
        for (text,) in summaries:
            summary = json.loads(text)
            broken = [(_line(path, *place), why) for place, why in summary["broken"]]
            read.add(Counter(summary["counts"]), broken)
            read.broken_lines += summary["broken_lines"] - len(broken)
            read.lines += summary["lines"]
        if _has_bom(path):  # which Spark passes over, and upstream does not
            read.add(Counter(), [(1, "it is not JSON: it begins with a byte order mark")])
        return read

    @contextmanager
    def querying(self, folder: Path) -> Iterator[Query]:
        """See `build.Engine`."""
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


def _applier(
    table: str,
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return the function that a task runs: lines and the byte that their split begins at.

    It yields the rows of `sift` and one without a key, which has the task's counts under `exact`.
    """
    apply: Callable[..., Sifted] = sift.sift_products if table == "products" else sift.sift_reviews

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        counts: Counter[str] = Counter()
        broken: list[tuple[list[int], str]] = []
        lines = broken_lines = 0
        split, index = -1, 0
        schema = None
        for batch in batches:
            starts = batch.column(1).to_pylist()
            places = []
            for start in starts:
                index = index + 1 if start == split else 0
                split = start
                places.append((start, index))
            # A line takes a byte at least, so that this grows through all splits of a file.
            positions = [start + number for start, number in places]
            sifted = apply(batch.column(0).to_pylist(), positions)
            counts.update(sifted.counts)
            broken_lines += len(sifted.broken)
            broken += [([*places[number]], why) for number, why in sifted.broken]
            del broken[MOST_SHOWN:]
            lines += len(places)
            schema = sifted.rows.schema
            yield sifted.rows
        if schema is not None:
            summary = {
                "counts": counts, "broken": broken, "broken_lines": broken_lines, "lines": lines,
            }  # fmt: skip
            yield pa.RecordBatch.from_pylist([{"exact": json.dumps(summary)}], schema)

    return run


def _line(path: Path, start: int, index: int) -> int:
    """Return the number of the line that is `index` lines after the first of a split."""
    if start == 0:
        return index + 1
    before = 0
    with path.open("rb") as file:
        while start > 0 and (data := file.read(min(start, 1 << 20))):
            before += data.count(b"\n")
            start -= len(data)
        before += file.readline().endswith(b"\n")  # Spark gives it to the split before
    return before + index + 1


def _has_bom(path: Path) -> bool:
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        return bool(file.read(len(_BOM)) == _BOM)


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
