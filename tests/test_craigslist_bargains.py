"""What is particular to CraigslistBargains: the Hub's old schema, typed events, deals."""

import copy
import json

import numpy as np
import pytest
from build_changes import in_memory
from sklearn import metrics

from parley.base.errors import RecordError
from parley.declaration.registry import get
from parley.read.transcript import Note
from parley.scoring.evaluate import score
from parley.tasks.task import Undefined

DATASET = get("craigslist_bargains")
SAMPLE = {path.name: json.loads(path.read_bytes()) for path in DATASET.sample.glob("*.json")}

CONFIGS = DATASET.configs
NEGOTIATIONS = CONFIGS["negotiations"]


@pytest.fixture
def sample():
    """The sample's records, by file."""
    return copy.deepcopy(SAMPLE)


def test_defaults_of_the_old_schema(sample):
    record, unparsed = sample["train.json"][0], sample["test.json"][0]
    for act, intent, price in (
        (None, "", -1.0),
        ({"intent": "intro", "price": None}, "intro", -1.0),
        ({"intent": "intro", "price": 0}, "intro", -1.0),  # the old script tests for truth
        ({"intent": "accept"}, "accept", -1.0),
        ({"intent": "insist", "price": 7}, "insist", 7.0),
    ):
        record["events"] = [{**record["events"][0], "metadata": act}]
        (row,) = view("dialogues", [record])
        assert row["dialogue_acts"] == {"intent": [intent], "price": [price]}
    acts = view("dialogues", [unparsed])[0]["dialogue_acts"]  # whose events lack the key
    assert {*zip(acts["intent"], acts["price"], strict=True)} == {("", -1.0)}
    buyer, seller = record["scenario"]["kbs"]
    buyer["item"] |= {"Price": 0, "Description": []}
    buyer["personal"]["Bottomline"] = 100
    seller["item"]["Images"] = ["a_0.jpg", "a_1.jpg"]
    row = view("dialogues", [record])[0]
    assert row["items"]["Images"][1] == "a_0.jpg,a_1.jpg"
    assert row["items"]["Price"] == [-1.0, 120.0]
    assert row["items"]["Description"][0] == ""
    assert row["agent_info"]["Bottomline"] == ["100", "None"]


def test_numbers_and_absent_offers_come_back(sample):
    """Times are text upstream; a price may be an integer there."""
    record = sample["train.json"][0]
    values = ["1499000123.4", "1499000123.45", "-1.37418297005", "5e-05"]
    for time, price in zip([*values, *values[:2]], [0, 92, 92.5, -1, 1e-3, 3e38], strict=True):
        record["events"][0]["time"] = time
        record["scenario"]["kbs"][0]["personal"]["Target"] = price
        assert NEGOTIATIONS.node.fits(record)
        row = NEGOTIATIONS.to_row(record)
        assert row["events"][0]["time"] == float(time)
        assert type(row["scenario"]["kbs"][0]["personal"]["Target"]) is float
        assert NEGOTIATIONS.to_record(row) == record
    for outcome, absent in (({"reward": 0, "offer": None}, False), ({"reward": 0}, True)):
        record["outcome"] = outcome
        row = NEGOTIATIONS.to_row(record)
        assert row["outcome"]["offer_absent"] == absent
        assert NEGOTIATIONS.to_record(row) == record


def test_transcripts(sample):
    tool = DATASET.layout
    bare, shown = (tool.transcript(NEGOTIATIONS.to_row(sample["train.json"][n])) for n in (1, 2))
    assert shown.before[1:] == [("list price", "$950")]
    due = {"buyer": ("target", "$665"), "seller": ("target", "$950")}
    assert {side: facts[0] for side, facts in shown.sides.items()} == due
    assert shown.turns[0].speaker == "seller"
    assert shown.turns[0].notes == (Note("intro", kind="act"),)
    assert shown.turns[6].notes == (Note("counter-price", kind="act", detail="$849.99"),)
    due = [("offers $700", True), ("rejects", True)]
    assert [(turn.text, turn.action) for turn in shown.turns[-2:]] == due
    assert shown.after == [("deal", "no"), ("final offer", "$700")]
    # without a price or an offer
    assert bare.turns[0].notes == ()
    assert [t.text for t in bare.turns if t.action] == ["offers no price", "quits"]
    assert bare.after == [("deal", "no")]


