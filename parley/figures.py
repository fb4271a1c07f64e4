"""The words of a dataset's `figures.py` and `checks.py`: documented and counted numbers, checks."""

from parley.declaring.figures import (
    Data,
    Differs,
    MissingSplitError,
    check,
    check_of_views,
    counted,
    differing,
    differing_views,
    documented,
    mean_and_deviation,
    moses_tokenizer,
    records_of,
    related_rows,
)

__all__ = [
    "Data",
    "Differs",
    "MissingSplitError",
    "check",
    "check_of_views",
    "counted",
    "differing",
    "differing_views",
    "documented",
    "mean_and_deviation",
    "moses_tokenizer",
    "records_of",
    "related_rows",
]
