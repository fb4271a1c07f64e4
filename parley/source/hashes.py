"""Checks files and folders against their pins.

A pin is made of what a `File` or `Folder` declares. It fixes the content of

    a file           {"url", "size"?, "sha256": hex}      the usual hash
                     {"url", "size"?, "git_blob": hex}    what git, and so GitHub, names a file by
    a flat folder    {"url", "member", "git_tree": hex, "files"?}   what git names a folder by

The pin of a file may have "mirrors": a list of pins of files that serve in its place, each with
the content that it has there, which may be other bytes. The pin's own URL comes first.
"""

import hashlib
import os
import stat
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from parley.base.disk import open_regular
from parley.base.errors import few

Pin = Mapping[str, Any]

MISSING = "missing"
UNREADABLE = "cannot be read"  # how a problem of permissions or of the disk begins

PLACEHOLDER = "https://upstream.invalid/"  # prefix of a URL still to be filled in

_BLOCK = 1 << 20


def whence(pin: Pin) -> str:
    """Describe where upstream has it."""
    return f"{pin['url']} ({pin['member']} in it)" if "member" in pin else str(pin["url"])


def places(pin: Pin) -> list[Pin]:
    """Return the pin and its mirrors, in the order in which they are tried."""
    return [pin, *pin.get("mirrors", ())]


def alone(pin: Pin) -> dict[str, Any]:
    """Return a pin without its mirrors, as a provenance states it."""
    return {key: value for key, value in pin.items() if key != "mirrors"}


def compare(path: Path, pin: Pin) -> tuple[Pin | None, str | None]:
    """Return the first of a pin and its mirrors that matches `path`, or None and the difference."""
    first = None
    for place in places(pin):
        if (difference := _problem(path, place)) is None:
            return place, None
        first = first or difference
    return None, first


def problem(path: Path, pin: Pin) -> str | None:
    """Return how the file or folder at `path` differs from its pin, or None; as `compare`."""
    return compare(path, pin)[1]


def _problem(path: Path, pin: Pin) -> str | None:
    try:
        state = path.stat()
        if "git_tree" in pin:
            return _folder_problem(path, pin) if path.is_dir() else "expected a folder, found none"
        if not stat.S_ISREG(state.st_mode):
            return "expected a file, found none"
        if state.st_size != pin.get("size", state.st_size):  # no need to read it
            return f"size expected {pin['size']:,} bytes, found {state.st_size:,}"
        kind = "sha256" if "sha256" in pin else "git_blob"
        content = hash_file(path, kind)
        return None if content == pin[kind] else f"{kind} expected {pin[kind]}, found {content}"
    except (FileNotFoundError, NotADirectoryError):
        return MISSING
    except OSError as error:
        return f"{UNREADABLE}: {error.strerror or error}"


def _folder_problem(folder: Path, pin: Pin) -> str | None:
    files = sorted(folder.iterdir())
    if others := [file.name for file in files if not stat.S_ISREG(file.lstat().st_mode)]:
        return f"expected files alone, found also {few(others)}"
    tree, count = git_tree(files), pin.get("files", len(files))
    if tree == pin["git_tree"]:
        same = f"expected {count:,} files, found {len(files):,} of this git_tree: correct `files`"
        return None if count == len(files) else same
    if len(files) != count:
        (usual, _), *_ = Counter(file.suffix for file in files).most_common(1) or [("", 0)]
        odd = [file.name for file in files if file.suffix != usual]
        unlike = f"; unlike the others: {few(odd)}" if odd else ""
        return f"expected {count:,} files, found {len(files):,}{unlike}"
    return f"git_tree expected {pin['git_tree']}, found {tree} over {len(files):,} files"


def hash_file(path: Path, kind: str) -> str:
    """Return the hash of a file in hexadecimal, of the kind "sha256" or "git_blob"."""
    if kind == "sha256":
        content = hashlib.sha256()
    else:
        content = hashlib.sha1(b"blob %d\0" % path.stat().st_size, usedforsecurity=False)
    with open_regular(path) as file:
        while block := file.read(_BLOCK):
            content.update(block)
    return content.hexdigest()


def git_tree(files: list[Path]) -> str:
    """Return the id that git gives a folder of these regular files."""
    entries = []
    for name, file in sorted((os.fsencode(file.name), file) for file in files):
        entries.append(b"100644 %s\0%s" % (name, bytes.fromhex(hash_file(file, "git_blob"))))
    tree = b"".join(entries)
    return hashlib.sha1(b"tree %d\0" % len(tree) + tree, usedforsecurity=False).hexdigest()
