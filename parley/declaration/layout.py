"""What a dataset folder's `transcript.py` declares: which rows it lays out, and how.

A dataset folder may hold a `transcript.py` with

    CONFIGS = ("dialogues",)            # the configs it can read, the richest first
    def transcript(row) -> Transcript   # pure: one row of such a config, as read from Parquet

The first column of these configs is the id of a dialogue. Related rows of other configs come with

    BESIDE = {"dialogue_acts": "dialogue_id"}    # config -> its column that holds this id
    def transcript(row, beside) -> Transcript   # config -> its rows of the dialogue

Configs that the page offers as CSV, each with its column that holds this id:

    TABLES = {"utterances": "dialogue_id"}

The titles of judged documents come from a folder that the user names (`parley site --catalogue`):

    def titles(folder: Path, ids: set[str]) -> dict[str, str]    # id -> title, of those found

The values to filter by are, without `facets`, the scalars and labels at the top of a row; else

    def facets(row) -> Facets           # and `beside`, with BESIDE; None is no value
    FACETS = {"points": Facet("got {} points", mean=True)}   # their words, order and meaning

A facet is of the dialogue, or a dict from each side to its values. Without the facets "turns"
and "utterances", they are the numbers of turns and of utterances.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from parley.base.errors import ScriptError
from parley.schema.shapes import Checked, problems

if TYPE_CHECKING:
    from parley.declaration.configs import Config, View

Value = str | int | float
_OF_FACET = {"phrase": str, "without": str, "order": Sequence, "mean": bool, "column": str}


@dataclass(frozen=True)
class Facet:
    """The words, the order and the meaning of a facet on the page.

    Args:
        phrase: What a dialogue or a side with the value {} does: "used {}". It follows "in which",
            or "one side".
        without: What one without it does: "did not use {}".
        order: The values in their order, if they have one.
        mean: Whether the page gives mean and median, of the different values of each side. A value
            of `order` counts as its place, from 1, and the page sorts by it.
        column: The column of a config whose meaning explains the facet: "strategies.labels".
    """

    phrase: str = ""
    without: str = ""
    _: KW_ONLY
    order: Sequence[Value] = ()
    mean: bool = False
    column: str = ""

    @property
    def ranks(self) -> dict[Value, int]:
        """The values that count as numbers, each with its place in the order."""
        return {value: n for n, value in enumerate(self.order, 1)} if self.mean else {}


@dataclass(frozen=True)
class Layout:
    """The names of a `transcript.py`; without it, each config is laid out as its fields."""

    configs: Sequence[str]
    beside: Mapping[str, str] = field(default_factory=dict)
    tables: Mapping[str, str] = field(default_factory=dict)
    words: Mapping[str, Facet] = field(default_factory=dict)  # FACETS
    transcript: Callable[..., object] | None = None
    facets: Callable[..., object] | None = None
    titles: Callable[[Path, set[str]], Mapping[str, str]] | None = None

    def is_beside(self, config: str) -> bool:
        """Tell whether the rows of a config stand beside dialogues of other configs."""
        return config in self.beside

    @property
    def id_columns(self) -> set[str]:
        """The columns by which `beside` and `tables` name dialogues."""
        return {*self.beside.values(), *self.tables.values()}


def layout_of(
    module: ModuleType, configs: "Mapping[str, Config | View]", meanings: Collection[str]
) -> Layout:
    """Return what a `transcript.py` declares; ScriptError names all mistakes.

    `meanings` has the columns that FACETS may name.
    """

    def facet(value: Any) -> None:
        if not isinstance(value, Facet):
            raise ValueError('a Facet, such as Facet("got {} points")')
        for name, kind in _OF_FACET.items():
            of = getattr(value, name)
            if not isinstance(of, kind) or (kind is Sequence and isinstance(of, str)):
                raise ValueError(f"a {kind.__name__} as its `{name}`")
        if value.column not in ("", *meanings):
            raise ValueError("CONFIG.COLUMN as its `column`")
        if any(phrase.count("{}") != 1 for phrase in (value.phrase, value.without) if phrase):
            raise ValueError("{} once in a phrase, where the value stands")

    columns = {f"{name}?": {*config.features} for name, config in configs.items()}
    shape: dict[str, Any] = {
        "CONFIGS": Checked([{*configs}], _one),
        "BESIDE?": columns,
        "TABLES?": columns,
    }
    shape |= {"FACETS?": {str: facet}, "transcript": _function, "facets?": _function}
    shape |= {"titles?": _function}
    names = [name.removesuffix("?") for name in shape]
    told = {name: value for name, value in vars(module).items() if name in names}
    if isinstance(order := told.get("CONFIGS"), tuple):
        told["CONFIGS"] = [*order]
    found = [replace(each, place=each.place.lstrip(".")) for each in problems(told, shape)]
    if found:
        raise ScriptError(str(module.__file__), *found, remedy="docs/adding.md shows one.")
    given = {"words" if name == "FACETS" else name.lower(): of for name, of in told.items()}
    return Layout(**given)


def _function(value: Any) -> None:
    if not callable(value):
        raise ValueError("a function")


def _one(value: Any) -> None:
    if not value:
        raise ValueError("one config at least")
