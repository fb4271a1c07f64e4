"""Labels of people, read as a config declares its columns, beside the rows of that config.

`read_labels` is the one reader of every file that a user brings beside a build.
"""

import json
import math
import os
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from parley.base.errors import Causes, ParleyError, Problem, RecordError, UsageError, cut, few
from parley.base.values import flat, is_number
from parley.read.dialogues import dialogues, id_columns, places
from parley.read.export.export import cell
from parley.read.filters import sides_of
from parley.read.labels.layouts import ANNOTATOR, LONG, UNNAMED, Record, Values, records
from parley.rows.built_folder import BuiltFolder
from parley.schema.features import item_of, labels_of
from parley.schema.nodes import Node, show
from parley.schema.shapes import parse

Key = tuple[str, ...]
"""The values of the key of a unit, as text: (dialogue_id, turn), or (SPLIT/ID, turn)."""
Units = dict[Key, Values]
"""What was labelled, each with the values of its columns; a set of labels is a tuple."""

GOLD = "gold"
"""The name under which the dataset's own values stand beside those of people."""
MOST_LABELS = 30
"""Of a column with more different values, no label has numbers of its own."""
_WHOLE = re.compile(r"\s*(-?(?:0|[1-9]\d{0,18}))(?:\.0+)?\s*", re.ASCII)
_DECIMAL = re.compile(r"\s*[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?\s*", re.ASCII | re.IGNORECASE)
# A list as the texts of Python and numpy have it: ['a', "b"] or ['a' 'b']
_LISTED = re.compile(r"""\[(?:\s*(?:'[^']*'|"[^"]*"),?)*\s*\]""")
_INDEX = "index"  # in a key: the place of a label among those that one annotator gave a unit
_NUMBERS = ("int", "float", "double")
_FROM_0 = "; turns are counted from 0"
_ONCE = f"keep one row, or name the annotators in the column {ANNOTATOR} or that of --annotator"


@dataclass(frozen=True)
class Column:
    """A column of labels, numbers or texts, and how its values are read.

    `node` is the shape of a value that the config declares; None for a code of one's own, whose
    values say what they are, and for a column of lists or objects, whose text is compared.
    """

    name: str
    node: Node | None = None
    labels: tuple[str, ...] = ()  # the declared ones; of sets of one's own, the commonest first
    is_set: bool = False
    is_ordered: bool = False
    is_own: bool = False  # a code that the config does not have

    @classmethod
    def of(cls, built: BuiltFolder, config: str, name: str) -> "Column":
        """Return a column of a config, or of one's own if the config has none of this name."""
        declared = built.dataset.configs[config]
        feature = declared.features.get(name)
        names = tuple(labels_of(item_of(feature) or feature) or ())
        if names and (item_of(feature) or _INDEX in declared.keys):
            return cls(name, parse([item_of(feature) or feature]), names, True)
        dtype = "" if names else str(getattr(feature, "dtype", ""))
        if not names and not dtype.startswith((*_NUMBERS, "bool", "string")):
            return cls(name)
        fields: Mapping[str, Node] = getattr(declared.node.column, "fields", {})
        is_ordered = getattr(feature, "is_ordered", dtype.startswith(_NUMBERS))
        return cls(name, fields.get(name) or parse(feature), names, is_ordered=is_ordered)

    def read(self, value: Any) -> Any:
        """Return a value of a file as the declared one; RecordError if it is none."""
        if value is None or value != value:  # NaN, as pandas has no answer
            return None
        if self.node is None:
            return _code(value) if self.is_own else _as_text(value)
        for found in (_sets if self.is_set else _scalars)(value):
            if self.node.fits(found):
                if not self.is_set:
                    return found
                if len({*found}) == len(found):
                    return self.own(found)
        names = f"one{' or several, each once,' * self.is_set} of {', '.join(self.labels)}"
        expected = names if self.labels else self.node.described()
        raise RecordError("", Problem(self.name, expected, show(value)))

    def answer(self, value: Any) -> Any:
        """Return an answer as `read` does; where one value is due, a list of one is that one."""
        if self.node and not self.is_set and not self.node.fits(value):
            listed = _listed(value)
            if listed is not None and len(listed) < 2:
                value = listed[0] if listed else None
        return self.read(value)

    def takes(self, values: Iterable[Any]) -> bool:
        """Tell whether all are answers that `answer` reads."""
        try:
            return all(self.answer(value) is not None for value in values)
        except RecordError:
            return False

    def settled(self, values: Sequence[Any]) -> tuple["Column", list[Any]]:
        """Return a code of one's own as all its values say, and these values.

        Sets of labels, as a list or between semicolons; else numbers, if all are; else texts.
        """
        sets = [tuple(sorted({*_labels_in(value)})) for value in values]
        is_set = any(isinstance(value, tuple) and len(value) > 1 for value in values)
        if len({*chain(*sets)}) <= MOST_LABELS:  # else semicolons are those of prose
            is_set |= any(len(each) > 1 for each in sets)
        if is_set:
            labels = tuple(label for label, _ in Counter(chain(*sets)).most_common())
            return replace(self, labels=labels, is_set=True), sets
        texts = [(*v, "[]")[0] if isinstance(v, tuple) else v for v in values]
        numbers = [next(filter(is_number, _scalars(text)), None) for text in texts]
        if numbers and None not in numbers:
            return replace(self, is_ordered=True), numbers
        return self, texts

    def own(self, value: Any) -> Any:
        """Return a value of the dataset as one that `read` returns."""
        if self.is_set and value is not None:
            return tuple(sorted({*value}, key=self.labels.index))
        if isinstance(value, str):
            return value.strip()
        return None if value is None else value if self.node else _as_text(value)


