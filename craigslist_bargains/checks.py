"""What must hold of CraigslistBargains' rows, beside what parley checks of any dataset.

What the views must say is computed here from the rows of `negotiations`, by another way than in
views.py, which makes them of the records.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any

import numpy as np

from parley import Data, chat_of, check, differing, related_rows

SIDES = ("buyer", "seller")


def accepted(dialogue: dict[str, Any]) -> list[dict[str, Any]]:
    """The offers that the other side accepted: each the side's last before that."""
    offered: dict[int, Any] = {}
    found = []
    for event in dialogue["events"]:
        if event["action"] == "offer":
            offered[event["agent"]] = event["offer"]
        elif event["action"] == "accept" and 1 - event["agent"] in offered:
            found.append(offered[1 - event["agent"]])
    return found


# The full rows ---------------------------------------------------------------------------


@check
def sides_see_one_item(data: Data) -> Iterator[str]:
    """The buyer stands first; both see the scenario's item, the buyer a beginning of its lines."""
    for split in data.splits("negotiations"):
        for row in data.rows("negotiations", split):
            where, kbs = f"negotiations/{split} {row['uuid']}", row["scenario"]["kbs"]
            if [kb["personal"]["Role"] for kb in kbs] != [*SIDES]:
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
        for row in data.rows("negotiations", split):
            where, outcome = f"negotiations/{split} {row['uuid']}", row["outcome"]
            found = accepted(row)
            if (outcome["reward"] == 1) != bool(found):
                yield f"{where}: reward {outcome['reward']}, but {len(found)} accepted offers"
            elif found and outcome["offer"] not in found:
                yield f"{where}: the deal is not over an offer that was accepted"


def documented_due(dialogue: dict[str, Any]) -> dict[str, Any]:
    """The row in the Hub's old schema: "" and -1.0 for what is missing, prices as float32."""

    def prices(found: Iterable[float | None]) -> Any:
        return np.array([price or -1.0 for price in found], np.float32).tolist()

    sides = [kb["personal"] for kb in dialogue["scenario"]["kbs"]]
    items = [kb["item"] for kb in dialogue["scenario"]["kbs"]]
    acts = [event["metadata"] or {"intent": "", "price": None} for event in dialogue["events"]]
    return {
        "agent_info": {
            "Bottomline": [str(side["Bottomline"]) for side in sides],
            "Role": [side["Role"] for side in sides],
            "Target": np.array([side["Target"] for side in sides], np.float32).tolist(),
        },
        "agent_turn": [event["agent"] for event in dialogue["events"]],
        "dialogue_acts": {
            "intent": [act["intent"] for act in acts],
            "price": prices(act["price"] for act in acts),
        },
        "utterance": [event["text"] or "" for event in dialogue["events"]],
        "items": {
            **{name: [item[name] for item in items] for name in ("Category", "Title")},
            **{name: [",".join(i[name]) for i in items] for name in ("Images", "Description")},
            "Price": prices(item["Price"] for item in items),
        },
    }


@check
def dialogues_follow_from_negotiations(data: Data) -> Iterator[str]:
    """The rows of `dialogues` are those of `negotiations`, in order, in the Hub's old schema."""
    for where, rows, full in related_rows(data, "dialogues", "negotiations"):
        yield from differing(where, rows, [documented_due(dialogue) for dialogue in full])


# The views -------------------------------------------------------------------------------


def post_due(dialogue: dict[str, Any]) -> dict[str, Any]:
    """What both sides know of the post."""
    item = dialogue["scenario"]["kbs"][0]["item"]
    return {"category": item["Category"], "list_price": item["Price"]}


def deal_due(dialogue: dict[str, Any]) -> dict[str, Any]:
    """The deal, if an offer was accepted; see `deals_are_accepted_offers`."""
    deal, listed = bool(accepted(dialogue)), dialogue["scenario"]["kbs"][1]["item"]["Price"]
    price = (dialogue["outcome"]["offer"] or {}).get("price") if deal else None
    share = price / listed if price is not None and listed else None
    return {"deal": deal, "deal_price": price, "deal_over_list_price": share}


