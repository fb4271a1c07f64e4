"""The catalogue on one machine: the rules in processes, then joins and sorts in DuckDB.

    raw file ──blocks of lines──▶ processes: rules ──▶ Parquet ──▶ DuckDB: join, sort ──▶ Parquet

Memory is bounded throughout: by the blocks in work, and by the memory that DuckDB may take before
it spills to the temporary folder.
"""

import glob
import mmap
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from parley import ParleyError
from parley.base.errors import OutputError

from . import sift
from .files import RawFile
from .sift import Read, sift_products, sift_reviews
from .tables import Query
from .workers import Workers

# A byte for each hash of an id, which all processes share: an id whose byte is 0 is certainly not
# one of a kept product. With 2.5 million products, as the largest category may have, 7% are not 0.
_SEEN = 1 << 25
_EACH = 250_000_000  # bytes of memory that each thread of DuckDB is to have
# A line's position is the number of its block and its index in it: so nobody need count the lines
# before a block is worked on.
_BITS = 32
MOST_BROKEN = 1000  # broken lines of a file that is read on nevertheless

_Job = tuple[str, int, Path]  # a block's table, its number in the file, and where its rows go


class DuckDB:
    """The engine of one machine.

    Args:
        workers: Processes beside this one that apply the rules; with 0 this one does.
        memory: Bytes that DuckDB may take before it spills.
        skip_broken: Whether to read on after `MOST_BROKEN` broken lines.
    """

    name = package = "duckdb"

    def __init__(self, workers: int, memory: int, skip_broken: bool) -> None:
        import duckdb  # noqa: F401  # so that nothing is read in vain where it is not installed

        self._memory = memory
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
        _save(sift.SCHEMAS[table].empty_table(), folder / table / "none.parquet")
        file = RawFile(path)
        read = Read()

        def jobs() -> Iterator[tuple[_Job, bytes]]:
            for number, block in enumerate(file.blocks()):
                yield (table, number, folder / table / f"{number:06d}.parquet"), block
                if read.broken_lines > MOST_BROKEN and not self._skip_broken:
                    return  # and be refused

        for lines, counts, broken in self._workers.map(jobs()):
            read.add(counts, [(read.lines + index + 1, why) for index, why in broken])
            read.lines += lines
        read.pin = file.pin()
        return read

    def _sift(self, job: _Job, block: bytes) -> tuple[int, Counter[str], list[tuple[int, str]]]:
        """Apply the rules to a block, in one of the processes, and write its rows.

        Return the number of its lines, and counts and broken lines as in `sift.Sifted`.
        """
        table, number, path = job
        # as in Python's text files, which upstream reads, a line may end in \r as well
        lines = block.splitlines()
        positions = range(number << _BITS, (number << _BITS) + len(lines))
        seen, mask = self._seen, _SEEN - 1  # forks hash alike

        def mark(parent_asin: str) -> None:
            seen[hash(parent_asin) & mask] = 1

        def may_hold(parent_asin: str) -> int:
            return seen[hash(parent_asin) & mask]

        if table == "products":
            sifted = sift_products(lines, positions, mark)
        else:
            sifted = sift_reviews(lines, positions, may_hold)
        if sifted.rows.num_rows:
            rule = ["rule"] if table == "reviews" else False
            rows = pa.Table.from_batches([sifted.rows])
            _save(rows, path, use_dictionary=rule, write_statistics=False)
        return len(lines), sifted.counts, sifted.broken

    @contextmanager
    def querying(self, folder: Path) -> Iterator[Query]:
        """See `build.Engine`."""
        import duckdb

        config = {
            "memory_limit": f"{self._memory * 2 // 3}B",  # it takes more than that
            "temp_directory": str(folder / "spill"),
            "threads": self._threads,
            "preserve_insertion_order": False,
        }
        try:
            with duckdb.connect(config=config) as connection:
                for table in sift.SCHEMAS:
                    files = glob.escape(str(folder / table)).replace("'", "''") + "/*.parquet"
                    connection.execute(
                        f"CREATE VIEW sifted_{table} AS SELECT * FROM read_parquet('{files}')"  # noqa: S608
                    )
                yield lambda statement: connection.sql(statement).to_arrow_reader(10_000)
        except duckdb.OutOfMemoryException as error:
            raise ParleyError(
                f"DuckDB has too little memory, or no room to spill: {_first_line(error)}",
                remedy="Give more --memory, or make room beside --output.",
            ) from error
        except duckdb.IOException as error:
            raise OutputError(
                f"DuckDB cannot spill: {_first_line(error)}", remedy="Make room beside --output."
            ) from error


def _save(rows: pa.Table, path: Path, **options: Any) -> None:
    sink = pa.BufferOutputStream()  # pyarrow ends the process when a disk is full
    pq.write_table(rows, sink, **options)
    path.write_bytes(sink.getvalue())


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0]
