"""Generate files in the shape of Amazon Reviews 2023, with its irregularities.

    python benchmarks/generate_catalogue.py DIR [--megabytes 400] [--categories 3] [--plain]

Writes DIR/meta_categories/meta_<C>.jsonl.gz and DIR/review_categories/<C>.jsonl.gz. The words are
invented. Record lengths, keys, their order and the shares below follow the real files where known.
"""

import argparse
import gzip
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

# Quirk -> share of products. In 1,719 real records, description and features are both empty in 75%
# and the price is missing in 86%. Lower shares keep about half of the products, twice upstream's
# share (12 of 48 million), so that the later steps are measured too.
PRODUCT_QUIRKS = {
    "no description": 0.2,
    "no details": 0.002,
    "no categories": 0.08,
    "price null": 0.2,
    "price text": 0.03,
    "price dash": 0.01,
    "price from": 0.01,
    "price whole": 0.01,
    "store null": 0.03,
    "not Latin": 0.02,
    "twice": 0.002,
    "rank in details": 0.3,
    "hi_res null": 0.4,
    "break": 0.1,
    "entity": 0.1,
    "odd space": 0.05,
}
REVIEW_QUIRKS = {
    "unknown product": 0.3,
    "short text": 0.12,
    "no title": 0.003,
    "not Latin": 0.01,
    "break": 0.15,
    "same time": 0.01,
    "images": 0.05,
    "half star": 0.001,
}
ODD_SPACES = "\u00a0\u2003\u3000\u2028\x85\x1f"


