"""Apply the rules to lines of a file, and return the kept ones as Arrow with exact types.

A line becomes at most one row of PRODUCTS or REVIEWS. Both engines join and sort these:
they hold the published columns, and the keys to join and sort by.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import accumulate, chain
from typing import Any

import orjson
import pyarrow as pa

from .rules import (
    PRODUCT_VALUES,
    REVIEW_VALUES,
    STARLESS_RULES,
    BrokenError,
    catalogue_id,
    clean_product,
    clean_review,
    doubtful_product,
    doubtful_review,
    parse,
    parse_exactly,
    refuse_product,
    refuse_review,
    to_star,
)

_ALIASES = ("binary", "bool", "float64", "int8", "int64", "string")
_TYPES = {"texts": pa.list_(pa.string())} | {name: pa.type_for_alias(name) for name in _ALIASES}


def schema(columns: str) -> pa.Schema:
    """Return the schema of columns, each a name and a type: "title string, price float64"."""
    pairs = (column.split() for column in columns.split(", "))
    return pa.schema([(name, _TYPES[kind]) for name, kind in pairs])


PRODUCT = (
    "parent_asin string, title string, description texts, details string, categories texts, "
    "store string, price float64, num_ratings int64, avg_ratings float64"
)
# `key` is parent_asin in UTF-8, in whose order of bytes upstream sorts; `position` gives the order
# of lines in a file; `exact` is JSON: the values, under upstream's names, that a column cannot
# hold (see `_fit`).
PRODUCTS = schema(f"key binary, position int64, {PRODUCT}, exact string")
# A row for each review whose product may be in the catalogue: `rule` refuses it, or is null,
# and `star` is null where it does not count. `beyond` continues the order of timestamps where 64
# bits end.
REVIEWS = schema(
    "key binary, position int64, rule string, star int8, user string, timestamp int64, "
    "beyond binary, verified_purchase bool, title string, text string, helpful int64, exact string"
)
SCHEMAS = {"products": PRODUCTS, "reviews": REVIEWS}
_LARGEST = 2**63 - 1
_LONE = re.compile("[\ud800-\udfff]")


@dataclass
class Sifted:
    """The outcome of some lines."""

    rows: pa.RecordBatch  # of PRODUCTS or of REVIEWS
    counts: Counter[str]  # lines by the rule that refused them; those kept are under "kept"
    broken: list[tuple[int, str]]  # the index of a line that no rule could be tried on, and why


@dataclass
class Read:
    """The outcome of one raw file; `counts` and `broken` as in `Sifted`, as far as they are known.

    A line has a number from 1 here, and `broken` has the first `MOST_SHOWN` of `broken_lines`.
    """

    pin: dict[str, Any] = field(default_factory=dict)  # size and sha256
    lines: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    broken: list[tuple[int, str]] = field(default_factory=list)
    broken_lines: int = 0

    def add(self, counts: Counter[str], broken: list[tuple[int, str]]) -> None:
        """Add the outcome of some of the lines."""
        self.counts.update(counts)
        self.broken = sorted(self.broken + broken)[:MOST_SHOWN]
        self.broken_lines += len(broken)


MOST_SHOWN = 8  # broken lines of a file in a message


def sift_products(
    lines: Iterable[bytes],
    positions: Iterable[int],
    on_kept: Callable[[str], None] = lambda parent_asin: None,
) -> Sifted:
    """Apply the rules to lines of a metadata file; `on_kept` takes the id of each kept product.

    A position is a number for a line, which grows in the order of the file.
    """
    rows: list[tuple[Any, ...]] = []
    outcomes: list[str] = []
    broken = []
    for index, (line, position) in enumerate(zip(lines, positions, strict=False)):
        try:
            record = parse(line)
            rule = refuse_product(record)
            doubtful = doubtful_product(record, rule)
            if doubtful:
                record = parse_exactly(line)
                rule = refuse_product(record)
            if rule is None:
                parent_asin, title, description, details, *rest = clean_product(record)
                text = dump_details(details, exactly=doubtful)
                rows.append((parent_asin, position, parent_asin, title, description, text, *rest))
                on_kept(parent_asin)
            outcomes.append(rule or "kept")
        except BrokenError as error:
            broken.append((index, str(error)))
    return Sifted(_to_batch(rows, PRODUCTS), Counter(outcomes), broken)


def sift_reviews(
    lines: Iterable[bytes],
    positions: Iterable[int],
    may_hold: Callable[[str], int] = lambda parent_asin: True,
) -> Sifted:
    """Apply the rules to lines of a review file.

    The counts are of the reviews whose product is certainly not in the catalogue; what came of
    the others is in their rows. `may_hold` tells whether a product may be in the catalogue, and may
    err on the side of yes.
    """
    rows: list[tuple[Any, ...]] = []
    nameless = unknown = 0
    broken = []
    for index, (line, position) in enumerate(zip(lines, positions, strict=False)):
        try:
            record = parse(line)
            parent_asin = catalogue_id(record)
            if parent_asin is None:
                nameless += 1
            elif not may_hold(parent_asin):
                unknown += 1
            else:
                rule = refuse_review(record)
                if rule is not None and doubtful_review(record, rule):
                    record = parse_exactly(line)
                    rule = refuse_review(record)
                if rule is None:
                    values = clean_review(record)
                else:
                    star = None if rule in STARLESS_RULES else to_star(record["rating"])
                    values = (None, None, None, None, None, star, None)
                rows.append((parent_asin, position, rule, *values))
        except BrokenError as error:
            broken.append((index, str(error)))
    counts = Counter(parent_asin=nameless, not_in_catalogue=unknown)
    return Sifted(_to_batch(rows, REVIEWS), +counts, broken)


def dump_details(details: dict[str, Any], exactly: bool) -> str:
    """Return a product's details as compact JSON.

    Python, which writes it `exactly`, writes floats in another way, and NaN as NaN.
    """
    if not exactly:
        try:
            return orjson.dumps(details).decode()
        except TypeError:  # an integer of more than 64 bits or a lone surrogate
            pass
    try:
        return json.dumps(details, ensure_ascii=False, separators=(",", ":"))
    except RecursionError:
        raise BrokenError("details is nested too deeply") from None


def _to_batch(rows: list[tuple[Any, ...]], schema: pa.Schema) -> pa.RecordBatch:
    """Return rows, which have upstream's values, as a batch of the schema.

    A row has the key, as text, the position, the rule if it is a review, and the values.
    """
    if not rows:
        return pa.RecordBatch.from_pylist([], schema)
    names = _ROWS[schema.names[2]]
    try:
        columns = dict(zip(names, zip(*rows, strict=True), strict=True))
        arrays = {name: _array(values, schema.field(name)) for name, values in columns.items()}
    except (_Misfit, UnicodeEncodeError, OverflowError, pa.ArrowException):
        return pa.RecordBatch.from_pylist(
            [_fit(dict(zip(names, row, strict=True))) for row in rows], schema
        )
    for name in schema.names:
        if name not in arrays:
            arrays[name] = pa.nulls(len(rows), schema.field(name).type)
    return pa.RecordBatch.from_arrays([arrays[name] for name in schema.names], schema=schema)


_UPSTREAM = {"verified_purchase": "verified purchase", "star": "rating"}  # column -> its name there
_COLUMN = {name: column for column, name in _UPSTREAM.items()}
# The columns in the order of a row's values, by the third column of the schema
_ROWS = {
    "parent_asin": ["key", "position", *PRODUCT_VALUES],
    "rule": ["key", "position", "rule", *(_COLUMN.get(name, name) for name in REVIEW_VALUES)],
}


class _Misfit(Exception):
    """A column has a value that it cannot hold exactly."""


def _array(values: tuple[Any, ...], field: pa.Field) -> pa.Array:
    if pa.types.is_integer(field.type) and bool in set(map(type, values)):
        raise _Misfit
    if pa.types.is_binary(field.type):
        return pa.array(values, pa.string()).cast(field.type)
    if pa.types.is_list(field.type):  # in half the time
        offsets = pa.array([0, *accumulate(map(len, values))], pa.int32())
        inner = pa.array(list(chain.from_iterable(values)), field.type.value_type)
        return pa.ListArray.from_arrays(offsets, inner)
    return pa.array(values, field.type)


def _fit(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row with values that its columns can hold; `exact` has those that they cannot.

    These are lone surrogates, for which U+FFFD stands; integers of more than 64 bits, for which
    null stands; and `true` and `false` where integers are expected, for which 1 and 0 stand.
    """
    fit = {name: _holdable(value) for name, value in row.items()}
    exact = {}
    for name, value in row.items():
        if name in _INTEGERS and type(value) is bool:
            fit[name] = int(value)
        if type(fit[name]) is not type(value) or fit[name] != value:
            exact[_UPSTREAM.get(name, name)] = json.loads(value) if name == "details" else value
    exact.pop("key", None)
    if "timestamp" in exact and fit["timestamp"] is None:
        fit["timestamp"], fit["beyond"] = _LARGEST, _order_bytes(row["timestamp"])
    fit["key"] = row["key"].encode("utf-8", "surrogatepass")
    fit["exact"] = json.dumps(exact) if exact else None
    return fit


_INTEGERS = {"num_ratings", "timestamp", "helpful"}


def _holdable(value: Any) -> Any:
    if isinstance(value, str):
        return _LONE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_holdable(item) for item in value]
    if isinstance(value, int) and value > _LARGEST:
        return None
    return value


def _order_bytes(number: int) -> bytes:
    """Return bytes that sort as these large numbers do."""
    size = (number.bit_length() + 7) // 8
    return size.to_bytes(4, "big") + number.to_bytes(size, "big")
