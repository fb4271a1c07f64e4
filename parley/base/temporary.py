"""Temporary folders with a mark, locked while in use; each command removes those of killed ones.

They are called `parley-PURPOSE-RANDOM`; beside a target NAME, `.NAME.parley-RANDOM`:

    .parley-temporary    the mark
    content/             what a command makes
    content/earlier      what stood in NAME while it is replaced
"""

import fcntl
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

from parley.base.errors import require_utf8

MARK, EARLIER = ".parley-temporary", "earlier"
_CONTENT = "content"


def temporary_folder(purpose: str) -> AbstractContextManager[Path]:
    """Yield an empty private folder, and remove it at the end.

    First remove folders of killed processes with the same purpose.

    Raises:
        UsageError: the path of the folder for temporary files is not UTF-8.
    """
    return _marked(Path(tempfile.gettempdir()), f"parley-{purpose}-")


def folder_beside(target: Path) -> AbstractContextManager[Path]:
    """Yield an empty private folder beside a file or folder, and remove it at the end.

    What stood in the target, moved to `EARLIER` within, goes back if nothing stands there at the
    end. The next use for the same target does both for a killed process.

    Raises:
        OSError: it cannot be made.
        UsageError: the path of the target is not UTF-8.
    """
    return _marked(target.parent, _prefix(target), target)


def earlier_of(target: Path) -> Path | None:
    """Return where a replacement that broke off has left what stood in a target."""
    with suppress(OSError):
        places = _marked_in(target.parent, _prefix(target))
        found = (folder / _CONTENT / EARLIER for folder in places)
        return next((path for path in found if path.exists()), None)
    return None


def _prefix(target: Path) -> str:
    return f".{target.name}.parley-"


@contextmanager
def _marked(parent: Path, prefix: str, target: Path | None = None) -> Iterator[Path]:
    require_utf8(parent / prefix)
    for left in _marked_in(parent, prefix):
        with suppress(OSError), _locked(left / MARK):  # in use, or gone
            _remove(left, target)
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
    with _locked(mark := folder / f"{MARK}.new", os.O_CREAT):
        mark.rename(folder / MARK)  # no other process finds a mark that is not locked
        try:
            (folder / _CONTENT).mkdir()
            yield folder / _CONTENT
        finally:
            _remove(folder, target)


def _marked_in(parent: Path, prefix: str) -> list[Path]:
    form = re.compile(re.escape(prefix) + "[a-z0-9_]{8}")  # as mkdtemp names it
    found = (parent / name for name in os.listdir(parent) if form.fullmatch(name))
    return [folder for folder in found if (folder / MARK).exists() and not folder.is_symlink()]


@contextmanager
def _locked(mark: Path, flags: int = 0) -> Iterator[None]:
    handle = os.open(mark, os.O_RDWR | os.O_NOFOLLOW | flags, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(handle)


def _remove(folder: Path, target: Path | None) -> None:
    """Put back what stood in the target, and remove the folder, its mark last."""
    earlier = folder / _CONTENT / EARLIER
    if target and earlier.exists() and not target.exists():
        earlier.rename(target)
    shutil.rmtree(folder / _CONTENT, ignore_errors=True)
    shutil.rmtree(folder, ignore_errors=True)