class Maker:
    """A maker of the records of one category from a seed."""

    def __init__(self, category: str, seed: int) -> None:
        self.category = category
        self.draw = random.Random(f"{seed} {category}")
        letters = "etaoinshrdlucmfwypvbgkqjxz"
        weights = range(26, 0, -1)
        words = [
            "".join(self.draw.choices(letters, weights, k=self.draw.randint(2, 9)))
            for _ in range(5000)
        ]
        # drawn once for speed, and enough of them to compress no better than real files
        self.sentences = [
            " ".join(self.draw.choices(words, k=self.draw.randint(4, 24))).capitalize() + "."
            for _ in range(40_000)
        ]
        self.titles = [
            " ".join(self.draw.choices(words, k=self.draw.randint(2, 12))).title()
            for _ in range(20_000)
        ]
        self.stores = [word.capitalize() for word in words[:2000]]

    def text(self, sentences: int) -> str:
        """Return some sentences."""
        return " ".join(self.draw.choices(self.sentences, k=sentences))

    def image(self, hi_res: bool) -> dict[str, Any]:
        """Return an image of a product."""
        name = f"https://images.example/I/{self.draw.getrandbits(52):011x}"
        return {
            "thumb": f"{name}._AC_US40_.jpg",
            "large": f"{name}._AC_.jpg",
            "variant": "MAIN",
            "hi_res": f"{name}._AC_SL1500_.jpg" if hi_res else None,
        }

    def product(self, asin: str) -> dict[str, Any]:
        """Return a metadata record."""
        draw = self.draw
        quirks = {name for name, share in PRODUCT_QUIRKS.items() if draw.random() < share}
        title = draw.choice(self.titles)
        features = draw.choices(self.sentences, k=draw.randint(0, 5))
        description = draw.choices(self.sentences, k=draw.randint(1, 3))
        details: dict[str, Any] = {
            "Brand": draw.choice(self.stores),
            "Item Weight": f"{draw.randint(1, 40)} Ounces",
            "Package Dimensions": f"{draw.randint(1, 20)} x {draw.randint(1, 20)} x 2 inches",
            "Date First Available": f"July {draw.randint(1, 28)}, 20{draw.randint(10, 23)}",
        }
        price: Any = draw.randint(100, 20_000) / 100
        if quirks & {"break", "entity", "odd space"}:
            if "break" in quirks:
                description.append(f"one<br />two <br /> {draw.choice(self.titles)}")
            if "entity" in quirks:
                title += " &amp; more"
            if "odd space" in quirks:
                title += draw.choice(ODD_SPACES) + " end"
        if "not Latin" in quirks:
            description = ["\u65e5\u672c\u8a9e\u306e\u8aac\u660e" * draw.randint(1, 20)]
        if "no description" in quirks:
            features, description = [], []
        if "rank in details" in quirks:
            details["Best Sellers Rank"] = {self.category: draw.randint(1, 10**6)}
        if "no details" in quirks:
            details = {}
        for kind, value in (
            ("price null", None),
            ("price text", f"{price}"),
            ("price dash", "\u2014"),
            ("price from", f"from {price}"),
            ("price whole", int(price)),
        ):
            if kind in quirks:
                price = value
        categories = (
            []
            if "no categories" in quirks
            else [self.category, *draw.choices(self.stores, k=draw.randint(1, 3))]
        )
        hi_res = "hi_res null" not in quirks
        return {
            "main_category": self.category.replace("_", " "),
            "title": title,
            "average_rating": draw.randint(10, 50) / 10,
            "rating_number": draw.randint(1, 3000),
            "features": features,
            "description": description,
            "price": price,
            "images": [self.image(hi_res) for _ in range(draw.randint(1, 3))],
            "videos": [],
            "store": None if "store null" in quirks else draw.choice(self.stores),
            "categories": categories,
            "details": details,
            "parent_asin": asin,
            "bought_together": None,
        }

    def products(self, count: int) -> Iterator[dict[str, Any]]:
        """Yield metadata records; repeat some ids with other content."""
        for number in range(count):
            if self.draw.random() < PRODUCT_QUIRKS["twice"]:
                yield self.product(asin(self.draw.randrange(number + 1)))
            yield self.product(asin(number))

    def reviews(self, count: int, products: int) -> Iterator[dict[str, Any]]:
        """Yield review records of the products, and of some products without metadata."""
        draw, time = self.draw, 0
        for _ in range(count):
            chance = draw.random
            number = int(products * chance() ** 2)  # skewed towards some products
            if chance() < REVIEW_QUIRKS["unknown product"]:
                number += products
            if chance() >= REVIEW_QUIRKS["same time"]:
                time = 1_000_000_000_000 + int(6e11 * chance())
            text = self.text(1 + int(4 * chance() ** 2))
            if chance() < REVIEW_QUIRKS["short text"]:
                text = "Good."
            if chance() < REVIEW_QUIRKS["break"]:
                text = text.replace(". ", ".<br /><br />")
            if chance() < REVIEW_QUIRKS["not Latin"]:
                text = "\u043e\u0442\u043b\u0438\u0447\u043d\u043e " * 3
            pictures = []
            if chance() < REVIEW_QUIRKS["images"]:
                url = f"https://images.example/I/{draw.getrandbits(52):011x}"
                pictures = [
                    {f"{size}_image_url": f"{url}.jpg" for size in ("small", "medium", "large")}
                    | {"attachment_type": "IMAGE"}
                ]
            stars = 5.0 - int(5 * chance() ** 3)
            yield {
                "rating": stars - 0.5 if chance() < REVIEW_QUIRKS["half star"] else stars,
                "title": "" if chance() < REVIEW_QUIRKS["no title"] else draw.choice(self.titles),
                "text": text,
                "images": pictures,
                "asin": asin(number),
                "parent_asin": asin(number),
                "user_id": f"A{draw.getrandbits(130):027X}"[:28],
                "timestamp": time,
                "helpful_vote": int(3 * chance() ** 4),
                "verified_purchase": chance() < 0.9,
            }


def asin(number: int) -> str:
    """Return an id in the form of real ids."""
    return f"B0{number * 7919 % 36**5:08X}"


def write(
    folder: Path, megabytes: float = 400, categories: int = 3, plain: bool = False, seed: int = 0
) -> Path:
    """Write files of about this total size of JSON, five reviews per product; return the folder."""
    for name in ("meta_categories", "review_categories"):
        (folder / name).mkdir(parents=True)
    products = int(megabytes * 1e6 / categories / 3410)
    suffix = ".jsonl" if plain else ".jsonl.gz"
    for number in range(categories):
        maker = Maker(f"Category_{number:02d}", seed)
        name = f"{maker.category}{suffix}"
        for path, records in (
            (folder / "meta_categories" / f"meta_{name}", maker.products(products)),
            (folder / "review_categories" / name, maker.reviews(5 * products, products)),
        ):
            with _open(path, plain) as file:
                file.writelines(json.dumps(record).encode() + b"\n" for record in records)
    return folder


def _open(path: Path, plain: bool) -> BinaryIO:
    # 6 is the default of gzip(1)
    return path.open("wb") if plain else gzip.open(path, "wb", compresslevel=6)  # type: ignore[return-value]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--megabytes", type=float, default=400)
    parser.add_argument("--categories", type=int, default=3)
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    write(given.folder, given.megabytes, given.categories, given.plain, given.seed)
