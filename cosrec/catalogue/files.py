"""Find the raw files, and read them in blocks of whole lines.

Each host's layout works: `meta_<C>.jsonl[.gz]` in a folder `meta*` and `<C>.jsonl[.gz]` in a
folder `review*`, both in the given folder or in `raw/` below it.
"""

import gzip
import hashlib
import re
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event
from typing import Any

from parley import Problem, SourceError, UsageError

GzipFile: Any = gzip.GzipFile
Damaged: Any = zlib.error
with suppress(ImportError):
    from isal import igzip, isal_zlib

    GzipFile, Damaged = igzip.IGzipFile, isal_zlib.error  # twice as fast

BLOCK = 2 << 20  # bytes of a block, about
LONGEST = 64 << 20  # most bytes of a line
_CHUNK = 1 << 20

Files = dict[str, Path]  # of a category, by the table that they make: products and reviews


def find_categories(folder: Path, wanted: Iterable[str]) -> tuple[dict[str, Files], list[str]]:
    """Return the categories with both files, of those wanted if named; the names with only one."""
    found: dict[str, Files] = {}  # table -> category -> file
    for table, place, prefix in (("products", "meta*", "meta_"), ("reviews", "review*", "")):
        places = (*folder.glob(place), *folder.glob(f"raw/{place}"))
        folders = [path for path in places if path.is_dir()]
        if len(folders) != 1:
            names = ", ".join(path.name for path in folders) or "none"
            raise UsageError("", Problem(str(folder), f"one folder {place}", names))
        found[table] = _by_category(folders[0], prefix)
    products, reviews = found.values()
    both = sorted(products.keys() & reviews.keys())
    if lacking := sorted(set(wanted) - set(both)):
        what = f"{folder}: lacks a file of {', '.join(lacking)}"
        raise UsageError(f"{what}; complete are: {', '.join(both) or 'none'}")
    if not both:
        raise UsageError(f"{folder}: no category has both meta_<C>.jsonl[.gz] and <C>.jsonl[.gz]")
    chosen = [name for name in both if name in set(wanted or both)]
    files = {name: {table: paths[name] for table, paths in found.items()} for name in chosen}
    return files, sorted(products.keys() ^ reviews.keys())


def _by_category(folder: Path, prefix: str) -> Files:
    found: Files = {}
    for path in sorted(folder.iterdir()):
        if match := re.fullmatch(rf"{prefix}(.*)\.jsonl(\.gz)?", path.name, re.DOTALL):
            if not re.fullmatch(r"\w+(\.\w+)*", match[1]):
                what = f"{path}: {match[1]!r} cannot be the name of a split"
                raise UsageError(what, remedy="Rename it with letters, digits, _ and .")
            if other := found.get(match[1]):
                what = f"{path} and {other.name} both exist"
                raise UsageError(what, remedy="Keep one of them.")
            found[match[1]] = path
    return found


@contextmanager
def opened(path: Path, inflated: bool = True) -> Iterator[Any]:
    """Open a raw file to read; SourceError, also in the block, if it cannot be, or is damaged.

    A gzip file, whose name ends in `.gz`, is inflated or not.
    """
    try:
        is_gzip = inflated and path.suffix == ".gz"
        with GzipFile(path, "rb") if is_gzip else path.open("rb") as file:
            yield file
    except (EOFError, Damaged, gzip.BadGzipFile) as error:
        what = f"{path}: is damaged, no valid gzip: {error}"
        raise SourceError(what, remedy="Download it again.") from error
    except OSError as error:
        raise SourceError(f"{path}: cannot be read: {error.strerror or error}") from error


def blocks(path: Path) -> Iterator[bytes]:
    """Yield the file in blocks of whole lines, of at most 64 MB each."""
    with opened(path) as file:
        while block := file.read(BLOCK):
            rest = file.readline(LONGEST)
            if len(rest) == LONGEST:
                raise SourceError(f"{path}: has a line of more than {LONGEST >> 20} MB")
            yield block + rest


def hash_file(path: Path, stop: Event | None = None) -> dict[str, Any]:
    """Return size and sha256 of a file; once `stop` is set, of a part of it."""
    content = hashlib.sha256()
    with opened(path, inflated=False) as file:
        while not (stop and stop.is_set()) and (data := file.read(_CHUNK)):
            content.update(data)
        return {"size": file.tell(), "sha256": content.hexdigest()}


def state_of(path: Path) -> tuple[int, ...]:
    """Return what a file has another of once it was changed."""
    status = path.stat()
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
