"""Documented figures: a document's tables, each with the function that recomputes its cells.

A dataset folder's `figures.py` holds each documented value as printed, above the function that
computes it from the built rows:

    @documented("paper, appendix A", {"gender": {"female": 472, "male": 372, "other": 2}})
    def participants(data: Data, about: str, value: str) -> int:
        \"\"\"Participants by what they say of themselves.\"\"\"
        return sum(person["demographics"][about] == value for person in people(data))

The function is called once for each path of keys; its parameters after `data` receive the keys.
With fewer parameters than levels of keys, it returns a mapping for the remaining levels. A table of
one value is just the value. The text of a value states its precision: 846 must be equal; "36.97"
has two decimals, so 36.965 to 36.975 matches; "17e3" counts thousands. A cell "3.47 ± 1.31" is two
figures; its function returns both. A cell of None is empty. A number of numpy counts as the
equal one of Python.

`ROWS` (config -> split -> rows) holds documented rows of splits. The card and `parley list` show
them for splits that were not built.

`checks.py` holds the checks, one function each, marked with `check`.
"""

import inspect
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from decimal import Decimal, InvalidOperation
from functools import partial
from statistics import mean, stdev
from types import ModuleType
from typing import Any, Protocol

from parley.base.errors import ParleyError
from parley.base.exact import is_number, plain
from parley.base.extras import extra_of

Value = int | float | str
MATCHES, DIFFERS, NOT_REPRODUCIBLE = "matches", "differs", "not reproducible"
NOT_CHECKED, UNEXPLAINED = "not checked", "UNEXPLAINED"
VERDICTS = (MATCHES, DIFFERS, NOT_REPRODUCIBLE, NOT_CHECKED, UNEXPLAINED)
_OF_SEVERAL = {MATCHES: "match", DIFFERS: "differ"}
A_SAMPLE = "this is the invented sample"
FAILED = "the computation failed"  # prefix of the reason if the function raised
NO_LONGER = "and does so no longer"  # suffix of the reason if a known difference is gone


def tally(verdicts: Iterable[str]) -> str:
    """Count figures by verdict: "66 match, 1 differs, 9 not reproducible"."""
    counts = Counter(verdicts)
    return ", ".join(
        f"{count} {verdict if count == 1 else _OF_SEVERAL.get(verdict, verdict)}"
        for verdict in VERDICTS
        if (count := counts[verdict])
    )


class Data(Protocol):
    """The rows of a build, for figures, checks and exports."""

    def features(self, config: str) -> Any:
        """Return the `datasets.Features` of a config."""

    def record(self, config: str, row: dict[str, Any]) -> Any:
        """Return the upstream record of a row of a lossless config."""

    def splits(self, config: str) -> list[str]:
        """Return the existing splits of a config."""

    def rows(self, config: str, *splits: str) -> list[dict[str, Any]]:
        """Return the rows of these splits, in order; a row raises TypeError on a change.

        Raises:
            MissingSplitError: one of them was not built.
        """

    def named(self, config: str, *splits: str) -> list[dict[str, Any]]:
        """Return the same rows with names of labels instead of numbers."""


class MissingSplitError(ParleyError):
    """A figure needs a split that was not built, since its source was missing."""


@dataclass(frozen=True)
class Differs:
    """A stated value, the different measured value, and the reason of the difference."""

    stated: Value
    measured: Value
    reason: str


@dataclass(frozen=True)
class Figure:
    """One documented figure and its verdict."""

    name: str  # the function's, and for a cell of a table ".key" for each of its keys
    documented: Value
    place: str  # the document and the place in it
    definition: str  # what is computed
    measured: Value | None  # as written; None if not computed
    verdict: str  # one of VERDICTS
    reason: str = ""  # why it is not "matches"

    @property
    def stated(self) -> str:
        """The documented value in words: "about 17000" for "17e3"."""
        text = str(self.documented)
        return f"about {Decimal(text):f}" if (_exponent(text) or 0) > 0 else text

    def as_dict(self) -> dict[str, Any]:
        """Return the figure for JSON."""
        return asdict(self)


