"""CraigslistBargains' documented figures, and the numbers that our card counts.

old card: the Hub's card of craigslist_bargains, which quotes He et al., EMNLP 2018. Counted numbers
are of validation and test; README.md names them as `function.key`.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable
from datetime import datetime, timezone
from itertools import chain, pairwise
from statistics import fmean
from typing import Any

from parley import Data, Differs, counted, documented

from .dialogue_acts import train_contexts
from .negotiations import (
    COUNTED,
    SHARES,
    actions,
    descriptions,
    events,
    grouped,
    nearest,
    negotiations,
    off,
    offers,
    targets,
)
from .subsets import SUBSETS

SPLITS = ("train", "validation", "test")
DAY = 24 * 60 * 60


def values(found: Iterable[Any]) -> str:
    """Distinct values as one text, sorted."""
    return ", ".join(map(str, sorted(set(found))))


@documented("old card, Data Splits: test is not provided with dialogue_acts", 0)
def acts_in_test(data: Data) -> int:
    """Events of `negotiations` in test with a dialogue act."""
    return sum(e["metadata"] is not None for e in events(negotiations(data, "test")))


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
        "Input Examples": dict(
            zip(("Train", "Valid", "Test"), ROWS["dialogues"].values(), strict=True)
        ),
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


@documented(
    "price_tracker.pkl, as learnt from train",
    {"left": "304 words, 777b4cdc77491b48", "right": "286 words, 32bcfd3ab6d1fa1a"},
)
def word_lists(data: Data, side: str) -> str:
    """The words beside prices by upstream's rule, counted and hashed (sha256, sorted, by lines)."""
    records = (data.record("negotiations", row) for row in negotiations(data, "train"))
    words = sorted(getattr(train_contexts(records), side))
    return f"{len(words)} words, {hashlib.sha256(chr(10).join(words).encode()).hexdigest()[:16]}"


def of_each(count: Callable[[str], Any]) -> dict[str, Any]:
    """A count of each counted split."""
    return {split: count(split) for split in COUNTED}


@counted()
def totals(data: Data) -> dict[str, Any]:
    """Dialogues, deals, posts, events, and events by action, of each split; all dialogues."""

    def count(split: str) -> Counter[str]:
        rows = negotiations(data, split)
        done = Counter(event["action"] for event in events(rows))
        return done + Counter(
            dialogues=len(rows),
            deals=sum(row["outcome"]["reward"] for row in rows),
            posts=len(grouped(rows, "uuid", "post_id")),
            events=done.total(),
            without_messages=sum("message" not in actions(row) for row in rows),
        )

    return of_each(count) | {"dialogues": len(negotiations(data))}


@counted()
def outcomes_by_category(data: Data) -> dict[str, Any]:
    """Rows of `outcomes` with the category, and those that are deals."""

    def count(split: str) -> dict[str, Counter[str]]:
        rows = data.rows_with_names("outcomes", split)
        deals = Counter(row["category"] for row in rows if row["deal"])
        return {"dialogues": Counter(row["category"] for row in rows), "deals": deals}

    return of_each(count)


