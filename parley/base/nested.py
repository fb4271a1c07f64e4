"""Nested mappings, as of metrics in groups."""

from collections.abc import Mapping
from typing import Any


def flat(tree: Mapping[str, Any], path: tuple[str, ...] = ()) -> dict[tuple[str, ...], Any]:
    """Return the values of nested mappings, by the names that lead to them."""
    found: dict[tuple[str, ...], Any] = {}
    for name, value in tree.items():
        place = (*path, name)
        found |= flat(value, place) if isinstance(value, Mapping) else {place: value}
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
