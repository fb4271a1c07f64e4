"""Files of the user: rows beside the dialogues, sides and turns whose keys they have."""

import re
from collections import defaultdict, deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from parley.base.console import plain
from parley.base.errors import (
    Causes,
    ParleyError,
    Problem,
    RecordError,
    UsageError,
    cut,
    require_utf8,
)
from parley.base.values import flat
from parley.read.dialogues import dialogues
from parley.read.export.export import cell
from parley.read.filters import DIFFERS, sides_of
from parley.read.sql import connect, literal, quoted, until_interrupted
from parley.read.transcript import Note
from parley.rows.built_folder import BuiltFolder
from parley.tasks.prediction_formats import UNREADABLE

Keys = tuple[str, ...]
OfKeys = dict[Keys, str]  # columns of a key -> what they are of
Texts = dict[Keys, str | None]  # key -> the text of an utterance
# How DuckDB reads a format with values as the file has them
_CSV = ("csv", ", all_varchar = true, comment = ''")
_JSON = ("json", ", maximum_depth = 1")
_READERS = {"csv": _CSV, "tsv": _CSV, "json": _JSON, "jsonl": _JSON, "parquet": ("parquet", "")}
_WHOLE = r"^\s*([-+]?\d+)(\.0+)?\s*$"
_NESTED = re.compile(r"STRUCT|MAP|.*\[\]\[\]$", re.DOTALL)


class _Relation(NamedTuple):
    """A file or a config, as a table of DuckDB."""

    name: str
    source: str  # in SQL
    of: str  # "dialogues", "turns", "sides", or the config of rows that are no dialogues
    keys: Keys
    kinds: dict[str, str]  # other column -> its type; of a file, that of the config it is of
    is_file: bool = False

    def key(self, alias: str) -> list[str]:
        return [f"{alias}.{quoted(column)}::varchar" for column in self.keys]