@counted()
def exceptions(data: Data) -> dict[str, int]:
    """Values that differ from what the card says of all; months are in UTC."""
    rows = negotiations(data)
    kbs = [kb for row in rows for kb in row["scenario"]["kbs"]]
    offered = [offer for row in rows for offer in offers(row)]
    outcomes = [row["outcome"]["offer"] for row in rows if row["outcome"]["offer"]]
    months = (f"{datetime.fromtimestamp(e['time'], timezone.utc):%Y-%m}" for e in events(rows))
    seen = map(descriptions, rows)
    return {
        "bottom_lines": sum(kb["personal"]["Bottomline"] is not None for kb in kbs),
        "listing_prices_missing": sum(kb["item"]["Price"] is None for kb in kbs),
        "several_images": sum(len(kb["item"]["Images"]) > 1 for kb in kbs),
        "agents": sum(agent != "human" for row in rows for agent in row["agents"].values()),
        "offers_with_sides": sum(offer["sides"] != "" for offer in offered + outcomes),
        "start_times_of_actions": sum(
            e["start_time"] is not None for e in events(rows) if e["action"] != "message"
        ),
        "months": sum(month not in ("2017-06", "2017-07") for month in months),
        "halves_of_descriptions": sum(
            buyer != seller[: max(1, len(seller) // 2)] for buyer, seller in seen
        ),
        "sellers_targets": sum(
            row["seller_target"] != row["list_price"] for row in data.rows("outcomes", *COUNTED)
        ),
        "deals_over_another_offer": sum(
            row["outcome"]["offer"] not in offers(row)[-1:]
            for row in rows
            if row["outcome"]["reward"]
        ),
    }


@counted()
def intersections(data: Data) -> dict[str, Any]:
    """Dialogues with an `intersection`, by other values that go with it.

    `known_ids`: their `scenario_uuid` is a dialogue's `scenario.uuid`, perhaps `of_another_post`.

    A target follows if it is within a dollar of the listing price times 1 - 0.4 x intersection.
    """
    rows = negotiations(data)
    given = [row for row in rows if row["scenario"]["intersection"] is not None]
    shares = [row["scenario"]["intersection"] for row in given]
    posts = grouped(rows, "post_id", "uuid")
    known = [row for row in given if row["scenario_uuid"] in posts]
    pairs = zip(targets(given), shares, strict=True)
    differ = [row["scenario_uuid"] != row["scenario"]["uuid"] for row in rows]
    return {
        "dialogues": len(given),
        "of_validation": sum(row["parsed"] for row in given),
        "other_values": sum(share not in (0.2, 0.6, 1.0) for share in shares),
        "target_follows": sum(off(*pair, 100 - 40 * share) < 100 for pair, share in pairs),
        "scenario_uuid_differs": sum(differ),
        "these_differ": sum(row["scenario_uuid"] != row["scenario"]["uuid"] for row in given),
        "known_ids": len(known),
        "of_another_post": sum(
            row["scenario"]["post_id"] not in posts[row["scenario_uuid"]] for row in known
        ),
    }


@counted()
def targets_by_share(data: Data) -> dict[str, Any]:
    """Dialogues by the percentage of the listing price that is nearest to the buyer's target.

    `off`: those whose target is more than a dollar from all six.
    """
    found = of_each(lambda split: nearest(negotiations(data, split)))
    pairs = targets(negotiations(data))
    far = sum(min(off(*pair, percent) for percent in SHARES.values()) > 100 for pair in pairs)
    return {s: {str(SHARES[k]): n for k, n in by.items()} for s, by in found.items()} | {"off": far}


@counted()
def acts_by_intent(data: Data) -> dict[str, Any]:
    """Events by upstream's intent in validation, and by that of `dialogue_acts`."""
    validation, test = (data.rows_with_names("dialogue_acts", split) for split in COUNTED)
    return {
        "upstream": Counter(row["upstream_intent"] for row in validation if row["upstream_intent"]),
        "validation": Counter(row["intent"] for row in validation),
        "test": Counter(row["intent"] for row in test),
    }


@counted()
def upstreams_acts(data: Data) -> dict[str, Any]:
    """Events of validation with upstream's act, and those with the same act by the rules.

    Of the messages among them: by price and tags. `without_price`: messages that name a price.
    """
    listed = {row["dialogue_id"]: row["list_price"] for row in data.rows("outcomes", "validation")}
    rows = [r for r in data.rows_with_names("dialogue_acts", "validation") if r["upstream_intent"]]
    messages = [row for row in rows if row["action"] == "message"]
    shares = [r["price"] / listed[r["dialogue_id"]] for r in messages if r["price"] is not None]
    agreed = [row["tags"] for row in messages if row["intent"] == "agree"]
    return {
        "events": len(rows),
        "dialogues": len({row["dialogue_id"] for row in rows}),
        "same": sum(
            (row["intent"], row["price"]) == (row["upstream_intent"], row["upstream_price"])
            for row in rows
        ),
        "messages": len(messages),
        "priced": len(shares),
        "under_a_tenth": sum(share < 0.1 for share in shares),
        "above_one_and_a_half": sum(share > 1.5 for share in shares),
        "without_price": Counter(
            r["intent"] for r in messages if r["price"] is None and r["prices"]
        ),
        "agree_for_a_price": sum("my_price" in tags for tags in agreed),
        "agree_in_a_question": sum("question" in tags for tags in agreed),
    }


@counted()
def too_short_for_upstream(data: Data) -> dict[str, Any]:
    """Dialogues that upstream's length rule skips, their events, and those without its acts."""

    def count(split: str) -> dict[str, int]:
        rows = data.rows("dialogue_acts", split)
        found = [row["dialogue_id"] for row in rows if not row["parsed_upstream"]]
        without = {*found} - {row["dialogue_id"] for row in rows if row["upstream_intent"]}
        return {"dialogues": len({*found}), "events": len(found), "without_acts": len(without)}

    return of_each(count)


@counted()
def intros(data: Data) -> dict[str, int]:
    """Events with the intent `intro` by the rules, by their tags."""
    rows = data.rows_with_names("dialogue_acts", *COUNTED)
    tags = [row["tags"] for row in rows if row["intent"] == "intro"]
    return {
        "all": len(tags),
        "without_greeting": sum("greeting" not in each for each in tags),
        "questions": sum("question" in each for each in tags),
    }


@counted()
def personal(data: Data) -> dict[str, Any]:
    r"""Dialogues whose seller's description matches https?:|www\. or \S@\S; telephone numbers.

    These are messages with ten digits in groups of three, three and four.
    """
    texts = ["\n".join(descriptions(row)[1]) for row in negotiations(data)]
    number = re.compile(r"(?<!\d)\(?\d{3}\)?[-. ]?\d{3}[-. ]?\d{4}(?!\d)")
    return {
        "web_addresses": sum(bool(re.search(r"https?:|www\.", text)) for text in texts),
        "mail_addresses": sum(bool(re.search(r"\S@\S", text)) for text in texts),
        "telephone_numbers": of_each(
            lambda split: sum(
                bool(number.search(e["text"] or "")) for e in events(negotiations(data, split))
            )
        ),
    }


@counted()
def scenarios(data: Data) -> dict[str, Any]:
    """Rows of `scenarios`: with a unique id, by number of dialogues, by the descriptions shown.

    `ids_of_two_posts` are values of `scenario.uuid` with two posts in a split.
    """

    def count(split: str) -> dict[str, int]:
        rows = data.rows("scenarios", split)
        ids = Counter(row["scenario_id"] for row in rows)
        seen = {row["uuid"]: descriptions(row) for row in negotiations(data, split)}
        shown = [{seen[name] for name in row["dialogue_ids"]} for row in rows]
        posts = grouped(negotiations(data, split), "post_id", "uuid").values()
        return {
            "rows": len(rows),
            "unique": list(ids.values()).count(1),
            "most_dialogues": max(len(row["dialogue_ids"]) for row in rows),
            "with_several_descriptions": sum(len(each) > 1 for each in shown),
            "ids_of_two_posts": [*map(len, posts)].count(2),
        }

    return of_each(count)


SHARED: dict[str, Callable[[dict[str, Any]], Any]] = {
    "post_id": lambda row: row["scenario"]["post_id"],
    "id_in_scenario": lambda row: row["scenario"]["uuid"],
    "scenario_uuid": lambda row: row["scenario_uuid"],
    "listing": lambda row: (row["scenario"]["kbs"][1]["item"]["Title"], descriptions(row)[1]),
}


@counted()
def shared_by_splits(data: Data) -> dict[str, Any]:
    """Values that validation and test have in common, and the dialogues of each with these."""

    def count(value: Callable[[dict[str, Any]], Any]) -> dict[str, int]:
        found = of_each(lambda split: [value(row) for row in negotiations(data, split)])
        common = {*found["validation"]} & {*found["test"]}
        return {"values": len(common)} | of_each(lambda s: sum(v in common for v in found[s]))

    return {name: count(value) for name, value in SHARED.items()}


@counted()
def published_dialogues(data: Data) -> dict[str, Any]:
    """Dialogues of the split in each published subset, and in both."""

    def count(split: str) -> dict[str, int]:
        found = [row["published_in"] for row in data.rows("outcomes", split)]
        counts = {name: sum(name in names for names in found) for name in SUBSETS}
        return counts | {"both": sum(len(names) > 1 for names in found)}

    return of_each(count)


@counted()
def other_clock(data: Data) -> dict[str, float]:
    """Messages with a `start_time` more than a day from `time`, their dialogues, the values."""
    events = ((row["uuid"], event) for row in negotiations(data) for event in row["events"])
    begun = [
        (uuid, e["start_time"], e["time"]) for uuid, e in events if e["start_time"] is not None
    ]
    found = [(uuid, start) for uuid, start, time in begun if abs(time - start) > DAY]
    near, far = ([round(s, 1) for _, s in found if (s < DAY / 24) == is_near] for is_near in (1, 0))
    return {
        "messages": len(found),
        "dialogues": len(dict(found)),
        "from": min(near, default=0),
        "to": max(near, default=0),
        "others": max(far, default=0),
    }


@counted()
def who_speaks(data: Data) -> dict[str, Any]:
    """Dialogues with a message; opened by the seller; not alternating from the buyer on.

    `again` are events of the same side as the event before.
    """

    def count(split: str) -> dict[str, int]:
        found: list[list[int]] = []
        for row in negotiations(data, split):
            found.append([e["agent"] for e in row["events"] if e["action"] == "message"])
        speaking = [agents for agents in found if agents]
        return {
            "with_a_message": len(speaking),
            "seller_opens": sum(agents[0] == 1 for agents in speaking),
            "not_by_turns": sum(any(a != n % 2 for n, a in enumerate(each)) for each in speaking),
        }

    pairs = chain.from_iterable(pairwise(row["events"]) for row in negotiations(data))
    return of_each(count) | {"again": sum(a["agent"] == b["agent"] for a, b in pairs)}


@counted()
def ends(data: Data) -> dict[str, int]:
    """Dialogues with messages after an accept, or with an answer but no offer.

    Without a deal: `rejected` have an `outcome.offer` and a reject, `unanswered` an offer but no
    `outcome.offer`. `offers_without_price` are events.
    """
    rows = [(row, actions(row)) for row in negotiations(data)]
    accepted = [done[done.index("accept") :] for _, done in rows if "accept" in done]
    failed = [(row["outcome"]["offer"], done) for row, done in rows if not row["outcome"]["reward"]]
    answered = [done for _, done in rows if "offer" not in done]
    return {
        "messages_after_accept": sum("message" in done for done in accepted),
        "accept_without_offer": sum("accept" in done for done in answered),
        "reject_without_offer": sum("reject" in done for done in answered),
        "rejected": sum(offer is not None and "reject" in done for offer, done in failed),
        "unanswered": sum(offer is None and "offer" in done for offer, done in failed),
        "offers_without_price": sum(o["price"] is None for row, _ in rows for o in offers(row)),
    }


@counted()
def without_offer(data: Data) -> dict[str, Any]:
    """Dialogues without an offer, the deals among them, and those that begin with an action."""

    def count(split: str) -> dict[str, int]:
        done = [(actions(row), row["outcome"]["reward"]) for row in negotiations(data, split)]
        failed = [reward for each, reward in done if "offer" not in each]
        silent = sum(each[:1] != ["message"] for each, _ in done)
        return {"dialogues": len(failed), "deals": sum(failed), "no_message_before": silent}

    return of_each(count)


@counted()
def outcomes(data: Data) -> dict[str, Any]:
    """Prices of deals as shares of the listing price, and seconds of dialogues, in `outcomes`."""

    def of(column: str, *splits: str) -> list[float]:
        found = (row[column] for row in data.rows("outcomes", *splits))
        return [value for value in found if value is not None]

    shares = of("deal_over_list_price", *COUNTED)
    return {
        "lowest_price": round(min(shares), 4),
        "highest_price": round(max(shares), 1),
        "above_listing_price": sum(share > 1 for share in shares),
        "mean_price": of_each(lambda split: round(fmean(of("deal_over_list_price", split)), 3)),
        "mean_seconds": of_each(lambda split: round(fmean(of("seconds", split)))),
        "most_seconds": max(of("seconds", *COUNTED)),
    }


@counted()
def chats(data: Data) -> dict[str, int]:
    """Chats, those that begin with the cue or end with user; messages made of several events."""
    rows = data.rows("messages", *COUNTED)
    return {
        "all": len(rows),
        "with_start": sum(row["messages"][1]["content"] == "<start>" for row in rows),
        "end_with_user": sum(row["messages"][-1]["role"] == "user" for row in rows),
        "of_several_events": sum(len(turns) > 1 for row in rows for turns in row["source_turns"]),
    }


@counted(decimals=3)
def deals_given_away(data: Data) -> float:
    """AUC of `[I accept.]` in a chat of `messages` as a prediction of a deal in test."""
    right: dict[bool, list[bool]] = {True: [], False: []}  # by whether there is a deal
    for row in data.rows("messages", "test"):
        accepted = any("[I accept.]" in message["content"] for message in row["messages"])
        right[row["deal"]].append(accepted == row["deal"])
    return fmean(map(fmean, right.values()))  # the AUC of a yes or no
