"""Read the files of a draft, and find their sources and URLs."""

import glob
import os
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property, partial
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote

from parley.authoring.starting.clone import Clone, clone_of
from parley.base.code import literal
from parley.base.errors import Problem, RecordError, UsageError, few
from parley.base.regular import open_regular
from parley.base.strict_json import loads
from parley.declaring.formats import FORMATS
from parley.declaring.pins import PLACEHOLDER, git_tree, hash_file
from parley.fetching.archive import ArchiveError, members, open_archive

MANY = 5  # this many files of a flat folder become one Folder
# suffix -> formats to try
_FORMATS = {
    ".json": ("json value", "json lines"),
    ".jsonl": ("json lines",),
    ".csv": ("csv", "lines"),
    ".tsv": ("tsv", "lines"),
    ".txt": ("lines",),
}
_TABLES = (".csv", ".tsv")
_MOST = 5_000_000  # records of all files, which a draft holds in memory
_SMALL = 1 << 16  # texts of fewer bytes on average are one record each
_HIDDEN = re.compile(r"(^|/)[._]|/$")  # archive entries to skip
_WORDS = re.compile("train|dev|val|test")
_SPLITS = {"train": "train", "dev": "validation", "val": "validation", "test": "test"}


@dataclass(frozen=True)
class _Read:
    """A file that was read: folder or archive, name in it, size, format and values."""

    home: Path
    name: str
    size: int
    format: str
    values: list[Any]


@dataclass
class Given:
    """A source of a draft: a file, a flat folder of files, or a folder in an archive."""

    place: Path  # on disk
    format: str  # of its files
    files: dict[str, list[Any]]  # name within the source -> values; "" for a single file
    member: str = ""  # the folder within an archive
    only: str = ""  # a pattern for the names of the files with records
    path: str = ""  # in upstream's layout
    clone: Clone | None = None  # of a public repository that holds every source

    @cached_property
    def split(self) -> str:
        """The split that its path names, or train."""
        words = re.split(r"[^a-z]+", self.path.lower())
        found = (_WORDS.match(word) for word in reversed(words))
        return next((_SPLITS[match[0]] for match in found if match), "train")

    def pin(self) -> dict[str, Any]:
        """Return url, hash and size; for a folder, its place in the archive at that url."""
        return _pin(self.place, self.path, self.clone)


def _pin(place: Path, path: str, clone: Clone | None) -> dict[str, Any]:
    """Return the pin of the file or flat folder at `place`, which has this path upstream."""
    if place.is_dir():
        url, member, files = f"{PLACEHOLDER}{quote(path)}.zip", path, list(place.iterdir())
        if clone:
            url = f"https://github.com/{clone.repository}/archive/{clone.commit}.zip"
            member = f"{clone.repository.partition('/')[2]}-{clone.commit}/{path}"
        return {"url": url, "member": member, "git_tree": git_tree(files), "files": len(files)}
    url = f"{PLACEHOLDER}{quote(path)}"
    if clone:
        url = f"https://raw.githubusercontent.com/{clone.repository}/{clone.commit}/{quote(path)}"
    return {"url": url, "size": place.stat().st_size, "sha256": hash_file(place, "sha256")}


def pin_line(place: Path, url: str = "") -> str:
    """Return the line of `pins.py` for a file or a flat folder of files.

    The URL of a file in a clone of a public repository is known. UsageError if `place` is missing,
    or a folder that holds other folders.
    """
    if not place.exists():
        raise UsageError(f"no such file or folder: {place}")
    if place.is_dir() and (inner := [each.name for each in place.iterdir() if not each.is_file()]):
        raise UsageError(f"{place}: expected files alone, found also {few(inner)}")
    clone = clone_of([place.absolute()])
    path = clone.paths[0] if clone else place.absolute().name
    pin = _pin(place, path, clone) | ({"url": url} if url else {})
    items = ", ".join(f"{literal(key)}: {literal(value)}" for key, value in pin.items())
    return f"{literal(path)}: {{{items}}},"


