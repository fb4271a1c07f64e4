"""Numbers: a value of the field, and a documented one, which is a text that says its precision.

A number of the field is a float or an integer of 64 bits. A documented one agrees with each
measured one that rounds to it.
"""

import math
from decimal import Decimal, InvalidOperation
from typing import Any


def is_number(value: Any) -> bool:
    """Tell whether a value is a float or an integer of 64 bits; true and false are neither."""
    if isinstance(value, int) and not isinstance(value, bool):
        return -(2**63) <= value < 2**63
    return isinstance(value, float)


FigureValue = int | float | str
"""A number or text of a figure; the text of a stated number says its precision."""


def agrees(stated: FigureValue, measured: FigureValue) -> bool:
    """Tell whether a measured value rounds to the stated one."""
    exponent = exponent_of(stated)
    if exponent is None:
        return type(measured) is type(stated) and measured == stated
    if isinstance(measured, str) or not math.isfinite(measured):
        return False
    half = Decimal(5).scaleb(exponent - 1)
    # slightly more than half a unit: a value exactly between may have been rounded either way
    return abs(Decimal(measured) - Decimal(str(stated))) <= half + Decimal("1e-9")


def with_decimals(measured: FigureValue, like: FigureValue) -> FigureValue:
    """Return a measured number with the decimals of a stated value."""
    exponent = exponent_of(like)
    if exponent is None or isinstance(measured, str) or not math.isfinite(measured):
        return measured if not isinstance(measured, float) else repr(measured)
    return f"{Decimal(measured):.{max(0, -exponent)}f}"


def exponent_of(value: FigureValue) -> int | None:
    """Return the exponent of a stated value's last digit; None if it is exact or no number."""
    if not isinstance(value, str):
        return None
    try:
        exponent = Decimal(value).as_tuple().exponent
    except InvalidOperation:
        return None
    return exponent if isinstance(exponent, int) else None
