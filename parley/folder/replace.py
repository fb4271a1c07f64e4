"""Output folders and files that change whole: made beside their final place, then exchanged."""

import ctypes
import errno
import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from parley.errors import OutputError

_AT_FDCWD, _RENAME_EXCHANGE = -100, 2


@contextmanager
def replacing(target: Path, mark: str) -> Iterator[Path]:
    """Give an empty folder beside `target` to fill, and put it in target's place at the end.

    If the block raises, or the process is killed at any moment, what stood at `target` stays.
    A second process that writes into the same parent folder waits. What a killed run left
    behind is cleared by the next one.

    Args:
        target: The folder to replace or make.
        mark: A file that tells a folder of ours; one without it is not overwritten.

    Raises:
        OutputError: the folder cannot be written, or something else stands there.
    """
    target = Path(os.path.realpath(target))  # where a link leads, the link stays
    staging = target.parent / f".{target.name}.partial"
    earlier = target.parent / f".{target.name}.earlier"
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with locked(target.parent):
            if earlier.exists() and not target.exists():
                earlier.rename(target)
            _remove(staging, earlier)
            if target.exists() and not _is_ours(target, mark):
                raise OutputError(
                    f"{target}: stands there and was not made by parley (it has no {mark}). "
                    "Move it away or choose another --output."
                )
            try:
                staging.mkdir()
                yield staging
                if target.exists():
                    _exchange(staging, target, earlier)
                else:
                    staging.rename(target)
            finally:
                _remove(staging, earlier)
    except OSError as error:
        raise OutputError(_explain(error, target)) from error


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a folder against every other process of ours that would replace something in it."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def write_whole(path: Path, text: str) -> None:
    """Write a text file in one step: a reader, or a full disk, meets the old text or the new.

    Raises:
        OutputError: it cannot be written.
    """
    path = Path(os.path.realpath(path))
    part = path.with_name(f".{path.name}.partial")
    try:
        part.write_text(text, encoding="utf-8")
        os.replace(part, path)
    except OSError as error:
        raise OutputError(_explain(error, path)) from error
    finally:
        part.unlink(missing_ok=True)


def _exchange(new: Path, old: Path, aside: Path) -> None:
    """Swap two folders in one step where the system can, else in two that can be undone."""
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


def _is_ours(target: Path, mark: str) -> bool:
    return target.is_dir() and ((target / mark).is_file() or not any(target.iterdir()))


def _remove(*folders: Path) -> None:
    for folder in folders:
        if folder.exists():
            shutil.rmtree(folder)


def _explain(error: OSError, target: Path) -> str:
    where = error.filename or target
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"{where}: the disk is full. What stood in {target} before is as it was."
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return f"{where}: may not be written. Choose another folder, or give the permission."
    return f"{where}: {error.strerror or error}. What stood in {target} before is as it was."
