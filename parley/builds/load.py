"""Loads splits as `datasets.Dataset`: the bytes and rows that a build's provenance records.

`load_dataset` follows paths of the card, and keeps rows by what the card states of them, so that a
changed file may load as before.
"""

import shutil
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path

import datasets
import pyarrow as pa

from parley.base.console import print_message
from parley.base.disk import cache_folder
from parley.base.errors import OutputError, Problem, SourceError, UsageError
from parley.builds.build import build
from parley.builds.built_folder import BuiltFolder, files_of, find_folder, open_folder
from parley.builds.provenance import FORMAT
from parley.builds.sources import open_source, source_folder
from parley.declaration.registry import Dataset
from parley.rows.digest import Digest
from parley.schema.features import arrow_schema
from parley.source.fetch import fetch
from parley.source.hashes import problem

_FOLDERS = "of builds with build=, or of upstream files with source= or PARLEY_SOURCE"


def load_rows(
    dataset: Dataset,
    config: str | None,
    split: str | None,
    build: str | Path | None,
    source: str | Path | None,
) -> datasets.Dataset | datasets.DatasetDict:
    """Return rows from the first place that has them, as `parley.load` says."""
    config = config or dataset.default
    dataset.require(config, split)
    splits = [*dataset.splits[config]] if split is None else [split]
    place = Path("build" if build is None else build)
    if build is not None:
        if source is not None:
            raise UsageError("build= excludes source=: name one of them")
        find_folder(place, dataset)  # raises an error that says how to build
    found = _with_rows(place / dataset.name, dataset, config, splits) if source is None else None
    if isinstance(found, BuiltFolder):
        rows = load_splits(found, config, splits)
    elif found and build is not None:
        what = f"no {config}/{', '.join(splits)} of {dataset.name}"
        remedy = "Build it again, or leave out build= to load from the cache or upstream's files."
        raise SourceError(what, found, remedy=remedy)
    else:
        rows = _load_cached(dataset, config, splits, source, found)
    return datasets.DatasetDict(rows) if split is None else rows[split]


def _with_rows(
    path: Path, dataset: Dataset, config: str, splits: Sequence[str]
) -> BuiltFolder | Problem:
    """Return the build at a path if it records these splits of this version; else why not."""
    if not path.is_dir():
        return Problem(str(path), what="no such folder")
    try:
        built = open_folder(path, dataset)
    except OutputError as error:
        return Problem("", what=str(error))
    recorded = built.provenance["configs"].get(config, {})
    if built.is_sample:
        why = "a build of the invented sample"
    elif built.version != dataset.version:
        why = f"a build of {dataset.name} {built.version}; this is {dataset.name} {dataset.version}"
    elif (format := built.provenance["format"]) != FORMAT:
        why = f"a build of format {format}; this Parley writes format {FORMAT}"
    elif absent := [split for split in splits if split not in recorded]:
        why = f"a build without {config}/{', '.join(absent)}"
    else:
        return built
    return Problem(str(path), what=why)


def _load_cached(
    dataset: Dataset,
    config: str,
    splits: Sequence[str],
    source: str | Path | None,
    elsewhere: Problem | None,
) -> dict[str, datasets.Dataset]:
    """Load splits from the build in the user's cache; build it if it is missing or damaged.

    `elsewhere` is why another folder has them not.
    """
    problems = [elsewhere] if elsewhere else []
    try:
        upstream = source_folder(source, "source=")
        home = cache_folder() / "built" / dataset.version
        found = _with_rows(home / dataset.name, dataset, config, splits)
        if isinstance(found, BuiltFolder):
            try:
                return load_splits(found, config, splits)
            except OutputError as error:
                warnings.warn(f"{error}\nparley.load builds it again.", stacklevel=4)
                found = Problem(str(found.path), what="a damaged build")
        problems.append(found)
        name = dataset.name
        print_message(f"parley.load builds {name} once, which takes some seconds, in {home}")
        if upstream is None:
            fetch(name, dataset.pins, cache_folder())
        files = open_source(dataset, upstream)
    except (SourceError, UsageError) as error:
        rows = f"{config}/{', '.join(splits)} of {dataset.name}"
        problems += [Problem("", what=error.message), *error.problems]
        remedy = f"{error.remedy} Or name another folder: {_FOLDERS}.".strip()
        what = f"no {rows} in these places, in this order"
        raise type(error)(what, *problems, remedy=remedy) from None
    if not files_of(dataset, home / name):  # what is no build is not replaced
        shutil.rmtree(home / name, ignore_errors=True)
    build(files, home)
    return load_splits(open_folder(home / name, dataset), config, splits)


def load_splits(
    built: BuiltFolder, config: str, splits: Iterable[str]
) -> dict[str, datasets.Dataset]:
    """Return the rows of recorded splits of a config, in memory.

    OutputError names all files and splits that are missing or differ from the provenance.
    """
    features = built.features(config)
    problems, loaded = list[Problem](), {}
    states = {"features": features, "dataset_name": built.dataset.name, "config_name": config}
    for split in splits:
        table = _recorded(built, config, split)
        if not isinstance(table, pa.Table):
            problems += table
        elif not problems:
            info = datasets.DatasetInfo(**states)
            loaded[split] = datasets.Dataset(table, info, datasets.NamedSplit(split))
    if problems:
        what = f"{built.path}: a damaged build"
        raise OutputError(what, *problems, remedy=f"Run {built.rebuild} again.")
    return loaded


def _recorded(built: BuiltFolder, config: str, split: str) -> pa.Table | list[Problem]:
    """Return the rows that the provenance records; without them, what is wrong."""
    recorded = built.provenance["configs"][config][split]
    if not (paths := built.files(config, split)):
        return [Problem(f"{config}/{split}", what="a file is missing, or a link")]
    pairs = zip(paths, recorded["files"], strict=True)
    if damaged := [Problem(f["path"], what=why) for path, f in pairs if (why := problem(path, f))]:
        return damaged
    table = pa.concat_tables(built.tables(config, split))
    digest = Digest(schema := arrow_schema(built.features(config)))
    if table.schema == schema:
        digest.update(table)
        if (digest.rows, digest.hexdigest()) == (recorded["rows"], recorded["digest"]):
            return table
    what = "other columns or rows than the recorded ones"
    return [Problem(f"{config}/{split}", what=what)]
