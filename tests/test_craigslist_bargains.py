"""What is particular to CraigslistBargains: the Hub's old schema, typed events, deals."""

import copy
import json
import re
import struct
from typing import Any

import pytest

from parley.collection import get
from parley.transcript import Note

DATASET = get("craigslist_bargains")
SAMPLE = {
    path.name: json.loads(path.read_bytes()) for path in sorted(DATASET.sample.glob("*.json"))
}


@pytest.fixture(scope="module")
def module() -> Any:
    return DATASET.module


@pytest.fixture
def sample() -> dict[str, list[dict[str, Any]]]:
    """The sample's records, by file."""
    return copy.deepcopy(SAMPLE)


# The old schema ---------------------------------------------------------------------------


def test_documented_row(module: Any, sample: dict[str, Any]) -> None:
    record = sample["train.json"][0]
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
    record, unparsed = sample["train.json"][0], sample["test.json"][0]
    record["events"] = [{**record["events"][0], "metadata": act}]
    acts = module.to_dialogue_row(record)["dialogue_acts"]
    assert acts == {"intent": [intent], "price": [price]}
    acts = module.to_dialogue_row(unparsed)["dialogue_acts"]  # whose events lack the key
    assert {*zip(acts["intent"], acts["price"], strict=True)} == {("", -1.0)}


def test_empty_item_values_become_defaults_and_lists_are_joined(
    module: Any, sample: dict[str, Any]
) -> None:
    record = sample["train.json"][1]
    buyer, seller = (kb["item"] for kb in record["scenario"]["kbs"])
    buyer["Price"], buyer["Description"] = 0, []
    seller["Images"] = ["a_0.jpg", "a_1.jpg"]
    items = module.to_dialogue_row(record)["items"]
    assert items["Images"] == ["", "a_0.jpg,a_1.jpg"]
    assert items["Price"] == [-1.0, 20.0]
    assert items["Description"][0] == ""


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


# Full rows --------------------------------------------------------------------------------


def test_events_are_typed_by_action(module: Any, sample: dict[str, Any]) -> None:
    events = module.to_negotiation_row(sample["train.json"][0])["events"]
    said, offered, accepted = events[-4], events[-3], events[-2]
    assert (said["text"], said["offer"]) == ("Every single morning. ", None)
    assert (offered["text"], offered["offer"]) == (None, {"price": 92.5, "sides": ""})
    assert (accepted["text"], accepted["offer"]) == (None, None)
    assert accepted["metadata"] == {"intent": "accept", "price": None}


@pytest.mark.parametrize("value", ["1499000123.4", "1499000123.45", "-1.37418297005", "5e-05"])
def test_seconds_come_back(module: Any, value: str) -> None:
    module.seconds(value)
    assert repr(float(value)) == value


@pytest.mark.parametrize("value", [0, 92, 92.5, -1, 1e-3, 3e38])
def test_a_price_is_a_number(module: Any, value: Any) -> None:
    module.number(value)
    assert float(value) == value


# Transcripts ------------------------------------------------------------------------------


def test_transcript(module: Any, sample: dict[str, Any]) -> None:
    tool = DATASET.transcript
    assert tool is not None
    shown = tool.transcript(module.to_negotiation_row(sample["train.json"][2]))
    assert shown.before[1:] == [("listed at", "$950")]
    assert [(side, facts[0]) for side, facts in shown.sides.items()] == [
        ("buyer", ("target", "$665")),
        ("seller", ("target", "$950")),
    ]
    assert shown.turns[0].speaker == "seller"
    assert shown.turns[0].notes == (Note("intro", "act"),)
    assert shown.turns[6].notes == (Note("counter-price", "act", "$849.99"),)
    assert [(t.text, t.action, t.terms) for t in shown.turns[-2:]] == [
        ("offers $700", True, (("price", "$700"),)),
        ("rejects", True, ()),
    ]
    assert shown.after == [("deal", "no"), ("final offer", "$700")]


def test_transcript_without_price_or_offer(module: Any, sample: dict[str, Any]) -> None:
    tool = DATASET.transcript
    assert tool is not None
    shown = tool.transcript(module.to_negotiation_row(sample["train.json"][1]))
    assert shown.turns[0].notes == ()
    assert [t.text for t in shown.turns if t.action] == ["offers no price", "quits"]
    assert shown.after == [("deal", "no")]


# The views --------------------------------------------------------------------------------


