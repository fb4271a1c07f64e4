"""CraigslistBargains' views: the same records as turns, outcomes, scenarios and chats.

Each view is a pure function of the records of a split, in upstream's order, that yields
(key, row). They share their keys: `dialogue_id` is upstream's uuid; with `turn`, the place in
`events` from 0, it names an event; with `speaker`, buyer or seller, a side.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import datasets

from .acts import act_rows

Record = dict[str, Any]
Rows = Iterator[tuple[str, dict[str, Any]]]

SIDES = ("buyer", "seller")  # an event's `agent` is an index into these, as into `kbs`
CATEGORIES = ["bike", "car", "electronics", "furniture", "housing", "phone"]
ACTIONS = ["message", "offer", "accept", "reject", "quit"]
START = "<start>"  # what the first user message says where the assistant speaks first

# fmt: off
INTENTS = [
    "intro", "init-price", "vague-price", "counter-price", "insist", "inquiry", "agree", "inform",
    "disagree", "unknown", "offer", "accept", "reject", "quit",
]
# fmt: on

# What a row looks like ------------------------------------------------------------------

_string, _integer, _number, _flag = map(datasets.Value, ("string", "int64", "float64", "bool"))
_category = datasets.ClassLabel(names=CATEGORIES)
_action = datasets.ClassLabel(names=ACTIONS)
_intent = datasets.ClassLabel(names=INTENTS)
_deal = {"deal": _flag, "deal_price": _number, "deal_over_list_price": _number}
VIEW_FEATURES = {
    "utterances": datasets.Features(
        {
            "dialogue_id": _string,
            "turn": _integer,
            "speaker": _string,
            "text": _string,
            "action": _action,
            "offer_price": _number,
            "intent": _intent,
            "intent_price": _number,
            "seconds": _number,
            "category": _category,
            "list_price": _number,
            "target": _number,
        }
    ),
    "outcomes": datasets.Features(
        {
            "dialogue_id": _string,
            "scenario_id": _string,
            "category": _category,
            "list_price": _number,
            "buyer_target": _number,
            "seller_target": _number,
            **_deal,
            "events": _integer,
            "messages": _integer,
            "offers": _integer,
            "seconds": _number,
        }
    ),
    "scenarios": datasets.Features(
        {
            "scenario_id": _string,
            "post_id": _string,
            "category": _category,
            "title": _string,
            "buyer_description": [_string],
            "seller_description": [_string],
            "images": [_string],
            "list_price": _number,
            "buyer_target": _number,
            "seller_target": _number,
            "dialogue_ids": [_string],
        }
    ),
    "messages": datasets.Features(
        {
            "dialogue_id": _string,
            "scenario_id": _string,
            "speaker": _string,
            "messages": [{"role": _string, "content": _string}],
            "source_turns": [[_integer]],
            "category": _category,
            "list_price": _number,
            "target": _number,
            **_deal,
        }
    ),
    "acts": datasets.Features(
        {
            "dialogue_id": _string,
            "turn": _integer,
            "speaker": _string,
            "action": _action,
            "text": _string,
            "intent": _intent,
            "price": _number,
            "prices": [_number],
            "tags": [_string],
            "upstream_intent": _intent,
            "upstream_price": _number,
            "parsed_upstream": _flag,
        }
    ),
}

# What the views are made of -------------------------------------------------------------


def number(value: float | None) -> float | None:
    """Return a number, which JSON may give as an integer, as a float; None for none."""
    return None if value is None else float(value)


def post_of(record: Record) -> dict[str, Any]:
    """Return what both sides know of the post, as flat columns."""
    return {
        "category": _category.names.index(record["scenario"]["category"]),
        "list_price": number(record["scenario"]["kbs"][1]["item"]["Price"]),
    }


def targets_of(record: Record) -> list[float]:
    """Return the price that each side wants to reach, the buyer's first."""
    return [float(kb["personal"]["Target"]) for kb in record["scenario"]["kbs"]]


def deal_of(record: Record) -> dict[str, Any]:
    """Return the deal as flat columns; `outcome.offer` without a reward is not one."""
    deal = record["outcome"]["reward"] == 1
    offer = record["outcome"].get("offer") or {}
    price = number(offer.get("price")) if deal else None
    listed = post_of(record)["list_price"]
    return {
        "deal": deal,
        "deal_price": price,
        "deal_over_list_price": price / listed if price is not None and listed else None,
    }


def seconds_of(record: Record) -> list[float]:
    """Return when each event was done, in seconds since the first, to upstream's hundredths."""
    times = [float(event["time"]) for event in record["events"]]
    return [round(time - times[0], 2) for time in times]


# The views ------------------------------------------------------------------------------


def utterances(records: Iterable[Record]) -> Rows:
    """Yield each event, with what the side that acts wants and both know."""
    for record in records:
        post, targets, seconds = post_of(record), targets_of(record), seconds_of(record)
        for turn, event in enumerate(record["events"]):
            action, data, act = event["action"], event["data"], event.get("metadata")
            yield (
                f"{record['uuid']} {turn}",
                {
                    "dialogue_id": record["uuid"],
                    "turn": turn,
                    "speaker": SIDES[event["agent"]],
                    "text": data if action == "message" else None,
                    "action": _action.names.index(action),
                    "offer_price": number(data["price"]) if action == "offer" else None,
                    "intent": _intent.names.index(act["intent"]) if act else None,
                    "intent_price": number(act.get("price")) if act else None,
                    "seconds": seconds[turn],
                    **post,
                    "target": targets[event["agent"]],
                },
            )


