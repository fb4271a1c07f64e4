"""The rules of CoSRec's product catalogue, one by one, and the pins of the raw files."""

import importlib
import json
import sys

import pytest
from catalogue_files import PRODUCT, REVIEW, SPACES

from parley.collection import get

assert get("cosrec").jobs  # imports the package
HOME = "parley_datasets.cosrec.catalogue"
rules = importlib.import_module(f"{HOME}.rules")
sift = importlib.import_module(f"{HOME}.sift")
sources = importlib.import_module(f"{HOME}.sources")
USUAL = rules.Thresholds()


def test_what_satisfies_all_rules_is_kept():
    assert rules.refuse_product(PRODUCT, USUAL) is None
    assert rules.refuse_review(REVIEW, USUAL) is None
    assert rules.catalogue_id(REVIEW) == "B01"


# fmt: off
@pytest.mark.parametrize(("rule", "changes"), [
    ("parent_asin", {"parent_asin": None}), ("parent_asin", {"parent_asin": ""}),
    ("parent_asin", {"parent_asin": 5}),
    ("title", {"title": None}), ("title", {"title": ""}), ("title", {"title": ["x"]}),
    ("description", {"description": None}), ("description", {"description": "text of it"}),
    ("description", {"description": [None]}), ("description", {"features": None}),
    ("description", {"features": ["a", 5]}), ("description", {"features": []}),
    ("details", {"details": None}), ("details", {"details": {}}),
    ("details", {"details": '{"a": 1}'}),
    ("categories", {"categories": []}), ("categories", {"categories": [""]}),
    ("categories", {"categories": None}), ("categories", {"categories": ["a", None]}),
    ("ratings", {"rating_number": 0}), ("ratings", {"rating_number": 7.0}),
    ("ratings", {"rating_number": "7"}), ("ratings", {"rating_number": False}),
    ("ratings", {"average_rating": 4}), ("ratings", {"average_rating": -0.1}),
    ("ratings", {"average_rating": float("nan")}), ("ratings", {"average_rating": None}),
    ("store", {"store": None}), ("store", {"store": ""}),
    ("price", {"price": None}), ("price", {"price": 10}), ("price", {"price": "\u2014"}),
    ("price", {"price": "from 17.25"}), ("price", {"price": "nan"}), ("price", {"price": "inf"}),
    ("price", {"price": 0.0}), ("price", {"price": "-1"}), ("price", {"price": True}),
    ("short", {"features": ["12345678"]}), ("short", {"features": [""]}),
    ("not_english", {"title": "\u0100\u0100a"}),
    ("not_english", {"features": ["\u0100\u0100\u0100 34567"]}),
])
def test_a_product_is_refused_by(rule, changes):
    assert rules.refuse_product(PRODUCT | changes, USUAL) == rule


@pytest.mark.parametrize("changes", [
    {"features": [], "description": ["made of words"]}, {"features": ["123456789"]},
    {"categories": ["", ""]}, {"categories": ["a", ""]}, {"rating_number": True},
    {"rating_number": 10**30}, {"average_rating": 0.0}, {"average_rating": -0.0},
    {"price": " 12 "},
    {"price": "1e3"}, {"price": "1_000"}, {"price": "\uff11\uff12"}, {"title": "\u0100a"},
    {"title": "\u00ff"}, {"features": ["\u0100\u0100 234567"]}, {"bought_together": []},
])
def test_a_product_is_kept_with(changes):
    assert rules.refuse_product(PRODUCT | changes, USUAL) is None


@pytest.mark.parametrize(("rule", "changes"), [
    ("user_id", {"user_id": None}), ("user_id", {"user_id": ""}),
    ("timestamp", {"timestamp": -1}), ("timestamp", {"timestamp": 1.0}),
    ("timestamp", {"timestamp": "1"}),
    ("rating", {"rating": 5}), ("rating", {"rating": 0.99}), ("rating", {"rating": 5.01}),
    ("rating", {"rating": float("nan")}), ("rating", {"rating": None}),
    ("title", {"title": ""}), ("title", {"title": None}), ("text", {"text": ""}),
    ("text", {"text": 5}),
    ("verified_purchase", {"verified_purchase": 1}),
    ("verified_purchase", {"verified_purchase": None}),
    ("helpful_vote", {"helpful_vote": -1}), ("helpful_vote", {"helpful_vote": 1.0}),
    ("short", {"text": "123456789"}), ("not_english", {"title": "\u0100\u0100a"}),
    ("not_english", {"text": "\u0100\u0100\u010034567890"}),
])
def test_a_review_is_refused_by(rule, changes):
    assert rules.refuse_review(REVIEW | changes, USUAL) == rule
# fmt: on


def test_the_first_rule_that_is_not_satisfied_refuses():
    """Each record satisfies the rules up to one, and none after it."""
    nothing = dict.fromkeys(rules.PRODUCT_KEYS)
    fields = ["parent_asin", "title", "description", "details", "categories", "ratings", "store"]
    record = dict(nothing)
    for rule in [*fields, "price"]:
        assert rules.refuse_product(record, USUAL) == rule
        for key in {
            "ratings": ["rating_number", "average_rating"],
            "description": ["description", "features"],
        }.get(rule, [rule]):
            record[key] = PRODUCT[key]
    record = dict.fromkeys(rules.REVIEW_KEYS)
    assert rules.catalogue_id(record) is None
    for rule in rules.REVIEW_RULES[2:9]:
        assert rules.refuse_review(record, USUAL) == rule
        record[rule] = REVIEW[rule]