def _as_text(value: Any) -> str:
    if isinstance(value, bool | int | float | list | dict):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value).strip()


def _code(value: Any) -> Any:
    """Return a value of one's own as text, or a list as a tuple of texts; None if it is empty."""
    listed = _listed(value)
    if listed is not None and all(isinstance(each, str | int | float) for each in listed):
        return tuple(text for text in map(_code_text, listed) if text)
    return _code_text(value) or None


def _code_text(value: Any) -> str:
    """Return the text of a value without blanks around it; 1.0 is 1, and TRUE is true."""
    is_whole = isinstance(value, float) and value.is_integer()
    text = _as_text(int(value) if is_whole else value)
    return text.lower() if text.lower() in ("true", "false") else text


def _listed(value: Any) -> list[Any] | None:
    """Return a list, or that of a text in JSON, Python or numpy; None for what is none."""
    if isinstance(value, str) and value.strip()[:1] == "[":
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            if _LISTED.fullmatch(value.strip()):
                value = [a or b for a, b in re.findall(r"""'([^']*)'|"([^"]*)\"""", value)]
    return value if isinstance(value, list) else None


def _labels_in(value: Any) -> tuple[str, ...]:
    """Return the labels of a code: those of a list, or those between semicolons."""
    if isinstance(value, tuple):
        return value
    return tuple(filter(None, re.split(r"\s*;\s*", value)))


def _scalars(value: Any) -> Iterator[Any]:
    """Yield what a value may stand for, without a number that a float or 64 bits do not hold."""
    found = value
    if isinstance(value, str):
        yield value.strip()
        if match := _WHOLE.fullmatch(value):
            found = int(match[1])
        elif _DECIMAL.fullmatch(value) and math.isfinite(float(value)):
            yield float(value)
            return
        else:
            found = {"true": True, "false": False}.get(value.strip().lower(), value)
    if isinstance(found, bool):
        yield found
    if not is_number(found) or not math.isfinite(found):
        return
    yield found
    if type(found) is int and int(float(found)) == found:
        yield float(found)
    elif type(found) is float and found.is_integer() and is_number(int(found)):
        yield int(found)


def _sets(value: Any) -> Iterator[Any]:
    """Yield a text as one label, as a list, or as labels between signs."""
    if isinstance(value, str):
        yield [value]
        listed = _listed(value)
        value = re.split(r"\s*[,;]\s*", value.strip()) if listed is None else listed
    yield value


