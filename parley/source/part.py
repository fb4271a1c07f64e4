"""The file beside a final one that is written first, by one process at a time."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def open_part(path: Path) -> Iterator[BinaryIO]:
    """Open a file, alone, at its end; it is made if need be. Afterwards an empty one is removed.

    Its holder may move or remove it. Another process that opens it waits, and then has a file of
    its own. No link is followed.

    Raises:
        OSError: it cannot be opened or locked.
    """
    while True:
        with open(path, "a+b", opener=_open) as part:
            fcntl.flock(part, fcntl.LOCK_EX)
            if not _is_at(part, path):  # its last holder moved or removed it
                continue
            try:
                yield part
            finally:
                if _is_at(part, path) and not part.seek(0, os.SEEK_END):
                    path.unlink()
            return


def _open(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW, 0o666)


def _is_at(file: BinaryIO, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False