class UserFiles:
    """Rows of files beside the dialogues of a build, by their keys.

    The key of a file is the id of a dialogue and, for rows of turns or of sides, `turn` or
    `speaker`. Its other columns are shown, and compared with those of the same name in the configs
    with this key and in the files before it. Their values are read as the configs declare them. A
    wrong file is a RecordError or a UsageError.
    """

    def __init__(self, built: BuiltFolder, files: Sequence[Path]) -> None:
        self.notes: list[str] = []  # a line for each file and each comparison
        self.queries: dict[str, str] = {}  # what differs -> the SQL of the ids of its dialogues
        self._beside: dict[str, dict[Keys, list[Note]]] = {}  # id -> part -> its notes
        stems = [file.stem for file in files]
        with connect([built]) as self._connection:
            keys, known = _known(built)
            beside = [
                self._relation(name, _flat(built, name), keys[config.keys], config.keys)
                for name, config in built.dataset.configs.items()
                if config.keys in keys and built.splits(name)
            ]
            first = len(beside)  # of files
            whole = set[str]()
            for config in built.dataset.configs.values():
                types = {c: getattr(config.features.get(c), "dtype", "") for c in config.keys}
                whole |= {column for column, kind in types.items() if "int" in kind}
            for file in dict.fromkeys(files):
                try:
                    name = file.stem if stems.count(file.stem) == 1 else str(file)
                    mine = self._described(file, name, keys, whole)
                    task = _task(built, file, mine)
                    compared = [] if task else beside[:first]
                    configs = [config for config in compared if config.of == mine.of]
                    self._keep(mine, configs, known[mine.of])
                    if task:
                        what = "so compared with no config: parley score does that"
                        self.notes.append(f"{name}: predictions of the task {task}, {what}")
                    self._hide_equal(mine, [self._compare(mine, config) for config in configs])
                    for other in beside[first:]:
                        if other.of == mine.of:
                            self._compare(mine, other)
                except ParleyError as error:
                    error.message = f"{file}: {cut(error.message)}"
                    raise
                beside.append(mine)

    def beside(self, id: str) -> tuple[dict[str, Any], list[str]]:
        """Return what to show beside a dialogue, and each difference in it."""
        by_part = self._beside.get(id, {})
        turns = {part[1]: notes for part, notes in by_part.items() if part[0] == "turns"}
        pairs = [(part, note) for part, notes in by_part.items() for note in notes]
        of_rest = [(part[1:], note) for part, note in pairs if part[0] != "turns"]
        facts = [(", ".join([note.kind, *part]), note.text) for part, note in of_rest]
        differences = [note.text for _, note in pairs if note.kind == DIFFERS]
        return {"turns": turns, "facts": facts} if by_part else {}, differences

    def _ask(self, query: str) -> list[Any]:
        ask = self._connection.execute
        return list(until_interrupted(self._connection, lambda: ask(query).fetchall()))

    def _relation(self, name: str, source: str, of: str, keys: Keys) -> _Relation:
        kinds = {column: kind for column, kind, *_ in self._ask(f"describe from {source}")}
        return _Relation(name, source, of, keys, {c: k for c, k in kinds.items() if c not in keys})

    def _described(self, file: Path, name: str, known: OfKeys, whole: set[str]) -> _Relation:
        """Return a file, whose columns tell what its rows are of."""
        require_utf8(file)
        reader = _READERS.get(file.name.lower().removesuffix(".gz").rpartition(".")[2])
        if not reader or not file.is_file():
            raise UsageError(f"expected an existing file that ends in .{', .'.join(_READERS)}")
        if reader in (_CSV, _JSON) and not file.name.lower().endswith(".gz"):
            try:
                with file.open(encoding="utf-8") as lines:
                    deque(lines, 0)
            except UnicodeError as error:
                raise UsageError("is not in UTF-8", remedy="Save it in UTF-8.") from error
        source = f"read_{reader[0]}({literal(file)}, hive_partitioning = false{reader[1]})"
        columns = self._relation(name, source, "", ()).kinds.keys()
        if odd := [name for name in (str(file), *columns) if plain(name) != name]:
            raise UsageError(f"expected names without control characters, found {odd[0]}")
        every = {id for id, *_ in known}
        if len(ids := every & columns) != 1:
            names = " and ".join(sorted(ids) or columns)
            raise UsageError(f"expected one column of {' or '.join(sorted(every))}, found {names}")
        keys = next(keys for keys in known if columns >= {*keys})
        values = []
        for column in map(quoted, columns):
            value = f"{column} ->> '$'" if reader is _JSON else f"{column}::varchar"
            if column in map(quoted, whole.intersection(keys)):
                value = f"regexp_replace({value}, '{_WHOLE}', '\\1')"
            values.append(f"{value} as {column}")
        source = f"(select {', '.join(values)} from {source})"  # noqa: S608
        return self._relation(name, source, known[keys], keys)._replace(is_file=True)

    def _keep(self, rows: _Relation, configs: list[_Relation], known: Texts) -> None:
        """Keep the values of a file, but its texts, which are compared with ours."""
        has_text = rows.of == "turns" and bool(rows.kinds.pop("text", ""))
        if not rows.kinds:
            raise UsageError(f"has no column beside {' and '.join(rows.keys)}")
        columns = [*rows.kinds, "text"] if has_text else list(rows.kinds)
        read = defaultdict[str, list[str]](list)  # column -> its value as each config declares it
        for config in configs:
            for column in rows.kinds.keys() & config.kinds.keys() - {"id"}:
                if not _NESTED.match(kind := config.kinds[column]):
                    rows.kinds[column] = kind
                    read[column].append(f"{_read(f'm.{quoted(column)}', kind)}::varchar")
        tests = (
            f"m.{quoted(column)} is null or coalesce({', '.join(values)}) is not null"
            for column, values in read.items()
        )
        cells = ", ".join([*rows.key("m"), *(f"m.{quoted(column)}" for column in columns), *tests])
        if not (answer := self._ask(f"select {cells} from {rows.source} m")):  # noqa: S608
            raise UsageError("has no rows")
        causes, first, right = Causes(""), dict[Keys, int](), 0
        for number, row in enumerate(answer, 1):
            key, values = row[: len(rows.keys)], row[len(rows.keys) : len(row) - len(read)]
            place = f"row {number} ({', '.join(map(str, key))})"
            odd = [c for c, fits in zip(read, row[len(row) - len(read) :], strict=True) if not fits]
            for column in odd:
                value = values[columns.index(column)]
                kind = cut(rows.kinds[column]).replace("ENUM", "labels of ").removesuffix("[]")
                causes.add(place, Problem(f": {column}", kind, repr(cut(value))))
            right += not odd
            if key not in known:
                what = f"no such {' and '.join(rows.keys)}"
            elif key in first:
                what = f"repeated, first in row {first[key]}"
            elif has_text and (ours := known[key]) and values[-1] not in (ours, cell(ours)):
                what = "its text differs from ours"
            else:
                first[key] = number
                notes = self._beside.setdefault(key[0], {}).setdefault((rows.of, *key[1:]), [])
                for column, value in zip(rows.kinds, values, strict=False):
                    name = f"{rows.name}: {column}"
                    if value is not None:
                        notes.append(Note(value, name, by=name))
                continue
            right -= not odd
            causes.add(place, Problem("", what=what))
        if causes:
            wrong = len(answer) - right
            raise RecordError(f"{wrong:,} of {len(answer):,} rows are wrong", *causes.told())
        self.notes.append(f"{rows.name}: {len(answer):,} of {len(known):,} {rows.of} have a row")

    def _hide_equal(self, mine: _Relation, compared: list[dict[str, bool | None]]) -> None:
        """Show no values of the columns that equal those of the configs in all rows."""
        results = {c: {equal[c] for equal in compared if c in equal} for c in mine.kinds}
        equal = sorted(c for c, of_c in results.items() if True in of_c and False not in of_c)
        partly = sorted(c for c, of_c in results.items() if of_c == {None} and c != "id")
        for what, columns in (("all rows", equal), ("the rows that the dataset has", partly)):
            if columns:
                self.notes.append(f"{mine.name}: equal in {what}: {', '.join(columns)}")
        names = {f"{mine.name}: {column}" for column in equal}
        for parts in self._beside.values():
            for notes in parts.values():
                notes[:] = [note for note in notes if note.by not in names]

    def _compare(self, mine: _Relation, other: _Relation) -> dict[str, bool | None]:
        """Note where a file differs from a config, or from an earlier file.

        Return for each column whether it is equal in all rows of the file; None if it is in those
        that the other has. An `id` that differs is that of a tool, and no difference.
        """
        keys, equal = mine.key("m"), dict[str, bool | None]()
        both = " and ".join(f"{a} = {b}" for a, b in zip(keys, other.key("o"), strict=True))
        join = f"from {other.source} o join {mine.source} m on {both}"
        names = {name.lower(): name for name in other.kinds}
        for column in (name for name in mine.kinds if name.lower() in names):
            kind, label = other.kinds.get(column, ""), f"{mine.name}: {column} ≠ {other.name}"
            if not kind or _NESTED.match(kind):
                what = "holds objects" if kind else f"has the name {names[column.lower()]}"
                self.notes.append(f"{label}: not compared, as the column of {other.name} {what}")
                continue
            values = [f"{alias}.{quoted(column)}" for alias in "mo"]
            texts = [f"coalesce({_read(v, kind)}::varchar, {v}::varchar)" for v in values]
            if not other.is_file:
                texts[1] = f"{_ordered(values[1], kind)}::varchar"
            where = f"{join} where {' is distinct from '.join(texts)}"
            differing = self._ask(f"select distinct {', '.join(keys)} {where}")
            sources = (other.source, mine.source)
            counts = ", ".join(f"(select count(*) from {source})" for source in sources)  # noqa: S608
            ((of, rows, shared),) = self._ask(f"select {counts}, count(*) {join}")
            equal[column] = False if differing else (rows == shared or None)
            if column == "id" or not (differing or other.is_file):
                continue
            ids = {key[0] for key in differing}
            differ = f"{label} in {len(differing):,} of {shared:,} rows, in {len(ids):,} dialogues"
            self.notes.append(f"{differ}; {of - shared:,} rows of {other.name} have none")
            self.queries[label] = f"select {keys[0]} {where}"
            for id, *part in differing:
                place = (mine.of, *part)
                self._beside[id][place].append(Note(label, DIFFERS))
        return equal


