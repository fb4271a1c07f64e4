"""Files of one's own: rows beside the dialogues, sides and turns whose keys they have."""

import re
from collections import defaultdict
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
from parley.building.folder import BuiltFolder
from parley.reading.dialogues import dialogues
from parley.reading.export.export import cell
from parley.reading.site.filters import DIFFERS, sides_of
from parley.reading.sql import connect, literal, quoted, until_interrupted
from parley.reading.transcript import Note

Keys = tuple[str, ...]
Known = dict[str, dict[Keys, str | None]]  # of what -> key -> the text of an utterance
_READERS = {"csv": "csv", "tsv": "csv", "parquet": "parquet", "json": "json", "jsonl": "json"}
_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT")
_LABELS = re.compile(r"ENUM\(.*\)\[\]", re.DOTALL)


class _Rows(NamedTuple):
    """A file or a config, as a table of DuckDB."""

    name: str
    source: str  # in SQL
    of: str  # "dialogues", "turns", "sides", or the config of rows that are no dialogues
    keys: Keys
    kinds: dict[str, str]  # other column -> its type

    def key(self, alias: str) -> list[str]:
        """Return the SQL of the key as text; 0.0, as pandas writes 0 beside a null, is 0."""
        texts = [f"{alias}.{quoted(column)}::varchar" for column in self.keys]
        return [f"regexp_replace({text}, '^(\\d+)\\.0$', '\\1')" for text in texts]


