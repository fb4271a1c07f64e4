"""Read the dialogues of a dataset, with related rows of other configs."""

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import chain, count, islice, repeat
from types import UnionType
from typing import TYPE_CHECKING, Any, get_args, get_origin, get_type_hints

from parley.base.errors import OutputError, Problem, ScriptError, UsageError, few, words_of
from parley.base.values import frozen, is_number, is_unicode, without_numpy
from parley.builds.built_folder import BuiltFolder
from parley.declaration.registry import Dataset
from parley.read.transcript import Facets, Transcript, Value
from parley.schema.features import arrow_schema, item_of, labels_of

if TYPE_CHECKING:  # what reads a build needs none
    from parley.builds.sources import Sources

Row = dict[str, Any]
Beside = dict[str, list[Row]]  # config -> its rows of a dialogue
Id = str | int
Place = tuple[str, str]  # a config and a split

_LARGEST = 1e100  # a number of a facet: the ends of a histogram are larger, and must be finite


@dataclass(frozen=True)
class Dialogue:
    """A row that `transcript.py` can read, with related rows."""

    dataset: Dataset
    config: str
    split: str
    row: Row  # as read from Parquet
    beside: Beside  # of this dialogue
    # every (config, split) with a row of this dialogue, that of `row` first
    places: tuple[tuple[str, str], ...]

    def __post_init__(self) -> None:
        """Freeze the rows, which several functions of `transcript.py` read."""
        object.__setattr__(self, "row", frozen(self.row))
        object.__setattr__(self, "beside", frozen(self.beside))

    @property
    def id(self) -> str:
        """The value of the first column, as text; SPLIT/ID where splits share ids."""
        return self.dataset.dialogue_id(self.split, next(iter(self.row.values()), None))

    @cached_property
    def transcript(self) -> Transcript:
        """The dialogue laid out; fields as facts if there is no `transcript.py`; or ScriptError."""
        if module := self.dataset.transcript:
            transcript: Transcript = self._call(module.transcript, Transcript)
            return transcript
        fields = [(column, "\n".join(_lines(value))) for column, value in self.row.items()]
        return Transcript(f"{self.config} {self.id}", before=fields)

    @property
    def facets(self) -> Facets:
        """The values to filter by: splits, facets or the row's own, turns; or ScriptError."""
        tool = self.dataset.transcript
        one = tool is not None and len(tool.CONFIGS) == 1
        splits: Facets = {"split": [s if one else f"{c}/{s}" for c, s in self.places]}
        facets: Facets = self._call(getattr(tool, "facets", self._of_row), Facets, "facets")
        facets = splits | facets
        if tool:
            facets.setdefault("turns", len(self.transcript.turns))
        return facets

    def _of_row(self, row: Row, *_: Beside) -> Facets:
        """Return the scalars and labels of the row."""
        features = self.dataset.configs[self.config].features
        (_id, *columns) = row  # the id tells every row apart
        values = {column: _plain(row[column], features.get(column)) for column in columns}
        return {column: value for column, value in values.items() if value is not None}

    def _call(self, function: Callable[..., Any], kind: Any, name: str = "") -> Any:
        """Return what a function of `transcript.py` makes of the row and the related rows."""
        try:
            result = function(self.row, self.beside) if self.beside else function(self.row)
            result = without_numpy(result)
            if wrong := _wrong(result, kind):
                raise TypeError(str(wrong.at(name)).lstrip("."))
        except Exception as error:  # whatever stands in a row of a folder that nobody verified
            words, name = words_of(error), self.dataset.name
            what = "a label or number" if function == self._of_row else f"{name}/transcript.py"
            remedy = f"If `parley verify {name}` holds for the folder, fix transcript.py; "
            remedy += "else the row is damaged: build it again."
            message = f"{name}: {what} fails on this row ({words})"
            raise ScriptError(message, *self._odd(), remedy=remedy) from error
        return result

    def _odd(self) -> list[Problem]:
        """Return where the row or related rows break the schema; else its null fields."""
        # not at the top: a sound row needs none of it
        from parley.rows.arrow import explain

        problems = [
            problem.at(f"{config}/{self.split}, rows of {self.id!r:.60}: ")
            for config, rows in {self.config: [self.row], **self.beside}.items()
            for problem in explain(rows, arrow_schema(self.dataset.configs[config].features))
        ]
        null = ", ".join(key for key, value in self.row.items() if value is None)
        but = f", but {null} is null" if null else ""
        where = f"{self.config}/{self.split}, row {self.id!r:.60}"
        return problems or [Problem(where, what=f"every value has its type{but}")]


