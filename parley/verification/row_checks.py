"""Checks of the rows of a build: each yields a message for each violation of its docstring."""

import json
import re
from bisect import bisect
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain, starmap
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from parley.base.errors import ParleyError, RowError, few, one_line, words_of
from parley.base.values import strings
from parley.builds.built_folder import BuiltFolder
from parley.declaration.configs import Config, Unjoin, View
from parley.read.dialogues import dialogues_of, id_columns
from parley.read.transcript import Turn
from parley.rows.splits import SplitPlan, generate
from parley.schema.composites import KEY
from parley.schema.shapes import fitting
from parley.verification.changes import row_differences
from parley.verification.folder_checks import Plans, Rebuilt
from parley.verification.results import Aside, Found

_CHANCE = 100  # characters of a dialogue, with its speakers, that may be equal by chance


def keys(built: BuiltFolder) -> Iterator[str]:
    """Keys are unique within a config, or within a split where splits may share keys."""
    first: dict[tuple[Any, ...], str] = {}  # the split of each key of a config
    configs = built.dataset.configs
    for config, split in built.declared_splits:
        declared = configs[config]
        if not declared.keys:
            continue
        shared = declared.splits_share_keys
        rows = _only(built, config, split, declared.keys)
        found = Counter(tuple(row[name] for name in declared.keys) for row in rows)
        for key, count in found.items():
            if count > 1:
                yield f"{config}/{split}: {', '.join(map(str, key))} occurs {count} times"
            other = first.setdefault((config, *key), split)
            if other != split and not shared:
                yield f"{config}/{split}: {', '.join(map(str, key))} is also in {other}"


def _only(built: BuiltFolder, config: str, split: str, names: Sequence[str]) -> Iterator[Any]:
    """Yield the rows of a split with these columns alone, which takes less time."""
    for table in built.tables(config, split):
        yield from table.select([*names]).to_pylist()


def empty_texts(built: BuiltFolder) -> Iterator[str]:
    """Missing is null: a text is empty only in a field whose meaning has the word `empty`.

    A message of a chat is empty where its turns are, so it needs no such meaning.
    """
    found: Counter[tuple[str, str]] = Counter()
    for config, split in built.declared_splits:
        tables = built.tables(config, split)
        columns = ((table[name], name) for table in tables for name in table.schema.names)
        for path, values in chain.from_iterable(starmap(_leaves, columns)):
            if pa.types.is_string(values.type):
                found[config, path] += pc.sum(pc.equal(values, "")).as_py() or 0
    for (config, path), count in (+found).items():
        declared = built.dataset.configs[config]
        meanings = {column.path: column.meaning for column in declared.fields}
        meaning = meanings[re.sub(r"(\[\])+$", "", path)]
        is_message = path == "messages[].content" and "source_turns" in declared.features
        if "empty" not in meaning and meaning not in ("", KEY) and not is_message:
            what = f"{count:,} empty texts; say in its meaning what `empty` means, or give null"
            yield f"{config}: {path}: {what}"


def _leaves(values: Any, path: str) -> Iterator[tuple[str, Any]]:
    if pa.types.is_struct(values.type):
        for number, field in enumerate(values.type):
            yield from _leaves(pc.struct_field(values, [number]), f"{path}.{field.name}")
    elif pa.types.is_list(values.type):
        yield from _leaves(pc.list_flatten(values), f"{path}[]")
    else:
        yield path, values


def records(built: BuiltFolder, plans: Plans) -> Iterator[str]:
    """Each row has the values that are declared, and a lossless one converts to a record and back.

    Splits whose source is available are left to `source`, which compares upstream's own records.
    """
    for config, split in built.declared_splits:
        declared = built.dataset.configs[config]
        rows = () if (config, split) in plans else built.rows(config, split)
        for number, row in enumerate(rows):
            where = f"{config}/{split}[{number}]"
            try:
                record = declared.to_record(row)
                if not declared.node.fits(record):
                    found = declared.node.problems(record)
                    yield from (str(problem.at(where)) for problem in found)
                elif declared.to_row(record) != row:
                    yield f"{where}: the record converted from it gives another row"
            except Exception as error:  # a script may fail on a foreign row
                yield f"{where}: does not convert to a record: {words_of(error)}"


