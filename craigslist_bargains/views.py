"""CraigslistBargains' views: the records in the Hub's old schema, as turns, outcomes, chats.

Each view is a pure function of the records of a split, in upstream's order, that yields rows. All
except `dialogues`, which has no key, share their keys: `dialogue_id` is upstream's uuid; with
`turn`, the place in `events` from 0, it names an event; with `speaker`, buyer or seller, a side.
"""

from array import array
from collections.abc import Iterable, Iterator
from typing import Any

from parley import CHAT, ClassLabel, Field, Value, View, chat_of

from . import records as shapes
from .dialogue_acts import acts, is_parsed
from .records import DOLLARS, SIDES, SPLITS, Record
from .subsets import SUBSETS
from .word_counts import Contexts

Rows = Iterator[dict[str, Any]]

_int32, _float32 = Value("int32"), Value("float32")
_number = (float, None)
SECONDS = "seconds"

_dialogue = {"dialogue_id": Field(str, "upstream's id of the dialogue, `uuid` of `negotiations`")}
_turn = {
    **_dialogue,
    "turn": Field(int, "the event's place in the dialogue's `events`, from 0"),
    "speaker": Field({*SIDES}, "the side that acts"),
}
_message = Field((str, None), "the message; null for other actions")
_action = Field(ClassLabel(names=shapes.ACTIONS), "what the side does")
_scenario = {
    "scenario_id": Field(
        str,
        "`scenario.uuid` of `negotiations`, not its `scenario_uuid`; keep its dialogues together "
        "if you make your own splits",
    )
}
_category_of = {"category": Field(ClassLabel(names=shapes.CATEGORIES), "the category of the post")}
_list_price = {"list_price": Field(_number, "the listing price (null if missing)", DOLLARS)}
_post = {**_category_of, **_list_price}
_targets = {
    "buyer_target": Field(float, "the price that the buyer wants to reach", DOLLARS),
    "seller_target": Field(float, "the price that the seller wants to reach", DOLLARS),
}
_target = {"target": Field(float, "the price that `speaker` wants to reach", DOLLARS)}
_deal = {
    "deal": Field(bool, "whether the dialogue ends in a deal"),
    "deal_price": Field(_number, "the price of the deal (null without one)", DOLLARS),
    "deal_over_list_price": Field(
        _number, "`deal_price` / `list_price`; null without a deal, or if either price is missing"
    ),
}
_upstream_intent = Field(
    (shapes.INTENT, None),
    "the intent of upstream's dialogue act; null without one, as in all of test and in short "
    "dialogues; `dialogue_acts.intent` has one by the same rules for every event",
)
_upstream_price = Field(
    _number, "the price of upstream's dialogue act (null if none, as in all of test)", DOLLARS
)
_lines = "the lines of the description that the {} sees"


def number(value: float | None) -> float | None:
    """Return a number, which JSON may give as an integer, as a float; None for none."""
    return None if value is None else float(value)


def post_of(record: Record) -> dict[str, Any]:
    """Return the facts of the post that both sides know, as flat columns."""
    return {
        "category": record["scenario"]["category"],
        "list_price": number(record["scenario"]["kbs"][1]["item"]["Price"]),
    }


def targets_of(record: Record) -> dict[str, float]:
    """Return the price that each side wants to reach, the buyer's first."""
    targets = (float(kb["personal"]["Target"]) for kb in record["scenario"]["kbs"])
    return dict(zip(_targets, targets, strict=True))


def keyed_event(record: Record, turn: int) -> dict[str, Any]:
    """Return what an event says or does, with its key."""
    event = record["events"][turn]
    return {
        "dialogue_id": record["uuid"],
        "turn": turn,
        "speaker": SIDES[event["agent"]],
        "text": event["data"] if event["action"] == "message" else None,
        "action": event["action"],
    }


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


def briefing(kb: Record) -> str:
    """Return this side's knowledge as the system message."""
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


def event_in_words(event: Record) -> str:
    """Return an event as text; an action in words."""
    if event["action"] == "message":
        return str(event["data"])
    if event["action"] == "offer":
        price = event["data"]["price"]
        return "[I offer no price.]" if price is None else f"[I offer {dollars(price)}.]"
    return f"[I {event['action']}.]"


def dollars(price: float) -> str:
    """Return a price as text, without a separator of thousands: $1800, $92.5."""
    return f"${float(price)}".removesuffix(".0")


def _to_float32(values: Iterable[float]) -> list[float]:
    return array("f", values).tolist()  # what a float32 column can hold exactly


