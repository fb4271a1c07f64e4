"""Measures a build: the text of a new `measured.json`."""

from parley.base.errors import ScriptError
from parley.building.built import BuiltFolder
from parley.building.measured import Scores, Splits, every_split, text_of
from parley.declaring.figures import Value
from parley.declaring.verdicts import every_count, figures


def measured_anew(built: BuiltFolder, made: Splits, scores: Scores) -> str:
    """Return the text of `measured.json` for a build.

    `made` is what was measured of its splits, `scores` those of its baselines.

    ScriptError if a function of `figures.py` fails to count.
    """
    dataset = built.dataset
    found = list(figures(dataset.figures, built))
    return text_of(dataset, every_split(dataset, made), found, _counted(built), scores)


def _counted(built: BuiltFolder) -> dict[str, Value | None]:
    """Return the counted numbers of a build, None for a function that cannot count there."""
    dataset, found = built.dataset, dict[str, Value | None]()
    for count in every_count(dataset.figures, built):
        if count.failed:
            raise ScriptError(f"{dataset.folder / 'figures.py'}: {count.name}: {count.reason}")
        if count.reason:
            found[count.name] = None
        found |= count.numbers
    return found
