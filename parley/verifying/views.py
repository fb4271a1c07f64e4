"""Checks of views: that they follow from records, and what of the dialogues they show."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import chain
from typing import Any

from parley.base.errors import RowError, few
from parley.building.built import BuiltFolder
from parley.declaring.declaration import Config, View
from parley.rows.split import fitting
from parley.verifying.integrity import Plans, row_differences, values_of_columns


def views(built: BuiltFolder, plans: Plans) -> Iterator[str]:
    """Each row of a view is the one that its function gives of the records, in order.

    The records are made again from the rows of other configs. Splits whose source is available are
    left to `source`.
    """
    records = cache(lambda config, split: list(_records(built, config, split)))
    for name, view in _views(built):
        for split in built.splits(name):
            if (name, split) in plans:
                continue
            if view.rejoin:
                found = list(view.rejoin(built, split))
            else:
                found = [] if view.splits else records(view.of, split)
            if found:
                place = f"{name}/{split}"
                due = view.to_rows(fitting(view.node, view.rows(found), RowError, place))
                yield from row_differences(place, built.rows(name, split), list(due))


def _views(built: BuiltFolder) -> Iterator[tuple[str, View]]:
    found = built.dataset.configs.items()
    return ((name, config) for name, config in found if isinstance(config, View))


def _records(built: BuiltFolder, config: str, split: str) -> Iterator[Any]:
    if split in built.splits(config):
        yield from (built.record(config, row) for row in built.rows(config, split))


def shown(built: BuiltFolder, told: list[str]) -> Iterator[str]:
    """Each view shows every dialogue, turn and participant, but for those that it declares.

    What each shows is added to `told`. In a sample, any number may be left out of what the real
    rows leave out.
    """
    held = cache(lambda config, split, by_id: _held(built, config, split, by_id))
    for name, view in _views(built):
        numbers: dict[str, list[int]] = {}  # kind -> shown, and in all
        for split in built.splits(name):
            due = held(view.of, split, bool(view.shown.get("dialogues"))) if view.of else {}
            for kind, found in _shown(built, name, split, view.shown).items() if due else ():
                place, strangers = f"{name}/{split}", found - due[kind]
                if strangers:
                    some = few(sorted(map(repr, strangers)))
                    yield f"{place}: shows {kind} that {view.of} has not: {some}"
                missing = len(due[kind]) - len(found - strangers)
                declared = view.left_out.get(split, {}).get(kind, 0)
                if missing != declared and not (declared and built.is_sample):
                    yield (
                        f"{place}: leaves out {missing:,} of {len(due[kind]):,} {kind}, declared "
                        f"{declared:,}: show them, or declare left_out"
                    )
                of_kind = numbers.setdefault(kind, [0, 0])
                of_kind[0] += len(found)
                of_kind[1] += len(due[kind])
        counts = [f"{some:,} of {all:,} {kind}" for kind, (some, all) in numbers.items()]
        told.append(f"{name}: {', '.join(counts) or 'names no dialogue, turn or participant'}")


def _held(built: BuiltFolder, config: str, split: str, by_id: bool) -> dict[str, set[Any]]:
    """Return what the rows of dialogues hold, by kind; nothing if the config has no dialogues."""
    declared = built.dataset.configs[config]
    if not isinstance(declared, Config) or not declared.holds or split not in built.splits(config):
        return {}
    dialogues, turns, participants = set[Any](), set[Any](), set[Any]()
    for number, row in enumerate(built.rows(config, split)):
        id = row[declared.keys[0]] if by_id else number
        count, present = declared.holds(row)
        dialogues.add(id)
        turns.update((id, turn) for turn in range(count))
        participants.update((id, each) for each in present)
    return {"dialogues": dialogues, "turns": turns, "participants": participants}


def _shown(
    built: BuiltFolder, config: str, split: str, columns: Mapping[str, str]
) -> dict[str, set[Any]]:
    """Return what the rows of a view show, by kind; nothing if no column names dialogues."""
    named = [column for column in columns.values() if column]
    values = dict(zip(named, values_of_columns(built, config, split, named), strict=True))
    if "dialogues" not in columns:
        return {}
    by_row = range(sum(table.num_rows for table in built.tables(config, split)))
    ids: Iterable[Any] = values.get(columns["dialogues"], by_row)
    found = {kind: set[Any]() for kind in columns}
    for number, id in enumerate(ids):
        for each in id if isinstance(id, list) else [id]:
            found["dialogues"].add(each)
            for kind in columns.keys() - {"dialogues"}:
                within = _within(values[columns[kind]][number])
                found[kind].update((each, one) for one in within)
    return found


def _within(value: Any) -> Iterable[Any]:
    """Return the places of turns, or the participants, that a value names."""
    if not isinstance(value, list):
        return [] if value is None else [value]
    if value and isinstance(value[0], str):
        return range(len(value))
    return chain.from_iterable(map(_within, value))
