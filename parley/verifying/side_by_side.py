"""Calls a function for several jobs in subprocesses that end with this process.

A process runs this file by its path: with `-c` or `-m`, as `multiprocessing` does, Python would
import modules from the current folder, which is untrusted. A fork of a process with pyarrow's
threads may hang on a lock.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from multiprocessing.connection import Connection, Pipe, wait
from queue import SimpleQueue
from threading import Thread, current_thread, main_thread
from typing import Any


class Lost:
    """Stands for the result of a job whose process died."""


def side_by_side(
    function: Callable[..., Any],
    jobs: Sequence[tuple[Any, ...]],
    count: int,
    on_word: Callable[..., None],
) -> Generator[Any, None, None]:
    """Yield the result of a function for each job, in their order; `Lost` if its process died.

    `function` takes the arguments of a job, and a function that sends words to `on_word` here. It,
    its arguments and its results are pickled. `count` is the number of processes.
    """
    left, busy, results = list(enumerate(jobs)), dict[Connection, int](), dict[int, Any]()
    with ExitStack() as last:

        def hand_on(end: Connection | None = None) -> None:
            """Give the next job, if any, to an idle or new process."""
            if left:
                end = end or _start(last)
                busy[end], job = left.pop(0)
                with suppress(OSError):  # it died, as the next answer will show
                    end.send((function, job))

        for _ in range(count):
            hand_on()
        for number in range(len(jobs)):
            while number not in results:
                ready = wait(list(busy))
                for end in [each for each in busy if each in ready]:
                    try:
                        is_last, answer = end.recv()
                    except (EOFError, OSError):
                        results[busy.pop(end)] = Lost()
                        hand_on()
                        continue
                    if is_last:
                        results[busy.pop(end)] = answer
                        hand_on(end)
                    else:
                        on_word(*answer)
            yield results.pop(number)


def _start(last: ExitStack) -> Connection:
    """Start a process that ends with this stack, and return the connection."""
    ours, theirs = Pipe()
    command = [sys.executable, __file__, str(theirs.fileno())]
    with theirs, _ignoring_interrupts():  # which it inherits: Ctrl-C is for this process
        process = subprocess.Popen(  # noqa: S603
            command, stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()]
        )

    def end() -> None:
        ours.close()
        process.kill()
        process.wait()

    last.callback(end)
    with suppress(OSError):
        ours.send(sys.path)
    return ours


@contextmanager
def _ignoring_interrupts() -> Iterator[None]:
    if current_thread() is not main_thread():
        yield
        return
    usual = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)


def _work(end: Connection) -> None:
    """Run the received jobs."""
    sys.path[:] = end.recv()
    jobs: SimpleQueue[Any] = SimpleQueue()

    def receive() -> None:
        try:
            while True:
                jobs.put(end.recv())
        finally:  # the caller has ended
            os._exit(1)

    Thread(target=receive, daemon=True).start()
    while True:
        function, arguments = jobs.get()
        result = function(*arguments, lambda *word: end.send((False, word)))
        end.send((True, result))


if __name__ == "__main__":
    with suppress(EOFError, OSError):
        _work(Connection(int(sys.argv[1])))
