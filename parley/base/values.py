"""Values: nested mappings flattened and back, their texts, numbers, exact differences, frozen rows.

A number of the field is a float or an integer of 64 bits; a documented one is a text that says its
precision, and agrees with each measured one that rounds to it.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import is_dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, NoReturn


def flat(tree: Any, path: tuple[str, ...] = ()) -> dict[tuple[str, ...], Any]:
    """Return the values of nested mappings, by the names that lead to them; () for one alone."""
    if not isinstance(tree, Mapping):
        return {path: tree}
    leaves: dict[tuple[str, ...], Any] = {}
    for name, value in tree.items():
        leaves |= flat(value, (*path, name))
    return leaves


def tree(leaves: Mapping[Any, Any]) -> dict[str, Any]:
    """Return nested mappings of values by tuples of names: the inverse of `flat`."""
    nested: dict[str, Any] = {}
    for path, value in leaves.items():
        inner = nested
        for name in path[:-1]:
            inner = inner.setdefault(name, {})
        inner[path[-1]] = value
    return nested


def strings(value: Any) -> Iterator[str]:
    """Yield the texts within a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list | tuple):
        for item in value.values() if isinstance(value, dict) else value:
            yield from strings(item)
    elif is_dataclass(value):
        yield from strings(list(vars(value).values()))


def without_numpy(value: Any) -> Any:
    """Return a value with those of numpy, also within, as the equal ones of Python, if any."""
    import numpy as np  # not at the top: help must be quick

    if isinstance(value, Mapping):
        return {without_numpy(key): without_numpy(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [without_numpy(item) for item in value]
    return value.item() if isinstance(value, np.generic) else value


def is_number(value: Any) -> bool:
    """Tell whether a value is a float or an integer of 64 bits; true and false are neither."""
    if isinstance(value, int) and not isinstance(value, bool):
        return -(2**63) <= value < 2**63
    return isinstance(value, float)


def is_unicode(text: str) -> bool:
    """Tell whether a text has no lone surrogate, which no file can hold."""
    return text.isascii() or not re.search("[\ud800-\udfff]", text)


def is_values(value: Any) -> bool:
    """Tell whether a value is a list, a tuple or an array of numpy."""
    return isinstance(value, list | tuple) or bool(getattr(value, "ndim", 0))


FigureValue = int | float | str
"""A number or text of a figure; the text of a stated number says its precision."""


def agrees(stated: FigureValue, measured: FigureValue) -> bool:
    """Tell whether a measured value rounds to the stated one."""
    exponent = exponent_of(stated)
    if exponent is None:
        return type(measured) is type(stated) and measured == stated
    if isinstance(measured, str) or not math.isfinite(measured):
        return False
    half = Decimal(5).scaleb(exponent - 1)
    # slightly more than half a unit: a value exactly between may have been rounded either way
    return abs(Decimal(measured) - Decimal(str(stated))) <= half + Decimal("1e-9")


def written(measured: FigureValue, like: FigureValue) -> FigureValue:
    """Return a measured number with the decimals of a stated value."""
    exponent = exponent_of(like)
    if exponent is None or isinstance(measured, str) or not math.isfinite(measured):
        return measured if not isinstance(measured, float) else repr(measured)
    return f"{Decimal(measured):.{max(0, -exponent)}f}"


def exponent_of(value: FigureValue) -> int | None:
    """Return the exponent of a stated value's last digit; None if it is exact or no number."""
    if not isinstance(value, str):
        return None
    try:
        exponent = Decimal(value).as_tuple().exponent
    except InvalidOperation:
        return None
    return exponent if isinstance(exponent, int) else None


def exactly_equal(one: Any, other: Any) -> bool:
    """Tell whether two values have the same digest: 0.0 differs from -0.0, but NaN equals NaN."""
    if repr(one) == repr(other):
        return True
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(
            exactly_equal(one[key], other[key]) for key in one
        )
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(exactly_equal, one, other))
    return False


def row_differences(where: str, rows: Sequence[Any], due: Sequence[Any]) -> Iterator[str]:
    """Yield the difference in number, and the first of each row in the columns that are due.

    The comparison is exact: True differs from 1, and 0.0 from -0.0.
    """
    if len(rows) != len(due):
        yield f"{where}: expected {len(due):,} rows, found {len(rows):,}"
    for number, (row, expected) in enumerate(zip(rows, due, strict=False)):
        columns = {column: row.get(column, Absent()) for column in expected}
        if not exactly_equal(columns, expected):
            yield next(differences(columns, expected, f"{where}[{number}]"))


def differences(found: Any, due: Any, path: str = "") -> Iterator[str]:
    """Yield the path to each value that differs, with both."""
    for place, one, other in changes(due, found, path):
        yield f"{place}: expected {one!r:.60}, found {other!r:.60}"


class Absent:
    """Stands for the value of a key that one side lacks."""

    def __repr__(self) -> str:
        return "nothing"


def changes(old: Any, new: Any, path: str) -> Iterator[tuple[str, Any, Any]]:
    """Yield (path, old, new) of the innermost values that differ."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in {**old, **new}:
            one, other = old.get(key, Absent()), new.get(key, Absent())
            yield from changes(one, other, f"{path}.{key}" if path else str(key))
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for number, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from changes(one, other, f"{path}[{number}]")
    elif not exactly_equal(old, new):
        yield path, old, new


def frozen(value: Any) -> Any:
    """Return a value whose dicts and lists, at every depth, raise TypeError on a change.

    They equal the given ones. `copy.deepcopy` and pickle make dicts and lists of them that change.
    """
    if type(value) is dict:
        return _FrozenDict({key: frozen(inner) for key, inner in value.items()})
    return _FrozenList(map(frozen, value)) if type(value) is list else value


def _refuse(self: Any, *args: Any, **kwargs: Any) -> NoReturn:
    raise TypeError("it is shared and cannot be changed: change a copy, copy.deepcopy(it)")


class _FrozenDict(dict[Any, Any]):
    __slots__ = ()
    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> Any:
        return dict, (dict(self),)


class _FrozenList(list[Any]):
    __slots__ = ()
    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = clear = extend = insert = pop = remove = reverse = sort = _refuse

    def __reduce__(self) -> Any:
        return list, (list(self),)
