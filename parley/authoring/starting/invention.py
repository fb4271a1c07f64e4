"""Invent values of a drafted shape."""

from typing import Any

from parley.schema.shapes import Converted

_WORDS = (
    *("amber", "birch", "candle", "drift", "ember", "fern", "garden", "harbour", "island"),
    *("jasmine", "kettle", "lantern", "meadow", "north", "orchard", "pebble", "quiet", "river"),
)


class Invention:
    """Numbers and words for invented values: the same on every run, each text unique."""

    def __init__(self) -> None:
        self._next = 0

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


def invent(shape: Any, made: Invention, n: int, nested: bool = False) -> Any:
    """Return the n-th value of a shape; `nested` if it is in a list."""
    if isinstance(shape, Converted):
        return invent(shape.shape, made, n, nested)
    if isinstance(shape, list | dict) and (isinstance(shape, list) or str in shape):
        inner = shape[0] if isinstance(shape, list) else shape[str]
        least = 1 if isinstance(shape, list) and nested else 2
        some = range(max(least, branches(inner))) if n == 0 else [n]
        if isinstance(shape, list):
            return [invent(inner, made, each, nested=True) for each in some]
        return {f"key-{made.number()}": invent(inner, made, each, nested) for each in some}
    if isinstance(shape, set):
        return sorted(shape)[n % len(shape)]
    if isinstance(shape, tuple | dict):
        n %= branches(shape)
    if isinstance(shape, tuple):
        every = [(option, each) for option in shape for each in range(branches(option))]
        return invent(every[n][0], made, every[n][1], nested)
    if isinstance(shape, dict):
        return {
            key.removesuffix("?"): invent(each, made, n, nested)
            for key, each in shape.items()
            if not key.endswith("?") or n < branches(each)
        }
    values: dict[Any, Any] = {
        str: made.words,
        bool: lambda: n % 2 == 0,
        int: lambda: n,
        float: lambda: n + 0.5,
    }
    return None if shape is None else values[shape]()