def source(built: BuiltFolder, plans: Plans, rebuilt: Rebuilt) -> Iterator[Found]:
    """Every upstream record gives the built row, and the row converts back to the record."""
    if absent := ["/".join(name) for name in built.declared_splits if name not in plans]:
        which = f"of {', '.join(absent)} " if plans else ""
        yield Aside("not checked", f"the upstream files {which}are not available")
    for name in (name for name in built.declared_splits if name in plans):
        made = rebuilt.from_source[name]
        if isinstance(made.split, Exception):
            raise made.split
        if made.split.digest != rebuilt.splits[name].digest:
            expected = list(generate(plans[name]))
            yield from row_differences("/".join(name), built.rows(*name), expected)
        yield from made.problems


def joins(built: BuiltFolder, plans: Plans) -> Iterator[str]:
    """Joined rows give each record of their files back, in order, but for those `left_out`."""
    for name in built.declared_splits:
        config = built.dataset.configs[name[0]]
        if name in plans and isinstance(config, Config) and config.unjoin:
            yield from _unjoined(built, config, config.unjoin, plans[name])


def _unjoined(built: BuiltFolder, config: Config, unjoin: Unjoin, plan: SplitPlan) -> Iterator[str]:
    split = "/".join(plan.name)
    due: dict[str, dict[str, list[int]]] = {}  # path -> record as text -> its places
    for file in plan.files:
        places = due.setdefault(file.path, {})
        upstream: Iterator[Any] = (record for _, record in plan.reader.read(file))
        if isinstance(file.shape, dict) and str in file.shape:
            upstream = ({key: value} for record in upstream for key, value in record.items())
        for at, record in enumerate(upstream):
            places.setdefault(_as_text(record), []).append(at)
    number, last = 0, dict[tuple[int, str], int]()  # the row, and the place before in each file

    def records() -> Iterator[Any]:
        nonlocal number
        for number, row in enumerate(built.rows(*plan.name)):  # noqa: B007 - read below
            yield config.to_record(row)

    try:
        for path, record in unjoin(records()):
            text = _as_text(record)
            for each in [path] if path else due:
                here = due.get(each, {}).get(text, [])
                index = bisect(here, last.get((number, each), -1))
                if index < len(here):
                    last[number, each] = here.pop(index)
                    break
            else:
                where = f"{split}[{number}]: unjoin gives a record that {path or 'each file'}"
                problem = "lacks, or has less often or in another order; keep what `records` reads"
                yield f"{where} {problem}: {text:.200}"
    except Exception as error:  # of a script
        yield f"{split}[{number}]: unjoin fails: {words_of(error)}"
        return
    for path, left in due.items():
        count = sum(map(len, left.values()))
        declared = config.left_out.get(plan.split, {}).get(path, 0)
        if count != declared and not (declared and built.is_sample):
            first = next((text for text, places in left.items() if places), "none")
            problem = f"{count:,} records of {path} are not in the rows, declared {declared:,}"
            yield f"{split}: {problem}; keep them, or declare left_out: {first:.200}"


def _as_text(record: Any) -> str:
    return json.dumps(record, sort_keys=True, ensure_ascii=False, default=repr)


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


def shown(built: BuiltFolder) -> Iterator[Found]:
    """Each view shows every dialogue, turn and participant, but for those that it declares.

    In a sample, any number may be left out of what the real rows leave out.
    """
    for name, view in _views(built):
        counts: dict[str, tuple[int, int]] = {}  # kind -> shown, and in all
        for split in built.splits(name):
            present = _present(built, view, split)
            for kind, found in _shown(built, view, split).items() if present else ():
                place, due = f"{name}/{split}", present[kind]
                if strangers := found - due:
                    some = few(sorted(map(repr, strangers)))
                    yield f"{place}: shows {kind} that {view.of} has not: {some}"
                missing = len(due - found)
                declared = view.left_out.get(split, {}).get(kind, 0)
                if missing != declared and not (declared and built.is_sample):
                    left = f"leaves out {missing:,} of {len(due):,} {kind}"
                    remedy = "show them, or declare left_out"
                    yield f"{place}: {left}, declared {declared:,}: {remedy}"
                some_before, all_before = counts.get(kind, (0, 0))
                counts[kind] = some_before + len(found), all_before + len(due)
        texts = [f"{some:,} of {every:,} {kind}" for kind, (some, every) in counts.items()]
        told = ", ".join(texts) or "names no dialogue, turn or participant"
        yield Aside("counted", f"{name}: {told}")


