"""The process of the command line: signals, and errors as messages with an exit status."""

import io
import os
import select
import signal
import sys
import time
import traceback
from _thread import start_new_thread  # takes no lock, which who is interrupted may hold
from contextlib import suppress
from importlib.machinery import ExtensionFileLoader
from types import FrameType
from typing import Any

import typer

from parley.base.errors import NO_MEMORY, Interrupted, ParleyError, is_no_memory, shorten, words_of
from parley.base.extras import lacking
from parley.cli.commands import app


def main() -> None:
    """Run the command line; an error is one message and an exit status, never a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # escape text that a terminal cannot show
            stream.reconfigure(errors="backslashreplace")
    # Processes that other packages start must not import code from the current folder.
    os.environ.setdefault("PYTHONSAFEPATH", "1")
    for number in _ENDING:
        if number == signal.SIGINT or signal.getsignal(number) != signal.SIG_IGN:  # as under nohup
            signal.signal(number, _interrupt)
    sys.unraisablehook = _interrupt_again
    try:
        status = app(standalone_mode=False) or 0
        if status == _INTERRUPTED and _received:  # the command line library makes a status of it
            raise Interrupted(_received[-1])
        sys.exit(status)
    except SystemExit:
        raise
    except BaseException as error:  # the one place where failures become messages
        causes = (error, error.__cause__)  # Python before 3.12 wraps an interruption in another
        if interrupted := next((e for e in causes if isinstance(e, Interrupted)), None):
            with suppress(OSError):  # a closed terminal takes no text
                typer.echo(_MESSAGE, err=True)
            sys.exit(128 + interrupted.signum)
        is_usage = hasattr(error, "show")  # an error of the command line library
        if os.environ.get("PARLEY_TRACEBACK") and not is_usage:
            raise
        failure = as_failure(error)
        try:
            from parley.base.console import print_message  # imported late: help must be quick

            print_message(str(failure), style="" if is_usage else "red")
        except Exception as again:
            if not is_no_memory(again):
                raise
            typer.echo(NO_MEMORY, err=True)
        sys.exit(failure.status)
    finally:
        for number in _ENDING:
            if signal.getsignal(number) == _interrupt:
                signal.signal(number, signal.SIG_DFL)


def as_failure(error: BaseException) -> ParleyError:
    """Return the error to show for an exception that reached the command line."""
    if any(map(is_no_memory, getattr(error, "errors", (error,)))):
        traceback.clear_frames(error.__traceback__)  # they hold the objects that filled the memory
        return ParleyError(NO_MEMORY)
    if isinstance(error, ParleyError):
        return error
    if show := getattr(error, "show", None):
        show(file=(text := io.StringIO()))
        failure = ParleyError(text.getvalue().rstrip("\n"))
        failure.status = getattr(error, "exit_code", 2)
        return failure
    if isinstance(error, BrokenPipeError):
        return ParleyError("output pipe closed")
    if isinstance(error, OSError):
        place = f"{shorten(error.filename, 200)}: " if isinstance(error.filename, str) else ""
        return ParleyError(f"{place}{error.strerror or error}")
    if isinstance(error, ModuleNotFoundError):
        package = (error.name or "").partition(".")[0]
        if package in ("fcntl", "resource"):
            return ParleyError("parley runs on Linux and macOS; on Windows, use it in WSL")
        if found := lacking(error):
            return found
    remedy = "Please report it, with the output of the same command after PARLEY_TRACEBACK=1."
    return ParleyError(f"internal error: {words_of(error)}", remedy=remedy)


_ENDING = [getattr(signal, n) for n in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, n)]
_INTERRUPTED = 128 + signal.SIGINT
_MESSAGE = "interrupted; the same command again does what is left"
_PATIENCE = 2  # seconds for a command to end tidily
_received: list[int] = []
_IMPORTING = [  # what runs while a library in C is imported
    getattr(ExtensionFileLoader, name).__code__ for name in ("create_module", "exec_module")
]


def _interrupt(signum: int, frame: FrameType | None) -> None:
    """End the command tidily, or after `_PATIENCE` anyhow; a second Ctrl-C ends it at once.

    A library in C that is being imported may abort, or drop the exception: it is imported first.
    """
    if not _received:
        start_new_thread(_end, (signum,))
    _received.append(signum)
    if any(each.f_code in _IMPORTING for each, _ in traceback.walk_stack(frame)):
        start_new_thread(_send_again, (signum,))
        return
    for number in _ENDING:
        if signal.getsignal(number) == _interrupt:
            next_time = signal.SIG_DFL if number == signal.SIGINT else signal.SIG_IGN
            signal.signal(number, next_time)
    raise Interrupted(signum)


def _end(signum: int) -> None:
    """End the process after a while: a library may wait for a pipe, a server or its own threads."""
    time.sleep(_PATIENCE)
    with suppress(OSError, ValueError):  # a pipe that is full or closed takes no text
        if select.select([], [2], [], 0)[1]:
            os.write(2, f"{_MESSAGE}\n".encode())
    os._exit(128 + signum)


def _interrupt_again(lost: Any) -> None:
    """Send an interrupt again if Python dropped it in a callback."""
    if not isinstance(lost.exc_value, Interrupted):
        sys.__unraisablehook__(lost)
        return
    signum = lost.exc_value.signum
    signal.signal(signum, _interrupt)
    start_new_thread(_send_again, (signum,))


def _send_again(signum: int) -> None:
    time.sleep(0.01)
    os.kill(os.getpid(), signum)
