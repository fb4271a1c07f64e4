"""The parsing quirks of CraigslistBargains."""

import copy
import json
import re
import struct
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import pytest

from parley.collection import get
from parley.shapes import problems

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


@pytest.mark.parametrize(
    "value", ["1499000123", "1.50", " 1.5", "soon", "", 1.5, None, True, "nan", "-inf", "1e+300"]
)
def test_seconds_that_would_not_come_back(module: Any, value: Any) -> None:
    with pytest.raises(ValueError, match="repr of a float"):
        module.seconds(value)


@pytest.mark.parametrize("value", [0, 92, 92.5, -1, 1e-3, 3e38])
def test_a_price_is_a_number(module: Any, value: Any) -> None:
    module.number(value)
    assert float(value) == value


@pytest.mark.parametrize("value", [True, "92", None, 2**53 + 1, 1e300, -1e39, 1e-60])
def test_a_price_that_a_column_cannot_hold_is_refused(module: Any, value: Any) -> None:
    with pytest.raises(ValueError, match="a number"):
        module.number(value)


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


# The views --------------------------------------------------------------------------------


def view(module: Any, name: str, *records: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows of a view, with the names of the labels at the top level for their numbers."""
    features = module.FEATURES[name]
    keys, rows = zip(*module.VIEWS[name](records), strict=True)
    assert len(set(keys)) == len(keys)
    for row in rows:
        assert list(row) == list(features)
        for column in ("category", "action", "intent"):
            if row.get(column) is not None:
                assert type(row[column]) is int
                row[column] = features[column].int2str(row[column])
        for column, value in row.items():
            if getattr(features[column], "dtype", None) == "float64":
                assert value is None or type(value) is float, column
    return list(rows)


def chat_of(row: dict[str, Any]) -> list[tuple[str, str, list[int]]]:
    """Each message of a row of `messages` after the system message, with the turns it is of."""
    messages = zip(row["messages"], row["source_turns"], strict=True)
    return [(message["role"], message["content"], turns) for message, turns in messages][1:]


def test_utterances(module: Any, sample: dict[str, Any]) -> None:
    record = sample["train.json"][0]
    rows = view(module, "utterances", record)
    common = {
        "dialogue_id": record["uuid"],
        "category": "bike",
        "list_price": 120.0,
    }
    assert [row["turn"] for row in rows] == list(range(12))
    assert rows[5] == {
        **common,
        "turn": 5,
        "speaker": "seller",
        "text": record["events"][5]["data"],
        "action": "message",
        "offer_price": None,
        "intent": "counter-price",
        "intent_price": 105.0,
        "seconds": 77.45,  # the difference of the floats is a hair off
        "target": 120.0,
    }
    assert rows[9] == {
        **common,
        "turn": 9,
        "speaker": "buyer",
        "text": None,
        "action": "offer",
        "offer_price": 92.5,
        "intent": "offer",
        "intent_price": 92.5,
        "seconds": 137.41,
        "target": 84.0,
    }
    assert (rows[10]["action"], rows[10]["intent"], rows[10]["intent_price"]) == (
        "accept",
        "accept",
        None,  # upstream's act has no price at all
    )


def test_utterances_without_acts(module: Any, sample: dict[str, Any]) -> None:
    null, absent = sample["train.json"][1], sample["test.json"][0]
    rows = view(module, "utterances", null, absent)
    assert {(row["intent"], row["intent_price"]) for row in rows} == {(None, None)}
    assert (rows[3]["action"], rows[3]["offer_price"]) == ("offer", None)  # no price offered


def test_utterances_keep_zero(module: Any, sample: dict[str, Any]) -> None:
    record = sample["train.json"][0]
    record["events"][4]["metadata"]["price"] = 0
    record["events"][9]["data"]["price"] = 0
    rows = view(module, "utterances", record)
    assert (rows[4]["intent_price"], rows[9]["offer_price"]) == (0.0, 0.0)


def test_outcomes(module: Any, sample: dict[str, Any]) -> None:
    record = sample["train.json"][0]
    record["outcome"]["offer"]["price"] = 90  # an integer, as JSON may have it
    assert view(module, "outcomes", record) == [
        {
            "dialogue_id": record["uuid"],
            "category": "bike",
            "list_price": 120.0,
            "buyer_target": 84.0,
            "seller_target": 120.0,
            "deal": True,
            "deal_price": 90.0,
            "deal_over_list_price": 0.75,
            "events": 12,
            "messages": 10,
            "offers": 1,
            "seconds": 163.93,
        }
    ]


def test_labels_are_numbered_as_in_the_card(module: Any) -> None:
    card = DATASET.read_card()
    table = card[card.index("| intent | given to a message") :]
    features = module.FEATURES["utterances"]
    names = [re.findall("`(.*?)`", line.split("|")[1]) for line in table.splitlines()[2:13]]
    assert features["intent"].names == list(chain.from_iterable(names))
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


def test_messages(module: Any, sample: dict[str, Any]) -> None:
    record = sample["validation.json"][0]
    del record["events"][2:-4]  # leaves two messages, two offers of the sides and two accepts
    said = [event["data"] for event in record["events"][:2]]
    buyer, seller = view(module, "messages", record)
    assert (buyer["speaker"], seller["speaker"]) == ("buyer", "seller")
    assert chat_of(buyer) == [
        ("user", "<start>", []),
        ("assistant", said[0], [0]),
        ("user", f"{said[1]}\n[I offer ${record['events'][2]['data']['price']:g}.]", [1, 2]),
        ("assistant", "[I offer $150.]\n[I accept.]", [3, 4]),
        ("user", "[I accept.]", [5]),
    ]
    assert chat_of(seller) == [
        ("user", said[0], [0]),
        ("assistant", chat_of(buyer)[2][1], [1, 2]),
        ("user", "[I offer $150.]\n[I accept.]", [3, 4]),
        ("assistant", "[I accept.]", [5]),
    ]
    assert (buyer["target"], seller["target"]) == (120.0, 200.0)
    for row in (buyer, seller):
        assert row["source_turns"][0] == []
        assert (row["category"], row["list_price"]) == ("phone", 200.0)
        assert (row["deal"], row["deal_price"], row["deal_over_list_price"]) == (True, 150.0, 0.75)


def test_actions_in_words(module: Any, sample: dict[str, Any]) -> None:
    no_price, rejected = sample["train.json"][1:3]
    (buyer, _) = view(module, "messages", no_price)
    # an offer without a price and the end, both the buyer's; a message still follows
    assert [text for _, text, turns in chat_of(buyer) if 3 in turns] == [
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
    assert seller["messages"][0]["content"].startswith(
        "You are the seller, and negotiate with the b"
    )
    assert "You want to reach a price of $120.\n" in seller["messages"][0]["content"]
    assert seller["messages"][0]["content"].endswith(
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


class Rows:
    """Rows in the place of a built folder's, for the checks of statistics.py."""

    def __init__(self, module: Any, records: list[dict[str, Any]]) -> None:
        self.module = module
        self.configs = {"negotiations": [module.to_negotiation_row(r) for r in records]}
        for name, made in module.VIEWS.items():
            self.configs[name] = [row for _, row in made(records)]

    def splits(self, config: str) -> list[str]:
        return ["train"]

    def rows(self, config: str, *splits: str) -> list[dict[str, Any]]:
        return self.configs[config]


VIEW_CHECKS = {
    "utterances": "utterances_are_the_events",
    "outcomes": "outcomes_follow_from_the_events",
    "messages": "chats_lose_nothing",
}


@pytest.mark.parametrize("name", VIEW_CHECKS)
def test_checks_hold_of_the_sample(module: Any, sample: dict[str, Any], name: str) -> None:
    rows = Rows(module, [record for records in sample.values() for record in records])
    assert list(getattr(DATASET.statistics, VIEW_CHECKS[name])(rows)) == []


def _other(value: Any) -> Any:
    """A value of the same type that is not this one."""
    if isinstance(value, bool):
        return not value
    return value + "." if isinstance(value, str) else value + 1


@pytest.mark.parametrize("name", VIEW_CHECKS)
def test_checks_see_every_column(module: Any, sample: dict[str, Any], name: str) -> None:
    check = getattr(DATASET.statistics, VIEW_CHECKS[name])
    for column in module.FEATURES[name]:
        rows = Rows(module, [sample["train.json"][0]])
        row = next(row for row in rows.configs[name] if row[column] is not None)
        if isinstance(row[column], list):
            continue  # see `test_checks_see_a_damaged_chat`
        row[column] = _other(row[column])
        assert list(check(rows)), column
    for row in (0, -1):
        rows = Rows(module, sample["train.json"])
        del rows.configs[name][row]
        assert list(check(rows)), "a row is missing"


def _swap(row: dict[str, Any]) -> None:
    for message in row["messages"][1:]:
        message["role"] = {"user": "assistant", "assistant": "user"}[message["role"]]


@pytest.mark.parametrize(
    "damage",
    [
        lambda row: row["messages"][0].update(content="You are the buyer,"),
        lambda row: row["messages"][0].update(
            content=row["messages"][0]["content"].replace("$84", "$83")
        ),
        lambda row: row["messages"][0].update(content=row["messages"][0]["content"] + "\nMore"),
        lambda row: row["messages"][3].update(content="It is."),
        lambda row: row["messages"][1].update(content="<begin>"),
        lambda row: (row["messages"].pop(1), row["source_turns"].pop(1)),
        lambda row: (row["messages"].pop(), row["source_turns"].pop()),
        lambda row: row["source_turns"][2].append(1),
        lambda row: row["source_turns"][0].append(0),
        _swap,
    ],
)
def test_checks_see_a_damaged_chat(module: Any, sample: dict[str, Any], damage: Any) -> None:
    rows = Rows(module, [sample["train.json"][0]])
    damage(rows.configs["messages"][0])
    assert list(getattr(DATASET.statistics, "chats_lose_nothing")(rows))  # noqa: B009


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


def test_published_views(module: Any, published: tuple[str, list[dict[str, Any]]]) -> None:
    split, records = published
    utterances, outcomes, chats = (view(module, name, *records) for name in module.VIEWS)
    figures = (
        len(utterances),
        sum(row["intent"] is None for row in utterances),
        sum(row["text"] is None for row in utterances),
        len(outcomes),
        sum(row["deal"] for row in outcomes),
        sum(row["deal_over_list_price"] is not None for row in outcomes),
        len(chats),
        sum(len(row["messages"]) for row in chats),
    )
    expected = {
        "validation": (5475, 678, 1059, 597, 451, 451, 1194, 11665),
        "test": (7748, 7748, 1490, 838, 638, 638, 1676, 16524),
    }
    assert figures == expected[split]


def test_published_chats(module: Any, published: tuple[str, list[dict[str, Any]]]) -> None:
    _, records = published
    for record in records:
        for row in view(module, "messages", record):
            roles = [message["role"] for message in row["messages"]]
            assert roles[:2] == ["system", "user"], record["uuid"]
            assert all(a != b for a, b in pairwise(roles))
            assert list(chain.from_iterable(row["source_turns"])) == list(
                range(len(record["events"]))
            )
