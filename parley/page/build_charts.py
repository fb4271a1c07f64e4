"""The charts of a build: of filters, lengths, labels and scores, and those of its `charts.py`."""

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from numbers import Real
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus

from parley.base.errors import MissingSplitError
from parley.base.replace import replacing
from parley.base.values import flat
from parley.builds.built_folder import BuiltFolder
from parley.declaration.layout import Facet
from parley.declaration.measured import measured
from parley.read.charts import Bar, Bars, Chart, Where
from parley.read.columns import NOBODY, Asked, Pairs, Values, asked, speakers_in
from parley.read.dialogues import Dialogue, dialogues
from parley.read.export.export import note_sample
from parley.read.filters import (
    DIFFERS,
    MOST_SIDES,
    SOME,
    SPLIT,
    OwnValues,
    filter_of,
    filter_of_column,
    pairs_of,
)
from parley.read.svg import shown, svg
from parley.schema.nodes import show
from parley.tasks.task import MEASURED

Order = Mapping[str, Sequence[str]]
_MOST_BARS = 30  # in a chart of labels
_LARGEST = 1e100  # a number of a chart: sums and shares of larger ones may be no numbers


class Counts:
    """The filters of a build's dialogues and the counts for its charts.

    `order` has the filters of files of one's own, each with its values in their order.
    """

    def __init__(self, built: BuiltFolder, order: Order | None = None) -> None:
        self.built, self._order, self.columns = built, order or {}, asked(built.dataset)
        self._speakers = speakers_in(built, self.columns)
        self._ids: list[str] = []
        self._splits: list[Pairs] = []
        self._sides: list[dict[str, int]] = []
        self._own: list[OwnValues] = []
        self._kinds: list[str] = []  # "dialogues", or the config of a row that is no dialogue
        self._numbers: Counter[str] = Counter()  # of each kind, of sides, utterances and actions
        # kind of note -> text -> the dialogue and the number of each turn with it
        self._labels: dict[str, dict[str, set[tuple[int, int]]]] = {}

    def sides(self, dialogue: Dialogue) -> dict[str, int]:
        """Return the number of each side: those that the transcript names, then those of rows."""
        names = (*dialogue.transcript.sides, *self._speakers.get(dialogue.id, ()))
        return {side: number for number, side in enumerate(dict.fromkeys(names))}

    def add(self, dialogue: Dialogue, own: OwnValues | None = None) -> None:
        """Add a dialogue, or a row of a config beside the dialogues, with values of one's own."""
        layout = dialogue.dataset.layout
        is_beside, is_alone = dialogue.config in layout.beside, len(layout.configs) == 1
        for number, turn in enumerate([] if is_beside else dialogue.transcript.turns):
            self._numbers["deal actions" if turn.action else "utterances"] += 1
            for note in turn.notes:
                turns = self._labels.setdefault(note.kind, {}).setdefault(note.text, set())
                turns.add((len(self._ids), number))
        self._ids.append(dialogue.id)
        self._splits.append(
            [(NOBODY, s if is_alone else f"{config}/{s}") for config, s in dialogue.places]
        )
        self._sides.append(self.sides(dialogue))
        self._own.append(own or {})
        self._kinds.append(dialogue.config if is_beside else "dialogues")
        self._numbers.update({self._kinds[-1]: 1, "sides": len(self._sides[-1])})

    @property
    def numbers(self) -> dict[str, int]:
        """The numbers of dialogues, utterances, rows of other configs and deal actions."""
        actions = ["deal actions"] if self._numbers["deal actions"] else []
        kinds = dict.fromkeys(("dialogues", "utterances", *self._kinds, *actions))
        return {kind: self._numbers[kind] for kind in kinds}

    @cached_property
    def filters(self) -> dict[str, dict[str, Any]]:
        """The filters that stand first: of files of one's own, of splits, and those of FACETS."""
        named = [column for column in self.columns if column.name != column.words.column]
        own = {}
        for name, order in self._order.items():
            pairs = [
                pairs_of(of.get(name, ()), sides)
                for of, sides in zip(self._own, self._sides, strict=True)
            ]
            words = Facet("{}", "there is no “{}”", column="") if name == DIFFERS else None
            most = None if order else max(SOME, len(pairs) // 2)
            own[name] = filter_of(name, pairs, words, order=order, most=most)
        found = {**own, SPLIT: filter_of(SPLIT, self._splits), **self._of(named)}
        return {name: filter for name, filter in found.items() if filter}

    @cached_property
    def more(self) -> dict[str, dict[str, dict[str, Any]]]:
        """Config -> the filters of its other columns."""
        others = [column for column in self.columns if column.name == column.words.column]
        configs = dict.fromkeys(column.config for column in others)
        found = {c: self._of([each for each in others if each.config == c]) for c in configs}
        return {config: filters for config, filters in found.items() if filters}

    def _of(self, columns: Sequence[Asked]) -> dict[str, dict[str, Any]]:
        """Return the filters of columns; with more sides than bits, they are of the dialogue."""
        many = any(len(sides) > MOST_SIDES for sides in self._sides)
        counted = [kind == "dialogues" for kind in self._kinds]
        values = Values(self.built, self._ids, self._sides, counted)
        found = {}
        for column in columns:
            asked_of = replace(column, is_of_side=column.is_of_side and not many)
            found[column.name] = filter_of_column(asked_of, values.of(asked_of), self.built.dataset)
        return {name: filter for name, filter in found.items() if filter}

    def charts(self) -> dict[str, Chart]:
        """Return the charts by the names of their files; ScriptError if charts.py fails."""
        charts: dict[str, Chart] = {}
        for name, chart in (
            *dataset_charts(self.built),
            *self._of_labels(),
            *(chart for filter in self.filters.values() for chart in self._of_filter(filter)),
            *_scores(self.built),
        ):
            slug = re.sub(r"[^a-z0-9]+", "-", name.lower())[:60].strip("-") or "chart"
            while slug in charts:
                slug += "-2"
            charts[slug] = chart
        return charts

    def address(self, where: Where) -> str:
        """Return the address of the dialogues of a mark, or "" if no filter finds them."""
        if "id" in where:
            return f"dialogues.html#id={_quoted(where['id'])}"
        terms: list[tuple[str, Any]] = []
        for name, value in where.items():
            filter = self.filters.get(name, {"labels": ()})
            if "scale" in filter:
                least, most = value if isinstance(value, tuple) else (value, value)
                terms += [(f"min.{name}", least), (f"max.{name}", most)]
            elif shown(value) in map(shown, filter["labels"]):
                terms.append((f"is.{name}", value))
            else:
                return ""
        query = "&".join(f"{_quoted(key)}={_quoted(value)}" for key, value in terms)
        return f"dialogues.html#{query}" if query else ""

    def _of_labels(self) -> Iterator[tuple[str, Chart]]:
        """Yield a chart of each kind of note on turns: the turns with each label."""
        for kind, labels in self._labels.items():
            by_count = sorted(labels.items(), key=lambda item: (-len(item[1]), item[0]))
            bars = [
                Bar(label, (len(turns),), self._home(label, {row for row, _ in turns}))
                for label, turns in by_count
            ]
            count = len(set().union(*labels.values()))
            yield f"turns-{kind}", _counted(f"Turns by {kind}", kind, "turns", count, count, bars)

    def _home(self, label: str, rows: set[int]) -> Where:
        """Return the filter and value that these dialogues alone have, if there is one."""
        for name, filter in self.filters.items():
            if label in (labels := filter.get("labels", ())):
                place = labels.index(label)
                if rows == {row for row, has in enumerate(filter["values"]) if place in has}:
                    return {name: label}
        return {}

    def _of_filter(self, filter: Mapping[str, Any]) -> Iterator[tuple[str, Chart]]:
        """Yield the charts of a filter: for each label or range, the sides or dialogues with it.

        Each kind of row has a chart of its own.
        """
        name, sides, scale = filter["name"], filter.get("sides"), filter.get("scale")
        numbers: dict[int, set[float]] = defaultdict(set)  # place of a bar -> its numbers
        # kind of row -> (row, side, place of a bar)
        parts: dict[str, set[tuple[int, int, int]]] = defaultdict(set)
        for row, (kind, values) in enumerate(zip(self._kinds, filter["values"], strict=True)):
            for n, value in enumerate(values):
                place = bisect_right(scale["edges"], value) if scale else value
                numbers[place].add(value)
                parts[kind].add((row, sides[row][n] if sides else 0, place))
        every = Counter(place for part in parts.values() for *_, place in part)
        marks = [(n, label, label) for n, label in enumerate(filter.get("labels", ()))]
        marks = [*_ranges(scale, numbers)] if scale else marks
        for kind, part in parts.items():
            counts, bars = Counter(place for *_, place in part), []
            for place, label, value in marks:
                count = counts[place]
                is_whole = 0 < count == every[place]  # no row of another kind is in the bar
                if scale or count:
                    bars.append(Bar(label, (count,), {name: value} if is_whole else {}))
            counted = "sides" if sides else kind
            other = f", of {kind}" if len(parts) > 1 and kind != "dialogues" else ""
            title = f"{name[:1].upper()}{name[1:]}{other}"
            having = len({(row, side) for row, side, _ in part})
            chart = _counted(title, name, counted, having, self._numbers[counted], bars)
            widen = " The ranges widen." if scale and scale["widens"] else ""
            yield title, replace(chart, about=chart.about + widen)


def dataset_charts(built: BuiltFolder) -> Iterator[tuple[str, Chart]]:
    """Yield the name and the chart of each function of `charts.py`, unless its rows are missing.

    ScriptError if charts.py fails on the rows.
    """
    for name, function in built.dataset.charts.items():
        with built.dataset.running(f"charts.py: {name}", built.path):
            try:
                chart = function(built)
            except MissingSplitError:
                continue
            if not isinstance(chart, Chart):
                raise TypeError(f"expected a chart, found {chart!r:.60}")
            if isinstance(chart, Bars):
                numbers = [value for bar in chart.bars for value in bar.values]
            else:
                numbers = [count for (_, _), count in chart.cells.items()]
            for number in numbers:
                if not isinstance(number, Real) or not abs(number) <= _LARGEST:
                    raise ValueError(f"expected a number up to {_LARGEST:g}, found {show(number)}")
            svg(chart)  # fails if it cannot be drawn
        yield name, chart


def _counted(title: str, by: str, counted: str, having: int, every: int, bars: list[Bar]) -> Bars:
    """Return a chart of the first bars, which says what they count.

    `having` is how many have a value, `every` how many there are.
    """
    first, rest = tuple(bars[:_MOST_BARS]), bars[_MOST_BARS:]
    about = f"{having:,} of {every:,}" if having < every else f"{having:,}"
    about += f" {counted} by {by}."
    if (total := sum(int(bar.values[0]) for bar in first)) != having:
        more = ", as some are in several" if total > having else ""
        about += f" The bars count {total:,} in all{more}."
    if rest:
        about += f" Left out: {len(rest):,} other labels."
    return Bars(title, about, by, (counted,), first)


def _quoted(value: object) -> str:
    return quote_plus(str(value).encode(errors="backslashreplace"))


def _ranges(
    scale: Mapping[str, Any], numbers_of: Mapping[int, set[float]]
) -> Iterator[tuple[int, str, Any]]:
    """Yield the place of each bar, its range as text, and the least and most number in it."""
    edges = scale["edges"]
    for place in range(scale["first"], scale["last"] + 1):
        numbers = numbers_of.get(place, edges[place - 1 : place])
        ends = min(numbers), max(numbers)
        if scale["whole"] and 0 < place < len(edges):
            ends = edges[place - 1], edges[place] - 1
        if ends[0] == ends[1]:
            label = shown(ends[0])
        elif place in (0, len(edges)):
            label = f"{shown(edges[-1])} and more" if place else f"below {shown(edges[0])}"
        else:
            label = shown(ends)
        yield place, label, ends


def _scores(built: BuiltFolder) -> Iterator[tuple[str, Chart]]:
    """Yield a chart of each metric that several references of a task state."""
    scores = measured(built.dataset).scores
    for name, task in built.dataset.tasks.items():
        for metric, meaning in task.metrics.items():
            bars = []
            for reference in task.with_measured(scores.get(name, {})).references:
                value = flat(reference.metrics).get((metric,))
                if value is not None:
                    label = " ".join((reference.name, *reference.options.values()))
                    label += reference.conditions() + ("" if reference.place == MEASURED else "*")
                    bars.append(Bar(label, (float(value),)))
            if len(bars) > 1:
                about = f"{meaning[:1].upper()}{meaning[1:]}. Scored on {task.evaluated_on}."
                about = f"{about} Documented scores have a *.".replace("`", "")
                title = f"Scores of {name}: {metric}"
                yield title, Bars(title, about, "method", (metric,), tuple(bars))


def counts_of(built: BuiltFolder) -> Counts:
    """Return the counts of all dialogues of a build."""
    counts = Counts(built)
    for dialogue in dialogues(built):
        counts.add(dialogue)
    return counts


def write_charts(built: BuiltFolder, target: Path) -> list[str]:
    """Write the charts of a build as SVG files, and return their names.

    `target` must not exist or be empty. The same build gives the same bytes.
    """
    with replacing(target) as folder:
        for name, chart in counts_of(built).charts().items():
            (folder / f"{name}.svg").write_text(svg(chart), encoding="utf-8", newline="\n")
        note_sample(built, folder)
        return sorted(path.name for path in folder.iterdir())
