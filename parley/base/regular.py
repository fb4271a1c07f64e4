"""Open regular files alone: a pipe would wait for a writer, and a device may never end."""

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO


def open_regular(path: Path, *, links: bool = True, buffering: int = -1) -> BinaryIO:
    """Open a file to read; OSError if it is no regular one or, without `links`, a link."""
    flags = os.O_NONBLOCK | (0 if links else os.O_NOFOLLOW)
    handle = os.open(path, os.O_RDONLY | flags)
    if stat.S_ISREG(os.fstat(handle).st_mode):
        return open(handle, "rb", buffering)
    os.close(handle)
    raise OSError(errno.EINVAL, "not a regular file", str(path))


def read_regular(path: Path, *, links: bool = True) -> bytes:
    """Return the bytes of a file, as `open_regular` opens it."""
    with open_regular(path, links=links) as file:
        return file.read()
