"""The charts of a build: filters, lengths, labels and scores of any dataset, and its own."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus

from parley.base.errors import ScriptError
from parley.base.nested import flat
from parley.base.replace import replacing
from parley.building.folder import BuiltFolder
from parley.reading.charts import Bar, Bars, Chart, Where, own_charts
from parley.reading.dialogues import Dialogue, dialogues
from parley.reading.export.export import note_sample
from parley.reading.site.draw import shown, svg
from parley.reading.site.filters import DIFFERS, MOST_SIDES, filters, sides_of
from parley.reading.transcript import Facets
from parley.tasks.task import MEASURED

_MOST_BARS = 30  # in a chart of labels


class Counts:
    """The filters of a build's dialogues and the counts for its charts."""

    def __init__(self, built: BuiltFolder) -> None:
        self.built = built
        self._facets: list[Facets] = []
        self._kinds: list[str] = []  # "dialogues", or the config of a row that is no dialogue
        self._beside = getattr(built.dataset.transcript, "BESIDE", {})
        self._turns: Counter[str] = Counter()  # kind of note -> turns with one
        self._labels: dict[str, dict[str, list[int]]] = {}  # kind -> text -> dialogue of each turn
        self._numbers: Counter[str] = Counter()  # of dialogues, sides and rows of other configs

    def add(self, dialogue: Dialogue, differs: Sequence[str] = ()) -> None:
        """Add a dialogue, or a row of a config beside the dialogues; `differs` is a facet of it.

        ScriptError for more sides than the page can tell apart.
        """
        own: Facets = {DIFFERS: [*differs]} if differs else {}
        facets = own | dialogue.facets
        if (found := len(sides_of(facets))) > MOST_SIDES:
            raise ScriptError(
                f"{dialogue.dataset.name}/transcript.py: facets of {dialogue.id!r:.60}: expected "
                f"at most {MOST_SIDES} sides, found {found}",
                remedy="Give the values of more sides without their names.",
            )
        beside = dialogue.config in self._beside
        turns = dialogue.transcript.turns if dialogue.transcript and not beside else []
        for turn in turns:
            self._turns.update({note.kind for note in turn.notes})
            for kind, text in {(note.kind, note.text): None for note in turn.notes}:
                self._labels.setdefault(kind, {}).setdefault(text, []).append(len(self._facets))
        kind = dialogue.config if beside else "dialogues"
        self._facets.append(facets)
        self._kinds.append(kind)
        self._numbers.update({kind: 1, "sides": found})

    @cached_property
    def filters(self) -> dict[str, dict[str, Any]]:
        """The filters of the dialogues by their names."""
        tool = self.built.dataset.transcript
        order, phrases = (getattr(tool, name, {}) for name in ("ORDER", "PHRASES"))
        phrases = {DIFFERS: "{}"} | phrases
        return {each["name"]: each for each in filters(self._facets, order, phrases)}

    def charts(self) -> dict[str, Chart]:
        """Return the charts by the names of their files; ScriptError if charts.py fails."""
        found: dict[str, Chart] = {}
        for name, chart in (
            *own_charts(self.built.dataset.name, self.built.dataset.charts, self.built),
            *self._of_labels(),
            *(
                each
                for filter in self.filters.values()
                for each in _bars(filter, self._kinds, self._numbers)
            ),
            *_scores(self.built),
        ):
            slug = re.sub(r"[^a-z0-9]+", "-", name.lower())[:60].strip("-") or "chart"
            while slug in found:
                slug += "-2"
            found[slug] = chart
        return found

    def address(self, where: Where) -> str:
        """Return the address of the dialogues of a mark, or "" if no filter finds them."""
        if "id" in where:
            return f"dialogues.html#id={_quoted(where['id'])}"
        said = []
        for name, value in where.items():
            filter = self.filters.get(name, {"labels": ()})
            if "labels" in filter:
                if shown(value) not in map(shown, filter["labels"]):
                    return ""
                said.append((f"is.{name}", value))
            else:
                least, most = value if isinstance(value, tuple) else (value, value)
                said += [(f"min.{name}", least), (f"max.{name}", most)]
        query = "&".join(f"{_quoted(key)}={_quoted(value)}" for key, value in said)
        return f"dialogues.html#{query}" if query else ""

    def _of_labels(self) -> Iterator[tuple[str, Chart]]:
        """Yield a chart of each kind of note on turns: the turns with each label."""
        homes: dict[tuple[str, frozenset[int]], Where] = {}  # a label and its dialogues -> filter
        for name, filter in self.filters.items():
            having: dict[int, set[int]] = {}  # place of a label -> the dialogues with it
            for number, values in enumerate(filter["values"] if "labels" in filter else ()):
                for place in values:
                    having.setdefault(place, set()).add(number)
            for place, found in having.items():
                label = filter["labels"][place]
                homes.setdefault((label, frozenset(found)), {name: label})
        for kind, labels in self._labels.items():
            every = sorted(labels.items(), key=lambda each: (-len(each[1]), each[0]))
            bars = [
                Bar(label, (len(found),), homes.get((label, frozenset(found)), {}))
                for label, found in every
            ]
            turns = self._turns[kind]
            yield f"turns-{kind}", _counted(f"Turns by {kind}", kind, "turns", (turns, turns), bars)


