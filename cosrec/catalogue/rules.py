"""The rules of CoSRec's catalogue: which products and reviews are kept, and how they are cleaned.

Each is a function of one parsed record. Their order is upstream's, in
`scripts/catalogue_preprocessing.py`: the first rule that a record does not satisfy is the one
that refuses it. All look at the text as it came; only kept text is cleaned.

The rules tell JSON's types apart as Python does: 4 is an integer and 4.0 is not, `true` is the
integer 1, and the text "12.50" is a price because `float` takes it.
"""

import json
import math
from collections.abc import Callable, Mapping
from operator import itemgetter
from typing import Any

import orjson

# In the order in which they are tried; docs/catalogue.md describes them
PRODUCT_RULES = (
    "parent_asin", "title", "description", "details", "categories", "ratings", "store", "price",
    "short", "not_english",
)  # fmt: skip
REVIEW_RULES = (
    "parent_asin", "not_in_catalogue", "user_id", "timestamp", "rating", "title", "text",
    "verified_purchase", "helpful_vote", "short", "not_english",
)  # fmt: skip
# Values of keys that each record must have, be it null: upstream's script ends at one without
_product_values = itemgetter(
    "parent_asin", "title", "description", "features", "details", "categories", "rating_number",
    "average_rating", "store", "price", "bought_together",
)  # fmt: skip
_review_values = itemgetter(
    "parent_asin", "user_id", "timestamp", "rating", "title", "text", "verified_purchase",
    "helpful_vote",
)  # fmt: skip
# Values that are kept of each, under the names and in the order of upstream's output
PRODUCT_VALUES = (
    "parent_asin", "title", "description", "details", "categories", "store", "price", "num_ratings",
    "avg_ratings",
)  # fmt: skip
REVIEW_VALUES = ("user", "timestamp", "verified purchase", "title", "text", "rating", "helpful")

# The star of a review that another rule refuses is counted all the same
STARLESS_RULES = REVIEW_RULES[:5]

SHORTEST = 10  # characters of a product's text (description and features), of a review's
TITLE_SHARE, TEXT_SHARE = 0.5, 0.8  # the least shares of characters up to U+00FF (Latin-1)


class BrokenError(ValueError):
    """A line that upstream's script ends at: no JSON object, or one that lacks a key."""


def parse(line: bytes) -> dict[str, Any]:
    """Parse a line as Python's `json` does, in less time.

    NaN, Infinity, numbers beyond any float and lone surrogates are taken, as `json` takes them.
    But an integer of more than 64 bits becomes a float: see `parse_exactly`. BrokenError if the
    line is not JSON in UTF-8, or no object.
    """
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError:
        record = parse_exactly(line)
    if not isinstance(record, dict):
        raise BrokenError(f"expected an object, found {json.dumps(record):.60}")
    return record


def parse_exactly(line: bytes) -> Any:
    """Parse a line with Python's `json`; BrokenError if it is not JSON in UTF-8."""
    try:
        return json.loads(line.decode("utf-8"))
    except ValueError as error:  # of JSON or UTF-8, and of integers of thousands of digits
        raise BrokenError(f"it is not JSON: {error}") from None


def refuse_product(record: Mapping[str, Any]) -> str | None:
    """Return the first of PRODUCT_RULES that a metadata record does not satisfy, or None.

    KeyError if it lacks a key, BrokenError if its bought_together has no length.
    """
    values = _product_values(record)
    parent_asin, title, description, features, details, categories, *numbers = values
    number, average, store, price, together = numbers
    if together is not None and not isinstance(together, str | list | dict):
        expected = "bought_together: expected null, a list, an object or a text"
        raise BrokenError(f"{expected}, found {json.dumps(together)}")
    if type(parent_asin) is not str or not parent_asin:
        return "parent_asin"
    if type(title) is not str or not title:
        return "title"
    if not (_are_texts(description) and _are_texts(features)) or not (description or features):
        return "description"
    if type(details) is not dict or not details:
        return "details"
    if not _are_texts(categories) or not categories or categories == [""]:
        return "categories"
    if not isinstance(number, int) or number <= 0:
        return "ratings"
    if type(average) is not float or not 0 <= average < math.inf:
        return "ratings"
    if type(store) is not str or not store:
        return "store"
    price = to_price(price)
    if price is None or not 0 < price < math.inf:
        return "price"
    text = f"{' '.join(description)} {' '.join(features)}"
    if len(text) < SHORTEST:
        return "short"
    if not _is_english(title, text):
        return "not_english"
    return None


def to_price(price: Any) -> float | None:
    """Return a price as a float: of a float or of a text that `float` takes; else None."""
    try:
        return float(price) if type(price) in (float, str) else None
    except ValueError:
        return None


def clean_product(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of a product that no rule refused."""
    return {
        "parent_asin": record["parent_asin"],
        "title": clean(record["title"]),
        "description": [*map(clean, record["description"] + record["features"])],
        "details": _dumps(record["details"]),
        "categories": record["categories"],
        "store": record["store"],
        "price": to_price(record["price"]),
        "num_ratings": record["rating_number"],
        "avg_ratings": record["average_rating"],
    }


_dumps = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def refuse_review(record: Mapping[str, Any], may_hold: Callable[[str], object]) -> str | None:
    """Return the first of REVIEW_RULES that a record does not satisfy, or None.

    `may_hold` tells whether a product may be in the catalogue, and may err on the side of yes.
    KeyError if the record lacks a key.
    """
    values = _review_values(record)
    parent_asin, user, timestamp, rating, title, text, verified, helpful = values
    if type(parent_asin) is not str or not parent_asin:
        return "parent_asin"
    if not may_hold(parent_asin):
        return "not_in_catalogue"
    if type(user) is not str or not user:
        return "user_id"
    if not isinstance(timestamp, int) or timestamp < 0:
        return "timestamp"
    if type(rating) is not float or not 1.0 <= rating <= 5.0:
        return "rating"
    if type(title) is not str or not title:
        return "title"
    if type(text) is not str or not text:
        return "text"
    if type(verified) is not bool:
        return "verified_purchase"
    if not isinstance(helpful, int) or helpful < 0:
        return "helpful_vote"
    if len(text) < SHORTEST:
        return "short"
    if not _is_english(title, text):
        return "not_english"
    return None


def to_star(rating: float) -> int:
    """Return a rating from 1.0 to 5.0 as stars; a half goes up."""
    return round(rating + 0.001)


def clean_review(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of a review that no rule refused."""
    return {
        "user": record["user_id"],
        "timestamp": record["timestamp"],
        "verified_purchase": record["verified_purchase"],
        "title": clean(record["title"]),
        "text": clean(record["text"]),
        "star": to_star(record["rating"]),
        "helpful": record["helpful_vote"],
    }


def clean(text: str) -> str:
    """Delete `<br />`, make each run of Unicode whitespace one space, and strip."""
    # split() knows the same whitespace as `\s` and strip()
    return " ".join(text.replace("<br />", "").split())


def latin_share(text: str) -> float:
    """Return the share of characters up to U+00FF; the text is not empty."""
    return len(text.encode("latin-1", "ignore")) / len(text)


def _is_english(title: str, text: str) -> bool:
    return latin_share(title) >= TITLE_SHARE and latin_share(text) >= TEXT_SHARE


def _are_texts(value: Any) -> bool:
    return type(value) is list and set(map(type, value)) <= {str}
