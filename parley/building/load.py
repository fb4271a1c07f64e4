"""Loads splits as `datasets.Dataset`: the bytes and rows that a build's provenance records.

`load_dataset` follows paths of the card, and keeps rows by what the card states of them, so that a
changed file may load as before.
"""

import hashlib
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import datasets
import pyarrow as pa
import pyarrow.parquet as pq

from parley.base.errors import OutputError, Problem, SourceError, UsageError
from parley.base.regular import open_regular
from parley.building.build import build
from parley.building.folder import BuiltFolder, open_folder
from parley.building.provenance import FORMAT
from parley.building.registry import Dataset
from parley.building.rows.digest import Digest
from parley.building.sources import open_source, source_folder
from parley.schema.features import arrow_schema
from parley.source.fetch import cache_folder, fetch

_FOLDERS = "of builds with build=, or of upstream files with source= or PARLEY_SOURCE"


def load_rows(
    found: Dataset, config: str | None, split: str | None, folder: Path, source: str | Path | None
) -> datasets.Dataset | datasets.DatasetDict:
    """Return rows from the first place that has them, as `parley.load` says."""
    config = config or found.default
    found.require(config, split)
    splits = [*found.splits[config]] if split is None else [split]
    tried: list[Problem] = []
    built = _with_rows(folder / found.name, found, config, splits, tried)
    rows = load_splits(built, config, splits) if built else None
    if rows is None:
        rows = _load_cached(found, config, splits, source, tried)
    return datasets.DatasetDict(rows) if split is None else rows[split]


def _with_rows(
    path: Path, found: Dataset, config: str, splits: Sequence[str], tried: list[Problem]
) -> BuiltFolder | None:
    """Return the build at a path if it records these splits of this version; else note why not."""
    if not path.is_dir():
        tried.append(Problem(str(path), what="no such folder"))
        return None
    try:
        built = open_folder(path, found)
    except OutputError as error:
        tried.append(Problem("", what=str(error)))
        return None
    absent = [each for each in splits if each not in built.provenance["configs"].get(config, {})]
    if built.is_sample:
        why = "a build of the invented sample"
    elif built.version != found.version:
        why = f"a build of {found.name} {built.version}; this is {found.name} {found.version}"
    elif built.provenance.get("format") != FORMAT:
        why = "a build by an older Parley, with other digests"
    elif absent:
        why = f"a build without {config}/{', '.join(absent)}"
    else:
        return built
    tried.append(Problem(str(path), what=why))
    return None


def _load_cached(
    found: Dataset,
    config: str,
    splits: Sequence[str],
    source: str | Path | None,
    tried: list[Problem],
) -> dict[str, datasets.Dataset]:
    """Load splits from the build in the user's cache; build it if it is missing or damaged."""
    try:
        upstream = source_folder(source, "source=")
        home = cache_folder() / "built" / found.version
        if built := _with_rows(home / found.name, found, config, splits, tried):
            try:
                return load_splits(built, config, splits)
            except OutputError as error:
                warnings.warn(f"{error}\nparley.load builds it again.", stacklevel=4)
                tried.append(Problem(str(built.path), what="a damaged build"))
        if upstream is None:
            fetch(found.name, found.pins, cache_folder())
        files = open_source(found, upstream)
    except (SourceError, UsageError) as error:
        message = f"no {config}/{', '.join(splits)} of {found.name} in these places, in this order"
        tried.append(Problem("", what=error.message))
        remedy = f"{error.remedy} Or name another folder: {_FOLDERS}."
        raise type(error)(message, *tried, *error.problems, remedy=remedy.strip()) from None
    build(files, home)
    return load_splits(open_folder(home / found.name, found), config, splits)


def load_splits(
    built: BuiltFolder, config: str, splits: Iterable[str]
) -> dict[str, datasets.Dataset]:
    """Return the rows of recorded splits of a config, in memory.

    Raises:
        OutputError: a file is missing, or files or rows differ from the provenance;
            names all of them.
    """
    wrong: list[Problem] = []
    tables = {split: _table(built, config, split, wrong) for split in splits}
    if wrong:
        what = f"{built.path}: a damaged build"
        raise OutputError(what, *wrong, remedy=f"Run {built.rebuild} again.")
    features = built.features(config)
    return {
        split: datasets.Dataset(
            table,
            datasets.DatasetInfo(
                features=features, dataset_name=built.dataset.name, config_name=config
            ),
            datasets.NamedSplit(split),
        )
        for split, table in tables.items()
    }


def _table(built: BuiltFolder, config: str, split: str, wrong: list[Problem]) -> pa.Table:
    schema = arrow_schema(built.features(config))
    made = built.provenance["configs"][config][split]
    tables, already = [schema.empty_table()], len(wrong)
    if not (paths := built.files(config, split)):
        wrong.append(Problem(f"{config}/{split}", what="a file is missing, or a link"))
    for path, file in zip(paths, made["files"], strict=False):
        if (table := _recorded(path, file)) is None or table.schema != schema:
            what = "unreadable, or not of the recorded size, sha256 and columns"
            wrong.append(Problem(file["path"], what=what))
        else:
            tables.append(table)
    table, digest = pa.concat_tables(tables), Digest(schema)
    digest.update(table)
    if len(wrong) == already and (table.num_rows, digest.hexdigest()) != (
        made["rows"],
        made["digest"],
    ):
        wrong.append(Problem(f"{config}/{split}", what="other rows than the recorded ones"))
    return table


def _recorded(path: Path, file: dict[str, Any]) -> pa.Table | None:
    """Return the table of a Parquet file; None if it is none, or not of the recorded bytes."""
    try:
        with open_regular(path, links=False) as opened:
            data = opened.read(file["bytes"] + 1)
        if hashlib.sha256(data).hexdigest() != file["sha256"]:
            return None
        return pq.ParquetFile(pa.BufferReader(data)).read()
    except (pa.ArrowException, OSError, ValueError):
        return None
