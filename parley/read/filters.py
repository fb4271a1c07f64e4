"""Filters of the dialogues: each the labels or numbers of one column."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from parley.declaration.layout import Facet, Value
from parley.declaration.registry import Dataset
from parley.read.columns import FLAG, NOBODY, SPEAKER, TEXT, Asked, Pairs, id_of

DIFFERS = "differs"  # the filter of what differs in files of one's own
SPLIT = "split"
MOST_SIDES = 30  # the page holds the sides of a dialogue as the bits of a number
_BINS = 10  # approximate number of bars of a histogram
SOME = 20  # with more different texts there is no filter, unless the column declares them
# Bars widen if one holds more than this share, and the last number is this many times the first
_SKEWED, _WIDE = 0.5, 50
_YES_NO = ("yes", "no")

OwnValues = dict[str, list[str] | dict[str, list[str]]]
"""The values of files of one's own: filter -> values of a dialogue, or side -> values."""


def filter_of_column(column: Asked, pairs: list[Pairs], dataset: Dataset) -> dict[str, Any]:
    """Return the filter of a column, {} for none, as `filter_of` does, with what SQL needs."""
    names = [*getattr(column.feature, "names", _YES_NO if column.kind == FLAG else ())]
    if column.kind == FLAG:
        pairs = [[(side, "yes" if value else "no") for side, value in each] for each in pairs]
    is_named = column.name != column.words.column
    most = None
    if not (column.is_closed or is_named) and column.kind == TEXT:  # some dialogues must share one
        most = min(SOME, sum(map(len, pairs)) - 1)
    found = filter_of(column.name, pairs, column.words, order=names, most=most)
    if found and getattr(column.feature, "is_ordered", False):
        found["ranks"] = [names.index(label) + 1 for label in found["labels"]]
    if found:
        rows = f"the number of its rows in {column.config}"
        found["meaning"] = dataset.meanings.get(column.words.column, rows).replace("`", "")
        if told := getattr(column.feature, "meanings", {}):
            found["meanings"] = [told.get(label, "") for label in found["labels"]]
        keys = (id_of(dataset, column.config), *([SPEAKER] if column.is_of_side else []))
        found["column"] = {
            "config": column.config, "path": column.path, "kind": column.kind,
            "list": column.is_list, "one": dataset.configs[column.config].keys == keys,
        }  # fmt: skip
    return found


def filter_of(
    name: str,
    pairs: list[Pairs],
    words: Facet | None = None,
    *,
    order: Sequence[str] = (),
    most: int | None = None,
) -> dict[str, Any]:
    """Return a filter by the values of each dialogue, {} if all dialogues have its one value.

    `order` has the values that have one; others are ordered by their dialogues. With more than
    `most` different texts there is no filter. The keys of a filter are:

    - `phrase`, `without`: the texts before and after the values, for those with and without them.
    - `ranks`: the number of each label, if their order means something.
    - `complete`: whether a dialogue without a value is known to have none.
    - `many`: whether one side or dialogue has several values.
    - `values`: a list for each dialogue. It has numbers if the filter has a `scale`, that of a
      histogram; else places in `labels`.
    - `sides`: the side of each value, if sides have values.
    """
    if name == SPLIT:
        pairs = _without_twins(pairs)
    column = _column(pairs, order, most, name == DIFFERS)
    if not column:
        return {}
    called = name if words is None or name != words.column else name.partition(".")[2]
    is_so, is_not = (f"{called} is {{}}", f"{called} is not {{}}")
    if any(side != NOBODY for values in pairs for side, _ in values):
        is_so, is_not = (f"has {called} {{}}", f"does not have {called} {{}}")
        column["sides"] = [[side for side, _ in values] for values in pairs]
    return {
        "name": name,
        "phrase": ((words and words.phrase) or is_so).rsplit("{}", 1),
        "without": ((words and words.without) or is_not).rsplit("{}", 1),
        "complete": name in (SPLIT, DIFFERS),
        "many": any(len({side for side, _ in values}) < len(values) for values in pairs),
        **column,
    }


def pairs_of(
    values: Sequence[str] | Mapping[str, Sequence[str]], sides: Mapping[str, int]
) -> Pairs:
    """Return the values of one's own, each once for each side."""
    of_sides = values.items() if isinstance(values, Mapping) else [("", values)]
    pairs = [(sides.get(side, NOBODY), value) for side, some in of_sides for value in some]
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


def _column(
    pairs: list[Pairs], order: Sequence[str], most: int | None, is_kept: bool
) -> dict[str, Any]:
    """Return values with a scale or labels, {} for no filter; `is_kept` keeps one value."""
    counts = Counter(value for values in pairs for value in {value for _, value in values})
    if not counts or (len(counts) == 1 and all(pairs) and not is_kept):
        return {}
    values = [value for values in pairs for _, value in values]
    if all(type(value) in (int, float) for value in values):
        return {"scale": _scale(values), "values": [[v for _, v in values] for values in pairs]}
    if most is not None and len(counts) > most:
        return {}
    ordered = [value for value in order if value in counts]
    rest = [value for value in counts if value not in set(ordered)]
    rest.sort(key=lambda value: (-counts[value], str(value)))
    places = {value: place for place, value in enumerate([*ordered, *rest])}
    labels = [*map(str, places)]
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