def _present(built: BuiltFolder, view: View, split: str) -> dict[str, set[Any]]:
    """Return what the dialogues of a view hold, by kind; nothing if its config has none.

    A participant is (dialogue, side), a turn (dialogue, side, place): the side of the chat that
    shows it, None if all sides share one.
    """
    config = built.dataset.configs.get(view.of)
    if not isinstance(config, Config) or not config.holds or split not in built.splits(view.of):
        return {}
    found: dict[str, set[Any]] = {"dialogues": set(), "turns": set(), "participants": set()}
    column = config.keys[0] if view.shown.get("dialogues") else ""
    has_chats = _has_chats(view)
    for number, row in enumerate(built.rows(view.of, split)):
        dialogue = row[column] if column else number
        count, sides = config.holds(row)
        found["dialogues"].add(dialogue)
        for side in sides:
            found["participants"].add((dialogue, side))
        for side in sides if has_chats else [None]:
            found["turns"].update((dialogue, side, place) for place in range(count))
    return found


def _has_chats(view: View) -> bool:
    """Tell whether each participant has a chat of its own, with every turn."""
    return view.shown.get("turns") == "source_turns" and "participants" in view.shown


def _shown(built: BuiltFolder, view: View, split: str) -> dict[str, set[Any]]:
    """Return what the rows of a view show, as `_present`; nothing if no column names dialogues."""
    columns, has_chats = view.shown, _has_chats(view)
    found: dict[str, set[Any]] = {kind: set() for kind in columns if "dialogues" in columns}
    of_columns = [column for column in columns.values() if column]
    rows = _only(built, view.name, split, of_columns) if found else ()
    for number, row in enumerate(rows):
        value = {kind: row[column] if column else number for kind, column in columns.items()}
        sides = _as_list(value.get("participants"))
        for dialogue in _as_list(value["dialogues"]):
            found["dialogues"].add(dialogue)
            if "participants" in found:
                found["participants"].update((dialogue, side) for side in sides)
            for side in sides if has_chats else [None]:
                if "turns" in found:
                    places = _places(value["turns"])
                    found["turns"].update((dialogue, side, place) for place in places)
    return found


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _places(turns: Any) -> Iterable[int]:
    """Return the places of the turns that a row shows: a place, lists of them, or their texts."""
    turns = _as_list(turns)
    if texts := [turn for turn in turns if isinstance(turn, str)]:
        return range(len(texts))
    return [place for turn in turns for place in _as_list(turn)]


def transcripts(built: BuiltFolder) -> Iterator[str]:
    """`transcript.py` gives each turn of a row, with its speaker and the row's text.

    A text that is no action follows in the row that of the turn before. There are as many turns as
    `holds` counts, of its speakers, or of fewer if some in the split have all. A dialogue has the
    turns of no earlier one, but for those that the config declares. Rows with the id of one
    dialogue have the same turns, as only the first of them is shown. Rows of other configs that
    name turns have their texts and speakers.
    """
    first: dict[tuple[str, ...], str] = {}  # config, speakers and texts -> the dialogue
    of_ids: dict[str, tuple[str, tuple[str, ...]]] = {}  # id -> its first row, and what it shows
    turns_of: dict[str, Sequence[Turn]] = {}
    layout = built.dataset.layout
    for config, split in built.declared_splits:
        if config not in layout.configs or not layout.transcript:
            continue
        declared, too_few = built.dataset.configs[config], ""
        holds, again = getattr(declared, "holds", None), list[str]()
        for number, dialogue in enumerate(dialogues_of(built, config, split)):
            where = f"transcript.py: {config}/{split}[{number}]"
            try:
                turns = dialogue.transcript.turns
            except ParleyError as error:
                cause = error.__cause__ or error
                yield one_line(f"{where}: fails: {type(cause).__name__}: {cause}; fix it")
                continue
            turns_of[dialogue.id] = turns
            texts = iter(strings([dialogue.row, dialogue.beside]))
            others = (t.text for t in turns if not t.action and t.text not in texts)
            if (other := next(others, None)) is not None:
                remedy = "show the texts of the row in their order, and actions with action=True"
                yield one_line(f"{where}: {other!r:.60} is not the row's next text; {remedy}")
            count, present = holds(dialogue.row) if holds else (len(turns) or "some", ())
            speakers, due = {turn.speaker for turn in turns}, {str(side) for side in present}
            named = [f"{len(of)} speakers ({few(sorted(of))})" for of in (due, speakers)]
            problem = f"{where}: expected {count} turns of {named[0] if due else 'some speakers'}, "
            problem += f"found {len(turns)} turns of {named[1]}"
            if len(turns) != count or (holds and not speakers <= due):
                yield f"{problem}; show each turn with its speaker"
            too_few = problem if speakers < due and (too_few or not number) else ""
            key = (config, *(text for turn in turns for text in (turn.speaker, turn.text)))
            shown, texts_shown = of_ids.setdefault(dialogue.id, (f"{config}/{split}", key[1:]))
            if texts_shown != key[1:]:
                remedy = "declare splits_share_keys, or give each dialogue an id of its own"
                yield f"{where}: {dialogue.id} has other turns in {shown}; {remedy}"
            name = f"{dialogue.id} of {split}"
            earlier = first.setdefault(key, name)
            if holds and earlier != name and len("".join(key)) > _CHANCE:
                again.append(f"{dialogue.id} those of {earlier}")
        if too_few:
            yield f"{too_few}, in every row; show each turn with its speaker"
        repeats = getattr(declared, "repeats", {}).get(split, 0)
        if len(again) != repeats and not (repeats and built.is_sample):
            problem = f"{len(again):,} dialogues have all turns of another, declared {repeats:,}"
            problem += f": {few(again)}" if again else ""
            yield f"{config}/{split}: {problem}; declare repeats, and say it in the card"
    yield from _of_other_configs(built, turns_of)


