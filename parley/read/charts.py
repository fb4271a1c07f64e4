"""The kinds of chart, which a dataset folder's `charts.py` returns for a build.

The page about a dataset shows them and `parley charts` writes them as SVG. Every dataset has
charts of lengths, labels, filters and documented scores; docs/adding.md shows a `charts.py`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from parley.declaration.layout import Value
from parley.tasks.calibration import Bin

Range = tuple[float, float]  # the least and the greatest number, both included
Where = Mapping[str, Value | Range]
"""The dialogues of a mark: filter -> value, or range of numbers; "id" names one dialogue."""


@dataclass(frozen=True)
class Bar:
    """A bar of a chart.

    Args:
        label: Its name.
        values: A number for each series; they are stacked.
        where: The dialogues that it counts.
    """

    label: str
    values: tuple[float, ...]
    where: Where = field(default_factory=dict)


@dataclass(frozen=True)
class Bars:
    """Counts side by side.

    Args:
        title: A heading.
        about: The text alternative. It says what the bars count, and how many they count in all.
        of: The name of the bars: "points".
        series: What each number of a bar counts: ("dialogues",).
        bars: The bars in order.
    """

    title: str
    about: str
    of: str
    series: tuple[str, ...]
    bars: tuple[Bar, ...]


@dataclass(frozen=True)
class Heatmap:
    """Counts of pairs of values.

    Args:
        title: A heading.
        about: The text alternative. It says what the cells count, and how many they count in all.
        x: The filter of the columns.
        y: The filter of the rows.
        counted: The name of a count: "sides".
        cells: (value of x, value of y) -> count.
        rows: The values of y from top to bottom; by default ascending from the bottom.
    """

    title: str
    about: str
    x: str
    y: str
    counted: str
    cells: Mapping[Any, int]
    rows: tuple[Value | Range, ...] = ()


@dataclass(frozen=True)
class Calibration:
    """The share of right answers by their probability, beside the line where both are equal."""

    title: str
    bins: list[Bin]

    @property
    def about(self) -> str:
        """The text alternative."""
        count = sum(each.count for each in self.bins)
        return f"{count:,} answers: share of right ones by probability. Large circles hold more."


Chart = Bars | Heatmap
"""A chart, as a function of `CHARTS` in charts.py returns it."""
