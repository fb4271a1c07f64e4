"""Invent values of a drafted shape."""

from collections.abc import Mapping
from typing import Any

from parley.schema.shapes import Converted

_WORDS = (
    *("amber", "birch", "candle", "drift", "ember", "fern", "garden", "harbour", "island"),
    *("jasmine", "kettle", "lantern", "meadow", "north", "orchard", "pebble", "quiet", "river"),
)


Ends = Mapping[tuple[str, type], tuple[Any, Any]]
"""Path and type of numbers -> the least and the most of the files."""


class Invention:
    """Numbers and words for invented values: the same on every run, each text unique."""

    def __init__(self, ends: Ends) -> None:
        self._next, self._ends = 0, ends

    def within(self, path: str, kind: type, n: int) -> Any:
        """Return the n-th number at a path: the draft may be narrowed to those of the files."""
        ends = self._ends.get((path, kind), (kind(), kind(n)))
        return min(ends[1], ends[0] + n) if kind is int else ends[n % 2]

    def number(self) -> int:
        """Return the next number, from 0."""
        self._next += 1
        return self._next - 1

    def words(self) -> str:
        """Return a few words from the fixed list."""
        start = self.number()
        return " ".join(_WORDS[(start * 5 + step) % len(_WORDS)] for step in range(3))


def branches(shape: Any) -> int:
    """Return how many values of a shape, from the first, show each branch once."""
    if isinstance(shape, Converted):
        return branches(shape.shape)
    if isinstance(shape, tuple):
        return sum(map(branches, shape))
    if isinstance(shape, dict) and str not in shape:  # an optional key is absent, too
        return max((branches(each) + key.endswith("?") for key, each in shape.items()), default=1)
    return 1


def invent(shape: Any, made: Invention, n: int, path: str = "") -> Any:
    """Return the n-th value of a shape, which has this path."""
    if isinstance(shape, Converted):
        return invent(shape.shape, made, n, path)
    if isinstance(shape, list):  # a list in a list is as short as it can be
        some = range(max(1 if "[]" in path else 2, branches(shape[0]))) if n == 0 else [n]
        return [invent(shape[0], made, each, f"{path}[]") for each in some]
    if isinstance(shape, set):
        return sorted(shape)[n % len(shape)]
    if isinstance(shape, tuple):
        every = [(option, each) for option in shape for each in range(branches(option))]
        option, each = every[n % len(every)]
        return invent(option, made, each, path)
    if isinstance(shape, dict) and str in shape:
        some = range(max(2, branches(shape[str]))) if n == 0 else [n]
        return {f"key-{made.number()}": invent(shape[str], made, m, f"{path}.*") for m in some}
    if isinstance(shape, dict):
        n %= branches(shape)
        return {
            (name := key.removesuffix("?")): invent(each, made, n, f"{path}.{name}".lstrip("."))
            for key, each in shape.items()
            if not key.endswith("?") or n < branches(each)
        }
    if shape in (int, float):
        return made.within(path, shape, n)
    return None if shape is None else n % 2 == 0 if shape is bool else made.words()
