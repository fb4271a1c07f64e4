"""What is particular to CraigslistBargains: the Hub's old schema, typed events, deals."""

import copy
import json
import re
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mutations import InMemory

from parley.collection import get
from parley.errors import RecordError
from parley.folder.built import open_folder
from parley.scoring.evaluate import score
from parley.shapes import fitter
from parley.tasks import Undefined, tasks_of
from parley.transcript import Note

DATASET = get("craigslist_bargains")
SAMPLE = {
    path.name: json.loads(path.read_bytes()) for path in sorted(DATASET.sample.glob("*.json"))
}

CONFIGS: dict[str, Any] = DATASET.configs
NEGOTIATIONS = CONFIGS["negotiations"]


def documented(record: dict[str, Any]) -> Any:
    """The row of a record in the Hub's old schema."""
    (row,) = CONFIGS["dialogues"].rows([record])
    return row


@pytest.fixture
def sample() -> dict[str, list[dict[str, Any]]]:
    """The sample's records, by file."""
    return copy.deepcopy(SAMPLE)


# The old schema ---------------------------------------------------------------------------


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
def test_dialogue_act_defaults(sample: dict[str, Any], act: Any, intent: str, price: float) -> None:
    record, unparsed = sample["train.json"][0], sample["test.json"][0]
    record["events"] = [{**record["events"][0], "metadata": act}]
    acts = documented(record)["dialogue_acts"]
    assert acts == {"intent": [intent], "price": [price]}
    acts = documented(unparsed)["dialogue_acts"]  # whose events lack the key
    assert {*zip(acts["intent"], acts["price"], strict=True)} == {("", -1.0)}


def test_empty_item_values_become_defaults_and_lists_are_joined(sample: dict[str, Any]) -> None:
    record = sample["train.json"][1]
    buyer, seller = (kb["item"] for kb in record["scenario"]["kbs"])
    buyer["Price"], buyer["Description"] = 0, []
    seller["Images"] = ["a_0.jpg", "a_1.jpg"]
    items = documented(record)["items"]
    assert items["Images"] == ["", "a_0.jpg,a_1.jpg"]
    assert items["Price"] == [-1.0, 20.0]
    assert items["Description"][0] == ""


def test_prices_are_rounded_only_where_documented(sample: dict[str, Any]) -> None:
    record = sample["train.json"][2]
    rounded = struct.unpack("f", struct.pack("f", 849.99))[0]
    assert rounded != 849.99
    assert documented(record)["dialogue_acts"]["price"][6] == rounded
    assert NEGOTIATIONS.to_row(record)["events"][6]["metadata"]["price"] == 849.99


def test_bottomline_is_its_json_number(sample: dict[str, Any]) -> None:
    record = sample["train.json"][0]
    record["scenario"]["kbs"][0]["personal"]["Bottomline"] = 100
    row = documented(record)
    assert row["agent_info"]["Bottomline"] == ["100", "None"]


# Full rows --------------------------------------------------------------------------------


def test_events_are_typed_by_action(sample: dict[str, Any]) -> None:
    events = NEGOTIATIONS.to_row(sample["train.json"][0])["events"]
    said, offered, accepted = events[-4], events[-3], events[-2]
    assert (said["text"], said["offer"]) == ("Every single morning. ", None)
    assert (offered["text"], offered["offer"]) == (None, {"price": 92.5, "sides": ""})
    assert (accepted["text"], accepted["offer"]) == (None, None)
    assert accepted["metadata"] == {"intent": "accept", "price": None}


@pytest.mark.parametrize("value", ["1499000123.4", "1499000123.45", "-1.37418297005", "5e-05"])
def test_seconds_come_back(sample: dict[str, Any], value: str) -> None:
    record = sample["train.json"][0]
    record["events"][0]["time"] = value
    assert fitter(NEGOTIATIONS.record_shape)(record)
    row = NEGOTIATIONS.to_row(record)
    assert row["events"][0]["time"] == float(value)
    assert NEGOTIATIONS.to_record(row) == record


@pytest.mark.parametrize("value", [0, 92, 92.5, -1, 1e-3, 3e38])
def test_a_price_is_a_number(sample: dict[str, Any], value: Any) -> None:
    record = sample["train.json"][0]
    record["scenario"]["kbs"][0]["personal"]["Target"] = value
    assert fitter(NEGOTIATIONS.record_shape)(record)
    row = NEGOTIATIONS.to_row(record)
    assert type(row["scenario"]["kbs"][0]["personal"]["Target"]) is float
    assert NEGOTIATIONS.to_record(row) == record


