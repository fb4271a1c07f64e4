"""Documented figures: a document's tables, each with the function that recomputes its cells.

The function is called once for each path of keys; its parameters after `data` receive the keys.
With fewer parameters than levels of keys, it returns a mapping for the remaining levels. The text
of a value states its precision. docs/adding.md shows figures and checks.
"""

import inspect
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from inspect import isclass
from types import ModuleType
from typing import Any, Protocol

from parley.base.numbers import FigureValue, exponent_of, is_number
from parley.base.values import flat


class Data(Protocol):
    """A build, as `parley.open` returns it."""

    @property
    def is_sample(self) -> bool:
        """Whether it is built from the sample."""

    def rows(self, config: str, *splits: str) -> list[dict[str, Any]]:
        """Return the rows of these splits, or of all that were built."""

    def rows_with_names(self, config: str, *splits: str) -> list[dict[str, Any]]:
        """Return what `rows` does, with the names of labels instead of their numbers."""

    def splits(self, config: str) -> list[str]:
        """Return the splits of a config that were built."""

    def record(self, config: str, row: dict[str, Any]) -> Any:
        """Return the upstream record of a row of a lossless config."""

    def features(self, config: str) -> Any:
        """Return the `datasets.Features` of a config."""


@dataclass(frozen=True)
class Differs:
    """A stated value, the different measured value, and the reason of the difference."""

    stated: FigureValue
    measured: FigureValue
    reason: str


def check(function: Callable[[Data], Iterator[str]]) -> Callable[[Data], Iterator[str]]:
    """Mark a function that yields a message for each violation of its docstring."""
    function.is_check = True  # type: ignore[attr-defined]
    return function


Keys = tuple[str, ...]
SPREAD = ("mean", "sd")  # the two figures of a cell "m ± s"


@dataclass(frozen=True)
class StatedTable:
    """The stated cells of a document by their keys; a single value has no key."""

    place: str
    cells: Mapping[Keys, FigureValue | Differs]
    not_reproducible: str


