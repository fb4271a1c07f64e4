"""The two published tables: their columns, and how the rows of `sift` become theirs.

The statements run on DuckDB and on Spark alike, over the views `sifted_products` and
`sifted_reviews`, which hold the rows of `sift`.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa

from parley import write_table

from .sift import PRODUCT, schema

_STARS = range(1, 6)

_STARRED = ", ".join(f"stars_{star} int64" for star in _STARS)
PRODUCTS = schema(
    f"{PRODUCT}, {_STARRED}, star_count int64, star_mean float64, review_count int64, "
    "num_valid_ratings int64, avg_valid_ratings float64, exact string"
)
REVIEWS = schema(
    "parent_asin string, user_id string, timestamp int64, verified_purchase bool, title string, "
    "text string, rating int64, helpful int64, exact string"
)
SCHEMAS = {"products": PRODUCTS, "reviews": REVIEWS}

Query = Callable[[str], Iterable[pa.RecordBatch]]
"""Returns the rows of a statement."""

_COUNTED = ", ".join(
    f"count(CASE WHEN star = {star} THEN 1 END) AS stars_{star}" for star in _STARS
)
_NUMBER = " + ".join(f"coalesce(stars_{star}, 0)" for star in _STARS)
_SUM = " + ".join(f"{star} * coalesce(stars_{star}, 0)" for star in _STARS)

# Of the lines with one id the last that was kept counts. num_valid_ratings and avg_valid_ratings
# are upstream's, which divides by the number of kinds of stars instead of the number of stars.
_PRODUCTS_SQL = f"""
SELECT p.parent_asin, p.title, p.description, p.details, p.categories, p.store, p.price,
  p.num_ratings, p.avg_ratings,
  {", ".join(f"coalesce(stars_{star}, 0) AS stars_{star}" for star in _STARS)},
  {_NUMBER} AS star_count,
  CASE WHEN {_NUMBER} > 0 THEN ({_SUM}) / ({_NUMBER}) END AS star_mean,
  coalesce(review_count, 0) AS review_count,
  CAST({len(_STARS)} AS BIGINT) AS num_valid_ratings,
  ({_SUM}) / {len(_STARS)} AS avg_valid_ratings,
  p.exact
FROM sifted_products p
JOIN (SELECT key, max(position) AS position FROM sifted_products GROUP BY key) last
  ON p.key = last.key AND p.position = last.position
LEFT JOIN (
  SELECT key, {_COUNTED}, count(CASE WHEN rule IS NULL THEN 1 END) AS review_count
  FROM sifted_reviews GROUP BY key
) counted ON p.key = counted.key
ORDER BY p.key
"""  # noqa: S608
_REVIEWS_SQL = """
SELECT p.parent_asin, r.user AS user_id,
  CASE WHEN r.beyond IS NULL THEN r.timestamp END AS timestamp,
  r.verified_purchase, r.title, r.text, CAST(r.star AS BIGINT) AS rating, r.helpful, r.exact
FROM sifted_reviews r
JOIN (SELECT key, min(parent_asin) AS parent_asin FROM sifted_products GROUP BY key) p
  ON r.key = p.key
WHERE r.rule IS NULL
ORDER BY r.key, r.timestamp, r.beyond NULLS FIRST, r.position
"""
SQL = {"products": _PRODUCTS_SQL, "reviews": _REVIEWS_SQL}
# The reviews that have rows: rule (null if kept), whether the product is in the
# catalogue, and how many.
REVIEW_COUNTS_SQL = """
SELECT r.rule, p.key IS NOT NULL AS known, count(*) AS number
FROM sifted_reviews r LEFT JOIN (SELECT DISTINCT key FROM sifted_products) p ON r.key = p.key
GROUP BY 1, 2
"""


def write(
    rows: Iterable[pa.RecordBatch], table: str, folder: Path, category: str
) -> dict[str, Any]:
    """Write the rows of a table of a category to a new folder, and return its provenance."""
    import datasets  # takes half a second, in which the processes can be at work already

    folder.mkdir(parents=True)
    schema = SCHEMAS[table]
    features: Any = datasets.Features.from_arrow_schema(schema)
    return write_table((batch.cast(schema) for batch in rows), features, folder, category)
