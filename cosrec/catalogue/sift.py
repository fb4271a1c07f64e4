"""Apply the rules to lines of a file, and return the kept ones as Arrow with exact types.

A line becomes at most one row of PRODUCTS or REVIEWS. Both engines join and sort these:
they hold the published columns, and the keys to join and sort by.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from .rules import (
    PRODUCT_RULES,
    STARLESS_RULES,
    BrokenError,
    clean_product,
    clean_review,
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
MOST_SHOWN = 8  # broken lines of a file in a message
_LARGEST = 2**63 - 1
_LONE = re.compile("[\ud800-\udfff]")

Row = dict[str, Any]


@dataclass
class Read:
    """The outcome of a file, or of some lines of it.

    `counts` has the lines "read", the "broken" ones, on which no rule could be tried, and the
    others by the rule that refused them, or as "kept", as far as rows do not tell. `broken` has the
    places of broken lines, and why they are: of a file the first `MOST_SHOWN`. A file has a path,
    and a pin: its size and its sha256.
    """

    counts: Counter[str] = field(default_factory=Counter)
    broken: list[tuple[Any, str]] = field(default_factory=list)
    path: Path = Path()
    pin: dict[str, Any] = field(default_factory=dict)

    def add(self, counts: Counter[str], broken: Iterable[tuple[Any, str]]) -> None:
        """Add the outcome of some more lines."""
        self.counts.update(counts)
        self.broken = sorted([*self.broken, *broken])[:MOST_SHOWN]


def sift(
    table: str,
    lines: list[bytes],
    positions: Iterable[int],
    mark: Callable[[str], object] = lambda parent_asin: None,
    may_hold: Callable[[str], object] = lambda parent_asin: True,
) -> tuple[pa.RecordBatch, Read]:
    """Apply the rules to lines of a file, and return rows of the table's schema and the outcome.

    A broken line's place is its index. A position is a number for a line, which grows in the order
    of the file. `mark` takes the id of each kept product; `may_hold` is that of `refuse_review`.
    The counts of reviews are of those whose product is certainly not in the catalogue.
    """
    rows: list[Row] = []
    found = Read(Counter(read=len(lines)))
    for index, (line, position) in enumerate(zip(lines, positions, strict=True)):
        try:
            outcome, row = _product(line) if table == "products" else _review(line, may_hold)
        except (BrokenError, RecursionError) as error:
            found.broken.append((index, str(error)))
        except KeyError as error:
            found.broken.append((index, f"it lacks {error.args[0]}"))
        else:
            if row:
                rows.append({**row, "position": position})
            if outcome == "kept":
                mark(row["key"])
            found.counts[outcome] += 1
    found.counts["broken"] = len(found.broken)
    return _to_batch(rows, SCHEMAS[table]), found


# The rules that orjson, which makes floats of integers of more than 64 bits, cannot mistake
_SURE = frozenset(PRODUCT_RULES[: PRODUCT_RULES.index("ratings")])


def _product(line: bytes) -> tuple[str, Row]:
    record = parse(line)
    rule = refuse_product(record)
    if rule not in _SURE:
        record = parse_exactly(line)
        rule = refuse_product(record)
    return (rule, {}) if rule else ("kept", {"key": record["parent_asin"], **clean_product(record)})


def _review(line: bytes, may_hold: Callable[[str], object]) -> tuple[str, Row]:
    record = parse(line)
    rule = refuse_review(record, may_hold)
    if rule in ("parent_asin", "not_in_catalogue"):
        return rule, {}
    if rule in ("timestamp", "helpful_vote"):  # as of products
        record = parse_exactly(line)
        rule = refuse_review(record, may_hold)
    row: Row = {"key": record["parent_asin"], "rule": rule}
    if rule is None:
        row |= clean_review(record)
    elif rule not in STARLESS_RULES:
        row["star"] = to_star(record["rating"])
    return "stored", row


def _to_batch(rows: list[Row], schema: pa.Schema) -> pa.RecordBatch:
    """Return rows, which have upstream's values, as a batch of the schema."""
    try:
        if not any(type(row.get(name)) is bool for row in rows for name in _INTEGERS):
            return pa.RecordBatch.from_pylist(rows, schema)
    except (UnicodeEncodeError, OverflowError, pa.ArrowException):
        pass
    return pa.RecordBatch.from_pylist([*map(_fit, rows)], schema)


_UPSTREAM = {"verified_purchase": "verified purchase", "star": "rating"}  # column -> its name there
_INTEGERS = ("num_ratings", "timestamp", "helpful")


def _fit(row: Row) -> Row:
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
