"""Labels of people, checked, beside the rows of a config.

`read_labels` is the one reader of every file that a user brings beside a build.
"""

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from parley.annotators.columns import INDEX, WHOLE, Column, listed_in
from parley.annotators.layouts import (
    ANNOTATOR,
    LONG,
    UNNAMED,
    Nth,
    PartlyLabelled,
    Record,
    Values,
    records,
)
from parley.base.errors import Causes, ParleyError, Problem, RecordError, UsageError, few, shorten
from parley.base.values import flat
from parley.builds.built_folder import BuiltFolder
from parley.read.dialogues import dialogues, id_columns, places
from parley.read.export.export import cell
from parley.schema.nodes import show
from parley.tasks.prediction_formats import ANSWER, UNREADABLE

UnitKey = tuple[str, ...]
"""The values of the key of a unit, as text: (dialogue_id, turn), or (SPLIT/ID, turn)."""
Units = dict[UnitKey, Values]
"""What was labelled, each with the values of its columns; a set of labels is a tuple."""

GOLD = "gold"
"""The name under which the dataset's own values stand beside those of people."""
_SPLIT = "split"
_READ = ("speaker", "context", "text")  # of a turn: for annotators to read
_NO_ANSWERS = ("id", _SPLIT, ANNOTATOR, *_READ)
_FROM_0 = "; turns are counted from 0"
_NAMED = """Name them: parley sql "select KEY, label as NAME from 'FILE'" -o named.csv."""
_ONCE = f"keep one row, or name annotators in a column {ANNOTATOR}, or that which --annotator names"


class Said(NamedTuple):
    """What is said in a turn."""

    text: str | None  # None of a deal action
    speaker: str
    context: str  # the two utterances before it, a line each


