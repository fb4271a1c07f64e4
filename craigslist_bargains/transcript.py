"""Lays a row of `negotiations` out for `parley show`."""

from typing import Any

from parley.transcript import Transcript, Turn

CONFIGS = ("negotiations",)


def transcript(row: dict[str, Any]) -> Transcript:
    """Return the negotiation: post and targets, the turns with their acts, the outcome."""
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
        turns=[_turn(event, (buyer, seller)) for event in row["events"]],
        after=after,
    )


def _turn(event: dict[str, Any], sides: tuple[dict[str, Any], ...]) -> Turn:
    speaker = sides[event["agent"]]["personal"]["Role"]
    if event["action"] == "message":
        return Turn(speaker, event["text"], _notes(event["metadata"]))
    # the act of an action is the action itself, so there is nothing to note beside it
    text = {
        "offer": f"offers {_offer(event['offer'])}" if event["offer"] is not None else "offers",
        "accept": "accepts",
        "reject": "rejects",
        "quit": "quits",
    }[event["action"]]
    return Turn(speaker, text, action=True)


def _notes(act: dict[str, Any] | None) -> tuple[str, ...]:
    if act is None:
        return ()
    return (act["intent"],) if act["price"] is None else (act["intent"], _dollars(act["price"]))


def _offer(offer: dict[str, Any]) -> str:
    price, sides = _dollars(offer["price"]), offer["sides"]
    return f"{price}, {sides}" if sides else price


def _dollars(price: float | None) -> str:
    return "no price" if price is None else f"${price:,}".removesuffix(".0")