def test_an_offer_that_is_null_and_one_that_is_absent_come_back(sample: dict[str, Any]) -> None:
    record = sample["train.json"][2]
    record["outcome"]["offer"] = None
    absent = {**record, "outcome": {"reward": 0}}
    rows = [NEGOTIATIONS.to_row(each) for each in (record, absent)]
    assert [row["outcome"]["offer_absent"] for row in rows] == [False, True]
    assert [NEGOTIATIONS.to_record(row) for row in rows] == [record, absent]


# Transcripts ------------------------------------------------------------------------------


def test_transcript(sample: dict[str, Any]) -> None:
    tool = DATASET.transcript
    assert tool is not None
    shown = tool.transcript(NEGOTIATIONS.to_row(sample["train.json"][2]))
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


def test_transcript_without_price_or_offer(sample: dict[str, Any]) -> None:
    tool = DATASET.transcript
    assert tool is not None
    shown = tool.transcript(NEGOTIATIONS.to_row(sample["train.json"][1]))
    assert shown.turns[0].notes == ()
    assert [t.text for t in shown.turns if t.action] == ["offers no price", "quits"]
    assert shown.after == [("deal", "no")]


# The views --------------------------------------------------------------------------------


def test_the_rows_of_the_sample_stay(sample_build: Path) -> None:
    built = open_folder(sample_build / "craigslist_bargains").provenance["configs"]
    digests = {name: [s["digest"][:8] for s in each.values()] for name, each in built.items()}
    assert {name: " ".join(each) for name, each in digests.items()} == {
        "dialogues": "06db494f 8d3c5df6 ef75e320",
        "negotiations": "2dc151f3 a4a5deca 7807b541",
        "utterances": "2e44d941 b4fe6e6e 4226c3ae",
        "outcomes": "886a71a3 87321648 c6ead9ab",
        "scenarios": "f8335321 469effc4 b1ebab67",
        "messages": "ad899a26 2dbc1308 61cfe262",
        "dialogue_acts": "7ee50cff 17f0502f 98908058",
    }


