"""Loads splits as `datasets.Dataset`: the bytes and rows that a build's provenance records.

`load_dataset` follows paths of the card, and keeps rows by what the card states of them, so that a
changed file may load as before.
"""

import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path

import datasets
import pyarrow as pa

from parley.base.console import print_message
from parley.base.disk import cache_folder
from parley.base.errors import OutputError, Problem, SourceError, UsageError
from parley.builds.build import build
from parley.declaration.registry import Dataset
from parley.rows.digest import Digest
from parley.rows.folder import BuiltFolder, open_folder
from parley.rows.provenance import FORMAT
from parley.rows.upstream import open_source, source_folder
from parley.schema.features import arrow_schema
from parley.source.fetch import fetch
from parley.source.pins import problem

_FOLDERS = "of builds with build=, or of upstream files with source= or PARLEY_SOURCE"


def load_rows(
    found: Dataset, config: str | None, split: str | None, folder: Path, source: str | Path | None
) -> datasets.Dataset | datasets.DatasetDict:
    """Return rows from the first place that has them, as `parley.load` says."""
    config = config or found.default
    found.require(config, split)
    splits = [*found.splits[config]] if split is None else [split]
    tried: list[Problem] = []
    if built := _with_rows(folder / found.name, found, config, splits, tried):
        rows = load_splits(built, config, splits)
    else:
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
    made = built.provenance["configs"].get(config, {})
    if built.is_sample:
        why = "a build of the invented sample"
    elif built.version != found.version:
        why = f"a build of {found.name} {built.version}; this is {found.name} {found.version}"
    elif built.provenance.get("format") != FORMAT:
        why = "a build by an older Parley, with other digests"
    elif absent := [each for each in splits if each not in made]:
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
        print_message(f"parley.load builds {found.name} once, which takes some seconds, in {home}")
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

    OutputError names all files and splits that are missing or differ from the provenance.
    """
    features = built.features(config)
    wrong, loaded = list[Problem](), {}
    for split in splits:
        table = _recorded(built, config, split, wrong)
        info = datasets.DatasetInfo(
            features=features, dataset_name=built.dataset.name, config_name=config
        )
        if not wrong:
            loaded[split] = datasets.Dataset(table, info, datasets.NamedSplit(split))
    if wrong:
        what = f"{built.path}: a damaged build"
        raise OutputError(what, *wrong, remedy=f"Run {built.rebuild} again.")
    return loaded


def _recorded(built: BuiltFolder, config: str, split: str, wrong: list[Problem]) -> pa.Table | None:
    """Return the rows that the provenance records; None, and what is wrong, without them."""
    made = built.provenance["configs"][config][split]
    paths = built.files(config, split)
    found = [
        Problem(file["path"], what=why)
        for path, file in zip(paths, made["files"], strict=bool(paths))
        if (why := problem(path, file))
    ]
    if not paths:
        found = [Problem(f"{config}/{split}", what="a file is missing, or a link")]
    if not found:
        table = pa.concat_tables(built.tables(config, split))
        digest = Digest(schema := arrow_schema(built.features(config)))
        if table.schema == schema:
            digest.update(table)
            if (digest.rows, digest.hexdigest()) == (made["rows"], made["digest"]):
                return table
        found = [Problem(f"{config}/{split}", what="other columns or rows than the recorded ones")]
    wrong += found
    return None
