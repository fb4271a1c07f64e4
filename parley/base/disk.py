"""Regular files opened, gzip, part files of downloads, and the folder of the cache."""

import errno
import gzip
import os
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, BinaryIO

import orjson

from parley.base.errors import OutputError, UsageError


def open_regular(path: Path, *, links: bool = True) -> BinaryIO:
    """Open a file to read; OSError if it is no regular one or, without `links`, a link."""
    flags = os.O_NONBLOCK | (0 if links else os.O_NOFOLLOW)
    handle = os.open(path, os.O_RDONLY | flags)
    if stat.S_ISREG(os.fstat(handle).st_mode):
        return open(handle, "rb")
    os.close(handle)
    raise OSError(errno.EINVAL, "not a regular file", str(path))


def read_regular(path: Path) -> bytes:
    """Return the bytes of a file, as `open_regular` opens it."""
    with open_regular(path) as file:
        return file.read()


MOST_BYTES = 128_000_000
"""The most bytes of a user's file, decompressed; memory grows with what it holds."""
DAMAGED_GZIP = (EOFError, gzip.BadGzipFile, zlib.error)
"""What reading damaged gzip data raises."""


def unpacked(opened: BinaryIO) -> IO[bytes]:
    """Return an open file, decompressed if its first bytes are those of gzip."""
    is_gzip = opened.peek(2).startswith(b"\x1f\x8b")  # type: ignore[attr-defined]
    return gzip.GzipFile(fileobj=opened) if is_gzip else opened  # type: ignore[return-value]


def part_of(path: Path) -> Path:
    """Return the path of the part file or folder of a file or folder."""
    return path.with_name(f"{path.name}.parley-part")


@contextmanager
def open_part(path: Path) -> Iterator[BinaryIO]:
    """Open a file that is no link, to append to it locked; remove it afterwards if it is empty."""
    import fcntl  # not at the top: Windows lacks it, and lists datasets all the same

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


def cache_folder() -> Path:
    """Return the folder for fetched files: `PARLEY_CACHE`, or `parley` in the user's cache."""
    if path := os.environ.get("PARLEY_CACHE"):
        require_outside_builds(Path(path, "NAME"))
        return Path(path)
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "parley")
    except RuntimeError:
        what = "no folder for fetched files: this user has no home folder"
        raise UsageError(what, remedy="Set PARLEY_CACHE to a folder.") from None


def require_outside_builds(path: Path) -> None:
    """Raise OutputError if a build holds a path: it would be damaged by what is written there."""
    for folder in Path(os.path.realpath(path)).parents:
        provenance = folder / "provenance.json"
        if not provenance.is_file():
            continue
        try:
            content = orjson.loads(provenance.read_bytes())
        except (OSError, ValueError):  # another program's
            continue
        if isinstance(content, dict) and {"dataset", "configs"} <= content.keys():
            what = f"is in the build {folder}, which would no longer verify"
            raise OutputError(f"{path}: {what}", remedy="Choose another folder.")
