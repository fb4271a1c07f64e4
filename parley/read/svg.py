"""Draw charts as SVG, and list their numbers as tables. Text of a dataset is escaped."""

from collections.abc import Callable, Iterable, Sequence
from html import escape
from pathlib import Path

from parley.base.console import plain
from parley.declaration.layout import Value
from parley.read.charts import Bars, Calibration, Chart, Heatmap, Range, Where
from parley.tasks.calibration import CALIBRATION

_WIDTH, _BROAD = 400, 980  # pixels: of a chart, of one with much in it
_LINE, _LETTER = 22, 7  # pixels: of a row, of a letter at most
_MOST_COLUMNS = 60  # more whole numbers leave out those without a count
_MANY = 8  # more columns make a heatmap broad
_LONGEST = 26  # characters of a label in a chart
_WHOLE = 52  # of a label with the whole width, as the name of an axis
ABOUT = 600  # characters of the description of a chart
_ROWS, _THIN = 30, 2  # more bars than this are thin, without a label each
STYLE = Path(__file__).with_name("charts.css").read_text(encoding="utf-8")

Drawn = Chart | Calibration
Link = Callable[[Where], str]
"""The address of the dialogues of a mark, or ""."""
Cell = tuple[str, Where]
"""A cell of a table: its text, and the dialogues that it counts."""


def shown(value: object, longest: int = 200) -> str:
    """Return a value as text for people: shortened, with control characters visible."""
    if isinstance(value, tuple):
        return "–".join(shown(end) for end in value)
    if isinstance(value, float):
        return f"{value:,.{10 if abs(value) >= 1000 else 4}g}"
    if isinstance(value, int):
        return f"{value:,}"
    text = str(value)
    shortened = text[: longest - 1] + "…" if len(text) > longest else text
    return plain(shortened).encode(errors="backslashreplace").decode()


def is_broad(chart: Drawn) -> bool:
    """Tell whether a chart takes the whole width of a page."""
    return isinstance(chart, Heatmap) and len(_axes(chart)[0]) > _MANY


def svg(chart: Drawn, link: Link | None = None) -> str:
    """Return a chart as SVG; with `link` for a page that states title and table beside it."""
    width = _BROAD if is_broad(chart) else _WIDTH
    address = link or (lambda where: "")
    if isinstance(chart, Calibration):
        height, parts = _calibration(chart)
    elif isinstance(chart, Bars):
        height, parts = _bars(chart, address)
    else:
        height, parts = _heatmap(chart, address, width)
    head = f'<svg class="chart" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    if link:
        return f'{head} aria-hidden="true">{"".join(parts)}</svg>'
    texts = f"<title>{_text(chart.title)}</title><desc>{_text(chart.about, ABOUT)}</desc>"
    top = f'<svg xmlns="http://www.w3.org/2000/svg"{head[4:]} role="img">'
    return f"{top}{texts}<style>{STYLE}</style>\n{chr(10).join(parts)}\n</svg>\n"


def _text(value: object, longest: int = 200) -> str:
    return escape(shown(value, longest))


def _label(
    x: float,
    y: float,
    value: object,
    classes: str = "",
    anchor: str = "start",
    longest: int = _LONGEST,
) -> str:
    text = _text(value, longest)
    return f'<text class="{classes}" x="{x:.5g}" y="{y}" text-anchor="{anchor}">{text}</text>'


def _beside(labels: Iterable[object]) -> int:
    """Return the width of a column of labels."""
    return 12 + _LETTER * max((len(shown(label, _LONGEST)) for label in labels), default=0)


def _box(x: float, y: float, width: float, height: float, classes: str, more: str = "") -> str:
    place = f'x="{x:.5g}" y="{y}" width="{width:.5g}" height="{height}"'
    return f'<rect class="{classes}" {place}{more}/>'


def _mark(address: str, about: str, *parts: str) -> str:
    """Return parts as one mark with a tooltip, and a link; the table has it for the keyboard."""
    inner = f"<title>{_text(about)}</title>{''.join(parts)}"
    if not address:
        return f"<g>{inner}</g>"
    return f'<a href="{escape(address)}" tabindex="-1">{inner}</a>'


def _legend(names: Sequence[str]) -> str:
    """Return the colours of the series in a line, if there are several."""
    parts, x = [], 0.0
    for number, name in enumerate(names if len(names) > 1 else ()):
        parts += [_box(x, 2, 11, 11, f"s{number % 4}"), _label(x + 16, 12, name)]
        x += 30 + 7.5 * min(len(name), _LONGEST)
    return "".join(parts)


def _bars(chart: Bars, link: Link) -> tuple[int, list[str]]:
    """Return the height and the parts of a chart."""
    most = max((sum(bar.values) for bar in chart.bars), default=0) or 1
    are_many = len(chart.bars) > _ROWS
    high, gap = (_THIN, 0) if are_many else (_LINE, 3)
    heading = f"{', '.join(chart.series)} by {chart.of}"
    top, parts = 24, [_legend(chart.series) or _label(0, 12, heading, "soft", longest=_WHOLE)]
    start = 0 if are_many else _beside(bar.label for bar in chart.bars)
    room = _WIDTH - start - 60
    for place, bar in enumerate(chart.bars):
        y, x, marks = top + place * high, float(start), []
        for number, value in enumerate(bar.values):
            width = room * max(value, 0) / most
            marks.append(_box(x, y + gap, width, high - 2 * gap, f"s{number % 4}"))
            x += width
        if not are_many:
            marks.append(_label(start - 8, y + 15, bar.label, anchor="end"))
            marks.append(_label(x + 6, y + 15, "+".join(map(shown, bar.values)), "soft"))
        counts = (f"{shown(v)} {s}" for v, s in zip(bar.values, chart.series, strict=True))
        parts.append(_mark(link(bar.where), f"{bar.label}: {', '.join(counts)}", *marks))
    return top + len(chart.bars) * high + 2, parts


