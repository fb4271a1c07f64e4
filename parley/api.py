"""What a program does with datasets: name them, load them, open what was built, score on it."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from parley.errors import OutputError, ParleyError, UsageError

if TYPE_CHECKING:
    import datasets as hf

    from parley.collection import Dataset
    from parley.folder.built import BuiltFolder
    from parley.scoring.evaluate import Result


def datasets() -> list[str]:
    """Return the names of all datasets, those of `PARLEY_DATASETS` too, in their order.

    Raises:
        UsageError: `PARLEY_DATASETS` names no folder of datasets, or two have one name.
    """
    from parley.collection import discover

    return list(discover())


def dataset(name: str) -> "Dataset":
    """Return a dataset as its folder declares it: its configs, splits, pins, tasks and modules.

    Raises:
        UsageError: there is no dataset of this name.
    """
    from parley.collection import get

    return get(name)


def load(
    name: str, config: str | None = None, split: str | None = None, *, build: str | Path = "build"
) -> "hf.Dataset | hf.DatasetDict":
    """Return rows of a dataset: those of one split, or all splits of a config.

    They are read from `build/NAME` where that is a whole build of this version; else from the
    user's cache, where the dataset is built once a version, from files that are fetched if need be.

    Args:
        name: A dataset, as `datasets` names it.
        config: A config of it; left out, `dialogues`.
        split: A split of it: "train"; left out, all of them.
        build: The folder of built folders.

    Raises:
        UsageError: there is no such dataset, config or split.
        SourceError: the upstream files cannot be fetched, or are not the pinned ones.
        OutputError: the cache cannot be written.
    """
    import datasets as hf

    found = dataset(name)
    config = config or found.default
    for word, asked, known in (
        ("config", config, found.configs),
        ("split", split, found.splits.get(config, {})),
    ):
        if asked is not None and asked not in known:
            raise UsageError(f"{name} has no {word} {asked!r}; there are: {', '.join(known)}")
    folder = _ready(Path(build) / name, name) or _cached(name)
    return hf.load_dataset(str(folder.path), config, split=split)


def open(folder: str | Path) -> "BuiltFolder":
    """Return a built folder, of which `rows(config, split)` gives rows as dicts.

    Args:
        folder: What `parley build` left: "build/NAME".

    Raises:
        OutputError: it is no built folder.
        UsageError: it is of a dataset that is not here.
    """
    from parley.folder.built import open_folder

    return open_folder(Path(folder))


def score(
    folder: "BuiltFolder | str | Path",
    task: str,
    predictions: str | Path | Iterable[Any] | None = None,
    *,
    baseline: str = "",
    **options: str,
) -> "Result":
    """Return the score of predictions, or of a baseline, on a task.

    Args:
        folder: A built folder, or where it is.
        task: A task of its dataset, as `parley tasks` lists them.
        predictions: A file of predictions, or predictions as `parley score --template` has them.
        baseline: A baseline of the task, in place of predictions.
        options: Options of the task: topics="search".

    Returns:
        A result whose `as_dict()` has metrics, their unit, counts and references.

    Raises:
        UsageError: there is no such task, option or baseline, or there are no predictions.
        RecordError: naming everything that is wrong with the predictions.
        OutputError: the folder lacks what the task reads.
    """
    from parley.scoring.evaluate import score as evaluate

    built = open(folder) if isinstance(folder, str | Path) else folder
    if isinstance(predictions, str | Path):
        return evaluate(built, task, options, file=str(predictions), baseline=baseline)
    return evaluate(built, task, options, baseline=baseline, found=predictions)


def _ready(path: Path, name: str) -> "BuiltFolder | None":
    """Return a folder that is a whole build of this version, if one is there."""
    try:
        built = open(path)
    except (OutputError, UsageError):
        return None
    whole = not built.is_sample and not built.missing and not built.lost
    same = built.dataset.name == name and built.version == dataset(name).version
    return built if whole and same else None


def _cached(name: str) -> "BuiltFolder":
    """Return the build of this version in the user's cache, made if need be."""
    from parley.build import build
    from parley.source.fetch import cache_folder, fetch
    from parley.source.files import open_source

    declared = dataset(name)
    home = cache_folder() / "built" / declared.version
    if (found := _ready(home / name, name)) is None:
        fetch(name, declared.pins, cache_folder())
        build(open_source(declared, None), home)
        if (found := _ready(home / name, name)) is None:
            raise ParleyError(f"{home / name}: is no whole build of {name} {declared.version}")
    return found
