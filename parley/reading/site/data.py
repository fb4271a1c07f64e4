"""The dialogues as scripts for the page: an index for list, filters and addresses, then parts.

A page opened from disk may run scripts but read no files. So each script passes one JSON text to
the page: `parley.index("…")`, `parley.part(0, "…")` or `parley.table("utterances", "…")`. The parts
hold the text of the dialogues. The tables are configs as CSV, loaded only when a user saves one.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from parley.base.errors import UsageError, few
from parley.building.folder import BuiltFolder
from parley.reading.dialogues import Dialogue, dialogues, places
from parley.reading.export.export import explained
from parley.reading.export.tables import csv_lines
from parley.reading.site.pictures import Counts
from parley.reading.transcript import Transcript, Turn

if TYPE_CHECKING:
    from parley.reading.site.own import Own

_FIRST, _PART = 100_000, 1_000_000  # bytes of a part; a smaller first one loads soon
_OPENING = 140  # characters of the first utterance in the list, at most
# Of all dialogues, in their order
_LISTS = ("ids", "titles", "entries", "openings", "place", "language", "utterances")


@dataclass(frozen=True)
class Asked:
    """What to show: dialogues in the order of a query, or all; and files beside them."""

    query: str = ""
    ids: list[str] | None = None
    own: "Own | None" = None

    def require(self, built: BuiltFolder) -> None:
        """Raise UsageError, which names some, unless a build has all of the dialogues."""
        there = places(built.dataset, built)
        known = {str(id) for place in there for id in built.ids(*place)}
        ids = self.ids or []
        if unknown := [id for id in ids if id not in known]:
            of = f"{len(unknown):,} of the {len(ids):,} ids that the query finds"
            raise UsageError(f"{built.path} has no dialogue {few(unknown)}: {of}")

    def of(self, built: BuiltFolder) -> Iterator[Dialogue]:
        """Yield the dialogues in the order of the query, or all."""
        if self.ids is None:
            return dialogues(built)
        wanted = set(self.ids)
        found = {each.id: each for each in dialogues(built) if each.id in wanted}
        return map(found.__getitem__, self.ids)


ALL = Asked()


def write_data(
    built: BuiltFolder,
    folder: Path,
    load: dict[str, Any],
    on_dialogues: Callable[[str, int], None] = lambda where, done: None,
    catalogue: Path | None = None,
    asked: Asked = ALL,
) -> tuple[dict[str, int], Counts]:
    """Write the dialogues of a build into the new folder `folder`: index.js, parts and tables.

    `load` has the path and revision for `load_dataset`, and the command of export. `on_dialogues`
    takes the dataset's name and the number of dialogues written. `catalogue` is the folder with the
    titles of judged documents; `asked` names the dialogues to write, and rows beside them.
    Return the numbers of dialogues, utterances and, by config, other rows; and the charts.
    """
    folder.mkdir()
    index = _Index(built, catalogue)
    size = 0
    part: list[bytes] = []
    for dialogue in asked.of(built):
        transcript = transcript_of(dialogue)
        beside, differs = asked.own.beside(dialogue.id) if asked.own else ({}, [])
        index.add(dialogue, transcript, differs)
        part.append(orjson.dumps(_laid_out(transcript) | ({"own": beside} if beside else {})))
        size += len(part[-1])
        if size > (_PART if index.parts else _FIRST):
            index.write_part(folder, part)
            part, size = [], 0
            on_dialogues(built.dataset.name, len(index.lists["ids"]))
    if part:
        index.write_part(folder, part)
    for config in index.tables:
        _write_table(built, config, folder)
    any_path = orjson.Fragment(json.dumps(load))  # a path may be invalid Unicode
    more = {"where": asked.query, "queries": asked.own.queries if asked.own else None}
    data = orjson.dumps(index.as_dict() | more | {"load": any_path})
    write_script(folder / "index.js", "parley.index(", data)
    actions = {"deal actions": index.actions} if index.actions else {}
    return index.counts | actions, index.counted


class _Index:
    """The index of all dialogues, which the page loads before their text."""

    def __init__(self, built: BuiltFolder, catalogue: Path | None) -> None:
        self.built = built
        self.catalogue = catalogue
        self.documents: set[str] = set()
        self.places: dict[tuple[str, str], dict[str, Any]] = {}
        self.languages: dict[str, int] = {}
        self.lists: dict[str, list[Any]] = {name: [] for name in _LISTS}
        self.counts = {"dialogues": 0, "utterances": 0}  # and rows of other configs
        self.actions = 0
        self.counted = Counts(built)
        self.beside = getattr(built.dataset.transcript, "BESIDE", {})  # configs without dialogues
        self.tables = [config for config in _tables(built) if built.splits(config)]
        self.parts: list[int] = []  # the first dialogue of each part

    def add(self, dialogue: Dialogue, transcript: Transcript, differs: list[str]) -> None:
        """Add one dialogue, with each difference of rows beside it."""
        place = config, split = dialogue.config, dialogue.split
        if place not in self.places:
            column, id = next(iter(dialogue.row.items()))
            self.places[place] = {
                "config": config,
                "split": split,
                "rows": sum(1 for _ in self.built.ids(config, split)),
                "column": column,
                "isNumber": isinstance(id, int),
                "beside": config in self.beside,
            }
        said = [turn.text for turn in transcript.turns if not turn.action]
        opening = said[0] if said else ""
        head, *rest = (transcript.entry or transcript.title).split(" · ")
        more = " · ".join([head, f"{len(differs):,} differ", *rest])
        values = (
            dialogue.id,
            transcript.title,
            more if differs else transcript.entry,
            opening[: _OPENING - 2] + " …" if opening[_OPENING:] else opening,
            [*self.places].index(place),
            self.languages.setdefault(transcript.language, len(self.languages)),
            len(said),
        )
        for name, value in zip(_LISTS, values, strict=True):
            self.lists[name].append(value)
        if config in self.beside:
            self.counts[config] = self.counts.get(config, 0) + 1
        else:
            self.counts["dialogues"] += 1
            self.counts["utterances"] += len(said)
        self.actions += len(transcript.turns) - len(said)
        self.counted.add(dialogue, differs)
        for card in transcript.judged:
            for pool in card.pools:
                self.documents.update(id for _, ids in pool.grades for id in ids)

    def _document_titles(self) -> dict[str, str]:
        """Return the titles of judged documents in the catalogue, if there is one."""
        find = getattr(self.built.dataset.transcript, "titles", None)
        return dict(find(self.catalogue, self.documents)) if find and self.catalogue else {}

    def write_part(self, folder: Path, part: list[bytes]) -> None:
        """Write the next part: the dialogues added last."""
        number = len(self.parts)
        self.parts.append(len(self.lists["ids"]) - len(part))
        write_script(
            folder / f"{number}.js", f"parley.part({number}, ", b"[" + b",".join(part) + b"]"
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the index as JSON for the page."""
        built = self.built
        return {
            "places": list(self.places.values()),
            "default": built.dataset.default,
            "dataset": {
                "name": built.dataset.name,
                "version": built.version,
                "citation": built.dataset.builder.CITATION.strip(),
            },
            "languages": list(self.languages),
            "parts": self.parts,
            "tables": self.tables,
            **self.lists,
            "filters": list(self.counted.filters.values()),
            "documents": self._document_titles(),
        }


