"""A dataset folder while it is checked."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

from parley.build import build
from parley.collection import Dataset
from parley.errors import ParleyError
from parley.folder.built import BuiltFolder, open_folder
from parley.folder.card import parse
from parley.source.files import Source, at_hand, open_source


@dataclass
class Subject:
    """A dataset folder while it is checked.

    Args:
        dataset: The dataset.
        work: A folder for what the checks write.
        sources: A folder of real upstream files, one folder a dataset, if they are at hand.
        sample_builds: A folder that holds the built sample, if there is one; else it is built.
        real_builds: The same of the real files.
    """

    dataset: Dataset
    work: Path
    sources: Path | None = None
    sample_builds: Path | None = None
    real_builds: Path | None = None

    @property
    def name(self) -> str:
        """The dataset's name."""
        return self.dataset.name

    @property
    def module(self) -> ModuleType:
        """The builder script, imported."""
        return self.dataset.module

    @property
    def script(self) -> Path:
        """Where the builder script is."""
        return self.dataset.folder / f"{self.name}.py"

    @cached_property
    def source(self) -> Source:
        """The sample as upstream files."""
        return open_source(self.dataset, None, sample=True)

    @cached_property
    def built(self) -> BuiltFolder:
        """The sample, built."""
        folder = self.sample_builds
        if folder is None:
            folder = self.work / "sample"
            build(self.source, folder)
        return open_folder(folder / self.name, self.dataset)

    @cached_property
    def real(self) -> BuiltFolder | None:
        """What is at hand of the real upstream files, built; None where nothing is."""
        folder = self.real_builds
        if folder is None:
            if self.sources is None or not (source := at_hand(self.dataset, self.sources)):
                return None
            folder = self.work / "real"
            build(source, folder)
        return open_folder(folder / self.name, self.dataset)

    @cached_property
    def card(self) -> tuple[dict[str, Any], str]:
        """The front matter of the card, and the text below it."""
        return parse(self.dataset.read_card(), str(self.dataset.card))

    def splits(self) -> Iterator[tuple[str, str]]:
        """Yield every (config, split)."""
        for config, splits in self.module.SPLITS.items():
            for split in splits:
                yield config, split

    def records(self, config: str, split: str) -> list[tuple[Any, Any]]:
        """Return the keys and records of a split, read as the script alone reads them."""
        return list(self.module.records(config, self.source.paths(config, split)))


def lines_of(error: Exception) -> Iterator[str]:
    """Yield each problem of an error as one line, with what to do."""
    if not isinstance(error, ParleyError):
        yield one_line(f"{type(error).__name__}: {error}")
        return
    remedy = f". {error.remedy}" if error.remedy else ""
    for problem in error.problems or ("",):
        said = ": ".join(part for part in (error.message, str(problem)) if part)
        yield one_line(said.removesuffix(".") + remedy)


def one_line(text: str) -> str:
    """Return a text without its line breaks."""
    return re.sub(r"\s*\n\s*", " ", text.strip())
