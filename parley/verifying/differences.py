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
    if isinstance(found, dict) and isinstance(due, dict):
        for key in {**due, **found}:
            if key in found and key in due:
                yield from differences(found[key], due[key], f"{path}.{key}")
            else:
                yield f"{path}.{key}: {'missing' if key in due else 'unknown'}"
    elif isinstance(found, list) and isinstance(due, list) and len(found) == len(due):
        for number, (one, other) in enumerate(zip(found, due, strict=True)):
            yield from differences(one, other, f"{path}[{number}]")
    elif not same(found, due):
        yield f"{path}: expected {due!r:.60}, found {found!r:.60}"
