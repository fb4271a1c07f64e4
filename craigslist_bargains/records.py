"""CraigslistBargains' records: their shape, the row that keeps each, and the files."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from parley import Checked, ClassLabel, Converted, Field, File

from .pins import PINS
from .word_counts import MOST_BYTES, Contexts, read_words

Record = dict[str, Any]

SIDES = ("buyer", "seller")  # an event's `agent` is an index into these, as into `kbs`
CATEGORIES = ["bike", "car", "electronics", "furniture", "housing", "phone"]
ACTIONS = ["message", "offer", "accept", "reject", "quit"]

INTENT = ClassLabel(  # what upstream's rules see in an event; the first that holds counts
    {
        "intro": "opens the dialogue and names no price",
        "init-price": "names a price, before which none was named or offered",
        "vague-price": "talks of a lower or higher price without naming one",
        "counter-price": "names the listing price, or one that is neither side's last",
        "insist": "names the speaker's own last price",
        "inquiry": "asks a question, and has no other tag",
        "agree": "is a phrase of agreement, or names the other side's last price",
        "inform": "has no tag, after the other side's inquiry",
        "disagree": 'says "no", "not" or "n\'t", and has no other tag',
        "unknown": "is a message that no other rule fits",
        **dict.fromkeys(ACTIONS[1:], "is the action itself, not a message"),
    }
)
INTENTS = INTENT.names
TAG = ClassLabel(  # what a message has by the rules, in upstream's order
    {
        "question": 'ends with "?" or begins with a word that asks',
        "greeting": 'has a greeting, "how are you" or "interested in"',
        "negative": 'has "no", "not" or "n\'t"',
        "vague-price": 'has "come down", "go lower", "highest", "too high" or the like',
        "agree": 'is a phrase of agreement, such as "ok", "deal" or "that works"',
        "listing_price": "names the listing price",
        "my_price": "names the reader's last price",
        "partner_price": "names the speaker's last price",
        "price": "names any other price",
        "has_price": "names a price",
    }
)

DOLLARS = "US dollars"
IMAGES = "names of image files, which are not included"

# The same in every record, so no column; `to_record` puts it back.
_NAMES = ("Role", "Bottomline", "Target", "Title", "Category", "Price", "Images", "Description")
_TYPES = ("role", "price", "price", "text", "text", "price", "text", "text")
ATTRIBUTES = [
    {"name": name, "value_type": kind, "unique": False, "multivalued": False, "entity": False}
    for name, kind in zip(_NAMES, _TYPES, strict=True)
]
_ATTRIBUTES = json.dumps(ATTRIBUTES, sort_keys=True)


def attributes(value: Any) -> None:
    """Check the descriptions of the attributes, which never change."""
    # Python's equality is not enough: 0 equals False.
    if value != ATTRIBUTES or json.dumps(value, sort_keys=True) != _ATTRIBUTES:
        raise ValueError("the eight attributes that every record lists, in the same order")


def in_range(value: float) -> None:
    """Check a number, which may be an integer: float64 holds it exactly, float32 nearly."""
    if value != 0 and not 1.2e-38 < abs(value) < 3.4e38:
        raise ValueError("a number in the range of float32, as the documented schema has it")
    if float(value) != value:
        raise ValueError("a number that float64 holds exactly")


def seconds_as_text(value: Any) -> None:
    """Check a time: a string, as Python 2 prints a float, that float64 gives back exactly."""
    try:
        exact = repr(float(value)) == value and abs(float(value)) < 1e11  # so neither nan nor inf
    except (TypeError, ValueError):
        exact = False
    if not exact:
        raise ValueError('seconds as a string that is the repr of a float, e.g. "1499000123.4"')


number = Checked((float, int), in_range)
seconds = Converted(seconds_as_text, float, float, repr)

_ends = {"accept", "reject", "quit"}
_price = (number, None)
_offer = {
    "price": Field(_price, "the price offered", DOLLARS),
    "sides": Field(str, "side conditions, as text; may be empty"),
}
_said = {  # the act of a message
    "intent": Field(set(INTENTS) - set(ACTIONS), "the intent, as in `utterances`"),
    "price": Field(_price, "the price of the act (null if none)", DOLLARS),
}
_offered = {"intent": {"offer"}, "price": _price}
_ended = {"intent": _ends}
_post = {
    "uuid": Field(str, "upstream's id inside `scenario`; it does not identify a post"),
    "category": Field(set(CATEGORIES), "the category of the post"),
    "post_id": Field(str, "the number of the Craigslist post"),
}
_kb = {
    "personal": Field(
        {
            "Role": Field(set(SIDES), "the role"),
            "Target": Field(number, "the price that this side wants to reach", DOLLARS),
            "Bottomline": Field(_price, "a bottom line, which no record states", DOLLARS),
        },
        "what this side alone knows",
    ),
    "item": Field(
        {
            "Category": Field(set(CATEGORIES), "the same category"),
            "Title": Field(str, "the title of the post"),
            "Price": Field(_price, "the listing price (null if missing)", DOLLARS),
            "Images": Field([str], IMAGES),
            "Description": Field([str], "the lines of the description that this side sees"),
        },
        "the post as this side sees it",
    ),
}
_SINCE_1970 = "seconds since 1970"
_kbs = Field([_kb], "what each side knows, first the buyer")
_times = {
    "time": Field(seconds, "when it was done", _SINCE_1970),
    "start_time": Field(
        (seconds, None),
        "when the side began to type (null for other actions; see Known limits in the card)",
        _SINCE_1970,
    ),
}
_scenario_uuid = "upstream's id of the scenario; not `scenario.uuid` where `intersection` is given"
_ids = {
    "uuid": Field(str, "upstream's id of the dialogue"),
    "scenario_uuid": Field(str, _scenario_uuid),
    "agents": Field(
        {"0": Field(str, "who plays the buyer"), "1": Field(str, "who plays the seller")},
        "the players",
    ),
}
_intersection = {
    "intersection?": Field(
        number, "in some records of test: the buyer's target is (1 − 0.4 × it) × the listing price"
    )
}


def _event(actions: set[str], data: Any, *act: Any) -> Record:
    event = {"agent": {0, 1}, "action": actions, "data": data, **_times}
    return {**event, "metadata": (*act, None)} if act else event


PARSED = {
    **_ids,
    "scenario": {**_post, "attributes": attributes, "kbs": _kbs},
    "outcome": {"reward": {0, 1}, "offer?": (_offer, None)},
    "agents_info": None,
    "events": [
        (
            _event({"message"}, str, _said),
            _event({"offer"}, _offer, _offered),
            _event(_ends, None, _ended),
        )
    ],
}
UNPARSED = {
    **_ids,
    "scenario": {**_post, "attributes": attributes, "kbs": _kbs, **_intersection},
    "outcome": PARSED["outcome"],
    "events": [(_event({"message"}, str), _event({"offer"}, _offer), _event(_ends, None))],
}


def require_sides(record: Record) -> None:
    """Raise ValueError unless the buyer stands first: an event's `agent` is an index into these."""
    roles = [kb["personal"]["Role"] for kb in record["scenario"]["kbs"]]
    if roles != [*SIDES]:
        where = f"{record['uuid']}: scenario.kbs"
        raise ValueError(f"{where}: expected the roles {[*SIDES]}, found {roles}")


