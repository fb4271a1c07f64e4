"""The charts of a build: filters, lengths, labels and scores of any dataset, and its own."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus

from parley.base.errors import ScriptError
from parley.base.replace import replacing
from parley.building.built import BuiltFolder
from parley.declaring.charts import Bar, Bars, Chart, Dots, Histogram, Where, own_charts
from parley.declaring.tasks import MEASURED, flat
from parley.declaring.transcript import Facets
from parley.reading.dialogues import Dialogue, dialogues
from parley.reading.export.export import note_sample
from parley.reading.site.draw import shown, svg
from parley.reading.site.filters import MOST_SIDES, filters, sides_of

_MOST_LABELS = 20  # in a chart


class Counts:
    """The filters of a build's dialogues and the counts for its charts."""

    def __init__(self, built: BuiltFolder) -> None:
        self.built = built
        self._facets: list[Facets] = []
        self._kinds: list[str] = []  # "dialogues", or the config of a row that is no dialogue
        self._beside = getattr(built.dataset.transcript, "BESIDE", {})
        self._labels: Counter[str] = Counter()  # turns with a note of this text

    def add(self, dialogue: Dialogue) -> None:
        """Add a dialogue, or a row of a config beside the dialogues.

        ScriptError for more participants than the page can tell apart.
        """
        facets = dialogue.facets
        if (found := len(sides_of(facets))) > MOST_SIDES:
            raise ScriptError(
                f"{dialogue.dataset.name}/transcript.py: facets of {dialogue.id!r:.60}: expected "
                f"at most {MOST_SIDES} participants, found {found}",
                remedy="Give the values of more participants without their names.",
            )
        beside = dialogue.config in self._beside
        turns = dialogue.transcript.turns if dialogue.transcript and not beside else []
        self._facets.append(facets)
        self._kinds.append(dialogue.config if beside else "dialogues")
        self._labels.update(text for turn in turns for text in {note.text for note in turn.notes})

    @cached_property
    def filters(self) -> dict[str, dict[str, Any]]:
        """The filters of the dialogues by their names."""
        tool = self.built.dataset.transcript
        order, phrases = (getattr(tool, name, {}) for name in ("ORDER", "PHRASES"))
        return {each["name"]: each for each in filters(self._facets, order, phrases)}

    def charts(self) -> dict[str, Chart]:
        """Return the charts by the names of their files; ScriptError if charts.py fails."""
        found: dict[str, Chart] = {}
        for name, chart in (
            *own_charts(self.built.dataset.name, self.built.dataset.charts, self.built),
            *self._of_labels(),
            *((name, _bars(filter, self._kinds)) for name, filter in self.filters.items()),
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
        """Yield a chart of the most frequent notes on turns."""
        if not self._labels:
            return
        least = max(self._labels.values()) / 200  # rarer ones would be no bars
        every = sorted(
            ((label, count) for label, count in self._labels.items() if count > least),
            key=lambda each: (-each[1], each[0]),
        )
        homes = {
            label: name
            for name, filter in reversed(self.filters.items())
            for label in filter.get("labels", ())
        }
        about = f"The number of turns with a label, of the {min(len(every), _MOST_LABELS)} "
        bars = (
            Bar(label, (count,), {homes[label]: label} if label in homes else {})
            for label, count in every[:_MOST_LABELS]
        )
        yield "labels", Bars("Labels", f"{about}most frequent.", "label", ("turns",), tuple(bars))


def _quoted(value: object) -> str:
    return quote_plus(str(value).encode(errors="backslashreplace"))


def _bars(filter: Mapping[str, Any], kinds: Sequence[str]) -> Chart:
    """Return the chart of a filter: for each label or range of numbers the dialogues with it.

    `kinds` has the kind of each row: each kind is a series, if some of its rows have a value.
    """
    name = filter["name"]
    pairs = list(zip(kinds, filter["values"], strict=True))
    series = tuple(dict.fromkeys(kind for kind, values in pairs if values))
    edges = filter.get("scale", {}).get("edges", ())
    held: dict[int, list[float]] = {}  # place of a bar -> its values
    counts: Counter[tuple[int, str]] = Counter()
    for kind, values in pairs:
        places = [bisect_right(edges, value) if edges else value for value in values]
        counts.update((place, kind) for place in set(places))
        for place, value in zip(places, values, strict=True):
            held.setdefault(place, []).append(value)

    def bar(place: int, label: str, where: Where) -> Bar:
        return Bar(label, tuple(counts[place, kind] for kind in series), where)

    whose = ", of a participant" if "sides" in filter else ""
    title, about = f"{name[:1].upper()}{name[1:]}", f"{' and '.join(series)} by {name}{whose}."
    said = title, f"{about[:1].upper()}{about[1:]}", name, series
    if not edges:
        labels = enumerate(filter["labels"])
        return Bars(*said, tuple(bar(place, label, {name: label}) for place, label in labels))
    bars = []
    for place in range(filter["scale"]["first"], filter["scale"]["last"] + 1):
        ends = (min(held[place]), max(held[place])) if place in held else (edges[place - 1],) * 2
        label = shown(ends if ends[0] < ends[1] else ends[0])
        bars.append(bar(place, label, {name: ends}))
    return Histogram(*said, tuple(bars), _ticks(filter["scale"], bars))


def _ticks(scale: Mapping[str, Any], bars: Sequence[Bar]) -> tuple[tuple[float, str], ...]:
    """Return the numbers below a histogram: of each bar if it holds one, else between bars."""
    edges, first = scale["edges"], scale["first"]
    if scale["whole"] and edges[1] - edges[0] == 1:
        return tuple((place + 0.5, bar.label) for place, bar in enumerate(bars))
    places = ((number + 1 - first, edge) for number, edge in enumerate(edges))
    return tuple((place, shown(edge)) for place, edge in places if 0 <= place <= len(bars))


def _scores(built: BuiltFolder) -> Iterator[tuple[str, Chart]]:
    """Yield a chart of each metric that several references of a task state."""
    for name, task in built.dataset.tasks.items():
        for metric, meaning in task.metrics.items():
            dots = tuple(
                (
                    " ".join((each.name, *each.options.values())),
                    "baseline" if each.place == MEASURED else "documented",
                    float(value),
                )
                for each in task.references
                if (value := flat(each.metrics).get((metric,))) is not None
            )
            if len(dots) > 1:
                about = f"{meaning[:1].upper()}{meaning[1:]}. Scored on {task.evaluated_on}."
                yield f"{name}-{metric}", Dots(f"{name}: {metric}", about, task.unit, dots)


def write_charts(built: BuiltFolder, target: Path) -> list[str]:
    """Write the charts of a build as SVG files, and return their names.

    `target` must not exist or be empty. The same build gives the same bytes.
    """
    counts = Counts(built)
    for dialogue in dialogues(built):
        counts.add(dialogue)
    with replacing(target, mark="") as folder:
        for name, chart in counts.charts().items():
            (folder / f"{name}.svg").write_text(svg(chart), encoding="utf-8", newline="\n")
        note_sample(built, folder)
        return sorted(path.name for path in folder.iterdir())