def _lines(value: Any) -> Iterator[str]:
    """Yield the lines of a field: one per entry of a list."""
    for item in value if isinstance(value, list) else [value]:
        yield item if isinstance(item, str) else json.dumps(item, ensure_ascii=False, default=str)


_EXPECTED = {str: "text", bool: "true or false", list: "a list", tuple: "a list", dict: "a dict"}
_EXPECTED[UnionType] = "text, a number, a truth value, null, or a list or dict of these"


@cache
def _type(hint: Any) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """Return the class of a type, the types within, and those of its fields."""
    kind = get_origin(hint) or hint
    return kind, get_args(hint), get_type_hints(kind)


def _wrong(value: Any, hint: Any) -> Problem | None:
    """Return the first part of a value without its type of a transcript's classes, or None.

    A list may be a tuple.
    """
    kind, inner, fields = _type(hint)
    if kind is UnionType:  # of a facet, where a tuple is no list
        hint = next((each for each in inner if isinstance(value, _type(each)[0])), None)
        return _wrong(value, hint) if hint else Problem("", _EXPECTED[kind], f"{value!r:.60}")
    kinds: Any = (list, tuple) if kind in (list, tuple) else kind
    expected = ""
    parts: Iterable[tuple[Any, ...]] = ()  # of each: how its place is written, key, value, type
    if not isinstance(value, kinds):
        expected = _EXPECTED.get(kind) or f"a {kind.__name__}"
    elif kind is str:
        expected = "" if is_unicode(value) else "valid Unicode, without a lone surrogate"
    elif isinstance(value, int | float):
        # it can stand on an axis; true and false are as good
        if not (isinstance(value, bool) or (is_number(value) and abs(value) <= _LARGEST)):
            expected = f"an integer of 64 bits or a float up to {_LARGEST:g}"
    elif kind is dict:
        keys = ((", a key", key, key, inner[0]) for key in value)
        parts = chain(keys, (("[{!r:.60}]", key, item, inner[1]) for key, item in value.items()))
    elif kind in (list, tuple):
        inner = inner[:1] * len(value) if kind is list or Ellipsis in inner else inner
        expected = "" if len(value) == len(inner) else f"{len(inner)} values"
        parts = zip(repeat("[{}]"), count(), value, inner, strict=False)
    else:
        parts = ((".{}", name, getattr(value, name), each) for name, each in fields.items())
    if expected:
        return Problem("", expected, f"{value!r:.60}")
    for step, key, part, type_of_part in parts:
        if found := _wrong(part, type_of_part):
            return found.at(step.format(key))
    return None


def _plain(value: Any, feature: Any) -> Value | list[Value] | None:
    """Return a scalar, or the name of a label or of each label of a list; None for the rest."""
    names = labels_of(item_of(feature) or feature)
    if isinstance(value, list):
        return [_label(names, item) for item in value] if names else None
    if names and value is not None:
        return _label(names, value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str | int | float) else None


def _label(names: list[str], value: Any) -> str:
    if type(value) is int and 0 <= value < len(names):
        return names[value]
    raise ValueError(f"expected the number of one of {len(names)} labels, found {value!r:.60}")