def check(function: Callable[[Data], Iterator[str]]) -> Callable[[Data], Iterator[str]]:
    """Mark a function that yields a message for each violation of its docstring."""
    function.is_check = True  # type: ignore[attr-defined]
    return function


def checks_of(module: ModuleType | None) -> list[Callable[[Data], Iterator[str]]]:
    """Return the functions of a `checks.py` that are marked with `check`, in its order."""
    values = vars(module).values() if module else ()
    return [value for value in values if getattr(value, "is_check", False)]


def differing(where: str, rows: list[dict[str, Any]], due: list[dict[str, Any]]) -> Iterator[str]:
    """Yield each difference between rows and those due: in number, and in the columns due."""
    if len(rows) != len(due):
        yield f"{where}: expected {len(due)} rows, found {len(rows)}"
    for number, (row, expected) in enumerate(zip(rows, due, strict=False)):
        for column, value in expected.items():
            if row[column] != value:
                found, due_value = (f"{each!r:.200}" for each in (row[column], value))
                yield f"{where}[{number}].{column}: expected {due_value}, found {found}"


def related_rows(
    data: Data, view: str, whole: str
) -> Iterator[tuple[str, list[dict[str, Any]], list[dict[str, Any]]]]:
    """Yield for each split that view and config share: its place, the view's and the config's rows.

    The view's rows have names of labels.
    """
    for split in data.splits(view):
        if split in data.splits(whole):
            yield f"{view}/{split}", data.named(view, split), data.rows(whole, split)


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


_Keys = tuple[str, ...]
SPREAD = ("mean", "sd")  # the two figures of a cell "m ± s"


@dataclass(frozen=True)
class _Table:
    """The stated cells of a document by their keys; a single value has no key."""

    place: str
    cells: Mapping[_Keys, Value | Differs]
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
    cells = dict(_cells(table, ()))

    def mark(function: Callable[..., Any]) -> Callable[..., Any]:
        taken = _keys_taken(function)
        if not not_reproducible and taken > (least := min(map(len, cells), default=0)):
            raise ValueError(f"{function.__name__} takes {taken} keys, a cell has {least}")
        function.table = _Table(place, cells, not_reproducible)  # type: ignore[attr-defined]
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


@dataclass(frozen=True)
class Count:
    """What a function marked with `counted` gave: its numbers, or the reason why there are none."""

    name: str  # the function's
    numbers: Mapping[str, Value]  # the name, and ".key" for each key -> the number as recorded
    reason: str = ""
    failed: bool = False  # whether the function is at fault, not the build or an extra


def every_count(module: ModuleType | None, data: Data) -> Iterator[Count]:
    """Compute and yield every count of a `figures.py`, in its order."""
    for function in counted_in(module):
        name = function.__name__
        outcome = _compute(lambda data, count=function: _rounded(count, data), data, ())
        numbers = {".".join(keys): value for keys, value in outcome.measured.items()}
        reason = "" if numbers else outcome.reason
        yield Count(name, numbers, reason, bool(reason) and outcome.verdict != NOT_CHECKED)


def counted_in(module: ModuleType | None) -> list[Callable[[Data], Any]]:
    """Return the functions of a `figures.py` that are marked with `counted`."""
    values = vars(module).values() if module else ()
    return [value for value in values if hasattr(value, "counted")]


def _rounded(function: Callable[[Data], Any], data: Data) -> dict[str, Value]:
    """Return the numbers that a function counts, by its name and keys, its decimals as text."""
    found: dict[str, Value] = {}
    decimals = function.counted  # type: ignore[attr-defined]
    for keys, value in _measured(function(data), (function.__name__,)):
        if isinstance(value, str) or not math.isfinite(value):
            raise ValueError(f"{'.'.join(keys)}: expected a finite number, found {value!r:.60}")
        name = ".".join(keys)
        if name in found or re.search(r"[<>\n]", name):
            raise ValueError(f"{name!r:.60}: expected a name of its own, without < and >")
        whole = isinstance(value, int) or decimals is None
        found[name] = value if whole else f"{round(value, decimals) + 0.0:.{decimals}f}"
    return found


