"""The upstream files that a build reads: where they are, and whether they are the pinned ones."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from parley.collection import Dataset
from parley.errors import SourceError, UsageError
from parley.source import pins


@dataclass(frozen=True)
class Source:
    """A folder with one dataset's files in upstream's layout.

    Args:
        folder: The folder.
        sample: Whether these are the invented records shipped with the dataset, which no pin
            describes.
        missing: The sources that are not there.
    """

    folder: Path
    sample: bool = False
    missing: list[str] = field(default_factory=list)

    def has(self, dataset: Dataset, config: str, split: str) -> bool:
        """Tell whether all files of this split are there."""
        needed = dataset.module.SPLITS[config][split]
        return not set(_names(needed)) & set(self.missing)


def _names(needed: Any) -> Iterable[str]:
    return [needed] if isinstance(needed, str) else needed


def _place(dataset: Dataset, folder: Path | None) -> Path:
    if folder is not None:
        if not folder.is_dir():
            raise UsageError(f"{folder}: no such folder; --source names a folder of upstream files")
        return folder / dataset.name
    from parley.source.fetch import cache_folder  # not at the top: it brings requests

    return cache_folder() / dataset.name


def open_source(
    dataset: Dataset, folder: Path | None, *, sample: bool = False, allow_missing: bool = False
) -> Source:
    """Return a dataset's source, after comparing every file with its pin.

    Args:
        dataset: The dataset.
        folder: A folder that holds one folder a dataset; None is the cache that `fetch` fills.
        sample: Take the sample shipped in the dataset folder instead.
        allow_missing: Accept that files are missing, but never that they are damaged.

    Raises:
        UsageError: the folder is not there.
        SourceError: naming each file that is damaged or missing, and what to do.
    """
    if sample:
        return Source(dataset.sample, sample=True)
    place = _place(dataset, folder)
    sources = dataset.module.SOURCES
    missing = [file for file in sources if not (place / file).exists()]
    found = [
        problem
        for file, pin in sources.items()
        if file not in missing and (problem := pins.check(place / file, pin))
    ]
    if missing and (not allow_missing or len(missing) == len(sources)):
        found += [f"{place / file}: missing" for file in missing]
        found.append(
            f"Run `parley fetch {dataset.name}`"
            if folder is None
            else f"Put the files there in upstream's layout, or run `parley fetch {dataset.name}`"
        )
        if len(missing) < len(sources):
            found[-1] += ", or build what is there with --allow-missing"
        found[-1] += "."
    if found:
        raise SourceError("\n".join(found))
    return Source(place, missing=missing)


def at_hand(dataset: Dataset, folder: Path | None) -> Source | None:
    """Return a dataset's source as far as it is there, or None if nothing of it is.

    Raises:
        SourceError: what is there is damaged.
    """
    place = _place(dataset, folder)
    if not any((place / file).exists() for file in dataset.module.SOURCES):
        return None
    return open_source(dataset, folder, allow_missing=True)
