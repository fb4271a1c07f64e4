"""Generate files in the shape of Amazon Reviews 2023, with its irregularities.

    python benchmarks/generate_catalogue.py DIR [--megabytes 400] [--categories 3]

Writes DIR/meta_categories/meta_<C>.jsonl.gz and DIR/review_categories/<C>.jsonl.gz. The words are
invented. Record lengths, keys, their order and the shares below follow the real files where known.
"""

import argparse
import gzip
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# Field -> share of products -> another value. In 1,719 real records, description and features are
# both empty in 75% and the price is missing in 86%. Lower shares keep about half of the products,
# twice upstream's share (12 of 48 million), so that the later steps are measured too.
ODD_PRODUCTS: list[tuple[float, str, Any]] = [
    (0.2, "price", None),
    (0.03, "price", "12.34"),
    (0.02, "description", ["\u65e5\u672c\u8a9e\u306e\u8aac\u660e" * 10]),
    (0.1, "description", ["Of one<br />and of two <br /> parts"]),
    (0.1, "title", "This &amp; that"),
    (0.05, "title", "Two\u2003words\u3000and\x85more"),
    (0.08, "categories", []),
    (0.03, "store", None),
]
# The same of reviews
ODD_REVIEWS: list[tuple[float, str, Any]] = [
    (0.12, "text", "Good."),
    (0.15, "text", "A sentence of some words.<br /><br />And another one."),
    (0.01, "text", "\u043e\u0442\u043b\u0438\u0447\u043d\u043e " * 3),
]
WITHOUT_TEXT, UNKNOWN_PRODUCT = 0.2, 0.3
TWICE = 0.002


class Maker:
    """A maker of the records of one category, the same each time."""

    def __init__(self, category: str) -> None:
        self.category = category
        self.draw = draw = random.Random(f"0 {category}")
        letters, weights = "etaoinshrdlucmfwypvbgkqjxz", range(26, 0, -1)
        words = ["".join(draw.choices(letters, weights, k=draw.randint(2, 9))) for _ in range(5000)]

        def some(count: int, least: int, most: int) -> list[str]:
            texts = (draw.choices(words, k=draw.randint(least, most)) for _ in range(count))
            return [" ".join(text).capitalize() + "." for text in texts]

        # drawn once for speed, and enough of them to compress no better than real files
        self.sentences, self.titles = some(40_000, 4, 24), some(20_000, 2, 12)
        self.stores = words[:2000]

    def odd(self, record: dict[str, Any], kinds: list[tuple[float, str, Any]]) -> dict[str, Any]:
        """Return a record with an odd value here and there."""
        return record | {key: value for share, key, value in kinds if self.draw.random() < share}

    def product(self, asin: str) -> dict[str, Any]:
        """Return a metadata record."""
        draw = self.draw
        empty = draw.random() < WITHOUT_TEXT
        image = f"https://images.example/I/{draw.getrandbits(52):011x}._AC_SL1500_.jpg"
        sizes = dict.fromkeys(("thumb", "large", "variant", "hi_res"), image)
        record = {
            "main_category": self.category.replace("_", " "),
            "title": draw.choice(self.titles),
            "average_rating": draw.randint(10, 50) / 10,
            "rating_number": draw.randint(1, 3000),
            "features": [] if empty else draw.choices(self.sentences, k=draw.randint(0, 5)),
            "description": [] if empty else draw.choices(self.sentences, k=draw.randint(1, 3)),
            "price": draw.randint(100, 20_000) / 100,
            "images": [sizes] * draw.randint(1, 3),
            "videos": [],
            "store": draw.choice(self.stores),
            "categories": [self.category, *draw.choices(self.stores, k=draw.randint(1, 3))],
            "details": {
                "Brand": draw.choice(self.stores),
                "Item Weight": f"{draw.randint(1, 40)} Ounces",
                "Best Sellers Rank": {self.category: draw.randint(1, 10**6)},
            },
            "parent_asin": asin,
            "bought_together": None,
        }
        return self.odd(record, ODD_PRODUCTS)

    def products(self, count: int) -> Iterator[dict[str, Any]]:
        """Yield metadata records; repeat some ids with other content."""
        for number in range(count):
            if self.draw.random() < TWICE:
                yield self.product(asin(self.draw.randrange(number + 1)))
            yield self.product(asin(number))

    def reviews(self, count: int, products: int) -> Iterator[dict[str, Any]]:
        """Yield review records of the products, and of some products without metadata."""
        draw = self.draw
        for _ in range(count):
            number = int(products * draw.random() ** 2)  # skewed towards some products
            if draw.random() < UNKNOWN_PRODUCT:
                number += products
            record = {
                "rating": 5.0 - int(5 * draw.random() ** 3),
                "title": draw.choice(self.titles),
                "text": " ".join(draw.choices(self.sentences, k=1 + int(4 * draw.random() ** 2))),
                "images": [],
                "asin": asin(number),
                "parent_asin": asin(number),
                "user_id": f"A{draw.getrandbits(130):027X}"[:28],
                "timestamp": 1_000_000_000_000 + int(6e11 * draw.random()),
                "helpful_vote": int(3 * draw.random() ** 4),
                "verified_purchase": draw.random() < 0.9,
            }
            yield self.odd(record, ODD_REVIEWS)


def asin(number: int) -> str:
    """Return an id in the form of real ids."""
    return f"B0{number * 7919 % 36**5:08X}"


def write(folder: Path, megabytes: float, categories: int) -> None:
    """Write files of about this total size of JSON, five reviews per product."""
    for name in ("meta_categories", "review_categories"):
        (folder / name).mkdir(parents=True)
    products = int(megabytes * 1e6 / categories / 3410)
    for number in range(categories):
        maker = Maker(f"Category_{number:02d}")
        name = f"{maker.category}.jsonl.gz"
        for path, records in (
            (folder / "meta_categories" / f"meta_{name}", maker.products(products)),
            (folder / "review_categories" / name, maker.reviews(5 * products, products)),
        ):
            with gzip.open(path, "wt", compresslevel=6, encoding="utf-8") as file:  # as gzip(1)
                file.writelines(json.dumps(record) + "\n" for record in records)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--megabytes", type=float, default=400)
    parser.add_argument("--categories", type=int, default=3)
    given = parser.parse_args()
    write(given.folder, given.megabytes, given.categories)
