"""Write upstream's own output from a built catalogue, byte for byte."""

import gzip
import json
import os
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import jsonlines
import pyarrow.parquet as pq

from parley import UsageError, writing

from .rules import PRODUCT_VALUES, REVIEW_VALUES


def write(folder: Path, categories: Iterable[str], target: Path) -> int:
    """Write products with their reviews as upstream's script does, and return how many.

    A line is the JSON of a product, in the order of ids in each category. It has upstream's two
    faulty values: num_valid_ratings is always 5 and avg_valid_ratings a fifth of the sum. The file
    appears when complete; it is compressed if its name ends in `.gz`.
    """
    count = 0
    with (
        writing(target) as file,
        # without a time, and so the same bytes each time
        gzip.GzipFile("", "wb", 6, file, 0) if target.suffix == ".gz" else file as opened,
        jsonlines.Writer(opened, dumps=json.dumps) as lines,
    ):
        for category in categories:
            reviews = _rows(folder / "reviews", category)
            for product in _rows(folder / "products", category):
                own = islice(reviews, product["review_count"])
                lines.write(_record(product, [_review(review) for review in own]))
                count += 1
    return count


def _rows(folder: Path, category: str) -> Iterator[dict[str, Any]]:
    for path in sorted(folder.glob(f"{category}-*.parquet")):
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(1000):
                yield from batch.to_pylist()


def _record(row: dict[str, Any], reviews: list[dict[str, Any]]) -> dict[str, Any]:
    record = {name: row[name] for name in PRODUCT_VALUES}
    record["details"] = json.loads(row["details"])
    record["valid_reviews"] = reviews
    record["valid_ratings"] = {str(star): row[f"stars_{star}"] for star in range(1, 6)}
    record["num_valid_ratings"] = row["num_valid_ratings"]
    record["avg_valid_ratings"] = row["avg_valid_ratings"]
    return {**record, **json.loads(row["exact"] or "{}")}


def _review(row: dict[str, Any]) -> dict[str, Any]:
    columns = {"user": "user_id", "verified purchase": "verified_purchase"}
    record = {name: row[columns.get(name, name)] for name in REVIEW_VALUES}
    return {**record, **json.loads(row["exact"] or "{}")}


def require_place(target: Path) -> None:
    """Raise UsageError unless `write` may write `target`, which must be new."""
    place = f"--jsonl {target}"
    if not target.parent.is_dir() or not os.access(target.parent, os.W_OK | os.X_OK):
        raise UsageError(f"{place}: {target.parent} is not a writable folder")
    if target.is_symlink() or target.exists():
        raise UsageError(f"{place}: already exists", remedy="Move it away, or choose another file.")