@dataclass
class Labels:
    """Labels of people for units of a config, checked, and the dataset's own beside them.

    `keys` are the columns that name a unit, such as (dialogue_id, turn); `split` is the first where
    splits share keys. `annotators` has person -> unit -> values, `notes` what is not compared.
    """

    built: BuiltFolder
    config: str
    keys: UnitKey
    annotator: str
    columns: dict[str, Column] = field(default_factory=dict)
    annotators: dict[str, Units] = field(default_factory=lambda: defaultdict(dict))
    files: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    notes: list[str] = field(default_factory=list)

    @cached_property
    def key_columns(self) -> list[Column]:
        """The columns of the key, as they are read."""
        return [Column.of(self.built, self.config, name) for name in self.keys]

    @property
    def is_of_turns(self) -> bool:
        """Whether a unit is a turn."""
        return self.keys[-1] == "turn"

    @property
    def is_by_split(self) -> bool:
        """Whether a unit is named by its split, too."""
        return self.keys[0] == _SPLIT

    def unit(self, named: Sequence[Any]) -> UnitKey:
        """Return the unit of values of `keys`; `key_values` gives them back."""
        parts = tuple(map(str, named))
        return ("/".join(parts[:2]), *parts[2:]) if self.is_by_split else parts

    def key_values(self, unit: UnitKey) -> Values:
        """Return the values of `keys` of a unit."""
        parts = (*unit[0].split("/", 1), *unit[1:]) if self.is_by_split else unit
        pairs = zip(self.key_columns, parts, strict=True)
        return {column.name: column.read(part) for column, part in pairs}

    @cached_property
    def paths(self) -> dict[str, UnitKey]:
        """The columns of the config, and the fields within its objects, as CSV has them."""
        columns = self.built.column_types(self.config)
        return {".".join(path): path for path in (*((name,) for name in columns), *flat(columns))}

    @cached_property
    def declared(self) -> dict[str, Column]:
        """The columns of the config, and the fields within its objects, as they are read."""
        return {name: Column.of(self.built, self.config, *p) for name, p in self.paths.items()}

    def each_row(self) -> Iterator[tuple[UnitKey, Values]]:
        """Yield each row of the config with its unit."""
        for split in self.built.splits(self.config):
            for row in self.built.each_row_with_names(self.config, split):
                whole = {**row, _SPLIT: split}
                yield self.unit([whole[name] for name in self.keys]), row

    @cached_property
    def with_row(self) -> set[UnitKey]:
        """The units with a row in the config."""
        return {unit for unit, _ in self.each_row()}

    @cached_property
    def turns(self) -> dict[str, list[int]]:
        """Dialogue -> its turns with a row, in order."""
        found = defaultdict[str, list[int]](list)
        for id, turn in sorted((unit[0], int(unit[1])) for unit in self.with_row):
            found[id].append(turn)
        return found

    @cached_property
    def units(self) -> dict[UnitKey, Said | None]:
        """What can be labelled, and what is said in a turn; a dialogue stands for all its rows."""
        id, *beside = self.keys[self.is_by_split :]
        is_named = beside in (["turn"], ["speaker"]) or all(self.declared[n].labels for n in beside)
        if not is_named or id not in id_columns(self.built):
            return dict.fromkeys(self.with_row)
        every, layout = dict(places(self.built)), self.built.dataset.layout
        named = {config for config in every if next(iter(self.built.column_types(config))) == id}
        named = named or {config for config in every if config not in layout.beside}
        units = dict[UnitKey, Said | None]()
        for dialogue in dialogues(self.built):
            # an id has another name in the rows that can be read, as `uuid`
            if dialogue.config not in named:
                continue
            if self.is_of_turns:
                said: list[str] = []
                for number, turn in enumerate(dialogue.transcript.turns):
                    text, context = None if turn.action else turn.text, "\n".join(said[-2:])
                    units[dialogue.id, str(number)] = Said(text, turn.speaker, context)
                    said += [] if turn.action else [f"{turn.speaker}: {turn.text}"]
            elif beside == ["speaker"]:
                units |= {(dialogue.id, side): None for side in dialogue.transcript.sides}
            else:
                units[dialogue.id,] = None
        return units

    @cached_property
    def rows(self) -> Units:
        """The dataset's own values of every unit, without those of its own annotators."""
        keys, found = self.built.dataset.configs[self.config].keys, Units()
        for key, row in self.each_row():
            unit = found.setdefault(key, {})
            if ANNOTATOR in keys and row[ANNOTATOR] is not None:
                continue
            for name in self.columns.keys() & self.paths:
                value: Any = row
                for part in self.paths[name]:
                    value = None if value is None else value[part]
                if INDEX in keys and self.columns[name].is_set:
                    several = value if isinstance(value, list) else [value]
                    value = [*unit.get(name, ()), *several]
                unit[name] = self.columns[name].own(value)
        return found

    @property
    def everyone(self) -> dict[str, Units]:
        """The annotators, then the dataset's own values under the name `GOLD`."""
        return {**self.annotators, GOLD: self.rows}

    def read_codes(self) -> None:
        """Read each open column: as labels, numbers or texts.

        The values of all annotators decide which, with the dataset's of what they labelled.
        """
        given = [pair for units in self.annotators.values() for pair in units.items()]
        for name, column in self.columns.items():
            if column.is_open:
                rows = [row for _, row in given if row.get(name) is not None]
                units = dict.fromkeys(unit for unit, _ in given if column.is_set)
                own = (self.rows.get(unit, {}).get(name) or () for unit in units)
                known = [*chain.from_iterable(own)]
                self.columns[name], values = column.of_values([row[name] for row in rows], known)
                for row, value in zip(rows, values, strict=True):
                    row[name] = value

    def leave_out_equal(self, *, labels_too: bool) -> None:
        """Leave out columns that equal the dataset's in all rows.

        Columns of labels are left out only with `labels_too`; without it at least one column is
        kept.
        """
        given = [pair for units in self.annotators.values() for pair in units.items()]
        equal = [
            name
            for name in self.columns.keys() & self.paths
            if (labels_too or not self.columns[name].labels)
            and all(
                self.rows.get(unit, {}).get(name, self) == values[name]
                for unit, values in given
                if name in values
            )
        ]
        if equal and (labels_too or len(equal) < len(self.columns)):
            self.notes.append(f"equal to {self.config} in all rows: {', '.join(sorted(equal))}")
            self.columns = {n: each for n, each in self.columns.items() if n not in equal}


def read_labels(
    built: BuiltFolder, files: Sequence[str | Path], config: str = "", annotator: str = ANNOTATOR
) -> list[Labels]:
    """Return the labels of files by config: the given one, or of each file the likeliest.

    A file without a column `annotator` is of one person, who has its name without suffix. Raises
    what is wrong with a file, of all its rows; UsageError for a config without a key.
    """
    if config and not built.splits(config):
        what = f"{built.shown_path}: has no config {config}"
        raise UsageError(what, remedy=f"Run {built.rebuild} again.")
    paths = [*{os.path.realpath(path): path for path in map(Path, files)}.values()]
    stems = [*map(file_stem, paths)]
    keys = {name: _unit_keys(built, name) for name in ([config] if config else _configs(built))}
    of_configs: dict[str, Labels] = {}
    for path, stem in zip(paths, stems, strict=True):
        try:
            found = records(path, {"id", *chain.from_iterable(keys.values())})
            name = _config_of(keys, _names(found), built)
            labels = of_configs.setdefault(name, Labels(built, name, keys[name], annotator))
            person = stem if stems.count(stem) == 1 else str(path)
            _add(labels, str(path), found, person)
        except ParleyError as error:
            error.message = f"{path}: {shorten(error.message)}" if error.message else str(path)
            raise
    for labels in of_configs.values():
        labels.read_codes()
    return [*of_configs.values()]


