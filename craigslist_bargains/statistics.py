"""CraigslistBargains' documented figures, in the order of the documents, each with its computation.

old card: the Hub's card of craigslist_bargains, which quotes He et al., EMNLP 2018.
our card: README.md beside this file; what it counted on validation and test.
One function a split where a document gives a figure a split, since a split may be missing.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime, timezone
from itertools import chain, cycle, islice, pairwise
from statistics import mean
from typing import Any

from parley.figures import Data, Known, check, documented
from parley.shapes import problems

SPLITS = ("train", "validation", "test")
COUNTED = ("validation", "test")  # what our card was counted on
ACTIONS = ("message", "offer", "accept", "reject", "quit")
SIDES = ("buyer", "seller")
TALK = (
    "intro",
    "init-price",
    "vague-price",
    "counter-price",
    "insist",
    "inquiry",
    "agree",
    "inform",
    "disagree",
    "unknown",
)
DOCUMENTED_PERCENT = (50, 70, 90)  # the buyer's targets, of the listing price
PERCENT = (50, 60, 70, 76, 90, 92)  # those in the data
DAY = 24 * 60 * 60

# What the figures are computed from ------------------------------------------------------


def negotiations(data: Data, *splits: str) -> list[dict[str, Any]]:
    """The full rows of these splits, or of those that our card was counted on."""
    return data.rows("negotiations", *(splits or COUNTED))


def events(rows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The events of all these dialogues."""
    return chain.from_iterable(row["events"] for row in rows)


def actions(row: dict[str, Any]) -> list[str]:
    """The actions of a dialogue, in order."""
    return [event["action"] for event in row["events"]]


def offers(row: dict[str, Any]) -> list[dict[str, Any]]:
    """The offers made in a dialogue, in order."""
    return [e["offer"] for e in row["events"] if e["action"] == "offer"]


def accepted(row: dict[str, Any]) -> list[dict[str, Any]]:
    """The offers of a dialogue that the other side accepted: each the side's last before that."""
    offered: dict[int, Any] = {}
    found = []
    for event in row["events"]:
        if event["action"] == "offer":
            offered[event["agent"]] = event["offer"]
        elif event["action"] == "accept" and 1 - event["agent"] in offered:
            found.append(offered[1 - event["agent"]])
    return found


def named(data: Data, config: str, column: str, label: int | None) -> str | None:
    """The name of a label in a column of a view."""
    name = data.module.FEATURES[config][column].int2str
    return None if label is None else str(name(label))


