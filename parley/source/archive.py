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
from typing import BinaryIO

from parley.source.pins import Pin, problem

LIMIT = 1 << 30  # bytes of an archive, and of one folder extracted from it
_FILES = 10_000  # in one folder
_METHODS = {zipfile.ZIP_STORED: "stored", zipfile.ZIP_DEFLATED: "deflated"}  # what git makes
_ENCRYPTED = 1  # this bit of an entry's flags
_BLOCK = 1 << 20


def extract(archive: BinaryIO, pin: Pin, target: Path) -> str | None:
    """Extract the pin's folder to `target`, whole or not at all; return what is wrong with it.

    Raises:
        OSError: the folder cannot be written.
    """
    part = target.with_name(f"{target.name}.part")
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
    except _ArchiveError as error:
        return f"the archive {error}"
    finally:
        shutil.rmtree(part, ignore_errors=True)


class _ArchiveError(Exception):
    """The archive is damaged, or nothing that should be extracted."""


def _blocks(archive: BinaryIO, pin: Pin) -> Iterator[tuple[str, bytes]]:
    """Yield (name, content) of the files of the pin's folder, a large file in several blocks."""
    try:
        with zipfile.ZipFile(archive) as file:
            for name, member in _members(file, pin).items():
                with file.open(member) as source:
                    yield name, b""  # so that an empty file is one, too
                    while block := source.read(_BLOCK):
                        yield name, block
    # as zipfile does of flipped bits: an OSError for a place before the file's beginning, a
    # RuntimeError for a version that it does not know, a ValueError for a name that is no text
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError) as error:
        raise _ArchiveError(f"cannot be read: {error}") from None


def _members(file: zipfile.ZipFile, pin: Pin) -> dict[str, zipfile.ZipInfo]:
    """Return the files of the pin's folder by name; raise _ArchiveError if the archive is odd."""
    prefix = f"{pin['member']}/"
    members: dict[str, zipfile.ZipInfo] = {}
    for entry in file.infolist():
        path = entry.filename
        if re.match(r"[/\\]|[A-Za-z]:", path) or {".", ".."} & set(re.split(r"[/\\]", path)):
            raise _ArchiveError(f"is refused: its entry {path!r} may leave the folder")
        name = path.removeprefix(prefix)
        if name in ("", path):  # the folder itself, or outside it
            continue
        kind = stat.S_IFMT(entry.external_attr >> 16)  # 0 where the archive does not say
        if re.search(r"[/\\]", name) or kind not in (0, stat.S_IFREG):
            raise _ArchiveError(f"is refused: its entry {path!r} is not a file of a flat folder")
        if name in members:
            raise _ArchiveError(f"is refused: it has two entries {path!r}")
        if entry.flag_bits & _ENCRYPTED:
            raise _ArchiveError(f"is refused: its entry {path!r} is encrypted")
        if entry.compress_type not in _METHODS:
            raise _ArchiveError(
                f"is refused: its entry {path!r} is compressed by method {entry.compress_type}, "
                f"expected {' or '.join(f'{n} ({word})' for n, word in _METHODS.items())}"
            )
        members[name] = entry
    size = sum(member.file_size for member in members.values())
    if not members:
        raise _ArchiveError(f"is refused: it has no files in {prefix}")
    if len(members) > _FILES or size > LIMIT:
        raise _ArchiveError(
            f"is refused: {prefix} has {len(members):,} files and {size:,} bytes, "
            f"more than {_FILES:,} files or {LIMIT:,} bytes"
        )
    return members
