"""Nested values: mappings, as of metrics in groups, and texts."""

from collections.abc import Iterator, Mapping
from dataclasses import is_dataclass
from typing import Any


def flat(tree: Any, path: tuple[str, ...] = ()) -> dict[tuple[str, ...], Any]:
    """Return the values of nested mappings, by the names that lead to them; () for one alone."""
    if not isinstance(tree, Mapping):
        return {path: tree}
    found: dict[tuple[str, ...], Any] = {}
    for name, value in tree.items():
        found |= flat(value, (*path, name))
    return found


def tree(found: Mapping[tuple[str, ...], Any]) -> dict[str, Any]:
    """Return nested mappings: the inverse of `flat`."""
    nested: dict[str, Any] = {}
    for path, value in found.items():
        inner = nested
        for name in path[:-1]:
            inner = inner.setdefault(name, {})
        inner[path[-1]] = value
    return nested


def strings(value: Any) -> Iterator[str]:
    """Yield the texts within a value."""
    if isinstance(value, str):
        yield value
    elif is_dataclass(value):
        yield from strings(list(vars(value).values()))
    elif isinstance(value, dict | list | tuple):
        for each in value.values() if isinstance(value, dict) else value:
            yield from strings(each)