@dataclass
class Labels:
    """Labels of people for units of a config, checked, and the dataset's own beside them.

    Attributes:
        keys: The columns that name a unit, such as (dialogue_id, turn).
        columns: The compared columns by name.
        texts: What can be labelled, with the text of a turn.
        before: The speaker of each turn, and the two utterances before it, a line each.
        annotators: Person -> unit -> values.
        files: Person -> the files with the labels.
        notes: What is not compared, a line each.
    """

    built: BuiltFolder
    config: str
    keys: Key
    columns: dict[str, Column] = field(default_factory=dict)
    texts: dict[Key, str | None] = field(default_factory=dict)
    before: dict[Key, tuple[str, str]] = field(default_factory=dict)
    annotators: dict[str, Units] = field(default_factory=lambda: defaultdict(dict))
    files: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    notes: list[str] = field(default_factory=list)

    @cached_property
    def is_by_split(self) -> bool:
        """Whether a unit is named by its split, too, as splits share keys."""
        if self.keys[0] in id_columns(self.built):
            return self.built.dataset.splits_share_ids
        return self.built.dataset.splits_share_keys(self.config)

    @property
    def named_by(self) -> Key:
        """The columns of a file that name a unit."""
        return ("split", *self.keys) if self.is_by_split else self.keys

    def unit(self, named: Sequence[Any]) -> Key:
        """Return the unit of values of `named_by`; `parts` gives them back as text."""
        parts = tuple(map(str, named))
        return ("/".join(parts[:2]), *parts[2:]) if self.is_by_split else parts

    def parts(self, unit: Key) -> Key:
        """Return the values of `named_by` of a unit."""
        return (*unit[0].split("/", 1), *unit[1:]) if self.is_by_split else unit

    @cached_property
    def paths(self) -> dict[str, Key]:
        """The columns of the config, and the fields within its objects, as CSV has them."""
        columns = self.built.columns(self.config)
        paths = [*((name,) for name in columns), *(path for path in flat(columns) if path[1:])]
        return {".".join(path): path for path in paths}

    @cached_property
    def declared(self) -> dict[str, Column]:
        """The columns of the config, and the fields within its objects, as they are read."""
        return {name: Column.of(self.built, self.config, name) for name in self.paths}

    def each_row(self) -> Iterator[tuple[Key, Values]]:
        """Yield each row of the config with its unit."""
        for split in self.built.splits(self.config):
            for row in self.built.each_named(self.config, split):
                whole = {**row, "split": split}
                yield self.unit([whole[name] for name in self.named_by]), row

    @cached_property
    def units(self) -> set[Key]:
        """The units with a row in the config."""
        return {unit for unit, _ in self.each_row()}

    @cached_property
    def rows(self) -> Units:
        """The dataset's own values of every unit, without those of its own annotators."""
        keys, found = self.built.dataset.configs[self.config].keys, Units()
        for key, row in self.each_row():
            unit = found.setdefault(key, {})
            for name in self.columns.keys() & self.paths:
                if ANNOTATOR in keys and row[ANNOTATOR] is not None:
                    continue
                value: Any = row
                for part in self.paths[name]:
                    value = None if value is None else value[part]
                column = self.columns[name]
                if _INDEX in keys and column.is_set:
                    value = [*unit.get(name, ()), value]
                unit[name] = column.own(value)
        return found

    @property
    def everyone(self) -> dict[str, Units]:
        """The annotators, then the dataset's own values under the name `GOLD`."""
        return {**self.annotators, GOLD: self.rows}

    def settle(self) -> None:
        """Read each code of one's own as the values of all annotators say."""
        for name, column in self.columns.items():
            if column.is_own:
                rows = [row for units in self.annotators.values() for row in units.values()]
                rows = [row for row in rows if row.get(name) is not None]
                self.columns[name], values = column.settled([row[name] for row in rows])
                for row, value in zip(rows, values, strict=True):
                    row[name] = value

    def leave_out_equal(self, *, labels_too: bool) -> None:
        """Leave out columns that equal the dataset's in all rows.

        Those of labels are left out only if told so; else one column at least is kept.
        """
        given = [pair for units in self.annotators.values() for pair in units.items()]
        equal = [
            name
            for name in self.columns.keys() & self.paths
            if (labels_too or not self.columns[name].labels)
            and all(
                name in self.rows.get(unit, {})
                and _not_empty(values[name]) == _not_empty(self.rows[unit][name])
                for unit, values in given
                if name in values
            )
        ]
        if equal and (labels_too or len(equal) < len(self.columns)):
            self.notes.append(f"equal to {self.config} in all rows: {', '.join(sorted(equal))}")
            self.columns = {n: each for n, each in self.columns.items() if n not in equal}

    def add_units(self, ids: set[str]) -> None:
        """Add what can be labelled of these dialogues, with the text of each turn."""
        new, beside = ids.difference(unit[0] for unit in self.texts), self.keys[1:]
        in_rows = beside not in ((), ("turn",), ("speaker",))
        in_rows &= not all(Column.of(self.built, self.config, name).labels for name in beside)
        if new and (in_rows or self.keys[0] not in id_columns(self.built)):
            self.texts |= {unit: None for unit, _ in self.each_row()}
            return
        every = dict(places(self.built))
        named = {
            config for config in every if next(iter(self.built.columns(config))) == self.keys[0]
        }
        others = getattr(self.built.dataset.transcript, "BESIDE", {})
        for dialogue in dialogues(self.built) if new else ():
            # an id has another name in the rows that can be read, as `uuid`
            if dialogue.id not in new or dialogue.config not in (named or every.keys() - others):
                continue
            if beside == ("turn",):
                said: list[str] = []
                for number, turn in enumerate(dialogue.transcript.turns):
                    unit = dialogue.id, str(number)
                    self.texts[unit] = None if turn.action else turn.text
                    self.before[unit] = turn.speaker, "\n".join(said[-2:])
                    said += [] if turn.action else [f"{turn.speaker}: {turn.text}"]
            elif beside == ("speaker",):
                sides = sides_of(dialogue.facets) or dialogue.transcript.sides
                self.texts |= {(dialogue.id, side): None for side in sides}
            else:
                self.texts[dialogue.id,] = None


