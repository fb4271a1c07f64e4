"""The upstream files of a dataset: where they are, and whether they match their pins."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from parley.base.disk import cache_folder
from parley.base.errors import Problem, SourceError, UsageError
from parley.declaration.registry import Dataset
from parley.source import hashes
from parley.source.files import Source
from parley.source.reader import Reader

if TYPE_CHECKING:
    from parley.rows.splits import SplitPlan


@dataclass(frozen=True)
class Sources:
    """A folder with one dataset's files in upstream's layout."""

    dataset: Dataset
    folder: Path
    sample: bool = False  # whether these are invented records, which no pin describes
    missing: list[str] = field(default_factory=list)
    # source -> the mirror's pin, where a file is the mirror's and has other bytes
    mirrored: dict[str, hashes.Pin] = field(default_factory=dict)
    compared: bool = False  # whether each file was compared with its pin

    def files(self, config: str, split: str) -> list[Source]:
        """Return the files of a split; [] if one is missing."""
        needed = self.dataset.splits[config][split]
        return [] if any(each.path in self.missing for each in needed) else list(needed)

    @property
    def remedy(self) -> str:
        """What to do about an invalid record."""
        script = self.dataset.folder / f"{self.dataset.name}.py"
        if self.sample:
            return f"The error is in {self.folder}, or in {script}."
        remedy = f"The files match their pins, so {script} is wrong about them: correct it"
        return f"{remedy}; docs/adding.md lists layouts."

    def splits(self, config: str) -> list[str]:
        """Return the splits of a config whose files exist, in the script's order."""
        return [split for split in self.dataset.splits[config] if self.files(config, split)]

    @property
    def pins(self) -> dict[str, dict[str, Any]]:
        """File that is there -> the pin that it matches, without mirrors; {} for the sample."""
        return {
            file: hashes.alone(self.mirrored.get(file, pin))
            for file, pin in self.dataset.pins.items()
            if not self.sample and file not in self.missing
        }

    def require_unchanged(self) -> None:
        """Raise SourceError unless each file that was compared still has the pinned content."""
        found = [
            Problem(str(self.folder / file), what=wrong)
            for file, pin in (self.pins if self.compared else {}).items()
            if (wrong := hashes.problem(self.folder / file, pin))
        ]
        if found:
            what = f"{self.dataset.name}: upstream files changed while they were read"
            raise SourceError(what, *found, remedy="Run the command again.")


def source_folder(given: str | Path | None, option: str = "--source") -> Path | None:
    """Return the folder of upstream files: the given one, else that of `PARLEY_SOURCE`.

    None stands for the cache. UsageError, with the name of the option, if it is no folder.
    """
    place, name = given, option
    if place is None:
        place, name = os.environ.get("PARLEY_SOURCE") or None, "PARLEY_SOURCE"
    if place is not None and not Path(place).is_dir():
        raise UsageError(f"{name} {place}: no such folder")
    return None if place is None else Path(place)


def _place(dataset: Dataset, folder: Path | None) -> Path:
    if folder is None:
        return cache_folder() / dataset.name
    if not folder.is_dir():
        raise UsageError(f"{folder}: no such folder; --source takes a folder of upstream files")
    place = folder / dataset.name
    if not place.is_dir() and any(os.path.exists(folder / file) for file in dataset.sources):
        what = f"{folder}: holds the files of {dataset.name} itself"
        remedy = "--source takes the folder above it, with one folder for each dataset."
        raise UsageError(what, remedy=remedy)
    return place


def open_source(
    dataset: Dataset, folder: Path | None, *, sample: bool = False, allow_missing: bool = False
) -> Sources:
    """Return a dataset's source, after comparing every file with its pin; or the sample.

    `folder` holds one folder a dataset; None is the cache that `fetch` fills. SourceError names
    each damaged or missing file; with `allow_missing`, missing ones only if no split is left.
    """
    if sample:
        return Sources(dataset, dataset.sample, sample=True)
    place = _place(dataset, folder)
    there, found = dict[str, hashes.Pin](), []
    for file, pin in dataset.pins.items():
        matched, problem = hashes.compare(place / file, pin)
        if problem == hashes.MISSING:
            continue
        there[file] = matched or pin
        if problem:
            what = f"{problem}; it is from {hashes.whence(pin)}"
            found.append(Problem(str(place / file), what=what))
    made = sources_of(dataset, place, there)
    partial = ""
    if made.missing and not (allow_missing and any(map(made.splits, dataset.configs))):
        found += [Problem(str(place / file), what=hashes.MISSING) for file in made.missing]
        partial = ", or build the available files with --allow-missing" if there else ""
    if not found:
        return made
    fetch = f"`parley fetch {dataset.name}`"
    remedy = f"Put them into {place} in upstream's layout, or leave out --source (and unset "
    remedy += f"PARLEY_SOURCE) and run {fetch}"
    if folder is None:
        remedy = f"Run {fetch}, or name a folder that has them with --source or PARLEY_SOURCE"
    message = f"{dataset.name}: upstream files are missing or differ from their pins"
    raise SourceError(message, *found, remedy=f"{remedy}{partial}.")


def sources_of(dataset: Dataset, place: Path, there: Mapping[str, hashes.Pin]) -> Sources:
    """Return a source by the pin, or the mirror's pin, that each file there matches."""
    missing = [file for file in dataset.pins if file not in there]
    mirrored = {file: pin for file, pin in there.items() if pin != dataset.pins[file]}
    return Sources(dataset, place, False, missing, mirrored, compared=True)


def at_hand(dataset: Dataset, folder: Path | None) -> Sources | None:
    """Return a dataset's source with the available files, or None without any.

    SourceError if a file is damaged.
    """
    try:
        return open_source(dataset, folder, allow_missing=True)
    except UsageError:  # no cache, as where there is no home folder
        if folder is not None:
            raise
    except SourceError as error:
        if [each.what for each in error.problems] != [hashes.MISSING] * len(dataset.pins):
            raise
    return None


def plan(source: Sources) -> "list[SplitPlan]":
    """Return the plan of each split whose files exist, in the order of the script."""
    from parley.rows.splits import SplitPlan  # not at the top: pyarrow, and help must be quick

    dataset, reader, plans = source.dataset, Reader(source.folder), list[SplitPlan]()
    for name, config in dataset.configs.items():
        base = dataset.builder.base(name)
        for split in base.splits:
            if files := tuple(source.files(name, split)):
                made_by = (files, reader, base.records, source.remedy)
                plans.append(SplitPlan(dataset.name, config, split, *made_by))
    return plans


def split_plan(source: Sources, config: str, split: str) -> "SplitPlan":
    """Return the plan of one split, whose files exist."""
    return next(each for each in plan(source) if each.name == (config, split))