def documented(
    place: str, table: Any, *, not_reproducible: str = ""
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Mark a function as the computation of a documented figure or table.

    Args:
        place: Document and place in it; "{0}" stands for a cell's first key, and so on.
        table: The stated values: a value, a `Differs`, or nested mappings of them.
        not_reproducible: The reason if the data cannot give them; the function is not called.

    Raises:
        ValueError: the function takes more keys than a cell has, or a value is no text or number.
    """
    cells = {keys: cell for keys, cell in flat(table).items() if cell is not None}
    for keys, cell in cells.items():
        _require_value(".".join(keys), cell)

    def mark(function: Callable[..., Any]) -> Callable[..., Any]:
        taken = keys_taken(function)
        if not not_reproducible and taken > (least := min(map(len, cells), default=0)):
            raise ValueError(f"{function.__name__} takes {taken} keys, a cell has {least}")
        function.table = StatedTable(place, cells, not_reproducible)  # type: ignore[attr-defined]
        return function

    return mark


def counted(
    *, decimals: int | None = None
) -> Callable[[Callable[[Data], Any]], Callable[[Data], Any]]:
    """Mark a function of the build that counts something that no document of others states.

    It returns a number, or nested mappings of numbers. `parley build --measure` records them, cards
    take them from there, and `parley verify` compares them.

    Args:
        decimals: The decimals to which its floats are rounded.
    """

    def mark(function: Callable[[Data], Any]) -> Callable[[Data], Any]:
        function.counted = decimals  # type: ignore[attr-defined]
        return function

    return mark


def keys_taken(function: Callable[..., Any]) -> int:
    """Return the number of a computation's parameters after `data`."""
    return len(inspect.signature(function).parameters) - 1


_MARKED = re.compile(r"(?=.*[,%])[-+]?[\d.,]*\d\s*%?")  # a number that none is compared with


def _require_value(name: str, cell: FigureValue | Differs) -> None:
    if isinstance(cell, Differs) and not cell.reason:
        raise ValueError(f"{name}: expected the reason of the difference, found none")
    for value in (cell.stated, cell.measured) if isinstance(cell, Differs) else (cell,):
        if not isinstance(value, str) and not is_number(value):
            raise ValueError(f"{name}: expected text or a number, found {value!r:.60}")
        if isinstance(value, str) and _MARKED.fullmatch(value):
            raise ValueError(f"{name}: expected a number without % and comma: {value}")


MATCHES, DIFFERS, NOT_REPRODUCIBLE = "matches", "differs", "not reproducible"
NOT_CHECKED, UNEXPLAINED = "not checked", "UNEXPLAINED"
VERDICTS = (MATCHES, DIFFERS, NOT_REPRODUCIBLE, NOT_CHECKED, UNEXPLAINED)
_OF_SEVERAL = {MATCHES: "match", DIFFERS: "differ"}
A_SAMPLE = "this is the invented sample"
Outcome = tuple[FigureValue | None, str, str]
"""A value as written or None, a verdict and its reason."""


def tally(verdicts: Iterable[str]) -> str:
    """Count figures by verdict: "66 match, 1 differs, 9 not reproducible"."""
    counts = Counter(verdicts)
    return ", ".join(
        f"{count} {verdict if count == 1 else _OF_SEVERAL.get(verdict, verdict)}"
        for verdict in VERDICTS
        if (count := counts[verdict])
    )


@dataclass(frozen=True)
class Figure:
    """One documented figure and its verdict."""

    name: str  # the function's, and for a cell of a table ".key" for each of its keys
    documented: FigureValue
    place: str  # the document and the place in it
    definition: str  # what is computed
    measured: FigureValue | None  # as written; None if not computed
    verdict: str  # one of VERDICTS
    reason: str = ""  # why it is not "matches"

    @property
    def stated(self) -> str:
        """The documented value in words: "about 17000" for "17e3"."""
        text = str(self.documented)
        return f"about {Decimal(text):f}" if (exponent_of(text) or 0) > 0 else text


def marked(module: ModuleType | None, mark: str) -> list[Callable[..., Any]]:
    """Return a module's functions that have a mark, in its order.

    `check` leaves the mark "is_check", `counted` "counted" and `documented` "table".
    """
    values = vars(module).values() if module else ()
    return [
        value
        for value in values  # also of functools.cache
        if callable(value) and not isclass(value) and hasattr(value, mark)
    ]


def recorded_figures(
    module: ModuleType | None, found: Mapping[str, Mapping[str, Any]]
) -> Iterator[Figure]:
    """Yield every documented figure of a `figures.py` with the verdict of `measured.json`."""
    not_yet = {"verdict": NOT_CHECKED, "reason": "was not measured yet"}
    for function in marked(module, "table"):
        table: StatedTable = function.table  # type: ignore[attr-defined]
        for keys, stated, known in stated_cells(table):
            entry = found.get(".".join((function.__name__, *keys)), not_yet)
            verdict, reason = entry["verdict"], entry.get("reason", "")
            if table.not_reproducible:
                verdict, reason = NOT_REPRODUCIBLE, table.not_reproducible
            elif verdict == DIFFERS and known is not None:
                reason = known.reason
            yield figure_of(function, keys, stated, (entry.get("measured"), verdict, reason))


def figure_of(
    function: Callable[..., Any], keys: Keys, stated: FigureValue, judged: Outcome
) -> Figure:
    """Return the figure of a cell of a function's table."""
    name = ".".join((function.__name__, *keys))
    place = function.table.place.format(*keys)  # type: ignore[attr-defined]
    return Figure(name, stated, place, definition_of(function), *judged)


def definition_of(function: Callable[..., Any]) -> str:
    """Return the first paragraph of a function's docstring, on one line."""
    return " ".join((function.__doc__ or "").split("\n\n")[0].split())


def stated_cells(table: StatedTable) -> Iterator[tuple[Keys, FigureValue, Differs | None]]:
    """Yield each figure of a table, two of "m ± s", with its known difference."""
    for keys, cell in table.cells.items():
        known = cell if isinstance(cell, Differs) else None
        stated = cell.stated if isinstance(cell, Differs) else cell
        if not (isinstance(stated, str) and " ± " in stated):
            yield keys, stated, known
            continue
        found = str(known.measured if known else stated).split(" ± ")
        for name, value, measured in zip(SPREAD, stated.split(" ± "), found, strict=True):
            differs = None
            if known and value != measured:
                differs = Differs(value, measured, known.reason)
            yield (*keys, name), value, differs
