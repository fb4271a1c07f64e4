"""Replacement of folders and files as a whole: written beside the target, then moved there."""

import errno
import os
import shutil
import stat
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

import orjson

from parley.base.errors import OutputError, few, require_utf8
from parley.base.temporary import EARLIER, FULL, folder_beside

__all__ = ["beside", "write_whole", "writing"]

_MOVE = "Move it away, or choose another folder."


@contextmanager
def replacing(
    target: Path, files_of: Callable[[Path], Collection[str]] = lambda folder: ()
) -> Iterator[Path]:
    """Yield an empty folder beside `target` to fill, and replace `target` with it at the end.

    If the block raises or the process is killed, the old folder stays, or the next command puts it
    back. Of two processes, the later one replaces the other's. OutputError if the folder holds a
    file that `files_of`, an earlier command's own list, does not name; or the current folder.
    """
    target = Path(os.path.realpath(target))  # where a link leads, the link stays
    if _runs_in(target):
        what = f"{target}: is or contains the current folder, and would be replaced."
        raise OutputError(what, remedy="Run the command from outside it, or choose another folder.")
    with beside(target) as place:
        _require_only(target, files_of)
        (new := place / "new").mkdir()
        yield new
        while new.exists():
            _require_only(target, files_of)  # a file may have been added meanwhile
            shutil.rmtree(place / EARLIER, ignore_errors=True)
            with suppress(FileNotFoundError):
                target.rename(place / EARLIER)
            try:
                new.rename(target)
            except OSError as error:
                if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                    raise  # else another process has just moved its own there


@contextmanager
def writing(path: Path) -> Iterator[BinaryIO]:
    """Yield an empty file to fill, and replace `path` with it at the end.

    Whoever reads `path` finds the old file or the new, also after a full disk or a kill. The next
    command removes the remains of a killed one. OutputError if it cannot be written; UsageError if
    its path is not UTF-8.
    """
    path = Path(os.path.realpath(path))
    with beside(path) as place:
        with (place / "new").open("xb") as file:
            yield file
        (place / "new").replace(path)


def write_whole(path: Path, text: str) -> None:
    """Write a text file in one step, as `writing` does; OutputError if it cannot be written."""
    with writing(path) as file:
        file.write(text.encode())


@contextmanager
def beside(target: Path) -> Iterator[Path]:
    """Yield an empty folder beside a target, and remove it at the end.

    OutputError for an error of the disk, also in the block, or if a build holds the target;
    UsageError if its path is not UTF-8.
    """
    require_outside_builds(target)
    require_utf8(target)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with folder_beside(target) as place:
            yield place
    except OSError as error:
        raise OutputError(_explain(error, target)) from error


def _runs_in(target: Path) -> bool:
    try:
        return Path.cwd().is_relative_to(target)
    except FileNotFoundError:  # the current folder is gone
        return False


def _require_only(target: Path, files_of: Callable[[Path], Collection[str]]) -> None:
    """Raise OutputError if a target is a file, or holds a file or link that nothing lists."""
    try:
        mode = target.stat().st_mode  # once, as another command may exchange it now
    except FileNotFoundError:
        return
    if not stat.S_ISDIR(mode):
        raise OutputError(f"{target}: is no folder.", remedy=_MOVE)
    known = frozenset(files_of(target))
    try:
        others = [path for path in files_in(target) if path not in known]
    except FileNotFoundError:
        _require_only(target, files_of)
        return
    if others:
        what = f"{target}: holds {few(others)}, not listed there as written by this command."
        raise OutputError(what, remedy=_MOVE)


def files_in(folder: Path) -> Iterator[str]:
    """Yield the relative path of each file and link in a folder."""

    def fail(error: OSError) -> None:
        raise error

    for home, folders, files in os.walk(folder, onerror=fail):
        here = Path(home)
        for path in sorted(here / name for name in (*files, *folders)):
            if path.is_symlink() or not path.is_dir():
                yield path.relative_to(folder).as_posix()


def _explain(error: OSError, target: Path) -> str:
    where = error.filename2 or error.filename or target  # the second is the copy
    stood = f"What stood in {target} is unchanged."
    if not target.exists():
        stood = f"Run the same command again: it puts back what stood in {target}, if anything did."
    if error.errno in FULL:
        return f"{where}: the disk is full. {stood}"
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return f"{where}: no permission to write. Choose another folder, or grant it."
    return f"{where}: {error.strerror or error}. {stood}"


def require_outside_builds(path: Path) -> None:
    """Raise OutputError if a build holds a path: it would be damaged by what is written there."""
    for folder in Path(os.path.realpath(path)).parents:
        provenance = folder / "provenance.json"
        if not provenance.is_file():
            continue
        try:
            found = orjson.loads(provenance.read_bytes())
        except (OSError, ValueError):  # another program's
            continue
        if isinstance(found, dict) and {"dataset", "configs"} <= found.keys():
            what = f"is in the build {folder}, which would no longer verify"
            raise OutputError(f"{path}: {what}", remedy="Choose another folder.")
