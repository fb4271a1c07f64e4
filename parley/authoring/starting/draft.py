"""Guess a dataset from upstream's files."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations
from pathlib import Path
from typing import Any

from parley.authoring.starting.given import Given, read_given
from parley.authoring.starting.shapes import TEXT, Guess, Invention, guess, keys_are_data
from parley.authoring.starting.turns import LONGEST, Chat, chat_of_turns
from parley.base.errors import UsageError
from parley.declaring.chats import CHAT
from parley.declaring.pins import PLACEHOLDER
from parley.declaring.shapes import parse

_SPLITS = ("train", "validation", "test")
_MOST_COLUMNS = 8  # tried in pairs as a key


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
    """A guessed dataset."""

    given: list[Given]  # its sources
    value: Guess  # the shape of the values of its files, or of their entries if these are records
    naming: Naming | None  # how values become records, if they are not records
    key: dict[str, type]  # column of the key -> type
    chat: Chat | None
    notes: list[str]  # the guesses, a line each

    @property
    def format(self) -> str:
        """The format of its files."""
        return self.given[0].format

    @property
    def example(self) -> Any:
        """An invented record."""
        value = self.value.invent(Invention(), 0)
        return self.naming.record(("name", 1), value) if self.naming else value


def draft(files: Sequence[Path]) -> Draft:
    """Guess a dataset from files that hold its records; UsageError if there are none."""
    notes: list[str] = []
    given = sorted(read_given(files, notes), key=lambda each: _SPLITS.index(each.split))
    values = [value for each in given for found in each.files.values() for value in found]
    if not values:
        raise UsageError("found no records", remedy="Name files with records.")
    value, naming = _records_of(given, values, notes)
    records = list(_named(given, naming)) if naming else values
    key = () if naming and naming.columns[0] != "id" else _key_of(records)
    named = all(type(next(iter(record.values()), None)) in (str, int) for record in records)
    if not key and naming is None and (any(each.only for each in given) or not named):
        naming = _by_file(given, value)  # keeps the names of the files, or gives an id
        records = list(_named(given, naming))
    if not key and naming and not naming.entries:
        key = naming.columns
    if key:
        notes.append(f"key: {', '.join(key)} is unique for the {len(records):,} records")
    else:
        notes.append("key: no field or pair of fields is unique; name columns that are")
    kinds = {column: type(records[0][column]) for column in key}
    value = value if naming else replace(value, shape=_ordered(value.shape, key))
    chat = _chat_of(records)
    if chat and (kinds.keys() & CHAT.keys() or not _is_shown(chat, value, naming)):
        chat = None
    notes.append(_said(chat))
    splits = {each.path: each.split for each in given}
    said = ", ".join(f"{path} -> {split}" for path, split in list(splits.items())[:6])
    notes.append(f"splits, by the names of files: {said}{', ...' if len(splits) > 6 else ''}")
    if clone := given[0].clone:
        place = f"commit {clone.commit} of https://github.com/{clone.repository}"
        notes.append(f"URLs: {place}; `parley fetch` tests that it holds these files")
    else:
        notes.append(f"no URL is known: replace {PLACEHOLDER} by the URL")
    notes.append("the card: language en, licence unknown, fewer than 1,000 rows; correct them")
    return Draft(given, value, naming, kinds, chat, [" ".join(note.split()) for note in notes])


def _records_of(
    given: list[Given], values: list[Any], notes: list[str]
) -> tuple[Guess, Naming | None]:
    """Return the shape of values, and their naming."""
    format = given[0].format
    if format in ("text", "lines"):
        notes.append(f"a record is {'a whole file' if format == 'text' else 'a line'} of text")
        columns = ("file",) if format == "text" else ("file", "number")
        return TEXT, Naming(columns, "text")
    if format in ("json value", "json lines") and _have_entries(values, format):
        notes.append("a record is an entry of the objects, with its key as `id`")
        entries = [entry for value in values for entry in value.values()]
        inner = guess(entries, "", notes)
        spread = inner.is_object and not {"id", "id?"} & inner.shape.keys()
        return inner, Naming(("id",), "" if spread else "value", entries=True)
    inner = guess(values, "", notes)
    if inner.is_record:
        return inner, None
    notes.append("a record is not an object of columns; it goes into the column `value`")
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


def _by_file(given: list[Given], value: Guess) -> Naming:
    columns = ("file",) if given[0].format == "json value" else ("file", "number")
    taken = {f"{name}{end}" for name in columns for end in ("", "?")}
    spread = value.is_object and not taken & value.shape.keys()
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


def _key_of(records: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    """Return one or two fields that are unique, ids first; or ()."""
    shared = [
        key
        for key in records[0]
        if len({*map(type, (record.get(key) for record in records))}) == 1
        and type(records[0][key]) in (str, int)
        and all(len(str(record[key])) <= LONGEST for record in records)
    ]
    shared.sort(key=lambda key: "id" not in key.lower())
    for keys in [*combinations(shared, 1), *combinations(shared[:_MOST_COLUMNS], 2)]:
        if len({tuple(record[key] for key in keys) for record in records}) == len(records):
            return keys
    return ()


# Chats ----------------------------------------------------------------------------------


def _chat_of(records: Sequence[dict[str, Any]]) -> Chat | None:
    for name in records[0]:
        if all(type(record.get(name)) is list for record in records):
            turns = list(chain.from_iterable(record[name] for record in records))
            if found := chat_of_turns(name, turns):
                return found
    return None


def _ordered(shape: Any, key: Sequence[str]) -> Any:
    """Return the shape of records with the key first, as transcripts take it."""
    if isinstance(shape, tuple):
        return tuple(_ordered(each, key) for each in shape)
    return {each: shape[each] for each in key} | shape if isinstance(shape, dict) else shape


def _is_shown(chat: Chat, value: Guess, naming: Naming | None) -> bool:
    """Tell whether invented records, and their rows, have an id and the turns of a chat.

    Turns with odd keys, for example, do not stay objects with a text.
    """
    made_up, converted = Invention(), parse({"value": value.shape}).row()
    first = naming.columns[0] if naming else next(iter(converted.feature["value"]))
    for number in range(max(2, value.branches)):
        made = {"value": value.invent(made_up, number)}
        for each in (made, converted.to_row(made) if converted.to_row else made):
            found = naming.record(("", 1), each["value"]) if naming else each["value"]
            if not chat.fits(found) or type(found.get(first)) not in (str, int):
                return False
    return True


def _said(chat: Chat | None) -> str:
    if chat is None:
        return "messages: found no ids with turns of two speakers, so no chats"
    place = f"messages: {chat.turns}, {chat.text}" if chat.text else f"messages: {chat.turns}"
    if not chat.speaker:
        return f"{place}; no turn names its speaker: user and assistant are taken to alternate"
    assistant = next(who for who, role in chat.roles.items() if role == "assistant")
    return f"{place} and {chat.speaker}; {assistant} is the assistant"
