"""A dataset folder, its sample and its card, as the rules read them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from parley.base.errors import ParleyError
from parley.building.build import build
from parley.building.card import parse
from parley.building.folder import BuiltFolder, open_folder
from parley.building.plan import split_plan
from parley.building.registry import Dataset
from parley.building.sources import Sources, open_source


class NotYetError(Exception):
    """A rule cannot be tested yet; the message says why, in one line."""


@dataclass
class DatasetFolder:
    """A dataset folder that rules are tested on."""

    dataset: Dataset
    work: Path  # a folder for output

    @cached_property
    def source(self) -> Sources:
        """The sample as upstream files."""
        return open_source(self.dataset, None, sample=True)

    @cached_property
    def built(self) -> BuiltFolder:
        """The sample, built."""
        build(self.source, self.work)
        return open_folder(self.work / self.dataset.name, self.dataset)

    @cached_property
    def card(self) -> tuple[dict[str, Any], str]:
        """The front matter of the card, and the text below it."""
        return parse(self.dataset.read_card(), str(self.dataset.card))

    def splits(self) -> Iterator[tuple[str, str]]:
        """Yield every (config, split)."""
        for config, splits in self.dataset.splits.items():
            for split in splits:
                yield config, split

    def records(self, config: str, split: str) -> list[Any]:
        """Return the records of a split of the sample."""
        return list(split_plan(self.source, config, split).records())


def lines_of(error: Exception) -> Iterator[str]:
    """Yield each problem of an error as one line with its remedy."""
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


def values_of(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each string, number and null in a value with its path."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from values_of(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from values_of(inner, f"{path}[{index}]")
    else:
        yield path, value
