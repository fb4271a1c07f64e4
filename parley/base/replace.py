"""Folders and files replaced as a whole: written beside the target, then moved there.

A command locks its temporary folders while it runs, so that the next one knows those of a killed
command.
"""

import errno
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from parley.base.disk import require_outside_builds
from parley.base.errors import OutputError, few, require_utf8

MARK = ".parley-temporary"  # a file in each temporary folder
_CONTENT, _EARLIER = "content", "earlier"  # within it: what a caller fills, what stood in a target
_FULL = (errno.ENOSPC, errno.EDQUOT)
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
    with work_folder(target) as place:
        _require_only(target, files_of)
        (new := place / "new").mkdir()
        yield new
        while new.exists():
            _require_only(target, files_of)  # a file may have been added meanwhile
            shutil.rmtree(place / _EARLIER, ignore_errors=True)
            with suppress(FileNotFoundError):
                target.rename(place / _EARLIER)
            _move(new, target)


@contextmanager
def writing(path: Path, *, overwrite: bool = True) -> Iterator[BinaryIO]:
    """Yield an empty file to fill, and replace `path` with it at the end.

    Whoever reads `path` finds the old file or the new, also after a full disk or a kill. The next
    command removes the remains of a killed one. OutputError if it cannot be written, or stands
    there at the end without `overwrite`; UsageError if its path is not UTF-8. Permissions stay.
    """
    path = Path(os.path.realpath(path))
    with work_folder(path) as place:
        with (place / "new").open("xb") as file:
            with suppress(FileNotFoundError):
                os.fchmod(file.fileno(), stat.S_IMODE(path.stat().st_mode))
            yield file
        if not overwrite:  # another process may have made it
            require_free(path)
        (place / "new").replace(path)


def write_whole(path: Path, text: str, *, overwrite: bool = True) -> None:
    """Write a text file in one step, as `writing` does, with its errors."""
    with writing(path, overwrite=overwrite) as file:
        file.write(text.encode())


def require_free(path: Path, *, overwrite: bool = False) -> None:
    """Raise OutputError if a path exists, unless it is a file to overwrite; or has no folder."""
    if overwrite and path.exists() and not path.is_file():
        raise OutputError(f"{path}: is no regular file; name another")
    if overwrite and path.exists() and not os.access(path, os.W_OK):
        raise OutputError(f"{path}: may not be written; name another file, or change its mode")
    if not overwrite and (path.exists() or path.is_symlink()):
        raise OutputError(f"{path}: already exists; name a new file, or replace it by --overwrite")
    if not path.parent.is_dir():
        raise OutputError(f"{path}: no such folder: {path.parent}")


def same_file(one: Path, other: Path) -> bool:
    """Tell whether two paths lead to one file, which need not exist."""
    if one.exists() and other.exists():
        return one.samefile(other)
    return os.path.realpath(one) == os.path.realpath(other)


@contextmanager
def work_folder(target: Path) -> Iterator[Path]:
    """Yield an empty folder beside a target, and remove it at the end.

    OutputError for an error of the disk, also in the block, or if a build holds the target;
    UsageError if its path is not UTF-8.
    """
    require_outside_builds(target)
    require_utf8(target)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with _marked(target.parent, f".{target.name}.parley-", target) as place:
            yield place
    except OSError as error:
        raise OutputError(_explain(error, target)) from error


def _move(folder: Path, target: Path) -> None:
    """Move a folder to a target, unless another process has just moved its own there."""
    try:
        folder.rename(target)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise


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
        what = f"{target}: expected a folder that lists its files, found {few(others)} unlisted."
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
    state = f"What stood in {target} is unchanged."
    if not target.exists():
        state = "Nothing was written."
    if error.errno in _FULL:
        return f"{where}: the disk is full. {state}"
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return f"{where}: no permission to write. Choose another folder, or grant it."
    return f"{where}: {error.strerror or error}. {state}"


@contextmanager
def temporary_folder(purpose: str) -> Iterator[Path]:
    """Yield an empty private folder, and remove it at the end; OutputError if its disk is full."""
    home = Path(tempfile.gettempdir())
    try:
        with _marked(home, f"parley-{purpose}-") as folder:
            yield folder
    except OSError as error:
        if error.errno not in _FULL:
            raise
        what = f"{home}, the folder for temporary files: the disk is full"
        raise OutputError(what, remedy="Make room, or name another folder in TMPDIR.") from error


@contextmanager
def _marked(parent: Path, prefix: str, target: Path | None = None) -> Iterator[Path]:
    """Yield an empty private folder, locked and marked, and remove it and those of killed commands.

    What stood in the target, moved to `_EARLIER` within, goes back if nothing stands there then.
    """
    require_utf8(parent / prefix)
    _remove_remains(parent, prefix, target)
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


def _remove_remains(parent: Path, prefix: str, target: Path | None) -> None:
    """Remove the folders of killed commands: those with a mark, and empty ones."""
    form = re.compile(re.escape(prefix) + "[a-z0-9_]{8}")  # as mkdtemp names it
    for name in filter(form.fullmatch, os.listdir(parent)):
        folder = parent / name
        with suppress(OSError):  # it is in use, gone, no folder, or another user's
            lock = _lock(folder)
            try:
                inside = os.listdir(folder)
                if MARK in inside or not inside:
                    _remove(folder, target)
            finally:
                os.close(lock)


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
    import fcntl  # not at the top: Windows lacks it, and lists datasets all the same

    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BaseException:
        os.close(handle)
        raise
    return handle


def _remove(folder: Path, target: Path | None) -> None:
    """Put back what stood in the target, and remove the folder, its mark last."""
    earlier = folder / _CONTENT / _EARLIER
    if target and earlier.exists() and not target.exists():
        _move(earlier, target)
    shutil.rmtree(folder / _CONTENT, ignore_errors=True)
    shutil.rmtree(folder, ignore_errors=True)
