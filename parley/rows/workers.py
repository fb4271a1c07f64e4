"""Convert one large file of lines to rows in several processes, in the order of its lines."""

import mmap
import multiprocessing
import os
import signal
import sys
from array import array
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from itertools import accumulate, pairwise
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pyarrow as pa

from parley.declaring.declaration import Config, File
from parley.declaring.formats import BY_LINE
from parley.rows.arrow import to_batches
from parley.rows.columns import column_batches, has_columns
from parley.rows.reader import Reader
from parley.rows.split import SplitPlan

PART = 1 << 20  # approximate bytes of whole lines that a process converts at once
SLOT = 16 * PART  # most bytes of the rows of a part
SLOTS = 6  # parts per process that may wait for the caller
LEAST = 4  # parts; smaller files are faster in one process
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
LONGEST = 60  # seconds for a part, usually some hundredths; a fork can hang on a lock


class Lost(Exception):
    """A process ended too early, or hangs."""


def shareable(plan: SplitPlan) -> bool:
    """Tell whether processes may share a split's file: it is large, and each line is a record."""
    if not isinstance(plan.config, Config) or plan.join is not None or sys.platform != "linux":
        return False  # elsewhere forking a process with threads is not safe
    file, *others = plan.files
    if others or not isinstance(file, File) or file.read not in BY_LINE:
        return False
    try:
        return os.path.getsize(plan.reader.path(file)) > LEAST * PART
    except OSError:  # one process then reports the error
        return False


def shared_batches(
    plan: SplitPlan, folder: Path, workers: int, keys: "array[int]"
) -> Generator[pa.RecordBatch, None, None]:
    """Yield the rows of a split, converted by other processes from parts of its file.

    The processes write temporary files into `folder`. `keys` is extended with the hash of each
    row's key. `Lost` if a process failed; a build in one process names the problem.
    """
    (file,) = plan.files

    def make(part: Path) -> Iterator[Any]:
        hashes = array("q")
        reader = Reader(folder, {file.path: part})  # a new one: parts share a path
        of_part = replace(plan, reader=reader)

        def rows() -> Iterator[Any]:
            for key, row in of_part.keyed_rows():
                hashes.append(hash(key))
                yield row

        fast = has_columns(plan)
        for batch in column_batches(of_part, hashes) if fast else to_batches(rows(), plan.schema):
            yield batch.serialize()
        if not fast:
            reader.require_ended([file])
        yield hashes.tobytes()

    for *made, hashes in share(plan.reader.path(file), workers, make, folder):
        keys.frombytes(hashes)
        for batch in made:
            yield pa.ipc.read_record_batch(pa.py_buffer(bytes(batch)), plan.schema)


def share(
    path: Path, workers: int, make: Callable[[Path], Iterable[Any]], folder: Path
) -> Iterator[list[memoryview]]:
    """Yield the output of `make` for each part of a file, in the order of its lines.

    Each of n forked processes converts every n-th part, and returns it in shared memory. The
    processes end with the generator, or with this process. `make` takes a file in `folder` with a
    part's lines, and yields bytes-like objects. They are valid until the next part is requested.
    `Lost` if a process failed.
    """
    fork = multiprocessing.get_context("fork")
    ends: list[tuple[Connection, memoryview]] = []
    with ExitStack() as last:
        try:
            with path.open("rb") as file:  # opened once, for all to read the same file
                whole = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            starts = range(0, len(whole), PART)
            workers = min(workers, len(starts))
            for number in range(workers):
                memory = memoryview(mmap.mmap(-1, SLOTS * SLOT))
                ours, theirs = fork.Pipe()
                part = folder / f".{number}.{path.name}"
                # A fork inherits our ends, and must close them to see that we closed ours.
                not_its = [ours, *(end for end, _ in ends)]
                arguments = (whole, starts[number::workers], part, make, theirs, memory, not_its)
                process = fork.Process(target=_work, args=arguments, daemon=True)
                # A signal between the fork and `_work` would end in a traceback of the process.
                blocked = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
                try:
                    process.start()
                finally:
                    signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
                theirs.close()
                last.callback(_end, process, ours, part)
                ends.append((ours, memory))
        except OSError:  # no more processes, memory or files
            raise Lost from None
        for number in range(len(starts)):
            end, memory = ends[number % workers]
            try:
                if not end.poll(LONGEST):
                    raise Lost
                lengths = array("q", end.recv_bytes())
            except (EOFError, OSError):
                raise Lost from None
            if lengths:
                stops = accumulate(lengths, initial=number // workers % SLOTS * SLOT)
                yield [memory[start:stop] for start, stop in pairwise(stops)]
            if number + SLOTS * workers < len(starts):
                try:
                    end.send_bytes(b"taken")
                except OSError:
                    raise Lost from None


def _work(
    whole: mmap.mmap,
    starts: range,
    part: Path,
    make: Callable[[Path], Iterable[Any]],
    end: Connection,
    memory: memoryview,
    not_its: list[Connection],
) -> None:
    """Convert the parts that begin at these bytes of a file, in a forked process."""
    status = 1
    try:
        for signum in _ENDING:
            if signal.getsignal(signum) != signal.SIG_IGN:
                signal.signal(signum, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDING)
        os.nice(2)  # the caller, which writes the output of all, goes first
        for other in not_its:
            other.close()
        # One file and one mapping for all parts, for speed
        with part.open("wb", buffering=0) as given:
            for number, start in enumerate(starts):
                first, last = _line(whole, start), _line(whole, start + PART)
                given.seek(0)
                given.write(memoryview(whole)[first:last])
                given.truncate()
                if number >= SLOTS:
                    end.recv_bytes()
                slot = number % SLOTS * SLOT
                rest = memory[slot : slot + SLOT]
                lengths = array("q")
                for each in make(part) if first < last else ():
                    rest[: len(each)] = memoryview(each).cast("B")  # fails if it is longer
                    rest = rest[len(each) :]
                    lengths.append(len(each))
                end.send_bytes(lengths)
        status = 0
    finally:
        os._exit(status)  # silently: the caller finds the problem


def _line(whole: mmap.mmap, start: int) -> int:
    """Return the first beginning of a line at or after `start`."""
    if start == 0:
        return 0
    newline = whole.find(b"\n", start - 1)
    return newline + 1 if newline >= 0 else len(whole)


def _end(process: Any, end: Connection, part: Path) -> None:
    end.close()
    process.kill()
    process.join()
    part.unlink(missing_ok=True)