def outcomes(records: Iterable[Record]) -> Rows:
    """Yield each dialogue as flat columns."""
    for record in records:
        buyer_target, seller_target = targets_of(record)
        actions = [event["action"] for event in record["events"]]
        yield (
            record["uuid"],
            {
                "dialogue_id": record["uuid"],
                "scenario_id": record["scenario"]["uuid"],
                **post_of(record),
                "buyer_target": buyer_target,
                "seller_target": seller_target,
                **deal_of(record),
                "events": len(actions),
                "messages": actions.count("message"),
                "offers": actions.count("offer"),
                "seconds": max(seconds_of(record), default=None),
            },
        )


def scenarios(records: Iterable[Record]) -> Rows:
    """Yield each scenario once, as the first of its dialogues has it, and which these are.

    A scenario is not its uuid, which a few posts share, but all that its row says of the two sides
    apart from the descriptions: in a few dialogues these have a line more or less.
    """
    found: dict[str, tuple[Record, list[str]]] = {}
    for record in records:
        buyer, seller = (kb["item"] for kb in record["scenario"]["kbs"])
        buyer_target, seller_target = targets_of(record)
        row = {
            "scenario_id": record["scenario"]["uuid"],
            "post_id": record["scenario"]["post_id"],
            **post_of(record),
            "title": seller["Title"],
            "images": seller["Images"],
            "buyer_target": buyer_target,
            "seller_target": seller_target,
        }
        seen = {
            "buyer_description": buyer["Description"],
            "seller_description": seller["Description"],
        }
        _, dialogue_ids = found.setdefault(repr(row), (row | seen, []))
        dialogue_ids.append(record["uuid"])
    for number, (row, dialogue_ids) in enumerate(found.values()):
        yield f"{row['scenario_id']} {number}", {**row, "dialogue_ids": dialogue_ids}


def messages(records: Iterable[Record]) -> Rows:
    """Yield each side's view of a dialogue as a chat in which that side is the assistant."""
    for record in records:
        for agent, side in enumerate(SIDES):
            chat = [{"role": "system", "content": briefing(record["scenario"]["kbs"][agent])}]
            turns: list[list[int]] = [[]]
            for turn, event in enumerate(record["events"]):
                role = "assistant" if event["agent"] == agent else "user"
                if role == "assistant" and chat[-1]["role"] == "system":
                    chat.append({"role": "user", "content": START})
                    turns.append([])
                if chat[-1]["role"] == role:
                    chat[-1]["content"] += "\n" + spoken(event)
                    turns[-1].append(turn)
                else:
                    chat.append({"role": role, "content": spoken(event)})
                    turns.append([turn])
            yield (
                f"{record['uuid']} {side}",
                {
                    "dialogue_id": record["uuid"],
                    "scenario_id": record["scenario"]["uuid"],
                    "speaker": side,
                    "messages": chat,
                    "source_turns": turns,
                    **post_of(record),
                    "target": targets_of(record)[agent],
                    **deal_of(record),
                },
            )


def acts(records: Iterable[Record]) -> Rows:
    """Yield the dialogue act of each event; a record is a negotiation and the rules' word lists."""
    for record in records:
        for row in act_rows(record["negotiation"], record["contexts"]):
            stated = row["upstream_intent"]
            yield (
                f"{row['dialogue_id']} {row['turn']}",
                row
                | {
                    "action": _action.names.index(row["action"]),
                    "intent": _intent.names.index(row["intent"]),
                    "upstream_intent": None if stated is None else _intent.names.index(stated),
                },
            )


def briefing(kb: Record) -> str:
    """Return what this side knows, as the system message."""
    side, item = kb["personal"]["Role"], kb["item"]
    (other,) = set(SIDES) - {side}
    lines = [
        f"You are the {side}, and negotiate with the {other} over the price of what a post on "
        f"Craigslist, in the category {item['Category']}, offers.",
        f"The post's title is: {item['Title']}",
    ]
    if item["Price"] is not None:
        lines.append(f"The listing price is {dollars(item['Price'])}.")
    lines.append(f"You want to reach a price of {dollars(kb['personal']['Target'])}.")
    if item["Description"]:
        lines += ["The post's description, as far as you see it, is:", *item["Description"]]
    return "\n".join(lines)


def spoken(event: Record) -> str:
    """Return an event as text; an action in words."""
    if event["action"] == "message":
        return str(event["data"])
    if event["action"] == "offer":
        price = event["data"]["price"]
        return "[I offer no price.]" if price is None else f"[I offer {dollars(price)}.]"
    return {
        "accept": "[I accept.]",
        "reject": "[I reject.]",
        "quit": "[I quit.]",
    }[event["action"]]


def dollars(price: float) -> str:
    """Return a price as text, without a separator of thousands: $1800, $92.5."""
    return f"${float(price)}".removesuffix(".0")


VIEWS: dict[str, Callable[[Iterable[Record]], Rows]] = {
    "utterances": utterances,
    "outcomes": outcomes,
    "scenarios": scenarios,
    "messages": messages,
    "acts": acts,
}
