"""CraigslistBargains' documented figures and their computations, in the order of the documents.

old card: the Hub's card of craigslist_bargains, which quotes He et al., EMNLP 2018.
our card: README.md in this folder, with figures counted on validation and test.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timezone
from functools import partial
from itertools import chain, pairwise
from operator import eq
from statistics import fmean
from typing import Any

from parley import Data, Differs, documented

from .dialogue_acts import train_contexts
from .subsets import SUBSETS

SPLITS = ("train", "validation", "test")
COUNTED = ("validation", "test")  # the splits that our card counts
CATEGORIES = ("housing", "furniture", "car", "bike", "phone", "electronics")
# the buyer's targets as shares of the listing price, and these in percent
SHARES = {"0.5": 50, "0.6": 60, "0.7": 70, "0.76": 76, "0.9": 90, "0.92": 92}
DAY = 24 * 60 * 60


def by(columns: Iterable[str], *cells: Any) -> dict[str, Any]:
    """A row of a table, by columns."""
    return dict(zip(columns, cells, strict=True))


both = partial(by, COUNTED)


def negotiations(data: Data, *splits: str) -> list[dict[str, Any]]:
    """The rows of `negotiations` in these splits, by default in the counted ones."""
    return data.rows("negotiations", *(splits or COUNTED))


def events(rows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The events of these dialogues."""
    return chain.from_iterable(row["events"] for row in rows)


def actions(row: dict[str, Any]) -> list[str]:
    """The actions of a dialogue, in order."""
    return [event["action"] for event in row["events"]]


def offers(row: dict[str, Any]) -> list[dict[str, Any]]:
    """The offers made in a dialogue, in order."""
    return [e["offer"] for e in row["events"] if e["action"] == "offer"]


def acts(data: Data, split: str) -> list[tuple[str, dict[str, Any]]]:
    """The action and the dialogue act of each event that has an act."""
    found = events(negotiations(data, split))
    return [(e["action"], e["metadata"]) for e in found if e["metadata"] is not None]


def targets(rows: Iterable[dict[str, Any]]) -> Iterator[tuple[float, float]]:
    """The buyer's target and the listing price of each dialogue that has them."""
    for row in rows:
        buyer = row["scenario"]["kbs"][0]
        target, price = buyer["personal"]["Target"], buyer["item"]["Price"]
        if target is not None and price:
            yield target, price


def off(target: float, price: float, percent: float) -> float:
    """Distance of a target from a percentage of the price, in exact cents."""
    return abs(100 * target - percent * price)


def nearest(rows: Iterable[dict[str, Any]]) -> Counter[str]:
    """Dialogues by the share that is nearest to the buyer's target."""
    return Counter(min(SHARES, key=lambda s: off(*pair, SHARES[s])) for pair in targets(rows))


def grouped(rows: Iterable[dict[str, Any]], column: str, each: str) -> dict[str, set[str]]:
    """Each value of a column of `scenario`, with the values of another that occur with it."""
    found: dict[str, set[str]] = {}
    for row in rows:
        found.setdefault(row["scenario"][each], set()).add(row["scenario"][column])
    return found


def descriptions(row: dict[str, Any]) -> tuple[tuple[str, ...], ...]:
    """The lines that the buyer and the seller of a dialogue see."""
    return tuple(tuple(kb["item"]["Description"]) for kb in row["scenario"]["kbs"])


def values(found: Iterable[Any]) -> str:
    """Distinct values as one text, sorted."""
    return ", ".join(map(str, sorted(set(found))))


@documented("old card, Data Splits: test is not provided with dialogue_acts", 0)
def acts_in_test(data: Data) -> int:
    """Events of `negotiations` in test with a dialogue act."""
    return len(acts(data, "test"))


@documented("old card, Data Splits, default values", '{"price": -1.0, "intent": ""}')
def default_acts_of_test(data: Data) -> str:
    """The distinct dialogue acts of `dialogues` in test."""
    columns = (row["dialogue_acts"] for row in data.rows("dialogues", "test"))
    pairs = {pair for c in columns for pair in zip(c["price"], c["intent"], strict=False)}
    return ", ".join(json.dumps({"price": p, "intent": i}) for p, i in sorted(pairs))


CUT_OFF = Differs("9.24", "9.25", "the mean is 9.2458; the card cuts it off instead of rounding it")
ROWS = {"dialogues": {"train": 5247, "validation": 597, "test": 838}}


