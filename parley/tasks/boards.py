"""Boards: tables of results, with the notes below them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple


class Footnotes:
    """The notes below a table, numbered in the order of their first marks."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def mark(self, note: str) -> str:
        """Return the mark of a note, " [1]"; "" for no note."""
        return f" [{self._numbers.setdefault(note, len(self._numbers) + 1)}]" if note else ""

    def __iter__(self) -> Iterator[str]:
        return (f"[{number}] {note}" for note, number in self._numbers.items())


class Entry(NamedTuple):
    """A system in a table of results, with its metrics by path, as text."""

    name: str
    metrics: Mapping[tuple[str, ...], str]
    place: str = ""  # its document


class Row(NamedTuple):
    """The metrics of one entry in one group: a cell per metric, "–" for none."""

    group: tuple[str, ...]
    entry: Entry
    cells: tuple[str, ...]


class Board(NamedTuple):
    """A table of results: groups with metrics of the same names."""

    metrics: tuple[str, ...]
    rows: list[Row]

    @property
    def groups(self) -> list[tuple[str, ...]]:
        """The groups, in the order of their rows."""
        return list(dict.fromkeys(row.group for row in self.rows))


def leaderboard(entries: Sequence[Entry]) -> Iterator[Board]:
    """Yield tables of results; an entry without metrics of a group has no row there."""
    metrics_of: dict[tuple[str, ...], dict[str, None]] = {}  # group -> its metrics, in their order
    for entry in entries:
        for path in entry.metrics:
            metrics_of.setdefault(path[:-1], {})[path[-1]] = None
    boards: dict[tuple[int, tuple[str, ...]], Board] = {}
    for group, metrics in metrics_of.items():
        board = boards.setdefault((len(group), (*metrics,)), Board((*metrics,), []))
        for entry in entries:
            cells = tuple(entry.metrics.get((*group, metric), "–") for metric in metrics)
            if set(cells) != {"–"}:
                board.rows.append(Row(group, entry, cells))
    yield from boards.values()