def file_stem(path: Path) -> str:
    """Return the name of a file without suffix."""
    return path.name.removesuffix(".gz").rpartition(".")[0] or path.name


def _names(found: Sequence[Record]) -> list[str]:
    """Return the columns of a file."""
    return [*dict.fromkeys(chain.from_iterable(record.values for record in found))]


def _configs(built: BuiltFolder) -> list[str]:
    """Return the configs with rows of dialogues, or of what belongs to one."""
    ids = id_columns(built)
    return [name for name, of in built.dataset.configs.items() if ids.intersection(of.keys[:1])]


def _unit_keys(built: BuiltFolder, config: str) -> UnitKey:
    """Return the columns that name what a row is about, its turn if it has one."""
    dataset, declared = built.dataset, built.dataset.configs[config]
    keys = declared.keys
    keys = keys[: keys.index(ANNOTATOR)] if ANNOTATOR in keys else keys
    keys = (keys[0], "turn") if keys[1:] and "turn" in declared.features else keys
    is_id = not id_columns(built).isdisjoint(keys[:1])
    is_by_split = dataset.splits_share_ids if is_id else dataset.configs[config].splits_share_keys
    return (_SPLIT, *keys) if keys and is_by_split else keys


def _config_of(keys: Mapping[str, UnitKey], columns: list[str], built: BuiltFolder) -> str:
    """Return the config whose key a file has, of several the first with most of its columns."""
    # other cases are refused later; "labels" is the usual name where a tool gives none
    folded = {name.lower() or "labels" for name in columns}
    shared = dict[str, tuple[int, int]]()
    for name, of in keys.items():
        types = built.column_types(name)
        is_by_id = {"id"} <= types.keys() & {*columns} and {_SPLIT, *columns}.isdisjoint(of[:1])
        if of and (is_by_id or {part.lower() for part in of} <= folded):
            known = sum(column.lower() in folded - {"id"} for column in types)  # or a tool's id
            shared[name] = known, len(of)
    if not shared:
        due = " or ".join(dict.fromkeys(" and ".join(of) for of in keys.values() if of))
        what = f"has no column {due}; it has {few([*map(repr, columns)], 20)}"
        raise UsageError(what if due else f"{', '.join(keys)} has no key to find rows by")
    return max(shared, key=lambda name: shared[name])


def _add(labels: Labels, file: str, found: Sequence[Record], person: str) -> None:
    """Add the records of a file to labels; RecordError names all that are wrong."""
    columns = _names(found)
    annotator = labels.annotator
    _require_case(labels, columns)
    if annotator in labels.keys or annotator not in (*columns, ANNOTATOR):
        raise UsageError(f"has no column {annotator} of names, which --annotator names")
    # beside names in `differences`
    reserved = {GOLD, ANNOTATOR, *_READ, "column", *labels.keys}
    compared = _compared(labels, found)
    is_by_id = labels.keys[0] not in columns
    by_id = {row["id"]: unit for unit, row in labels.each_row()} if is_by_id else {}
    causes, wrong, ids, added = Causes(""), 0, set[str](), defaultdict[str, Units](dict)
    first = dict[tuple[str, UnitKey], str]()
    for place, values, answers in found:
        unit, problems = _unit_of(labels, values, by_id)
        named = values.get(annotator, person)
        by = _name_of(named)
        if not problems:
            files = labels.files[by] if unit in labels.annotators.get(by, ()) else ()
            # perhaps in this place: a task has several answers
            before = ", ".join(files) or first.get((by, unit), "")
            first.setdefault((by, unit), place)
            twice = f"repeated, first in {before}; {_ONCE}" if before else ""
            what = _wrong_unit(labels, unit, values if "text" in columns else None) or twice
            problems = [Problem("", what=what)] if what else []
        if by in ("", *reserved):
            due = f"another name, in a column {annotator} or of the file"
            problems.append(Problem(f": {annotator}", due, show(named)))
        added[by][unit], unread = _read(compared, answers)
        problems += unread
        ids.add(unit[0])
        wrong += bool(problems)
        for problem in problems:
            causes.add(f"{place} ({', '.join(unit)})", problem)
    if causes:
        what = f"{wrong:,} of {len(found):,} rows are wrong"
        raise RecordError(what, *causes.problems(), remedy=_remedy(labels, ids))
    for by, units in added.items():
        labels.annotators[by] |= units
        labels.files[by].append(file)
    labels.notes += _notes(labels, file, found, added)