def read_labels(
    built: BuiltFolder, files: Sequence[str | Path], config: str = "", annotator: str = ANNOTATOR
) -> list[Labels]:
    """Return the labels of files by config: the given one, or of each file the likeliest.

    A file without a column `annotator` is of one person, who has its name without suffix. Raises
    what is wrong with a file, of all its rows; UsageError for a config without a key.
    """
    if config and not built.splits(config):
        what = f"{built.shown}: has no config {config}"
        raise UsageError(what, remedy=f"Run {built.rebuild} again.")
    paths = [*{os.path.realpath(path): path for path in map(Path, files)}.values()]
    stems = [*map(file_stem, paths)]
    keys = {name: _unit_keys(built, name) for name in ([config] if config else _configs(built))}
    of_configs: dict[str, Labels] = {}
    for path, stem in zip(paths, stems, strict=True):
        try:
            found = records(path, {key for names in keys.values() for key in (*names, "id")})
            columns = [*dict.fromkeys(name for record in found for name in record.values)]
            name = _config_of(keys, columns, built)
            labels = of_configs.setdefault(name, Labels(built, name, keys[name]))
            person = stem if stems.count(stem) == 1 else str(path)
            rows = [*_rows(labels, found, columns, annotator, person)]
            _add(labels, rows, str(path), "text" in columns)
        except ParleyError as error:
            error.message = f"{path}: {cut(error.message)}" if error.message else str(path)
            raise
    for labels in of_configs.values():
        labels.settle()
    return [*of_configs.values()]


def _not_empty(value: Any) -> Any:
    return None if value == "" else value


def file_stem(path: Path) -> str:
    """Return the name of a file without suffix."""
    return path.name.removesuffix(".gz").rpartition(".")[0] or path.name


def _configs(built: BuiltFolder) -> list[str]:
    """Return the configs with rows of dialogues, or of what belongs to one."""
    ids = id_columns(built)
    keys = {name: _unit_keys(built, name) for name in built.dataset.configs}
    return [name for name, of in keys.items() if of and of[0] in ids]


def _unit_keys(built: BuiltFolder, config: str) -> Key:
    """Return the columns that name what a row is about, its turn if it has one."""
    declared = built.dataset.configs[config]
    keys = declared.keys
    keys = keys[: keys.index(ANNOTATOR)] if ANNOTATOR in keys else keys
    return (keys[0], "turn") if keys[1:] and "turn" in declared.features else keys


def _config_of(keys: Mapping[str, Key], columns: Collection[str], built: BuiltFolder) -> str:
    """Return the config whose key a file has, of several the first with most of its columns."""
    usual = {"labels"} if UNNAMED in columns else set()  # the name where a tool gives none

    def is_by_id(name: str) -> bool:
        return "id" in columns and "id" in built.columns(name)

    # other cases are refused later; `id` may be a tool's
    folded = {name.lower() for name in (*columns, *usual)} - {"id"}
    shared = {
        name: (sum(column.lower() in folded for column in built.columns(name)), len(of))
        for name, of in keys.items()
        if of and ({*of} <= {*columns} or (of[0] not in columns and is_by_id(name)))
    }
    if not shared:
        due = " or ".join(dict.fromkeys(" and ".join(of) for of in keys.values() if of))
        what = f"has no column {due}; it has {few([*map(repr, columns)], 20)}"
        raise UsageError(what if due else f"{', '.join(keys)} has no key to find rows by")
    return max(shared, key=lambda name: shared[name])