@View(
    "a dialogue in the Hub's old schema",
    {
        "agent_info": Field(
            {
                "Bottomline": Field([str], "the text `None` throughout"),
                "Role": Field([{*SIDES}], "the role"),
                "Target": Field([_float32], "the price that this side wants to reach", DOLLARS),
            },
            "the sides, first the buyer",
        ),
        "agent_turn": Field([_int32], "who acts in each event: 0 is the buyer, 1 the seller"),
        "dialogue_acts": Field(
            {
                "intent": Field([str], "the intent, as in `utterances`; empty if none"),
                "price": Field([_float32], "the price of the act (-1.0 if none or zero)", DOLLARS),
            },
            "upstream's dialogue act of each event",
        ),
        "utterance": Field([str], "the message of each event; empty for other actions"),
        "items": Field(
            {
                "Category": Field([{*shapes.CATEGORIES}], "the category of the post"),
                "Images": Field([str], f"{shapes.IMAGES}, joined by commas; empty if none"),
                "Price": Field([_float32], "the listing price (-1.0 if missing)", DOLLARS),
                "Description": Field([str], "the lines that this side sees, joined by commas"),
                "Title": Field([str], "the title of the post"),
            },
            "the post as each side sees it, first the buyer",
        ),
    },
    of="negotiations",
    key=(),
    shows={"dialogues": "", "turns": "utterance"},
    use="run code for the Hub's old dataset",
)
def dialogues(records: Iterable[Record]) -> Rows:
    """Yield each dialogue in the documented schema, value for value what the old Hub script gave.

    Missing is "" or -1.0, lists of an item are joined by commas, and a dialogue act's price of
    zero is -1.0 too.
    """
    for record in records:
        kbs, events = record["scenario"]["kbs"], record["events"]
        sides, items = [kb["personal"] for kb in kbs], [kb["item"] for kb in kbs]
        acts = [event.get("metadata") or {} for event in events]
        yield {
            "agent_info": {
                "Bottomline": [str(side["Bottomline"]) for side in sides],
                "Role": [side["Role"] for side in sides],
                "Target": _to_float32(side["Target"] for side in sides),
            },
            "agent_turn": [event["agent"] for event in events],
            "dialogue_acts": {
                "intent": [act.get("intent") or "" for act in acts],
                "price": _to_float32(act.get("price") or -1.0 for act in acts),
            },
            "utterance": [e["data"] if e["action"] == "message" else "" for e in events],
            "items": {
                "Category": [item["Category"] for item in items],
                "Images": [",".join(item["Images"]) for item in items],
                "Price": _to_float32(item["Price"] or -1.0 for item in items),
                "Description": [",".join(item["Description"]) for item in items],
                "Title": [item["Title"] for item in items],
            },
        }


@View(
    "an event",
    {
        **_turn,
        "text": _message,
        "action": _action,
        "offer_price": Field(
            _number, "the price offered (null for other actions, and in a few offers)", DOLLARS
        ),
        "intent": _upstream_intent,
        "intent_price": _upstream_price,
        "seconds": Field(
            float, "the time since the dialogue's first event, by `time`, to the hundredth", SECONDS
        ),
        **_post,
        **_target,
    },
    of="negotiations",
    key=("dialogue_id", "turn"),
    use="classify",
)
def utterances(records: Iterable[Record]) -> Rows:
    """Yield each event, with the post and the target of the acting side."""
    for record in records:
        post, targets, seconds = post_of(record), [*targets_of(record).values()], seconds_of(record)
        for turn, event in enumerate(record["events"]):
            is_offer, act = event["action"] == "offer", event.get("metadata")
            yield {
                **keyed_event(record, turn),
                "offer_price": number(event["data"]["price"]) if is_offer else None,
                "intent": act["intent"] if act else None,
                "intent_price": number(act.get("price")) if act else None,
                "seconds": seconds[turn],
                **post,
                "target": targets[event["agent"]],
            }


@View(
    "a dialogue, flat",
    {
        **_dialogue,
        **_scenario,
        **_post,
        **_targets,
        **_deal,
        "events": Field(int, "the number of events"),
        "messages": Field(int, "the number of messages"),
        "offers": Field(int, "the number of offers"),
        "seconds": Field(_number, "the time from the first event to the last", SECONDS),
        "published_in": Field([str], "the published subsets that have this dialogue"),
    },
    of="negotiations",
    key="dialogue_id",
    use="study outcomes",
)
def outcomes(records: Iterable[Record]) -> Rows:
    """Yield each dialogue as flat columns."""
    for record in records:
        actions = [event["action"] for event in record["events"]]
        yield {
            "dialogue_id": record["uuid"],
            "scenario_id": record["scenario"]["uuid"],
            **post_of(record),
            **targets_of(record),
            **deal_of(record),
            "events": len(actions),
            "messages": actions.count("message"),
            "offers": actions.count("offer"),
            "seconds": max(seconds_of(record), default=None),
            "published_in": [name for name, s in SUBSETS.items() if record["uuid"] in s.ids],
        }


