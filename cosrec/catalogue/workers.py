"""Worker processes for blocks of lines.

They are forks of the process that reads the files, and end with it. Blocks are in shared memory.
"""

import gc
import mmap
import multiprocessing
import os
import pickle
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from multiprocessing.connection import Connection, wait
from typing import Any

from parley import ParleyError

_SLOTS = 2  # blocks a process: it works on one while the next is copied
_STRANDED = 600  # seconds without an answer; a block takes less than one


class Workers:
    """A pool of processes that call a function.

    Args:
        count: Number of processes; with 0, or outside Linux, this process calls it.
        work: Called with a job and a block of bytes; its result or error is pickled.
        longest: Bytes of a block.
    """

    def __init__(self, count: int, work: Callable[[Any, bytes], Any], longest: int) -> None:
        self._work = work
        self._stack = ExitStack()
        self._ends: list[Connection] = []
        self._memory: list[mmap.mmap] = []
        gc.freeze()  # otherwise a collection in a fork copies the shared memory
        # forking is not safe elsewhere in a process that has threads
        for _ in range(count if sys.platform == "linux" else 0):
            self._start(longest)
        gc.unfreeze()  # DuckDB reports objects that are not collected at its end

    def close(self) -> None:
        """End the processes."""
        self._stack.close()

    def _start(self, longest: int) -> None:
        fork = multiprocessing.get_context("fork")
        memory = mmap.mmap(-1, _SLOTS * longest)  # untouched pages take no memory
        ours, theirs = fork.Pipe()
        # A fork inherits our ends, and would not see them close.
        process = fork.Process(
            target=self._serve, args=(theirs, memory, [ours, *self._ends]), daemon=True
        )
        process.start()
        theirs.close()
        self._stack.callback(_end, process, ours)
        self._ends.append(ours)
        self._memory.append(memory)

    def _serve(self, end: Connection, memory: mmap.mmap, not_its: list[Connection]) -> None:
        for other in not_its:
            other.close()
        slot = len(memory) // _SLOTS
        try:
            while True:
                number, size, job = end.recv()
                start = number * slot
                try:
                    answer = self._work(job, memory[start : start + size])
                except Exception as error:
                    answer = error
                end.send_bytes(pickle.dumps((number, answer)))
        except (EOFError, OSError, KeyboardInterrupt):  # the other side has ended
            pass
        finally:
            os._exit(0)

    def map(self, jobs: Iterable[tuple[Any, bytes]]) -> Iterator[Any]:
        """Yield the result of the function for each job and its block, in any order.

        Raises:
            ParleyError: a process ended, for example because memory ran out.
            Exception: any error of the function.
        """
        if not self._ends:
            for job, block in jobs:
                yield self._work(job, block)
            return
        free = [(index, slot) for slot in range(_SLOTS) for index in range(len(self._ends))]
        busy = 0
        for job, block in jobs:
            while not free:
                busy -= 1
                slot, answer = self._answer()
                free.append(slot)
                yield answer
            index, number = free.pop(0)
            memory = self._memory[index]
            start = number * (len(memory) // _SLOTS)
            memory[start : start + len(block)] = block
            try:
                self._ends[index].send((number, len(block), job))
            except OSError:
                raise _lost() from None
            busy += 1
        for _ in range(busy):
            yield self._answer()[1]

    def _answer(self) -> tuple[tuple[int, int], Any]:
        ready = wait(self._ends, _STRANDED)
        if not ready:
            raise _lost()
        end = next(end for end in self._ends if end in ready)
        try:
            number, answer = pickle.loads(end.recv_bytes())  # noqa: S301
        except (EOFError, OSError):
            raise _lost() from None
        if isinstance(answer, Exception):
            raise answer
        return (self._ends.index(end), number), answer


def _lost() -> ParleyError:
    return ParleyError(
        "a process ended or hangs, perhaps for lack of memory",
        remedy="Run it again with fewer --workers.",
    )


def _end(process: Any, end: Connection) -> None:
    end.close()
    process.kill()
    process.join()