def _counted(
    title: str, by: str, counted: str, number: tuple[int, int], bars: Sequence[Bar]
) -> Bars:
    """Return a chart of the first bars, which says what they count.

    `number` is how many have a value, and how many there are.
    """
    shown, rest = tuple(bars[:_MOST_BARS]), bars[_MOST_BARS:]
    having, every = number
    about = f"{having:,} of {every:,}" if having < every else f"{having:,}"
    about += f" {counted} by {by}."
    if (total := sum(int(bar.values[0]) for bar in shown)) != having:
        more = ", as some are in several" if total > having else ""
        about += f" The bars count {total:,} in all{more}."
    if rest:
        about += f" Left out: {len(rest):,} other labels."
    return Bars(title, about, by, (counted,), shown)


def _quoted(value: object) -> str:
    return quote_plus(str(value).encode(errors="backslashreplace"))


def _bars(
    filter: Mapping[str, Any], kinds: Sequence[str], numbers: Mapping[str, int]
) -> Iterator[tuple[str, Chart]]:
    """Yield the charts of a filter: for each label or range, the sides or dialogues with it.

    `kinds` has the kind of each row, and each kind has a chart of its own. `numbers` has the number
    of all sides, and of all rows of a kind.
    """
    name, of_sides = filter["name"], "sides" in filter
    edges = filter.get("scale", {}).get("edges", ())
    held: dict[int, set[float]] = {}  # place of a bar -> its numbers
    owners: dict[str, set[tuple[int, int]]] = {}  # kind -> its rows with a value, or their sides
    counts: dict[str, Counter[int]] = {}  # kind -> place of a bar -> how many of them it holds
    for row, (kind, values) in enumerate(zip(kinds, filter["values"], strict=True)):
        places = [bisect_right(edges, value) if edges else value for value in values]
        sides = filter["sides"][row] if of_sides else [0] * len(values)
        for place, value in zip(places, values, strict=True):
            held.setdefault(place, set()).add(value)
        if values:
            owners.setdefault(kind, set()).update((row, side) for side in sides)
            pairs = {*zip(places, sides, strict=True)}
            counts.setdefault(kind, Counter()).update(place for place, _ in pairs)
    labels = filter.get("labels", ())
    marks: list[tuple[int, str, Any]] = [(n, label, label) for n, label in enumerate(labels)]
    if edges:
        marks = list(_ranges(filter["scale"], held))
    every = sum(counts.values(), Counter[int]())
    for kind, found in counts.items():
        bars = [
            Bar(label, (found[place],), {name: where} if 0 < found[place] == every[place] else {})
            for place, label, where in marks
            if edges or found[place]
        ]
        counted = "sides" if of_sides else kind
        other = f", of {kind}" if len(counts) > 1 and kind != "dialogues" else ""
        title = f"{name[:1].upper()}{name[1:]}{other}"
        chart = _counted(title, name, counted, (len(owners[kind]), numbers[counted]), bars)
        widen = " The ranges widen." if _widens(edges) else ""
        yield title, replace(chart, about=chart.about + widen)


def _ranges(
    scale: Mapping[str, Any], held: Mapping[int, set[float]]
) -> Iterator[tuple[int, str, tuple[float, float]]]:
    """Yield the place of each bar, its range as text, and the least and most number in it."""
    edges = scale["edges"]
    for place in range(scale["first"], scale["last"] + 1):
        numbers = held.get(place, edges[place - 1 : place])
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


def _widens(edges: Sequence[float]) -> bool:
    """Tell whether ranges between these edges widen."""
    return len(edges) > 2 and edges[-1] - edges[-2] > 1.5 * (edges[1] - edges[0])


def _scores(built: BuiltFolder) -> Iterator[tuple[str, Chart]]:
    """Yield a chart of each metric that several references of a task state."""
    for name, task in built.dataset.tasks.items():
        for metric, meaning in task.metrics.items():
            bars = tuple(
                Bar(" ".join((each.name, *each.options.values())) + of, (float(value),))
                for each in task.references
                for of in ["" if each.place == MEASURED else "*"]
                if (value := flat(each.metrics).get((metric,))) is not None
            )
            if len(bars) > 1:
                about = f"{meaning[:1].upper()}{meaning[1:]}. Scored on {task.evaluated_on}."
                about = f"{about} Documented scores have a *.".replace("`", "")
                title = f"Scores of {name}: {metric}"
                yield title, Bars(title, about, "method", (task.unit,), bars)


def write_charts(built: BuiltFolder, target: Path) -> list[str]:
    """Write the charts of a build as SVG files, and return their names.

    `target` must not exist or be empty. The same build gives the same bytes.
    """
    counts = Counts(built)
    for dialogue in dialogues(built):
        counts.add(dialogue)
    with replacing(target) as folder:
        for name, chart in counts.charts().items():
            (folder / f"{name}.svg").write_text(svg(chart), encoding="utf-8", newline="\n")
        note_sample(built, folder)
        return sorted(path.name for path in folder.iterdir())