def dialogues(folder: BuiltFolder) -> Iterator[Dialogue]:
    """Yield every readable dialogue once, from the first of `CONFIGS` (or all configs) that has it.

    Related rows of a split are read in one pass and kept for all its dialogues.
    """
    # id -> its places, as a set in their order
    places_of: dict[str, dict[tuple[str, str], None]] = defaultdict(dict)
    for config, split in places(folder):
        for number, value in enumerate(folder.ids(config, split)):
            value = _as_id(value, folder.dataset, (config, split), number)
            places_of[folder.dataset.dialogue_id(split, value)].setdefault((config, split))
    for place in dict.fromkeys(next(iter(of_id)) for of_id in places_of.values()):
        for dialogue in dialogues_of(folder, *place):
            if next(iter(places_of[dialogue.id])) == place:
                yield replace(dialogue, places=tuple(places_of[dialogue.id]))


def dialogues_of(folder: "BuiltFolder | Sources", config: str, split: str) -> Iterator[Dialogue]:
    """Yield the dialogue of each row of a split, of a built folder or made from a source.

    A row without an id, also a related one, is an OutputError.
    """
    place, beside = (config, split), _related(folder, split)
    for number, row in enumerate(_rows(folder, config, split)):
        id = _as_id(next(iter(row.values()), None), folder.dataset, place, number)
        yield Dialogue(folder.dataset, config, split, row, beside[id], (place,))


def require_dialogues(built: BuiltFolder, ids: Collection[str]) -> None:
    """Raise UsageError, which names some, unless a build has all of these dialogues."""
    known = dict.fromkeys(
        built.dataset.dialogue_id(split, value)
        for config, split in places(built)
        for value in built.ids(config, split)
    )
    if unknown := [id for id in ids if id not in known]:
        remedy = f"The first ids are {', '.join(islice(known, 3))}."
        raise UsageError(f"{built.path} has no dialogue {few(unknown)}", remedy=remedy)


def places(folder: "BuiltFolder | Sources") -> list[tuple[str, str]]:
    """Return the existing (config, split) pairs with dialogues, in the order of CONFIGS."""
    dataset = folder.dataset
    configs = dataset.transcript.CONFIGS if dataset.transcript else list(dataset.configs)
    return [(config, split) for config in configs for split in folder.splits(config)]


def id_columns(folder: BuiltFolder) -> set[str]:
    """Return the columns that have the ids of dialogues, in any config."""
    tool = folder.dataset.transcript
    tables = (getattr(tool, name, {}).values() for name in ("TABLES", "BESIDE"))
    return {next(iter(folder.column_types(config))) for config, _ in places(folder)}.union(*tables)


def _as_id(value: Any, dataset: Dataset, place: Place, number: int, column: str = "") -> Id:
    """Return a value as the id of a dialogue; OutputError if it is no text or whole number.

    `place` is the config and split of its row; `column` is its column, if not the first.
    """
    if type(value) in (str, int):
        return value  # type: ignore[no-any-return]
    config, split = place
    field = column or next(iter(dataset.configs[config].features))
    where = f"{dataset.name}: {config}/{split}[{number}].{field}"
    problem = Problem(where, "the id of a dialogue, text or a whole number", f"{value!r:.60}")
    remedy = f"If `parley verify {dataset.name}` holds for the folder, name such a column in "
    remedy += f"{dataset.name}/transcript.py; else the row is damaged: build it again."
    raise OutputError("", problem, remedy=remedy)


def _related(folder: "BuiltFolder | Sources", split: str) -> dict[Id, Beside]:
    """Return the rows of the configs in `BESIDE`: any id -> config -> rows of that split."""
    columns: dict[str, str] = getattr(folder.dataset.transcript, "BESIDE", {})
    rows_of: dict[Id, Beside] = defaultdict(lambda: {config: [] for config in columns})
    for config, column in columns.items():
        rows = _rows(folder, config, split) if split in folder.splits(config) else ()
        for number, row in enumerate(rows):
            id = _as_id(row.get(column), folder.dataset, (config, split), number, column)
            rows_of[id][config].append(row)
    return rows_of


def _rows(folder: "BuiltFolder | Sources", config: str, split: str) -> Iterable[Row]:
    if isinstance(folder, BuiltFolder):
        return folder.each_row(config, split)
    # not at the top: a build needs less
    from parley.builds.sources import split_plan
    from parley.rows.splits import generate

    return generate(split_plan(folder, config, split))
