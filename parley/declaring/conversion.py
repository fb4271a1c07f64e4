"""Conversion between records and rows, derived from the record's shape.

    shape                  feature                    row                       record
    str, int, float, bool  the Value                  itself                    itself
    {"a", "b"}             the values' Value          itself                    itself
    (int, float)           float64                    the equal float           itself
    [x]                    list of x                  each                      each
    {"a": x, "b?": y}      struct of a and b          an absent b is null       a null b is absent
    (x, None)              x                          null                      null
    ({...}, {...})         struct with all keys       null for others' keys     the object that fits
    {str: x}               list of {key, value}       entries in order          an object
    Checked(x, function)   x                          as x                      as x
    Converted(x, y, f, g)  y                          f(x)                      g(y)

Different records always have different rows. A shape that cannot ensure this, or that no feature
fits, raises a ScriptError with an alternative. An integer that no float equals is a ValueError.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from parley.base.errors import Problem, ScriptError
from parley.declaring.shapes import Checked, Converted, fitter

Convert = Callable[[Any], Any]

DTYPES = {str: "string", int: "int64", float: "float64", bool: "bool"}
_NUMBER = {"int64", "float64"}
_INSTEAD = "use Converted(shape, into, to_row, to_record) for this part"


@dataclass(frozen=True)
class Conversion:
    """The conversion of a shape's values to a column and back."""

    feature: Any  # a dtype's name, a feature of `datasets`, [feature], or {field: feature}
    to_row: Convert | None = None  # None if both are the same
    to_record: Convert | None = None  # None if both are the same


class _Unfit(Exception):
    """No record of this shape has this row."""


def conversion(shape: Any) -> Conversion:
    """Return the conversion of records to rows.

    ScriptError names the first part of the shape that has no feature or does not convert back.
    """
    made = _convert(shape, "")
    if not isinstance(made.feature, dict):
        raise _refusal("", f"must be an object; {_INSTEAD}")
    return made


def feature_of(shape: Any) -> Any:
    """Return the feature of a shape; features of `datasets` stay as they are."""
    return _convert(shape, "").feature


def _refusal(path: str, what: str) -> ScriptError:
    return ScriptError("", Problem(path or "the record", what=what))


def _convert(shape: Any, path: str) -> Conversion:
    if isinstance(shape, Checked):
        return _convert(shape.shape, path)
    if isinstance(shape, Converted):
        inner = _convert(shape.into, path)
        return Conversion(
            inner.feature,
            _chain(shape.to_row, inner.to_row),
            _chain(inner.to_record, shape.to_record),
        )
    if isinstance(shape, dict):
        return _of_map(shape[str], path) if str in shape else _of_object(shape, path)
    if isinstance(shape, list) and len(shape) == 1:
        inner = _convert(shape[0], f"{path}[]")
        return Conversion([inner.feature], _each(inner.to_row), _each(inner.to_record))
    if isinstance(shape, tuple):
        return _of_alternatives(shape, path)
    if shape is None:
        raise _refusal(path, f"is always null, and no column type fits; {_INSTEAD}")
    kinds = {shape} if isinstance(shape, type) else set()
    if isinstance(shape, set | frozenset):
        kinds = set(map(type, shape))
    if len(kinds) == 1 and (dtype := DTYPES.get(*kinds)):
        return Conversion(dtype)
    if hasattr(shape, "_type"):  # a feature of `datasets`
        return Conversion(shape)
    raise _refusal(path, f"{shape!r:.60} has no feature; {_INSTEAD}")


def _chain(first: Convert | None, then: Convert | None) -> Convert | None:
    if first is None or then is None:
        return first or then
    return lambda value: then(first(value))


def _each(convert: Convert | None) -> Convert | None:
    return None if convert is None else lambda values: [convert(value) for value in values]


def _or_null(convert: Convert | None) -> Convert | None:
    return None if convert is None else lambda value: None if value is None else convert(value)


