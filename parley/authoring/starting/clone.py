"""Find the public repository of a clone.

A clone may be anybody's, and its settings can name programs that git runs. So git does not run
here: a few files of `.git` are read, and no link in it is followed.
"""

import os
import re
import struct
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from parley.base.regular import open_regular
from parley.declaring.pins import hash_file

_MOST = 1 << 24  # bytes of such a file
# as git writes it
_URL = re.compile(r'^\[remote "origin"\]\n(?:[ \t].*\n)*?[ \t]*url = (.*)$', re.MULTILINE)
_GITHUB = re.compile(
    r"(?:https://|git@|ssh://git@)github\.com[/:]([\w-]+/[\w.-]+?)(?:\.git)?/?", re.ASCII
)
_COMMIT = re.compile("[0-9a-f]{40}")


@dataclass(frozen=True)
class Clone:
    """A clone of a public repository."""

    repository: str  # OWNER/NAME
    commit: str  # that is checked out
    paths: Sequence[str]  # in it, of the files and folders asked for


def clone_of(places: Sequence[Path]) -> Clone | None:
    """Return the clone that tracks all these files and flat folders, unchanged.

    None if there is none, or its `.git` names no commit on GitHub. A file that was added since
    that commit is tracked too.
    """
    homes = [Path(os.path.realpath(place.parent)) for place in places]
    around = (homes[0], *homes[0].parents)
    root = next((each for each in around if os.path.lexists(each / ".git")), None)
    if root is None or not all(home.is_relative_to(root) for home in homes):
        return None
    git = root / ".git"
    url = _URL.search(_read(git, "config").decode("utf-8", "replace"))
    remote, commit = _GITHUB.fullmatch(url[1]) if url else None, _commit(git)
    if not remote or not commit:
        return None
    tracked = _tracked(_read(git, "index"))
    paths = [
        (home / place.name).relative_to(root).as_posix()
        for home, place in zip(homes, places, strict=True)
    ]
    if not all(_is_same(tracked, *each) for each in zip(paths, places, strict=True)):
        return None
    return Clone(remote[1], commit, paths)


def _is_same(tracked: Mapping[bytes, str], path: str, place: Path) -> bool:
    if not place.is_dir():
        return tracked.get(os.fsencode(path)) == hash_file(place, "git_blob")
    inside = os.fsencode(f"{path}/")
    known = {name: blob for name, blob in tracked.items() if name.startswith(inside)}
    names = {inside + os.fsencode(file.name): file for file in place.iterdir()}
    return known == {name: hash_file(file, "git_blob") for name, file in names.items()}


def _commit(git: Path) -> str:
    """Return the commit of HEAD, or ""."""
    head = os.fsdecode(_read(git, "HEAD")).strip()
    if head.startswith("ref: refs/heads/"):
        ref = head.removeprefix("ref: ")
        packed = os.fsdecode(_read(git, "packed-refs"))
        found = re.search(rf"^({_COMMIT.pattern}) {re.escape(ref)}$", packed, re.MULTILINE)
        head = os.fsdecode(_read(git, ref)).strip() or (found[1] if found else "")
    return head if _COMMIT.fullmatch(head) else ""


def _tracked(index: bytes) -> dict[bytes, str]:
    """Return the paths of git's index with their blobs; {} if its format is another."""
    found = {}
    with suppress(struct.error, ValueError):  # it ends early
        magic, version, count = struct.unpack_from(">4sII", index)
        if magic == b"DIRC" and version in (2, 3):
            start = 12
            for _ in range(count):
                blob, flags = struct.unpack_from(">20sH", index, start + 40)
                name = start + (64 if flags & 0x4000 else 62)
                end = index.index(b"\0", name)
                found[index[name:end]] = blob.hex()
                start += (end - start + 8) // 8 * 8
    return found


def _read(git: Path, name: str) -> bytes:
    """Return a small file in `.git`; b"" if it is none, or behind a link."""
    path = git / name
    try:
        if os.path.realpath(path) != str(path):
            return b""
        with open_regular(path, links=False) as file:
            content = file.read(_MOST + 1)
    except (OSError, ValueError):  # absent, or a name with a zero byte
        return b""
    return content if len(content) <= _MOST else b""