def view(name: str, *records: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows of a view, with the names of the labels at the top level for their numbers."""
    features = CONFIGS[name].features
    rows = list(CONFIGS[name].rows(records))
    for row in rows:
        for column in ("category", "action", "intent"):
            if row.get(column) is not None:
                row[column] = features[column].int2str(row[column])
    return rows


def test_utterances_keep_zero(sample: dict[str, Any]) -> None:
    record = sample["train.json"][0]
    record["events"][4]["metadata"]["price"] = 0
    record["events"][9]["data"]["price"] = 0
    rows = view("utterances", record)
    assert (rows[4]["intent_price"], rows[9]["offer_price"]) == (0.0, 0.0)


def test_an_integer_is_a_float(sample: dict[str, Any]) -> None:
    record = sample["train.json"][0]
    record["outcome"]["offer"]["price"] = 90
    (row,) = view("outcomes", record)
    assert (row["deal_price"], row["deal_over_list_price"]) == (90.0, 0.75)
    assert type(row["deal_price"]) is float


def test_labels_are_numbered_as_in_the_card() -> None:
    card = DATASET.read_card()
    table = card[card.index("| intent | given to a message") :]
    features = DATASET.features("utterances")
    assert features["intent"].names == re.findall(r"^\| `(.*?)`", table.partition("\n\n")[0], re.M)
    for column in ("category", "action"):
        *others, last = (f"`{name}`" for name in features[column].names)
        assert f"| `{column}` | ClassLabel | {', '.join(others)} or {last} |" in card


def test_an_offer_alone_is_no_deal(sample: dict[str, Any]) -> None:
    rejected, absent = sample["train.json"][2], sample["validation.json"][1]
    assert rejected["outcome"]["offer"]
    for row in view("outcomes", rejected, absent):
        assert row["deal"] is False
        assert row["deal_price"] is row["deal_over_list_price"] is None


@pytest.mark.parametrize("listed", [None, 0])
def test_no_share_of_no_price(sample: dict[str, Any], listed: Any) -> None:
    record = sample["train.json"][0]
    for kb in record["scenario"]["kbs"]:
        kb["item"]["Price"] = listed
    (row,) = view("outcomes", record)
    assert (row["deal_price"], row["list_price"]) == (92.5, listed)
    assert row["deal_over_list_price"] is None


def test_a_dialogue_without_events(sample: dict[str, Any]) -> None:
    record = {**sample["train.json"][1], "events": []}
    (row,) = view("outcomes", record)
    assert (row["events"], row["seconds"]) == (0, None)
    assert [len(row["messages"]) for row in view("messages", record)] == [1, 1]


def test_a_scenario_is_one_row_whatever_lines_its_dialogues_show(sample: dict[str, Any]) -> None:
    records = sample["test.json"]
    _, chairs, _ = rows = view("scenarios", *records)
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
def test_an_id_of_two_scenarios_is_two_rows(sample: dict[str, Any], change: Any) -> None:
    _, first, _, second = sample["test.json"]
    change(second["scenario"])
    rows = view("scenarios", first, second)
    assert [row["scenario_id"] for row in rows] == [first["scenario"]["uuid"]] * 2
    assert [row["dialogue_ids"] for row in rows] == [[first["uuid"]], [second["uuid"]]]


def test_actions_in_words(sample: dict[str, Any]) -> None:
    no_price, rejected = sample["train.json"][1:3]
    (buyer, _) = view("messages", no_price)
    # an offer without a price and the end, both the buyer's; a message still follows
    said = zip(buyer["messages"], buyer["source_turns"], strict=True)
    assert [message["content"] for message, turns in said if 3 in turns] == [
        "[I offer no price.]\n[I quit.]"
    ]
    rejected["events"][-2]["data"]["price"] = 1849.99
    (_, seller) = view("messages", rejected)
    assert seller["messages"][-1] == {"role": "assistant", "content": "[I reject.]"}
    assert seller["messages"][-2]["content"].endswith("\n[I offer $1849.99.]")


def test_briefing_leaves_out_what_is_missing(sample: dict[str, Any]) -> None:
    record = sample["train.json"][0]
    for kb in record["scenario"]["kbs"]:
        kb["item"].update(Price=None, Description=[])
    for row in view("messages", record):
        system = row["messages"][0]["content"]
        assert "listing price" not in system
        assert "description" not in system
        assert len(system.split("\n")) == 3


# Tasks ------------------------------------------------------------------------------------


@pytest.fixture
def built(sample_build: Path) -> Any:
    """The sample, its rows in memory."""
    folder = open_folder(sample_build / DATASET.name, DATASET)
    rows = {f"{c}/{s}": folder.rows(c, s) for c, s in folder.declared}
    return InMemory(folder, copy.deepcopy(rows))


def written(folder: Path, predictions: list[Any]) -> str:
    """The name of a file of predictions."""
    file = folder / "predictions.jsonl"
    file.write_text("".join(f"{json.dumps(prediction)}\n" for prediction in predictions))
    return str(file)


def deals(built: Any, folder: Path, *prices: Any) -> Any:
    """The score of these prices, in the order of the sample's scenarios."""
    names = [row["scenario_id"] for row in built.rows("scenarios", "test")]
    predictions = [
        {"scenario_id": name, "price": price} for name, price in zip(names, prices, strict=True)
    ]
    return score(built, "deals", {}, file=written(folder, predictions)).score


def test_margins_and_utilities_of_prices(built: Any, tmp_path: Path) -> None:
    """Of three scenarios, buyer's and seller's targets 3800 and 5000, 30 and 60, 67 and 75."""
    found = deals(built, tmp_path, 4100, 60.0, None)
    assert found.counts == {"scenarios": 3, "deals": 2}
    assert found.metrics == pytest.approx(
        {
            "walk_aways": 1 / 3,
            "margin_to_list_price": (4100 / 5000 + 60 / 60) / 2 - 1,
            "margin_to_buyer_target": (4100 / 3800 + 60 / 30) / 2 - 1,
            "margin_to_seller_target": (4100 / 5000 + 60 / 60) / 2 - 1,
            "buyer_utility": (300 / 600 - 1 - 0.5) / 3,
            "seller_utility": (-300 / 600 + 1 - 0.5) / 3,
        },
        rel=1e-12,
    )
    assert found.spread.keys() == {"walk_aways", "buyer_utility", "seller_utility"}


def test_where_all_walk_away_there_are_no_margins(built: Any, tmp_path: Path) -> None:
    found = deals(built, tmp_path, None, None, None)
    assert (found.metrics["walk_aways"], found.metrics["seller_utility"]) == (1.0, -0.5)
    margins = [value for name, value in found.metrics.items() if name.startswith("margin")]
    assert margins == [Undefined("no scenario has a deal")] * 3


def test_people_are_those_of_the_first_dialogue(built: Any) -> None:
    """Of the sample's second scenario: one dialogue without a deal, and one with."""
    found = score(built, "deals", {}, baseline="humans").score
    assert found.counts == {"scenarios": 3, "deals": 1}
    built.held["scenarios/test"][1]["dialogue_ids"].reverse()
    found = score(built, "deals", {}, baseline="humans").score
    assert found.counts == {"scenarios": 3, "deals": 2}


def test_a_scenario_whose_id_another_has_is_not_predicted(built: Any) -> None:
    first, second, third = built.held["scenarios/test"]
    second["scenario_id"] = first["scenario_id"]
    task = tasks_of(DATASET)["deals"]
    assert list(task.gold(built)) == [(third["scenario_id"],)]


def test_a_probability_of_a_half_is_a_yes(built: Any, tmp_path: Path) -> None:
    """The sample's dialogues of test, of which the first and the last are deals."""
    rows = built.rows("outcomes", "test")
    chances = [0.5, 0.4999, 1, 0]
    predictions = [
        {"dialogue_id": row["dialogue_id"], "probability": chance}
        for row, chance in zip(rows, chances, strict=True)
    ]
    found = score(built, "deal", {}, file=written(tmp_path, predictions)).score
    # two told right of four; of the four pairs of a deal with none, one is in order
    assert found.metrics == {"auc": 0.25, "accuracy": 0.5, "macro_f1": 0.5}
    assert found.counts == {"dialogues": 4, "deals": 2}


@pytest.mark.parametrize("deal", [True, False])
def test_where_all_end_alike_there_is_no_auc(built: Any, tmp_path: Path, deal: bool) -> None:
    rows = built.rows("outcomes", "test")
    for row in rows:
        row["deal"] = deal
    predictions = [{"dialogue_id": row["dialogue_id"], "probability": 1.0} for row in rows]
    found = score(built, "deal", {}, file=written(tmp_path, predictions)).score
    assert found.metrics["auc"] == Undefined("all end alike")
    assert found.metrics["accuracy"] == deal


@pytest.mark.parametrize(
    ("task", "field", "value", "message"),
    [
        ("deal", "probability", 1.01, "probability: expected from 0 to 1, found 1.01"),
        ("deal", "probability", -1, "probability: expected from 0 to 1, found -1"),
        ("deal", "probability", True, "probability: expected a number"),
        ("deal", "probability", None, "probability: expected a number"),
        ("deals", "price", -0.5, "price: expected from 0 to 1,000,000,000, or null, found -0.5"),
        ("deals", "price", 1e300, "price: expected from 0 to 1,000,000,000, or null, found 1e+300"),
        ("deals", "price", "$50", "price: expected a number"),
    ],
)
def test_what_is_no_probability_or_price_is_refused(
    built: Any, tmp_path: Path, task: str, field: str, value: Any, message: str
) -> None:
    (name,) = tasks_of(DATASET)[task].key
    row = built.rows({"deal": "outcomes", "deals": "scenarios"}[task], "test")[0]
    file = written(tmp_path, [{name: row[name], field: value}])
    with pytest.raises(RecordError) as refused:
        score(built, task, {}, file=file)
    assert message in str(refused.value.problems[0])


def test_samples_are_scored_as_scikit_learn_scores_each() -> None:
    """With classes that are not there, chances that are tied, and some that are just a half."""
    metrics = pytest.importorskip("sklearn.metrics", reason="it is in the extra `tasks`")
    random = np.random.default_rng(3)
    reached, chances = random.random(9) < 0.8, random.integers(0, 5, 9) / 4
    drawn = random.integers(0, 9, (100, 9))
    found = dict(DATASET.load_module("tasks").drawn_metrics(reached, chances, drawn))
    for number, places in enumerate(drawn):
        truth, chance = reached[places], chances[places]
        said, both = chance >= 0.5, {"labels": [False, True], "zero_division": 0}
        one_class = truth.all() or not truth.any()
        due = {
            "auc": np.nan if one_class else metrics.roc_auc_score(truth, chance),
            "accuracy": metrics.accuracy_score(truth, said),
            "macro_f1": metrics.f1_score(truth, said, average="macro", **both),
        }
        scores = {name: values[number] for name, values in found.items()}
        assert scores == pytest.approx(due, rel=1e-12, nan_ok=True)
    assert np.isnan(found["auc"]).any()


def test_real_deals_have_prices_and_real_scenarios_room_for_one(real_build: Path) -> None:
    """What the scores take for granted."""
    folder = open_folder(real_build / DATASET.name, DATASET)
    rows = folder.rows("outcomes", "test")
    assert [row["deal"] for row in rows] == [row["deal_price"] is not None for row in rows]
    scenarios = tasks_of(DATASET)["deals"].gold(folder).values()
    assert len(scenarios) == 523
    assert all(0 < row["buyer_target"] < row["seller_target"] for row in scenarios)
    assert all(row["list_price"] > 0 for row in scenarios)
