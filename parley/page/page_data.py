"""The dialogues as scripts for the page: an index for list, filters and addresses, then parts.

A page opened from disk may run scripts but read no files. So each script passes one JSON text to
the page: `parley.index("…")`, `parley.part(0, "…")`, `parley.columns("participants", "…")`,
`parley.table("utterances", "…")` or `parley.views("…")`. The parts hold the text of the dialogues.
The others are loaded when a user needs them: the filters by more columns of a config, configs as
CSV, and the SQL that makes tables of the Parquet files.
"""

import json
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from parley.base.errors import UsageError
from parley.builds.built_folder import BuiltFolder
from parley.page.build_charts import Counts
from parley.read.columns import counted_by, id_of, is_of_one
from parley.read.dialogues import Dialogue, dialogues
from parley.read.export.export import csv_lines, explained
from parley.read.queries import text
from parley.read.sql import view_of
from parley.read.transcript import Transcript

if TYPE_CHECKING:
    from parley.page.user_labels import UserLabels

OnDialogues = Callable[[str, int], None]
"""Takes the name of a dataset and the number of its dialogues that are written."""
_FIRST, _PART = 100_000, 1_000_000  # bytes of a part; a smaller first one loads soon
_APOSTROPHES = str.maketrans(dict.fromkeys("’‘´", "'"))  # one sign in a search
_OPENING = 140  # characters of the first utterance in the list, at most
# What the page knows of each dialogue before it loads its text, in their order
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
    on_dialogues: OnDialogues = lambda where, done: None,
    selection: Selection = ALL,
) -> Counts:
    """Write the dialogues of a build into the new folder `folder`: index.js, parts and tables.

    `load` has the path and revision for `load_dataset`, and the command of export.
    """
    folder.mkdir()
    dataset, files = built.dataset, selection.files
    citation = dataset.builder.CITATION.strip()
    counts, listed = Counts(built, files.order if files else {}), []
    judged, signs = set[str](), set[str]()
    parts = _PartScripts(folder, lambda written: on_dialogues(dataset.name, written))
    for dialogue in _selected(built, selection.ids):
        id = dialogue.id
        sides = counts.sides(dialogue)
        own = files.own_labels(dialogue, [*sides]) if files else {}
        counts.add(dialogue, files.filters(id) if files else {})
        signs.update(*(turn.text for turn in dialogue.transcript.turns))
        listed.append(_listed(dialogue, files.differing(id) if files else 0))
        judged.update(_judged(dialogue.transcript))
        parts.add(_laid_out(dialogue.transcript, sides) | ({"own": own} if own else {}))
    parts.write()
    lists = {name: [values[place] for values in listed] for place, name in enumerate(_LISTS)}
    places, lists["place"] = _numbered(lists["place"])
    languages, lists["language"] = _numbered(lists["language"])
    documents, titles = {}, dataset.layout.titles
    if titles and selection.catalogue:
        documents = dict(titles(selection.catalogue, judged))
    content = {
        "places": [_place(built, *place) for place in places],
        "default": dataset.default,
        "dataset": {"name": dataset.name, "version": built.version, "citation": citation},
        "languages": languages,
        "parts": parts.first,
        "tables": _write_tables(built, folder),
        **lists,
        "filters": _packed(counts.filters.values()),
        "more": [
            {"config": config, "about": dataset.configs[config].description, "names": [*filters]}
            for config, filters in counts.more.items()
        ],
        "configs": {
            name: {"id": id, "counts": counted_by(dataset, name), "one": is_of_one(dataset, name)}
            for name in dataset.configs
            if (id := id_of(dataset, name)) and built.splits(name)
        },
        "speakers": dataset.layout.speakers,
        "said": [
            {"config": config, "text": said, "list": isinstance(of.get(said), list)}
            for config, said in dataset.layout.said.items()
            if (of := dataset.configs[config].features) and built.splits(config)
            if "\0" not in signs  # where DuckDB's nfc_normalize ends a text
        ],
        "folded": _folded(signs),
        "documents": documents,
        "where": selection.query,
        "own": [*files.order] if files else [],
        "ownOfTurns": files.of_turns if files else [],
        "load": orjson.Fragment(json.dumps(load)),  # a path may be invalid Unicode
    }
    write_script(folder / "index.js", "parley.index(", orjson.dumps(content))
    for config, filters in counts.more.items():
        call = f"parley.columns({json.dumps(config)}, "
        content = _packed(filters.values())
        write_script(folder / f"columns-{config}.js", call, orjson.dumps(content))
    place = Path(str(load["folder"]))
    try:
        views = {c: view_of(built, c, place) for c in dataset.configs if built.splits(c)}
    except UsageError:  # a path that DuckDB cannot open
        views = {}
    write_script(folder / "views.js", "parley.views(", json.dumps(views).encode())
    return counts