def view(module: Any, name: str, *records: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows of a view, with the names of the labels at the top level for their numbers."""
    features = module.FEATURES[name]
    rows = [row for _, row in module.VIEWS[name](records)]
    for row in rows:
        for column in ("category", "action", "intent"):
            if row.get(column) is not None:
                row[column] = features[column].int2str(row[column])
    return rows


def test_utterances_keep_zero(module: Any, sample: dict[str, Any]) -> None:
    record = sample["train.json"][0]
    record["events"][4]["metadata"]["price"] = 0
    record["events"][9]["data"]["price"] = 0
    rows = view(module, "utterances", record)
    assert (rows[4]["intent_price"], rows[9]["offer_price"]) == (0.0, 0.0)


def test_an_integer_is_a_float(module: Any, sample: dict[str, Any]) -> None:
    record = sample["train.json"][0]
    record["outcome"]["offer"]["price"] = 90
    (row,) = view(module, "outcomes", record)
    assert (row["deal_price"], row["deal_over_list_price"]) == (90.0, 0.75)
    assert type(row["deal_price"]) is float


def test_labels_are_numbered_as_in_the_card(module: Any) -> None:
    card = DATASET.read_card()
    table = card[card.index("| intent | given to a message") :]
    features = module.FEATURES["utterances"]
    assert features["intent"].names == re.findall(r"^\| `(.*?)`", table.partition("\n\n")[0], re.M)
    for column in ("category", "action"):
        *others, last = (f"`{name}`" for name in features[column].names)
        assert f"| `{column}` | ClassLabel | {', '.join(others)} or {last} |" in card


def test_an_offer_alone_is_no_deal(module: Any, sample: dict[str, Any]) -> None:
    rejected, absent = sample["train.json"][2], sample["validation.json"][1]
    assert rejected["outcome"]["offer"]
    for row in view(module, "outcomes", rejected, absent):
        assert row["deal"] is False
        assert row["deal_price"] is row["deal_over_list_price"] is None


@pytest.mark.parametrize("listed", [None, 0])
def test_no_share_of_no_price(module: Any, sample: dict[str, Any], listed: Any) -> None:
    record = sample["train.json"][0]
    for kb in record["scenario"]["kbs"]:
        kb["item"]["Price"] = listed
    (row,) = view(module, "outcomes", record)
    assert (row["deal_price"], row["list_price"]) == (92.5, listed)
    assert row["deal_over_list_price"] is None


def test_a_dialogue_without_events(module: Any, sample: dict[str, Any]) -> None:
    record = {**sample["train.json"][1], "events": []}
    (row,) = view(module, "outcomes", record)
    assert (row["events"], row["seconds"]) == (0, None)
    assert [len(row["messages"]) for row in view(module, "messages", record)] == [1, 1]


def test_a_scenario_is_one_row_whatever_lines_its_dialogues_show(
    module: Any, sample: dict[str, Any]
) -> None:
    records = sample["test.json"]
    _, chairs, _ = rows = view(module, "scenarios", *records)
    assert [row["dialogue_ids"] for row in rows] == [
        [records[place]["uuid"] for place in places] for places in ([0], [1, 3], [2])
    ]
    assert len(records[3]["scenario"]["kbs"][1]["item"]["Description"]) == 1
    assert (len(chairs["buyer_description"]), len(chairs["seller_description"])) == (1, 2)


@pytest.mark.parametrize(
    "change",
    [
        lambda scenario: scenario.update(post_id="6150099999"),
        lambda scenario: scenario["kbs"][0]["personal"].update(Target=31),
    ],
)
def test_an_id_of_two_scenarios_is_two_rows(
    module: Any, sample: dict[str, Any], change: Any
) -> None:
    _, first, _, second = sample["test.json"]
    change(second["scenario"])
    rows = view(module, "scenarios", first, second)
    assert [row["scenario_id"] for row in rows] == [first["scenario"]["uuid"]] * 2
    assert [row["dialogue_ids"] for row in rows] == [[first["uuid"]], [second["uuid"]]]


def test_actions_in_words(module: Any, sample: dict[str, Any]) -> None:
    no_price, rejected = sample["train.json"][1:3]
    (buyer, _) = view(module, "messages", no_price)
    # an offer without a price and the end, both the buyer's; a message still follows
    said = zip(buyer["messages"], buyer["source_turns"], strict=True)
    assert [message["content"] for message, turns in said if 3 in turns] == [
        "[I offer no price.]\n[I quit.]"
    ]
    rejected["events"][-2]["data"]["price"] = 1849.99
    (_, seller) = view(module, "messages", rejected)
    assert seller["messages"][-1] == {"role": "assistant", "content": "[I reject.]"}
    assert seller["messages"][-2]["content"].endswith("\n[I offer $1849.99.]")


def test_each_side_is_told_what_it_knows(module: Any, sample: dict[str, Any]) -> None:
    buyer, seller = view(module, "messages", sample["train.json"][0])
    assert buyer["messages"][0] == {
        "role": "system",
        "content": "You are the buyer, and negotiate with the seller over the price of what a post "
        "on Craigslist, in the category bike, offers.\n"
        "The post's title is: Blue steel city bike with three gears\n"
        "The listing price is $120.\n"
        "You want to reach a price of $84.\n"
        "The post's description, as far as you see it, is:\n"
        "Sturdy steel city bike with three gears, a bell and a wicker basket.",
    }
    told = seller["messages"][0]["content"]
    assert told.startswith("You are the seller, and negotiate with the b")
    assert "You want to reach a price of $120.\n" in told
    assert told.endswith(
        "wicker basket.\nNew brake pads and tyres this spring.\n"
        "Kept indoors all its life.\tThe lock comes with it."
    )


def test_briefing_leaves_out_what_is_missing(module: Any, sample: dict[str, Any]) -> None:
    record = sample["train.json"][0]
    for kb in record["scenario"]["kbs"]:
        kb["item"].update(Price=None, Description=[])
    for row in view(module, "messages", record):
        system = row["messages"][0]["content"]
        assert "listing price" not in system
        assert "description" not in system
        assert len(system.split("\n")) == 3