class _Row(NamedTuple):
    """A row of a file as it was read."""

    place: str
    key: Key
    has_key: bool  # whether its key could be read
    annotator: str
    values: Values
    text: Any
    problems: list[Problem]


def _rows(
    labels: Labels, found: Sequence[Record], columns: list[str], annotator: str, person: str
) -> Iterator[_Row]:
    """Yield the rows of a file, each with what is wrong with it alone."""
    if annotator in labels.keys or annotator not in (*columns, ANNOTATOR):
        raise UsageError(f"has no column {annotator} of names, which --annotator names")
    # beside names in `differences`
    reserved = {GOLD, ANNOTATOR, "speaker", "context", "text", "column", *labels.keys}
    if annotator not in columns and person in reserved:
        remedy = f"Rename the file, or add a column {annotator}."
        raise UsageError(f"no annotator can be called {person}", remedy=remedy)
    read_by = _own_columns(labels, found, annotator)
    told = {*chain.from_iterable(record.answered or () for record in found)}
    if clash := told.intersection(labels.named_by):
        what = f"the tool's answer {few(sorted(clash))} is called like a part of the key"
        raise UsageError(what, remedy="Rename the question.")
    by_id = {}
    if labels.is_by_split and (absent := [n for n in labels.named_by if n not in columns]):
        share = f"as splits of {labels.config} share keys"
        raise UsageError(f"has no column {' and '.join(absent)}, which a row needs {share}")
    if is_by_id := labels.keys[0] not in columns:
        by_id = {row["id"]: key for key, row in labels.each_row()}
    else:
        keys = {name: Column.of(labels.built, labels.config, name) for name in labels.named_by}
        read_by |= {name: (name, column) for name, column in keys.items()}
    for place, values, answered in found:
        problems, read = list[Problem](), Values()
        for name, (given, column) in read_by.items():
            is_given = answered is None or given in (*answered, *labels.named_by)
            try:  # what else a tool has of its task is no answer
                value = values.get(given) if is_given else None
                if name in labels.named_by and type(value) is int:
                    value = str(value)  # an id may be a text, and `read` makes numbers of texts
                read[name] = column.read(value) if name in labels.named_by else column.answer(value)
            except RecordError as error:
                problems += [problem.at(": ") for problem in error.problems]
        by = _name_of(values.get(annotator) if annotator in values else person)
        if by in (None, "", *reserved):
            name = show(values.get(annotator, person))
            problems.append(Problem(f": {annotator}", "another name", name))
        has_key = is_by_id or read.keys() >= {*labels.named_by}
        key = labels.unit([read.pop(name, None) for name in labels.named_by])
        if is_by_id:
            key = by_id.get(str(values.get("id")), (show(values.get("id")),))
        yield _Row(place, key, has_key, str(by), read, values.get("text"), problems)


def _add(labels: Labels, rows: Sequence[_Row], file: str, has_text: bool) -> None:
    """Add the rows of a file to labels; RecordError names all that are wrong."""
    labels.add_units({row.key[0] for row in rows})
    causes, wrong, first = Causes(""), 0, dict[tuple[str, Key], str]()
    added: dict[str, Units] = defaultdict(dict)
    for row in rows:
        by, key, problems = row.annotator, row.key, row.problems
        known = key if key in labels.texts else key[:1]
        ours = labels.texts.get(known) if has_text and labels.keys[1:] == ("turn",) else None
        what = ""
        if known not in labels.texts:
            what = f"no such {' and '.join(labels.named_by)}{_FROM_0 * (labels.keys[-1] == 'turn')}"
        elif labels.keys[-1] == "turn" and labels.texts[known] is None and key not in labels.units:
            what = f"is a deal action{_FROM_0}"
        elif ours and _spaced(row.text) not in (_spaced(ours), _spaced(cell(ours))):  # of our CSV
            what = "its text differs from the dataset's; join rows by the key, not by their order"
        elif (by, key) in first:
            what = f"repeated, first in {first[by, key]}; {_ONCE}"
        elif key in labels.annotators.get(by, ()):
            what = f"repeated, as in {', '.join(labels.files[by])}; {_ONCE}"
        problems += [Problem("", what=what)] if what and row.has_key else []
        first.setdefault((by, key), row.place)
        added[by][key] = row.values
        wrong += bool(problems)
        for problem in problems:
            causes.add(f"{row.place} ({', '.join(key)})", problem)
    if causes:
        remedy = _remedy(labels, {row.key[0] for row in rows})
        raise RecordError(
            f"{wrong:,} of {len(rows):,} rows are wrong", *causes.told(), remedy=remedy
        )
    for by, units in added.items():
        labels.annotators[by] |= units
        labels.files[by].append(file)