def utterance_due(dialogue: dict[str, Any], turn: int) -> dict[str, Any]:
    """The row of an event."""
    event = dialogue["events"][turn]
    offer, act = event["offer"] or {}, event["metadata"] or {}
    return {
        "dialogue_id": dialogue["uuid"],
        "turn": turn,
        "speaker": SIDES[event["agent"]],
        "text": event["text"],
        "action": event["action"],
        "offer_price": offer.get("price"),
        "intent": act.get("intent"),
        "intent_price": act.get("price"),
        "seconds": round(event["time"] - dialogue["events"][0]["time"], 2),
        **post_due(dialogue),
        "target": dialogue["scenario"]["kbs"][event["agent"]]["personal"]["Target"],
    }


@check
def utterances_are_the_events(data: Data) -> Iterator[str]:
    """`utterances` holds every event of `negotiations` once, in order, and says the same of it."""
    for where, rows, full in related_rows(data, "utterances", "negotiations"):
        due = [utterance_due(each, turn) for each in full for turn in range(len(each["events"]))]
        yield from differing(where, rows, due)


def outcome_due(dialogue: dict[str, Any]) -> dict[str, Any]:
    """The row of a dialogue."""
    buyer, seller = (kb["personal"]["Target"] for kb in dialogue["scenario"]["kbs"])
    counts = Counter(event["action"] for event in dialogue["events"])
    times = [event["time"] for event in dialogue["events"]]
    return {
        "dialogue_id": dialogue["uuid"],
        "scenario_id": dialogue["scenario"]["uuid"],
        **post_due(dialogue),
        "buyer_target": buyer,
        "seller_target": seller,
        **deal_due(dialogue),
        "events": counts.total(),
        "messages": counts["message"],
        "offers": counts["offer"],
        "seconds": round(max(times) - times[0], 2) if times else None,
    }


@check
def outcomes_follow_from_the_events(data: Data) -> Iterator[str]:
    """`outcomes` holds every dialogue once, in order; a deal is over an offer accepted in it."""
    for where, rows, full in related_rows(data, "outcomes", "negotiations"):
        yield from differing(where, rows, [outcome_due(dialogue) for dialogue in full])


def scenario_due(dialogue: dict[str, Any]) -> dict[str, Any]:
    """The row of a dialogue's scenario, but for which dialogues have it."""
    buyer, seller = dialogue["scenario"]["kbs"]
    return {
        "scenario_id": dialogue["scenario"]["uuid"],
        "post_id": dialogue["scenario"]["post_id"],
        **post_due(dialogue),
        "title": buyer["item"]["Title"],
        "buyer_description": buyer["item"]["Description"],
        "seller_description": seller["item"]["Description"],
        "images": buyer["item"]["Images"],
        "buyer_target": buyer["personal"]["Target"],
        "seller_target": seller["personal"]["Target"],
    }


@check
def scenarios_are_those_of_the_dialogues(data: Data) -> Iterator[str]:
    """`scenarios` holds each once, with its dialogues; all of them have it but for a line."""
    lines = ("buyer_description", "seller_description")
    for where, rows, full in related_rows(data, "scenarios", "negotiations"):
        groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
        for dialogue in full:
            named = (dialogue["scenario"]["uuid"], dialogue["scenario"]["post_id"])
            groups.setdefault(named, []).append(dialogue)
        due = [
            scenario_due(group[0]) | {"dialogue_ids": [dialogue["uuid"] for dialogue in group]}
            for group in groups.values()
        ]
        yield from differing(where, rows, due)
        for row, group in zip(rows, groups.values(), strict=False):
            for dialogue in group:
                same = {k: v for k, v in scenario_due(dialogue).items() if k not in lines}
                yield from differing(f"{where} {dialogue['uuid']}", [row], [same])