def word_counts(content: bytes) -> None:
    """Check the bytes of the price tracker without running them."""
    try:
        read_words(content)
    except ValueError as error:
        what = f"a pickle of two counts of words, in {MOST_BYTES:,} bytes"
        raise ValueError(f"{what} ({error})") from None


ROW = {
    "uuid": _ids["uuid"],
    "scenario_uuid": _ids["scenario_uuid"],
    "scenario": Field(
        {**_post, **_intersection, "kbs": _kbs}, "the post and what each side knows of it"
    ),
    "agents": _ids["agents"],
    "outcome": Field(
        {
            "reward": Field(int, "1 if there was a deal, else 0"),
            "offer": Field((_offer, None), "the last offer if it was accepted or rejected"),
            "offer_absent": Field(bool, "whether upstream has no `offer`, not even null"),
        },
        "the result",
    ),
    "events": Field(
        [
            {
                "agent": Field(int, "who acts: 0 is the buyer, 1 the seller"),
                "action": Field(set(ACTIONS), "what the side does"),
                "text?": Field(str, "the message; null for other actions"),
                "offer?": Field(_offer, "the offer; null for other actions"),
                **_times,
                "metadata": Field(
                    (_said, _offered, _ended, None), "upstream's dialogue act; null without one"
                ),
            }
        ],
        "what happened, in order",
    ),
    "parsed": Field(bool, "whether the record comes from a file with dialogue acts"),
}
_COLUMNS = {"message": "text", "offer": "offer"}  # action -> the column of an event's data


def to_row(record: Record) -> Record:
    """Return the row of a record: data by action, and whether upstream parsed it."""
    outcome, row = record["outcome"], {**record, "parsed": "agents_info" in record}
    row.pop("agents_info", None)
    row["scenario"] = {k: v for k, v in record["scenario"].items() if k != "attributes"}
    row["outcome"] = {"offer": None, **outcome, "offer_absent": "offer" not in outcome}
    row["events"] = [_to_event_row(event) for event in record["events"]]
    return row


def _to_event_row(event: Record) -> Record:
    row = {"metadata": None, **event}
    data = row.pop("data")
    if column := _COLUMNS.get(event["action"]):
        row[column] = data
    return row


def to_record(row: Record) -> Record:
    """Return the upstream record: the inverse of `to_row`."""
    record, outcome = dict(row), dict(row["outcome"])
    if outcome.pop("offer_absent"):
        del outcome["offer"]
    if parsed := record.pop("parsed"):
        record["agents_info"] = None
    attributes = [dict(attribute) for attribute in ATTRIBUTES]
    record["scenario"] = {**row["scenario"], "attributes": attributes}
    record["outcome"] = outcome
    record["events"] = [_to_event(event, parsed) for event in row["events"]]
    return record


def _to_event(row: Record, parsed: bool) -> Record:
    event = dict(row)
    event["data"] = event.pop(_COLUMNS.get(row["action"], ""), None)
    if not parsed:
        del event["metadata"]
    return event


NEGOTIATION = Converted((PARSED, UNPARSED), ROW, to_row, to_record)

TRAIN, VALIDATION, TEST = (
    File(path, NEGOTIATION, validate=require_sides, **PINS[path])
    for path in ("train.json", "validation.json", "test.json")
)
# The word lists of upstream's rules for dialogue acts; upstream published only the code.
_TRACKER = "price_tracker.pkl"
TRACKER = File(_TRACKER, Checked(bytes, word_counts), read="bytes", **PINS[_TRACKER])
SPLITS = {"train": [TRAIN], "validation": [VALIDATION], "test": [TEST]}


def with_word_lists(sources: Mapping[str, Any]) -> Iterator[tuple[Record, Contexts]]:
    """Yield each negotiation with the word lists of the rules."""
    negotiations, tracker = sources.values()
    (contexts,) = map(read_words, tracker)
    for record in negotiations:
        yield record, contexts
