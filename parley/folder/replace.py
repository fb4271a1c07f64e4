"""Atomic replacement of folders and files: written beside the target, then exchanged."""

import ctypes
import errno
import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from parley.errors import OutputError
from parley.folder.built import require_outside_builds
from parley.source.part import open_part

_AT_FDCWD, _RENAME_EXCHANGE = -100, 2


@contextmanager
def replacing(target: Path, mark: str) -> Iterator[Path]:
    """Yield an empty folder beside `target` to fill, and replace `target` with it at the end.

    If the block raises or the process is killed, the old folder stays, or the next command puts it
    back and clears the rest. A second process that writes into the same parent folder waits.

    `mark` is a file that marks our folders: a folder without it is not overwritten. "" allows only
    an empty folder. OutputError if the folder cannot be written, or holds the current folder.
    """
    target = Path(os.path.realpath(target))  # where a link leads, the link stays
    require_outside_builds(target)
    staging = target.parent / f".{target.name}.partial"
    earlier = target.parent / f".{target.name}.earlier"
    if _runs_in(target):
        raise OutputError(
            f"{target}: is or contains the current folder, and would be replaced.",
            remedy="Run the command from outside it, or choose another folder.",
        )
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with locked(target.parent):
            _clear(target, staging, earlier)
            if target.exists() and not _is_ours(target, mark):
                why = f"exists and was not made by parley (it has no {mark})"
                why = why if mark else "already exists"
                raise OutputError(f"{target}: {why}. Move it away or choose another folder.")
            try:
                staging.mkdir()
                yield staging
                if target.exists():
                    _exchange(staging, target, earlier)
                else:
                    staging.rename(target)
            finally:
                try:
                    _clear(target, staging, earlier)
                except BaseException:  # as a signal that comes only now
                    _clear(target, staging, earlier)
                    raise
    except OSError as error:
        place = target if target.exists() or not earlier.exists() else earlier
        raise OutputError(_explain(error, target, place)) from error


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Lock a folder against other parley processes that would replace something in it."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


@contextmanager
def writing(path: Path) -> Iterator[BinaryIO]:
    """Yield an empty file to fill, and replace `path` with it at the end.

    Whoever reads `path` finds the old file or the new, also after a full disk or a kill. A second
    process that writes the same file waits. The next command reuses the remains of a killed one.

    Raises:
        OutputError: it cannot be written.
    """
    path = Path(os.path.realpath(path))
    require_outside_builds(path)
    part = path.with_name(f".{path.name}.partial")
    try:
        with open_part(part) as file:
            try:
                file.truncate(0)
                yield file
                file.flush()
                os.replace(part, path)
            except BaseException:
                part.unlink(missing_ok=True)
                raise
    except OSError as error:
        raise OutputError(_explain(error, path, path)) from error


def write_whole(path: Path, text: str) -> None:
    """Write a text file in one step, as `writing` does.

    Raises:
        OutputError: it cannot be written.
    """
    with writing(path) as file:
        file.write(text.encode())


def _exchange(new: Path, old: Path, aside: Path) -> None:
    """Swap two folders in one step if the system can, else in two that can be undone."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except AttributeError:
        pass
    else:
        names = _AT_FDCWD, os.fsencode(new), _AT_FDCWD, os.fsencode(old)
        if rename(*names, _RENAME_EXCHANGE) == 0:
            return
    old.rename(aside)
    new.rename(old)


def _clear(target: Path, staging: Path, earlier: Path) -> None:
    """Remove the remains of a replacement, or undo its first step.

    The old folder is removed only if `target` exists.
    """
    if earlier.exists() and not target.exists():
        earlier.rename(target)
    for folder in (staging, earlier):
        if folder.exists():
            shutil.rmtree(folder)


def _runs_in(target: Path) -> bool:
    try:
        return Path.cwd().is_relative_to(target)
    except FileNotFoundError:  # the current folder is gone
        return False


def _is_ours(target: Path, mark: str) -> bool:
    return target.is_dir() and ((target / mark).is_file() or not any(target.iterdir()))


def _explain(error: OSError, target: Path, place: Path) -> str:
    where = error.filename or target
    stood = f"What stood in {target} is unchanged."
    if place != target:
        stood = f"What stood in {target} is now in {place}; the same command puts it back."
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"{where}: the disk is full. {stood}"
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return f"{where}: no permission to write. Choose another folder, or grant it."
    return f"{where}: {error.strerror or error}. {stood}"