def _numbered(values: Sequence[Any]) -> tuple[list[Any], list[int]]:
    """Return the different values in their order, and the number of each value among them."""
    different = [*dict.fromkeys(values)]
    return different, [different.index(value) for value in values]


def _packed(filters: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return filters whose values stand in one list, with the number of those of each dialogue.

    A browser reads that faster than a list for each. Equal lists of such numbers and of sides
    stand once in `lists`, and filters have their places.
    """
    places: dict[tuple[int, ...], int] = {}
    packed = []
    for filter in filters:
        made = {**filter, "values": [*chain.from_iterable(filter["values"])]}
        once = {"lengths": tuple(map(len, filter["values"]))}
        if "sides" in filter:
            once["sides"] = tuple(chain.from_iterable(filter["sides"]))
        for name, numbers in once.items():
            made[name] = places.setdefault(numbers, len(places))
        packed.append(made)
    return {"filters": packed, "lists": [*places]}


def _folded(signs: Iterable[str]) -> str:
    """Return the SQL of a text {} as the search of the page reads it, with the signs of a build."""
    normal, sql, single = unicodedata.normalize, "{}", dict[str, str]()
    for sign in sorted(signs):
        form = normal("NFKC", sign.translate(_APOSTROPHES))
        if form == normal("NFC", sign):
            continue
        if len(form) == 1:
            single[sign] = form
        else:
            sql = f"replace({sql}, {text(sign)}, {text(form)})"
    if single:
        sql = f"translate({sql}, {text(''.join(single))}, {text(''.join(single.values()))})"
    return f"lower(nfc_normalize({sql}))"


def _selected(built: BuiltFolder, ids: list[str] | None) -> Iterable[Dialogue]:
    """Return all dialogues, or those with these ids in their order."""
    if ids is None:
        return dialogues(built)
    chosen = set(ids)
    by_id = {dialogue.id: dialogue for dialogue in dialogues(built) if dialogue.id in chosen}
    return [by_id[id] for id in ids]


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


def _listed(dialogue: Dialogue, differing: int) -> tuple[Any, ...]:
    """Return the values of `_LISTS`, with the number of differences from files of the user."""
    transcript = dialogue.transcript
    head, *rest = (transcript.entry or transcript.title).split(" · ")
    differ = " · ".join([head, f"{differing:,} differ", *rest])
    texts = [turn.text for turn in transcript.turns if not turn.action]
    opening = texts[0] if texts else ""
    return (
        dialogue.id,
        transcript.title,
        differ if differing else transcript.entry,
        opening[: _OPENING - 2] + " …" if opening[_OPENING:] else opening,
        (dialogue.config, dialogue.split),
        transcript.language,
        len(texts),
    )


def _judged(transcript: Transcript) -> Iterator[str]:
    """Yield the ids of the judged documents."""
    for judged in transcript.judged:
        for pool in judged.pools:
            for _, ids in pool.grades:
                yield from ids


def _place(built: BuiltFolder, config: str, split: str) -> dict[str, Any]:
    """Return what the page knows of a config and split: its rows, and the column of their ids."""
    layout, ids = built.dataset.layout, [*built.ids(config, split)]
    column = next(iter(built.column_types(config)))
    is_beside = config in layout.beside  # dialogues of other configs
    of_turns = next(iter(layout.tables.values()), column)
    return {
        "config": config,
        "split": split,
        "rows": len(ids),
        "prefix": built.dataset.dialogue_id(split, ""),  # SPLIT/ where splits share ids
        "column": column,
        "isNumber": isinstance(ids[0], int),
        "beside": is_beside,
        "key": column if is_beside else of_turns,  # of the turns, in other configs
    }


def _write_tables(built: BuiltFolder, folder: Path) -> list[str]:
    """Write the configs of `TABLES` as CSV, with the ids of dialogues; return their names."""
    tables = built.dataset.layout.tables
    configs = [config for config in tables if built.splits(config)]
    for config in configs:
        with explained(built):
            (_, head), *rows = csv_lines(built, config, tables[config])
        lines = {"head": head, "ids": [id for id, _ in rows], "lines": [line for _, line in rows]}
        call = f"parley.table({json.dumps(config)}, "
        write_script(folder / f"table-{config}.js", call, orjson.dumps(lines))
    return configs


def _laid_out(transcript: Transcript, sides: Iterable[str]) -> dict[str, Any]:
    """Return the non-empty fields of a transcript, without its title."""
    names = dict.fromkeys((*sides, *transcript.speakers))
    speakers = {speaker: number for number, speaker in enumerate(names)}
    parts = {
        "speakers": list(speakers),
        "before": transcript.before,
        "sides": [(side, transcript.sides.get(side, [])) for side in sides],
        "turns": [
            {"speaker": speakers[turn.speaker], "text": turn.text}
            | ({"notes": turn.notes} if turn.notes else {})
            | ({"action": True} if turn.action else {})
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