@documented(
    "old card, Data Splits, table, {1}",
    {
        "Input Examples": by(("Train", "Valid", "Test"), *ROWS["dialogues"].values()),
        "Average Dialogue Length": {"Train": "9.14", "Valid": "9.17", "Test": CUT_OFF},
    },
)
def data_splits(data: Data, about: str, column: str) -> float:
    """Rows of `dialogues`, and their mean number of events."""
    split = {"Train": "train", "Valid": "validation", "Test": "test"}[column]
    rows = data.rows("dialogues", split)
    if about == "Input Examples":
        return len(rows)
    return fmean(len(row["agent_turn"]) for row in rows)


@documented("old card, Dataset Creation", 6682)
def dialogues(data: Data) -> int:
    """Rows of `dialogues` in the three splits."""
    return len(data.rows("dialogues", *SPLITS))


@documented(
    "old card, Dataset Creation, categories",
    {
        "number": dict.fromkeys(SPLITS, 6),
        "names": dict.fromkeys(SPLITS, "bike, car, electronics, furniture, housing, phone"),
    },
)
def categories(data: Data, about: str, split: str) -> int | str:
    """The categories in `dialogues`, as spelt in the data, sorted."""
    rows = data.rows("dialogues", split)
    found = {name for row in rows for name in row["items"]["Category"]}
    return len(found) if about == "number" else values(found)


@documented(
    "old card, Dataset Creation: three scenarios of each posting",
    {
        "train": 3,
        "validation": Differs(3, 6, "24 of the split's 131 posts have four to six"),
        "test": Differs(3, 9, "27 of the split's 161 posts have four to nine"),
    },
)
def scenarios_of_a_post(data: Data, split: str) -> int:
    """The largest number of `scenario.uuid` of one post."""
    return max(map(len, grouped(negotiations(data, split), "uuid", "post_id").values()))


THREE, SIX = "0.5, 0.7, 0.9", "0.5, 0.6, 0.7, 0.76, 0.9, 0.92"


@documented(
    "old card, Dataset Creation: 0.5x, 0.7x and 0.9x of the listing price",
    {
        "train": {"shares": THREE, "dialogues with these": 5247},
        "validation": {
            "shares": Differs(
                *(THREE, SIX),
                "the card leaves out three shares; those of test with `intersection` have them; "
                "validation states no `intersection`",
            ),
            "dialogues with these": Differs(
                597, 405, "the other 192 are nearest to 0.6, 0.76 or 0.92"
            ),
        },
        "test": {
            "shares": Differs(
                *(THREE, SIX),
                "the card leaves out three shares: scenarios with an `intersection` of 1.0, 0.6 or "
                "0.2 have 1 - 0.4 x intersection",
            ),
            "dialogues with these": Differs(
                *(838, 612),
                "the other 226 are nearest to 0.6, 0.76 or 0.92; 232 have an `intersection`, but "
                "another share can be nearer for low prices in whole dollars",
            ),
        },
    },
)
def buyers_targets(data: Data, split: str) -> dict[str, Any]:
    """Shares of listing prices from $200 on, to two decimals; dialogues nearest to these three."""
    rows = negotiations(data, split)
    # targets are whole dollars, off by up to one: from a price of 200 on, that is half a percent
    shares = (round(target / price, 2) for target, price in targets(rows) if price >= 200)
    near = sum(map(nearest(rows).__getitem__, THREE.split(", ")))
    return {"shares": values(shares), "dialogues with these": near}


@documented(
    "old card, Annotation process: acts in train and test",
    {
        "train": "yes",
        "validation": Differs(
            "no", "yes", "453 of its 597 dialogues have acts; the card names test instead"
        ),
        "test": Differs("yes", "no", "as the same card says under Data Splits"),
    },
)
def has_acts(data: Data, split: str) -> str:
    """Whether any event of `dialogues` has an intent."""
    rows = data.rows("dialogues", split)
    return "yes" if any(any(row["dialogue_acts"]["intent"]) for row in rows) else "no"


@documented("our card, Fields, agent_info.Bottomline", "None")
def bottomlines(data: Data) -> str:
    """The texts of `Bottomline` in `dialogues`."""
    rows = data.rows("dialogues", *COUNTED)
    return values(text for row in rows for text in row["agent_info"]["Bottomline"])