def _known(built: BuiltFolder) -> tuple[OfKeys, dict[str, Texts]]:
    """Return the columns of keys, the longest first, with what they are of; and what there is."""
    tool = built.dataset.transcript
    ids = dict.fromkeys(getattr(tool, "TABLES", {}).values(), "dialogues")
    known: dict[str, Texts] = defaultdict(dict)
    for dialogue in dialogues(built):
        of = dialogue.config if dialogue.config in getattr(tool, "BESIDE", {}) else "dialogues"
        ids[next(iter(dialogue.row))] = of
        known[of][dialogue.id,] = None
        if of == "dialogues":
            transcript = dialogue.transcript
            for number, turn in enumerate(transcript.turns):
                known["turns"][dialogue.id, str(number)] = None if turn.action else turn.text
            for side in sides_of(dialogue.facets) or transcript.sides:
                known["sides"][dialogue.id, side] = None
    whole = [id for id, of in ids.items() if of == "dialogues"]
    keys = {(id, "turn"): "turns" for id in whole} | {(id, "speaker"): "sides" for id in whole}
    return keys | {(id,): of for id, of in ids.items()}, known


def _flat(built: BuiltFolder, config: str) -> str:
    """Return a config in SQL, with the fields of its structs as columns too, as in CSV."""
    nested = (path for path in flat(built.columns(config)) if path[1:])
    parts = [f", {'.'.join(map(quoted, path))} as {quoted('.'.join(path))}" for path in nested]
    return f"(select *{''.join(parts)} from {built.dataset.name}.{quoted(config)})"  # noqa: S608