def _of_map(shape: Any, path: str) -> Conversion:
    inner = _convert(shape, f"{path}.*")
    to_value, to_item = inner.to_row or _same, inner.to_record or _same
    return Conversion(
        [{"key": "string", "value": inner.feature}],
        lambda found: [{"key": key, "value": to_value(value)} for key, value in found.items()],
        lambda row: {entry["key"]: to_item(entry["value"]) for entry in row},
    )


def _same(value: Any) -> Any:
    return value


def _of_object(shape: dict[str, Any], path: str) -> Conversion:
    if not shape:
        raise _refusal(path, f"an object without keys has no column; {_INSTEAD}")
    made = {}
    for key, inner in shape.items():
        name = key.removesuffix("?")
        made[name] = _convert(inner, f"{path}.{name}")
        if key != name and nullable(inner):
            raise _refusal(
                f"{path}.{name}", f"may be absent or null, but both have the same row; {_INSTEAD}"
            )
    optional = [key.removesuffix("?") for key in shape if key.endswith("?")]
    feature = {name: each.feature for name, each in made.items()}
    forth = [(name, each.to_row) for name, each in made.items() if each.to_row]
    back = [(name, each.to_record) for name, each in made.items() if each.to_record]

    def to_row(record: dict[str, Any]) -> dict[str, Any]:
        row = dict.fromkeys(feature) | record if optional else dict(record)
        for name, convert in forth:
            if name in record:
                row[name] = convert(row[name])
        return row

    def to_record(row: dict[str, Any]) -> dict[str, Any]:
        record = dict(row)
        for name in optional:
            if record[name] is None:
                del record[name]
        for name, convert in back:
            if name in record:
                record[name] = convert(record[name])
        return record

    return Conversion(
        feature, to_row if optional or forth else None, to_record if optional or back else None
    )


def nullable(shape: Any) -> bool:
    """Tell whether the row may be null for a value of this shape."""
    if isinstance(shape, Checked):
        return nullable(shape.shape)
    if isinstance(shape, Converted):
        return nullable(shape.into)
    return shape is None or (isinstance(shape, tuple) and any(map(nullable, shape)))


def _of_alternatives(shape: tuple[Any, ...], path: str) -> Conversion:
    options = [option for option in shape if option is not None]
    if not options:
        raise _refusal(path, f"is always null, and no column type fits; {_INSTEAD}")
    made = _convert(options[0], path) if len(options) == 1 else _of_several(options, path)
    if None in shape:
        return Conversion(made.feature, _or_null(made.to_row), _or_null(made.to_record))
    return made


def _of_several(options: list[Any], path: str) -> Conversion:
    # an alternative may be an object without keys
    made = [Conversion({}) if option == {} else _convert(option, path) for option in options]
    feature = made[0].feature
    for each in made[1:]:
        feature = _union(feature, each.feature, path)
    if not isinstance(feature, dict | list):
        return Conversion(feature, _to_float(path)) if feature == "float64" else Conversion(feature)
    _require_told_apart(options, path)
    ways = [
        (
            *(fitter(option), each.to_row or _same, each.to_record or _same),
            _widener(each.feature, feature, path) or _same,
            _narrower(each.feature, feature) or _same,
        )
        for option, each in zip(options, made, strict=True)
    ]

    def to_row(record: Any) -> Any:
        for fits, forth, _, widen, _ in ways:
            if fits(record):
                return widen(forth(record))
        raise ValueError(f"fits no alternative: {record!r:.60}")

    def to_record(row: Any) -> Any:
        for fits, _, back, _, narrow in ways:
            try:
                record = back(narrow(row))
            except _Unfit:
                continue
            if fits(record) and to_row(record) == row:
                return record
        raise ValueError(f"no alternative gives {row!r:.60}")

    return Conversion(feature, to_row, to_record)


