"""The provenance of a build: what it was made of, with what, and which files it has."""

import json
import platform
import re
import sys
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from parley.base.disk import open_regular
from parley.base.errors import OutputError, Problem
from parley.base.strict_json import loads
from parley.base.version import __version__
from parley.declaration.registry import discover
from parley.schema.shapes import problems

if TYPE_CHECKING:  # opening a build must not import it
    from parley.builds.sources import Sources

CARD, PROVENANCE = "README.md", "provenance.json"
TEXTS = (CARD, PROVENANCE)
"""The names of the files of a build that are no Parquet."""
FORMAT = 1  # of the provenance and of the digests in it
MOST_TEXT = 16_000_000  # bytes of a card or provenance; ours have some 100,000
_NAME = re.compile(r"[\w-]+(\.[\w-]+)*")  # of a config or split: never a path

_SPLIT = {"rows": int, "digest": str, "files": [{"path": str, "bytes": int, "sha256": str}]}
_PROVENANCE = {
    "format": int,
    "dataset": str,
    "version": str,
    "sample": bool,
    "missing": [str],
    "sources": {str: {str: (str, int)}},
    "built_with": {str: str},
    "configs": {str: {str: _SPLIT}},
}


def tools() -> dict[str, str]:
    """Return the versions and the kind of machine that decide on the bytes of a build."""
    libraries = {name: version(name) for name in ("datasets", "pyarrow")}
    return {"parley": __version__, **libraries, "machine": f"{sys.platform}-{platform.machine()}"}


def new_provenance(source: "Sources", built_with: Mapping[str, str]) -> dict[str, Any]:
    """Return what the provenance states of the source and the tools."""
    dataset = source.dataset
    return {
        "format": FORMAT,
        "dataset": dataset.name,
        "version": dataset.version,
        "sample": source.sample,
        "missing": source.missing,
        "sources": source.pins,
        "built_with": built_with,
    }


def provenance_text(stated: Mapping[str, Any]) -> str:
    """Return the text of a provenance."""
    return json.dumps(stated, indent=2, ensure_ascii=False) + "\n"


def read_provenance(path: Path) -> dict[str, Any]:
    """Return the provenance of a build; raise OutputError if it is broken."""
    file = path / PROVENANCE
    if file.is_symlink() or not file.is_file():
        remedy = "Run `parley build` to make one."
        if inside := [name for name in discover() if (path / name / PROVENANCE).is_file()]:
            remedy = f"Name a build inside it, such as {path / inside[0]}."
        raise OutputError(f"{path}: not a build (no {PROVENANCE})", remedy=remedy)
    try:
        provenance = loads(read_text(file))
    except ValueError as error:
        raise OutputError(f"{file}: not in parley's format: {error}") from error
    if found := list(problems(provenance, _PROVENANCE)) or list(_misnamed(provenance)):
        what = f"{file}: not in parley's format"
        raise OutputError(what, *found, remedy="Build it again, or download another copy.")
    return dict(provenance)


def shard_names(split: str, count: int) -> list[str]:
    """Return `SPLIT-00000-of-00002.parquet` and so on, in the order of the rows."""
    return [f"{split}-{number:05d}-of-{count:05d}.parquet" for number in range(count)]


def _misnamed(provenance: dict[str, Any]) -> Iterator[Problem]:
    """Yield the recorded files that are no shards of their split, numbered without a gap.

    Readers take whatever stands in the folder of a config, so no file has another name.
    """
    for config, splits in provenance["configs"].items():
        for split, made in splits.items():
            place = f"configs.{config}.{split}"
            if not (_NAME.fullmatch(config) and _NAME.fullmatch(split)):
                yield Problem(place, "names of a config and a split")
            elif not made["files"]:
                yield Problem(f"{place}.files", "at least one file", "none")
            due = shard_names(split, len(made["files"]))
            for number, (name, file) in enumerate(zip(due, made["files"], strict=True)):
                if file["path"] != f"{config}/{name}":
                    where = f"{place}.files[{number}].path"
                    yield Problem(where, f"{config}/{name}", repr(file["path"]))


def read_text(path: Path) -> str:
    """Return the text of an untrusted file, or raise ValueError."""
    try:
        with open_regular(path, links=False) as file:
            content = file.read(MOST_TEXT + 1)
    except OSError as error:
        raise ValueError(f"cannot be read: {error.strerror}") from error
    if len(content) > MOST_TEXT:
        raise ValueError(f"expected at most {MOST_TEXT:,} bytes, found more")
    return content.decode("utf-8")
