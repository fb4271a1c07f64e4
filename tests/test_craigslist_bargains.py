"""The parsing quirks of CraigslistBargains."""

import copy
import json
import struct
from pathlib import Path
from typing import Any

import pytest

from parley.collection import get
from parley.records import problems

DATASET = get("craigslist_bargains")
FILES = ("train.json", "validation.json", "test.json")


@pytest.fixture(scope="module")
def module() -> Any:
    return DATASET.module


@pytest.fixture
def sample() -> dict[str, list[dict[str, Any]]]:
    """The sample's records, by file."""
    return {file: json.loads((DATASET.sample / file).read_bytes()) for file in FILES}


def test_documented_row(module: Any, sample: dict[str, Any]) -> None:
    record = copy.deepcopy(sample["train.json"][0])
    del record["events"][2:-3]  # leaves two messages, an offer, an accept and a message
    description = [kb["item"]["Description"] for kb in record["scenario"]["kbs"]]
    assert module.to_dialogue_row(record) == {
        "agent_info": {
            "Bottomline": ["None", "None"],
            "Role": ["buyer", "seller"],
            "Target": [84.0, 120.0],
        },
        "agent_turn": [0, 1, 0, 1, 1],
        "dialogue_acts": {
            "intent": ["intro", "unknown", "offer", "accept", "unknown"],
            "price": [-1.0, -1.0, 92.5, -1.0, -1.0],
        },
        "utterance": [
            record["events"][0]["data"],
            record["events"][1]["data"],
            "",
            "",
            "See you on Saturday!",
        ],
        "items": {
            "Category": ["bike", "bike"],
            "Images": record["scenario"]["kbs"][0]["item"]["Images"] * 2,
            "Price": [120.0, 120.0],
            "Description": [
                description[0][0],
                f"{description[1][0]},{description[1][1]},{description[1][2]}",
            ],
            "Title": [record["scenario"]["kbs"][0]["item"]["Title"]] * 2,
        },
    }


@pytest.mark.parametrize(
    ("act", "intent", "price"),
    [
        (None, "", -1.0),
        ({"intent": "intro", "price": None}, "intro", -1.0),
        ({"intent": "intro", "price": 0}, "intro", -1.0),  # the old script tests for truth
        ({"intent": "intro", "price": 0.0}, "intro", -1.0),
        ({"intent": "accept"}, "accept", -1.0),
        ({"intent": "insist", "price": 7}, "insist", 7.0),
    ],
)
def test_dialogue_act_defaults(
    module: Any, sample: dict[str, Any], act: Any, intent: str, price: float
) -> None:
    record = sample["train.json"][0]
    record["events"] = [{**record["events"][0], "metadata": act}]
    acts = module.to_dialogue_row(record)["dialogue_acts"]
    assert acts == {"intent": [intent], "price": [price]}


def test_dialogue_acts_without_the_key(module: Any, sample: dict[str, Any]) -> None:
    record = sample["test.json"][0]
    acts = module.to_dialogue_row(record)["dialogue_acts"]
    assert set(acts["intent"]) == {""}
    assert set(acts["price"]) == {-1.0}
    assert len(acts["intent"]) == len(record["events"])


def test_empty_item_values_become_defaults(module: Any, sample: dict[str, Any]) -> None:
    record = sample["train.json"][1]
    item = record["scenario"]["kbs"][0]["item"]
    item["Price"], item["Description"] = 0, []
    items = module.to_dialogue_row(record)["items"]
    assert items["Images"] == ["", ""]
    assert items["Price"] == [-1.0, 20.0]
    assert items["Description"][0] == ""


def test_lists_of_an_item_are_joined(module: Any, sample: dict[str, Any]) -> None:
    record = sample["train.json"][1]
    record["scenario"]["kbs"][1]["item"]["Images"] = ["a_0.jpg", "a_1.jpg"]
    assert module.to_dialogue_row(record)["items"]["Images"] == ["", "a_0.jpg,a_1.jpg"]


def test_prices_are_rounded_only_where_documented(module: Any, sample: dict[str, Any]) -> None:
    record = sample["train.json"][2]
    rounded = struct.unpack("f", struct.pack("f", 849.99))[0]
    assert rounded != 849.99
    assert module.to_dialogue_row(record)["dialogue_acts"]["price"][6] == rounded
    assert module.to_negotiation_row(record)["events"][6]["metadata"]["price"] == 849.99


