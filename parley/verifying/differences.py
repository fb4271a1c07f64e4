"""Where rows or other values differ."""

from collections.abc import Iterator
from typing import Any

from parley.building.rows.digest import same


def row_differences(where: str, rows: list[Any], due: list[Any]) -> Iterator[str]:
    """Yield each difference of rows from those that the records give."""
    if len(rows) != len(due):
        yield f"{where}: {len(rows):,} rows, expected {len(due):,} of the records"
    for number, (row, expected) in enumerate(zip(rows, due, strict=False)):
        if not same(row, expected):
            path = next(differences(row, expected))
            yield f"{where}[{number}]: differs from the row of the record: {path}"


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
    elif not same(old, new):
        yield path, old, new
