"""Functions for programs: list and load datasets, open builds, select, score predictions."""

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from parley.collection import Dataset, discover, get
from parley.errors import OutputError, ParleyError, UsageError

if TYPE_CHECKING:
    import datasets as hf

    from parley.folder.built import BuiltFolder
    from parley.scoring.evaluate import Result
    from parley.site.select import Choice


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
    name: str, config: str | None = None, split: str | None = None, *, build: str | Path = "build"
) -> "hf.Dataset | hf.DatasetDict":
    """Return the rows of one split, or of all splits of a config.

    Reads `build/NAME` if it is a complete build of this version. Otherwise reads the user's cache,
    and first fetches and builds the dataset there if needed.

    Args:
        name: A dataset listed by `datasets`.
        config: One of its configs, by default `dialogues`.
        split: A split such as "train", by default all of them.
        build: The folder of builds.

    Raises:
        UsageError: no such dataset, config or split.
        SourceError: the upstream files cannot be fetched, or differ from their pins.
        OutputError: the cache cannot be written.
    """
    import datasets as hf

    found = dataset(name)
    config = config or found.default
    found.require(config, split)
    folder = _complete_build(Path(build) / name, name) or _cached(name)
    return hf.load_dataset(str(folder.path), config, split=split)


def open(folder: str | Path) -> "BuiltFolder":
    """Open a build; its `rows(config, split)` returns rows as dicts, which cannot be changed.

    Args:
        folder: The output of `parley build`: "build/NAME".

    Raises:
        OutputError: the folder is no build.
        UsageError: its dataset is unknown.
    """
    from parley.folder.built import open_folder

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
    from parley.ask.score import score_file
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
    from parley.site.select import selected

    built = open(folder) if isinstance(folder, str | Path) else folder
    return selected(built, chosen or {}, every, together, words, around)


def _complete_build(path: Path, name: str) -> "BuiltFolder | None":
    """Return the build if it exists, is complete and has this version."""
    try:
        built = open(path)
    except (OutputError, UsageError):
        return None
    whole = not built.is_sample and not built.missing and not built.lost
    same = built.dataset.name == name and built.version == dataset(name).version
    return built if whole and same else None


def _cached(name: str) -> "BuiltFolder":
    """Return the build of this version in the user's cache; build it if needed."""
    from parley.build import build
    from parley.source.fetch import cache_folder, fetch
    from parley.source.files import open_source

    declared = dataset(name)
    home = cache_folder() / "built" / declared.version
    if (found := _complete_build(home / name, name)) is None:
        fetch(name, declared.pins, cache_folder())
        build(open_source(declared, None), home)
        if (found := _complete_build(home / name, name)) is None:
            raise ParleyError(f"{home / name}: incomplete build of {name} {declared.version}")
    return found
