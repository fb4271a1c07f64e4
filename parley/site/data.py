"""The data of a dataset's dialogues as scripts that the page loads: an index, then parts.

A page that is opened from disk may run the scripts beside it but read no file, so each of them
hands one JSON text to the page: `parley.index("…")` or `parley.part(0, "…")`. What the list, the
bars and the addresses need is in the index; what is read and searched, in the parts.

A search finds each utterance, that is each turn which is no action, whose text holds what is
searched for, compared after `unicodedata.normalize("NFKC", text).lower()`.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson

from parley.dialogues import Dialogue, dialogues
from parley.folder.built import BuiltFolder
from parley.site.filters import filters
from parley.transcript import Transcript, Turn

_FIRST, _PART = 100_000, 1_000_000  # bytes of a part, the first smaller, so that it is there soon
_OPENING = 140  # characters of the first utterance that the list shows


def write_data(
    built: BuiltFolder,
    folder: Path,
    load: dict[str, Any],
    on_dialogues: Callable[[str, int], None] = lambda where, done: None,
) -> dict[str, int]:
    """Write the dialogues of a built folder into `folder`, which is made.

    Args:
        built: The built folder.
        folder: Takes index.js, and a file for each part.
        load: What `load_dataset` takes: path, and revision where it is published.
        on_dialogues: Called with the dataset's name and the dialogues written so far.

    Returns:
        How many dialogues there are and utterances in them, by these names; by the name of its
        config, how many rows there are to read of what stands beside dialogues.

    Raises:
        ScriptError: transcript.py fails on a row.
        OutputError: a file of the built folder is not Parquet that can be read.
    """
    folder.mkdir()
    index = _Index(built)
    size = 0
    part: list[bytes] = []
    for dialogue in dialogues(built):
        transcript = dialogue.transcript or _plain(dialogue)
        index.add(dialogue, transcript)
        part.append(orjson.dumps(_laid_out(transcript)))
        size += len(part[-1])
        if size > (_PART if index.parts else _FIRST):
            index.write_part(folder, part)
            part, size = [], 0
            on_dialogues(built.dataset.name, len(index.ids))
    if part:
        index.write_part(folder, part)
    any_path = orjson.Fragment(json.dumps(load))  # a path may hold what is no Unicode
    data = orjson.dumps(index.as_dict() | {"load": any_path})
    write_script(folder / "index.js", "parley.index(", data)
    return index.counts


class _Index:
    """What the page knows of all dialogues before any of their text is there."""

    def __init__(self, built: BuiltFolder) -> None:
        self.built = built
        self.places: dict[tuple[str, str], int] = {}
        self.languages: dict[str, int] = {}
        self.ids: list[str] = []
        self.titles: list[str] = []
        self.openings: list[str] = []
        self.place: list[int] = []
        self.language: list[int] = []
        self.utterances: list[int] = []
        self.facets: list[Any] = []
        self.beside = getattr(built.dataset.transcript, "BESIDE", {})  # whose rows are no dialogues
        self.parts: list[int] = []  # the number of the first dialogue of each
        self.numeric: list[int] = []  # the numbers of the dialogues whose id is one
        self.columns: list[str] = []

    def add(self, dialogue: Dialogue, transcript: Transcript) -> None:
        """Note one dialogue."""
        place = dialogue.config, dialogue.split
        if place not in self.places:
            self.places[place] = len(self.places)
            self.columns.append(next(iter(dialogue.row)))
        if not isinstance(next(iter(dialogue.row.values())), str):
            self.numeric.append(len(self.ids))
        said = [turn.text for turn in transcript.turns if not turn.action]
        self.ids.append(dialogue.id)
        self.titles.append(transcript.title)
        self.openings.append(said[0][:_OPENING] if said else "")
        self.place.append(self.places[place])
        self.language.append(self.languages.setdefault(transcript.language, len(self.languages)))
        self.utterances.append(len(said))
        self.facets.append(dialogue.facets)

    @property
    def counts(self) -> dict[str, int]:
        """How many dialogues, utterances in them and, by config, other rows there are."""
        counts = {"dialogues": 0, "utterances": 0}
        configs = [config for config, _ in self.places]
        for place, utterances in zip(self.place, self.utterances, strict=True):
            if (config := configs[place]) in self.beside:
                counts[config] = counts.get(config, 0) + 1
            else:
                counts["dialogues"] += 1
                counts["utterances"] += utterances
        return counts

    def write_part(self, folder: Path, part: list[bytes]) -> None:
        """Write the next part, of the dialogues that were noted last."""
        number = len(self.parts)
        self.parts.append(len(self.ids) - len(part))
        write_script(
            folder / f"{number}.js", f"parley.part({number}, ", b"[" + b",".join(part) + b"]"
        )

    def as_dict(self) -> dict[str, Any]:
        """Return it for the page."""
        built = self.built
        order = getattr(built.dataset.transcript, "ORDER", {})
        return {
            "places": [
                {
                    "config": config,
                    "split": split,
                    "rows": sum(1 for _ in built.ids(config, split)),
                    "column": self.columns[number],
                    "beside": config in self.beside,
                }
                for (config, split), number in self.places.items()
            ],
            "default": built.dataset.default,
            "languages": list(self.languages),
            "parts": self.parts,
            "ids": self.ids,
            "numeric": self.numeric,
            "titles": self.titles,
            "openings": self.openings,
            "place": self.place,
            "language": self.language,
            "utterances": self.utterances,
            "filters": filters(self.facets, order),
        }


def _laid_out(transcript: Transcript) -> dict[str, Any]:
    """Return a transcript as the page lays it out, without what is empty and without its title."""
    speakers = {speaker: number for number, speaker in enumerate(transcript.speakers)}
    found = {
        "speakers": list(speakers),
        "before": transcript.before,
        "sides": list(transcript.sides.items()),
        "turns": [_turn(turn, speakers[turn.speaker]) for turn in transcript.turns],
        "after": transcript.after,
        "tables": transcript.tables,
        "documents": list(transcript.documents.items()),
    }
    return {name: value for name, value in found.items() if value}


def _turn(turn: Turn, speaker: int) -> dict[str, Any]:
    found: dict[str, Any] = {"speaker": speaker, "text": turn.text}
    if turn.notes:
        found["notes"] = turn.notes
    if turn.action:
        found |= {"action": True, "terms": turn.terms}
    return found


def _plain(dialogue: Dialogue) -> Transcript:
    """Return a row that nothing says how to read, as its fields."""
    fields = [(column, "\n".join(_lines(value))) for column, value in dialogue.row.items()]
    return Transcript(f"{dialogue.config} {dialogue.id}", before=fields)


def _lines(value: Any) -> Iterator[str]:
    """Yield a field as text: a list's entries each on a line."""
    for each in value if isinstance(value, list) else [value]:
        yield each if isinstance(each, str) else json.dumps(each, ensure_ascii=False, default=str)


def write_script(path: Path, call: str, data: bytes) -> None:
    """Write a script that hands JSON to the page, as one string that nothing in it can end.

    JSON.parse of a string is quicker than a literal, and leaves nothing of the script behind.
    """
    text = orjson.dumps(data.decode())
    for special, escape in ((b"<", b"\\u003c"), ("\u2028", b"\\u2028"), ("\u2029", b"\\u2029")):
        text = text.replace(special if isinstance(special, bytes) else special.encode(), escape)
    path.write_bytes(call.encode() + text + b");\n")