def test_bottomline_is_its_json_number(module: Any, sample: dict[str, Any]) -> None:
    record = sample["train.json"][0]
    record["scenario"]["kbs"][0]["personal"]["Bottomline"] = 100
    row = module.to_dialogue_row(record)
    assert row["agent_info"]["Bottomline"] == ["100", "None"]


def test_numbers_are_floats(module: Any, sample: dict[str, Any]) -> None:
    row = module.to_negotiation_row(sample["train.json"][0])
    personal = row["scenario"]["kbs"][0]["personal"]
    assert type(personal["Target"]) is float
    assert personal["Bottomline"] is None
    assert type(row["scenario"]["kbs"][0]["item"]["Price"]) is float


def test_events_are_typed_by_action(module: Any, sample: dict[str, Any]) -> None:
    events = module.to_negotiation_row(sample["train.json"][0])["events"]
    said, offered, accepted = events[-4], events[-3], events[-2]
    assert (said["text"], said["offer"]) == ("Every single morning. ", None)
    assert (offered["text"], offered["offer"]) == (None, {"price": 92.5, "sides": ""})
    assert (accepted["text"], accepted["offer"]) == (None, None)
    assert accepted["metadata"] == {"intent": "accept", "price": None}


def test_null_and_absent_are_told_apart(module: Any, sample: dict[str, Any]) -> None:
    quit_, open_ = sample["train.json"][1], sample["validation.json"][1]
    assert quit_["outcome"]["offer"] is None
    assert "offer" not in open_["outcome"]
    for record in (record for records in sample.values() for record in records):
        assert module.to_record(module.to_negotiation_row(record)) == record
    with_metadata = module.to_record(module.to_negotiation_row(quit_))
    assert with_metadata["agents_info"] is None
    assert with_metadata["events"][0]["metadata"] is None
    without = module.to_record(module.to_negotiation_row(sample["test.json"][0]))
    assert "agents_info" not in without
    assert "metadata" not in without["events"][0]


def test_offer_without_price(module: Any, sample: dict[str, Any]) -> None:
    record = sample["train.json"][1]
    row = module.to_negotiation_row(record)
    assert row["events"][3]["offer"] == {"price": None, "sides": ""}
    assert module.to_record(row)["events"][3]["data"] == {"price": None, "sides": ""}


@pytest.mark.parametrize("value", ["1499000123.4", "1499000123.45", "-1.37418297005", "5e-05"])
def test_seconds_come_back(module: Any, value: str) -> None:
    module.seconds(value)
    assert repr(float(value)) == value


@pytest.mark.parametrize("value", ["1499000123", "1.50", " 1.5", "soon", "", 1.5, None, True])
def test_seconds_that_would_not_come_back(module: Any, value: Any) -> None:
    with pytest.raises(ValueError, match="repr of a float"):
        module.seconds(value)


def test_attributes_are_constant(module: Any, sample: dict[str, Any]) -> None:
    record = sample["test.json"][0]
    record["scenario"]["attributes"][3]["entity"] = 0  # equal to False in Python, not in JSON
    found = list(problems(record, module.NEGOTIATION))
    assert len(found) == 1
    assert found[0].startswith(".scenario.attributes: expected the eight")


@pytest.mark.parametrize("file", FILES)
def test_sample_has_the_shape(module: Any, sample: dict[str, Any], file: str) -> None:
    for record in sample[file]:
        assert list(problems(record, module.NEGOTIATION)) == []


def test_data_must_suit_the_action(module: Any, sample: dict[str, Any]) -> None:
    record = sample["train.json"][0]
    record["events"][0]["data"] = {"price": 5.0, "sides": ""}
    assert list(problems(record, module.NEGOTIATION)) == [
        '.events[0].data: expected a string, found {"price": 5.0, "sides": ""}'
    ]


def test_metadata_is_on_every_event_or_on_none(module: Any, sample: dict[str, Any]) -> None:
    record = sample["train.json"][0]
    del record["events"][4]["metadata"]
    assert list(problems(record, module.NEGOTIATION)) == [
        ".events[4].metadata: missing, expected an object or null"
    ]


