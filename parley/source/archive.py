"""Extracts pinned folders from a zip archive that is not trusted.

The bytes of an archive that GitHub makes of a commit are not guaranteed, so it has no pin of its
own: each folder taken from it is checked against its git tree before it gets its name.
"""

import re
import shutil
import stat
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from parley.base.part import part_of
from parley.source.pins import Pin, problem

LIMIT = 1 << 30  # bytes of an archive, and of one folder extracted from it
_FILES = 10_000  # in one folder
_DIRECTORY = 16_000_000  # bytes of an archive's list of entries: some 200,000 entries
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # what git makes
_ENCRYPTED = 1  # this bit of an entry's flags
_BLOCK = 1 << 20


def extract(archive: BinaryIO, pin: Pin, target: Path) -> str | None:
    """Extract the pin's folder to `target`, whole or not at all; return the problem, if any."""
    part = part_of(target)
    shutil.rmtree(part, ignore_errors=True)  # of an interrupted fetch
    try:
        part.mkdir(parents=True)
        for name, block in _blocks(archive, pin):
            with (part / name).open("ab") as copy:
                copy.write(block)
        if found := problem(part, pin):
            return found
        if target.is_dir():
            shutil.rmtree(target)  # damaged, or it would not be fetched again
        part.rename(target)
        return None
    except ArchiveError as error:
        return f"the archive is refused: {error}"
    finally:
        shutil.rmtree(part, ignore_errors=True)


class ArchiveError(Exception):
    """The archive is damaged or unsafe."""


# zipfile's errors after flipped bits: also OSError for a negative offset, RuntimeError for an
# unknown version
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError)


class _Limited:
    """An opened archive whose list of entries, which zipfile reads at once, must not be large."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def read(self, size: int = -1) -> bytes:
        if size > _DIRECTORY:
            raise ArchiveError(f"its list of entries has {size:,} bytes, more than {_DIRECTORY:,}")
        return self._file.read(size)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


def open_archive(file: BinaryIO) -> zipfile.ZipFile:
    """Open a zip archive; ArchiveError if it has far too many entries."""
    archive: Any = _Limited(file)
    return zipfile.ZipFile(archive)


def _blocks(archive: BinaryIO, pin: Pin) -> Iterator[tuple[str, bytes]]:
    """Yield (name, content) of the files of the pin's folder, a large file in several blocks."""
    try:
        with open_archive(archive) as file:
            for name, member in _members(file, pin["member"]).items():
                with file.open(member) as opened:
                    yield name, b""  # creates an empty file too
                    while block := opened.read(_BLOCK):
                        yield name, block
    except (*_DAMAGED, ValueError) as error:
        raise ArchiveError(f"it cannot be read: {error}") from None


def _members(file: zipfile.ZipFile, folder: str) -> dict[str, zipfile.ZipInfo]:
    prefix = f"{folder}/"
    members: dict[str, zipfile.ZipInfo] = {}
    for entry in file.infolist():
        path = entry.filename
        if re.match(r"[/\\]|[A-Za-z]:", path) or {".", ".."} & set(re.split(r"[/\\]", path)):
            raise ArchiveError(f"its entry {path!r} may lead outside the folder")
        name = path.removeprefix(prefix)
        if name in ("", path):  # the folder itself, or outside it
            continue
        kind = stat.S_IFMT(entry.external_attr >> 16)  # 0 where the archive does not say
        if re.search(r"[/\\]", name) or kind not in (0, stat.S_IFREG):
            raise ArchiveError(f"its entry {path!r} is not a file of a flat folder")
        if name in members:
            raise ArchiveError(f"it has two entries {path!r}")
        if entry.flag_bits & _ENCRYPTED or entry.compress_type not in _METHODS:
            raise ArchiveError(f"its entry {path!r} is neither stored nor deflated")
        members[name] = entry
    size = sum(member.file_size for member in members.values())
    if not members:
        raise ArchiveError(f"it has no files in {prefix}")
    if len(members) > _FILES or size > LIMIT:
        raise ArchiveError(
            f"{prefix} has {len(members):,} files and {size:,} bytes, "
            f"more than {_FILES:,} files or {LIMIT:,} bytes"
        )
    return members
