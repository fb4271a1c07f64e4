"""Test that a dataset's sample is invented: that its sentences are not upstream's."""

from collections.abc import Iterator
from typing import Any

from parley.base.errors import Problem, ScriptError
from parley.building.configs import Config
from parley.building.folder import BuiltFolder
from parley.building.rows.split import generate, plan
from parley.building.upstream import open_source

_LEAST = 40  # characters of a text that nobody invents twice


def require_invented(built: BuiltFolder) -> None:
    """Raise ScriptError if the sample has long texts that a build of upstream's files has too.

    A text of fewer than 40 characters may be equal by chance. Views may put texts of their own
    around upstream's, so only the texts of a `Config` count.
    """
    dataset = built.dataset
    given = open_source(dataset, None, sample=True)
    lossless = [each for each in plan(given) if isinstance(each.config, Config)]
    configs = {each.config.name for each in lossless}
    texts = {text for each in lossless for row in generate(each) for text in _long(row)}
    held = (
        text
        for config, split in built.declared
        if config in configs
        for row in built.each_row(config, split)
        for text in _long(row)
    )
    if found := sorted(texts.intersection(held)):
        said = [Problem("", what=f"upstream has {text!r:.60} too") for text in found]
        raise ScriptError(f"{dataset.sample}", *said, remedy="Invent other texts for the sample.")


def _long(value: Any) -> Iterator[str]:
    """Yield the long texts in a row."""
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _long(inner)
    elif isinstance(value, str) and len(value) >= _LEAST:
        yield value
