"""Lay out a row of `negotiations` for reading, and name the columns that filter first."""

from typing import Any

from parley.read import Facet, Fact, Note, Transcript, Turn

from .records import INTENTS, SIDES

CONFIGS = ("negotiations",)
BESIDE = {"dialogue_acts": "dialogue_id"}
TABLES = {"outcomes": "dialogue_id", "utterances": "dialogue_id"}
FACETS = {
    "category": Facet(column="outcomes.category"),
    "deal": Facet("the deal is {}", "the deal is not {}", column="outcomes.deal"),
    "list price": Facet("the list price is {}", column="outcomes.list_price"),
    "deal price": Facet("the deal price is {}", column="outcomes.deal_price"),
    "target": Facet("wants to reach a price of {}", column="messages.target"),
    "deal price over list price": Facet(
        "the deal is {} of the list price", column="outcomes.deal_over_list_price"
    ),
    "computed acts": Facet(
        "has {} as a computed act", "does not have {} as a computed act",
        column="dialogue_acts.intent",
    ),
    "upstream's acts": Facet(
        "has {} as an act of upstream", "does not have {} as an act of upstream",
        column="utterances.intent",
    ),
    "turns": Facet("there are {} turns", column="utterances"),
    "utterances": Facet("there are {} utterances", column="outcomes.messages"),
}  # fmt: skip
SAID = {"utterances": "text"}

Beside = dict[str, list[dict[str, Any]]]


def transcript(row: dict[str, Any], beside: Beside | None = None) -> Transcript:
    """Return the negotiation: post and targets, the turns with their acts, the outcome.

    If upstream has no act or another one, the computed act is added and marked.
    """
    acts = {act["turn"]: act for act in (beside or {}).get("dialogue_acts", ())}
    kbs = row["scenario"]["kbs"]
    item = kbs[1]["item"]
    outcome = row["outcome"]
    after = [("deal", "yes" if outcome["reward"] else "no")]
    if outcome["offer"] is not None:
        is_deal = bool(outcome["reward"])
        after.append(("deal price" if is_deal else "final offer", _offer(outcome["offer"])))
    price = _dollars(outcome["offer"]["price"]) if outcome["reward"] else "no deal"
    return Transcript(
        title=f"{item['Title']} ({row['uuid']})",
        before=[("category", item["Category"]), ("list price", _dollars(item["Price"]))],
        turns=[_turn(event, acts.get(turn)) for turn, event in enumerate(row["events"])],
        after=after,
        sides=dict(zip(SIDES, map(_known, kbs), strict=True)),
        entry=f"{_dollars(item['Price'])} → {price} · {item['Title']}",
    )


def _known(kb: dict[str, Any]) -> list[Fact]:
    """Return a side's private knowledge: its target and its lines of the description."""
    return [
        ("target", _dollars(kb["personal"]["Target"])),
        ("description", "\n".join(kb["item"]["Description"])),
    ]


def _turn(event: dict[str, Any], ruled: dict[str, Any] | None) -> Turn:
    speaker = SIDES[event["agent"]]
    if event["action"] == "message":
        return Turn(speaker, event["text"], _notes(event["metadata"], ruled))
    # the act of an action is the action itself, so it needs no note
    offer = "" if event["offer"] is None else f" {_offer(event['offer'])}"
    return Turn(speaker, f"{event['action']}s{offer}", action=True)


def _notes(stated: dict[str, Any] | None, ruled: dict[str, Any] | None) -> tuple[Note, ...]:
    """Return the act that upstream gave a message, and the computed one unless it is the same."""
    notes = [] if stated is None else [_act(stated["intent"], stated["price"])]
    if ruled is not None:
        act = _act(INTENTS[ruled["intent"]], ruled["price"], by="computed")
        if stated is None or (act.text, act.detail) != (notes[0].text, notes[0].detail):
            notes.append(act)
    return tuple(notes)


def _act(intent: str, price: float | None, by: str = "") -> Note:
    return Note(intent, kind="act", detail="" if price is None else _dollars(price), by=by)


def _offer(offer: dict[str, Any]) -> str:
    price, sides = _dollars(offer["price"]), offer["sides"]
    return f"{price}, {sides}" if sides else price


def _dollars(price: float | None) -> str:
    return "no price" if price is None else f"${price:,}".removesuffix(".0")
