"""Find the raw files, and read them in blocks of whole lines.

Each host's layout works: `meta_<C>.jsonl[.gz]` in a folder `meta*` and `<C>.jsonl[.gz]` in a
folder `review*`, both in the given folder or in `raw/` below it.
"""

import gzip
import hashlib
import io
import os
import re
import zlib
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from parley.base.errors import Problem, SourceError, UsageError

GzipFile: Any = gzip.GzipFile
Damaged: Any = zlib.error
with suppress(ImportError):
    from isal import igzip, isal_zlib

    GzipFile, Damaged = igzip.IGzipFile, isal_zlib.error  # twice as fast

BLOCK = 2 << 20  # bytes of a block, about
LONGEST = 64 << 20  # most bytes of a line
_CHUNK = 1 << 20


@dataclass(frozen=True)
class Category:
    """A category, and its two raw files by the table that they make: products and reviews."""

    name: str
    files: dict[str, Path]


def find_categories(folder: Path, wanted: Iterable[str]) -> tuple[list[Category], list[str]]:
    """Return the categories with both files, of those wanted if named; the names with only one.

    Raises:
        UsageError: no such folders or files, or a file exists both plain and as gzip.
    """
    roots = [root for root in (folder, folder / "raw") if root.is_dir()]
    metas = [path for root in roots for path in sorted(root.glob("meta*")) if path.is_dir()]
    others = [path for root in roots for path in sorted(root.glob("review*")) if path.is_dir()]
    if len(metas) != 1 or len(others) != 1:
        found = ", ".join(path.name for path in metas + others) or "neither"
        raise UsageError("", Problem(str(folder), "one folder meta* and one folder review*", found))
    products, reviews = _by_category(metas[0], "meta_"), _by_category(others[0], "")
    both = sorted(products.keys() & reviews.keys())
    if lacking := sorted(set(wanted) - set(both)):
        raise UsageError(
            f"{folder}: lacks a file of {', '.join(lacking)}; "
            f"complete are: {', '.join(both) or 'none'}"
        )
    if not both:
        raise UsageError(f"{folder}: no category has both meta_<C>.jsonl[.gz] and <C>.jsonl[.gz]")
    chosen = [
        Category(name, {"products": products[name], "reviews": reviews[name]})
        for name in both
        if name in set(wanted or both)
    ]
    return chosen, sorted(products.keys() ^ reviews.keys())


def _by_category(folder: Path, prefix: str) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for path in sorted(folder.iterdir()):
        if match := re.fullmatch(rf"{prefix}(.*)\.jsonl(\.gz)?", path.name, re.DOTALL):
            if other := found.get(match[1]):
                what = f"{path} and {other.name} both exist"
                raise UsageError(what, remedy="Keep one of them.")
            found[match[1]] = path
    return found


class RawFile:
    """A raw file, read once from beginning to end; gzip if its name ends in `.gz`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._hash = hashlib.sha256()
        self._size = 0

    def blocks(self) -> Iterator[bytes]:
        """Yield blocks of whole lines, read ahead in a thread.

        Raises:
            SourceError: unreadable, damaged, changed meanwhile, or with a line over 64 MB.
        """
        return _ahead(self._lines())

    def pin(self) -> dict[str, Any]:
        """Return size and sha256 of the file, after reading."""
        return {"size": self._size, "sha256": self._hash.hexdigest()}

    def _lines(self) -> Iterator[bytes]:
        rest: list[bytes] = []
        gathered = 0
        for data in self.chunks(inflated=self.path.suffix == ".gz"):
            rest.append(data)
            gathered += len(data)
            if gathered >= BLOCK and (end := data.rfind(b"\n") + 1):
                rest[-1] = data[:end]
                yield b"".join(rest)
                rest = [data[end:]]
                gathered = len(rest[0])
            if gathered > LONGEST:
                raise SourceError(f"{self.path}: has a line of more than {LONGEST >> 20} MB")
        if gathered:
            yield b"".join(rest)

    def chunks(self, inflated: bool) -> Iterator[bytes]:
        """Yield the bytes of the file, or of what is in a gzip file."""
        try:
            with self.path.open("rb", buffering=0) as file:
                before = _state(os.fstat(file.fileno()))
                hashed = _Hashed(file, self._hash)
                source: Any = GzipFile(mode="rb", fileobj=hashed) if inflated else hashed
                while data := source.read(_CHUNK):
                    yield data
                if {before} != {_state(os.fstat(file.fileno())), _state(self.path.stat())}:
                    raise changed(self.path)
                self._size = file.tell()
        except (EOFError, Damaged, gzip.BadGzipFile) as error:
            raise SourceError(
                f"{self.path}: is damaged, no valid gzip: {error}", remedy="Download it again."
            ) from error
        except OSError as error:
            raise SourceError(f"{self.path}: cannot be read: {error.strerror or error}") from error


class _Hashed(io.RawIOBase):
    """A file whose bytes are hashed as they are read."""

    def __init__(self, file: io.FileIO, hash: Any) -> None:
        self._file, self._hash = file, hash

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        size = self._file.readinto(buffer)
        self._hash.update(memoryview(buffer)[:size])
        return size


def changed(path: Path) -> SourceError:
    """Return the error for a file that changed while it was read."""
    return SourceError(f"{path}: was changed while it was read", remedy="Run it again.")


def _state(status: os.stat_result) -> tuple[int, ...]:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def _ahead(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the blocks; a thread prepares the next one."""
    with ThreadPoolExecutor(1) as thread:
        following = thread.submit(next, blocks, b"")
        while block := following.result():
            following = thread.submit(next, blocks, b"")
            yield block


def hash_file(path: Path) -> dict[str, Any]:
    """Return size and sha256 of a file.

    Raises:
        SourceError: unreadable, or changed meanwhile.
    """
    file = RawFile(path)
    for _ in file.chunks(inflated=False):
        pass
    return file.pin()