def _union(one: Any, other: Any, path: str) -> Any:
    """Return the feature that fits values of both."""
    if isinstance(one, dict) and isinstance(other, dict):
        both = dict(one)
        for name, feature in other.items():
            here = f"{path}.{name}"
            both[name] = _union(one[name], feature, here) if name in one else feature
        return both
    if isinstance(one, list) and isinstance(other, list):
        return [_union(one[0], other[0], f"{path}[]")]
    if type(one) is type(other) is str and {one, other} == _NUMBER:
        return "float64"
    if type(one) is type(other) and one == other:
        return one
    raise _refusal(path, f"{_word(one)} or {_word(other)}: no column fits both; {_INSTEAD}")


def _word(feature: Any) -> str:
    if isinstance(feature, dict):
        return "an object"
    return "a list" if isinstance(feature, list) else f"{feature}"


def _to_float(path: str) -> Convert:
    """Return a function that makes a number a float; ValueError if no float equals it."""

    def convert(value: int | float) -> float:
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if isinstance(value, int) and number != value:
            raise ValueError(f"{path}: no float64 holds {value!r:.60} exactly; {_INSTEAD}")
        return number

    return convert


def _widener(part: Any, whole: Any, path: str) -> Convert | None:
    """Return a function that adds the keys of other alternatives as null."""
    if part == whole:
        return None
    if isinstance(whole, list):
        return _or_null(_each(_widener(part[0], whole[0], f"{path}[]")))
    if not isinstance(whole, dict):
        return _or_null(_to_float(path))  # an integer among numbers
    found = {name: _widener(part[name], whole[name], f"{path}.{name}") for name in part}
    inner = {name: convert for name, convert in found.items() if convert is not None}

    def widen(row: Any) -> Any:
        full = {name: row.get(name) for name in whole}
        for name, convert in inner.items():
            full[name] = convert(full[name])
        return full

    return _or_null(widen)


def _narrower(part: Any, whole: Any) -> Convert | None:
    """Return a function that removes the keys of other alternatives."""
    if part == whole:
        return None
    if isinstance(whole, list):
        return _or_null(_each(_narrower(part[0], whole[0])))
    if not isinstance(whole, dict):
        return _or_null(int)  # an integer among numbers; `to_row` tells whether it was one
    others = [name for name in whole if name not in part]
    found = {name: _narrower(part[name], whole[name]) for name in part}
    inner = {name: convert for name, convert in found.items() if convert is not None}

    def narrow(row: Any) -> Any:
        if any(row[name] is not None for name in others):
            raise _Unfit
        kept = {name: row[name] for name in part}
        for name, convert in inner.items():
            kept[name] = convert(kept[name])
        return kept

    return _or_null(narrow)


def _require_told_apart(options: list[Any], path: str) -> None:
    """Refuse alternatives whose records could have the same row.

    This happens if a key is null in one alternative's record and absent from the other's.
    """
    objects = [each for option in options if isinstance(each := _bare(option), dict)]
    for number, one in enumerate(objects):
        for other in objects[number + 1 :]:
            if str in one or str in other:
                raise _refusal(
                    path, f"an object with arbitrary keys, or another object; {_INSTEAD}"
                )
            if _apart(one, other) or _apart(other, one):
                continue
            for name in [*_unclear(one, other), *_unclear(other, one)]:
                what = f"null in one alternative but absent from another; {_INSTEAD}"
                raise _refusal(f"{path}.{name}", what)


def _bare(shape: Any) -> Any:
    """Return a shape without checks, or the shape it converts into."""
    while isinstance(shape, Checked | Converted):
        shape = shape.shape if isinstance(shape, Checked) else shape.into
    return shape


def _apart(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Tell whether the second shape lacks a never-null key of the first, or fills it otherwise."""
    for key, shape in one.items():
        if key.endswith("?") or nullable(shape):
            continue
        if key not in other and f"{key}?" not in other:
            return True
        mine, theirs = _bare(shape), _bare(other.get(key, other.get(f"{key}?")))
        if isinstance(mine, set) and isinstance(theirs, set) and not mine & theirs:
            return True
    return False


def _unclear(one: dict[str, Any], other: dict[str, Any]) -> Iterator[str]:
    """Yield the keys that may be null in the first object and absent from the second."""
    for key, shape in one.items():
        if not key.endswith("?") and nullable(shape) and key not in other:
            yield key