def _notes(
    labels: Labels, file: str, found: Sequence[Record], added: Mapping[str, Units]
) -> Iterator[str]:
    """Yield what a person must know of a file that is right."""
    if labels.with_row.isdisjoint(chain.from_iterable(added.values())):
        yield f"{file}: labels no row of {labels.config}{_FROM_0 * labels.is_of_turns}"
    if parts := sum(isinstance(each, PartlyLabelled) for r in found for each in r.answers.values()):
        yield f"{file}: {parts:,} labels of a part of a text count for its turn"
    if tasks := tasks_of(labels.built, Path(file), found):
        what = f"has the fields of the task {few(tasks)}"
        yield f"{file}: {what}, which may write an answer otherwise: score predictions"


def tasks_of(built: BuiltFolder, file: Path, found: Sequence[Record]) -> list[str]:
    """Return the tasks to which records may be predictions: JSON Lines with all their fields."""
    columns = {*_names(found)}
    are_labels = columns & {ANNOTATOR, "text"} or any(r.answers is not r.values for r in found)
    every = {} if are_labels or not is_lines(file) else built.dataset.tasks
    tasks = {name: task for name, task in every.items() if task.has_right_answers}
    fitting = [name for name, task in tasks.items() if {*task.key, *task.answer} <= columns]
    if not fitting and columns & {ANSWER, UNREADABLE}:
        sizes = {n: len(task.key) for n, task in tasks.items() if {*task.key} <= columns}
        fitting = [n for n, size in sizes.items() if size == max(sizes.values())]
    return fitting


def is_lines(file: Path) -> bool:
    """Tell whether a file is JSON Lines, by its name."""
    return file.name.removesuffix(".gz").endswith(".jsonl")


def _require_case(labels: Labels, columns: Sequence[str]) -> None:
    """Raise UsageError for columns whose names differ in case alone from others."""
    known = {*labels.paths, *labels.keys, *labels.columns, labels.annotator, *_NO_ANSWERS}
    alike = {name.lower(): name for name in (*columns, *known)}
    if wrong := [n for n in columns if n not in known and alike[n.lower()] != n]:
        names = (Problem(repr(n), repr(alike[n.lower()])) for n in wrong)
        raise UsageError("names that differ only in case", *names, remedy="Rename them.")


def _unit_of(
    labels: Labels, values: Values, by_id: dict[str, UnitKey]
) -> tuple[UnitKey, list[Problem]]:
    """Return the unit of a record, by the key or else by the id, and problems of its key."""
    if by_id:
        id = values.get("id")
        return by_id.get(str(id), (show(id),)), []
    if isinstance(nth := values.get("turn"), Nth) and labels.is_of_turns:
        turns = labels.turns.get(_unit_of(labels, values | {"turn": 0}, by_id)[0][0], [])
        values = values | {"turn": turns[nth] if nth < len(turns) else None}
    # an id may be a text, and `read` makes numbers of texts
    texts = {n: str(v) if type(v) is int else v for n, v in values.items() if n in labels.keys}
    named, problems = _read([*zip(labels.keys, labels.key_columns, strict=True)], texts)
    return labels.unit([named.get(name) for name in labels.keys]), problems


def _read(columns: Sequence[tuple[str, Column]], values: Values) -> tuple[Values, list[Problem]]:
    """Return the values of columns, each with its name in the file, and what none of them is."""
    found, problems = Values(), list[Problem]()
    for name, column in columns:
        try:
            found[column.name] = column.read(values.get(name))
        except RecordError as error:
            problems += [problem.at(": ") for problem in error.problems]
    return found, problems


