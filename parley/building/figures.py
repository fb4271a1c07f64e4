"""Documented figures: a document's tables, each with the function that recomputes its cells.

The function is called once for each path of keys; its parameters after `data` receive the keys.
With fewer parameters than levels of keys, it returns a mapping for the remaining levels. The text
of a value states its precision. docs/adding.md shows figures and checks.
"""

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from statistics import mean, stdev
from typing import TYPE_CHECKING, Any, TypeAlias

from parley.base.errors import ParleyError
from parley.base.exact import is_number
from parley.base.nested import flat

__all__ = ["Data", "Differs", "MissingSplitError", "check", "counted", "differing", "documented"]
__all__ += ["mean_and_deviation", "moses_tokenizer"]

if TYPE_CHECKING:
    from parley.building.folder import BuiltFolder

    Data: TypeAlias = BuiltFolder
    """The build: `rows` and `named` (with names) of configs, `record`, `splits`, `features`."""
else:
    Data = object  # for types alone: the build, whose module imports this one

Value = int | float | str


class MissingSplitError(ParleyError):
    """A figure needs a split that was not built, since its source was missing."""


@dataclass(frozen=True)
class Differs:
    """A stated value, the different measured value, and the reason of the difference."""

    stated: Value
    measured: Value
    reason: str


def check(function: Callable[[Data], Iterator[str]]) -> Callable[[Data], Iterator[str]]:
    """Mark a function that yields a message for each violation of its docstring."""
    function.is_check = True  # type: ignore[attr-defined]
    return function


def differing(where: str, rows: list[dict[str, Any]], due: list[dict[str, Any]]) -> Iterator[str]:
    """Yield each difference between rows and those due: in number, and in the columns due."""
    if len(rows) != len(due):
        yield f"{where}: expected {len(due)} rows, found {len(rows)}"
    for number, (row, expected) in enumerate(zip(rows, due, strict=False)):
        for column, value in expected.items():
            if row[column] != value:
                found, due_value = (f"{each!r:.200}" for each in (row[column], value))
                yield f"{where}[{number}].{column}: expected {due_value}, found {found}"


def mean_and_deviation(values: Iterable[float]) -> tuple[float, float]:
    """Return the mean and the sample SD, the two figures of a cell "3.47 ± 1.31"."""
    found = list(values)
    return mean(found), stdev(found)


def moses_tokenizer(language: str) -> Callable[[str], list[str]]:
    """Return the Moses tokenizer of a language, which escapes nothing."""
    from sacremoses import MosesTokenizer

    tokenizer = MosesTokenizer(lang=language)
    # the same, but of a set that is made once and not for each token: half the time
    tokenizer.islower = frozenset(tokenizer.IsLower).issuperset
    return partial(tokenizer.tokenize, escape=False)


Keys = tuple[str, ...]
SPREAD = ("mean", "sd")  # the two figures of a cell "m ± s"


@dataclass(frozen=True)
class Table:
    """The stated cells of a document by their keys; a single value has no key."""

    place: str
    cells: Mapping[Keys, Value | Differs]
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
        function.table = Table(place, cells, not_reproducible)  # type: ignore[attr-defined]
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


def _require_value(name: str, cell: Value | Differs) -> None:
    if isinstance(cell, Differs) and not cell.reason:
        raise ValueError(f"{name}: expected the reason of the difference, found none")
    for value in (cell.stated, cell.measured) if isinstance(cell, Differs) else (cell,):
        if not isinstance(value, str) and not is_number(value):
            raise ValueError(f"{name}: expected text or a number, found {value!r:.60}")
        if isinstance(value, str) and _MARKED.fullmatch(value):
            raise ValueError(f"{name}: expected a number without % and comma: {value}")