class Own:
    """Rows of files beside the dialogues of a build, by their keys.

    The key of a file is the id of a dialogue and, for rows of turns or of sides, `turn` or
    `speaker`. Its other columns are shown, and compared with those of the same name in the configs
    with this key and in the files before it. A wrong file is a RecordError or a UsageError.
    """

    def __init__(self, built: BuiltFolder, files: Sequence[Path]) -> None:
        self.notes: list[str] = []  # a line for each file and each comparison
        self.queries: dict[str, str] = {}  # what differs -> the SQL of the ids of its dialogues
        self._told: dict[str, dict[Keys, list[Note]]] = {}  # id -> part -> its notes
        stems = [file.stem for file in files]
        with connect([built]) as self._connection:
            keys, known = _known(built)
            beside = [
                self._rows(name, f"{built.dataset.name}.{quoted(name)}", keys[each.keys], each.keys)
                for name, each in built.dataset.configs.items()
                if each.keys in keys and built.splits(name)
            ]
            kinds = [each for rows in beside for each in rows.kinds.items()]
            self._sets = {column for column, kind in kinds if _LABELS.fullmatch(kind)}
            for file in dict.fromkeys(files):
                try:
                    name = file.stem if stems.count(file.stem) == 1 else str(file)
                    mine = self._described(file, name, keys)
                    task = _task_of(built, mine, file)
                    self._keep(mine, known[mine.of])
                    if task:
                        scored = f"parley score {built.dataset.name} {task}"
                        self.notes.append(f"{name}: predictions, not compared: `{scored}` does")
                        continue
                    others = [other for other in beside if other.of == mine.of]
                    self._require_comparable(mine, others)
                    for other in others:
                        self._compare(mine, other)
                except ParleyError as error:
                    error.message = f"{file}: {cut(error.message)}"
                    raise
                beside.append(mine)

    def beside(self, id: str) -> tuple[dict[str, Any], list[str]]:
        """Return what to show beside a dialogue, and each difference in it."""
        found = self._told.get(id, {})
        notes = [(part, note) for part, each in found.items() for note in each]
        turns = {part[1]: each for part, each in found.items() if part[0] == "turns"}
        facts = [(", ".join([n.kind, *p[1:]]), n.text) for p, n in notes if p[0] != "turns"]
        shown = {"turns": turns, "facts": facts} if found else {}
        return shown, [note.text for _, note in notes if note.kind == DIFFERS]

    def _ask(self, query: str) -> list[Any]:
        ask = self._connection.execute
        return list(until_interrupted(self._connection, lambda: ask(query).fetchall()))

    def _rows(self, name: str, source: str, of: str, keys: Keys) -> _Rows:
        kinds = {column: kind for column, kind, *_ in self._ask(f"describe from {source}")}
        return _Rows(name, source, of, keys, {c: k for c, k in kinds.items() if c not in keys})

    def _described(self, file: Path, name: str, known: dict[Keys, str]) -> _Rows:
        """Return a file, whose columns tell what its rows are of."""
        require_utf8(file)
        kind = _READERS.get(file.name.lower().removesuffix(".gz").rpartition(".")[2])
        if not kind or not file.is_file():
            raise UsageError(f"expected an existing file that ends in .{', .'.join(_READERS)}")
        options = ", all_varchar = true, comment = ''" if kind == "csv" else ""
        source = f"read_{kind}({literal(file)}, hive_partitioning = false{options})"
        columns = self._rows(name, source, "", ()).kinds.keys()
        if odd := [each for each in (str(file), *columns) if plain(each) != each]:
            raise UsageError(f"expected names without control characters, found {odd[0]}")
        every = {id for id, *_ in known}
        if len(ids := every & columns) != 1:
            found = " and ".join(sorted(ids) or columns)
            raise UsageError(f"expected one column of {' or '.join(sorted(every))}, found {found}")
        keys = next(keys for keys in known if columns >= {*keys})
        return self._rows(name, source, known[keys], keys)

    def _keep(self, rows: _Rows, known: dict[Keys, str | None]) -> None:
        """Keep the values of a file, but its texts, which are compared with ours."""
        is_said = rows.of == "turns" and bool(rows.kinds.pop("text", ""))
        if not rows.kinds:
            raise UsageError(f"has no column beside {' and '.join(rows.keys)}")
        columns = [*rows.kinds, *["text"] * is_said]
        cells = ", ".join([*rows.key("m"), *(f"m.{quoted(each)}::varchar" for each in columns)])
        found = self._ask(f"select {cells} from {rows.source} m")  # noqa: S608
        causes, first = Causes(), dict[Keys, int]()
        for number, row in enumerate(found, 1):
            key, values = row[: len(rows.keys)], row[len(rows.keys) :]
            if key not in known:
                what = f"no such {' and '.join(rows.keys)}"
            elif key in first:
                what = f"repeated, first in row {first[key]}"
            elif is_said and (ours := known[key]) and values[-1] not in (ours, cell(ours)):
                what = "its text differs from ours"
            else:
                first[key] = number
                told = self._told.setdefault(key[0], {}).setdefault((rows.of, *key[1:]), [])
                for column, value in zip(rows.kinds, values, strict=False):
                    name = f"{rows.name}: {column}"
                    if value is not None:
                        told.append(Note(value, name, by=name))
                continue
            causes.add(f"row {number} ({', '.join(map(str, key))})", Problem("", what=what))
        if causes or not found:
            wrong = len(found) - len(first)
            raise RecordError(f"{wrong:,} of {len(found):,} rows are wrong", *causes.told())
        self.notes.append(f"{rows.name}: {len(found):,} of {len(known):,} {rows.of} have a row")

    def _require_comparable(self, mine: _Rows, others: Sequence[_Rows]) -> None:
        """Raise RecordError if a value is none that the column of that name may hold."""
        causes = Causes()
        for other in others:
            for column in mine.kinds:
                if alike := [c for c in other.kinds if c.lower() == column.lower() and c != column]:
                    causes.add(column, Problem("", f"the name {alike[0]}", column))
            for column in _shared(mine, other):
                value, kind = f"m.{quoted(column)}", other.kinds[column]
                if kind == mine.kinds[column]:
                    continue
                is_wrong = f"{value} is not null and not coalesce({_fits(value, kind)}, false)"
                keys = ", ".join(mine.key("m"))
                wrong = f"select {value}::varchar, {keys} from {mine.source} m where {is_wrong}"  # noqa: S608
                for found, *key in self._ask(wrong):
                    causes.add(f"{column} ({', '.join(key)})", Problem("", kind, cut(found)))
        if causes:
            raise RecordError("values cannot be compared", *causes.told())

    def _compare(self, mine: _Rows, other: _Rows) -> None:
        """Note where a file differs from a config, or from an earlier file."""
        keys = mine.key("m")
        both = " and ".join(f"{a} = {b}" for a, b in zip(keys, other.key("o"), strict=True))
        join = f"from {other.source} o join {mine.source} m on {both}"
        for column in _shared(mine, other):
            kind, values = other.kinds[column], [f"{alias}.{quoted(column)}" for alias in "mo"]
            if column in self._sets:
                values = [_set_of(value) for value in values]
            elif kind != mine.kinds[column]:
                values[0] = f"try_cast({values[0]}::varchar as {kind})"
            where = f"{join} where {' is distinct from '.join(values)}"
            found = self._ask(f"select distinct {', '.join(keys)} {where}")
            count = f"select (select count(*) from {other.source}), count(*) {join}"  # noqa: S608
            ((of, shared),) = self._ask(count)
            label = f"{mine.name}: {column} ≠ {other.name}"
            ids = {key[0] for key in found}
            differ = f"{label} in {len(found):,} of {shared:,} rows, in {len(ids):,} dialogues"
            self.notes.append(f"{differ}; {of - shared:,} rows of {other.name} have none")
            self.queries[label] = f"select {keys[0]} {where}"
            for id, *part in found:
                self._told[id].setdefault((mine.of, *part), []).append(Note(label, DIFFERS))


