"""Filters of the dialogues: each a distribution of one property."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import pairwise
from typing import Any

from parley.transcript import Facets, Value

_MOST_VALUES = 12  # more numbers than this are put into bins
_BINS = 10  # approximate number of bins
_SOME = 20  # more texts than this make no filter if few are shared


def filters(found: Sequence[Facets], order: Mapping[str, Sequence[Value]]) -> list[dict[str, Any]]:
    """Return the filters; omit values common to all dialogues and texts that few share.

    Args:
        found: The facets of each dialogue.
        order: Filter -> its values in order, if they have an order.

    Returns:
        For each filter: its name; labels (values or bins); codes (for each dialogue, the numbers of
        its labels); many (whether a dialogue can have several values).
    """
    made = []
    for name in dict.fromkeys(name for facets in found for name in facets):
        values = [_as_list(facets.get(name)) for facets in found]
        several = any(isinstance(facets.get(name), list) for facets in found)
        if column := _column(values, order.get(name, ())):
            labels, codes = column
            if len(labels) == 1 and all(codes):
                continue  # common to all dialogues
            made.append({"name": name, "labels": labels, "codes": codes, "many": several})
    return made


def _as_list(value: Any) -> list[Value]:
    if value is None:
        return []
    return list(dict.fromkeys(value)) if isinstance(value, list) else [value]


def _column(
    values: list[list[Value]], order: Sequence[Value]
) -> tuple[list[str], list[list[int]]] | None:
    """Return labels and, for each dialogue, their numbers; None if they make no filter."""
    counts = Counter(value for each in values for value in each)
    if not counts:
        return None
    numbers = all(isinstance(v, int | float) and not isinstance(v, bool) for v in counts)
    if numbers and not order and (len(counts) > _MOST_VALUES or any(map(_is_fine, counts))):
        return _bins(sorted(counts.elements()), values)  # type: ignore[arg-type]
    if not numbers and len(counts) > max(_SOME, len(values) // 2):
        return None
    ordered = [value for value in order if value in counts]
    rest = [value for value in counts if value not in set(ordered)]
    rest.sort(key=lambda value: value if numbers else (-counts[value], str(value)))
    places = {value: place for place, value in enumerate([*ordered, *rest])}
    return [_text(value) for value in places], [[places[value] for value in e] for e in values]


def _is_fine(value: Value) -> bool:
    """Tell whether a number has more than two decimals."""
    return isinstance(value, float) and round(value, 2) != value


def _bins(
    ordered: list[int | float], values: list[list[Value]]
) -> tuple[list[str], list[list[int]]]:
    """Return the labels of bins and, for each dialogue, the numbers of its bins.

    The first and the last bin are open, to hold outliers. A bin includes its lower edge only.
    """
    edges = _edges(ordered)
    whole = all(isinstance(value, int) for value in ordered)
    between = [
        (_text(int(low)) if high - low == 1 else f"{_text(int(low))}–{_text(int(high) - 1)}")
        if whole
        else f"{_text(low)} to {_text(high)}"
        for low, high in pairwise(edges)
    ]
    low, high = (_text(int(edge) if whole else edge) for edge in (edges[0], edges[-1]))
    labels = [f"less than {low}", *between, f"{high} or more"]
    places = [sorted({bisect_right(edges, value) for value in each}) for each in values]
    first, last = bisect_right(edges, ordered[0]), bisect_right(edges, ordered[-1])
    if last and ordered[-1] == edges[last - 1]:  # the last bin holds only its lower edge
        labels[last] = _text(ordered[-1])
    return labels[first : last + 1], [[place - first for place in each] for each in places]


def _edges(ordered: list[int | float]) -> list[float]:
    """Return round edges of about ten bins that cover nearly all numbers."""
    few = len(ordered) // 50
    low, high = (Decimal(repr(float(v))) for v in (ordered[few], ordered[-1 - few]))
    if low == high:
        low, high = (Decimal(repr(float(v))) for v in (ordered[0], ordered[-1]))
    if low == high:
        return [float(low)]
    power = Decimal(1).scaleb(((high - low) / _BINS).adjusted())
    step = next(power * m for m in (1, 2, 5, 10) if high - low <= power * m * _BINS)
    if all(isinstance(value, int) for value in ordered):
        step = max(step, Decimal(1))
    first = low // step
    return [float(step * number) for number in range(int(first), int(high // step) + 2)]


def _text(value: Value) -> str:
    """Return a value as text for the page."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.10g}"
    return f"{value:,}" if isinstance(value, int) else value