def view(name, records):
    return list(CONFIGS[name].rows(records))


def test_outcomes_without_deal_price_or_events(sample):
    rejected, absent = sample["train.json"][2], sample["validation.json"][1]
    assert rejected["outcome"]["offer"]
    for row in view("outcomes", [rejected, absent]):
        assert row["deal"] is False
        assert row["deal_price"] is row["deal_over_list_price"] is None
    record = sample["train.json"][0]
    record["outcome"]["offer"]["price"] = 90  # an integer
    (row,) = view("outcomes", [record])
    assert (repr(row["deal_price"]), row["deal_over_list_price"]) == ("90.0", 0.75)
    record["events"][9]["data"]["price"] = 0
    assert view("utterances", [record])[9]["offer_price"] == 0.0
    for listed in (None, 0):
        for kb in record["scenario"]["kbs"]:
            kb["item"]["Price"] = listed
        (row,) = view("outcomes", [record])
        assert (row["deal_price"], row["list_price"]) == (90, listed)
        assert row["deal_over_list_price"] is None
    record["events"] = []
    (row,) = view("outcomes", [record])
    assert (row["events"], row["seconds"]) == (0, None)
    assert [len(row["messages"]) for row in view("messages", [record])] == [1, 1]


def test_an_id_of_two_scenarios_is_two_rows(sample):
    _, first, _, second = sample["test.json"]
    another = copy.deepcopy(second)
    second["scenario"]["post_id"] = "6150099999"
    another["scenario"]["kbs"][0]["personal"]["Target"] = 31
    rows = view("scenarios", [first, second, another])
    assert [row["scenario_id"] for row in rows] == [first["scenario"]["uuid"]] * 3
    assert [len(row["dialogue_ids"]) for row in rows] == [1] * 3


def test_actions_in_words_and_briefings_without_what_is_missing(sample):
    record, no_price, rejected = sample["train.json"][:3]
    (buyer, _) = view("messages", [no_price])
    # an offer without a price and the end, both the buyer's; a message still follows
    said = zip(buyer["messages"], buyer["source_turns"], strict=True)
    (ended,) = [message["content"] for message, turns in said if 3 in turns]
    assert ended == "[I offer no price.]\n[I quit.]"
    rejected["events"][-2]["data"]["price"] = 1849.99
    (_, seller) = view("messages", [rejected])
    assert seller["messages"][-1] == {"role": "assistant", "content": "[I reject.]"}
    assert seller["messages"][-2]["content"].endswith("\n[I offer $1849.99.]")
    for kb in record["scenario"]["kbs"]:
        kb["item"].update(Price=None, Description=[])
    for row in view("messages", [record]):
        system = row["messages"][0]["content"]
        assert "listing price" not in system
        assert "description" not in system
        assert len(system.split("\n")) == 3


@pytest.fixture
def built(sample_build):
    return in_memory(sample_build / DATASET.name)


@pytest.fixture
def scored(built):
    """Score these values of a field of a task's predictions, in the order of the sample's rows."""

    def scored(task, *values):
        key, config, field = {
            "deal": ("dialogue_id", "outcomes", "probability"),
            "deals": ("scenario_id", "scenarios", "price"),
        }[task]
        rows = built.rows(config, "test")
        found = [{key: row[key], field: value} for row, value in zip(rows, values, strict=False)]
        return score(built, task, {}, predictions=found).score

    return scored


