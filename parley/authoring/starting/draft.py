"""Draft a dataset from upstream's files: fields, types, labels and keys.

Nothing says who speaks in a file, or what a dialogue is: the user states it (`Stated`).
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, groupby
from pathlib import Path
from typing import Any

from parley.authoring.starting.given import Given, read_given
from parley.authoring.starting.invention import Ends, Invention, invent
from parley.authoring.starting.shapes import Notes, guess, is_object, is_record, keys_are_data
from parley.base.errors import UsageError, few
from parley.source.pins import PLACEHOLDER

_SPLITS = ("train", "validation", "test")
_LONGEST = 64  # characters of an id
_MOST_COLUMNS = 8  # tried in pairs as a key
TURNS = "turns"  # the column of the rows of a dialogue


@dataclass(frozen=True)
class Stated:
    """What the user states of the files.

    Args:
        turns: The field of a record that lists its turns.
        speaker: The key of a turn's speaker; without `turns`, a field that lists the speakers.
        text: The key of a turn's text; without `turns`, a field that lists the texts.
        dialogue: The field by which rows, each a turn, belong to a dialogue.
    """

    turns: str = ""
    speaker: str = ""
    text: str = ""
    dialogue: str = ""

    def __post_init__(self) -> None:
        said = ""
        if self.turns and self.dialogue:
            said = "--turns excludes --dialogue: either a record has turns, or it is one"
        elif self.speaker and not self.text:
            said = "--speaker needs --text"
        elif self.dialogue and not self.text:
            said = "--dialogue needs --text"
        if said:
            raise UsageError(said)

    @property
    def listed(self) -> str:
        """The field that holds the list of turns, or of texts."""
        return TURNS if self.dialogue else self.turns or self.text

    @property
    def speaker_path(self) -> str:
        """The path of the speaker in a value of the files."""
        if self.turns or self.dialogue:
            return f"{self.turns}[].{self.speaker}" if self.turns else self.speaker
        return f"{self.speaker}[]"

    def spoken(self, row: Any) -> list[tuple[Any, Any]]:
        """Return the speakers and texts of a record or row; LookupError or TypeError if none."""
        if not isinstance(found := row[self.listed], list):
            raise TypeError("no list")
        if not self.turns and not self.dialogue:
            return [
                *zip(row[self.speaker] if self.speaker else [""] * len(found), found, strict=True)
            ]
        key, text = self.speaker, self.text
        return [(turn[key] if key else "", turn[text] if text else turn) for turn in found]


@dataclass(frozen=True)
class Naming:
    """How values of files become records."""

    # new: the file, and the number in it unless it is one record; or the key of an entry
    columns: tuple[str, ...]
    value: str = ""  # the column of the value; "" if the keys of the value are columns
    entries: bool = False  # whether each entry of an object is a record

    def record(self, known: Sequence[Any], value: Any) -> dict[str, Any]:
        """Return the record of a value, given the values of the new columns."""
        own = dict(zip(self.columns, known, strict=False))
        return own | ({self.value: value} if self.value else value)


@dataclass(frozen=True)
class Draft:
    """A drafted dataset."""

    given: list[Given]  # its sources
    value: Any  # the shape of the values of its files, or of their entries if these are records
    naming: Naming | None  # how values become records, if they are not records
    key: dict[str, type]  # column of the key -> type
    stated: Stated | None  # if dialogues are shown
    notes: list[str]  # what was taken and guessed, a line each
    ends: Ends  # of its numbers

    @property
    def format(self) -> str:
        """The format of its files."""
        return self.given[0].format

    @property
    def example(self) -> Any:
        """An invented record."""
        value = invent(self.value, Invention(self.ends), 0)
        if self.stated and (key := self.stated.dialogue):
            return {key: value.pop(key), TURNS: [value]}
        return self.naming.record(("name", 1), value) if self.naming else value


def draft(files: Sequence[Path], stated: Stated) -> Draft:
    """Draft a dataset from files that hold its records; UsageError if there are none."""
    notes = Notes()
    notes.speaker = stated.speaker_path
    given = sorted(read_given(files, notes), key=lambda each: _SPLITS.index(each.split))
    values = list(chain.from_iterable(each.values for each in given))
    if not values:
        raise UsageError("found no records", remedy="Name files with records.")
    value, naming = _records_of(given, values, notes)
    if stated.dialogue:
        if naming:
            raise UsageError("--dialogue: the records are not objects with columns")
        records = list(_grouped(given, stated.dialogue))
        key: tuple[str, ...] = (stated.dialogue,)
    else:
        records = list(_named(given, naming)) if naming else values
        key = () if naming and naming.columns[0] != "id" else _key_of(records)
        named = all(type(next(iter(record.values()), None)) in (str, int) for record in records)
        if not key and naming is None and (any(each.place.is_dir() for each in given) or not named):
            naming = _by_file(given, value)  # keeps the names of the files, or gives an id
            records = list(_named(given, naming))
        if not key and naming and not naming.entries:
            key = naming.columns
    if key:
        notes.append(f"guess: {', '.join(key)} is the key, unique for {len(records):,} records")
    else:
        notes.append("guess: no field or pair of fields is unique; name a key that is")
    kinds = {column: type(records[0][column]) for column in key}
    if not naming and not stated.dialogue:
        value = _ordered(value, key)
    shown = stated if stated.turns or stated.text else None
    if shown:
        require_spoken(shown, records)
        said = "to do: a view `messages`, if trainers shall read them (docs/adding.md)"
    else:
        said = "no dialogues: state --turns, --speaker and --text, or --dialogue for rows of turns"
    notes += [said, f"to do: licence, languages, citation, and the URLs for {PLACEHOLDER}"]
    return Draft(
        given, value, naming, kinds, shown, [" ".join(note.split()) for note in notes], notes.ends
    )


def _records_of(given: list[Given], values: list[Any], notes: Notes) -> tuple[Any, Naming | None]:
    """Return the shape of values, and their naming."""
    format = given[0].format
    if format in ("text", "lines"):
        notes.append(f"guess: a record is {'a whole file' if format == 'text' else 'a line'}")
        if format == "lines" and (ends := sum(value.endswith("\r") for value in values)):
            notes.append(f"{ends:,} lines end with a carriage return, which stays in their text")
        columns = ("file",) if format == "text" else ("file", "number")
        return str, Naming(columns, "text")
    if format == "tsv":
        cells = chain.from_iterable(value.values() for value in values)
        if quoted := sum(len(cell) > 1 and cell[0] == cell[-1] == '"' for cell in cells):
            notes.append(f"{quoted:,} cells are in quotes, which stay: tsv knows no quotes")
    if format in ("json value", "json lines") and _have_entries(values, format):
        notes.append("guess: a record is an entry of the objects, with its key as `id`")
        entries = [entry for value in values for entry in value.values()]
        inner = guess(entries, "", notes)
        spread = is_object(inner) and not {"id", "id?"} & inner.keys()
        return inner, Naming(("id",), "" if spread else "value", entries=True)
    inner = guess(values, "", notes)
    if is_record(inner):
        return inner, None
    notes.append("guess: a record is not an object of columns; it goes into the column `value`")
    return inner, Naming(("file", "number"), "value")


def _have_entries(values: list[Any], format: str) -> bool:
    """Tell whether the entries of the values are the records."""
    if not all(isinstance(value, dict) for value in values):
        return False
    counts = Counter(chain.from_iterable(values))
    if format == "json lines":
        alone = all(len(value) == 1 for value in values)
        return alone and len(values) > 1 and len(counts) * 2 > len(values)
    entries = [entry for value in values for entry in value.values()]
    kinds = set(map(type, entries))
    if len(kinds) > 1 or not kinds <= {dict, list} or len(counts) < 2:
        return False
    if len(values) > 1 and max(counts.values()) == len(values):
        return False  # a field of all
    shared = kinds == {dict} and set.intersection(*map(set, entries))
    return bool(shared) or keys_are_data(counts, max(2, len(values)))


def _by_file(given: list[Given], value: Any) -> Naming:
    columns = ("file",) if given[0].format == "json value" else ("file", "number")
    taken = {f"{name}{end}" for name in columns for end in ("", "?")}
    spread = is_object(value) and not taken & value.keys()
    return Naming(columns, "" if spread else "value")


def _named(given: list[Given], naming: Naming) -> Iterator[dict[str, Any]]:
    """Yield the records like `records` of the script."""
    for each in given:
        for file, values in each.files.items():
            for number, value in enumerate(values, 1):
                if naming.entries:
                    yield from (naming.record((key,), entry) for key, entry in value.items())
                else:
                    yield naming.record((f"{each.path}/{file}", number), value)


def _grouped(given: list[Given], dialogue: str) -> Iterator[dict[str, Any]]:
    """Yield the dialogues of rows like `records` of the script; UsageError if that is none."""
    seen = set()
    for each in given:
        for rows in each.files.values():
            if any(type(row.get(dialogue)) not in (str, int) for row in rows):
                raise UsageError(f"--dialogue {dialogue}: not a text or number in every row")
            for id, turns in groupby(rows, lambda row: row[dialogue]):
                if id in seen:
                    raise UsageError(
                        f"--dialogue {dialogue}: the rows of {id!r:.60} stand in two places",
                        remedy="Write `records=` by hand (docs/adding.md).",
                    )
                seen.add(id)
                yield {dialogue: id, TURNS: [_without(turn, dialogue) for turn in turns]}


def _without(row: dict[str, Any], column: str) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key != column}


def _key_of(records: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    """Return one or two fields that are unique, ids first; or ()."""
    shared = [
        key
        for key in records[0]
        if len({*map(type, (record.get(key) for record in records))}) == 1
        and type(records[0][key]) in (str, int)
        and all(len(str(record[key])) <= _LONGEST for record in records)
    ]
    shared.sort(key=lambda key: "id" not in key.lower())
    for keys in [*combinations(shared, 1), *combinations(shared[:_MOST_COLUMNS], 2)]:
        if len({tuple(record[key] for key in keys) for record in records}) == len(records):
            return keys
    return ()


def _ordered(shape: Any, key: Sequence[str]) -> Any:
    """Return the shape of records with the key first, as transcripts take it."""
    return {each: shape[each] for each in key} | shape if isinstance(shape, dict) else shape


def require_spoken(stated: Stated, records: Sequence[Mapping[str, Any]]) -> None:
    """Raise UsageError unless each record has the stated turns."""
    for record in records:
        try:
            said = stated.spoken(record)
        except (LookupError, TypeError, ValueError):
            said = [(None, None)]
        if not all(type(who) in (str, int) and type(text) is str for who, text in said):
            found: Any = record.get(stated.listed, record)
            place = f" in {stated.listed!r}" if stated.listed in record else ""
            found = found[0] if isinstance(found, list) and found else found
            shown = few([*map(repr, found)], 8) if isinstance(found, Mapping) else f"{found!r:.60}"
            given = ", ".join(f"--{name} {word}" for name, word in vars(stated).items() if word)
            what = (
                f"{given}: not a text and its speaker in every record; found{place}: {shown:.200}"
            )
            raise UsageError(what, remedy="Name fields as the file has them, or write the script.")
