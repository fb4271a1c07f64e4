"""F1 of labels, as functions of rows: a score without some rows counts no label anew."""

from collections.abc import Callable, Iterable
from typing import Any

from parley.tasks.task import Undefined

OfRows = Callable[[Any], float | Undefined]
"""Takes the index of some rows, for an array, and returns the metric of these rows alone."""


def f1_of(has: Any, found: Any, most: float = 1) -> OfRows:
    """Return F1 of a label, up to `most`, given whether each row has it and whether it is found."""
    both, either = has & found, has.astype(int) + found

    def f1(rows: Any) -> float | Undefined:
        count = int(either[rows].sum())
        none = Undefined("neither in gold nor predicted")
        return 2 * most * int(both[rows].sum()) / count if count else none

    return f1


def mean_of_known(metrics: Iterable[OfRows], rows: Any) -> float | Undefined:
    """Return the mean of the metrics that are defined for some rows; if none is, the last."""
    found = [metric(rows) for metric in metrics]
    known = [each for each in found if not isinstance(each, Undefined)]
    return sum(known) / len(known) if known else found[-1]