def _keys_taken(function: Callable[..., Any]) -> int:
    """Return the number of a computation's parameters after `data`."""
    return len(inspect.signature(function).parameters) - 1


def _cells(table: Any, keys: _Keys) -> Iterator[tuple[_Keys, Value | Differs]]:
    if isinstance(table, Mapping):
        for key, inner in table.items():
            yield from _cells(inner, (*keys, key))
    elif table is not None:
        stated = (table.stated, table.measured) if isinstance(table, Differs) else (table,)
        for value in stated:
            if not isinstance(value, str) and not is_number(value):
                raise ValueError(
                    f"{'.'.join(keys)}: expected text or a number, found {value!r:.60}"
                )
        yield keys, table


def figures(module: ModuleType | None, data: Data | None, why_not: str = "") -> Iterator[Figure]:
    """Recompute and yield every documented figure of a `figures.py`, in its order.

    With `why_not`, it computes none and needs no data: each is "not checked" for that reason.
    """
    for function, table in _tables(module):
        yield from _judged(function, table, data, why_not)


def _tables(module: ModuleType | None) -> Iterator[tuple[Callable[..., Any], _Table]]:
    """Yield each computation of a `figures.py` with its table, in order."""
    for function in vars(module).values() if module else ():
        if isinstance(table := getattr(function, "table", None), _Table):
            yield function, table


def recorded(module: ModuleType | None, found: Mapping[str, Mapping[str, Any]]) -> Iterator[Figure]:
    """Yield every documented figure of a `figures.py` with its recorded verdict.

    `found` is name -> measured, verdict, and the reason of what was not checked.
    """
    not_yet = {"verdict": NOT_CHECKED, "reason": "was not measured yet"}
    for function, table in _tables(module):
        parts = (each for keys, cell in table.cells.items() for each in _parts(keys, cell))
        for part, (stated, known) in parts:
            name = ".".join((function.__name__, *part))
            entry = found.get(name, not_yet)
            verdict, reason = entry["verdict"], entry.get("reason", "")
            if table.not_reproducible:
                verdict, reason = NOT_REPRODUCIBLE, table.not_reproducible
            elif verdict == DIFFERS and known is not None:
                reason = known.reason
            place, about = table.place.format(*part), definition_of(function)
            yield Figure(name, stated, place, about, entry.get("measured"), verdict, reason)


def definition_of(function: Callable[..., Any]) -> str:
    """Return the first paragraph of a function's docstring, on one line."""
    return " ".join((function.__doc__ or "").split("\n\n")[0].split())


def _judged(
    function: Callable[..., Any], table: _Table, data: Data | None, why_not: str
) -> Iterator[Figure]:
    taken = 0 if table.not_reproducible else _keys_taken(function)
    calls: dict[_Keys, dict[_Keys, Value | Differs]] = {}
    for keys, cell in table.cells.items():
        calls.setdefault(keys[:taken], {})[keys[taken:]] = cell
    for keys, cells in calls.items():
        due = {part: stated for rest, cell in cells.items() for part, stated in _parts(rest, cell)}
        if table.not_reproducible:
            outcome = _Outcome({}, NOT_REPRODUCIBLE, table.not_reproducible)
        elif why_not:
            outcome = _Outcome({}, NOT_CHECKED, why_not)
        else:
            outcome = _compute(function, data, keys)

        def figure(
            rest: _Keys, stated: Value, judged: tuple[Value | None, str, str], keys: _Keys = keys
        ) -> Figure:
            name = ".".join((function.__name__, *keys, *rest))
            place = table.place.format(*keys, *rest)
            return Figure(name, stated, place, definition_of(function), *judged)

        for rest, (stated, known) in due.items():
            if rest in outcome.measured:
                yield figure(rest, stated, judge(stated, outcome.measured[rest], known))
            else:
                yield figure(rest, stated, (None, outcome.verdict, outcome.reason))
        for rest in sorted(outcome.measured.keys() - due.keys()):
            reason = "the document states no such value"
            yield figure(rest, "nothing", (outcome.measured[rest], UNEXPLAINED, reason))


