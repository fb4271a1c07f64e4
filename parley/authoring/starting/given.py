"""Read the files of a draft, and write their pins."""

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import quote

from parley.authoring.starting.code import literal
from parley.base.errors import Problem, RecordError, UsageError, few
from parley.base.regular import open_regular
from parley.base.strict_json import loads
from parley.source.formats import FORMATS
from parley.source.pins import PLACEHOLDER, git_tree, hash_file

MANY = 5  # this many files of a flat folder become one Folder
# suffix -> formats to try
_FORMATS = {
    ".json": ("json value", "json lines"),
    ".jsonl": ("json lines",),
    ".csv": ("csv",),
    ".tsv": ("tsv",),
    ".txt": ("json lines", "lines"),
}
_KNOWN = ", ".join(_FORMATS)
_MOST = 5_000_000  # records of all files, which a draft holds in memory
_SMALL = 1 << 16  # texts of fewer bytes on average are one record each
_WORDS = re.compile("train|dev|val|test")
_SPLITS = {"train": "train", "dev": "validation", "val": "validation", "test": "test"}


@dataclass
class Given:
    """A source of a draft: a file, or a flat folder of files."""

    place: Path
    format: str  # of its files
    files: dict[str, list[Any]]  # name within the source -> values; "" for a single file
    path: str = ""  # in upstream's layout

    @property
    def values(self) -> Iterator[Any]:
        """The values of all files."""
        return (value for values in self.files.values() for value in values)

    @cached_property
    def split(self) -> str:
        """The split that its path names, or train."""
        words = re.split(r"[^a-z]+", self.path.lower())
        found = (_WORDS.match(word) for word in reversed(words))
        return next((_SPLITS[match[0]] for match in found if match), "train")


def pin_of(place: Path, path: str) -> dict[str, Any]:
    """Return the pin of the file or flat folder at `place`, which has this path upstream."""
    if place.is_dir():
        url, files = f"{PLACEHOLDER}{quote(path)}.zip", list(place.iterdir())
        return {"url": url, "member": path, "git_tree": git_tree(files), "files": len(files)}
    url = f"{PLACEHOLDER}{quote(path)}"
    return {"url": url, "size": place.stat().st_size, "sha256": hash_file(place, "sha256")}


def pin_line(place: Path, url: str = "") -> str:
    """Return the line of `pins.py` for a file or a flat folder of files.

    UsageError if `place` is missing, or a folder that holds other folders.
    """
    if not place.exists():
        raise UsageError(f"no such file or folder: {place}")
    if place.is_dir() and (inner := [each.name for each in place.iterdir() if not each.is_file()]):
        raise UsageError(f"{place}: expected files alone, found also {few(inner)}")
    path = place.absolute().name
    pin = pin_of(place, path) | ({"url": url} if url else {})
    items = ", ".join(f"{literal(key)}: {literal(value)}" for key, value in pin.items())
    return f"{literal(path)}: {{{items}}},"


def read_given(paths: Sequence[Path], notes: list[str]) -> list[Given]:
    """Read files and folders as sources of one format; note what was taken, and what left out.

    UsageError if a path is missing, or no file has a known format.
    """
    if absent := [str(path) for path in paths if not path.exists()]:
        raise UsageError(f"no such file or folder: {', '.join(absent)}")
    places = list(dict.fromkeys(p for path in paths for p in _files(path.absolute(), notes)))
    texts = [place.stat().st_size for place in places if place.suffix == ".txt"]
    whole = len(texts) >= MANY and sum(texts) < _SMALL * len(texts)
    read: dict[Path, tuple[str, list[Any]]] = {}
    count = 0
    for place in places:
        formats = _FORMATS[place.suffix]
        formats = ("json lines", "text") if whole and place.suffix == ".txt" else formats
        read[place] = _read(place, formats)
        count += len(read[place][1])
        if count > _MOST:
            raise UsageError(
                f"{place}: expected at most {_MOST:,} records in all, found more",
                remedy="Draft from a part of the files, and pin the whole files in the script.",
            )
    kept = _alike(read, notes)
    if not kept:
        raise UsageError(f"found no file of a known format: {_KNOWN}")
    homes: dict[Path, dict[str, list[Any]]] = {}
    for place in kept:
        homes.setdefault(place.parent, {})[place.name] = read[place][1]
    format = read[kept[0]][0]
    found: list[Given] = []
    for home, files in homes.items():
        alone = {each.name for each in home.iterdir() if each.is_file() and not each.is_symlink()}
        if len(files) >= MANY and files.keys() == alone == {each.name for each in home.iterdir()}:
            found.append(Given(home, format, files))
        else:
            found += [Given(home / name, format, {"": values}) for name, values in files.items()]
    top = os.path.commonpath([each.place.parent for each in found])
    for each in found:
        each.path = each.place.relative_to(top).as_posix()
        of = f"{len(each.files)} files of " if "" not in each.files else ""
        count = sum(map(len, each.files.values()))
        notes.append(f"{each.path}: {of}{format}, {count:,} values -> split {each.split}")
    return found


