"""Where values differ, exactly: as their digests do."""

from collections.abc import Iterator, Sequence
from typing import Any


def exactly_equal(one: Any, other: Any) -> bool:
    """Tell whether two values have the same digest: 0.0 differs from -0.0, but NaN equals NaN."""
    return repr(one) == repr(other) or not any(changes(one, other, ""))


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
    elif repr(old) != repr(new):
        yield path, old, new
