"""Processes that make the rows of one large JSON Lines file, in the order of its lines."""

import mmap
import multiprocessing
import os
import sys
from array import array
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import ExitStack
from itertools import accumulate, pairwise
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pyarrow as pa

from parley.errors import Problem, ScriptError
from parley.rows.arrow import to_batches
from parley.rows.generate import keyed_rows
from parley.rows.reader import Reader
from parley.source.files import Source

PART = 1 << 20  # bytes of whole lines, more or less, that a process makes into rows at once
SLOT = 16 * PART  # bytes that the rows of a part may take
SLOTS = 6  # of each process, which so goes on while another has the processor
LEAST = 4  # parts of a file; with less it is not worth the while
LONGEST = 60  # seconds that a part may take; some hundredths are usual. A fork can hang on a lock.


class Lost(Exception):
    """A process ended before it had made all its parts, or hangs."""


def shareable(source: Source, config: str, split: str) -> bool:
    """Tell whether processes may share the lines of a split's file out, and are worth the while.

    Raises:
        ScriptError: the script says so of a config that is not made from one file alone.
    """
    if config not in getattr(source.dataset.module, "BY_LINE", ()) or sys.platform != "linux":
        return False  # elsewhere it is not safe to fork a process that has threads
    paths = source.paths(config, split)
    if len(paths) != 1:
        problem = Problem(f"BY_LINE: {config}/{split}", "one file", ", ".join(paths))
        raise ScriptError(f"{source.dataset.name}.py", problem)
    try:
        return os.path.getsize(*paths.values()) > LEAST * PART
    except OSError:  # which one process then meets too, and names
        return False


def shared_batches(
    source: Source,
    config: str,
    split: str,
    schema: pa.Schema,
    folder: Path,
    workers: int,
    keys: "array[int]",
) -> Generator[pa.RecordBatch, None, None]:
    """Yield the rows of a split, made by other processes from parts of its one file.

    Args:
        source: The upstream files.
        config: The config.
        split: The split.
        schema: The Arrow schema of the rows.
        folder: Where each process may write the lines it is at.
        workers: How many processes.
        keys: Takes the hash of each row's key.

    Raises:
        Lost: a process failed; in one process alone the build names what is wrong.
    """
    module = source.dataset.module
    ((name, path),) = source.paths(config, split).items()

    def make(part: Path) -> Iterator[Any]:
        hashes = array("q")
        paths = {name: str(part)}
        reader = Reader(source.folder, module)  # the file of the last part was at the same place

        def rows() -> Iterator[Any]:
            for key, row in keyed_rows(module, config, paths, reader):
                hashes.append(hash(key))
                yield row

        for batch in to_batches(rows(), schema):
            yield batch.serialize()
        reader.require_ended(paths.values())
        yield hashes.tobytes()

    for *made, hashes in share(Path(path), workers, make, folder):
        keys.frombytes(hashes)
        for batch in made:
            yield pa.ipc.read_record_batch(pa.py_buffer(bytes(batch)), schema)


def share(
    path: Path, workers: int, make: Callable[[Path], Iterable[Any]], folder: Path
) -> Iterator[list[memoryview]]:
    """Yield what `make` yields for each part of a file, in the order of its lines.

    The processes are forks, and each makes every n-th part. They hand it over in memory that they
    share with this one, and end with the generator, or when this process has ended.

    Args:
        path: A file of lines.
        workers: How many processes.
        make: Called in one of them with a file of a part's lines; yields objects of bytes.
        folder: Where these files are written.

    Yields:
        The objects of one part, which are overwritten once the next is asked for.

    Raises:
        Lost: a process failed.
    """
    fork = multiprocessing.get_context("fork")
    ends: list[tuple[Connection, memoryview]] = []
    with ExitStack() as last:
        try:
            with path.open("rb") as file:  # opened once, so that all have the same file
                source = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            starts = range(0, len(source), PART)
            workers = min(workers, len(starts))
            for number in range(workers):
                memory = memoryview(mmap.mmap(-1, SLOTS * SLOT))
                ours, theirs = fork.Pipe()
                part = folder / f".{number}.{path.name}"
                # A fork has our ends too, and would never see that they close.
                not_its = [ours, *(end for end, _ in ends)]
                arguments = (source, starts[number::workers], part, make, theirs, memory, not_its)
                process = fork.Process(target=_work, args=arguments, daemon=True)
                process.start()
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
    source: mmap.mmap,
    starts: range,
    part: Path,
    make: Callable[[Path], Iterable[Any]],
    end: Connection,
    memory: memoryview,
    not_its: list[Connection],
) -> None:
    """Make the parts that begin at these bytes of a file, in a process of its own."""
    status = 1
    try:
        os.nice(2)  # the caller, which writes what all of them make, goes first
        for other in not_its:
            other.close()
        # One file and one mapping for all parts: memory that comes and goes costs time.
        with part.open("wb", buffering=0) as given:
            for number, start in enumerate(starts):
                first, last = _line(source, start), _line(source, start + PART)
                given.seek(0)
                given.write(memoryview(source)[first:last])
                given.truncate()
                if number >= SLOTS:
                    end.recv_bytes()
                slot = number % SLOTS * SLOT
                rest = memory[slot : slot + SLOT]
                lengths = array("q")
                for each in make(part) if first < last else ():
                    rest[: len(each)] = memoryview(each).cast("B")  # fails where it is longer
                    rest = rest[len(each) :]
                    lengths.append(len(each))
                end.send_bytes(lengths)
        status = 0
    finally:
        os._exit(status)  # without a word: the caller finds out what is wrong


def _line(source: mmap.mmap, start: int) -> int:
    """Return where the first line begins that does so at `start` or after it."""
    if start == 0:
        return 0
    newline = source.find(b"\n", start - 1)
    return newline + 1 if newline >= 0 else len(source)


def _end(process: Any, end: Connection, part: Path) -> None:
    end.close()
    process.kill()
    process.join()
    part.unlink(missing_ok=True)
