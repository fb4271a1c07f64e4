"""The columns that filter dialogues: of labels, closed sets, true or false, numbers and few texts.

They stand at the top of the configs that show dialogues. `FACETS` of transcript.py says which of
them stand first, and with which words; it may also name fields within objects, and the number of
a config's rows. A field that several configs have, as its meaning tells, is one column.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import TYPE_CHECKING, Any

from parley.base.errors import OutputError, Problem, ScriptError
from parley.base.numbers import is_number
from parley.builds.built_folder import BuiltFolder
from parley.declaration.configs import Config, View
from parley.declaration.layout import Facet
from parley.declaration.layout import Value as Found
from parley.declaration.registry import Dataset
from parley.schema.features import ClassLabel, Value, item_of
from parley.schema.nodes import Column

if TYPE_CHECKING:
    import pyarrow as pa

SPEAKER = "speaker"  # the column that tells whose a row is
NOBODY = -1  # the side of a row without a speaker
LABEL, FLAG, TEXT, NUMBER = "label", "flag", "text", "number"
_COUNT = Value("int64")
_LARGEST = 1e100  # a number: the ends of a histogram are larger, and must be finite
_KINDS = {"string": TEXT, "bool": FLAG, "int": NUMBER, "uint": NUMBER, "float": NUMBER}

Pairs = list[tuple[int, Found]]
"""A dialogue's values, each with the number of its side."""


@dataclass(frozen=True)
class Asked:
    """A column that filters dialogues, or the number of a config's rows."""

    name: str  # in FACETS, else CONFIG.COLUMN
    config: str
    path: tuple[str, ...]  # the column, then the fields within it; () for the number of rows
    words: Facet
    is_of_side: bool = False  # whether its values are of the side that the row names
    feature: Any = _COUNT  # of its values, of lists that of their items
    is_list: bool = False  # whether a row has a list of values
    is_closed: bool = True  # whether it holds no other values than the declared ones

    @property
    def kind(self) -> str:
        """What its values are: labels, true or false, texts or numbers."""
        return kind_of(self.feature)


def kind_of(feature: Any) -> str:
    """Return what the values of a feature are, "" for objects, lists and other types."""
    if isinstance(feature, ClassLabel):
        return LABEL
    dtype = feature.dtype if isinstance(feature, Value) else ""
    return _KINDS.get(dtype.rstrip("0123456789"), "")


def id_of(dataset: Dataset, name: str) -> str:
    """Return the column of a config with the ids of dialogues, "" if it shows none.

    Of a config in CONFIGS it is the first, as of a query, which is an entry of its own.
    """
    config = dataset.configs[name]
    if name in dataset.layout.configs:
        return next(iter(config.features))
    column = config.shown.get("dialogues", "") if isinstance(config, View) else ""
    return column if isinstance(config.features.get(column), Value) else ""


def counted_by(dataset: Dataset, name: str) -> str:
    """Return the column that names the dialogue that counts the rows of a config."""
    return dataset.layout.beside.get(name) or id_of(dataset, name)


def is_of_one(dataset: Dataset, name: str) -> bool:
    """Tell whether a dialogue has at most one row of a config."""
    return dataset.configs[name].keys == (id_of(dataset, name),)


def asked(dataset: Dataset) -> list[Asked]:
    """Return the columns that filter: those of FACETS, then the others, config by config.

    ScriptError if FACETS names a column whose values are none to filter dialogues by.
    """
    shown = {name: dataset.configs[name] for name in dataset.configs if id_of(dataset, name)}
    whole = {
        _field(config, column)
        for name, config in shown.items()
        for column in _top(config)
        if is_of_one(dataset, name)
    }

    def made(name: str, words: Facet) -> Asked:
        """Return the column that a facet names."""
        config, _, place = words.column.partition(".")
        if not place:
            return Asked(name, config, (), words)
        declared = dataset.configs[config]
        path = [place] if place in declared.features else place.split(".")  # a name may have dots
        (column,) = (column for column in declared.fields if column.path == place)
        feature: Any = declared.features
        for part in path:
            feature = feature[part]
        of_side = SPEAKER in declared.features and _field(declared, column) not in whole
        item = item_of(feature)
        if not id_of(dataset, config) or not kind_of(item or feature):
            what = f"{dataset.name}/transcript.py: FACETS: {name!r}: {words.column}: expected"
            raise ScriptError(f"{what} labels, texts, numbers, or true and false, of dialogues")
        own = (item or feature, item is not None, bool(column.values))
        return Asked(name, config, tuple(path), words, of_side, *own)

    first = [made(name, words) for name, words in dataset.layout.facets.items()]
    named = {column.words.column for column in first}
    homes: dict[tuple[str, str], str] = {}  # a field -> the column at which it stands
    for name, config in sorted(shown.items(), key=lambda each: len(each[1].keys)):
        for column in _top(config):
            homes.setdefault(_field(config, column), f"{name}.{column.path}")
    for name, config in dataset.configs.items():
        for column in config.fields:
            if f"{name}.{column.path}" in named:
                homes.pop(_field(config, column), None)
    order = [f"{n}.{column.path}" for n, config in shown.items() for column in _top(config)]
    places = sorted(homes.values(), key=order.index)
    return first + [made(place, Facet(column=place)) for place in places]


