"""Temporary folders; each command removes those of killed ones."""

import fcntl
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from parley.base.errors import require_utf8

MARK = ".parley-temporary"  # marks our folders; locked while in use
_CONTENT = "content"


@contextmanager
def temporary_folder(purpose: str, parent: Path | None = None) -> Iterator[Path]:
    """Yield an empty private folder, `parley-PURPOSE-RANDOM/content`, and remove it at the end.

    It is in `parent`, where its name begins with a dot, or in the system's folder for temporary
    files. First remove folders of killed processes with the same purpose, place and user.

    UsageError if the path of that place is not UTF-8.
    """
    prefix = f"{'.' if parent else ''}parley-{purpose}-"
    parent = parent or Path(tempfile.gettempdir())
    require_utf8(parent)
    _remove_abandoned(prefix, parent)
    folder, lock = _make(prefix, parent)
    try:
        yield folder / _CONTENT
    finally:
        _remove(folder)
        os.close(lock)


def _make(prefix: str, parent: Path) -> tuple[Path, int]:
    """Make a folder and lock it; until then another process may remove it."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
        try:
            lock = os.open(folder / MARK, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
            fcntl.flock(lock, fcntl.LOCK_EX)
            if (folder / MARK).exists():
                (folder / _CONTENT).mkdir()
                return folder, lock
            os.close(lock)
        except FileNotFoundError:
            continue
        except BaseException:  # as a signal
            _remove(folder)
            raise


def _remove_abandoned(prefix: str, parent: Path) -> None:
    form = re.compile(re.escape(prefix) + "[a-z0-9_]{8}")  # as mkdtemp names it
    for folder in [parent / name for name in os.listdir(parent) if form.fullmatch(name)]:
        with suppress(OSError):  # it is in use, not ours, or gone
            state = folder.stat(follow_symlinks=False)
            if not stat.S_ISDIR(state.st_mode) or state.st_uid != os.geteuid():
                continue
            if not any(folder.iterdir()):  # killed before it had a mark
                folder.rmdir()
                continue
            lock = os.open(folder / MARK, os.O_RDWR | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _remove(folder)
            finally:
                os.close(lock)


def _remove(folder: Path) -> None:
    """Remove a folder, its mark last: the next command recognises the rest after a kill."""
    shutil.rmtree(folder / _CONTENT, ignore_errors=True)
    shutil.rmtree(folder, ignore_errors=True)
