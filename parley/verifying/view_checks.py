"""Checks of views: that they follow from records, and what of the dialogues they show."""

from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain, product
from typing import Any

from parley.base.errors import RowError, few
from parley.building.configs import Config, View
from parley.building.folder import BuiltFolder
from parley.building.rows.split import fitting
from parley.verifying.check import Note
from parley.verifying.differences import row_differences
from parley.verifying.folder_checks import Plans
from parley.verifying.row_checks import values_of_columns


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
                due = map(view.to_row, fitting(view.node, view.rows(found), RowError, place))
                yield from row_differences(place, built.rows(name, split), list(due))


def _views(built: BuiltFolder) -> Iterator[tuple[str, View]]:
    found = built.dataset.configs.items()
    return ((name, config) for name, config in found if isinstance(config, View))


def _records(built: BuiltFolder, config: str, split: str) -> Iterator[Any]:
    if split in built.splits(config):
        yield from (built.record(config, row) for row in built.rows(config, split))


def shown(built: BuiltFolder) -> Iterator[str]:
    """Each view shows every dialogue, turn and participant, but for those that it declares.

    In a sample, any number may be left out of what the real rows leave out.
    """
    for name, view in _views(built):
        numbers: dict[str, list[int]] = {}  # kind -> shown, and in all
        for split in built.splits(name):
            due = _held(built, view, split)
            for kind, found in _shown(built, view, split).items() if due else ():
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
        yield Note(f"{name}: {', '.join(counts) or 'names no dialogue, turn or participant'}")


def _held(built: BuiltFolder, view: View, split: str) -> dict[str, set[Any]]:
    """Return what the dialogues of a view hold, by kind; nothing if its config has none."""
    config = built.dataset.configs.get(view.of)
    if not isinstance(config, Config) or not config.holds or split not in built.splits(view.of):
        return {}
    dialogues, turns, participants = set[Any](), set[Any](), set[Any]()
    column = config.keys[0] if view.shown.get("dialogues") else ""
    has_chats = _has_chats(view)
    for number, row in enumerate(built.rows(view.of, split)):
        id = row[column] if column else number
        count, present = config.holds(row)
        dialogues.add(id)
        participants.update(product([id], present))
        turns.update(product([id], present if has_chats else [None], range(count)))
    return {"dialogues": dialogues, "turns": turns, "participants": participants}


def _has_chats(view: View) -> bool:
    """Tell whether each participant has a chat of its own, with every turn."""
    return view.shown.get("turns") == "source_turns" and "participants" in view.shown


def _shown(built: BuiltFolder, view: View, split: str) -> dict[str, set[Any]]:
    """Return what the rows of a view show, by kind; nothing if no column names dialogues."""
    if "dialogues" not in (shown := view.shown):
        return {}
    count = sum(table.num_rows for table in built.tables(view.name, split))
    columns = [column for column in shown.values() if column]
    values = dict(zip(columns, values_of_columns(built, view.name, split, columns), strict=True))
    found, has_chats = {kind: set[Any]() for kind in shown}, _has_chats(view)
    for each in zip(*(values.get(column, range(count)) for column in shown.values()), strict=True):
        row = dict(zip(shown, each, strict=True))
        ids, sides = _several(row["dialogues"]), _several(row.get("participants"))
        found["dialogues"].update(ids)
        if "participants" in row:
            found["participants"].update(product(ids, sides))
        if "turns" in row:
            of_whom = sides if has_chats else [None]
            found["turns"].update(product(ids, of_whom, _turns(row["turns"])))
    return found


def _several(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _turns(value: Any) -> Iterable[Any]:
    """Return the places of the turns that a value names."""
    texts = [each for each in _several(value) if isinstance(each, str)]
    return range(len(texts)) if texts else chain.from_iterable(map(_several, _several(value)))
