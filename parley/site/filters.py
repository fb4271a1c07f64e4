"""Filters: what dialogues can be narrowed by, each a distribution over all of them."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import pairwise
from typing import Any

from parley.transcript import Facets, Value

_MOST_VALUES = 12  # numbers with more values than this are put into bins, of which there are
# about this many
_BINS = 10
_SOME = 20  # texts with more values than this, most of them of one dialogue, are no filter


def filters(found: Sequence[Facets], order: Mapping[str, Sequence[Value]]) -> list[dict[str, Any]]:
    """Return each filter with its values and, for each dialogue, which of them it has.

    Args:
        found: The facets of each dialogue.
        order: Filter -> its values in their order, for those that have one.

    Returns:
        Of each filter its name; labels, the values or bins as text; codes, for each dialogue the
        places of its labels; and many, whether a dialogue can have several.
    """
    made = []
    for name in dict.fromkeys(name for facets in found for name in facets):
        values = [_as_list(facets.get(name)) for facets in found]
        several = any(isinstance(facets.get(name), list) for facets in found)
        if column := _column(values, order.get(name, ())):
            labels, codes = column
            made.append({"name": name, "labels": labels, "codes": codes, "many": several})
    return made


def _as_list(value: Any) -> list[Value]:
    if value is None:
        return []
    return list(dict.fromkeys(value)) if isinstance(value, list) else [value]


def _column(
    values: list[list[Value]], order: Sequence[Value]
) -> tuple[list[str], list[list[int]]] | None:
    """Return labels, and for each dialogue the places of its own; None if they narrow nothing."""
    counts = Counter(value for each in values for value in each)
    if not counts:
        return None
    numbers = all(isinstance(v, int | float) and not isinstance(v, bool) for v in counts)
    if numbers and len(counts) > _MOST_VALUES and not order:
        edges = _edges(sorted(v for v in counts.elements() if isinstance(v, int | float)))
        whole = all(isinstance(value, int) for value in counts)
        labels = _bin_labels(edges, whole)
        codes = [sorted({bisect_right(edges, value) for value in each}) for each in values]
        return _drop_empty_ends(labels, codes)
    if not numbers and len(counts) > max(_SOME, len(values) // 2):
        return None
    ordered = [value for value in order if value in counts]
    rest = [value for value in counts if value not in set(ordered)]
    rest.sort(key=lambda value: value if numbers else (-counts[value], str(value)))
    places = {value: place for place, value in enumerate([*ordered, *rest])}
    return [_text(value) for value in places], [[places[value] for value in e] for e in values]


def _edges(values: list[int | float]) -> list[float]:
    """Return the round edges between bins, none of them further out than all but a few values.

    The first bin is open below and the last one above, so that an outlier widens no bin.
    """
    low, high = values[len(values) // 50], values[-1 - len(values) // 50]
    if low == high:
        low, high = values[0], values[-1]
    width = Decimal(repr(float(high))) - Decimal(repr(float(low)))
    power = Decimal(1).scaleb((width / _BINS).adjusted())
    step = next(power * m for m in (1, 2, 5, 10) if width <= power * m * _BINS)
    if all(isinstance(value, int) for value in values):
        step = max(step, Decimal(1))
    first = Decimal(repr(float(low))) // step * step
    count = int((Decimal(repr(float(high))) - first) / step) + 1
    return [float(first + step * number) for number in range(count + 1)]


def _bin_labels(edges: list[float], whole: bool) -> list[str]:
    """Return the label of each bin: below the first edge, between edges, from the last one on."""
    between = [
        (_text(int(low)) if high - low == 1 else f"{_text(int(low))}–{_text(int(high) - 1)}")
        if whole
        else f"{_text(low)} to {_text(high)}"
        for low, high in pairwise(edges)
    ]
    low, high = edges[0], edges[-1]
    ends = (int(low), int(high)) if whole else (low, high)
    return [f"less than {_text(ends[0])}", *between, f"{_text(ends[1])} or more"]


def _drop_empty_ends(
    labels: list[str], codes: list[list[int]]
) -> tuple[list[str], list[list[int]]]:
    """Leave out the first bins and the last ones that no dialogue has."""
    used = {code for each in codes for code in each}
    first, last = min(used), max(used)
    return labels[first : last + 1], [[code - first for code in each] for each in codes]


def _text(value: Value) -> str:
    """Return a value as people write it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.10g}"
    return f"{value:,}" if isinstance(value, int) else value
