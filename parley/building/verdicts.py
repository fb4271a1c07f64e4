"""Computes figures and counts, and judges them: does a measured value round to the stated one?"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from inspect import isclass
from types import ModuleType
from typing import Any

from parley.base.exact import is_number, plain
from parley.base.extras import extra_of
from parley.building.figures import (
    SPREAD,
    Data,
    Differs,
    Keys,
    MissingSplitError,
    Table,
    Value,
    keys_taken,
)

MATCHES, DIFFERS, NOT_REPRODUCIBLE = "matches", "differs", "not reproducible"
NOT_CHECKED, UNEXPLAINED = "not checked", "UNEXPLAINED"
VERDICTS = (MATCHES, DIFFERS, NOT_REPRODUCIBLE, NOT_CHECKED, UNEXPLAINED)
_OF_SEVERAL = {MATCHES: "match", DIFFERS: "differ"}
A_SAMPLE = "this is the invented sample"
FAILED = "the computation failed"  # prefix of the reason if the function raised

Judged = tuple[Value | None, str, str]  # a value as written or None, a verdict and its reason


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


@dataclass(frozen=True)
class Count:
    """What a function marked with `counted` gave: its numbers, or the reason why there are none."""

    name: str  # the function's
    numbers: Mapping[str, Value]  # the name, and ".key" for each key -> the number as recorded
    reason: str = ""
    failed: bool = False  # whether the function is at fault, not the build or an extra


def every_count(module: ModuleType | None, data: Data) -> Iterator[Count]:
    """Compute and yield every count of a `figures.py`, in its order."""
    for function in marked(module, "counted"):
        numbers, verdict, reason = _compute(lambda data, of=function: _rounded(of, data), data, ())
        named = {".".join(keys): value for keys, value in numbers.items()}
        reason = "" if named else reason
        failed = bool(reason) and verdict != NOT_CHECKED
        yield Count(function.__name__, named, reason, failed)


def _rounded(function: Callable[[Data], Any], data: Data) -> dict[str, Value]:
    """Return the numbers that a function counts, by its name and keys, its decimals as text."""
    found: dict[str, Value] = {}
    decimals = function.counted  # type: ignore[attr-defined]
    for keys, value in _values(function(data), (function.__name__,)):
        name = ".".join(keys)
        if isinstance(value, str) or not math.isfinite(value):
            raise ValueError(f"{name}: expected a finite number, found {value!r:.60}")
        if name in found or re.search(r"[<>\n]", name):
            raise ValueError(f"{name!r:.60}: expected a name of its own, without < and >")
        whole = isinstance(value, int) or decimals is None
        found[name] = value if whole else f"{round(value, decimals) + 0.0:.{decimals}f}"
    return found


def figures(module: ModuleType | None, data: Data | None, why_not: str = "") -> Iterator[Figure]:
    """Recompute and yield every documented figure of a `figures.py`, in its order.

    Values that no document states come last for each function. With `why_not`, it computes none and
    needs no data: each is "not checked" for that reason.
    """
    for function in marked(module, "table"):
        table: Table = function.table  # type: ignore[attr-defined]
        calls: dict[Keys, tuple[dict[Keys, Value], str, str]] = {}
        for keys, stated, known in _stated(table):
            first = keys[: keys_taken(function)]
            if table.not_reproducible:
                calls[first] = {}, NOT_REPRODUCIBLE, table.not_reproducible
            elif why_not:
                calls[first] = {}, NOT_CHECKED, why_not
            elif first not in calls:
                calls[first] = _compute(function, data, first)
            measured, verdict, reason = calls[first]
            judged: Judged = (None, verdict, reason)
            if keys in measured:
                judged = judge(stated, measured[keys], known)
            yield _figure(function, keys, stated, judged)
        due = {keys for keys, *_ in _stated(table)}
        for measured, *_ in calls.values():
            for keys in sorted(measured.keys() - due):
                judged = (measured[keys], UNEXPLAINED, "the document states no such value")
                yield _figure(function, keys, "nothing", judged)


def recorded(module: ModuleType | None, found: Mapping[str, Mapping[str, Any]]) -> Iterator[Figure]:
    """Yield every documented figure of a `figures.py` with the verdict of `measured.json`."""
    not_yet = {"verdict": NOT_CHECKED, "reason": "was not measured yet"}
    for function in marked(module, "table"):
        table: Table = function.table  # type: ignore[attr-defined]
        for keys, stated, known in _stated(table):
            entry = found.get(".".join((function.__name__, *keys)), not_yet)
            verdict, reason = entry["verdict"], entry.get("reason", "")
            if table.not_reproducible:
                verdict, reason = NOT_REPRODUCIBLE, table.not_reproducible
            elif verdict == DIFFERS and known is not None:
                reason = known.reason
            yield _figure(function, keys, stated, (entry.get("measured"), verdict, reason))


def _figure(function: Callable[..., Any], keys: Keys, stated: Value, judged: Judged) -> Figure:
    name = ".".join((function.__name__, *keys))
    place = function.table.place.format(*keys)  # type: ignore[attr-defined]
    return Figure(name, stated, place, definition_of(function), *judged)


def definition_of(function: Callable[..., Any]) -> str:
    """Return the first paragraph of a function's docstring, on one line."""
    return " ".join((function.__doc__ or "").split("\n\n")[0].split())


