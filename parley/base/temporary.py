"""Temporary folders with a mark, locked while in use; a command removes those of killed ones.

They are called `parley-PURPOSE-RANDOM`; beside a target NAME, `.NAME.parley-RANDOM`:

    .parley-temporary    the mark
    content/             what a command makes
    content/earlier      what stood in NAME while it is replaced
"""

import errno
import fcntl
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

from parley.base.errors import OutputError, require_utf8

MARK, EARLIER = ".parley-temporary", "earlier"
FULL = (errno.ENOSPC, errno.EDQUOT)
_CONTENT = "content"


@contextmanager
def temporary_folder(purpose: str) -> Iterator[Path]:
    """Yield an empty private folder, and remove it at the end; OutputError if its disk is full."""
    home = Path(tempfile.gettempdir())
    try:
        with _marked(home, f"parley-{purpose}-") as folder:
            yield folder
    except OSError as error:
        if error.errno not in FULL:
            raise
        what = f"{home}, the folder for temporary files: the disk is full"
        raise OutputError(what, remedy="Make room, or name another in TMPDIR.") from error


def folder_beside(target: Path) -> AbstractContextManager[Path]:
    """Yield an empty private folder beside a file or folder, and remove it at the end.

    What stood in the target, moved to `EARLIER` within, goes back if nothing stands there then.
    """
    return _marked(target.parent, f".{target.name}.parley-", target)


@contextmanager
def _marked(parent: Path, prefix: str, target: Path | None = None) -> Iterator[Path]:
    require_utf8(parent / prefix)
    for left in _folders(parent, prefix):
        with suppress(OSError):  # it is in use, or gone
            lock = _lock(left)
            try:
                _remove(left, target)
            finally:
                os.close(lock)
    folder, lock = _make(parent, prefix)
    try:
        yield folder / _CONTENT
    finally:
        try:
            _remove(folder, target)
        except BaseException:  # as a signal, which comes once
            _remove(folder, target)
            raise
        finally:
            os.close(lock)


def _folders(parent: Path, prefix: str) -> list[Path]:
    """Return the folders of commands, killed or not: those with a mark, and empty ones."""
    form = re.compile(re.escape(prefix) + "[a-z0-9_]{8}")  # as mkdtemp names it
    found = (parent / name for name in os.listdir(parent) if form.fullmatch(name))
    return [folder for folder in found if not folder.is_symlink() and _is_ours(folder)]


def _is_ours(folder: Path) -> bool:
    try:
        inside = os.listdir(folder)
    except OSError:  # a file, or another user's
        return False
    return MARK in inside or not inside


def _make(parent: Path, prefix: str) -> tuple[Path, int]:
    """Make a folder and lock it; until it has its mark, another process may remove it."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
        with suppress(FileNotFoundError, BlockingIOError):
            lock = _lock(folder)
            try:
                (folder / MARK).touch()
                (folder / _CONTENT).mkdir()
            except BaseException:
                os.close(lock)
                raise
            return folder, lock


def _lock(folder: Path) -> int:
    """Return a handle that locks a folder while it is open; OSError if another process does."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BaseException:
        os.close(handle)
        raise
    return handle


def _remove(folder: Path, target: Path | None) -> None:
    """Put back what stood in the target, and remove the folder, its mark last."""
    earlier = folder / _CONTENT / EARLIER
    if target and earlier.exists() and not target.exists():
        try:
            earlier.rename(target)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):  # another command wrote it
                raise
    shutil.rmtree(folder / _CONTENT, ignore_errors=True)
    shutil.rmtree(folder, ignore_errors=True)
