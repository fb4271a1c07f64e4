"""The words of a dataset's `figures.py` and `checks.py`: documented and counted numbers, checks."""

from parley.building.figures import (
    Data,
    Differs,
    MissingSplitError,
    check,
    counted,
    differing,
    documented,
    mean_and_deviation,
    moses_tokenizer,
)

__all__ = [
    "Data",
    "Differs",
    "MissingSplitError",
    "check",
    "counted",
    "differing",
    "documented",
    "mean_and_deviation",
    "moses_tokenizer",
]
