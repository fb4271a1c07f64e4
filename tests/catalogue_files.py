"""Hostile files for the catalogue: every type at every field, and all that `json` takes."""

import gzip
import itertools
import json
import random
import sys

SPACES = "".join(chr(c) for c in range(sys.maxunicode + 1) if chr(c).isspace())
ODD = [
    None, True, False, 0, 1, 7, -1, 7.0, 4.5, -0.0, 1e16, 1e-7, 1e300, 2**63 - 1, 2**63, 2**64,
    10**25, -(2**63) - 1, 2.0**63, 2.0**64, float("nan"), float("inf"), float("-inf"), "", " ",
    "x", "7", "4.0", "nan", "inf", "-Infinity", "1_000", " 12.99 ", "\u00a012\u2003",
    "\uff11\uff12.5", "1e3", "0x10", "$5", "from 17.25", "\u2014", "1e400", "-3", "0", "1__0",
    "\u0661\u0662", "\ud800", "1\x00", [], [""], ["", ""], ["a", None], ["a", 1], [[]], {},
    {"a": 1}, {"": ""}, "text of some length", ["text", "of some length"],
]  # fmt: skip
TEXTS = [
    "plain words enough", "a<br />b", "<br />", " <br /> ", "one<br/>two <br>",
    "&amp; &#39;quoted&#39;",
    *(f"{space}in{space}{space}side{space}" for space in SPACES), f"all {SPACES} of them", SPACES,
    "zero\u200bwidth\ufeff\u180e", "\u65e5\u672c\u8a9e" * 4,
    "half \u65e5\u672c\u8a9e\u65e5\u672c\u8a9e!", "Caf\u00e9 \u00ff\u0100",
    "four \u65e5 in five", "lone \ud800 half", "pair \ud83d\ude00",
    "\U0001f600\U0001f601 long enough", "nul \x00 in it", "back\\slash \"quoted\"\n\r\t\x0b",
    "\udc00\ud800", "123456789", "1234567890", "tags <b>bold</b> <br  /> <br />end", "< br />",
    "<<br />br />", "a<br /> <br />b",
]  # fmt: skip
DETAILS = [
    {"Brand": "x"}, {"b": 1, "a": 2}, {"Rank": {"in": 1887, "x": [1.0, None, True]}}, {"": ""},
    {"big": 10**30, "f": 1e22, "g": 1e16, "h": 0.1, "i": 12345678901234567890,
     "j": -0.0, "k": 5e-324},
    {"nan": float("nan"), "inf": [float("inf")]}, {"\ud800": "\udfff"},
    {"u": "\u65e5\u007f\x1f\u2028"},
    {"deep": [[[[[[[[[["x"]]]]]]]]]]}, {"q": 2.0**64}, {"n": "\x00"},
]  # fmt: skip
ASINS = [
    "B01", "B02", "b02", "B03", "B\u00e9", "\uffff", "\U00010000",
    "\ud800", "\udc00", "B\x00", " B01", "Z'\"", "\u65e5",
]  # fmt: skip

# One of each that satisfies all rules
PRODUCT = {
    "parent_asin": "B01", "title": "A title", "average_rating": 4.5, "rating_number": 3,
    "features": ["made of words"], "description": [], "price": 12.5, "store": "Store",
    "categories": ["Things"], "details": {"Brand": "Store"}, "bought_together": None,
}  # fmt: skip
REVIEW = {
    "parent_asin": "B01", "title": "A title", "text": "Some words of it",
    "timestamp": 1_600_000_000_000, "user_id": "A1", "verified_purchase": True, "rating": 5.0,
    "helpful_vote": 0,
}  # fmt: skip


EDGES = [
    0.01, 0.99, 1.01, 5.01, 123456.789, "\u0100a", "\u0100\u0100a", "\u00ff", ["12345678"],
    ["123456789"], ["\u0100\u0100 234567"], ["\u0100\u0100\u0100 34567"],
    "\u0100\u0100 34567890", "\u0100\u0100\u010034567890", "12", "-1", {"B": "x"},
]  # fmt: skip


