"""Lays a row of `negotiations` out for `parley show`."""

from typing import Any

from parley.transcript import Transcript, Turn

from .views import INTENTS

CONFIGS = ("negotiations",)
BESIDE = {"acts": "dialogue_id"}


def transcript(
    row: dict[str, Any], beside: dict[str, list[dict[str, Any]]] | None = None
) -> Transcript:
    """Return the negotiation: post and targets, the turns with their acts, the outcome.

    Where upstream has no act, that by its rules stands there, and is marked so.
    """
    acts = {act["turn"]: act for act in (beside or {}).get("acts", ())}
    buyer, seller = row["scenario"]["kbs"]
    item = seller["item"]
    before = [
        ("category", item["Category"]),
        ("listed at", _dollars(item["Price"])),
        ("buyer's target", _dollars(buyer["personal"]["Target"])),
        ("seller's target", _dollars(seller["personal"]["Target"])),
    ]
    outcome = row["outcome"]
    after = [("deal", "yes" if outcome["reward"] else "no")]
    if outcome["offer"] is not None:
        after.append(("final offer", _offer(outcome["offer"])))
    return Transcript(
        title=f"{item['Title']} ({row['uuid']})",
        before=before,
        turns=[
            _turn(event, (buyer, seller), acts.get(turn))
            for turn, event in enumerate(row["events"])
        ],
        after=after,
    )


def _turn(
    event: dict[str, Any], sides: tuple[dict[str, Any], ...], ruled: dict[str, Any] | None
) -> Turn:
    speaker = sides[event["agent"]]["personal"]["Role"]
    if event["action"] == "message":
        return Turn(speaker, event["text"], _notes(event["metadata"], ruled))
    # the act of an action is the action itself, so there is nothing to note beside it
    text = {
        "offer": f"offers {_offer(event['offer'])}" if event["offer"] is not None else "offers",
        "accept": "accepts",
        "reject": "rejects",
        "quit": "quits",
    }[event["action"]]
    return Turn(speaker, text, action=True)


def _notes(act: dict[str, Any] | None, ruled: dict[str, Any] | None) -> tuple[str, ...]:
    """Return the act that upstream gave a message, else the one by its rules."""
    if act is not None:
        return _act(act["intent"], act["price"])
    if ruled is not None:
        return (*_act(INTENTS[ruled["intent"]], ruled["price"]), "by rule")
    return ()


def _act(intent: str, price: float | None) -> tuple[str, ...]:
    return (intent,) if price is None else (intent, _dollars(price))


def _offer(offer: dict[str, Any]) -> str:
    price, sides = _dollars(offer["price"]), offer["sides"]
    return f"{price}, {sides}" if sides else price


def _dollars(price: float | None) -> str:
    return "no price" if price is None else f"${price:,}".removesuffix(".0")