def _task(built: BuiltFolder, file: Path, rows: _Relation) -> str:
    """Return the task whose predictions have the columns of a file, as `score` reads it, or ""."""
    columns = {*rows.keys, *rows.kinds}
    for name, task in built.dataset.tasks.items():
        if file.suffix == ".jsonl" and {*task.key} <= columns <= {*task.fields, UNREADABLE}:
            return name
    return ""


def _ordered(value: str, kind: str) -> str:
    """Return the SQL of a value; labels have no order."""
    return f"list_sort({value})" if kind.startswith("ENUM") and kind.endswith("[]") else value


def _read(value: str, kind: str) -> str:
    """Return the SQL of a text as a value of a type of DuckDB; null if it is none.

    Labels may be a list, as in JSON and in CSV, or names between commas or semicolons.
    """
    if not kind.endswith("[]"):
        if "INT" in kind and not kind.startswith("ENUM"):  # else DuckDB rounds
            value = f"nullif(regexp_extract({value}, '{_WHOLE}', 1), '')"
        return f"try_cast({value} as {kind})"
    item, items = kind.removesuffix("[]"), f"try_cast({value} as varchar[])"
    if item.startswith("ENUM"):
        names = f"regexp_split_to_array(trim({value}), '\\s*[,;]\\s*')"
        one = f"case when try_cast({value} as {item}) is null then {names} else [{value}] end"
        items = f"case when {value} like '[%' then {items} else {one} end"
    every = f"list_transform({items}, lambda x: {_read('x', item)})"
    return f"case when len({every}) = list_count({every}) then {_ordered(every, kind)} end"