def _tables(built: BuiltFolder) -> dict[str, str]:
    """Return the configs to offer as CSV, each with its column of the dialogue's id."""
    return getattr(built.dataset.transcript, "TABLES", {})


def _write_table(built: BuiltFolder, config: str, folder: Path) -> None:
    """Write the lines of a config as CSV, with the id of each line's dialogue."""
    with explained(built):
        (_, head), *rows = csv_lines(built, config, _tables(built)[config])
    data = orjson.dumps(
        {"head": head, "ids": [id for id, _ in rows], "lines": [s for _, s in rows]}
    )
    write_script(folder / f"table-{config}.js", f"parley.table({json.dumps(config)}, ", data)


def _laid_out(transcript: Transcript) -> dict[str, Any]:
    """Return the non-empty fields of a transcript, without its title."""
    speakers = {speaker: number for number, speaker in enumerate(transcript.speakers)}
    found = {
        "speakers": list(speakers),
        "before": transcript.before,
        "sides": list(transcript.sides.items()),
        "turns": [_turn(turn, speakers[turn.speaker]) for turn in transcript.turns],
        "after": transcript.after,
        "tables": transcript.tables,
        "judged": transcript.judged,
        "partOf": transcript.part_of,
    }
    return {name: value for name, value in found.items() if value}


def _turn(turn: Turn, speaker: int) -> dict[str, Any]:
    found: dict[str, Any] = {"speaker": speaker, "text": turn.text}
    if turn.notes:
        found["notes"] = turn.notes
    if turn.action:
        found |= {"action": True, "terms": turn.terms}
    return found


def transcript_of(dialogue: Dialogue) -> Transcript:
    """Return the transcript; without transcript.py, the fields of the row as facts."""
    if transcript := dialogue.transcript:
        return transcript
    fields = [(column, "\n".join(_lines(value))) for column, value in dialogue.row.items()]
    return Transcript(f"{dialogue.config} {dialogue.id}", before=fields)


def _lines(value: Any) -> Iterator[str]:
    """Yield the lines of a field: one per entry of a list."""
    for each in value if isinstance(value, list) else [value]:
        yield each if isinstance(each, str) else json.dumps(each, ensure_ascii=False, default=str)


def write_script(path: Path, call: str, data: bytes) -> None:
    """Write a script that passes JSON to the page as one escaped string.

    JSON.parse of a string is faster than a literal and needs less memory.
    """
    text = orjson.dumps(data.decode())
    for special, escape in ((b"<", b"\\u003c"), ("\u2028", b"\\u2028"), ("\u2029", b"\\u2029")):
        text = text.replace(special if isinstance(special, bytes) else special.encode(), escape)
    path.write_bytes(call.encode() + text + b");\n")