@documented(
    "our card, Fields, {0}",
    {
        "scenario_uuid and scenario.intersection": both(0, 232),
        "outcome.offer: the last offer": both(451, 638),
        "parsed": both(597, 0),
        "deal_over_list_price": both("0.845", "0.835"),
        "seconds": both("287", "285"),
    },
)
def fields(data: Data, field: str, split: str) -> float:
    """Dialogues with `intersection`; deals over the last offer; `parsed`; means of `outcomes`.

    The last offer is that of all deals; parsed, from a file with dialogue acts, is all of
    validation.
    """
    if field in ("deal_over_list_price", "seconds"):
        found = (row[field] for row in data.rows("outcomes", split))
        return fmean(value for value in found if value is not None)
    rows = negotiations(data, split)
    if field.startswith("outcome.offer"):
        deals = [row for row in rows if row["outcome"]["reward"]]
        return sum(row["outcome"]["offer"] in offers(row)[-1:] for row in deals)
    if field == "parsed":
        return [row["parsed"] for row in rows].count(True)
    return sum(row["scenario"]["intersection"] is not None for row in rows)


@documented("our card, Fields, seconds", "1299.53")
def most_seconds(data: Data) -> float:
    """The longest dialogue, by `seconds` in `outcomes`."""
    return float(max(row["seconds"] for row in data.rows("outcomes", *COUNTED)))


@documented(
    "our card, Fields, scenario_uuid and scenario.intersection",
    {
        "values": "0.2, 0.6, 1.0",
        "target follows from it": 232,
        "scenario_uuid differs": 232,
        "scenario_uuid differs without it": 0,
    },
)
def what_goes_with_intersection(data: Data) -> dict[str, Any]:
    """The values of `intersection`, and dialogues by other values that go with it.

    A target follows if it is within a dollar of the listing price times 1 - 0.4 x intersection.
    """
    found = [(row["scenario"]["intersection"], row) for row in negotiations(data)]
    given = [(share, row) for share, row in found if share is not None]
    differs = [share is None for share, r in found if r["scenario_uuid"] != r["scenario"]["uuid"]]
    near = [off(*pair, 100 - 40 * share) for share, row in given for pair in targets([row])]
    return {
        "values": values(share for share, _ in given),
        "target follows from it": sum(distance < 100 for distance in near),
        "scenario_uuid differs": differs.count(False),
        "scenario_uuid differs without it": differs.count(True),
    }


@documented(
    "our card, Fields, negotiations",
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
)
def fields_of_negotiations(data: Data) -> dict[str, Any]:
    """Values of the fields that the card describes; months are in UTC."""
    rows = negotiations(data)
    kbs = [kb for row in rows for kb in row["scenario"]["kbs"]]
    offered = [offer for row in rows for offer in offers(row)]
    outcomes = [row["outcome"]["offer"] for row in rows if row["outcome"]["offer"]]
    others = [event for event in events(rows) if event["action"] != "message"]
    times = (datetime.fromtimestamp(event["time"], timezone.utc) for event in events(rows))
    return {
        "bottom lines": sum(kb["personal"]["Bottomline"] is not None for kb in kbs),
        "listing prices null": sum(kb["item"]["Price"] is None for kb in kbs),
        "images at most": max(len(kb["item"]["Images"]) for kb in kbs),
        "agents": values(agent for row in rows for agent in row["agents"].values()),
        "offers with sides": sum(offer["sides"] != "" for offer in offered + outcomes),
        "offers without a price": sum(offer["price"] is None for offer in offered),
        "start times of other actions": sum(e["start_time"] is not None for e in others),
        "months": values(f"{time:%Y-%m}" for time in times),
    }


@documented(
    "our card, What we changed, messages",
    {"with <start>": 1435, "of several events": 2532, "end with user": 1435},
)
def chats(data: Data) -> dict[str, int]:
    """Chats that begin with the cue; chat messages made of several events; chats by their end."""
    rows = data.rows("messages", *COUNTED)
    return {
        "with <start>": sum(row["messages"][1]["content"] == "<start>" for row in rows),
        "of several events": sum(len(turns) > 1 for row in rows for turns in row["source_turns"]),
        "end with user": sum(row["messages"][-1]["role"] == "user" for row in rows),
    }


