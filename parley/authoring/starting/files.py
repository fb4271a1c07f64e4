"""Read the files of a draft, and write their pins."""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from parley.authoring.starting.script import literal
from parley.base.errors import Problem, RecordError, UsageError, few
from parley.base.regular import open_regular
from parley.base.strict_json import loads
from parley.source.formats import FORMATS, HEADED
from parley.source.pins import PLACEHOLDER, git_tree, hash_file

BY_HAND = "Write the script by hand, with `records=` or `read=` (docs/adding.md)."
MANY = 5  # this many files of a flat folder become one Folder
# suffix -> formats to try
_FORMATS = {
    ".json": ("json value", "json lines"),
    ".jsonl": ("json lines",),
    ".csv": ("csv",),
    ".tsv": ("tsv",),
}
_KNOWN = ", ".join(_FORMATS)
_SPLITS = {"train": "train", "dev": "validation", "val": "validation", "test": "test"}


@dataclass
class Given:
    """A source of a draft: a file, or a flat folder of files."""

    place: Path
    path: str  # in upstream's layout
    format: str
    values: list[Any]  # of all its files
    names: list[str]  # of the files in a folder

    @property
    def split(self) -> str:
        """The split that its path names, or train."""
        words = re.findall(r"(?<![a-z])(train|dev|val|test)", self.path.lower())
        return _SPLITS[words[-1]] if words else "train"


def pin_of(place: Path, path: str) -> dict[str, Any]:
    """Return the pin of the file or flat folder at `place`, which has this path upstream."""
    if place.is_dir():
        url, files = f"{PLACEHOLDER}{quote(path)}.zip", list(place.iterdir())
        return {"url": url, "member": path, "git_tree": git_tree(files), "files": len(files)}
    url = f"{PLACEHOLDER}{quote(path)}"
    return {"url": url, "size": place.stat().st_size, "sha256": hash_file(place, "sha256")}


def pin_line(place: Path, url: str = "") -> str:
    """Return the line of `pins.py` for a file or a flat folder of files, or raise UsageError."""
    if not place.exists():
        raise UsageError(f"no such file or folder: {place}")
    if place.is_dir() and (inner := [each.name for each in place.iterdir() if not each.is_file()]):
        raise UsageError(f"{place}: expected files alone, found also {few(inner)}")
    path = place.absolute().name
    pin = pin_of(place, path) | ({"url": url} if url else {})
    items = ", ".join(f"{literal(key)}: {literal(value)}" for key, value in pin.items())
    return f"{literal(path)}: {{{items}}},"


def read_given(paths: Sequence[Path], notes: list[str]) -> list[Given]:
    """Read files and folders as sources of one format; note what was taken, and what left out."""
    if absent := [str(path) for path in paths if not path.exists()]:
        raise UsageError(f"no such file or folder: {', '.join(absent)}")
    places = list(dict.fromkeys(p for path in paths for p in _files(path.absolute(), notes)))
    if not places:
        raise UsageError(f"found no file of a known format: {_KNOWN}")
    homes: dict[Path, dict[str, list[Any]]] = {}
    format = ""
    for place in places:
        own, values = _read(place)
        if own != (format := format or own):
            raise UsageError(
                f"{place} is {own}, but {places[0]} {format}",
                remedy="Name the files of one format and layout.",
            )
        homes.setdefault(place.parent, {})[place.name] = values
    top = os.path.commonpath([*homes])
    found: list[Given] = []
    for home, files in homes.items():
        path = home.relative_to(top)
        if len(files) >= MANY and files.keys() == {each.name for each in home.iterdir()}:
            every = [value for values in files.values() for value in values]
            name = path.as_posix() if path.parts else home.name
            found.append(Given(home, name, format, every, [*files]))
        else:
            for name, values in files.items():
                found.append(Given(home / name, (path / name).as_posix(), format, values, []))
    for each in found:
        of = f"{len(each.names)} files of " if each.names else ""
        count = f"{of}{format}, {len(each.values):,} values"
        if format in HEADED and each.values:
            count += f" of the columns {few([*each.values[0]], 8)}"
        notes.append(f"{each.path}: {count} -> split {each.split}")
    return found


def _files(path: Path, notes: list[str]) -> Iterator[Path]:
    """Yield a file, or those of a folder that have a known format and are no links."""
    if not path.is_dir():
        if not path.is_file():
            raise UsageError(f"{path}: not a regular file")
        if path.suffix not in _FORMATS:
            raise UsageError(f"{path}: expected a folder or a file {_KNOWN}")
        yield path
        return
    for file in sorted(each for each in path.rglob("*") if each.is_file()):
        name = file.relative_to(path)
        is_link = file.resolve() != path.resolve() / name
        if any(part.startswith(".") for part in name.parts):
            continue
        if is_link or file.suffix not in _FORMATS:
            notes.append(f"{name}: left out, {'a link' if is_link else 'unknown format'}")
        else:
            yield file


def _read(place: Path) -> tuple[str, list[Any]]:
    """Read a file in the first format that fits; RecordError if none does."""
    first: ValueError | None = None
    for format in _FORMATS[place.suffix]:
        try:
            with open_regular(place) as file:
                values = list(FORMATS[format](file, loads))
        except ValueError as error:
            first = first or error
            continue
        names = [*values[0]] if format in HEADED and values else []
        is_one = len(names) == 1 and re.search(r"[,;|\t]", names[0])  # of another separator
        if is_one or (names and not re.search(r"[^\W\d_]", "".join(names))):
            said = f"expected the names of columns in the first line, found {few(names, 8)}"
            raise UsageError(f"{place}: {said}", remedy=BY_HAND)
        is_list = format == "json value" and isinstance(values[0], list)
        return ("json", values[0]) if is_list else (format, values)
    said = str((first and first.__cause__) or first).lstrip(": ")
    raise RecordError("", Problem(str(place), what=f"cannot be read: {said}"))
