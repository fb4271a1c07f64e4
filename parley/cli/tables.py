"""Tables of the terminal: columns under headings, rows without, and the numbers in them."""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Literal

from rich import box
from rich.cells import cell_len
from rich.console import RenderableType
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from parley.base.console import WIDEST, out, plain, safe
from parley.tasks.task import Undefined

if TYPE_CHECKING:  # numpy comes with it
    from parley.scoring.intervals import Interval

_NARROWEST = 6  # columns of a terminal for a column that is cut
_BETWEEN = 3  # for what parts two columns
_LINES_SHOWN = 10  # lines shown of one kind
_FRAME: dict[str, Any] = {"box": box.SIMPLE_HEAD, "show_edge": False, "pad_edge": False}
LABEL = {"no_wrap": True}


def table(columns: Sequence[str], rows: Sequence[Sequence[str]], title: str = "") -> Table:
    """Return a table that fits the terminal, or is wider if cells have no room.

    ">" in a column's name aligns right. Headings wrap, and so do cells below a name with "~".
    """
    result = Table(title=plain(title) or None, title_justify="left", **_FRAME)
    for place, column in enumerate(columns):
        heading, wrap = plain(column.strip(">~")), column.endswith("~")
        cells = [plain(row[place]) for row in rows]
        parts = heading.split()
        for cell in cells:
            parts += cell.split() if wrap else [cell]
        widest = max(map(len, parts), default=0)
        justify: Literal["left", "right"] = "right" if column.startswith(">") else "left"
        width = None if wrap else widest
        result.add_column(heading, justify=justify, width=width, min_width=widest, overflow="fold")
    for row in rows:
        result.add_row(*map(safe, row))
    least = Measurement.get(out, out.options.update(width=WIDEST), result).minimum
    if least > out.width:  # it is the terminal that wraps its lines, and cuts no number
        result.width = least
    return result


def cut_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """Return the columns whose headings fit the terminal, the first at least, with cells cut."""
    room = out.width if out.is_terminal else WIDEST
    least = [min(max(cell_len(plain(head)), _NARROWEST), room) for head in columns]
    most = sum(end <= room for end in accumulate(least, lambda a, b: a + _BETWEEN + b))
    widths = [max(map(cell_len, map(plain, cells))) for cells in zip(columns, *rows, strict=True)]
    widths = [min(width, room) for width in widths[:most]]
    while sum(widths) > room - _BETWEEN * (most - 1):
        widths[max(range(most), key=lambda n: widths[n] - least[n])] -= 1
    result = Table(**_FRAME)
    for head, width in zip(columns, widths, strict=False):
        result.add_column(safe(head, no_wrap=True, overflow="ellipsis"), width=width)
    for line in rows:
        result.add_row(*(safe(cell, no_wrap=True, overflow="ellipsis") for cell in line[:most]))
    return result


def grid(rows: Iterable[Sequence[Text]], *columns: dict[str, Any]) -> Table:
    """Return rows without headings; a column has rich's options, and else folds its texts."""
    result = Table.grid(padding=(0, 2))
    for options in columns:
        result.add_column(**{"overflow": "fold", **options})
    for row in rows:
        result.add_row(*row)
    return result


def labelled(rows: Iterable[tuple[str, str]]) -> Table:
    """Return texts beside their labels."""
    return grid(((safe(label, style="dim"), safe(text)) for label, text in rows), LABEL, {})


def indented(text: str, columns: int, style: str = "") -> RenderableType:
    """Return a text to print that stays indented where a terminal wraps it."""
    return Padding(safe(text, style=style), (0, 0, 0, columns))


def first(lines: Sequence[str]) -> list[str]:
    """Return the first lines, and how many more there are."""
    more = [f"and {len(lines) - _LINES_SHOWN:,} more"] if len(lines) > _LINES_SHOWN else []
    return [*lines[:_LINES_SHOWN], *more]


def number(value: float | Undefined | None, decimals: int) -> str:
    """Return a number, or why there is none."""
    if value is None:
        return "–"
    if isinstance(value, Undefined) or math.isnan(value):
        return "undefined"
    return f"{value:,}" if isinstance(value, int) else f"{value:.{decimals}f}"


def ends(interval: "Interval | None", decimals: int) -> str:
    """Return the ends of an interval."""
    return f"{interval.low:.{decimals}f}…{interval.high:.{decimals}f}" if interval else "–"


def counts(clusters: Mapping[str, int]) -> str:
    """Return the kinds of clusters, with the number of each."""
    return " and ".join(f"{count:,} {kind}" for kind, count in clusters.items())