LISTS = [[], TEXTS, *([text] for text in TEXTS)]
PRODUCTS = {  # field -> values of most records, beside those of PRODUCT
    "parent_asin": ASINS, "title": TEXTS, "features": LISTS, "description": LISTS,
    "details": DETAILS, "bought_together": [None, None, [], ["x"], {}, "x"],
}  # fmt: skip
REVIEWS = {
    "parent_asin": [*ASINS, "unknown"], "title": TEXTS, "text": TEXTS,
    "rating": [1.0, 1.5, 2.4, 2.5, 3.4989, 3.499, 3.4995, 4.5, 4.999, 5.0],
    "timestamp": [0, 5, 5, 5, 10**12, 2**63 - 1, 2**63, 2**64, 10**30, 10**31, True],
}  # fmt: skip


def drawn(draw, record, fields, odd):
    """Return a record with drawn values of these fields, and often an odd one of any."""
    record = record | {name: draw.choice(values) for name, values in fields.items()}
    if draw.random() < odd:
        record[draw.choice(sorted(record.keys() - {"bought_together"}))] = draw.choice(ODD)
    return record


def variants(record):
    """Yield a record, then each with another value in one field, and with two fields null."""
    yield record
    fields = [key for key in record if key != "bought_together"]
    for number, (key, value) in enumerate(itertools.product(fields, [*ODD, *TEXTS, *EDGES])):
        own = {"parent_asin": f"V{number}"} if "price" in record else {}  # else the product's
        yield record | own | {key: value}
    yield from (record | dict.fromkeys(keys) for keys in itertools.combinations(fields, 2))


def line(draw, record):
    """Return a record as JSON, in one of the ways in which it may be written."""
    items = list(record.items())
    if draw.random() < 0.2:
        draw.shuffle(items)
    text = json.dumps(
        dict(items),
        ensure_ascii=draw.random() < 0.5 or "\\ud" in json.dumps(record),
        separators=draw.choice([None, (",", ":"), (" ,\t", " : ")]),
    )
    if draw.random() < 0.1:  # the last of a key counts
        text = text.replace("{", '{"title": 5, "price": null, "text": "x", "timestamp": "z", ', 1)
    if draw.random() < 0.1:
        text = f" \t{text}  "
    return text.encode("utf-8")


def hostile(folder, seed, records=400, odd=0.5, padded=True):
    """Write a folder of hostile files, plain and gzip; two categories lack a file.

    One has every value in every field, so that each rule is tried at its edges.
    """
    draw = random.Random(seed)
    for name in ("meta_categories", "review_categories"):
        (folder / name).mkdir(parents=True)
    for category in ("Zeta", "Alpha", "alpha", "Beta_2", "Only.reviews", "Only_products"):
        suffix = draw.choice([".jsonl", ".jsonl.gz"])
        if category != "Only.reviews":
            kept = "Beta_2" not in category  # of one category nothing is kept
            more, odds = ({}, odd) if kept else ({"price": None}, 0)
            made = [drawn(draw, PRODUCT, PRODUCTS, odds) | more for _ in range(records)]
            made += variants(PRODUCT) if category == "alpha" else ()
            put(folder / "meta_categories" / f"meta_{category}{suffix}", draw, made, padded)
        if category != "Only_products":
            made = [drawn(draw, REVIEW, REVIEWS, odd) for _ in range(4 * records)]
            made += variants(REVIEW) if category == "alpha" else ()
            put(folder / "review_categories" / f"{category}{suffix}", draw, made, padded)
    (folder / "meta_categories" / "notes.txt").write_text("none")
    return folder


def put(path, draw, records, padded):
    end = draw.choice([b"\n", b"\n", b"\r\n", b"\r"])
    data = end.join(line(draw, record) for record in records) + draw.choice([end, b""])
    if path.suffix == ".gz":
        half = len(data) // 2  # two members, and zeros after them, are one file
        data = gzip.compress(data[:half]) + gzip.compress(data[half:])
        data += b"\0" * padded * draw.choice([0, 512])
    path.write_bytes(data)
