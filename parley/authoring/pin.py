"""Print the pin of an upstream file or folder (`parley pin`)."""

import os
from pathlib import Path
from typing import Any
from urllib.parse import quote

from parley.base.errors import UsageError, few
from parley.source.hashes import PLACEHOLDER, git_tree, hash_file


def pin_line(place: Path, url: str = "") -> str:
    """Return the line of `pins.py` for a file or a flat folder of files, or raise UsageError."""
    if not place.exists():
        raise UsageError(f"no such file or folder: {place}")
    if url and not url.startswith("https://"):
        raise UsageError(f"URL: expected where upstream has it, https://…, found {url}")
    path = place.name if place.is_absolute() else Path(os.path.normpath(place)).as_posix()
    if path.partition("/")[0] in (".", ".."):
        raise UsageError(f"{place}: not below this folder", remedy="Run it in the source folder.")
    pin: dict[str, Any] = {"url": url or PLACEHOLDER + quote(path)}
    if place.is_dir():
        files = list(place.iterdir())
        if inner := [file.name for file in files if not file.is_file()]:
            raise UsageError(f"{place}: expected files alone, found also {few(inner)}")
        pin["url"] += "" if url else ".zip"
        pin |= {"member": path, "git_tree": git_tree(files), "files": len(files)}
    else:
        pin |= {"size": place.stat().st_size, "sha256": hash_file(place, "sha256")}
    items = ", ".join(f"{_literal(key)}: {_literal(value)}" for key, value in pin.items())
    return f"{_literal(path)}: {{{items}}},"


def _literal(value: str | int) -> str:
    text = repr(value)
    return f'"{text[1:-1]}"' if text[0] == "'" and '"' not in text and "\\'" not in text else text