@documented("our card, How it was collected", 1435)
def descriptions_halved(data: Data) -> int:
    """Dialogues whose buyer sees the first half of the seller's lines, at least one line."""
    seen = map(descriptions, negotiations(data))
    return sum(buyer == seller[: max(1, len(seller) // 2)] for buyer, seller in seen)


TOTALS = ["dialogues", "deals", "events", "message", "offer", "accept", "reject", "quit", "posts"]
VALIDATION = (597, 451, 5475, 4416, 510, 452, 43, 54, 131)
TEST = (838, 638, 7748, 6258, 731, 644, 56, 59, 161)


@documented("our card, How it was collected, table, {1}", by(TOTALS, *map(both, VALIDATION, TEST)))
def totals(data: Data, what: str, split: str) -> int:
    """Dialogues, deals reached, events, events by action, and posts."""
    rows = negotiations(data, split)
    counts = Counter(event["action"] for event in events(rows))
    counted = {
        "dialogues": len(rows),
        "deals": sum(row["outcome"]["reward"] for row in rows),
        "posts": len(grouped(rows, "uuid", "post_id")),
    }
    counted["events"] = counts.total()
    return int(counted.get(what, counts[what]))


@documented(
    "our card, How it was collected, table of categories, {0}",
    {
        "validation": {
            "dialogues": by(CATEGORIES, 124, 178, 81, 93, 70, 51),
            "deals": by(CATEGORIES, 89, 133, 60, 78, 52, 39),
        },
        "test": {
            "dialogues": by(CATEGORIES, 177, 237, 119, 128, 47, 130),
            "deals": by(CATEGORIES, 120, 198, 82, 98, 38, 102),
        },
    },
)
def outcomes_by_category(data: Data, split: str, counted: str) -> Counter[str]:
    """Rows of `outcomes` with the category, and those that are deals."""
    rows = data.named("outcomes", split)
    return Counter(row["category"] for row in rows if counted == "dialogues" or row["deal"])


INTENTS = {
    "intro": 415, "init-price": 463, "vague-price": 44, "counter-price": 821, "insist": 59,
    "inquiry": 531, "agree": 198, "inform": 248, "disagree": 217, "unknown": 945,
    "offer": 422, "accept": 383, "reject": 26, "quit": 25,
}  # fmt: skip


@documented("our card, Annotation, table and text", {**INTENTS, "none": 678})
def labels_of_validation(data: Data) -> Counter[str]:
    """Rows of `utterances` with the label."""
    return Counter(row["intent"] or "none" for row in data.named("utterances", "validation"))


@documented(
    "our card, Annotation",
    {"messages with an act": 3941, "these with a price": 1399, "dialogues in part": 0},
)
def acts_of_validation(data: Data) -> dict[str, int]:
    """Messages with a dialogue act, and with its price; dialogues with acts of some events only."""
    found = [act for action, act in acts(data, "validation") if action == "message"]
    rows = negotiations(data, "validation")
    given = [[event["metadata"] is not None for event in row["events"]] for row in rows]
    return {
        "messages with an act": len(found),
        "these with a price": sum(act["price"] is not None for act in found),
        "dialogues in part": sum(any(each) and not all(each) for each in given),
    }


@documented(
    "our card, Personal and sensitive information",
    {"descriptions with a web address": 172, "with an e-mail address": 0},
)
def addresses(data: Data) -> dict[str, int]:
    r"""Dialogues whose seller's description matches https?:|www\. or \S@\S."""
    texts = ["\n".join(descriptions(row)[1]) for row in negotiations(data)]
    web, mail = (sum(bool(re.search(p, t)) for t in texts) for p in (r"https?:|www\.", r"\S@\S"))
    return {"descriptions with a web address": web, "with an e-mail address": mail}


@documented("our card, Personal and sensitive information: of validation", both(4, 0))
def telephone_numbers(data: Data, split: str) -> int:
    """Messages with ten digits in groups of three, three and four."""
    number = re.compile(r"(?<!\d)\(?\d{3}\)?[-. ]?\d{3}[-. ]?\d{4}(?!\d)")
    return sum(bool(number.search(e["text"] or "")) for e in events(negotiations(data, split)))


@documented(
    "our card, Known limits, table of shares, {0}",
    {
        "validation": by(SHARES, 131, 53, 129, 70, 145, 69),
        "test": by(SHARES, 201, 76, 206, 76, 205, 74),
    },
)
def targets_by_share(data: Data, split: str) -> Counter[str]:
    """Dialogues whose buyer's target is nearest to this share of the listing price."""
    return nearest(negotiations(data, split))


@documented("our card, Known limits: all targets are within a dollar", 0)
def targets_off_every_share(data: Data) -> int:
    """Dialogues whose buyer's target is more than a dollar from all six shares."""
    pairs = targets(negotiations(data))
    return sum(min(off(*pair, percent) for percent in SHARES.values()) > 100 for pair in pairs)


@documented("our card, Known limits: no message", both(15, 12))
def dialogues_without_messages(data: Data, split: str) -> int:
    """Dialogues of the split in which neither side writes a message."""
    return sum(not row["messages"] for row in data.rows("outcomes", split))


@documented("our card, Known limits: always the listing price", both(597, 838))
def sellers_target_is_the_price(data: Data, split: str) -> int:
    """Dialogues whose seller's target is the listing price."""
    rows = data.rows("outcomes", split)
    return sum(row["seller_target"] == row["list_price"] for row in rows)


@documented(
    "our card, Known limits, scenario.uuid",
    {"with two posts in a split": 3, "with a post in common": 0},
)
def scenario_uuids_of_several_posts(data: Data) -> dict[str, int]:
    """Values of `scenario.uuid` with two posts, and those with one post in both splits."""
    first, second = (grouped(negotiations(data, s), "post_id", "uuid") for s in COUNTED)
    common = first.keys() & second.keys()
    return {
        "with two posts in a split": [*map(len, (*first.values(), *second.values()))].count(2),
        "with a post in common": sum(not first[u].isdisjoint(second[u]) for u in common),
    }


@documented(
    "our card, Known limits, scenarios",
    {
        "with an id that another has": both(2, 4),
        "dialogues at least": both(1, 1),
        "dialogues at most": both(6, 7),
        "with several descriptions": both(5, 3),
    },
)
def scenarios(data: Data, about: str, split: str) -> int:
    """Rows of `scenarios` by `scenario_id`, by `dialogue_ids`, and by the descriptions shown."""
    rows = data.rows("scenarios", split)
    sizes = [len(row["dialogue_ids"]) for row in rows]
    ids = Counter(row["scenario_id"] for row in rows)
    seen = {row["uuid"]: descriptions(row) for row in negotiations(data, split)}
    shown = [{seen[name] for name in row["dialogue_ids"]} for row in rows]
    return {
        "with an id that another has": sum(ids[row["scenario_id"]] > 1 for row in rows),
        "dialogues at least": min(sizes),
        "dialogues at most": max(sizes),
        "with several descriptions": sum(len(each) > 1 for each in shown),
    }[about]


@documented(
    "our card, Known limits, start_time",
    {"messages": 218, "dialogues": 60, "from -5.2 to 1.9": 215, "about 10,804.7": 3},
)
def start_times_on_another_clock(data: Data) -> dict[str, int]:
    """Messages with a `start_time` more than a day from `time`, their dialogues, the values."""
    said = ((row["uuid"], event) for row in negotiations(data) for event in row["events"])
    begun = [(uuid, e["start_time"], e["time"]) for uuid, e in said if e["start_time"] is not None]
    found = [(uuid, start) for uuid, start, time in begun if abs(time - start) > DAY]
    return {
        "messages": len(found),
        "dialogues": len(dict(found)),
        "from -5.2 to 1.9": sum(-5.2 <= start <= 1.9 for _, start in found),
        "about 10,804.7": sum(round(start, 1) == 10804.7 for _, start in found),
    }


@documented("our card, Known limits: sides do not alternate strictly", 1281)
def events_after_one_of_the_same_side(data: Data) -> int:
    """Events of the same side as the event before."""
    pairs = chain.from_iterable(pairwise(row["events"]) for row in negotiations(data))
    return sum(before["agent"] == after["agent"] for before, after in pairs)


@documented(
    "our card, Known limits, accept", {"messages follow": 6, "without an offer": both(0, 1)}
)
def accepts(data: Data) -> dict[str, Any]:
    """Dialogues with messages after an accept; dialogues with an accept but no offer or deal."""
    follow, without = 0, Counter(both(0, 0))
    for split in COUNTED:
        for row in negotiations(data, split):
            if "accept" in (done := actions(row)):
                follow += "message" in done[done.index("accept") :]
                without[split] += row["outcome"]["reward"] == 0 and not offers(row)
    return {"messages follow": follow, "without an offer": without}


@documented(
    "our card, Known limits, outcome.offer", {"that was rejected": 98, "null or absent": 28}
)
def offers_without_a_deal(data: Data) -> dict[str, int]:
    """No deal: `outcome.offer` given and a reject among the events; not given despite an offer."""
    rows = [row for row in negotiations(data) if row["outcome"]["reward"] == 0]
    rejected = [row["outcome"]["offer"] for row in rows if "reject" in actions(row)]
    offered = [row["outcome"]["offer"] for row in rows if offers(row)]
    given = len(rejected) - rejected.count(None)
    return {"that was rejected": given, "null or absent": offered.count(None)}


@documented(
    "our card, Known limits, prices",
    {"lowest": "0.0007", "highest": "8.9", "above the listing price": 15},
)
def deal_prices(data: Data) -> dict[str, float]:
    """Prices of deals as shares of the listing price, in `outcomes`."""
    found = (row["deal_over_list_price"] for row in data.rows("outcomes", *COUNTED))
    shares = [share for share in found if share is not None]
    above = sum(share > 1 for share in shares)
    return {"lowest": min(shares), "highest": max(shares), "above the listing price": above}


ACTS = [519, 542, 45, 879, 59, 573, 222, 261, 234, 1082, 510, 452, 43, 54]
TEST_ACTS = [736, 762, 55, 1308, 70, 822, 313, 380, 322, 1490, 731, 644, 56, 59]


@documented("our card, Annotation, table, {1}, all", by(INTENTS, *map(both, ACTS, TEST_ACTS)))
def acts_by_intent(data: Data, intent: str, split: str) -> int:
    """Rows of `dialogue_acts` with the intent."""
    label = data.features("dialogue_acts")["intent"].names.index(intent)
    return sum(row["intent"] == label for row in data.rows("dialogue_acts", split))


@documented("our card, Annotation", {"upstream's acts": 4797, "the same by the rules": 4797})
def agreement(data: Data) -> dict[str, int]:
    """Events of validation with upstream's act, and those with the same act in `dialogue_acts`."""
    rows = data.rows("dialogue_acts", "validation")
    found = [row for row in rows if row["upstream_intent"] is not None]
    ours = [(row["intent"], row["price"]) for row in found]
    same = map(eq, ours, ((row["upstream_intent"], row["upstream_price"]) for row in found))
    return {"upstream's acts": len(found), "the same by the rules": sum(same)}


@documented(
    "our card, Annotation, {0}",
    {
        "validation": {"dialogues": 144, "events": 678, "without upstream's acts": 144},
        "test": {"dialogues": 182, "events": 873, "without upstream's acts": 182},
    },
)
def too_short_for_upstream(data: Data, split: str) -> dict[str, int]:
    """Dialogues that upstream's length rule skips, their events, and those without its acts."""
    rows = data.rows("dialogue_acts", split)
    found = [row["dialogue_id"] for row in rows if not row["parsed_upstream"]]
    without = {*found} - {row["dialogue_id"] for row in rows if row["upstream_intent"]}
    counts = {"dialogues": len({*found}), "events": len(found)}
    return counts | {"without upstream's acts": len(without)}


NAMING = ("counter-price", "init-price", "agree")


@documented(
    "our card, Annotation",
    {
        "counter-price names one and has none": 66,
        "init-price names one and has none": 21,
        "agree names one and has none": 16,
        "agree for a price": 159,
        "agree tagged as a question": 32,
        "under a tenth of the listing price": 39,
        "above one and a half times it": 15,
    },
)
def prices_of_acts(data: Data) -> dict[str, int]:
    """Acts of validation's messages that upstream annotated, by their price and tags."""
    listed = {row["dialogue_id"]: row["list_price"] for row in data.rows("outcomes", "validation")}
    acts = data.named("dialogue_acts", "validation")
    found = [row for row in acts if row["upstream_intent"] and row["action"] == "message"]
    priced = [row for row in found if row["price"] is not None]
    shares = [row["price"] / listed[row["dialogue_id"]] for row in priced]
    agreed = [row for row in found if row["intent"] == "agree"]
    none = Counter(row["intent"] for row in found if row["price"] is None and row["prices"])
    return {
        **{f"{name} names one and has none": none[name] for name in NAMING},
        "agree for a price": sum("my_price" in row["tags"] for row in agreed),
        "agree tagged as a question": sum("question" in row["tags"] for row in agreed),
        "under a tenth of the listing price": sum(share < 0.1 for share in shares),
        "above one and a half times it": sum(share > 1.5 for share in shares),
    }


@documented(
    "our card, Annotation", {"intro": 1255, "without a greeting": 194, "tagged as questions": 685}
)
def intros(data: Data) -> dict[str, int]:
    """Rows of `dialogue_acts` in validation and test with the intent `intro`, by their tags."""
    rows = data.named("dialogue_acts", *COUNTED)
    tags = [row["tags"] for row in rows if row["intent"] == "intro"]
    return {
        "intro": len(tags),
        "without a greeting": sum("greeting" not in each for each in tags),
        "tagged as questions": sum("question" in each for each in tags),
    }


@documented(
    "price_tracker.pkl, as learnt from train",
    {"left": "304 words, 777b4cdc77491b48", "right": "286 words, 32bcfd3ab6d1fa1a"},
)
def word_lists(data: Data, side: str) -> str:
    """The words beside prices by upstream's rule, counted and hashed (sha256, sorted, by lines)."""
    records = (data.record("negotiations", row) for row in negotiations(data, "train"))
    words = sorted(getattr(train_contexts(records), side))
    return f"{len(words)} words, {hashlib.sha256(chr(10).join(words).encode()).hexdigest()[:16]}"


SHARED: dict[str, Callable[[dict[str, Any]], Any]] = {
    "post_id": lambda row: row["scenario"]["post_id"],
    "scenario.uuid": lambda row: row["scenario"]["uuid"],
    "scenario_uuid": lambda row: row["scenario_uuid"],
    "listing": lambda row: (row["scenario"]["kbs"][1]["item"]["Title"], descriptions(row)[1]),
}


@documented(
    "our card, Known limits",
    {
        "post_id": {"in both": 0, "of validation": 0, "of test": 0},
        "scenario.uuid": {"in both": 2, "of validation": 3, "of test": 2},
        "scenario_uuid": {"in both": 16, "of validation": 21, "of test": 19},
        "listing": {"in both": 1, "of validation": 4, "of test": 3},
    },
)
def shared_by_splits(data: Data, what: str) -> dict[str, int]:
    """Values that validation and test have in common, and the dialogues of each with these."""
    found = {split: [SHARED[what](row) for row in negotiations(data, split)] for split in COUNTED}
    common = {*found["validation"]} & {*found["test"]}
    each = {f"of {split}": sum(one in common for one in found[split]) for split in COUNTED}
    return {"in both": len(common), **each}


@documented(
    "our card, Known limits, {0}",
    {
        "validation": {"with a message": 582, "the seller opens": 244, "mislabelled": 261},
        "test": {"with a message": 826, "the seller opens": 380, "mislabelled": 390},
    },
)
def who_speaks(data: Data, split: str) -> dict[str, int]:
    """Dialogues with a message; opened by the seller; not alternating from the buyer on."""
    speakers: dict[str, list[str]] = {}
    for row in data.named("dialogue_acts", split):
        if row["action"] == "message":
            speakers.setdefault(row["dialogue_id"], []).append(row["speaker"])
    said = list(speakers.values())
    turns = ["buyer", "seller"] * max(map(len, said), default=0)
    return {
        "with a message": len(said),
        "the seller opens": sum(each[0] == "seller" for each in said),
        "mislabelled": sum(each != turns[: len(each)] for each in said),
    }


@documented(
    "our card, Splits",
    {
        "validation": {"ppdpp2024-test": 187, "ppdpp2024-valid": 187, "both": 0},
        "test": {"ppdpp2024-test": 0, "ppdpp2024-valid": 0, "both": 0},
    },
)
def published_dialogues(data: Data, split: str) -> dict[str, int]:
    """Dialogues of the split in each published subset, and in both."""
    found = [row["published_in"] for row in data.rows("outcomes", split)]
    counts = {name: sum(name in names for names in found) for name in SUBSETS}
    return counts | {"both": sum(len(names) > 1 for names in found)}


@documented("our card, Tasks; tasks.py, leak", "0.998")
def deals_given_away(data: Data) -> float:
    """AUC of `[I accept.]` in a chat of `messages` as a prediction of a deal in test."""
    right: dict[bool, list[bool]] = {True: [], False: []}  # by whether there is a deal
    for row in data.rows("messages", "test"):
        said = any("[I accept.]" in message["content"] for message in row["messages"])
        right[row["deal"]].append(said == row["deal"])
    return fmean(map(fmean, right.values()))  # the AUC of a yes or no