def _shared(mine: _Rows, other: _Rows) -> list[str]:
    """Return the columns that both have, but for the id of a row, which each tool numbers anew."""
    return [column for column in mine.kinds if column in other.kinds and column != "id"]


def _task_of(built: BuiltFolder, rows: _Rows, file: Path) -> str:
    """Return the task whose predictions a file of JSON Lines holds, by its columns; or ""."""
    columns = {*rows.keys, *rows.kinds}
    tasks = built.dataset.tasks.items() if ".jsonl" in file.suffixes else []
    return next((name for name, task in tasks if columns == {*task.fields}), "")


def _set_of(value: str) -> str:
    """Return the SQL of a set of labels: a list, or a text of several labels or of one."""
    labels = f"regexp_split_to_array(trim({value}::varchar), '\\s*[,;]\\s*')"
    return f"list_sort(list_distinct(coalesce(try_cast({value} as varchar[]), {labels})))"


def _fits(value: str, kind: str) -> str:
    """Return the SQL of whether a value of a file can be compared with a column of a type."""
    if _LABELS.fullmatch(kind):
        return f"list_has_all(enum_range(null::{kind[:-2]})::varchar[], {_set_of(value)})"
    if kind in _WHOLE:  # a cast would round
        return f"try_cast({value}::varchar as double) = try_cast({value}::varchar as {kind})"
    return f"try_cast({value}::varchar as {kind}) is not null"


def _known(built: BuiltFolder) -> tuple[dict[Keys, str], Known]:
    """Return the columns of keys, the longest first, with what they are of; and what there is."""
    tool = built.dataset.transcript
    ids = dict.fromkeys(getattr(tool, "TABLES", {}).values(), "dialogues")
    found: Known = defaultdict(dict)
    for each in dialogues(built):
        of = each.config if each.config in getattr(tool, "BESIDE", {}) else "dialogues"
        ids[next(iter(each.row))] = of
        found[of][each.id,] = None
        if of == "dialogues":
            transcript = each.transcript
            for number, turn in enumerate(transcript.turns):
                found["turns"][each.id, str(number)] = None if turn.action else turn.text
            for side in sides_of(each.facets) or transcript.sides:
                found["sides"][each.id, side] = None
    whole = [id for id, of in ids.items() if of == "dialogues"]
    keys = {(id, "turn"): "turns" for id in whole} | {(id, "speaker"): "sides" for id in whole}
    return keys | {(id,): of for id, of in ids.items()}, found