@View(
    "a post with both sides' targets",
    {
        **_scenario,
        "post_id": Field(str, "the number of the Craigslist post"),
        **_category_of,
        "title": Field(str, "the title of the post"),
        **{f"{side}_description": Field([str], _lines.format(side)) for side in SIDES},
        "images": Field([str], shapes.IMAGES),
        **_list_price,
        **_targets,
        "dialogue_ids": Field([str], "the scenario's dialogues in this split, in upstream's order"),
    },
    of="negotiations",
    key=("scenario_id", "post_id"),
    shows={"dialogues": "dialogue_ids"},
    splits_share_keys=True,  # train may have other dialogues of the same scenario
    use="let agents negotiate",
)
def scenarios(records: Iterable[Record]) -> Rows:
    """Yield each scenario once, as in its first dialogue, with the ids of its dialogues.

    A few posts share a uuid, so a scenario is all columns of its row except the descriptions: in a
    few dialogues these have a line more or less.
    """
    found: dict[str, tuple[Record, list[str]]] = {}
    for record in records:
        buyer, seller = (kb["item"] for kb in record["scenario"]["kbs"])
        row = {
            "scenario_id": record["scenario"]["uuid"],
            "post_id": record["scenario"]["post_id"],
            **post_of(record),
            "title": seller["Title"],
            "images": seller["Images"],
            **targets_of(record),
        }
        seen = {
            "buyer_description": buyer["Description"],
            "seller_description": seller["Description"],
        }
        _, dialogue_ids = found.setdefault(repr(row), (row | seen, []))
        dialogue_ids.append(record["uuid"])
    for row, dialogue_ids in found.values():
        yield {**row, "dialogue_ids": dialogue_ids}


@View(
    "a chat with one side as assistant",
    {
        **_dialogue,
        **_scenario,
        "speaker": Field({*SIDES}, "the side that is the assistant"),
        **CHAT,
        **_post,
        **_target,
        **_deal,
    },
    of="negotiations",
    key=("dialogue_id", "speaker"),
    use="train a chat model",
)
def messages(records: Iterable[Record]) -> Rows:
    """Yield each side's view of a dialogue as a chat in which that side is the assistant."""
    for record in records:
        for agent, side in enumerate(SIDES):
            turns = (
                ("assistant" if event["agent"] == agent else "user", event_in_words(event))
                for event in record["events"]
            )
            yield {
                "dialogue_id": record["uuid"],
                "scenario_id": record["scenario"]["uuid"],
                "speaker": side,
                **chat_of(turns, briefing(record["scenario"]["kbs"][agent])),
                **post_of(record),
                "target": targets_of(record)[f"{side}_target"],
                **deal_of(record),
            }


@View(
    "an event with its dialogue act by upstream's rules",
    {
        **_turn,
        "action": _action,
        "text": _message,
        "intent": Field(shapes.INTENT, "the intent by the rules, for every event"),
        "price": Field(_number, "the price that the act proposes (null if none)", DOLLARS),
        "prices": Field([float], "the message's prices by the rules, in the text's order", DOLLARS),
        "tags": Field([shapes.TAG], "the message's tags by the rules"),
        "upstream_intent": _upstream_intent,
        "upstream_price": _upstream_price,
        "parsed_upstream": Field(
            bool, "whether the dialogue is long enough for upstream's parser, by its own rule"
        ),
    },
    of="negotiations",
    key=("dialogue_id", "turn"),
    splits={split: [*files, shapes.TRACKER] for split, files in SPLITS.items()},
    records=shapes.with_word_lists,
    use="study acts, in test too",
)
def dialogue_acts(records: Iterable[tuple[Record, Contexts]]) -> Rows:
    """Yield the dialogue act of each event of (negotiation, word lists)."""
    for record, contexts in records:
        parsed = is_parsed(record)
        for turn, act in enumerate(acts(record, contexts)):
            stated = record["events"][turn].get("metadata")
            yield {
                **keyed_event(record, turn),
                "intent": act.intent,
                "price": act.price,
                "prices": act.prices,
                "tags": act.tags,
                "upstream_intent": stated["intent"] if stated else None,
                "upstream_price": number(stated.get("price")) if stated else None,
                "parsed_upstream": parsed,
            }
