"""The dialogues as scripts for the page: an index for list, filters and addresses, then parts.

A page opened from disk may run scripts but read no files. So each script passes one JSON text to
the page: `parley.index("…")`, `parley.part(0, "…")` or `parley.table("utterances", "…")`. The parts
hold the text of the dialogues. The tables are configs as CSV, loaded only when a user saves one.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from parley.read.dialogues import Dialogue, dialogues
from parley.read.export.export import csv_lines, explained
from parley.read.site.pictures import Counts
from parley.read.transcript import Transcript
from parley.rows.folder import BuiltFolder

if TYPE_CHECKING:
    from parley.read.site.user_files import Own

_FIRST, _PART = 100_000, 1_000_000  # bytes of a part; a smaller first one loads soon
_OPENING = 140  # characters of the first utterance in the list, at most
# Of all dialogues, in their order
_LISTS = ("ids", "titles", "entries", "openings", "place", "language", "utterances")


@dataclass(frozen=True)
class Asked:
    """What to show: dialogues in the order of a query, or all; and files beside them.

    `catalogue` is the folder with the titles of judged documents.
    """

    query: str = ""
    ids: list[str] | None = None
    own: "Own | None" = None
    catalogue: Path | None = None


ALL = Asked()


def write_data(
    built: BuiltFolder,
    folder: Path,
    load: Mapping[str, Any],
    on_dialogues: Callable[[str, int], None] = lambda where, done: None,
    asked: Asked = ALL,
) -> Counts:
    """Write the dialogues of a build into the new folder `folder`: index.js, parts and tables.

    `load` has the path and revision for `load_dataset`, and the command of export. `on_dialogues`
    takes the dataset's name and the number of dialogues written.
    """
    folder.mkdir()
    counts = Counts(built)
    tool, name = built.dataset.transcript, built.dataset.name
    tables: dict[str, str] = getattr(tool, "TABLES", {})
    places: dict[tuple[str, str], dict[str, Any]] = {}
    languages: dict[str, int] = {}
    entries: list[tuple[Any, ...]] = []
    documents: set[str] = set()
    parts: list[int] = []  # the first dialogue of each part
    part: list[bytes] = []

    def write_part() -> None:
        parts.append(len(entries) - len(part))
        number = len(parts) - 1
        call = f"parley.part({number}, "
        write_script(folder / f"{number}.js", call, b"[" + b",".join(part) + b"]")
        part.clear()
        on_dialogues(name, len(entries))

    every: Iterable[Dialogue] = dialogues(built)
    if asked.ids is not None:
        wanted = set(asked.ids)
        found = {each.id: each for each in every if each.id in wanted}
        every = map(found.__getitem__, asked.ids)
    for dialogue in every:
        transcript = dialogue.transcript
        own, differs = asked.own.beside(dialogue.id) if asked.own else ({}, [])
        counts.add(dialogue, differs)
        place = dialogue.config, dialogue.split
        if place not in places:
            places[place] = _place(dialogue, built)
        entries.append(
            (
                dialogue.id,
                transcript.title,
                _entry(transcript, len(differs)),
                _opening(transcript),
                [*places].index(place),
                languages.setdefault(transcript.language, len(languages)),
                sum(not turn.action for turn in transcript.turns),
            )
        )
        for pool in (pool for card in transcript.judged for pool in card.pools):
            documents.update(id for _, ids in pool.grades for id in ids)
        part.append(orjson.dumps(_laid_out(transcript) | ({"own": own} if own else {})))
        if sum(map(len, part)) > (_PART if parts else _FIRST):
            write_part()
    if part:
        write_part()
    there = [config for config in tables if built.splits(config)]
    for config in there:
        _write_table(built, config, tables[config], folder)
    find = getattr(tool, "titles", None)
    titles = dict(find(asked.catalogue, documents)) if find and asked.catalogue else {}
    columns = zip(*entries, strict=True) if entries else ((),) * len(_LISTS)
    index = {
        "places": list(places.values()),
        "default": built.dataset.default,
        "dataset": {
            "name": name,
            "version": built.version,
            "citation": built.dataset.builder.CITATION.strip(),
        },
        "languages": list(languages),
        "parts": parts,
        "tables": there,
        **dict(zip(_LISTS, columns, strict=True)),
        "filters": list(counts.filters.values()),
        "documents": titles,
        "where": asked.query,
        "queries": asked.own.queries if asked.own else None,
        "load": orjson.Fragment(json.dumps(load)),  # a path may be invalid Unicode
    }
    write_script(folder / "index.js", "parley.index(", orjson.dumps(index))
    return counts


def _place(dialogue: Dialogue, built: BuiltFolder) -> dict[str, Any]:
    """Return what the page knows of a config and split: its rows, and the column of their ids."""
    config, split = dialogue.config, dialogue.split
    column, id = next(iter(dialogue.row.items()))
    return {
        "config": config,
        "split": split,
        "rows": sum(1 for _ in built.ids(config, split)),
        "column": column,
        "isNumber": isinstance(id, int),
        "beside": config in getattr(built.dataset.transcript, "BESIDE", {}),
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


def _write_table(built: BuiltFolder, config: str, column: str, folder: Path) -> None:
    """Write the lines of a config as CSV, with the id of each line's dialogue."""
    with explained(built):
        (_, head), *rows = csv_lines(built, config, column)
    lines = {"head": head, "ids": [id for id, _ in rows], "lines": [line for _, line in rows]}
    call = f"parley.table({json.dumps(config)}, "
    write_script(folder / f"table-{config}.js", call, orjson.dumps(lines))


def _laid_out(transcript: Transcript) -> dict[str, Any]:
    """Return the non-empty fields of a transcript, without its title."""
    speakers = {speaker: number for number, speaker in enumerate(transcript.speakers)}
    found = {
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
    return {name: value for name, value in found.items() if value}


def write_script(path: Path, call: str, data: bytes) -> None:
    """Write a script that passes JSON to the page as one escaped string.

    JSON.parse of a string is faster than a literal and needs less memory.
    """
    text = orjson.dumps(data.decode()).decode()
    for special in "<\u2028\u2029":
        text = text.replace(special, f"\\u{ord(special):04x}")
    path.write_text(f"{call}{text});\n", encoding="utf-8")