def test_margins_and_utilities_of_prices(scored):
    """Of three scenarios, buyer's and seller's targets 3800 and 5000, 30 and 60, 67 and 75."""
    found = scored("deals", 4100, 60.0, None)
    assert found.counts == {"scenarios": 3, "deals": 2}
    medians = {
        "margin_to_list_price": (4100 / 5000 + 60 / 60) / 2 - 1,
        "margin_to_buyer_target": (4100 / 3800 + 60 / 30) / 2 - 1,
        "margin_to_seller_target": (4100 / 5000 + 60 / 60) / 2 - 1,
        "sl": (900 / 1200 + 0) / 2,
    }
    due = {**medians, "sl_with_0_without_deal": (900 / 1200 + 0) / 3, "fairness": 300 / 1200 / 2}
    assert {name: found.metrics[name] for name in due} == pytest.approx(due)
    assert found.metrics["median"] == pytest.approx(medians)  # of two
    points = {"buyer": (300 / 600 - 1 - 0.5) / 3, "seller": (-300 / 600 + 1 - 0.5) / 3}
    assert found.metrics["points"] == pytest.approx(points)
    assert found.metrics["below_walk_away"] == pytest.approx({"buyer": 1 / 3, "seller": 0})
    untold = [*found.metrics["turns"].values(), *found.metrics["malformed"].values()]
    assert all(isinstance(each, Undefined) for each in untold)


@pytest.mark.parametrize("last", [{"price": None, "end": "turn_limit"}, {"unreadable": "empty"}])
def test_ends_without_a_deal_are_told_apart(built, last):
    ids = [key for (key,) in DATASET.tasks["deals"].gold(built)]
    found = [{"scenario_id": id, "price": None} for id in ids[:-1]]
    result = score(built, "deals", {}, predictions=[*found, {"scenario_id": ids[-1]} | last])
    metrics = result.score.metrics
    is_over_time = "end" in last
    shares = [metrics[name] for name in ("walk_aways", "turn_limits", "unreadable")]
    assert shares == pytest.approx([2 / 3, is_over_time / 3, (not is_over_time) / 3])
    assert metrics["points"] == {"buyer": -0.5, "seller": -0.5}
    assert isinstance(metrics["margin_to_list_price"], Undefined)
    assert result.unreadable == ({} if is_over_time else {"empty": 1})


def test_scenarios_and_their_people(built):
    """People are those of the first dialogue; an id that two scenarios have is not predicted."""
    first, second, third = built.held["scenarios/test"]
    for deals in (1, 2):  # of the second scenario: one dialogue without a deal, and one with
        found = score(built, "deals", {}, baseline="humans").score
        assert found.counts == {"scenarios": 3, "deals": deals}
        second["dialogue_ids"].reverse()
    second["scenario_id"] = first["scenario_id"]
    assert list(DATASET.tasks["deals"].gold(built)) == [(third["scenario_id"],)]


@pytest.mark.parametrize(
    ("task", "values"), [("deal", (1.01, -1, True, None)), ("deals", (-0.5, 1e300, "$50"))]
)
def test_no_probability_or_price_is_refused(scored, task, values):
    for value in values:
        with pytest.raises(RecordError, match={"deal": "probability", "deals": "price"}[task]):
            scored(task, value)


def test_deals_are_scored_as_scikit_learn_scores_them():
    """With classes that are absent, chances that are tied, just a half, and unreadable ones."""
    random, score_deal = np.random.default_rng(3), DATASET.load_module("tasks").deal.score_deal
    for _ in range(20):
        truth, chance = random.random(9) < 0.8, random.integers(0, 5, 9) / 4
        chance[2] = np.nan
        known = ~np.isnan(chance)
        said = np.where(known, chance >= 0.5, 2)  # a third class, which is never right
        given = [{} if np.isnan(each) else {"probability": each} for each in chance]
        gold = dict(enumerate({"probability": float(each)} for each in truth))
        found = score_deal(gold, dict(enumerate(given))).metrics
        assert np.mean(found["accuracy"]) == metrics.accuracy_score(truth, said)
        f1 = metrics.f1_score(truth, said, average="macro", labels=[0, 1], zero_division=np.nan)
        assert found["macro_f1"](slice(None)) == pytest.approx(f1)
        alike = len(set(truth[known])) < 2
        auc = None if alike else metrics.roc_auc_score(truth[known], chance[known])
        area = found["auc"](slice(None))
        assert isinstance(area, Undefined) if alike else area == pytest.approx(auc)