def read_given(paths: Sequence[Path], notes: list[str]) -> list[Given]:
    """Read files and folders as sources of one format; note the files left out.

    UsageError if a path is missing, or no file has a known format.
    """
    if absent := [str(path) for path in paths if not path.exists()]:
        raise UsageError(f"no such file or folder: {', '.join(absent)}")
    read = list(_few(_read_all(paths, notes)))
    if any(each.format == "lines" and each.name.endswith(_TABLES) for each in read):
        notes.append("a table lacks a header, or a row has another length: taken as lines of text")
        read = list(_few(_read_all(paths, [], tables=False)))
    if not (read := _alike(read, notes)):
        raise UsageError(f"found no file of a known format: {', '.join([*_FORMATS, '.zip'])}")
    homes: dict[Path, list[_Read]] = {}
    for file in read:
        homes.setdefault(file.home, []).append(file)
    found: list[Given] = []
    for home, some in homes.items():
        found += _sources(home, some)
    places = [each.place for each in found]
    clone = clone_of(places)
    top = os.path.commonpath([place.parent for place in places])
    own = clone.paths if clone else [place.relative_to(top).as_posix() for place in places]
    for each, inside in zip(found, own, strict=True):
        each.path, each.clone = inside, clone
    return found


def _few(files: Iterable[_Read]) -> Iterator[_Read]:
    """Yield the files; UsageError for too many records."""
    records = 0
    for each in files:
        records += len(each.values)
        if records > _MOST:
            raise UsageError(
                f"{each.home / each.name}: expected at most {_MOST:,} records in all, found more",
                remedy="Draft from a part of the files, and pin the whole files in the script.",
            )
        yield each


def _read_all(paths: Sequence[Path], notes: list[str], tables: bool = True) -> Iterator[_Read]:
    """Read the files of these paths; without `tables`, read tables as lines of text."""
    files = list(dict.fromkeys(file for path in paths for file in _files(path.absolute(), notes)))
    texts = [file for file in files if file.suffix == ".txt"]
    sizes = [file.stat().st_size for file in texts]
    for file in files:
        if file.suffix == ".zip":
            yield from _read_archive(file, tables)
        else:
            formats = _formats(file.suffix, sizes, tables)
            yield _read(file.parent, file.name, partial(open_regular, file), formats)


def _files(path: Path, notes: list[str]) -> Iterator[Path]:
    if path.is_dir():
        home = path.resolve()
        for file in sorted(each for each in path.rglob("*") if each.is_file()):
            name = file.relative_to(path)
            if not file.resolve().is_relative_to(home):
                notes.append(f"{name}: left out, a link out of {path}")
            elif file.suffix in _FORMATS:
                yield file
            elif not any(part.startswith(".") for part in name.parts):
                notes.append(f"{name}: left out, unknown format")
    elif path.suffix in _FORMATS or path.suffix == ".zip":
        yield path
    else:
        known = ", ".join([*_FORMATS, ".zip"])
        raise UsageError(f"{path}: expected one of {known}, found {path.suffix or 'no suffix'}")


def _formats(suffix: str, texts: Sequence[int], tables: bool) -> Sequence[str]:
    """Return the formats to try, given the sizes of all texts."""
    if suffix == ".txt" and len(texts) >= MANY and sum(texts) < _SMALL * len(texts):
        return ("text",)
    return _FORMATS[suffix] if tables or suffix not in _TABLES else ("lines",)