def _top(config: Config | View) -> Iterator[Column]:
    """Yield the columns of a config that tell of dialogues, not those that name rows or people."""
    shown = config.shown.values() if isinstance(config, View) else ()
    for column in config.fields:
        name = column.path
        is_name = name in (*config.keys, *shown, SPEAKER, "id") or name.endswith(("_id", "_index"))
        feature = config.features.get(name)
        if not is_name and kind_of(item_of(feature) or feature):
            yield column


def _field(config: Config | View, column: Column) -> tuple[str, str]:
    """Return what tells a field in all configs: its meaning, and its name if others share it."""
    same = sum(1 for other in config.fields if other.meaning == column.meaning)
    name = column.path.rpartition(".")[2] if same > 1 else ""
    return (column.meaning, name) if column.meaning else (config.name, column.path)


def speakers_in(built: BuiltFolder, columns: Sequence[Asked]) -> dict[str, dict[str, None]]:
    """Return dialogue -> the speakers that rows of columns of a side name, in their order."""
    found: dict[str, dict[str, None]] = defaultdict(dict)
    for config in dict.fromkeys(column.config for column in columns if column.is_of_side):
        for ids, table in _tables(built, config, id_of(built.dataset, config)):
            for id, speaker in dict.fromkeys(zip(ids, _cells(table, [SPEAKER]), strict=True)):
                if speaker is not None:
                    found[id].setdefault(speaker)
    return found


class Values:
    """The values of columns of a build for some dialogues.

    `sides` has the number of each side of each dialogue. `is_counted` tells for which dialogues
    rows are counted.
    """

    def __init__(
        self,
        built: BuiltFolder,
        ids: Sequence[str],
        sides: Sequence[Mapping[str, int]],
        is_counted: Sequence[bool],
    ) -> None:
        self._built, self._sides, self._is_counted = built, sides, is_counted
        self._numbers: dict[str, list[int]] = defaultdict(list)
        for number, id in enumerate(ids):
            self._numbers[id].append(number)

    def of(self, column: Asked) -> list[Pairs]:
        """Return the values of each dialogue.

        Of numbers each row counts; other values stand once for each side. OutputError for a value
        of another type.
        """
        found: list[Pairs] = [[] for _ in self._sides]
        dataset, config = self._built.dataset, column.config
        if not column.path:
            counts: Counter[str] = Counter()
            for ids, _ in _tables(self._built, config, counted_by(dataset, config)):
                counts.update(ids)
            for id, numbers in self._numbers.items():
                for number in numbers:
                    if self._is_counted[number]:
                        found[number].append((NOBODY, counts[id]))
            return found
        for ids, table in _tables(self._built, config, id_of(dataset, config)):
            who = _cells(table, [SPEAKER]) if column.is_of_side else repeat(None, len(ids))
            read = self._read(column, _cells(table, column.path))
            for id, speaker, values in zip(ids, who, read, strict=True):
                for number in self._numbers.get(id, ()):
                    side = NOBODY if speaker is None else self._sides[number][speaker]
                    found[number] += [(side, value) for value in values]
        if column.kind == NUMBER:
            return found
        return [list(dict.fromkeys(pairs)) for pairs in found]

    def _read(self, column: Asked, cells: Iterable[Any]) -> Iterator[list[Found]]:
        """Yield the values of each cell, of labels their names."""
        names, is_value = [*getattr(column.feature, "names", ())], _IS_VALUE[column.kind]
        for number, cell in enumerate(cells):
            values = [] if cell is None else cell if column.is_list else [cell]
            values = [value for value in values if value is not None]
            if wrong := [value for value in values if not is_value(value, names)]:
                where = f"{self._built.path}: {column.config}[{number}].{'.'.join(column.path)}"
                expected = f"the number of one of {len(names)} labels" if names else column.kind
                problem = Problem(where, expected, f"{wrong[0]!r:.60}")
                raise OutputError("", problem, remedy=f"Run {self._built.command('verify')}.")
            yield [names[value] for value in values] if names else values


_IS_VALUE: dict[str, Callable[[Any, list[str]], bool]] = {
    LABEL: lambda value, names: type(value) is int and 0 <= value < len(names),
    FLAG: lambda value, _: isinstance(value, bool),
    TEXT: lambda value, _: isinstance(value, str),
    NUMBER: lambda value, _: is_number(value) and abs(value) <= _LARGEST,
}


def _tables(built: BuiltFolder, config: str, id: str) -> Iterator[tuple[list[str], "pa.Table"]]:
    """Yield each table of a config, with the ids of its rows in the column `id`."""
    for split in built.splits(config):
        prefix = built.dataset.dialogue_id(split, "")
        for table in built.tables(config, split, keep=False):
            yield [f"{prefix}{each}" for each in _cells(table, [id])], table


def _cells(table: "pa.Table", path: Sequence[str]) -> list[Any]:
    """Return the values of a column, or of a field within its objects."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column, *within = path
    try:
        cells = table.column(column)
        found: list[Any] = (pc.struct_field(cells, within) if within else cells).to_pylist()
    except (KeyError, ValueError, pa.ArrowException) as error:  # an unverified folder may lack it
        where = f"a Parquet file of the build has no {'.'.join(path)}"
        raise OutputError(where, remedy="Build the dataset again.") from error
    return found
