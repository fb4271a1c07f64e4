"""Atomic replacement of folders and files: written beside the target, then exchanged.

Beside a target NAME stands `.NAME.parley`, a folder with a mark, while a command works there:

    .NAME.parley/.parley-temporary    the mark, locked while in use
    .NAME.parley/new                  what will replace NAME
    .NAME.parley/earlier              what stood in NAME, where two renames replace one exchange
"""

import ctypes
import errno
import fcntl
import os
import shutil
import stat
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

import orjson

from parley.base.errors import OutputError, few, require_utf8
from parley.base.part import open_part
from parley.base.temporary import MARK

_AT_FDCWD, _RENAME_EXCHANGE = -100, 2
_NEW, _EARLIER = "new", "earlier"
_MOVE = "Move it away, or choose another folder."


def _no_files(folder: Path) -> Collection[str]:
    return ()


@contextmanager
def replacing(
    target: Path, files_of: Callable[[Path], Collection[str]] = _no_files
) -> Iterator[Path]:
    """Yield an empty folder beside `target` to fill, and replace `target` with it at the end.

    If the block raises or the process is killed, the old folder stays, or the next command puts it
    back and clears the rest. A second process that writes into the same parent folder waits.

    `files_of` returns the paths of the files in a folder that an earlier command made, as that
    command's own list names them: a folder with any other file is not replaced. Without it, only
    an empty folder is.

    Raises:
        OutputError: the folder cannot be written, or holds other files or the current folder.
        UsageError: its path is not UTF-8.
    """
    target = Path(os.path.realpath(target))  # where a link leads, the link stays
    require_utf8(target)
    require_outside_builds(target)
    if _runs_in(target):
        raise OutputError(
            f"{target}: is or contains the current folder, and would be replaced.",
            remedy="Run the command from outside it, or choose another folder.",
        )
    earlier = _workplace(target) / _EARLIER
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with locked(target.parent), _working_beside(target) as place:
            _clear(target, place)
            _require_only(target, files_of)
            new = place / _NEW
            try:
                new.mkdir()
                yield new
                if target.exists():
                    _require_only(target, files_of)  # a file may have been added meanwhile
                    _exchange(new, target, earlier)
                else:
                    new.rename(target)
            finally:
                try:
                    _clear(target, place)
                except BaseException:  # as a signal that comes only now
                    _clear(target, place)
                    raise
    except OSError as error:
        stands_in = target if target.exists() or not earlier.exists() else earlier
        raise OutputError(_explain(error, target, stands_in)) from error


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
    process that writes the same file waits. The next command removes the remains of a killed one.

    Raises:
        OutputError: it cannot be written.
    """
    path = Path(os.path.realpath(path))
    require_outside_builds(path)
    try:
        with _working_beside(path) as place:
            new = place / _NEW
            new.unlink(missing_ok=True)  # of a killed command
            try:
                with new.open("xb") as file:
                    yield file
                new.replace(path)
            finally:
                new.unlink(missing_ok=True)
    except OSError as error:
        raise OutputError(_explain(error, path, path)) from error


def write_whole(path: Path, text: str) -> None:
    """Write a text file in one step, as `writing` does.

    Raises:
        OutputError: it cannot be written.
    """
    with writing(path) as file:
        file.write(text.encode())


def _workplace(target: Path) -> Path:
    return target.with_name(f".{target.name}.parley")


@contextmanager
def _working_beside(target: Path) -> Iterator[Path]:
    """Yield the workplace of a target, locked; it may hold the remains of a killed command.

    It is removed at the end, unless something is left in it. OutputError if it is not ours.
    """
    place = _workplace(target)
    with ExitStack() as last:
        mark = None
        while mark is None:
            with suppress(FileExistsError):
                place.mkdir()
            with suppress(FileNotFoundError):  # another command has just removed it
                _require_ours(place)
                mark = last.enter_context(open_part(place / MARK))
        try:
            yield place
        finally:
            mark.truncate(0)  # an empty mark is removed at the end
            if os.listdir(place) != [MARK]:
                mark.write(b"The same command removes this folder.\n")
            else:
                last.close()
                with suppress(OSError):  # another command uses it already
                    place.rmdir()


def _require_ours(place: Path) -> None:
    """Raise OutputError unless this is a folder with our mark, or an empty one."""
    is_folder = stat.S_ISDIR(place.lstat().st_mode)
    if not is_folder or ((there := os.listdir(place)) and MARK not in there):
        raise OutputError(
            f"{place}: was not made by parley, which needs this name.", remedy="Move it away."
        )


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


def _clear(target: Path, place: Path) -> None:
    """Remove the remains of a replacement from its workplace, or undo its first step.

    The old folder is removed only if `target` exists.
    """
    if (earlier := place / _EARLIER).exists() and not target.exists():
        earlier.rename(target)
    for folder in (place / _NEW, earlier):
        if folder.exists():
            shutil.rmtree(folder)


def _runs_in(target: Path) -> bool:
    try:
        return Path.cwd().is_relative_to(target)
    except FileNotFoundError:  # the current folder is gone
        return False


def _require_only(target: Path, files_of: Callable[[Path], Collection[str]]) -> None:
    """Raise OutputError if a target is a file, or holds a file or link that nothing lists."""
    if not target.exists():
        return
    if not target.is_dir():
        raise OutputError(f"{target}: is no folder.", remedy=_MOVE)
    known = frozenset(files_of(target))
    if others := [path for path in files_in(target) if path not in known]:
        what = f"{target}: holds {few(others)}, which this command did not write."
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
