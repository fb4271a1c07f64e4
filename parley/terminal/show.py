"""Lays out one dialogue for reading in a terminal."""

from collections.abc import Iterator
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from parley.collection import Dataset
from parley.errors import ScriptError, UsageError
from parley.folder.built import BuiltFolder
from parley.source.files import Source
from parley.terminal.console import plain, to_json
from parley.transcript import Transcript

_COLOURS = ("cyan", "magenta", "green", "yellow", "blue")


Beside = dict[str, list[dict[str, Any]]]  # config -> its rows of a dialogue


def find(
    dataset: Dataset, id: str | None, place: BuiltFolder | Source
) -> tuple[str, str, dict[str, Any]]:
    """Return a dialogue's config, split and row: by its id, or the first one.

    Args:
        dataset: The dataset.
        id: The value of the first column, as text.
        place: A built folder of the dataset, or a source to take rows from.

    Raises:
        UsageError: no dialogue has this id; a few that exist are named.
    """
    configs = dataset.transcript.CONFIGS if dataset.transcript else list(dataset.module.SPLITS)
    some: list[str] = []
    for config in configs:
        for split in place.splits(config):
            for row in _rows(place, config, split):
                key = str(next(iter(row.values()), None))
                if id is None or key == id:
                    return config, split, row
                if len(some) < 5:
                    some.append(key)
    where = "built folder" if isinstance(place, BuiltFolder) else "source"
    where = f"{where} {place.path if isinstance(place, BuiltFolder) else place.folder}"
    if id is None:
        raise UsageError(f"{dataset.name}: no dialogue in the {where}")
    raise UsageError(
        f"{dataset.name}: no dialogue {id!r} in the {where}; "
        + (f"the first are {', '.join(some)}" if some else "there is none at all")
    )


def _rows(place: BuiltFolder | Source, config: str, split: str) -> Iterator[dict[str, Any]]:
    if isinstance(place, BuiltFolder):
        return place.each_row(config, split)
    from parley.rows.generate import generate  # not at the top: a build needs less

    return generate(place, config, split)


def find_beside(
    dataset: Dataset, split: str, row: dict[str, Any], place: BuiltFolder | Source
) -> Beside:
    """Return what the configs that `transcript.py` asks for say of the dialogue of a row."""
    id = next(iter(row.values()), None)
    wanted: dict[str, str] = getattr(dataset.transcript, "BESIDE", {})
    return {
        config: [found for found in _rows(place, config, split) if found[column] == id]
        if split in place.splits(config)
        else []
        for config, column in wanted.items()
    }


def lay_out(dataset: Dataset, row: dict[str, Any], beside: Beside) -> RenderableType:
    """Return a row, with what stands beside it, as a dialogue to print.

    Without a `transcript.py` it is plain JSON.

    Raises:
        ScriptError: transcript.py fails on it.
    """
    if dataset.transcript is None:
        return Text(to_json(row))
    try:
        return _laid_out(dataset.transcript.transcript(row, *([beside] if beside else [])))
    except Exception as error:  # whatever stands in a row of a folder that nobody verified
        raise ScriptError(
            f"{dataset.name}: {dataset.name}/transcript.py fails on this row "
            f"({type(error).__name__}: {error})",
            remedy=f"If `parley verify {dataset.name}` holds for the folder, mend transcript.py; "
            "else the row is damaged: build it again.",
        ) from error


def _laid_out(transcript: Transcript) -> RenderableType:
    return Group(
        Text(plain(transcript.title), style="bold"),
        _pairs(transcript.before),
        Padding(_turns(transcript), (1, 0)),
        _pairs(transcript.after),
    )


def _pairs(pairs: list[tuple[str, str]]) -> Table:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for label, value in pairs:
        grid.add_row(Text(plain(label), style="dim"), Text(plain(value)))
    return grid


def _turns(transcript: Transcript) -> Table:
    speakers = list(dict.fromkeys(turn.speaker for turn in transcript.turns))
    colours = {s: _COLOURS[n % len(_COLOURS)] for n, s in enumerate(speakers)}
    grid = Table.grid(padding=(0, 2), expand=False)
    grid.add_column(justify="right", no_wrap=True)
    grid.add_column(max_width=72, overflow="fold")
    grid.add_column(max_width=34, overflow="fold")
    for turn in transcript.turns:
        grid.add_row(
            Text(plain(turn.speaker), style=f"bold {colours[turn.speaker]}"),
            Text(plain(turn.text), style="italic" if turn.action else ""),
            Text(plain(", ".join(turn.notes)), style="dim"),
        )
    return grid
