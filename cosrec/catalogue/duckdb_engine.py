"""The catalogue on one machine: the rules in processes, then joins and sorts in DuckDB.

    raw file ──blocks of lines──▶ processes: rules ──▶ Parquet ──▶ DuckDB: join, sort ──▶ Parquet

Memory is bounded throughout: by the blocks in work, and by the memory that DuckDB may take before
it spills to the temporary folder.
"""

import gc
import glob
import mmap
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from parley import ParleyError
from parley.errors import OutputError
from parley.jobs import Digest, write_parquet

from . import sift
from .files import RawFile
from .rules import Thresholds
from .sift import Read, sift_products, sift_reviews
from .tables import REVIEW_COUNTS_SQL, SCHEMAS, SQL, Written, with_footer
from .workers import Workers

# A byte for each hash of an id, which all processes share: an id whose byte is 0 is certainly not
# one of a kept product. With 2.5 million products, as the largest category may have, 7% are not 0.
_SEEN = 1 << 25
_EACH = 250_000_000  # bytes of memory that each thread of DuckDB is to have
# A line's position is the number of its block and its index in it: so nobody need count the lines
# before a block is worked on.
_BITS = 32
_INDEX = (1 << _BITS) - 1
MOST_BROKEN = 1000  # broken lines of a file that is read on nevertheless


@dataclass(frozen=True)
class _Job:
    table: str
    number: int  # of the block in its file
    path: Path


@dataclass(frozen=True)
class _Done:
    number: int
    lines: int
    counts: Counter[str]
    broken: list[tuple[int, str]]  # index of a line in the block, and why


class DuckDB:
    """The engine of one machine.

    Args:
        workers: Processes beside this one that apply the rules; with 0 this one does.
        memory: Bytes that DuckDB may take before it spills.
        thresholds: Of the rules.
    """

    name = package = "duckdb"

    def __init__(
        self, workers: int, memory: int, thresholds: Thresholds, skip_broken: bool = False
    ) -> None:
        import duckdb  # noqa: F401  # so that nothing is read in vain where it is not installed

        self._memory = memory
        self._thresholds = thresholds
        self._skip_broken = skip_broken
        self._seen = mmap.mmap(-1, _SEEN)
        self._threads = max(1, min(workers, memory // _EACH))
        pa.array([])  # imports pandas, whose memory the forks then share
        self._workers = Workers(workers, self._sift)

    def __enter__(self) -> "DuckDB":
        return self

    def __exit__(self, *_: object) -> None:
        self._workers.close()

    def read(self, table: str, path: Path, folder: Path) -> Read:
        """See `build.Engine`."""
        if table == "products":
            self._seen[:] = bytes(_SEEN)
        (folder / table).mkdir(parents=True)
        file = RawFile(path)
        read = Read()
        lines: dict[int, int] = {}  # block -> its lines

        def jobs() -> Iterator[tuple[_Job, bytes]]:
            for number, block in enumerate(file.blocks()):
                yield _Job(table, number, folder / table / f"{number:06d}.parquet"), block
                if read.broken_lines > MOST_BROKEN and not self._skip_broken:
                    return  # and be refused

        for done in self._workers.map(jobs()):
            lines[done.number] = done.lines
            read.add(done.counts, [(done.number << _BITS | i, why) for i, why in done.broken])
        before = [0, *accumulate(lines[number] for number in sorted(lines))]
        read.broken = [
            (before[place >> _BITS] + (place & _INDEX) + 1, why) for place, why in read.broken
        ]
        read.lines = before[-1]
        read.pin = file.pin()
        return read

    def _sift(self, job: _Job, block: bytes) -> _Done:
        """Apply the rules to a block, in one of the processes, and write its rows."""
        collecting = gc.isenabled()
        gc.disable()  # records have no cycles, and there are many of them
        try:
            return self._sift_lines(job, block)
        finally:
            if collecting:
                gc.enable()

    def _sift_lines(self, job: _Job, block: bytes) -> _Done:
        # as in Python's text files, which upstream reads, a line may end in \r as well
        lines = block.splitlines()
        positions = range(job.number << _BITS, (job.number << _BITS) + len(lines))
        seen, mask = self._seen, _SEEN - 1  # forks hash alike

        def mark(parent_asin: str) -> None:
            seen[hash(parent_asin) & mask] = 1

        def may_hold(parent_asin: str) -> int:
            return seen[hash(parent_asin) & mask]

        if job.table == "products":
            sifted = sift_products(lines, positions, self._thresholds, mark)
        else:
            sifted = sift_reviews(lines, positions, self._thresholds, may_hold)
        if sifted.rows.num_rows:
            sink = pa.BufferOutputStream()  # pyarrow ends the process when a disk is full
            pq.write_table(
                pa.Table.from_batches([sifted.rows]),
                sink,
                use_dictionary=["rule"] if job.table == "reviews" else False,
                write_statistics=False,
            )
            job.path.write_bytes(sink.getvalue())
        broken = [(position & _INDEX, why) for position, why in sifted.broken]
        return _Done(job.number, len(lines), sifted.counts, broken)

    def write(self, folder: Path, target: Path, category: str) -> dict[str, Written]:
        """See `build.Engine`."""
        written = {}
        with self._connected(folder) as connection:
            for table, schema in SCHEMAS.items():
                digest = Digest(schema)
                found = connection.sql(SQL[table]).to_arrow_reader(10_000)
                batches = (batch.cast(schema) for batch in found)
                files = write_parquet(
                    batches, with_footer(table), target / table, category, digest=digest
                )
                written[table] = Written(
                    rows=digest.rows,
                    arrow_size=sum(file.arrow_size for file in files),
                    digest=digest.hexdigest(),
                    files=[
                        {"name": f.name, "size": f.size, "sha256": f.sha256, "rows": f.rows}
                        for f in files
                    ],
                )
        return written

    def review_counts(self, folder: Path) -> list[tuple[str | None, bool, int]]:
        """See `build.Engine`."""
        with self._connected(folder) as connection:
            return list(connection.execute(REVIEW_COUNTS_SQL).fetchall())

    @contextmanager
    def _connected(self, folder: Path) -> Iterator[Any]:
        """Yield a connection with views of the rows in a folder, and explain DuckDB's errors."""
        import duckdb

        config = {
            "memory_limit": f"{self._memory * 2 // 3}B",  # it takes more than that
            "temp_directory": str(folder / "spill"),
            "threads": self._threads,
            "preserve_insertion_order": False,
        }
        try:
            with duckdb.connect(config=config) as connection:
                for table, schema in sift.SCHEMAS.items():
                    if not any((folder / table).iterdir()):
                        empty = pa.BufferOutputStream()
                        pq.write_table(schema.empty_table(), empty)
                        (folder / table / "none.parquet").write_bytes(empty.getvalue())
                    files = glob.escape(str(folder / table)).replace("'", "''") + "/*.parquet"
                    connection.execute(
                        f"CREATE VIEW sifted_{table} AS SELECT * FROM read_parquet('{files}')"  # noqa: S608
                    )
                yield connection
        except duckdb.OutOfMemoryException as error:
            raise ParleyError(
                f"DuckDB has too little memory, or no room to spill: {_first_line(error)}",
                remedy="Give more --memory, or make room beside --output.",
            ) from error
        except duckdb.IOException as error:
            raise OutputError(
                f"DuckDB cannot spill: {_first_line(error)}", remedy="Make room beside --output."
            ) from error


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0]
