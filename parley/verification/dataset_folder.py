"""A dataset folder, its sample and its card, as the rules read them."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from parley.builds.build import build
from parley.builds.built_folder import BuiltFolder, open_folder
from parley.builds.card import parse
from parley.builds.sources import Sources, open_source
from parley.declaration.registry import Dataset


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
