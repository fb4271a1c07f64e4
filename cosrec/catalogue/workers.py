"""Worker processes for blocks of lines: forks of the process that reads the files."""

import gc
import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from parley import ParleyError

Work = Callable[[Any, bytes], Any]
_AHEAD = 2  # blocks a process: it works on one while the next is copied
_work: Work  # of a worker process


class Workers:
    """A pool of processes that call a function.

    Args:
        count: Number of processes; with 0, or outside Linux, this process calls it.
        work: Called with a job and a block of bytes; its result or error is pickled.
    """

    def __init__(self, count: int, work: Work) -> None:
        self._work = work
        self._pool: ProcessPoolExecutor | None = None
        self._most = _AHEAD * count
        if count and sys.platform == "linux":  # elsewhere it is not safe to fork with threads
            fork = multiprocessing.get_context("fork")
            self._pool = ProcessPoolExecutor(count, fork, _begin, (work,))
            self._pool.submit(int).result()  # forks all, before there are other threads

    def close(self) -> None:
        """End the processes."""
        if self._pool:
            self._pool.shutdown()

    def map(self, jobs: Iterable[tuple[Any, bytes]]) -> Iterator[Any]:
        """Yield the result of the function for each job and its block, in their order.

        Raises:
            ParleyError: a process ended, for example because memory ran out.
            Exception: any error of the function.
        """
        if not self._pool:
            for job, block in jobs:
                yield self._work(job, block)
            return
        begun: deque[Future[Any]] = deque()
        try:
            for job, block in jobs:
                begun.append(self._pool.submit(_call, job, block))
                if len(begun) == self._most:
                    yield begun.popleft().result()
            while begun:
                yield begun.popleft().result()
        except BrokenProcessPool:
            raise ParleyError(
                "a process ended, perhaps for lack of memory",
                remedy="Run it again with fewer --workers.",
            ) from None
        finally:
            wait(each for each in begun if not each.cancel())


def _begin(work: Work) -> None:
    global _work
    _work = work
    gc.disable()  # records have no cycles, and a collection copies the memory that forks share
    for signum in (signal.SIGINT, signal.SIGHUP):  # the process that forked it ends it
        signal.signal(signum, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    if parent := multiprocessing.parent_process():
        parent.join()
    os._exit(1)


def _call(job: Any, block: bytes) -> Any:
    return _work(job, block)
