"""The catalogue on Spark: the same rules under `mapInArrow`, the same statements for the rest.

A plain file is split among tasks; a gzip file cannot be, and is one task. All machines must see the
input and the output under the same paths. The folder holds the same rows as DuckDB's, and so the
same digests, in other files.
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
from parley.jobs import Digest

from . import rules, sift
from .files import changed, hash_file
from .rules import Thresholds
from .sift import MOST_SHOWN, Read, Sifted
from .tables import REVIEW_COUNTS_SQL, SCHEMAS, SQL, Written

_ROW_GROUP = 4 << 20  # bytes: small ones keep streaming quick
_BOM = b"\xef\xbb\xbf"


class Spark:
    """The engine of a cluster.

    The session is the one that is active, or that of SPARK_REMOTE, or a new one.

    Args:
        master: Where to run if no session is active and SPARK_REMOTE is not set; all cores of this
            machine unless given.
        thresholds: Of the rules.
    """

    name, package = "spark", "pyspark"

    def __init__(self, master: str | None, thresholds: Thresholds) -> None:
        from pyspark import cloudpickle
        from pyspark.sql import SparkSession

        for module in (rules, sift):  # the machines of a cluster have not got them
            cloudpickle.register_pickle_by_value(module)
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        self._thresholds = thresholds
        self._ours = SparkSession.getActiveSession() is None
        with _quiet():
            self._session: Any = _session(SparkSession, master)

    def __enter__(self) -> "Spark":
        return self

    def __exit__(self, *_: object) -> None:
        if self._ours:
            self._session.stop()

    def read(self, table: str, path: Path, folder: Path) -> Read:
        """See `build.Engine`."""
        from pyspark.sql import functions as f

        pin = hash_file(path)
        state = path.stat()
        apply = _applier(table, self._thresholds)
        target = f"file://{folder.resolve() / table}"
        with _explained(path), _quiet():
            lines = self._session.read.text(f"file://{path.resolve()}").select(
                f.col("value").cast("binary").alias("line"),
                f.col("_metadata.file_block_start").alias("start"),
            )
            lines.mapInArrow(apply, _spark_schema(sift.SCHEMAS[table])).write.parquet(target)
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

    def review_counts(self, folder: Path) -> list[tuple[str | None, bool, int]]:
        """See `build.Engine`."""
        self._view(folder)
        return [tuple(row) for row in self._session.sql(REVIEW_COUNTS_SQL).collect()]

    def _view(self, folder: Path) -> None:
        for table in SCHEMAS:
            sifted = self._session.read.parquet(f"file://{folder.resolve() / table}")
            sifted.where("key IS NOT NULL").createOrReplaceTempView(f"sifted_{table}")

    def write(self, folder: Path, target: Path, category: str) -> dict[str, Written]:
        """See `build.Engine`."""
        self._view(folder)
        written = {}
        for table in SCHEMAS:
            parts = folder / "parts" / table
            with _explained(parts):
                self._session.sql(SQL[table]).write.option(
                    "parquet.block.size", _ROW_GROUP
                ).parquet(f"file://{parts.resolve()}")
            written[table] = _take(parts, table, target / table, category)
            shutil.rmtree(parts)
        return written


def _session(sessions: Any, master: str | None) -> Any:
    active = sessions.getActiveSession()
    if active is not None:
        return active
    builder = sessions.builder.appName("parley: CoSRec's catalogue")
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
    table: str, thresholds: Thresholds
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
            sifted = apply(batch.column(0).to_pylist(), positions, thresholds)
            where = dict(zip(positions, places, strict=True))
            counts.update(sifted.counts)
            broken_lines += len(sifted.broken)
            broken += [([*where[position]], why) for position, why in sifted.broken]
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


def _spark_schema(schema: pa.Schema) -> str:
    kinds = {
        "binary": "binary", "int64": "bigint", "int8": "tinyint", "string": "string",
        "double": "double", "bool": "boolean", "list<item: string>": "array<string>",
    }  # fmt: skip
    return ", ".join(f"{field.name} {kinds[str(field.type)]}" for field in schema)


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


def _take(parts: Path, table: str, target: Path, category: str) -> Written:
    """Move the files of a table to where they belong, and read them for their digest."""
    schema = SCHEMAS[table]
    digest = Digest(schema)
    size = 0
    found = [
        path for path in sorted(parts.glob("part-*.parquet")) if pq.read_metadata(path).num_rows
    ]
    files = []
    for number, path in enumerate(found):
        rows = digest.rows
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(10_000):
                batch = batch.cast(schema)
                size += batch.nbytes
                digest.update(batch)
        name = f"{category}-{number:05d}-of-{len(found):05d}.parquet"
        shutil.move(path, target / name)
        files.append({"name": name, **hash_file(target / name), "rows": digest.rows - rows})
    return Written(digest.rows, size, digest.hexdigest(), files)


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep PySpark from warning of a pandas that is not used here."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet", FutureWarning)
        yield


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
