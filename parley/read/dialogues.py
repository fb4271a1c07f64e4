"""Read the dialogues of a dataset, with related rows of other configs."""

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, is_dataclass, replace
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, get_args, get_origin, get_type_hints

from parley.base.errors import OutputError, Problem, UsageError, few
from parley.base.numbers import is_number
from parley.base.strict_json import is_unicode
from parley.builds.built_folder import BuiltFolder
from parley.builds.frozen import frozen
from parley.declaration.registry import Dataset
from parley.read.transcript import Transcript
from parley.schema.features import arrow_schema
from parley.schema.nodes import new_name
from parley.schema.shapes import Checked, Wrapper, parse

if TYPE_CHECKING:  # reading a build must not import it
    from parley.builds.sources import Sources

Row = dict[str, Any]
Beside = dict[str, list[Row]]  # config -> its rows of a dialogue
Id = str | int
Place = tuple[str, str]  # a config and a split


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
        if function := self.dataset.layout.transcript:
            laid_out = self._laid_out(function)
        else:
            fields = [(column, "\n".join(_lines(value))) for column, value in self.row.items()]
            laid_out = Transcript(f"{self.config} {self.id}", before=fields)
        return replace(laid_out, language=laid_out.language or self.dataset.language)

    def _laid_out(self, function: Callable[..., Any]) -> Transcript:
        """Return what `transcript` makes of the row and the related rows."""
        with self.dataset.running("transcript.py", "this row", self._odd):
            result = function(self.row, self.beside) if self.beside else function(self.row)
            if not _TRANSCRIPT.fits(result):
                raise TypeError(str(next(_TRANSCRIPT.problems(result))).lstrip("."))
        return result  # type: ignore[no-any-return]

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


_UNICODE = "text of valid Unicode, without a lone surrogate"


def _check_text(value: Any) -> None:
    if not isinstance(value, str):
        raise ValueError("text")
    if not is_unicode(value):
        raise ValueError(_UNICODE)


def _check_keys(value: dict[str, Any]) -> None:
    if not all(map(is_unicode, value)):
        raise ValueError(f"an object whose keys are {_UNICODE}")


def _check_number(value: int) -> None:
    if not is_number(value):
        raise ValueError("an integer of 64 bits")


class _Instance(Wrapper):
    """An instance of some classes; `view` returns it in the form that the shape has."""

    def __init__(self, kinds: tuple[type, ...], view: Callable[[Any], Any], shape: Any) -> None:
        super().__init__(shape)
        self.kinds, self.view = kinds, view

    def _test(self, value: str, names: dict[str, Any]) -> str:
        found, kinds = new_name(names), new_name(names, self.kinds)
        view = new_name(names, self.view)
        inner = self.inner._test(f"{view}({found})", names)
        return f"(isinstance({found} := {value}, {kinds}) and {inner})"

    def problems(self, value: Any, path: str = "") -> Iterator[Problem]:
        if isinstance(value, self.kinds):
            yield from self.inner.problems(self.view(value), path)
        else:
            yield self.problem(value, path)

    def expected(self, value: Any) -> str:
        return f"a {self.kinds[0].__name__}"


def _numbered(values: Iterable[Any]) -> dict[str, Any]:
    return {str(number): value for number, value in enumerate(values)}


def _shape(hint: Any) -> Any:
    """Return the shape of a type in transcript.py; a list may be a tuple, and a tuple a list."""
    kind, inner = get_origin(hint) or hint, get_args(hint)
    if kind is str:
        return _check_text
    if kind is int:
        return Checked(int, _check_number)
    if kind is dict:
        return Checked({str: _shape(inner[1])}, _check_keys)
    if kind is list or Ellipsis in inner:
        return _Instance((list, tuple), list, [_shape(inner[0])])
    if kind is tuple:
        fields = _numbered(map(_shape, inner))
        return _Instance((list, tuple), _numbered, fields)
    if isinstance(kind, type) and is_dataclass(kind):
        fields = {name: _shape(each) for name, each in get_type_hints(kind).items()}

        def declared(instance: Any) -> dict[str, Any]:
            return {name: getattr(instance, name) for name in fields}

        return _Instance((kind,), declared, fields)
    return kind


_TRANSCRIPT = parse(_shape(Transcript))


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
    known = dialogue_ids(built)
    if unknown := [id for id in ids if id not in known]:
        remedy = f"The first ids are {', '.join(islice(known, 3))}."
        raise UsageError(f"{built.path} has no dialogue {few(unknown)}", remedy=remedy)


def dialogue_ids(built: BuiltFolder) -> dict[str, None]:
    """Return the ids of all dialogues of a build, as a set in their order."""
    return dict.fromkeys(
        built.dataset.dialogue_id(split, value)
        for config, split in places(built)
        for value in built.ids(config, split)
    )


def places(folder: "BuiltFolder | Sources") -> list[tuple[str, str]]:
    """Return the existing (config, split) pairs with dialogues, in the order of CONFIGS."""
    configs = folder.dataset.layout.configs
    return [(config, split) for config in configs for split in folder.splits(config)]


def id_columns(folder: BuiltFolder) -> set[str]:
    """Return the columns that have the ids of dialogues, in any config."""
    layout = folder.dataset.layout
    first = {next(iter(folder.column_types(config))) for config, _ in places(folder)}
    return first.union(layout.beside.values(), layout.tables.values())


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
    columns = folder.dataset.layout.beside
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