def _stated(table: Table) -> Iterator[tuple[Keys, Value, Differs | None]]:
    """Yield each figure of a table, two of "m ± s", with its known difference."""
    for keys, cell in table.cells.items():
        known = cell if isinstance(cell, Differs) else None
        stated = cell.stated if isinstance(cell, Differs) else cell
        if not (isinstance(stated, str) and " ± " in stated):
            yield keys, stated, known
            continue
        found = str(known.measured if known else stated).split(" ± ")
        for name, said, measured in zip(SPREAD, stated.split(" ± "), found, strict=True):
            differs = Differs(said, measured, known.reason) if known and said != measured else None
            yield (*keys, name), said, differs


def _compute(
    function: Callable[..., Any], data: Data | None, keys: Keys
) -> tuple[dict[Keys, Value], str, str]:
    """Return the values that a function gives for these keys, by all their keys.

    Also the verdict and the reason of a value that it does not give.
    """
    try:
        found = dict(_values(function(data, *keys), keys))
        return found, UNEXPLAINED, "the computation gives no such value"
    except MissingSplitError as error:
        return {}, NOT_CHECKED, str(error)
    except ModuleNotFoundError as error:
        if not (extra := extra_of(error.name or "")):
            raise
        reason = f"the package {error.name} is not installed; it is in the extra `{extra}`"
        return {}, NOT_CHECKED, reason
    except MemoryError:  # blames no script
        raise
    except Exception as error:  # one failing figure must not hide the others
        return {}, UNEXPLAINED, f"{FAILED}: {type(error).__name__}: {error}"


def _values(found: Any, keys: Keys) -> Iterator[tuple[Keys, Value]]:
    """Yield each value of a result by its keys; TypeError if it is no text or number."""
    if isinstance(found, tuple):
        found = dict(zip(SPREAD, found, strict=True))
    if isinstance(found, Mapping):
        for key, inner in found.items():
            yield from _values(inner, (*keys, str(key)))  # damaged rows can give a null key
    elif isinstance(value := plain(found), str) or is_number(value):
        yield keys, value
    else:
        raise TypeError(f"expected text, a float or an integer of 64 bits, found {found!r:.60}")


def judge(documented: Value, measured: Value, known: Differs | None) -> Judged:
    """Return the measured value as written, the verdict, and the reason."""
    shown = written(measured, documented)
    matches = agrees(documented, measured)
    if known is None:
        return (shown, MATCHES, "") if matches else (shown, UNEXPLAINED, "unexplained difference")
    if matches:
        said = f"was known to differ ({known.measured}: {known.reason}), and does so no longer"
        return shown, UNEXPLAINED, said
    if agrees(known.measured, measured):
        return written(measured, known.measured), DIFFERS, known.reason
    return shown, UNEXPLAINED, f"was known to be {known.measured} ({known.reason})"


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
