"""Filters of the dialogues: each the labels or numbers of one property."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from parley.declaration.layout import Facet, Value
from parley.read.transcript import Facets

DIFFERS = "differs"  # the filter of what differs in files of one's own
MOST_SIDES = 30  # the page holds the sides of a dialogue as the bits of a number
_BINS = 10  # approximate number of bars of a histogram
_SOME = 20  # with more different texts there is no filter, unless dialogues share them
# Bars widen if one holds more than this share, and the last number is this many times the first
_SKEWED, _WIDE = 0.5, 50

Pairs = list[tuple[int, Value]]  # a dialogue's values, each with its side, or -1 for none


def filters(facets_of: Sequence[Facets], declared: Mapping[str, Facet]) -> list[dict[str, Any]]:
    """Return the filters.

    A property has no filter if all dialogues have its one value, or if its values are unordered
    texts that few dialogues share; the number of utterances has none if it is that of turns.
    `declared` is `FACETS` of transcript.py. The keys of a filter are:

    - `phrase`, `without`: the texts before and after the values, for those with and without them.
    - `mean`: whether to tell the mean; `ranks`: with it, the number of each label.
    - `complete`: whether a dialogue without a value is known to have none.
    - `many`: whether one side or dialogue has several values; `lists`: whether they are lists.
    - `values`: a list for each dialogue. It has numbers if the filter has a `scale`, that of a
      histogram; else places in `labels`.
    - `sides`: the side of each value, if sides have values.
    """
    numbered = [sides_of(facets) for facets in facets_of]
    result = []
    every_turn_is_said = all(f.get("utterances") == f.get("turns") for f in facets_of)
    for name in dict.fromkeys(name for facets in facets_of for name in facets):
        if name == "utterances" and every_turn_is_said:
            continue
        facet, told = [facets.get(name) for facets in facets_of], declared.get(name, Facet())
        pairs = [pairs_of(values, sides) for values, sides in zip(facet, numbered, strict=True)]
        if name == "split":
            pairs = _without_twins(pairs)
        if not (column := _column(pairs, told.order, name == DIFFERS)):
            continue
        if "labels" in column and told.ranks:
            ranks = {display_text(value): rank for value, rank in told.ranks.items()}
            column["ranks"] = [ranks.get(label) for label in column["labels"]]
        shared = any(isinstance(values, dict) for values in facet)
        is_so, is_not = (f"{name} is {{}}", f"{name} is not {{}}")
        if shared:
            is_so, is_not = (f"has {name} {{}}", f"does not have {name} {{}}")
            column["sides"] = [[side for side, _ in values] for values in pairs]
        by_side = (v.values() if isinstance(v, dict) else (v,) for v in facet)
        about = {
            "name": name,
            "phrase": (told.phrase or is_so).rsplit("{}", 1),
            "without": (told.without or is_not).rsplit("{}", 1),
            "mean": told.mean and ("scale" in column or "ranks" in column),
            "complete": name in ("split", DIFFERS),
            "many": any(len({side for side, _ in values}) < len(values) for values in pairs),
            "lists": any(isinstance(value, list) for values in by_side for value in values),
        }
        result.append(about | column)
    return result


def sides_of(facets: Facets) -> dict[str, int]:
    """Return the number of each side that facets name, in their order."""
    named = (side for facet in facets.values() if isinstance(facet, dict) for side in facet)
    return {side: number for number, side in enumerate(dict.fromkeys(named))}


def pairs_of(facet: Any, sides: Mapping[str, int]) -> Pairs:
    """Return each value once for each side."""
    of = {-1: facet}
    if isinstance(facet, dict):
        of = {sides[side]: values for side, values in facet.items()}
    pairs = [
        (side, value)
        for side, values in of.items()
        for value in (values if isinstance(values, list) else [values])
        if value is not None
    ]
    return list(dict.fromkeys(pairs))


def _without_twins(pairs: list[Pairs]) -> list[Pairs]:
    """Omit values that all dialogues have, and values with the dialogues of an earlier value."""
    having: dict[Value, list[int]] = {}
    for number, values in enumerate(pairs):
        for _, value in values:
            having.setdefault(value, []).append(number)
    kept = {tuple(numbers): value for value, numbers in reversed(having.items())}
    kept.pop(tuple(range(len(pairs))), None)
    return [[pair for pair in values if pair[1] in kept.values()] for values in pairs]


def _column(pairs: list[Pairs], order: Sequence[Value], is_kept: bool) -> dict[str, Any] | None:
    """Return values with a scale or labels, or None for no filter; `is_kept` keeps one value."""
    counts = Counter(value for values in pairs for value in {value for _, value in values})
    if not counts or (len(counts) == 1 and all(pairs) and not is_kept):
        return None
    values = [value for values in pairs for _, value in values]
    if not order and all(type(value) in (int, float) for value in values):
        return {"scale": _scale(values), "values": [[v for _, v in values] for values in pairs]}
    if not order and len(counts) > max(_SOME, len(pairs) // 2):
        return None
    ordered = [value for value in order if value in counts]
    rest = [value for value in counts if value not in set(ordered)]
    rest.sort(key=lambda value: (-counts[value], str(value)))
    places = {value: place for place, value in enumerate([*ordered, *rest])}
    labels = [display_text(value) for value in places]
    return {"labels": labels, "values": [[places[v] for _, v in values] for values in pairs]}


def _scale(numbers: list[Any]) -> dict[str, Any]:
    """Return the edges of bars, the first and last bar, and whether numbers are whole, bars widen.

    Bar n holds the numbers from edge n - 1 to below edge n; bar 0 and the bar after the last edge
    hold the rest. No number is in a bar before the `first` or after the `last`. The bars are
    equally wide, or widen if one would hold most numbers.
    """
    ordered = sorted(numbers)
    whole = all(value == int(value) for value in ordered)
    few = len(ordered) // 50  # the bars between the edges hold nearly all
    low, high = (Decimal(repr(float(value))) for value in (ordered[few], ordered[-1 - few]))
    if is_one := low == high:
        low, high = (Decimal(repr(float(value))) for value in (ordered[0], ordered[-1]))
    edges = _equal(low, high, whole)
    most = max(Counter(bisect_right(edges, value) for value in ordered).values())
    is_even = is_one or most <= _SKEWED * len(ordered)
    widening = [] if is_even else _widening(low, high, whole)
    edges = widening or edges
    first, last = (bisect_right(edges, value) for value in (ordered[0], ordered[-1]))
    scale = {"edges": edges, "first": first, "last": last}
    return scale | {"whole": whole, "widens": bool(widening)}


def _round_numbers(low: Decimal, high: Decimal) -> list[Decimal]:
    """Return 1, 2 and 5 times the powers of ten, from at most `low` to above `high`."""
    powers = range(low.adjusted(), high.adjusted() + 2)
    return [Decimal(m).scaleb(power) for power in powers for m in (1, 2, 5)]


def _equal(low: Decimal, high: Decimal, whole: bool) -> list[float]:
    """Return at least two round edges of about ten bars."""
    if low == high:
        return [float(low), float(low + 1)]
    least = (high - low) / _BINS
    step = next(number for number in _round_numbers(least, least) if number >= least)
    step = max(step, Decimal(1)) if whole else step
    return [float(step * number) for number in range(int(low // step), int(high // step) + 2)]


def _widening(low: Decimal, high: Decimal, whole: bool) -> list[float]:
    """Return edges such as 10, 20, 50, 100, …; none if the numbers are close or not above 0."""
    low = max(low, Decimal(_BINS)) if whole else low  # one bar holds those below
    if low <= 0 or high < _WIDE * low:
        return []
    edges = _round_numbers(low, high)
    first = max(n for n, edge in enumerate(edges) if edge <= low)
    last = min(n for n, edge in enumerate(edges) if edge > high)
    return [float(edge) for edge in edges[first : last + 1]]


def display_text(value: Value) -> str:
    """Return a value as text for the page."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.10g}"
    return f"{value:,}" if isinstance(value, int) else value
