"""Part files: written by one process at a time, then moved to their final name."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


def part_of(path: Path) -> Path:
    """Return the path of the part file or folder of a file or folder."""
    return path.with_name(f"{path.name}.parley-part")


@contextmanager
def open_part(path: Path) -> Iterator[BinaryIO]:
    """Open a file that is no link, to append to it locked; remove it afterwards if it is empty."""
    while True:
        with open(path, "a+b", opener=lambda p, f: os.open(p, f | os.O_NOFOLLOW, 0o666)) as part:
            fcntl.flock(part, fcntl.LOCK_EX)
            if not _is_at(part, path):  # its last holder moved or removed it
                continue
            try:
                yield part
            finally:
                if _is_at(part, path) and not part.seek(0, os.SEEK_END):
                    path.unlink()
            return


def _is_at(file: BinaryIO, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False
