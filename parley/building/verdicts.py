"""Computes figures and counts, and judges them: does a measured value round to the stated one?"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
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
NO_LONGER = "and does so no longer"  # suffix of the reason if a known difference is gone


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

    def as_dict(self) -> dict[str, Any]:
        """Return the figure for JSON."""
        return asdict(self)


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
        name = function.__name__
        outcome = _compute(lambda data, count=function: _rounded(count, data), data, ())
        numbers = {".".join(keys): value for keys, value in outcome.measured.items()}
        reason = "" if numbers else outcome.reason
        yield Count(name, numbers, reason, bool(reason) and outcome.verdict != NOT_CHECKED)


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


def figures(module: ModuleType | None, data: Data | None, why_not: str = "") -> Iterator[Figure]:
    """Recompute and yield every documented figure of a `figures.py`, in its order.

    With `why_not`, it computes none and needs no data: each is "not checked" for that reason.
    """
    for function in marked(module, "table"):
        yield from _judged(function, data, why_not)


def recorded(module: ModuleType | None, found: Mapping[str, Mapping[str, Any]]) -> Iterator[Figure]:
    """Yield every documented figure of a `figures.py` with its recorded verdict.

    `found` is name -> measured, verdict, and the reason of what was not checked.
    """
    not_yet = {"verdict": NOT_CHECKED, "reason": "was not measured yet"}
    for function in marked(module, "table"):
        table: Table = function.table  # type: ignore[attr-defined]
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


def _judged(function: Callable[..., Any], data: Data | None, why_not: str) -> Iterator[Figure]:
    table: Table = function.table  # type: ignore[attr-defined]
    taken = 0 if table.not_reproducible else keys_taken(function)
    calls: dict[Keys, dict[Keys, Value | Differs]] = {}
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
            rest: Keys, stated: Value, judged: tuple[Value | None, str, str], keys: Keys = keys
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
    keys: Keys, cell: Value | Differs
) -> Iterator[tuple[Keys, tuple[Value, Differs | None]]]:
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

    measured: Mapping[Keys, Value]
    verdict: str = UNEXPLAINED
    reason: str = "the computation gives no such value"


def _compute(function: Callable[..., Any], data: Data | None, keys: Keys) -> _Outcome:
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


def _measured(found: Any, keys: Keys) -> Iterator[tuple[Keys, Value]]:
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
