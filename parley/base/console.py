"""Print text, JSON and progress; control characters in a text are escaped."""

import json
import logging
import math
import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console, RenderableType
from rich.filesize import decimal
from rich.text import Text

from parley.base.secret import without_secrets

_EVERY = 10  # seconds between two lines of progress in a log
WIDEST = 100_000  # columns without a terminal: nothing is cut or wrapped

_AS_IT_IS: dict[str, Any] = {"highlight": False, "markup": False, "emoji": False}  # text is text
size = decimal  # a number of bytes for people: 4,300,019 is "4.3 MB"
out = Console(**_AS_IT_IS)
err = Console(stderr=True, **_AS_IT_IS)


def print_output(renderable: RenderableType) -> None:
    """Print to standard output, fitted to the width of a terminal; a pipe gets whole lines."""
    if out.is_terminal:
        out.print(renderable, crop=False)
        return
    wide = Console(width=WIDEST, color_system=None, **_AS_IT_IS)
    with wide.capture() as text:
        wide.print(renderable)
    for line in text.get().splitlines():
        out.file.write(line.rstrip() + "\n")


def print_message(text: str, style: str = "") -> None:
    """Print a message to standard error without wrapping."""
    err.print(plain(text), style=style or None, soft_wrap=True)


def print_logs(*names: str) -> None:
    """Print the logs of libraries and Python's warnings as messages: they may quote servers."""

    class Messages(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            print_message(record.getMessage())

    logging.captureWarnings(True)
    for name in (*names, "py.warnings"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [Messages()], False  # a handler above prints them raw


# C0 and C1 controls but newline; bidirectional and zero-width controls, which can reorder or
# hide text (joiners stay: emoji and several scripts need them)
_CONTROLS = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069"
    "\ufeff\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e007f]"
)


def plain(text: str) -> str:
    r"""Return text with each control character shown as an escape, `\\x1b`, and no secret in it."""
    text = without_secrets(text)
    return _CONTROLS.sub(lambda m: m[0].encode("unicode_escape").decode("ascii"), text)


def safe(text: str = "", style: str = "", **how: Any) -> Text:
    """Return a text to print, each control character an escape; nothing else makes a `Text`."""
    return Text(plain(text), style, **how)


def to_json(value: Any) -> str:
    """Return indented JSON without secrets, and escapes of control and perhaps other characters."""
    value = _finite(value)
    ascii = not (getattr(sys.stdout, "encoding", None) or "").lower().startswith("utf")
    text = json.dumps(value, indent=2, ensure_ascii=ascii, default=str, allow_nan=False)
    return _CONTROLS.sub(lambda m: json.dumps(m[0])[1:-1], without_secrets(text))


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, dict):
        return {_finite(key): _finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    return value


@contextmanager
def progress(unit: str = "") -> Iterator[Callable[..., None]]:
    """Show progress; yield a function of (name, amount done so far or text, total or None)."""

    def text(amount: int | str) -> str:
        if isinstance(amount, str):
            return amount
        return size(amount) if unit == "bytes" else f"{amount:,} {unit}"

    if not err.is_terminal:
        last_time, last_line = time.monotonic(), ""

        def log(name: str, amount: int | str, total: int | None = None) -> None:
            nonlocal last_time, last_line
            line = f"{name}: {text(amount)}"
            is_late = time.monotonic() - last_time > _EVERY
            if is_late or (unit == "bytes" and isinstance(amount, str) and line != last_line):
                last_time, last_line = time.monotonic(), line
                print_message(line)

        yield log
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[amount]}", markup=False),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=err, transient=True) as bars:
        tasks = {}

        def advance(name: str, amount: int | str, total: int | None = None) -> None:
            if name not in tasks:
                tasks[name] = bars.add_task(plain(name), total=total, amount="")
            done = None if isinstance(amount, str) else amount
            bars.update(tasks[name], completed=done, total=total, amount=plain(text(amount)))

        yield advance