def test_thresholds_are_options():
    short = PRODUCT | {"features": ["\u0100"], "title": "\u0100"}
    assert rules.refuse_product(short, rules.Thresholds(3, 0, 0)) == "short"
    assert rules.refuse_product(short, rules.Thresholds(2, 0.01, 0)) == "not_english"
    assert rules.refuse_product(short, rules.Thresholds(2, 0, 0.6)) == "not_english"
    assert rules.refuse_product(short, rules.Thresholds(2, 0, 0.5)) is None


@pytest.mark.parametrize(
    ("key", "whole", "refuse"),
    [
        (key, PRODUCT, lambda record: rules.refuse_product(record, USUAL))
        for key in rules.PRODUCT_KEYS
    ]
    + [(key, REVIEW, rules.catalogue_id) for key in rules.REVIEW_KEYS],
)
def test_a_record_without_a_key_is_broken(key, whole, refuse):
    with pytest.raises(rules.BrokenError, match=f"lacks {key}$"):
        refuse({name: value for name, value in whole.items() if name != key})


@pytest.mark.parametrize("together", [5, 0, True, 1.5])
def test_what_has_no_length_is_no_bought_together(together):
    with pytest.raises(rules.BrokenError, match="bought_together"):
        rules.refuse_product(PRODUCT | {"bought_together": together}, USUAL)


def test_ratings_become_stars():
    given = [1.0, 1.49, 1.5, 2.5, 3.4989, 3.499, 3.5, 4.4, 5.0]
    assert [rules.to_star(rating) for rating in given] == [1, 1, 2, 3, 3, 4, 4, 4, 5]


def test_cleaning_takes_br_and_all_whitespace_of_unicode():
    assert rules.clean("one<br />two <br /> three") == "onetwo three"
    assert rules.clean("<br>a<BR/>&amp;\u200b") == "<br>a<BR/>&amp;\u200b"
    assert len(SPACES) == 29
    for space in SPACES:
        assert rules.clean(f"{space}a{space}{space}b{space}") == "a b"
        assert rules.clean(f"a{space}b") == "a b"
    for code in range(sys.maxunicode + 1):
        if chr(code) not in SPACES:
            assert rules.clean(chr(code)) == chr(code)


@pytest.mark.parametrize("line", [
    b"{}", b"12345678901234567890123", b"-9223372036854775809", b"NaN", b"-Infinity", b"1e400",
    rb'"\ud800"', b'{"a": 1, "a": 2}', b' [1] \r', b"-0", b"-0.0", b"9007199254740993", b"1E5",
])  # fmt: skip
def test_parsing_takes_what_python_takes(line):
    assert repr(rules.parse_exactly(line)) == repr(json.loads(line))
    parsed = rules.parse(line)
    assert repr(parsed) == repr(json.loads(line)) or (
        type(parsed) is float and rules.doubtful_review({"timestamp": parsed}, "timestamp")
    )


@pytest.mark.parametrize("line", [
    b"", b"\n", b"{", b"01", b"\xef\xbb\xbf{}", b'"\xff"', b'"\xed\xa0\x80"', b'"\x01"', b"{}{}",
    b"'a'",
    b"1" * 5000, b"[" * 100_000,
])  # fmt: skip
def test_parsing_refuses_what_python_refuses(line):
    with pytest.raises(rules.BrokenError):
        rules.parse(line)


def test_real_records(source):
    """The documented run of upstream's script on the real records at hand."""
    folder = source / "amazon_reviews_2023" / "raw" / "meta_categories"
    lines = (folder / "meta_Health_and_Personal_Care.sample1714.jsonl").read_bytes().splitlines()
    sifted = sift.sift_products(lines, range(1714), USUAL)
    assert sifted.counts == {"description": 1294, "categories": 419, "details": 1}
    lines = (folder / "five_records.jsonl").read_bytes().splitlines()
    sifted = sift.sift_products(lines, range(5), USUAL)
    assert sifted.counts["kept"] == 1
    (row,) = sifted.rows.to_pylist()
    assert (row["parent_asin"], row["price"]) == ("B0751M85FV", 69.0)


def test_real_reviews(source):
    folder = source / "amazon_reviews_2023" / "raw" / "review_categories"
    lines = (folder / "two_records.jsonl").read_bytes().splitlines()
    sifted = sift.sift_reviews(lines, range(2), USUAL)
    rows = sifted.rows.to_pylist()
    assert [(row["rule"], row["star"], row["verified_purchase"]) for row in rows] == [
        (None, 5, True),
        (None, 5, False),
    ]


# Sources ------------------------------------------------------------------------------------


def test_pins_of_the_raw_files():
    found = {file: pin for files in sources.SOURCES.values() for file, pin in files.items()}
    assert (len(sources.SOURCES), len(found)) == (34, 68)
    assert sum(pin["size"] for f, pin in found.items() if "/meta_" in f) == 101_396_251_783
    assert sum(pin["size"] for f, pin in found.items() if "/review_" in f) == 275_402_798_613
    assert all(len(bytes.fromhex(pin["sha256"])) == 32 for pin in found.values())
    assert all(p["url"].endswith(f"/{sources.REVISION}/{f}") for f, p in found.items())
