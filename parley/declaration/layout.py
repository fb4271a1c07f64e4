"""What a dataset folder's `transcript.py` declares: which rows it lays out, and how.

docs/adding.md describes its names, but for `titles(folder, ids)`: from a folder that the user names
(`parley site --catalogue`) it gives the titles of judged documents, id -> title of those found.
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


@dataclass(frozen=True)
class Facet:
    """A column that the page filters by, and its words.

    Args:
        phrase: What a dialogue or a side with the value {} does: "used {}". It follows "in which",
            or "one side".
        without: What one without it does: "did not use {}".
        column: The column of a config, "strategies.labels"; a field within it,
            "dialogues.ratings.empathy"; or a config, "utterances", for the number of its rows.
    """

    phrase: str = ""
    without: str = ""
    _: KW_ONLY
    column: str


@dataclass(frozen=True)
class Layout:
    """The names of a `transcript.py`; without it, each config is laid out as its fields."""

    configs: Sequence[str]
    beside: Mapping[str, str] = field(default_factory=dict)
    tables: Mapping[str, str] = field(default_factory=dict)
    facets: Mapping[str, Facet] = field(default_factory=dict)
    speakers: Mapping[str, str] = field(default_factory=dict)
    said: Mapping[str, str] = field(default_factory=dict)
    transcript: Callable[..., object] | None = None
    titles: Callable[[Path, set[str]], Mapping[str, str]] | None = None


def layout_of(
    module: ModuleType, configs: "Mapping[str, Config | View]", meanings: Collection[str]
) -> Layout:
    """Return what a `transcript.py` declares; ScriptError names all mistakes.

    `meanings` has the columns that FACETS may name.
    """

    def facet(value: Any) -> None:
        if not isinstance(value, Facet):
            raise ValueError('a Facet, such as Facet("got {} points", column="sides.points")')
        for name, of in vars(value).items():
            if not isinstance(of, str):
                raise ValueError(f"a str as its `{name}`")
        if value.column not in (*configs, *meanings) or "[" in value.column:
            raise ValueError("CONFIG or CONFIG.COLUMN as its `column`")
        if any(phrase.count("{}") != 1 for phrase in (value.phrase, value.without) if phrase):
            raise ValueError("{} once in a phrase, where the value stands")

    columns = {f"{name}?": {*config.features} for name, config in configs.items()}
    shape: dict[str, Any] = {
        "CONFIGS": Checked([{*configs}], _one),
        "BESIDE?": columns,
        "TABLES?": columns,
    }
    shape |= {"FACETS?": {str: facet}, "SPEAKERS?": {str: str}, "transcript": _function}
    shape |= {"SAID?": dict.fromkeys(columns, str), "titles?": _function}
    names = [name.removesuffix("?") for name in shape]
    told = {name: value for name, value in vars(module).items() if name in names}
    if isinstance(order := told.get("CONFIGS"), tuple):
        told["CONFIGS"] = [*order]
    found = [replace(each, place=each.place.lstrip(".")) for each in problems(told, shape)]
    if found:
        raise ScriptError(str(module.__file__), *found, remedy="docs/adding.md shows one.")
    return Layout(**{name.lower(): value for name, value in told.items()})


def _function(value: Any) -> None:
    if not callable(value):
        raise ValueError("a function")


def _one(value: Any) -> None:
    if not value:
        raise ValueError("one config at least")
