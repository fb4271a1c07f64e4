"""The dialogues as scripts for the page: an index for list, filters and addresses, then parts.

A page opened from disk may run scripts but read no files. So each script passes one JSON text to
the page: `parley.index("…")`, `parley.part(0, "…")` or `parley.table("utterances", "…")`. The parts
hold the text of the dialogues. The tables are configs as CSV, loaded only when a user saves one.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from parley.builds.built_folder import BuiltFolder
from parley.page.build_charts import Counts
from parley.read.dialogues import Dialogue, dialogues
from parley.read.export.export import csv_lines, explained
from parley.read.transcript import Transcript

if TYPE_CHECKING:
    from parley.page.user_labels import UserLabels

_FIRST, _PART = 100_000, 1_000_000  # bytes of a part; a smaller first one loads soon
_OPENING = 140  # characters of the first utterance in the list, at most
# Of all dialogues, in their order
_LISTS = ("ids", "titles", "entries", "openings", "place", "language", "utterances")


@dataclass(frozen=True)
class Selection:
    """What to show: dialogues in the order of a query, or all; and files beside them.

    `catalogue` is the folder with the titles of judged documents.
    """

    query: str = ""
    ids: list[str] | None = None
    files: "UserLabels | None" = None
    catalogue: Path | None = None


ALL = Selection()


def write_data(
    built: BuiltFolder,
    folder: Path,
    load: Mapping[str, Any],
    on_dialogues: Callable[[str, int], None] = lambda where, done: None,
    selection: Selection = ALL,
) -> Counts:
    """Write the dialogues of a build into the new folder `folder`: index.js, parts and tables.

    `load` has the path and revision for `load_dataset`, and the command of export. `on_dialogues`
    takes the dataset's name and the number of dialogues written.
    """
    folder.mkdir()
    dataset, files = built.dataset, selection.files
    citation = dataset.builder.CITATION.strip()
    counts, index = Counts(built, files.order if files else {}), _Index(built)
    parts = _PartScripts(folder, lambda written: on_dialogues(dataset.name, written))
    for dialogue in _selected(built, selection.ids):
        id = dialogue.id
        beside = files.beside(dialogue) if files else {}
        counts.add(dialogue, files.facets(id) if files else {})
        index.add(dialogue, files.differing(id) if files else 0)
        parts.add(_laid_out(dialogue.transcript) | ({"own": beside} if beside else {}))
    parts.write()
    documents, titles = {}, getattr(dataset.transcript, "titles", None)
    if titles and selection.catalogue:
        documents = dict(titles(selection.catalogue, index.documents))
    content = {
        "places": list(index.places.values()),
        "default": dataset.default,
        "dataset": {"name": dataset.name, "version": built.version, "citation": citation},
        "languages": list(index.languages),
        "parts": parts.first,
        "tables": _write_tables(built, folder),
        **index.lists,
        "filters": [*map(_flattened, counts.filters.values())],
        "documents": documents,
        "where": selection.query,
        "own": [*files.order] if files else [],
        "load": orjson.Fragment(json.dumps(load)),  # a path may be invalid Unicode
    }
    write_script(folder / "index.js", "parley.index(", orjson.dumps(content))
    return counts


def _flattened(filter: Mapping[str, Any]) -> dict[str, Any]:
    """Return a filter whose values stand in one list, with the number of those of each dialogue.

    A browser reads that faster than a list for each.
    """
    lists = {name: filter[name] for name in ("values", "sides") if name in filter}
    made = {name: [*chain.from_iterable(values)] for name, values in lists.items()}
    return {**filter, **made, "lengths": [*map(len, filter["values"])]}


def _selected(built: BuiltFolder, ids: list[str] | None) -> Iterable[Dialogue]:
    """Return all dialogues, or those with these ids in their order."""
    if ids is None:
        return dialogues(built)
    chosen = set(ids)
    by_id = {dialogue.id: dialogue for dialogue in dialogues(built) if dialogue.id in chosen}
    return [by_id[id] for id in ids]


class _Index:
    """What the page knows of all dialogues before it loads their text.

    `lists` has a value for each dialogue. A place is a config and split, by which it is listed.
    """

    def __init__(self, built: BuiltFolder) -> None:
        self.places: dict[tuple[str, str], dict[str, Any]] = {}
        self.languages: dict[str, int] = {}
        self.lists: dict[str, list[Any]] = {name: [] for name in _LISTS}
        self.documents: set[str] = set()  # ids of judged ones
        self._built = built

    def add(self, dialogue: Dialogue, differing: int) -> None:
        """Add a dialogue, with the number of its differences from files of the user."""
        transcript, place = dialogue.transcript, (dialogue.config, dialogue.split)
        if place not in self.places:
            self.places[place] = _place(dialogue, self._built)
        values = (
            dialogue.id,
            transcript.title,
            _entry(transcript, differing),
            _opening(transcript),
            [*self.places].index(place),
            self.languages.setdefault(transcript.language, len(self.languages)),
            sum(not turn.action for turn in transcript.turns),
        )
        for name, value in zip(_LISTS, values, strict=True):
            self.lists[name].append(value)
        for judged in transcript.judged:
            for pool in judged.pools:
                self.documents.update(id for _, ids in pool.grades for id in ids)


class _PartScripts:
    """Scripts of a limited size that hold the text of the dialogues.

    `first` has the number of the first dialogue of each.
    """

    def __init__(self, folder: Path, on_dialogues: Callable[[int], None]) -> None:
        self.first: list[int] = []
        self._folder, self._on_dialogues = folder, on_dialogues
        self._written, self._waiting = 0, list[bytes]()

    def add(self, dialogue: Mapping[str, Any]) -> None:
        """Add a dialogue, and write a part if it is full."""
        self._waiting.append(orjson.dumps(dialogue))
        if sum(map(len, self._waiting)) > (_PART if self.first else _FIRST):
            self.write()

    def write(self) -> None:
        """Write the dialogues that wait for it, if any, as a part."""
        if not self._waiting:
            return
        number = len(self.first)
        content = b"[" + b",".join(self._waiting) + b"]"
        write_script(self._folder / f"{number}.js", f"parley.part({number}, ", content)
        self.first.append(self._written)
        self._written += len(self._waiting)
        self._waiting.clear()
        self._on_dialogues(self._written)


def _place(dialogue: Dialogue, built: BuiltFolder) -> dict[str, Any]:
    """Return what the page knows of a config and split: its rows, and the column of their ids."""
    config, split, tool = dialogue.config, dialogue.split, built.dataset.transcript
    column, id = next(iter(dialogue.row.items()))
    is_beside = config in getattr(tool, "BESIDE", {})
    of_turns = next(iter(getattr(tool, "TABLES", {}).values()), column)
    return {
        "config": config,
        "split": split,
        "rows": sum(1 for _ in built.ids(config, split)),
        "prefix": dialogue.id.removesuffix(str(id)),  # SPLIT/ where splits share ids
        "column": column,
        "isNumber": isinstance(id, int),
        "beside": is_beside,
        "key": column if is_beside else of_turns,  # of the turns, in other configs
    }


def _entry(transcript: Transcript, differing: int) -> str:
    """Return the line of a dialogue in the list, with the number of differences."""
    if not differing:
        return transcript.entry
    head, *rest = (transcript.entry or transcript.title).split(" · ")
    return " · ".join([head, f"{differing:,} differ", *rest])


def _opening(transcript: Transcript) -> str:
    text = next((turn.text for turn in transcript.turns if not turn.action), "")
    return text[: _OPENING - 2] + " …" if text[_OPENING:] else text


def _write_tables(built: BuiltFolder, folder: Path) -> list[str]:
    """Write the configs of `TABLES` as CSV, with the ids of dialogues; return their names."""
    tables: dict[str, str] = getattr(built.dataset.transcript, "TABLES", {})
    configs = [config for config in tables if built.splits(config)]
    for config in configs:
        with explained(built):
            (_, head), *rows = csv_lines(built, config, tables[config])
        lines = {"head": head, "ids": [id for id, _ in rows], "lines": [line for _, line in rows]}
        call = f"parley.table({json.dumps(config)}, "
        write_script(folder / f"table-{config}.js", call, orjson.dumps(lines))
    return configs


def _laid_out(transcript: Transcript) -> dict[str, Any]:
    """Return the non-empty fields of a transcript, without its title."""
    speakers = {speaker: number for number, speaker in enumerate(transcript.speakers)}
    parts = {
        "speakers": list(speakers),
        "before": transcript.before,
        "sides": list(transcript.sides.items()),
        "turns": [
            {"speaker": speakers[turn.speaker], "text": turn.text}
            | ({"notes": turn.notes} if turn.notes else {})
            | ({"action": True, "terms": turn.terms} if turn.action else {})
            for turn in transcript.turns
        ],
        "after": transcript.after,
        "tables": transcript.tables,
        "judged": transcript.judged,
        "partOf": transcript.part_of,
    }
    return {name: value for name, value in parts.items() if value}


def write_script(path: Path, call: str, data: bytes) -> None:
    """Write a script that passes JSON to the page as one escaped string.

    JSON.parse of a string is faster than a literal and needs less memory.
    """
    text = orjson.dumps(data.decode()).decode()
    for special in "<\u2028\u2029":
        text = text.replace(special, f"\\u{ord(special):04x}")
    path.write_text(f"{call}{text});\n", encoding="utf-8")