def _read_archive(path: Path, tables: bool) -> Iterator[_Read]:
    try:
        with open_regular(path) as file, open_archive(file) as archive:
            there = [each for each in archive.infolist() if not _HIDDEN.search(each.filename)]
        suffixes = [PurePosixPath(each.filename).suffix for each in there]
        counts = Counter(suffix for suffix in suffixes if suffix in _FORMATS)
        suffix = counts.most_common(1)[0][0] if counts else ""
        kept = [each for each, of in zip(there, suffixes, strict=True) if of == suffix in _FORMATS]
        member = os.path.commonpath(
            [str(PurePosixPath(each.filename).parent) for each in kept] or [""]
        )
        if member in ("", "."):
            raise UsageError(f"{path}: expected a folder with files of a known format in it")
        formats = _formats(suffix, [each.file_size for each in kept], tables)
        for name, opened in members(path, member, f"*{suffix}"):
            yield _read(path, f"{member}/{name}", opened, formats)
    except (ArchiveError, zipfile.BadZipFile) as error:
        raise RecordError("", Problem(str(path), what=str(error))) from error


def _read(
    home: Path, name: str, opened: Callable[[], AbstractContextManager[Any]], formats: Sequence[str]
) -> _Read:
    """Read a file in the first format that fits."""
    first: ValueError | None = None
    for format in formats:
        try:
            with opened() as file:
                values = list(islice(FORMATS[format](file, loads), _MOST + 1))
                size = file.tell()
        except ValueError as error:
            first = first or error
            continue
        if format == "json value" and isinstance(values[0], list):
            return _Read(home, name, size, "json", values[0])
        if format not in ("csv", "tsv") or _has_header(values):
            return _Read(home, name, size, format, values)
    said = str((first and first.__cause__) or first).lstrip(": ")
    raise RecordError("", Problem(str(home / name), what=f"cannot be read: {said}"))


def _has_header(rows: list[dict[str, str]]) -> bool:
    """Tell whether the first line of a table seems to name columns."""
    return bool(rows) and all(re.fullmatch(r"\w[\w .:/?()#%-]{,39}", name) for name in rows[0])


def _alike(found: list[_Read], notes: list[str]) -> list[_Read]:
    """Return the files of the most frequent format (by bytes) with shared keys."""
    sizes: Counter[str] = Counter()
    for each in found:
        sizes[each.format] += each.size + 1
    format = max(sizes, key=sizes.__getitem__, default="")
    most = max((e for e in found if e.format == format), key=lambda e: e.size, default=None)
    keys = _keys(most.values, every=True) if most and format != "json value" else set()
    kept = []
    for each in found:
        others = _keys(each.values, every=False)
        if each.format != format:
            notes.append(f"{each.name}: left out, {each.format}, while the others are {format}")
        elif keys and others and not keys & others:
            notes.append(f"{each.name}: left out, its records share no field with the others")
        else:
            kept.append(each)
    return kept


def _keys(values: list[Any], every: bool) -> set[str]:
    """Return the keys of every record, or of any."""
    if not values or not all(isinstance(value, dict) for value in values):
        return set()
    return set.intersection(*map(set, values)) if every else set().union(*values)


def _sources(home: Path, found: list[_Read]) -> Iterator[Given]:
    """Yield the files of a folder or archive as one source if possible, else one by one."""
    format, names = found[0].format, [each.name for each in found]
    if home.is_file():
        member = os.path.commonpath([str(PurePosixPath(name).parent) for name in names])
        files = {each.name.removeprefix(f"{member}/"): each.values for each in found}
        yield Given(home, format, files, member, f"*{PurePosixPath(names[0]).suffix}")
        return
    inside = list(home.iterdir())
    flat = len(names) >= MANY and all(each.is_file() and not each.is_symlink() for each in inside)
    if flat and (only := _pattern(names, [each.name for each in inside])):
        yield Given(home, format, {each.name: each.values for each in found}, only=only)
    else:
        for each in found:
            yield Given(home / each.name, format, {"": each.values})


def _pattern(names: list[str], inside: list[str]) -> str:
    """Return a pattern of these names that no other name inside matches, or ""."""
    suffix = PurePosixPath(names[0]).suffix
    shared = os.path.commonprefix(names)  # noqa: RUF071 - letters, not folders
    for start in ("", shared):
        pattern = f"{glob.escape(start)}*{suffix}"
        if len([name for name in inside if fnmatchcase(name, pattern)]) == len(names):
            return pattern
    return ""