def _of_other_configs(built: BuiltFolder, turns_of: Mapping[str, Sequence[Turn]]) -> Iterator[str]:
    """Yield each row of other configs that contradicts the turns of its dialogue."""
    sides = {id: frozenset(turn.speaker for turn in turns) for id, turns in turns_of.items()}
    are_roles = len({of for of in sides.values() if len(of) > 1}) == 1  # else names of people
    speakers: dict[tuple[str, Any], str] = {}  # what a row calls a speaker -> whom it must mean
    for config, split in built.declared_splits:
        names = _columns_of_turns(built, config)
        rows = _only(built, config, split, [*filter(None, names)]) if names else ()
        for number, row in enumerate(rows):
            id = built.dataset.dialogue_id(split, row[names[0]])
            try:
                found = _speaker(row, names, turns_of[id]) if id in turns_of else ""
                who = (id, row[names[3]]) if names[3] else (config, "the assistant")
                if found and (names[3] or (are_roles and names[2] == "messages")):
                    due = speakers.setdefault(who, who[1] if who[1] in sides[id] else found)
                    if due != found:
                        raise ValueError(f"{who[1]}: expected the turns of {due}, found of {found}")
            except ValueError as error:
                remedy = "mend the row or transcript.py, or give its columns other names"
                yield one_line(f"{config}/{split}[{number}]: {error}; {remedy}")


def _columns_of_turns(built: BuiltFolder, config: str) -> list[str]:
    """Return the columns for a dialogue, its turns, their texts and the speaker, "" for none.

    None at all unless the key begins with the dialogue. Of a chat the speaker is the assistant.
    """
    declared = built.dataset.configs[config]
    id = next(iter(declared.keys), "")
    of_config = {"dialogues": id if id in id_columns(built) else "", "turns": "turn"}
    shown = getattr(declared, "shown", of_config)
    names = [id, shown.get("turns", ""), "text", "" if "speaker" in declared.keys else "speaker"]
    if names[1] == "source_turns":
        names[2:] = ["messages", shown.get("participants", "")]
    names = [name if name in declared.features else "" for name in names]
    return names if id and id == shown.get("dialogues") and names[1] else []


def _speaker(row: dict[str, Any], names: Sequence[str], turns: Sequence[Turn]) -> str:
    """Return who speaks in the turns that a row names, of a chat as its assistant; "" for nobody.

    ValueError unless it has the text of its turn, each message of a chat those of all its turns,
    and the assistant the turns of one speaker.
    """
    said: list[Any] = [(row[names[1]], "assistant", row.get(names[2]))]
    if is_chat := names[2] == "messages":
        pairs = zip(row[names[1]], row["messages"], strict=False)  # `shown` counts the turns
        said = [(place, m["role"], m["content"]) for places, m in pairs for place in places]
    found = dict[str, None]()
    for place, role, text in said if is_chat or type(row[names[1]]) is int else ():
        if not 0 <= place < len(turns):
            raise ValueError(f"turn {place}: expected 0 to {len(turns) - 1}")
        due = turns[place]
        if names[2] and not due.action and not (due.text in text if is_chat else due.text == text):
            raise ValueError(f"turn {place}: expected {due.text!r:.60}, found {text!r:.60}")
        if role == "assistant":
            found[due.speaker] = None
    if len(found) > 1:
        raise ValueError(f"the assistant: expected the turns of one, found of {few([*found])}")
    return next(iter(found), "")