def _wrong_unit(labels: Labels, unit: UnitKey, beside: Values | None) -> str:
    """Return what is wrong with a unit, or with the text `beside` it; "" if nothing is."""
    known = unit if unit in labels.units else unit[:1]
    if known not in labels.units:
        return f"no such {' and '.join(labels.keys)}{_FROM_0 * labels.is_of_turns}"
    if (said := labels.units[known]) is None:
        return ""
    if said.text is None:
        return "" if unit in labels.with_row else f"is a deal action{_FROM_0}"
    ours = _spaced(said.text), _spaced(cell(said.text))  # or as our CSV has it
    if beside is None or said.text == "" or _spaced(beside.get("text")) in ours:
        return ""
    return "its text differs from the dataset's; join rows by the key, not by their order"


def _remedy(labels: Labels, ids: set[str]) -> str:
    """Return what to do about ids that are none of the dataset's."""
    known = {unit[0] for unit in labels.units}
    widths = {len(id) for id in known if id.startswith("0")}
    bare = {re.sub(r"""^=?["']?(\d+)(\.0+)?["']?$""", r"\1", id) for id in ids - known}
    if any({id.zfill(width) for width in widths} & known for id in bare):
        digits = " or ".join(map(str, sorted(widths)))
        what = f"Ids have {digits} digits alone, and a spreadsheet drops zeros or adds signs"
        return f"{what}: format the column as text."
    if labels.is_by_split:
        splits = labels.built.splits(labels.config)
        if wrong := {id.partition("/")[0] for id in ids}.difference(splits):
            return f"There is no split {few(sorted(wrong))}: name {' or '.join(splits)}."
    name = labels.built.dataset.name
    is_other = ids.isdisjoint(known)
    return f"No row has an id of {name}: name the file's own dataset." if is_other else ""


def _spaced(text: Any) -> Any:
    """Return a text with single blanks, as tools may change white space."""
    return " ".join(text.split()) if isinstance(text, str) else text


def _name_of(value: Any) -> str:
    """Return the name of a person; "" for what is no text or whole number."""
    is_whole = type(value) is int or (type(value) is float and value.is_integer())
    text = str(value).strip() if is_whole or isinstance(value, str) else ""
    match = WHOLE.fullmatch(text)
    return match[1] if match else text


def _compared(labels: Labels, found: Sequence[Record]) -> list[tuple[str, Column]]:
    """Return the columns of a file to compare, each with its name in the file."""
    answered = dict.fromkeys(chain.from_iterable(record.answers for record in found))
    read = {*_READ} if labels.is_of_turns else {"text"} - labels.paths.keys()
    others = {*labels.keys, labels.annotator, "id", _SPLIT, *read}
    told = chain.from_iterable(r.answers for r in found if r.answers is not r.values)
    if clash := others.intersection(told) - {labels.annotator, ANNOTATOR}:
        what = f"the tool's answer {few(sorted(clash))} is called like a column that is no answer"
        raise UsageError(what, remedy="Rename the question.")
    compared = [name for name in answered if name not in others]
    given = {name: [record.answers.get(name) for record in found] for name in compared}
    if not given:
        raise UsageError(f"has no column beside {', '.join(answered)}")
    usual = _usual_name(labels, given.get(UNNAMED, ()))
    names = {name: name or usual for name in given}
    columns = {n: labels.declared.get(of) or Column(of, is_open=True) for n, of in names.items()}
    _require_names(labels, given, columns)
    labels.columns |= {column.name: column for column in columns.values()}
    return [*columns.items()]


def _usual_name(labels: Labels, values: Iterable[Any]) -> str:
    """Return the name of answers without one: that of the one column that takes all, or some."""
    answers = [answer for value in values if value for answer in listed_in(value) or [value]]
    closed = [column for column in labels.declared.values() if column.labels]
    taken = {c.name: sum(c.takes([answer]) for answer in answers) for c in closed}
    fitting = [name for name, count in taken.items() if count == len(answers)]
    fitting = fitting or [name for name, count in taken.items() if count]
    return fitting[0] if len(fitting) == 1 else "label"


def _require_names(
    labels: Labels, given: Mapping[str, list[Any]], compared: Mapping[str, Column]
) -> None:
    """Raise UsageError for labels of the config in columns of other names."""
    names = {column.name for column in compared.values()}
    lacking = [c for c in labels.declared.values() if c.labels and c.name not in names]
    wrong = [
        Problem(repr(column.name), " or ".join(map(repr, due)))
        for name, column in compared.items()
        if column.name not in labels.declared
        and (due := [c.name for c in lacking if column.name in c.labels or c.takes(given[name])])
    ]
    if wrong:
        what = f"has labels of {labels.config} in other columns"
        raise UsageError(what, *wrong, remedy=_NAMED if UNNAMED in given else LONG)
