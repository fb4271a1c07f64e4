"""Run a coroutine so that a signal ends it between two steps of the event loop.

A handler that raises within the event loop may lose a step of a task, or become a traceback.
"""

import asyncio
import signal
from collections.abc import Callable, Coroutine
from threading import current_thread, main_thread
from typing import Any

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def run(work: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine to its end, or cancel it at a signal and call the signal's handler then.

    KeyboardInterrupt if the handler returns. A second Ctrl-C ends the process at once.
    """
    came: list[int] = []
    cancel: list[Callable[[], Any]] = []

    def note(signum: int, frame: object) -> None:
        if signal.SIGINT in handled:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
        came.append(signum)
        if len(came) == 1 and cancel:
            cancel[0]()

    async def whole() -> None:
        task, loop = asyncio.current_task(), asyncio.get_running_loop()
        assert task is not None  # noqa: S101 - for types
        cancel.append(lambda: loop.call_soon_threadsafe(task.cancel))
        if came:
            work.close()
        else:
            await work

    in_main = current_thread() is main_thread()  # only there, Python takes handlers
    handled = [each for each in _ENDING if in_main and callable(signal.getsignal(each))]
    before = {each: signal.signal(each, note) for each in handled}
    try:
        asyncio.run(whole())
    except asyncio.CancelledError:
        if not came:
            raise
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
    if came:
        signal.raise_signal(came[0])
        raise KeyboardInterrupt  # the handler returned, but the work is not done
