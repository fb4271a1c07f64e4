"""Recomputes documented figures and counts, and judges them."""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from parley.base.errors import MissingSplitError, words_of
from parley.base.extras import extra_of
from parley.base.numbers import FigureValue, agrees, is_number, with_decimals
from parley.base.values import without_numpy
from parley.declaration.figures import (
    DIFFERS,
    MATCHES,
    NOT_CHECKED,
    NOT_REPRODUCIBLE,
    SPREAD,
    UNEXPLAINED,
    Data,
    Differs,
    Figure,
    Keys,
    Outcome,
    StatedTable,
    figure_of,
    keys_taken,
    marked,
    stated_cells,
)

FAILED = "the computation failed"  # prefix of the reason if the function raised


@dataclass(frozen=True)
class Count:
    """What a function marked with `counted` gave: its numbers, or the reason why there are none."""

    name: str  # the function's
    numbers: Mapping[str, FigureValue]  # the name, and ".key" for each key -> the recorded number
    reason: str = ""
    failed: bool = False  # whether the function is at fault, not the build or an extra


def every_count(module: ModuleType | None, data: Data) -> Iterator[Count]:
    """Compute and yield every count of a `figures.py`, in its order."""
    for function in marked(module, "counted"):
        numbers, verdict, reason = _compute(lambda data, of=function: _rounded(of, data), data, ())
        by_name = {".".join(keys): value for keys, value in numbers.items()}
        reason = "" if by_name else reason
        yield Count(function.__name__, by_name, reason, bool(reason) and verdict != NOT_CHECKED)


def _rounded(function: Callable[[Data], Any], data: Data) -> dict[str, FigureValue]:
    """Return the numbers that a function counts, by its name and keys, its decimals as text."""
    found: dict[str, FigureValue] = {}
    decimals = function.counted  # type: ignore[attr-defined]
    for keys, value in _values_by_keys(function(data), (function.__name__,)):
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
        table: StatedTable = function.table  # type: ignore[attr-defined]
        calls: dict[Keys, tuple[dict[Keys, FigureValue], str, str]] = {}
        for keys, stated, known in stated_cells(table):
            first = keys[: keys_taken(function)]
            if table.not_reproducible:
                calls[first] = {}, NOT_REPRODUCIBLE, table.not_reproducible
            elif why_not:
                calls[first] = {}, NOT_CHECKED, why_not
            elif first not in calls:
                calls[first] = _compute(function, data, first)
            measured, verdict, reason = calls[first]
            judged: Outcome = (None, verdict, reason)
            if keys in measured:
                judged = judge(stated, measured[keys], known)
            yield figure_of(function, keys, stated, judged)
        due = {keys for keys, *_ in stated_cells(table)}
        for measured, *_ in calls.values():
            for keys in sorted(measured.keys() - due):
                judged = (measured[keys], UNEXPLAINED, "the document states no such value")
                yield figure_of(function, keys, "nothing", judged)


def _compute(
    function: Callable[..., Any], data: Data | None, keys: Keys
) -> tuple[dict[Keys, FigureValue], str, str]:
    """Return the values that a function gives for these keys, by all their keys.

    Also the verdict and the reason of a value that it does not give.
    """
    try:
        found = dict(_values_by_keys(function(data, *keys), keys))
        return found, UNEXPLAINED, "the computation gives no such value"
    except MissingSplitError as error:
        return {}, NOT_CHECKED, str(error)
    except ModuleNotFoundError as error:
        if not (extra := extra_of(error.name or "")):
            raise
        reason = f"the package {error.name} is not installed; it is in the extra `{extra}`"
        return {}, NOT_CHECKED, reason
    except Exception as error:  # one failing figure must not hide the others
        return {}, UNEXPLAINED, f"{FAILED}: {words_of(error)}"


def _values_by_keys(found: Any, keys: Keys) -> Iterator[tuple[Keys, FigureValue]]:
    """Yield each value of a result by its keys; TypeError if it is no text or number."""
    if isinstance(found, tuple):
        found = dict(zip(SPREAD, found, strict=True))
    if isinstance(found, Mapping):
        for key, inner in found.items():
            yield from _values_by_keys(inner, (*keys, str(key)))  # damaged rows can give a null key
    elif isinstance(value := without_numpy(found), str) or is_number(value):
        yield keys, value
    else:
        raise TypeError(f"expected text, a float or an integer of 64 bits, found {found!r:.60}")


def judge(documented: FigureValue, measured: FigureValue, known: Differs | None) -> Outcome:
    """Return the measured value as written, the verdict, and the reason."""
    shown = with_decimals(measured, documented)
    matches = agrees(documented, measured)
    if known is None:
        return (shown, MATCHES, "") if matches else (shown, UNEXPLAINED, "unexplained difference")
    if matches:
        reason = f"was known to differ ({known.measured}: {known.reason}), and does so no longer"
        return shown, UNEXPLAINED, reason
    if agrees(known.measured, measured):
        return with_decimals(measured, known.measured), DIFFERS, known.reason
    shown = with_decimals(measured, known.measured)
    return shown, UNEXPLAINED, f"was known to be {known.measured!r} ({known.reason})"
