"""The catalogue on one machine: the rules in processes, then joins and sorts in DuckDB.

    raw file ──blocks of lines──▶ processes: rules ──▶ Parquet ──▶ DuckDB: join, sort ──▶ Parquet

Memory is bounded throughout: by the blocks in work, and by the memory that DuckDB may take before
it spills to the temporary folder.
"""

import gc
import glob
import mmap
import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from parley import OutputError, ParleyError, UsageError

from . import sift
from .files import blocks
from .sift import Read
from .tables import Query

# A byte for each hash of an id, which all processes share and hash alike: an id whose byte is 0 is
# certainly not one of a kept product. With 2.5 million products, as the largest category may have,
# 7% are not 0.
_SEEN = mmap.mmap(-1, 1 << 25)
_EACH = 250_000_000  # bytes of memory that each thread of DuckDB is to have
# A line's position is the number of its block and its index in it: so nobody need count the lines
# before a block is worked on.
_BITS = 32
_AHEAD = 2  # blocks a process: it works on one while the next is copied


class DuckDB:
    """The engine of one machine; without workers, or outside Linux, a thread applies the rules."""

    name = package = "duckdb"

    def __init__(self, workers: int, memory: str) -> None:
        import duckdb

        try:
            with duckdb.connect() as connection:
                found = connection.execute("SELECT parse_formatted_bytes(?)", [memory]).fetchone()
        except duckdb.Error as error:
            raise UsageError(f"--memory {memory:.20}: {_first_line(error)}") from error
        (self._memory,) = found
        self._threads = max(1, min(workers, self._memory // _EACH))
        self._most = _AHEAD * max(1, workers)
        self._pool: Executor = ThreadPoolExecutor(1)
        if workers and sys.platform == "linux":  # elsewhere it is not safe to fork with threads
            pa.array([])  # imports pandas, whose memory the forks then share
            fork = multiprocessing.get_context("fork")
            self._pool = ProcessPoolExecutor(workers, fork, _begin)
            self._pool.submit(int).result()  # forks all, before there are other threads

    def __enter__(self) -> "DuckDB":
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown()

    def read(self, table: str, path: Path, folder: Path) -> Read:
        """Apply the rules to a file of a table, products first, and store the rows."""
        if table == "products":
            _SEEN[:] = bytes(len(_SEEN))
        (folder / table).mkdir(parents=True)
        _save(sift.SCHEMAS[table].empty_table(), folder / table / "none.parquet")
        found = Read()
        for each in self._sifted(table, path, folder / table):
            before = found.counts["read"] + 1
            found.add(each.counts, [(before + index, why) for index, why in each.broken])
        return found

    def _sifted(self, table: str, path: Path, folder: Path) -> Iterator[Read]:
        """Yield the outcome of each block of a file, in their order."""
        begun: deque[Future[Read]] = deque()
        try:
            for number, block in enumerate(blocks(path)):
                begun.append(self._pool.submit(_sift, table, number, block, folder))
                if len(begun) == self._most:
                    yield begun.popleft().result()
            while begun:
                yield begun.popleft().result()
        except BrokenProcessPool:
            what = "a process ended, perhaps for lack of memory"
            raise ParleyError(what, remedy="Run it again with fewer --workers.") from None
        finally:
            wait(each for each in begun if not each.cancel())

    @contextmanager
    def querying(self, folder: Path) -> Iterator[Query]:
        """Yield a function that runs the statements of `tables` on the rows in a folder."""
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
            what = f"DuckDB has too little memory, or no room to spill: {_first_line(error)}"
            remedy = "Give more --memory, or make room beside --output."
            raise ParleyError(what, remedy=remedy) from error
        except duckdb.IOException as error:
            what = f"DuckDB cannot spill: {_first_line(error)}"
            raise OutputError(what, remedy="Make room beside --output.") from error


def _sift(table: str, number: int, block: bytes, folder: Path) -> Read:
    """Apply the rules to a block, in a process or thread of the pool, and write its rows."""
    # as in Python's text files, which upstream reads, a line may end in \r as well
    lines = block.splitlines()
    first, mask = number << _BITS, len(_SEEN) - 1

    def mark(parent_asin: str) -> None:
        _SEEN[hash(parent_asin) & mask] = 1

    def may_hold(parent_asin: str) -> int:
        return _SEEN[hash(parent_asin) & mask]

    rows, found = sift.sift(table, lines, range(first, first + len(lines)), mark, may_hold)
    if rows.num_rows:
        rule = ["rule"] if table == "reviews" else False
        path = folder / f"{number:06d}.parquet"
        _save(pa.Table.from_batches([rows]), path, use_dictionary=rule, write_statistics=False)
    return found


def _begin() -> None:
    """Prepare a process of the pool, which ends with the one that forked it."""
    gc.disable()  # records have no cycles, and a collection copies the memory that forks share
    for signum in (signal.SIGINT, signal.SIGHUP):
        signal.signal(signum, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    if parent := multiprocessing.parent_process():
        parent.join()
    os._exit(1)


def _save(rows: pa.Table, path: Path, **options: Any) -> None:
    sink = pa.BufferOutputStream()  # pyarrow ends the process when a disk is full
    pq.write_table(rows, sink, **options)
    path.write_bytes(sink.getvalue())


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0]