def _remedy(labels: Labels, ids: set[str]) -> str:
    """Return what to do about ids that are none of the dataset's."""
    known = {unit[0] for unit in labels.units}
    widths = {len(id) for id in known if id.startswith("0")}
    if any({id.zfill(width) for width in widths} & known for id in ids - known):
        digits = " or ".join(map(str, sorted(widths)))
        return (
            f"Ids have {digits} digits, and a spreadsheet drops zeros: format the column as text."
        )
    is_other = ids.isdisjoint(unit[0] for unit in labels.texts)
    name = labels.built.dataset.name
    return f"No row has an id of {name}: name the file's own dataset." if is_other else ""


def _spaced(text: Any) -> Any:
    """Return a text with single blanks, as tools may change white space."""
    return " ".join(text.split()) if isinstance(text, str) else text


def _name_of(value: Any) -> str | None:
    """Return the name of a person; None for what is no text or whole number."""
    if type(value) is float and value.is_integer():
        value = int(value)
    if type(value) not in (int, str):
        return None
    match = _WHOLE.fullmatch(str(value))
    return match[1] if match else str(value).strip()


def _own_columns(
    labels: Labels, found: Sequence[Record], annotator: str
) -> dict[str, tuple[str, Column]]:
    """Return the columns of a file to compare, each with its name in the file."""
    answers = (record.values if record.answered is None else record.answered for record in found)
    columns = [*dict.fromkeys(chain.from_iterable(answers))]
    alike = {name.lower(): name for name in (*labels.paths, annotator)}
    if wrong := [n for n in columns if alike.get(n.lower(), n) != n]:
        names = (Problem(repr(n), repr(alike[n.lower()])) for n in wrong)
        raise UsageError("names like those of the config", *names, remedy="Rename them.")
    every = labels.declared
    others = {*labels.keys, annotator, "id", "split"}
    if labels.keys[1:] == ("turn",):
        others |= {"speaker", "context", "text"}  # which annotators read
    others |= {"text"} - labels.paths.keys()
    given = {
        name: _different(record.values.get(name) for record in found)
        for name in columns
        if name not in others
    }
    if not given:
        raise UsageError(f"has no column beside {', '.join(columns)}")
    with_labels = {name: column for name, column in every.items() if column.labels}
    # without a name, the config's labels if it has one of the answers, else a code
    told = [(label,) for value in given.get(UNNAMED, ()) for label in _listed(value) or [value]]
    fitting = [n for n, c in with_labels.items() if not told or any(map(c.takes, told))]
    unnamed = fitting[0] if len(fitting) == 1 else "label"
    own = {
        name or unnamed: (name, every.get(name or unnamed) or Column(name or unnamed, is_own=True))
        for name in given
    }
    misnamed = []
    for name, (of, column) in own.items():
        lacking = [(n, c) for n, c in with_labels.items() if column.is_own and n not in own]
        due = [n for n, c in lacking if name in c.labels or (given[of] and c.takes(given[of]))]
        misnamed += [Problem(repr(name), " or ".join(map(repr, due)))] if due else []
    if misnamed:
        what = f"has labels of {labels.config} in other columns"
        raise UsageError(what, *misnamed, remedy=LONG)
    labels.columns |= {name: column for name, (_, column) in own.items()}
    return own


def _different(values: Iterable[Any]) -> list[Any]:
    """Return each value of a column once, without empty ones."""
    read = Column("", is_own=True).read
    return [*{repr(value): value for value in values if read(value) not in (None, ())}.values()]