def _axes(chart: Heatmap) -> tuple[list[Value | Range], list[Value | Range]]:
    """Return the values of the columns from the left, and of the rows from the top."""
    columns = sorted({x for x, _ in chart.cells}, key=_order)
    if columns and all(isinstance(x, int) for x in columns):
        first, last = int(columns[0]), int(columns[-1])
        columns = list(range(first, last + 1)) if last - first < _MOST_COLUMNS else columns
    rows = chart.rows or sorted({y for _, y in chart.cells}, key=_order, reverse=True)
    return columns, list(rows)


def _order(value: Value | Range) -> tuple[bool, Value, Value]:
    least, most = value if isinstance(value, tuple) else (value, value)
    return isinstance(least, str), least, most


def _heatmap(chart: Heatmap, link: Link, width: int) -> tuple[int, list[str]]:
    """Return the height and the parts of a chart."""
    columns, rows = _axes(chart)
    start = _beside(rows)
    most = max(chart.cells.values(), default=1)
    step, high, top = (width - start) / max(1, len(columns)), 26, 18
    parts = [_label(0, 12, chart.y, "soft", longest=_WHOLE)]
    for row, y in enumerate(rows):
        place = top + row * high
        parts.append(_label(start - 8, place + 17, y, anchor="end"))
        for column, x in enumerate(columns):
            if not (count := chart.cells.get((x, y), 0)):
                continue
            left = start + column * step
            strength = 0.1 + 0.7 * count / most  # at most 0.8, to read the number on it
            box = _box(left, place, step - 1, high - 1, "heat", f' fill-opacity="{strength:.2f}"')
            about = f"{chart.x} {shown(x)}, {chart.y} {shown(y)}: {shown(count)} {chart.counted}"
            fits = step > _LETTER * len(shown(count))
            text = _label(left + step / 2, place + 17, count, "", "middle") if fits else ""
            parts.append(_mark(link({chart.x: x, chart.y: y}), about, box, text))
    foot = top + len(rows) * high
    every = -(-len(columns) * 40 // (width - start)) if columns else 1
    for column in range(0, len(columns), every):
        middle = start + (column + 0.5) * step
        parts.append(_label(middle, foot + 14, columns[column], "soft", "middle"))
    parts.append(_label(width, foot + 32, chart.x, "soft", "end", _WHOLE))
    return foot + 38, parts


def _calibration(chart: Calibration) -> tuple[int, list[str]]:
    """Return the height and the parts of a chart."""
    left, top, size = 34, 24, 300
    foot, right = top + size, left + size
    most = max((each.count for each in chart.bins), default=1)
    parts = [_label(0, 12, "share of right answers", "soft", longest=_WHOLE)]
    for x2, y2 in ((right, top), (right, foot), (left, top)):  # the diagonal and the axes
        parts.append(f'<line class="line" x1="{left}" y1="{foot}" x2="{x2}" y2="{y2}"/>')
    for number in (0, 0.5, 1):
        parts.append(_label(left + size * number, foot + 16, number, "soft", "middle"))
        parts.append(_label(left - 8, foot - size * number + 4, number, "soft", "end"))
    for bin in chart.bins:
        x, y = left + size * bin.probability, foot - size * bin.right
        radius = 3 + 9 * (bin.count / most) ** 0.5
        circle = f'<circle class="s0" cx="{x:.5g}" cy="{y:.5g}" r="{radius:.3g}"/>'
        cells = zip(CALIBRATION, bin.cells, strict=True)
        parts.append(_mark("", ", ".join(f"{name} {cell}" for name, cell in cells), circle))
    parts.append(_label(right, foot + 34, "probability", "soft", "end"))
    return foot + 40, parts


def table(chart: Drawn) -> tuple[list[str], list[list[Cell]]]:
    """Return the headings of the columns and the rows of the numbers of a chart."""
    if isinstance(chart, Calibration):
        return [*CALIBRATION], [[(cell, {}) for cell in bin.cells] for bin in chart.bins]
    if isinstance(chart, Bars):
        return [chart.of, *chart.series], [
            [(shown(bar.label), bar.where), *((shown(value), {}) for value in bar.values)]
            for bar in chart.bars
        ]
    columns, rows = _axes(chart)
    lines: list[list[Cell]] = []
    for y in rows:
        lines.append([(shown(y), {})])
        for x in columns:
            count = chart.cells.get((x, y), 0)
            lines[-1].append((shown(count), {chart.x: x, chart.y: y}) if count else ("", {}))
    return [f"{chart.y}, by {chart.x}", *map(shown, columns)], lines