def _files(path: Path, notes: list[str]) -> Iterator[Path]:
    """Yield a file, or those of a folder that have a known format and are no links."""
    if path.is_dir():
        for file in sorted(each for each in path.rglob("*") if each.is_file()):
            name = file.relative_to(path)
            if any(part.startswith(".") for part in name.parts):
                continue
            if file.resolve() != path.resolve() / name:
                notes.append(f"{name}: left out, a link")
            elif file.suffix in _FORMATS:
                yield file
            else:
                notes.append(f"{name}: left out, unknown format")
    elif not path.is_file():
        raise UsageError(f"{path}: not a regular file")
    elif path.suffix in _FORMATS:
        yield path
    else:
        remedy = "Unpack an archive, and name its folder." if path.suffix == ".zip" else ""
        raise UsageError(f"{path}: expected a folder or a file {_KNOWN}", remedy=remedy)


def _read(place: Path, formats: Sequence[str]) -> tuple[str, list[Any]]:
    """Read a file in the first format that fits; RecordError if none does."""
    first: ValueError | None = None
    for format in formats:
        try:
            with open_regular(place) as file:
                values = list(islice(FORMATS[format](file, loads), _MOST + 1))
        except ValueError as error:
            first = first or error
            continue
        if format == "json value" and isinstance(values[0], list):
            return "json", values[0]
        if format == "json lines" and place.suffix == ".txt" and not _are_objects(values):
            continue  # numbers, such as 12, are text too
        if format in ("csv", "tsv") and values:
            _require_header(place, format, list(values[0]))
        return format, values
    said = str((first and first.__cause__) or first).lstrip(": ")
    raise RecordError("", Problem(str(place), what=f"cannot be read: {said}"))


def _are_objects(values: list[Any]) -> bool:
    return bool(values) and all(isinstance(value, dict) for value in values)


def _require_header(place: Path, format: str, names: list[str]) -> None:
    """Raise RecordError for a table whose first line cannot be its header."""
    said = ""
    if len(names) == 1 and any(mark in names[0] for mark in ";\t|"):
        said = f"its columns are separated in another way than {format}'s: {names[0]!r:.60}"
    elif "" in names:
        said = f"column {names.index('') + 1} has no name, as pandas writes an index"
    elif format == "tsv" and any(re.fullmatch('".*"', name) for name in names):
        said = "its header is in quotes, which tsv does not know"
    elif odd := [name for name in names if not re.fullmatch(r"\w[\w .:/?()#%-]{,39}", name)]:
        said = f"its first line names no columns: {odd[0]!r:.60}"
    if said:
        remedy = "Write the script by hand, with a function as `read=` (docs/adding.md)."
        raise RecordError("", Problem(str(place), what=said), remedy=remedy)


def _alike(read: dict[Path, tuple[str, list[Any]]], notes: list[str]) -> list[Path]:
    """Return the files in the format of most bytes that share a field with the largest of them.

    Note the files left out, and the fields that no record of a file has.
    """
    sizes: Counter[str] = Counter()
    for place, (format, _) in read.items():
        sizes[format] += place.stat().st_size + 1
    usual = max(sizes, key=sizes.__getitem__, default="")
    kept = [place for place, (format, _) in read.items() if format == usual]
    fields = {
        place: set[str]().union(*map(set, read[place][1]))
        for place in kept
        if usual != "json value" and _are_objects(read[place][1])
    }
    most = fields.get(max(kept, key=lambda each: each.stat().st_size, default=Path()), set())
    for place, (format, _) in read.items():
        if format != usual:
            notes.append(f"{place.name}: left out, {format}, while most bytes are {usual}")
        elif place in fields and not fields[place] & most and most:
            notes.append(f"{place.name}: left out, its records share no field with the others")
            kept.remove(place)
            del fields[place]
    every = set[str]().union(*fields.values())
    lacking: dict[tuple[str, ...], list[str]] = {}
    for place, found in fields.items():
        if found != every:
            lacking.setdefault(tuple(sorted(every - found)), []).append(place.name)
    for absent, names in lacking.items():
        notes.append(f"{few(names)}: no record has {few([*map(repr, absent)])}, as other files do")
    return kept
