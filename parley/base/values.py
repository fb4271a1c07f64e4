"""Values within values: nested mappings flattened and back, texts, values of numpy."""

from collections.abc import Iterator, Mapping
from dataclasses import is_dataclass
from typing import Any


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


def is_values(value: Any) -> bool:
    """Tell whether a value is a list, a tuple or an array of numpy."""
    return isinstance(value, list | tuple) or bool(getattr(value, "ndim", 0))