def deals(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The dialogues that end in a deal."""
    return [row for row in rows if row["outcome"]["reward"] == 1]


def targets(rows: Iterable[dict[str, Any]]) -> Iterator[tuple[float, float]]:
    """The buyer's target and the listing price of each dialogue that has them."""
    for row in rows:
        buyer = row["scenario"]["kbs"][0]
        target, price = buyer["personal"]["Target"], buyer["item"]["Price"]
        if target is not None and price:
            yield target, price


def off(target: float, price: float, percent: float) -> float:
    """How far a target is from so many percent of the price, in cents, which are exact."""
    return abs(100 * target - percent * price)


def nearest(rows: Iterable[dict[str, Any]]) -> Counter[int]:
    """Dialogues by which of the six shares the buyer's target is nearest to."""
    return Counter(min(PERCENT, key=lambda p: off(*pair, p)) for pair in targets(rows))


def scenarios_of_posts(rows: Iterable[dict[str, Any]]) -> dict[str, set[str]]:
    """The scenarios of each post."""
    found: dict[str, set[str]] = {}
    for row in rows:
        found.setdefault(row["scenario"]["post_id"], set()).add(row["scenario"]["uuid"])
    return found


def posts_of_scenarios(rows: Iterable[dict[str, Any]]) -> dict[str, set[str]]:
    """The posts that occur with each `scenario.uuid`."""
    found: dict[str, set[str]] = {}
    for row in rows:
        found.setdefault(row["scenario"]["uuid"], set()).add(row["scenario"]["post_id"])
    return found


def values(found: Iterable[Any]) -> str:
    """Distinct values as one text, sorted."""
    return ", ".join(map(str, sorted(set(found))))


def per_dialogue(data: Data, split: str) -> float:
    """Mean number of events of a row of `dialogues`."""
    rows = data.rows("dialogues", split)
    return sum(len(row["agent_turn"]) for row in rows) / len(rows)


# Old card, Data Splits -------------------------------------------------------------------


@documented(0, "old card, Data Splits: test is not provided with dialogue_acts")
def acts_in_test(data: Data) -> int:
    """Events of `negotiations` in test with a dialogue act."""
    return sum(event["metadata"] is not None for event in events(negotiations(data, "test")))


@documented('{"price": -1.0, "intent": ""}', "old card, Data Splits, default values")
def default_acts_of_test(data: Data) -> str:
    """The dialogue acts of `dialogues` in test: each one that occurs, once."""
    acts = (row["dialogue_acts"] for row in data.rows("dialogues", "test"))
    pairs = {pair for act in acts for pair in zip(act["price"], act["intent"], strict=False)}
    return ", ".join(json.dumps({"price": p, "intent": i}) for p, i in sorted(pairs))


def column(data: Data, split: str) -> dict[str, float]:
    """A column of the card's table."""
    return {
        "Input Examples": len(data.rows("dialogues", split)),
        "Average Dialogue Length": per_dialogue(data, split),
    }


@documented(
    {"Input Examples": 5247, "Average Dialogue Length": "9.14"},
    "old card, Data Splits, table, Train",
)
def train(data: Data) -> dict[str, float]:
    """Rows of `dialogues` in train, and events a dialogue."""
    return column(data, "train")


@documented(
    {"Input Examples": 597, "Average Dialogue Length": "9.17"},
    "old card, Data Splits, table, Valid",
)
def validation(data: Data) -> dict[str, float]:
    """Rows of `dialogues` in validation, and events a dialogue."""
    return column(data, "validation")


@documented(
    {"Input Examples": 838, "Average Dialogue Length": "9.24"},
    "old card, Data Splits, table, Test",
    differs={
        "Average Dialogue Length": Known(
            "9.25", "the mean is 9.2458: the card has it cut off, not rounded"
        )
    },
)
def test(data: Data) -> dict[str, float]:
    """Rows of `dialogues` in test, and events a dialogue."""
    return column(data, "test")


# Old card, Dataset Creation --------------------------------------------------------------


@documented(6682, "old card, Dataset Creation")
def dialogues(data: Data) -> int:
    """Rows of `dialogues` in the three splits."""
    return len(data.rows("dialogues", *SPLITS))


SIX_CATEGORIES: dict[str, int | str] = {
    "number": 6,
    "names": "bike, car, electronics, furniture, housing, phone",
}


def categories(data: Data, split: str) -> dict[str, Any]:
    """The categories that occur in a split of `dialogues`."""
    rows = data.rows("dialogues", split)
    found = {name for row in rows for name in row["items"]["Category"]}
    return {"number": len(found), "names": values(found)}


@documented(SIX_CATEGORIES, "old card, Dataset Creation, categories")
def categories_of_train(data: Data) -> dict[str, Any]:
    """The categories of train, as the data spells them, sorted."""
    return categories(data, "train")


@documented(SIX_CATEGORIES, "old card, Dataset Creation, categories")
def categories_of_validation(data: Data) -> dict[str, Any]:
    """The categories of validation, as the data spells them, sorted."""
    return categories(data, "validation")


@documented(SIX_CATEGORIES, "old card, Dataset Creation, categories")
def categories_of_test(data: Data) -> dict[str, Any]:
    """The categories of test, as the data spells them, sorted."""
    return categories(data, "test")


def most_scenarios(data: Data, split: str) -> int:
    """The most scenarios that one post has in a split."""
    return max(map(len, scenarios_of_posts(negotiations(data, split)).values()))


@documented(3, "old card, Dataset Creation: three scenarios of each posting")
def scenarios_of_a_post_in_train(data: Data) -> int:
    """The most scenarios, told apart by `scenario.uuid`, that one post has in train."""
    return most_scenarios(data, "train")


@documented(
    3,
    "old card, Dataset Creation: three scenarios of each posting",
    differs=Known(6, "24 of the split's 131 posts have four to six"),
)
def scenarios_of_a_post_in_validation(data: Data) -> int:
    """The most scenarios, told apart by `scenario.uuid`, that one post has in validation."""
    return most_scenarios(data, "validation")


@documented(
    3,
    "old card, Dataset Creation: three scenarios of each posting",
    differs=Known(9, "27 of the split's 161 posts have four to nine"),
)
def scenarios_of_a_post_in_test(data: Data) -> int:
    """The most scenarios, told apart by `scenario.uuid`, that one post has in test."""
    return most_scenarios(data, "test")


def shares(data: Data, split: str) -> dict[str, Any]:
    """The buyer's targets as shares of the listing price, and dialogues with documented ones."""
    rows = negotiations(data, split)
    # targets are whole dollars, off by up to one: from a price of 200 on, that is half a percent
    exact = {round(target / price, 2) for target, price in targets(rows) if price >= 200}
    near = nearest(rows)
    return {
        "shares": values(exact),
        "dialogues with these": sum(near[percent] for percent in DOCUMENTED_PERCENT),
    }


THREE_SHARES = "old card, Dataset Creation: 0.5x, 0.7x and 0.9x of the listing price"


@documented({"shares": "0.5, 0.7, 0.9", "dialogues with these": 5247}, THREE_SHARES)
def buyers_targets_of_train(data: Data) -> dict[str, Any]:
    """Shares of listing prices from $200 on, to two decimals; dialogues nearest to these three."""
    return shares(data, "train")


@documented(
    {"shares": "0.5, 0.7, 0.9", "dialogues with these": 597},
    THREE_SHARES,
    differs={
        "shares": Known(
            "0.5, 0.6, 0.7, 0.76, 0.9, 0.92",
            "the card leaves out three shares; they are those that the scenarios of test with "
            "`intersection` have, which validation does not give",
        ),
        "dialogues with these": Known(405, "the other 192 are nearest to 0.6, 0.76 or 0.92"),
    },
)
def buyers_targets_of_validation(data: Data) -> dict[str, Any]:
    """Shares of listing prices from $200 on, to two decimals; dialogues nearest to these three."""
    return shares(data, "validation")


@documented(
    {"shares": "0.5, 0.7, 0.9", "dialogues with these": 838},
    THREE_SHARES,
    differs={
        "shares": Known(
            "0.5, 0.6, 0.7, 0.76, 0.9, 0.92",
            "the card leaves out three shares: scenarios with an `intersection` of 1.0, 0.6 or "
            "0.2 have 1 - 0.4 x intersection",
        ),
        "dialogues with these": Known(
            612,
            "the other 226 are nearest to 0.6, 0.76 or 0.92; 232 have an `intersection`, but of "
            "a low price, in whole dollars, another share can be nearer",
        ),
    },
)
def buyers_targets_of_test(data: Data) -> dict[str, Any]:
    """Shares of listing prices from $200 on, to two decimals; dialogues nearest to these three."""
    return shares(data, "test")


# Old card, Annotation process ------------------------------------------------------------


def has_acts(data: Data, split: str) -> str:
    """Whether any event of a split of `dialogues` has an intent."""
    rows = data.rows("dialogues", split)
    return "yes" if any(any(row["dialogue_acts"]["intent"]) for row in rows) else "no"


@documented("yes", "old card, Annotation process: acts in train and test")
def train_has_acts(data: Data) -> str:
    """Whether any event of train has an intent."""
    return has_acts(data, "train")


@documented(
    "no",
    "old card, Annotation process: acts in train and test",
    differs=Known("yes", "453 of its 597 dialogues have acts; the card names test in its place"),
)
def validation_has_acts(data: Data) -> str:
    """Whether any event of validation has an intent."""
    return has_acts(data, "validation")


@documented(
    "yes",
    "old card, Annotation process: acts in train and test",
    differs=Known("no", "as the same card says under Data Splits"),
)
def test_has_acts(data: Data) -> str:
    """Whether any event of test has an intent."""
    return has_acts(data, "test")


# Our card, introduction to Splits --------------------------------------------------------


@documented(1435, "our card, introduction")
def dialogues_counted(data: Data) -> int:
    """Rows of `negotiations` in validation and test."""
    return len(negotiations(data))


@documented("None", "our card, Fields, agent_info.Bottomline")
def bottomlines(data: Data) -> str:
    """The texts that occur as a bottom line in `dialogues`."""
    rows = data.rows("dialogues", *COUNTED)
    return values(text for row in rows for text in row["agent_info"]["Bottomline"])


@documented(
    {
        "in validation": 0,
        "in test": 232,
        "values": "0.2, 0.6, 1.0",
        "target follows from it": 232,
        "scenario_uuid differs": 232,
        "scenario_uuid differs without it": 0,
    },
    "our card, Fields, scenario_uuid and scenario.intersection",
)
def intersection(data: Data) -> dict[str, Any]:
    """Dialogues with `intersection`, and what goes with it.

    A target follows if it is within a dollar of the listing price times 1 - 0.4 x intersection.
    """
    rows = {
        split: [r for r in negotiations(data, split) if r["scenario"]["intersection"] is not None]
        for split in COUNTED
    }
    given = rows["validation"] + rows["test"]
    differs = [r for r in negotiations(data) if r["scenario_uuid"] != r["scenario"]["uuid"]]
    return {
        "in validation": len(rows["validation"]),
        "in test": len(rows["test"]),
        "values": values(row["scenario"]["intersection"] for row in given),
        "target follows from it": sum(
            off(*pair, 100 - 40 * row["scenario"]["intersection"]) < 100
            for row in given
            for pair in targets([row])
        ),
        "scenario_uuid differs": sum(row in given for row in differs),
        "scenario_uuid differs without it": sum(row not in given for row in differs),
    }


@documented(
    {
        "bottom lines": 0,
        "listing prices null": 0,
        "images at most": 1,
        "agents": "human",
        "offers with sides": 0,
        "offers without a price": 2,
        "start times of other actions": 0,
        "months": "2017-06, 2017-07",
    },
    "our card, Fields, negotiations",
)
def fields_of_negotiations(data: Data) -> dict[str, Any]:
    """What the fields hold, by how the card describes them; months are in UTC."""
    rows = negotiations(data)
    kbs = [kb for row in rows for kb in row["scenario"]["kbs"]]
    offered = [offer for row in rows for offer in offers(row)]
    outcomes = [row["outcome"]["offer"] for row in rows if row["outcome"]["offer"]]
    return {
        "bottom lines": sum(kb["personal"]["Bottomline"] is not None for kb in kbs),
        "listing prices null": sum(kb["item"]["Price"] is None for kb in kbs),
        "images at most": max(len(kb["item"]["Images"]) for kb in kbs),
        "agents": values(agent for row in rows for agent in row["agents"].values()),
        "offers with sides": sum(offer["sides"] != "" for offer in offered + outcomes),
        "offers without a price": sum(offer["price"] is None for offer in offered),
        "start times of other actions": sum(
            e["start_time"] is not None for e in events(rows) if e["action"] != "message"
        ),
        "months": values(
            f"{datetime.fromtimestamp(e['time'], timezone.utc):%Y-%m}" for e in events(rows)
        ),
    }


@documented({"validation": 451, "test": 638}, "our card, Fields, outcome.offer: the last offer")
def deals_over_the_last_offer(data: Data) -> dict[str, int]:
    """Deals whose offer is the last that was made: all deals of the split."""
    return {
        split: sum(
            row["outcome"]["offer"] in offers(row)[-1:] for row in deals(negotiations(data, split))
        )
        for split in COUNTED
    }


@documented({"validation": 597, "test": 0}, "our card, Fields, parsed")
def parsed(data: Data) -> dict[str, int]:
    """Dialogues from a file with dialogue acts: all of validation, none of test."""
    return {split: sum(r["parsed"] for r in negotiations(data, split)) for split in COUNTED}


@documented(0, "our card, Splits")
def posts_in_validation_and_test(data: Data) -> int:
    """Posts, told apart by `post_id`, that occur in both."""
    first, second = (scenarios_of_posts(negotiations(data, split)).keys() for split in COUNTED)
    return len(first & second)


@documented({"validation": "9.17", "test": "9.2458"}, "our card, Splits")
def events_per_dialogue(data: Data) -> dict[str, float]:
    """Mean number of events of a dialogue."""
    return {split: per_dialogue(data, split) for split in COUNTED}


# Our card, the views ---------------------------------------------------------------------

VIEWS = ("utterances", "outcomes", "messages")


@documented(
    {"utterances": 5475, "outcomes": 597, "messages": 1194}, "our card, Splits, table, validation"
)
def views_of_validation(data: Data) -> dict[str, int]:
    """Rows of a view in validation."""
    return {view: len(data.rows(view, "validation")) for view in VIEWS}


@documented(
    {"utterances": 7748, "outcomes": 838, "messages": 1676}, "our card, Splits, table, test"
)
def views_of_test(data: Data) -> dict[str, int]:
    """Rows of a view in test."""
    return {view: len(data.rows(view, "test")) for view in VIEWS}


@documented({"validation": "0.845", "test": "0.835"}, "our card, Fields, deal_over_list_price")
def mean_deal_over_list_price(data: Data) -> dict[str, float]:
    """Mean of `deal_over_list_price` in `outcomes`."""
    columns = {
        split: [row["deal_over_list_price"] for row in data.rows("outcomes", split)]
        for split in COUNTED
    }
    return {
        s: mean(share for share in column if share is not None) for s, column in columns.items()
    }


@documented({"validation": "287", "test": "285", "at most": "1299.53"}, "our card, Fields, seconds")
def dialogue_seconds(data: Data) -> dict[str, float]:
    """Mean of `seconds` in `outcomes`, and the longest dialogue."""
    return {
        **{split: mean(r["seconds"] for r in data.rows("outcomes", split)) for split in COUNTED},
        "at most": max(row["seconds"] for row in data.rows("outcomes", *COUNTED)),
    }


@documented(
    {"with <start>": 1435, "of several events": 2532, "end with user": 1435},
    "our card, What we changed, messages",
)
def chats(data: Data) -> dict[str, int]:
    """Chats that begin with the cue; chat messages made of several events; chats by their end."""
    rows = data.rows("messages", *COUNTED)
    return {
        "with <start>": sum(row["messages"][1]["content"] == "<start>" for row in rows),
        "of several events": sum(len(turns) > 1 for row in rows for turns in row["source_turns"]),
        "end with user": sum(row["messages"][-1]["role"] == "user" for row in rows),
    }


# Our card, How it was collected ----------------------------------------------------------


@documented(1435, "our card, How it was collected")
def descriptions_halved(data: Data) -> int:
    """Dialogues whose buyer sees the first half of the seller's lines, at least one line."""
    seen = [[kb["item"]["Description"] for kb in r["scenario"]["kbs"]] for r in negotiations(data)]
    return sum(buyer == seller[: max(1, len(seller) // 2)] for buyer, seller in seen)


def totals(data: Data, split: str) -> dict[str, int]:
    """A column of the card's table."""
    rows = negotiations(data, split)
    by_action = Counter(event["action"] for event in events(rows))
    return {
        "dialogues": len(rows),
        "deals": len(deals(rows)),
        "events": sum(len(row["events"]) for row in rows),
        **{action: by_action[action] for action in ACTIONS},
        "posts": len(scenarios_of_posts(rows)),
    }


@documented(
    {
        "dialogues": 597,
        "deals": 451,
        "events": 5475,
        "message": 4416,
        "offer": 510,
        "accept": 452,
        "reject": 43,
        "quit": 54,
        "posts": 131,
    },
    "our card, How it was collected, table, validation",
)
def totals_of_validation(data: Data) -> dict[str, int]:
    """Dialogues, deals reached, events, events by action, and posts."""
    return totals(data, "validation")


@documented(
    {
        "dialogues": 838,
        "deals": 638,
        "events": 7748,
        "message": 6258,
        "offer": 731,
        "accept": 644,
        "reject": 56,
        "quit": 59,
        "posts": 161,
    },
    "our card, How it was collected, table, test",
)
def totals_of_test(data: Data) -> dict[str, int]:
    """Dialogues, deals reached, events, events by action, and posts."""
    return totals(data, "test")


def by_category(data: Data, split: str) -> dict[str, int]:
    """A row of the card's table of categories."""
    counts: Counter[str] = Counter()
    for row in data.rows("outcomes", split):
        category = named(data, "outcomes", "category", row["category"])
        counts[f"{category}"] += 1
        counts[f"{category}, deals"] += row["deal"]
    return counts


@documented(
    {
        "housing": 124,
        "furniture": 178,
        "car": 81,
        "bike": 93,
        "phone": 70,
        "electronics": 51,
        "housing, deals": 89,
        "furniture, deals": 133,
        "car, deals": 60,
        "bike, deals": 78,
        "phone, deals": 52,
        "electronics, deals": 39,
    },
    "our card, How it was collected, table of categories, validation",
)
def outcomes_by_category_of_validation(data: Data) -> dict[str, int]:
    """Rows of `outcomes` with the category, and those that are deals."""
    return by_category(data, "validation")


@documented(
    {
        "housing": 177,
        "furniture": 237,
        "car": 119,
        "bike": 128,
        "phone": 47,
        "electronics": 130,
        "housing, deals": 120,
        "furniture, deals": 198,
        "car, deals": 82,
        "bike, deals": 98,
        "phone, deals": 38,
        "electronics, deals": 102,
    },
    "our card, How it was collected, table of categories, test",
)
def outcomes_by_category_of_test(data: Data) -> dict[str, int]:
    """Rows of `outcomes` with the category, and those that are deals."""
    return by_category(data, "test")


# Our card, Annotation --------------------------------------------------------------------


def acts(data: Data, split: str) -> list[tuple[str, dict[str, Any]]]:
    """The action and the dialogue act of each event that has an act."""
    found = events(negotiations(data, split))
    return [(e["action"], e["metadata"]) for e in found if e["metadata"] is not None]


@documented(
    {
        "intro": 415,
        "init-price": 463,
        "vague-price": 44,
        "counter-price": 821,
        "insist": 59,
        "inquiry": 531,
        "agree": 198,
        "inform": 248,
        "disagree": 217,
        "unknown": 945,
        "offer": 422,
        "accept": 383,
        "reject": 26,
        "quit": 25,
    },
    "our card, Annotation, table",
)
def intents_of_validation(data: Data) -> dict[str, int]:
    """Events with the intent: ten of messages, four that are the action itself."""
    counts = Counter(act["intent"] for _, act in acts(data, "validation"))
    return {intent: counts[intent] for intent in (*TALK, *ACTIONS[1:])}


@documented(
    {
        "intro": 415,
        "init-price": 463,
        "vague-price": 44,
        "counter-price": 821,
        "insist": 59,
        "inquiry": 531,
        "agree": 198,
        "inform": 248,
        "disagree": 217,
        "unknown": 945,
        "offer": 422,
        "accept": 383,
        "reject": 26,
        "quit": 25,
        "none": 678,
    },
    "our card, Annotation, table and text",
)
def labels_of_validation(data: Data) -> dict[str, int]:
    """Rows of `utterances` with the label."""
    counts = Counter(row["intent"] for row in data.rows("utterances", "validation"))
    return {
        named(data, "utterances", "intent", label) or "none": count
        for label, count in counts.items()
    }


@documented({"messages": 3941, "with a price": 1399}, "our card, Annotation")
def messages_with_an_act(data: Data) -> dict[str, int]:
    """Messages of validation with a dialogue act, and those whose act has a price."""
    found = [act for action, act in acts(data, "validation") if action == "message"]
    return {"messages": len(found), "with a price": sum(a["price"] is not None for a in found)}


@documented({"dialogues": 144, "events": 678, "dialogues in part": 0}, "our card, Annotation")
def without_acts(data: Data) -> dict[str, int]:
    """Dialogues of validation no event of which has an act, their events; some but not all."""
    rows = negotiations(data, "validation")
    none = [row for row in rows if all(e["metadata"] is None for e in row["events"])]
    every = [row for row in rows if all(e["metadata"] is not None for e in row["events"])]
    return {
        "dialogues": len(none),
        "events": sum(len(row["events"]) for row in none),
        "dialogues in part": len(rows) - len(none) - len(every),
    }


# Our card, Personal and sensitive information --------------------------------------------


@documented(
    {"descriptions with a web address": 172, "with an e-mail address": 0},
    "our card, Personal and sensitive information",
)
def addresses(data: Data) -> dict[str, int]:
    r"""Dialogues whose seller's description matches https?:|www\. or \S@\S."""
    rows = negotiations(data)
    texts = ["\n".join(row["scenario"]["kbs"][1]["item"]["Description"]) for row in rows]
    return {
        "descriptions with a web address": sum(bool(re.search(r"https?:|www\.", t)) for t in texts),
        "with an e-mail address": sum(bool(re.search(r"\S@\S", t)) for t in texts),
    }


@documented(
    {"validation": 4, "test": 0}, "our card, Personal and sensitive information: of validation"
)
def telephone_numbers(data: Data) -> dict[str, int]:
    """Messages with ten digits in groups of three, three and four."""
    number = re.compile(r"(?<!\d)\(?\d{3}\)?[-. ]?\d{3}[-. ]?\d{4}(?!\d)")
    return {
        split: sum(bool(number.search(e["text"] or "")) for e in events(negotiations(data, split)))
        for split in COUNTED
    }


# Our card, Known limits ------------------------------------------------------------------

NEAREST = "our card, Known limits, table of shares"


def by_share(data: Data, split: str) -> dict[str, int]:
    """A row of the card's table."""
    counts = nearest(negotiations(data, split))
    return {f"{percent / 100:g}": counts[percent] for percent in PERCENT}


@documented(
    {"0.5": 131, "0.6": 53, "0.7": 129, "0.76": 70, "0.9": 145, "0.92": 69},
    f"{NEAREST}, validation",
)
def targets_by_share_in_validation(data: Data) -> dict[str, int]:
    """Dialogues whose buyer's target is nearest to this share of the listing price."""
    return by_share(data, "validation")


@documented(
    {"0.5": 201, "0.6": 76, "0.7": 206, "0.76": 76, "0.9": 205, "0.92": 74},
    f"{NEAREST}, test",
)
def targets_by_share_in_test(data: Data) -> dict[str, int]:
    """Dialogues whose buyer's target is nearest to this share of the listing price."""
    return by_share(data, "test")


@documented(0, "our card, Known limits: all targets are within a dollar")
def targets_off_every_share(data: Data) -> int:
    """Dialogues whose buyer's target is more than a dollar from all six shares."""
    return sum(
        min(off(*pair, percent) for percent in PERCENT) > 100
        for pair in targets(negotiations(data))
    )


@documented({"validation": 597, "test": 838}, "our card, Known limits: always the listing price")
def sellers_target_is_the_price(data: Data) -> dict[str, int]:
    """Dialogues whose seller's target is the listing price: all of the split."""
    sellers = {
        split: [row["scenario"]["kbs"][1] for row in negotiations(data, split)] for split in COUNTED
    }
    return {
        split: sum(kb["personal"]["Target"] == kb["item"]["Price"] for kb in kbs)
        for split, kbs in sellers.items()
    }


@documented(
    {"with two posts in a split": 3, "in both splits": 2, "with a post in common": 0},
    "our card, Known limits, scenario.uuid",
)
def scenario_uuids_of_several_posts(data: Data) -> dict[str, int]:
    """Values of `scenario.uuid` with two posts; in both splits; with one post in both."""
    first, second = (posts_of_scenarios(negotiations(data, split)) for split in COUNTED)
    both = first.keys() & second.keys()
    return {
        "with two posts in a split": sum(
            len(posts) == 2 for posts in (*first.values(), *second.values())
        ),
        "in both splits": len(both),
        "with a post in common": sum(not first[u].isdisjoint(second[u]) for u in both),
    }


@documented(
    {"messages": 218, "dialogues": 60, "from -5.2 to 1.9": 215, "about 10,804.7": 3},
    "our card, Known limits, start_time",
)
def start_times_on_another_clock(data: Data) -> dict[str, int]:
    """Messages with a `start_time` more than a day from `time`, their dialogues, the values."""
    found = [
        (row["uuid"], e["start_time"])
        for row in negotiations(data)
        for e in row["events"]
        if e["start_time"] is not None and abs(e["time"] - e["start_time"]) > DAY
    ]
    return {
        "messages": len(found),
        "dialogues": len({uuid for uuid, _ in found}),
        "from -5.2 to 1.9": sum(-5.2 <= start <= 1.9 for _, start in found),
        "about 10,804.7": sum(round(start, 1) == 10804.7 for _, start in found),
    }


@documented(1281, "our card, Known limits: sides do not alternate strictly")
def events_after_one_of_the_same_side(data: Data) -> int:
    """Events whose side is that of the event before."""
    pairs = chain.from_iterable(pairwise(row["events"]) for row in negotiations(data))
    return sum(before["agent"] == after["agent"] for before, after in pairs)


@documented(
    {"messages follow": 6, "without an offer, validation": 0, "without an offer, test": 1},
    "our card, Known limits, accept",
)
def accepts(data: Data) -> dict[str, int]:
    """Dialogues with messages after an accept; with an accept but no offer, and no deal."""
    rows = {
        split: [row for row in negotiations(data, split) if "accept" in actions(row)]
        for split in COUNTED
    }
    return {
        "messages follow": sum(
            "message" in actions(row)[actions(row).index("accept") :]
            for row in rows["validation"] + rows["test"]
        ),
        **{
            f"without an offer, {split}": sum(
                not offers(row) and row["outcome"]["reward"] == 0 for row in rows[split]
            )
            for split in COUNTED
        },
    }


@documented(
    {"that was rejected": 98, "null or absent": 28}, "our card, Known limits, outcome.offer"
)
def offers_without_a_deal(data: Data) -> dict[str, int]:
    """No deal: `outcome.offer` given and a reject among the events; not given despite an offer."""
    left = [row for row in negotiations(data) if row["outcome"]["reward"] == 0]
    given = [row for row in left if row["outcome"]["offer"] is not None]
    return {
        "that was rejected": sum("reject" in actions(row) for row in given),
        "null or absent": sum(bool(offers(row)) for row in left if row not in given),
    }


@documented(
    {"lowest": "0.0007", "highest": "8.9", "above the listing price": 15},
    "our card, Known limits, prices",
)
def deal_prices(data: Data) -> dict[str, float]:
    """Prices of deals as shares of the listing price."""
    prices = [
        ((row["outcome"]["offer"] or {}).get("price"), row["scenario"]["kbs"][1]["item"]["Price"])
        for row in deals(negotiations(data))
    ]
    ratios = [price / listed for price, listed in prices if price is not None and listed]
    return {
        "lowest": min(ratios),
        "highest": max(ratios),
        "above the listing price": sum(ratio > 1 for ratio in ratios),
    }


# What must hold of every build -----------------------------------------------------------

KEYS = {
    "negotiations": ("uuid",),
    "utterances": ("dialogue_id", "turn"),
    "outcomes": ("dialogue_id",),
    "messages": ("dialogue_id", "speaker"),
}


@check
def rows_go_back_to_records(data: Data) -> Iterator[str]:
    """Every row of `negotiations` goes back to a record of upstream's shape, losing nothing."""
    for split in data.splits("negotiations"):
        for row in negotiations(data, split):
            record = data.module.to_record(row)
            where = f"negotiations/{split} {row['uuid']}"
            found = list(problems(record, data.module.NEGOTIATION))
            yield from (f"{where}{problem}" for problem in found)
            if not found and data.module.to_negotiation_row(record) != row:
                yield f"{where}: the record that it goes back to does not give the row again"


@check
def dialogues_follow_from_negotiations(data: Data) -> Iterator[str]:
    """The rows of `dialogues` are those of `negotiations`, in order, in the Hub's old schema."""
    for split in data.splits("dialogues"):
        if split not in data.splits("negotiations"):
            continue  # the other config was not built
        rows, full = data.rows("dialogues", split), negotiations(data, split)
        if len(rows) != len(full):
            yield f"{split}: {len(rows)} rows of dialogues, {len(full)} of negotiations"
        for row, source in zip(rows, full, strict=False):
            record = data.module.to_record(source)
            if any(problems(record, data.module.NEGOTIATION)):
                continue  # said by `rows_go_back_to_records`
            if row != data.module.to_dialogue_row(record):
                yield f"dialogues/{split}: the row of {source['uuid']} is not what it gives"


@check
def sides_see_one_item(data: Data) -> Iterator[str]:
    """The buyer stands first; both see the scenario's item, the buyer a beginning of its lines."""
    for split in data.splits("negotiations"):
        for row in negotiations(data, split):
            where, kbs = f"negotiations/{split} {row['uuid']}", row["scenario"]["kbs"]
            if [kb["personal"]["Role"] for kb in kbs] != ["buyer", "seller"]:
                yield f"{where}: the roles are not buyer, seller"
                continue
            buyer, seller = (dict(kb["item"]) for kb in kbs)
            lines, known = seller.pop("Description"), buyer.pop("Description")
            if buyer != seller or buyer["Category"] != row["scenario"]["category"]:
                yield f"{where}: the sides see different items, or not the scenario's category"
            if known != lines[: len(known)]:
                yield f"{where}: the buyer's lines are not the first of the seller's"


@check
def deals_are_accepted_offers(data: Data) -> Iterator[str]:
    """There is a deal just if a side accepted an offer of the other, and it is over that offer.

    Not the last offer of the dialogue, if both made one: either can be accepted. See
    `deals_over_the_last_offer`.
    """
    for split in data.splits("negotiations"):
        for row in negotiations(data, split):
            where, outcome, found = (
                f"negotiations/{split} {row['uuid']}",
                row["outcome"],
                accepted(row),
            )
            if (outcome["reward"] == 1) != bool(found):
                yield f"{where}: reward {outcome['reward']}, but {len(found)} accepted offers"
            elif found and outcome["offer"] not in found:
                yield f"{where}: the deal is not over an offer that was accepted"


def beside(data: Data, view: str) -> Iterator[tuple[str, list[Any], list[Any]]]:
    """The splits of a view that `negotiations` has too: name, the view's rows, its rows."""
    for split in data.splits(view):
        if split in data.splits("negotiations"):
            yield split, data.rows(view, split), negotiations(data, split)


def post(data: Data, view: str, row: dict[str, Any]) -> dict[str, Any]:
    """What a row of a view says of the post, the category by name."""
    category = named(data, view, "category", row["category"])
    return {"category": category, "list_price": row["list_price"]}


def post_due(row: dict[str, Any]) -> dict[str, Any]:
    """What a row of `negotiations` says of it."""
    item = row["scenario"]["kbs"][0]["item"]
    return {"category": item["Category"], "list_price": item["Price"]}


@check
def utterances_are_the_events(data: Data) -> Iterator[str]:
    """`utterances` holds every event of `negotiations` once, in order, and says the same of it."""
    for split, rows, full in beside(data, "utterances"):
        due = [(dialogue, turn) for dialogue in full for turn in range(len(dialogue["events"]))]
        if len(rows) != len(due):
            yield f"utterances/{split}: {len(rows)} rows, but the dialogues have {len(due)} events"
        for row, (dialogue, turn) in zip(rows, due, strict=False):
            event, first = dialogue["events"][turn], dialogue["events"][0]
            act = event["metadata"] or {"intent": None, "price": None}
            said = {
                **row,
                **post(data, "utterances", row),
                "action": named(data, "utterances", "action", row["action"]),
                "intent": named(data, "utterances", "intent", row["intent"]),
                "seconds": abs(event["time"] - first["time"] - row["seconds"]) < 0.006,
            }
            if said != {
                "dialogue_id": dialogue["uuid"],
                "turn": turn,
                "speaker": SIDES[event["agent"]],
                "text": event["text"],
                "action": event["action"],
                "offer_price": (event["offer"] or {"price": None})["price"],
                "intent": act["intent"],
                "intent_price": act["price"],
                "seconds": True,
                **post_due(dialogue),
                "target": dialogue["scenario"]["kbs"][event["agent"]]["personal"]["Target"],
            }:
                yield f"utterances/{split}: not what happened in turn {turn} of {dialogue['uuid']}"


@check
def outcomes_follow_from_the_events(data: Data) -> Iterator[str]:
    """`outcomes` holds every dialogue once; a deal is at the price of an offer accepted in it."""
    for split, rows, full in beside(data, "outcomes"):
        if [row["dialogue_id"] for row in rows] != [dialogue["uuid"] for dialogue in full]:
            yield f"outcomes/{split}: not the dialogues of negotiations, in their order"
            continue
        for row, dialogue in zip(rows, full, strict=True):
            where = f"outcomes/{split} {row['dialogue_id']}"
            buyer, seller = (kb["personal"]["Target"] for kb in dialogue["scenario"]["kbs"])
            if (row["buyer_target"], row["seller_target"]) != (buyer, seller):
                yield f"{where}: the targets are {buyer} and {seller}"
            if post(data, "outcomes", row) != post_due(dialogue):
                yield f"{where}: the post is {post_due(dialogue)}"
            counts = Counter(actions(dialogue))
            if (row["events"], row["messages"], row["offers"]) != (
                counts.total(),
                counts["message"],
                counts["offer"],
            ):
                yield f"{where}: the dialogue has {dict(counts)}"
            times = [event["time"] for event in dialogue["events"]]
            if times and abs(max(times) - times[0] - row["seconds"]) >= 0.006:
                yield f"{where}: the dialogue takes {max(times) - times[0]:.2f} seconds"
            prices = [offer["price"] for offer in accepted(dialogue)]
            if row["deal"] != bool(prices) or row["deal_price"] not in (prices or [None]):
                yield f"{where}: a deal at {row['deal_price']}, but accepted were {prices}"
            price, listed, share = row["deal_price"], row["list_price"], row["deal_over_list_price"]
            if (share is None) != (price is None or not listed) or (
                share is not None and not math.isclose(share * listed, price)
            ):
                yield f"{where}: {share} is not {price} over {listed}"


def said(event: dict[str, Any]) -> str:
    """What the text of an event must be in a chat."""
    if event["action"] == "message":
        return str(event["text"])
    if event["action"] == "offer":
        price = event["offer"]["price"]
        return "[I offer no price.]" if price is None else f"[I offer ${price:.15g}.]"
    return f"[I {event['action']}.]"


@check
def chats_lose_nothing(data: Data) -> Iterator[str]:
    """`messages` holds both sides of every dialogue, alternating from user on, every turn once.

    First stands what this side knows, and no line of the description that it does not see.
    """
    for split, rows, full in beside(data, "messages"):
        due = [(dialogue, agent) for dialogue in full for agent in (0, 1)]
        if len(rows) != len(due):
            yield f"messages/{split}: {len(rows)} rows, but {len(due)} sides"
        for row, (dialogue, agent) in zip(rows, due, strict=False):
            where = f"messages/{split} {dialogue['uuid']} {SIDES[agent]}"
            if (row["dialogue_id"], row["speaker"]) != (dialogue["uuid"], SIDES[agent]):
                yield f"{where}: expected in the place of {row['dialogue_id']} {row['speaker']}"
                continue
            events, chat, turns = dialogue["events"], row["messages"], row["source_turns"]
            roles = ["system", *islice(cycle(("user", "assistant")), len(chat) - 1)]
            if [message["role"] for message in chat] != roles:
                yield f"{where}: the roles are not system, then user and assistant in turn"
            if list(chain.from_iterable(turns)) != list(range(len(events))):
                yield f"{where}: source_turns are not every turn once, in order"
                continue
            for message, places in zip(chat[1:], turns[1:], strict=True):
                speakers = {events[place]["agent"] == agent for place in places} or {False}
                text = "\n".join(said(events[place]) for place in places) or "<start>"
                if (message["content"], {message["role"] == "assistant"}) != (text, speakers):
                    yield f"{where}: the message of turns {places} is not their text and side"
            cue = bool(events) and events[0]["agent"] == agent
            if [n for n, places in enumerate(turns) if not places] != [0, 1][: 1 + cue]:
                yield f"{where}: expected <start> just where this side speaks first"
            yield from (f"{where}: {problem}" for problem in unlike(data, row, dialogue, agent))


def unlike(data: Data, row: dict[str, Any], dialogue: dict[str, Any], agent: int) -> Iterator[str]:
    """What a row of `messages` says otherwise than the dialogue, beside the turns."""
    kb, system = dialogue["scenario"]["kbs"][agent], row["messages"][0]["content"].split("\n")
    lines = "\n".join(kb["item"]["Description"]).split("\n") if kb["item"]["Description"] else []
    if lines and system[-len(lines) - 1 :][1:] != lines:
        yield "the system message does not end with the description that this side sees"
    head = " ".join(system[: len(system) - len(lines)])
    target, listed = kb["personal"]["Target"], kb["item"]["Price"]
    facts = [kb["item"]["Title"], f"You are the {SIDES[agent]},", f" {kb['item']['Category']},"]
    facts += [f" ${price:.15g}." for price in (target, listed) if price is not None]
    yield from (f"the system message lacks {fact!r}" for fact in facts if fact not in head)
    if post(data, "messages", row) != post_due(dialogue) or row["target"] != target:
        yield "the post or the target is not the dialogue's"
    prices = [offer["price"] for offer in accepted(dialogue)]
    share = row["deal_price"] / listed if row["deal_price"] is not None and listed else None
    if row["deal"] != bool(prices) or row["deal_price"] not in (prices or [None]):
        yield f"a deal at {row['deal_price']}, but accepted were {prices}"
    if row["deal_over_list_price"] != share:
        yield f"{row['deal_over_list_price']} is not {row['deal_price']} over {listed}"
