"""Functions for programs: list and load datasets, open builds, select, score predictions."""

import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from parley.base.errors import OutputError, Problem, SourceError, UsageError
from parley.building.collection import Dataset, discover, get

if TYPE_CHECKING:
    import datasets as hf

    from parley.building.built import BuiltFolder
    from parley.reading.site.select import Choice
    from parley.scoring.evaluate import Result

_FOLDERS = "of builds with build=, or of upstream files with source= or PARLEY_SOURCE"


def datasets() -> list[str]:
    """Return the names of all datasets in order, including those of `PARLEY_DATASETS`.

    Raises:
        UsageError: `PARLEY_DATASETS` names no folder of datasets, or two datasets share a name.
    """
    return list(discover())


def dataset(name: str) -> Dataset:
    """Return a dataset with its configs, splits, pins, tasks and modules.

    Raises:
        UsageError: no dataset has this name.
    """
    return get(name)


def load(
    name: str,
    config: str | None = None,
    split: str | None = None,
    *,
    build: str | Path = "build",
    source: str | Path | None = None,
) -> "hf.Dataset | hf.DatasetDict":
    """Return the rows of one split, or of all splits of a config, in memory.

    Takes the first of these places that has the rows in this version:

    1. the build `build/NAME`, if it is not of the sample;
    2. the build in the user's cache;
    3. the upstream files, which it builds into the cache: those in `source`, else in the folder
       that `PARLEY_SOURCE` names, else those of the cache, which it fetches.

    Every file that it loads is compared with the sha256 in the build's provenance.

    Args:
        name: A dataset listed by `datasets`.
        config: One of its configs, by default `dialogues`.
        split: A split such as "train", by default all of them.
        build: The folder of builds.
        source: The folder of upstream files, with one folder for each dataset.

    Raises:
        UsageError: no such dataset, config, split or source.
        SourceError: none of the places has the rows; names each place and its problem.
        OutputError: a file of the build is damaged, or the cache cannot be written.
    """
    import datasets as hf

    from parley.building.loaded import load_splits

    found = dataset(name)
    config = config or found.default
    found.require(config, split)
    splits = list(found.splits[config]) if split is None else [split]
    tried: list[Problem] = []
    built = _with_rows(Path(build) / name, found, config, splits, tried)
    rows = load_splits(built, config, splits) if built else None
    if rows is None:
        rows = _load_cached(found, config, splits, source, tried)
    return hf.DatasetDict(rows) if split is None else rows[split]


def open(folder: str | Path) -> "BuiltFolder":
    """Open a build; its `rows(config, split)` returns rows as dicts, which cannot be changed.

    Args:
        folder: The output of `parley build`: "build/NAME".

    Raises:
        OutputError: the folder is no build.
        UsageError: its dataset is unknown.
    """
    from parley.building.built import open_folder

    return open_folder(Path(folder))


def score(
    folder: "BuiltFolder | str | Path",
    task: str,
    predictions: str | Path | Iterable[Any] | None = None,
    *,
    baseline: str = "",
    subset: str = "",
    **options: str,
) -> "Result":
    """Return the score of predictions, or of a baseline, on a task.

    Args:
        folder: A build, or its path.
        task: A task of its dataset (`parley tasks` lists them).
        predictions: A file of predictions, a log of `parley ask`, or predictions (see
            `parley score --template`).
        baseline: A baseline of the task, instead of predictions.
        subset: A published subset of the task.
        options: Options of the task: topics="search".

    Returns:
        A result whose `as_dict()` has metrics, their unit, counts and references.

    Raises:
        UsageError: no such task, option, subset or baseline, or no predictions.
        RecordError: the predictions have mistakes; names all of them.
        OutputError: the build lacks a split that the task reads.
    """
    from parley.asking.score import score_file
    from parley.scoring.evaluate import score as evaluate
    from parley.scoring.gold import Part

    built = open(folder) if isinstance(folder, str | Path) else folder
    if isinstance(predictions, str | Path) and not baseline:
        return score_file(built, task, options, str(predictions), Part(subset))
    given: Any = predictions
    return evaluate(built, task, options, baseline=baseline, found=given, part=Part(subset))


def select(
    folder: "BuiltFolder | str | Path",
    chosen: "Mapping[str, Choice] | None" = None,
    *,
    every: Collection[str] = (),
    together: bool = True,
    words: Collection[str] = (),
    around: bool = False,
) -> set[str]:
    """Return the ids of the dialogues that filters and words choose on the page.

    Args:
        folder: A build, or its path.
        chosen: Facet -> a list of labels, one of which a dialogue must have; or a tuple of the
            least and the greatest number, each or None: `{"deal": ["yes"], "points": (None, 14)}`.
        every: The chosen facets of which a dialogue must have all labels.
        together: Whether one participant must pass the filters of participants.
        words: Words and phrases that one utterance must have.
        around: Whether they may also be in the texts around the utterances.

    Raises:
        UsageError: the dialogues have no such facet or label, or a choice is no list or tuple.
        ScriptError: the dataset's transcript.py fails on a row.
        OutputError: the folder is no build, or a file of it is not readable Parquet.
    """
    from parley.reading.site.select import selected

    built = open(folder) if isinstance(folder, str | Path) else folder
    return selected(built, chosen or {}, every, together, words, around)


def _with_rows(
    path: Path, found: Dataset, config: str, splits: Sequence[str], tried: list[Problem]
) -> "BuiltFolder | None":
    """Return the build at a path if it records these splits of this version; else note why not."""
    from parley.building.built import open_folder

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
        why = f"a build of version {built.version}; this is {found.version}"
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
) -> "dict[str, hf.Dataset]":
    """Load splits from the build in the user's cache; build it if it is missing or damaged."""
    from parley.building.build import build
    from parley.building.built import open_folder
    from parley.building.loaded import load_splits
    from parley.building.sources import open_source, source_folder
    from parley.fetching.fetch import cache_folder, fetch

    try:
        upstream = source_folder(source, "source=")
        home = cache_folder() / "built" / found.version
        if built := _with_rows(home / found.name, found, config, splits, tried):
            try:
                return load_splits(built, config, splits)
            except OutputError as error:
                warnings.warn(f"{error}\nparley.load builds it again.", stacklevel=3)
                tried.append(Problem(str(built.path), what="a damaged build"))
        if upstream is None:
            fetch(found.name, found.pins, cache_folder())
        files = open_source(found, upstream)
    except (SourceError, UsageError) as error:
        message = f"no {config}/{', '.join(splits)} of {found.name} in these places, in this order"
        tried.append(Problem("", what=error.message))
        remedy = f"{error.remedy} Or name another folder: {_FOLDERS}."
        raise type(error)(message, *tried, *error.problems, remedy=remedy.strip()) from error
    build(files, home)
    return load_splits(open_folder(home / found.name, found), config, splits)
