"""Checks files and folders against their pins.

A pin is an entry of a builder's `SOURCES`. It fixes the content of

    a file           {"url", "size"?, "sha256": hex}      the usual hash
                     {"url", "size"?, "git_blob": hex}    what git, and so GitHub, names a file by
    a flat folder    {"url", "member", "git_tree": hex, "files"?}   what git names a folder by
"""

import hashlib
import stat
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

Pin = Mapping[str, Any]

_BLOCK = 1 << 20


class Hasher:
    """Hashes the content of a pinned file as it arrives."""

    def __init__(self, pin: Pin, size: int) -> None:
        """Begin; `size` is how many bytes will come: a git blob id starts with it."""
        self._pin = pin
        self.size = 0
        if "sha256" in pin:
            self._hash = hashlib.sha256()
        else:
            self._hash = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)

    def update(self, data: bytes) -> None:
        """Take the next bytes."""
        self._hash.update(data)
        self.size += len(data)

    def problem(self) -> str | None:
        """Return how the content differs from the pin, or None."""
        if self.size != self._pin.get("size", self.size):
            return f"size expected {self._pin['size']:,} bytes, found {self.size:,}"
        kind = "sha256" if "sha256" in self._pin else "git_blob"
        if (found := self._hash.hexdigest()) != self._pin[kind]:
            return f"{kind} expected {self._pin[kind]}, found {found}"
        return None


def check(path: Path, pin: Pin) -> str | None:
    """Return how a copy at `path` differs from its pin, and what to do, or None if it is right."""
    found = problem(path, pin)
    return found and f"{path}: {found}. Get it from {whence(pin)}"


def whence(pin: Pin) -> str:
    """Return where upstream has it, in words."""
    return f"{pin['url']} ({pin['member']} in it)" if "member" in pin else str(pin["url"])


def problem(path: Path, pin: Pin) -> str | None:
    """Return how the file or folder at `path` differs from its pin, or None."""
    try:
        if not path.exists():
            return "missing"
        if "git_tree" in pin:
            return _folder_problem(path, pin) if path.is_dir() else "expected a folder, found none"
        if not path.is_file():
            return "expected a file, found none"
        size = path.stat().st_size
        if size != pin.get("size", size):  # no need to read it
            return f"size expected {pin['size']:,} bytes, found {size:,}"
        return hash_file(path, pin, size).problem()
    except OSError as error:
        return f"cannot be read: {error.strerror or error}"


def _folder_problem(folder: Path, pin: Pin) -> str | None:
    files = sorted(folder.iterdir())
    if others := [file.name for file in files if not stat.S_ISREG(file.lstat().st_mode)]:
        return f"expected files alone, found also {_some(others)}"
    if (found := git_tree(files)) == pin["git_tree"]:
        return None
    if len(files) != pin.get("files", len(files)):
        (usual, _), *_ = Counter(file.suffix for file in files).most_common(1) or [("", 0)]
        odd = [file.name for file in files if file.suffix != usual]
        return f"expected {pin['files']:,} files, found {len(files):,}" + (
            f"; unlike the others: {_some(odd)}" if odd else ""
        )
    return f"git_tree expected {pin['git_tree']}, found {found} over {len(files):,} files"


def hash_file(path: Path, pin: Pin, size: int) -> Hasher:
    """Return a hasher that has read what there is of a file of `size` bytes."""
    hasher = Hasher(pin, size)
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            hasher.update(block)
    return hasher


def git_tree(files: list[Path]) -> str:
    """Return the id that git gives a folder of these regular files."""
    entries = []
    for file in sorted(files, key=lambda file: file.name.encode()):
        content = file.read_bytes()
        blob = hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False)
        entries.append(b"100644 %s\0%s" % (file.name.encode(), blob.digest()))
    tree = b"".join(entries)
    return hashlib.sha1(b"tree %d\0" % len(tree) + tree, usedforsecurity=False).hexdigest()


def _some(names: list[str]) -> str:
    shown = ", ".join(names[:3])
    return shown if len(names) <= 3 else f"{shown} and {len(names) - 3} more"
