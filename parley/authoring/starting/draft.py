"""Draft a dataset from upstream's files: fields, types, labels and keys.

Nothing says who speaks in a file, or what a dialogue is: the user states it (`Stated`).
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, combinations, groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from parley.authoring.starting.files import BY_HAND, Given, read_given
from parley.authoring.starting.shapes import Notes, guess, keys_are_data
from parley.base.errors import UsageError, few
from parley.source.pins import PLACEHOLDER

_ORDER = ("train", "validation", "test")
_LONGEST = 64  # characters of an id
_MOST_COLUMNS = 8  # tried in pairs as a key


@dataclass(frozen=True)
class Stated:
    """What the user states of the files: names of fields."""

    turns: str = ""  # of a record, which lists its turns
    speaker: str = ""  # of a turn; without `turns`, one that lists the speakers
    text: str = ""  # likewise
    dialogue: str = ""  # of a row that is a turn

    def __post_init__(self) -> None:
        if self.turns and self.dialogue:
            said = "--turns excludes --dialogue: either a record has turns, or it is one"
            raise UsageError(said)
        if (self.speaker or self.dialogue) and not self.text:
            raise UsageError(f"--{'speaker' if self.speaker else 'dialogue'} needs --text")

    def __str__(self) -> str:
        return ", ".join(f"--{name} {word}" for name, word in vars(self).items() if word)


@dataclass(frozen=True)
class Draft:
    """A drafted dataset."""

    given: list[Given]  # its sources
    value: Any  # the shape of the values of its files, or of their entries if these are records
    entries: bool  # whether the entries of objects are the records
    key: tuple[str, ...]
    stated: Stated
    notes: list[str]  # what was taken and guessed, a line each

    @property
    def spread(self) -> bool:
        """Whether an entry is an object whose keys are columns beside its own key, `id`."""
        return _has_columns(self.value) and not {"id", "id?"} & self.value.keys()


def draft(files: Sequence[Path], stated: Stated) -> Draft:
    """Draft a dataset from files that hold its records; UsageError if there are none."""
    notes, who = Notes(), stated.speaker
    notes.speaker = f"{stated.turns}[].{who}" if stated.turns else f"{who}[]"
    notes.speaker = who if stated.dialogue else notes.speaker
    given = sorted(read_given(files, notes), key=lambda each: _ORDER.index(each.split))
    values = list(chain.from_iterable(each.values for each in given))
    if not values:
        raise UsageError("found no records", remedy="Name files with records.")
    if entries := given[0].format == "json value" and _have_entries(values):
        notes.append("guess: a record is an entry of the objects, with its key as `id`")
        values = [entry for value in values for entry in value.values()]
    value = guess(values, "", notes)
    if not entries and not _has_columns(value):
        said = f"a record is not an object of columns ({'; '.join(notes)})"
        raise UsageError(said, remedy=BY_HAND)
    if stated.dialogue:
        if entries or any(type(row.get(stated.dialogue)) not in (str, int) for row in values):
            raise UsageError(f"{stated}: --dialogue is not a text or number in every row")
        runs = (groupby(each.values, itemgetter(stated.dialogue)) for each in given)
        counts = Counter(id for id, _ in chain.from_iterable(runs))
        if apart := [str(id) for id, times in counts.items() if times > 1]:
            said = f"the rows of {stated.dialogue} {few(apart)} stand in two places"
            raise UsageError(said, remedy=BY_HAND)
    key = (stated.dialogue,) if stated.dialogue else ("id",) if entries else _key_of(values)
    if not entries:  # the key first, as transcripts take it
        value = {each: value[each] for each in key} | value
    made = Draft(given, value, entries, key, stated, notes)
    notes.append(f"guess: {', '.join(key)} is the key" if key else "no field is unique: no key")
    if stated.text or stated.turns:
        _require_turns(made, values)
    else:
        said = "no dialogues: state --turns, --speaker and --text, or --dialogue for rows of turns"
        notes.append(said)
    notes.append(f"to do: licence, languages, citation, and the URLs for {PLACEHOLDER}")
    notes[:] = [" ".join(note.split()) for note in notes]
    return made


def _has_columns(shape: Any) -> bool:
    return isinstance(shape, dict) and str not in shape


def _have_entries(values: list[Any]) -> bool:
    if not all(isinstance(value, dict) for value in values):
        return False
    counts = Counter(chain.from_iterable(values))
    entries = [entry for value in values for entry in value.values()]
    if len(counts) < 2 or (len(values) > 1 and max(counts.values()) == len(values)):
        return False  # one key, or a field of all
    if all(isinstance(entry, dict) for entry in entries) and set.intersection(*map(set, entries)):
        return True
    return len({*map(type, entries)} & {dict, list}) == 1 and keys_are_data(counts, 2)


def _require_turns(made: Draft, records: Sequence[Any]) -> None:
    """Raise UsageError unless each record has texts, and their speakers, where they are stated."""
    stated, record = made.stated, made.value
    if not made.key:
        raise UsageError(f"{stated}: no field tells the dialogues apart", remedy=BY_HAND)
    if made.entries and not made.spread:
        record = {"value": record}
    turn: Any = record
    if stated.turns:
        turns = record.get(stated.turns)
        turn = turns[0] if isinstance(turns, list) else None
    elif not stated.dialogue:
        turn = {field: each[0] for field, each in record.items() if isinstance(each, list)}
    fields = turn if isinstance(turn, dict) else {"": turn}
    text = fields.get(stated.text)
    if (text is str or isinstance(text, set)) and stated.speaker in ("", *fields):
        beside = not (stated.turns or stated.dialogue or stated.speaker in ("", stated.text))
        for number, each in enumerate(records if beside else (), 1):
            texts, speakers = len(each[stated.text]), len(each[stated.speaker])
            if texts != speakers:
                said = f"{stated}: record {number} has {texts} texts and {speakers} speakers"
                raise UsageError(said, remedy=BY_HAND)
        return
    there = f"a record has {few([*map(repr, record)], 8)}"
    there += f", a turn {few([*map(repr, fields)], 8)}" if stated.turns and turn is fields else ""
    raise UsageError(
        f"{stated}: not a text and its speaker in every turn of every record; {there}",
        remedy="Name fields as the files have them, or write the script by hand.",
    )


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
