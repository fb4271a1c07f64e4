"""Extracts pinned folders from a zip archive that is not trusted.

The bytes of an archive that GitHub makes of a commit are not guaranteed, so it has no pin of its
own: each folder taken from it is checked against its git tree before it gets its name.
"""

import re
import shutil
import stat
import zipfile
import zlib
from pathlib import Path
from typing import BinaryIO

from parley.source.pins import Pin, problem

LIMIT = 1 << 30  # bytes of an archive, and of one folder extracted from it
_FILES = 10_000  # in one folder


def extract(archive: BinaryIO, pin: Pin, target: Path) -> str | None:
    """Extract the pin's folder to `target`, whole or not at all; return what is wrong with it."""
    part = target.with_name(f"{target.name}.part")
    shutil.rmtree(part, ignore_errors=True)  # of an interrupted fetch
    try:
        with zipfile.ZipFile(archive) as file:
            members = _members(file, pin)
            part.mkdir(parents=True)
            for name, member in members.items():
                with file.open(member) as source, (part / name).open("xb") as copy:
                    shutil.copyfileobj(source, copy)
        if found := problem(part, pin):
            return found
        if target.is_dir():
            shutil.rmtree(target)  # damaged, or it would not be fetched again
        part.rename(target)
        return None
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:
        return f"the archive cannot be read: {error}"
    except ValueError as error:
        return f"the archive is refused: {error}"
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _members(file: zipfile.ZipFile, pin: Pin) -> dict[str, zipfile.ZipInfo]:
    """Return the files of the pin's folder by name; raise ValueError if the archive is odd."""
    prefix = f"{pin['member']}/"
    members: dict[str, zipfile.ZipInfo] = {}
    for entry in file.infolist():
        path = entry.filename
        if re.match(r"[/\\]|[A-Za-z]:", path) or {".", ".."} & set(re.split(r"[/\\]", path)):
            raise ValueError(f"its entry {path!r} may leave the folder")
        name = path.removeprefix(prefix)
        if name in ("", path):  # the folder itself, or outside it
            continue
        kind = stat.S_IFMT(entry.external_attr >> 16)  # 0 where the archive does not say
        if re.search(r"[/\\]", name) or kind not in (0, stat.S_IFREG):
            raise ValueError(f"its entry {path!r} is not a file of a flat folder")
        if name in members:
            raise ValueError(f"it has two entries {path!r}")
        members[name] = entry
    size = sum(member.file_size for member in members.values())
    if not members:
        raise ValueError(f"it has no files in {prefix}")
    if len(members) > _FILES or size > LIMIT:
        raise ValueError(
            f"{prefix} has {len(members):,} files and {size:,} bytes, "
            f"more than {_FILES:,} files or {LIMIT:,} bytes"
        )
    return members