def test_the_buyer_comes_first(module: Any, sample: dict[str, Any], tmp_path: Path) -> None:
    records = sample["test.json"]
    records[1]["scenario"]["kbs"].reverse()
    (tmp_path / "test.json").write_text(json.dumps(records))
    builder = module.CraigslistBargains(
        config_name="negotiations", data_dir=str(tmp_path), cache_dir=str(tmp_path / "cache")
    )
    with pytest.raises(ValueError, match=rf"test\.json: {records[1]['uuid']}: scenario\.kbs: "):
        list(builder.records(str(tmp_path / "test.json")))


def test_transcript(module: Any, sample: dict[str, Any]) -> None:
    tool = DATASET.transcript
    assert tool is not None
    shown = tool.transcript(module.to_negotiation_row(sample["train.json"][2]))
    assert shown.before[1:] == [
        ("listed at", "$950"),
        ("buyer's target", "$665"),
        ("seller's target", "$950"),
    ]
    assert shown.turns[0].speaker == "seller"
    assert shown.turns[0].notes == ("intro",)
    assert shown.turns[6].notes == ("counter-price", "$849.99")
    assert [(t.text, t.action) for t in shown.turns[-2:]] == [
        ("offers $700", True),
        ("rejects", True),
    ]
    assert shown.after == [("deal", "no"), ("final offer", "$700")]


def test_transcript_without_price_or_offer(module: Any, sample: dict[str, Any]) -> None:
    tool = DATASET.transcript
    assert tool is not None
    shown = tool.transcript(module.to_negotiation_row(sample["train.json"][1]))
    assert shown.turns[0].notes == ()
    assert [t.text for t in shown.turns if t.action] == ["offers no price", "quits"]
    assert shown.after == [("deal", "no")]


# The published files: what the card says of them ------------------------------------------


@pytest.fixture(scope="module", params=["validation", "test"])
def published(request: pytest.FixtureRequest, source: Path) -> tuple[str, list[dict[str, Any]]]:
    """One published split: its name and records. train.json is not at hand."""
    path = source / "craigslist_bargains" / f"{request.param}.json"
    if not path.exists():
        pytest.skip(f"{path} is not there")
    return request.param, json.loads(path.read_bytes())


def test_published_records(module: Any, published: tuple[str, list[dict[str, Any]]]) -> None:
    split, records = published
    assert len(records) == {"validation": 597, "test": 838}[split]
    for record in records:
        assert list(problems(record, module.NEGOTIATION)) == []
        assert module.to_record(module.to_negotiation_row(record)) == record


def test_published_figures(module: Any, published: tuple[str, list[dict[str, Any]]]) -> None:
    split, records = published
    rows = [module.to_negotiation_row(record) for record in records]
    events = [event for row in rows for event in row["events"]]
    figures = {
        "events": len(events),
        "without an act": sum(event["metadata"] is None for event in events),
        "dialogues without acts": sum(r["events"][0]["metadata"] is None for r in rows),
        "offers without a price": sum(
            event["action"] == "offer" and event["offer"]["price"] is None for event in events
        ),
        "outcomes without offer": sum(row["outcome"]["offer_absent"] for row in rows),
        "deals": sum(row["outcome"]["reward"] for row in rows),
        "intersections": sum(row["scenario"]["intersection"] is not None for row in rows),
        "starts on another clock": sum(
            event["start_time"] is not None and event["start_time"] < 1e9 for event in events
        ),
        "parsed": sum(row["parsed"] for row in rows),
    }
    expected = {
        "validation": (5475, 678, 144, 1, 2, 451, 0, 50, 597),
        "test": (7748, 7748, 838, 1, 2, 638, 232, 168, 0),
    }
    assert tuple(figures.values()) == expected[split], figures


def test_published_outcome_offer(published: tuple[str, list[dict[str, Any]]]) -> None:
    _, records = published
    for record in records:
        offer = record["outcome"].get("offer")
        if offer is not None:
            offers = [e["data"] for e in record["events"] if e["action"] == "offer"]
            assert offers[-1] == offer


def test_published_targets(published: tuple[str, list[dict[str, Any]]]) -> None:
    _, records = published
    for record in records:
        buyer, seller = record["scenario"]["kbs"]
        price, target = buyer["item"]["Price"], buyer["personal"]["Target"]
        shares = [0.5, 0.7, 0.9, 0.6, 0.76, 0.92]
        if "intersection" in record["scenario"]:
            shares = [1 - 0.4 * record["scenario"]["intersection"]]
        assert min(abs(target - share * price) for share in shares) <= 1
        assert seller["personal"]["Target"] == price
