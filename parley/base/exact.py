"""Values that code of a dataset computes: those of numpy as Python's, numbers that JSON holds."""

from collections.abc import Mapping
from typing import Any


def plain(value: Any) -> Any:
    """Return a value with those of numpy, also within, as the equal ones of Python, if any."""
    import numpy as np  # not at the top: help must be quick

    if isinstance(value, Mapping):
        return {plain(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [plain(each) for each in value]
    return value.item() if isinstance(value, np.generic) else value


def is_number(value: Any) -> bool:
    """Tell whether a value is a float or an integer of 64 bits; true and false are neither."""
    if isinstance(value, int) and not isinstance(value, bool):
        return -(2**63) <= value < 2**63
    return isinstance(value, float)
