"""The rules of CoSRec's product catalogue, one by one, and the pins of the raw files."""

import importlib
import itertools
import json
import sys

import pytest
from catalogue_files import ODD, PRODUCT, REVIEW, SPACES, TEXTS
from catalogue_reference import add_review, to_product

from parley.building.registry import get

assert get("cosrec").jobs  # imports the package
HOME = "parley_datasets.cosrec.catalogue"
rules = importlib.import_module(f"{HOME}.rules")
sift = importlib.import_module(f"{HOME}.sift")
sources = importlib.import_module(f"{HOME}.sources")


EDGES = [
    0.99, 1.01, 5.01, "\u0100a", "\u0100\u0100a", "\u00ff", "123456789", "1234567890",
    ["12345678"], ["123456789"], ["\u0100\u0100 234567"], ["\u0100\u0100\u0100 34567"],
    "\u0100\u0100 34567890", "\u0100\u0100\u010034567890", '{"a": 1}', "12", "-1", {"B": "x"},
]  # fmt: skip


def variants(record):
    """Yield a record with another value, or none, in one field, and with two fields null."""
    for key in record:
        yield {name: value for name, value in record.items() if name != key}
        yield from (record | {key: odd} for odd in (*ODD, *TEXTS, *EDGES))
    yield from (record | dict.fromkeys(keys) for keys in itertools.combinations(record, 2))
    for empty in ({}, dict.fromkeys(record)):
        yield empty
        for key in record:
            empty = empty | {key: record[key]}
            yield empty


def refused_product(record):
    found = to_product(record)
    return found if isinstance(found, str) else None


def refused_review(record):
    stars = {"valid_ratings": dict.fromkeys("12345", 0), "valid_reviews": []}
    return add_review({"B01": stars}, record)


def refuse_review(record):
    return rules.refuse_review(record, "B01".__eq__)


def judged(judge, *given):
    try:
        return judge(*given)
    except (KeyError, TypeError, rules.BrokenError):
        return "broken"


@pytest.mark.parametrize(
    ("record", "refuse", "due"),
    [
        (PRODUCT, rules.refuse_product, refused_product),
        (REVIEW, refuse_review, refused_review),
    ],
)
def test_every_value_is_refused_by_the_rule_of_the_reference(record, refuse, due):
    found = set()
    for each in [record, *variants(record)]:
        why = judged(due, each)
        assert judged(refuse, each) == why, each
        found.add(why)
    names = rules.PRODUCT_RULES if record is PRODUCT else rules.REVIEW_RULES
    assert found - {"short"} == {None, "broken", *names} - {"short"}


def test_cleaning_takes_br_and_all_whitespace_of_unicode():
    assert rules.clean("one<br />two <br /> three<br>a<BR/>&amp;") == "onetwo three<br>a<BR/>&amp;"
    for space in SPACES:
        assert rules.clean(f"{space}a{space}{space}b{space}") == "a b"
        assert rules.clean(f"a{space}b") == "a b"
    others = "".join(chr(c) for c in range(sys.maxunicode + 1) if chr(c) not in SPACES)
    assert rules.clean(others) == others


@pytest.mark.parametrize("text", [
    "{}", "18446744073709551615", "-9223372036854775808", "NaN", "-Infinity", "1e400", "1E5", "-0",
    r'"\ud800"', '{"a": 1, "a": 2}', " [1] \r", "-0.0", "9007199254740993",
])  # fmt: skip
def test_parsing_takes_what_python_takes(text):
    line = f'{{"a": {text}}}'
    assert repr(rules.parse(line.encode())) == repr(json.loads(line))


# Sources ------------------------------------------------------------------------------------


def test_pins_of_the_raw_files():
    found = {file: pin for files in sources.SOURCES.values() for file, pin in files.items()}
    assert (len(sources.SOURCES), len(found)) == (34, 68)
    assert sum(pin["size"] for pin in found.values()) == 376_799_050_396
    assert all(len(bytes.fromhex(pin["sha256"])) == 32 for pin in found.values())
    assert all(pin["url"].endswith(f"/{file}") for file, pin in found.items())