def _parts(
    keys: _Keys, cell: Value | Differs
) -> Iterator[tuple[_Keys, tuple[Value, Differs | None]]]:
    """Yield each figure of a cell, two of "m ± s", with its known difference."""
    known = cell if isinstance(cell, Differs) else None
    stated = cell.stated if isinstance(cell, Differs) else cell
    if not (isinstance(stated, str) and " ± " in stated):
        yield keys, (stated, known)
        return
    found = str(known.measured if known else stated).split(" ± ")
    for name, said, measured in zip(SPREAD, stated.split(" ± "), found, strict=True):
        differs = Differs(said, measured, known.reason) if known and said != measured else None
        yield (*keys, name), (said, differs)


@dataclass(frozen=True)
class _Outcome:
    """Computed values by remaining keys; the verdict and reason for missing ones."""

    measured: Mapping[_Keys, Value]
    verdict: str = UNEXPLAINED
    reason: str = "the computation gives no such value"


def _compute(function: Callable[..., Any], data: Data | None, keys: _Keys) -> _Outcome:
    try:
        return _Outcome(dict(_measured(function(data, *keys), ())))
    except MissingSplitError as error:
        return _Outcome({}, NOT_CHECKED, str(error))
    except ModuleNotFoundError as error:
        if not (extra := extra_of(error.name or "")):
            raise
        reason = f"the package {error.name} is not installed; it is in the extra `{extra}`"
        return _Outcome({}, NOT_CHECKED, reason)
    except MemoryError:  # blames no script
        raise
    except Exception as error:  # one failing figure must not hide the others
        reason = f"{FAILED}: {type(error).__name__}: {error}"
        return _Outcome({}, UNEXPLAINED, reason)


def _measured(found: Any, keys: _Keys) -> Iterator[tuple[_Keys, Value]]:
    if isinstance(found, Mapping):
        for key, inner in found.items():
            yield from _measured(inner, (*keys, str(key)))  # damaged rows can give a null key
    elif isinstance(found, tuple):
        for name, value in zip(SPREAD, found, strict=True):
            yield from _measured(value, (*keys, name))
    elif isinstance(value := plain(found), str) or is_number(value):
        yield keys, value
    else:
        raise TypeError(f"expected text, a float or an integer of 64 bits, found {found!r:.60}")


def judge(documented: Value, measured: Value, known: Differs | None) -> tuple[Value, str, str]:
    """Return the measured value as written, the verdict, and the reason."""
    shown = written(measured, documented)
    if agrees(documented, measured):
        if known is None:
            return shown, MATCHES, ""
        reason = f"was known to differ ({known.measured}: {known.reason}), {NO_LONGER}"
        return shown, UNEXPLAINED, reason
    if known is not None and agrees(known.measured, measured):
        return written(measured, known.measured), DIFFERS, known.reason
    if known is not None:
        return shown, UNEXPLAINED, f"was known to be {known.measured} ({known.reason})"
    return shown, UNEXPLAINED, "unexplained difference"


def agrees(stated: Value, measured: Value) -> bool:
    """Tell whether a measured value rounds to the stated one."""
    exponent = _exponent(stated)
    if exponent is None:
        return type(measured) is type(stated) and measured == stated
    if isinstance(measured, str) or not math.isfinite(measured):
        return False
    half = Decimal(5).scaleb(exponent - 1)
    # slightly more than half a unit: a value exactly between may have been rounded either way
    return abs(Decimal(measured) - Decimal(str(stated))) <= half + Decimal("1e-9")


def written(measured: Value, like: Value) -> Value:
    """Return a measured number with the decimals of a stated value."""
    exponent = _exponent(like)
    if exponent is None or isinstance(measured, str) or not math.isfinite(measured):
        return measured if not isinstance(measured, float) else repr(measured)
    return f"{Decimal(measured):.{max(0, -exponent)}f}"


def _exponent(value: Value) -> int | None:
    """Return the exponent of a stated value's last digit; None if it is exact or no number."""
    if not isinstance(value, str):
        return None
    try:
        exponent = Decimal(value).as_tuple().exponent
    except InvalidOperation:
        return None
    return exponent if isinstance(exponent, int) else None