def said(event: dict[str, Any]) -> str:
    """What the text of an event must be in a chat."""
    if event["action"] == "message":
        return str(event["text"])
    if event["action"] == "offer":
        price = event["offer"]["price"]
        return "[I offer no price.]" if price is None else f"[I offer ${price:.15g}.]"
    return f"[I {event['action']}.]"


def chat_due(dialogue: dict[str, Any], agent: int) -> dict[str, Any]:
    """The row of a side, its chat without the system's message."""
    turns = [
        ("assistant" if event["agent"] == agent else "user", said(event))
        for event in dialogue["events"]
    ]
    return {
        "dialogue_id": dialogue["uuid"],
        "scenario_id": dialogue["scenario"]["uuid"],
        "speaker": SIDES[agent],
        **chat_of(turns),
        **post_due(dialogue),
        "target": dialogue["scenario"]["kbs"][agent]["personal"]["Target"],
        **deal_due(dialogue),
    }


@check
def chats_lose_nothing(data: Data) -> Iterator[str]:
    """`messages` holds both sides of every dialogue, in order, each with every event in words."""
    for where, rows, full in related_rows(data, "messages", "negotiations"):
        due = [chat_due(dialogue, agent) for dialogue, agent in product(full, (0, 1))]
        talk = [
            row | {name: row[name][1:] for name in ("messages", "source_turns")} for row in rows
        ]
        yield from differing(where, talk, due)


@check
def chats_begin_with_what_a_side_knows(data: Data) -> Iterator[str]:
    """A chat's system message is what this side knows, and ends with the lines that it sees."""
    for where, rows, full in related_rows(data, "messages", "negotiations"):
        pairs = zip(rows, product(full, (0, 1)), strict=False)
        for number, (row, (dialogue, agent)) in enumerate(pairs):
            system, kb = row["messages"][0], dialogue["scenario"]["kbs"][agent]
            lines = "".join(f"\n{line}" for line in kb["item"]["Description"])
            known = system["content"].removesuffix(lines)
            if system["role"] != "system" or known + lines != system["content"]:
                yield f"{where}[{number}]: no system message that ends with the lines of this side"
            prices = (kb["personal"]["Target"], kb["item"]["Price"])
            facts = [kb["item"]["Title"], f"You are the {SIDES[agent]},"]
            facts += [f" {kb['item']['Category']},"]
            facts += [f" ${price:.15g}." for price in prices if price is not None]
            for fact in facts:
                if fact not in known:
                    yield f"{where}[{number}]: the system message lacks {fact!r}"


def act_due(event: dict[str, Any]) -> dict[str, Any]:
    """What the row of an event in `dialogue_acts` says as in `utterances`."""
    alike = ("dialogue_id", "turn", "speaker", "action", "text")
    return {
        **{column: event[column] for column in alike},
        "upstream_intent": event["intent"],
        "upstream_price": event["intent_price"],
    }


@check
def acts_stand_beside_the_events(data: Data) -> Iterator[str]:
    """`dialogue_acts` has each event of `utterances`, in order, with upstream's act where given.

    The act of an action is the action, and that of a message proposes one of its prices. Where
    upstream gave acts, it did so just to dialogues that are long enough for its parser.
    """
    for where, rows, _ in related_rows(data, "dialogue_acts", "utterances"):
        events = data.named("utterances", where.partition("/")[2])
        yield from differing(where, rows, list(map(act_due, events)))
        given = {event["dialogue_id"] for event in events if event["intent"] is not None}
        for number, (row, event) in enumerate(zip(rows, events, strict=False)):
            if row["action"] != "message":
                act = (row["intent"], row["price"], row["prices"], row["tags"])
                if act != (row["action"], event["offer_price"], [], []):
                    yield f"{where}[{number}]: the act of an action is not the action"
            elif row["price"] is not None and row["price"] not in row["prices"]:
                yield f"{where}[{number}]: the price is not one of the message's"
            if given and row["parsed_upstream"] != (row["dialogue_id"] in given):
                yield f"{where}[{number}]: parsed_upstream is {row['parsed_upstream']}"
