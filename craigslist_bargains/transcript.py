"""Lay out a row of `negotiations` for reading, and give its facets."""

from typing import Any

from parley.read import Facet, Facets, Fact, Note, Transcript, Turn

from .records import CATEGORIES, INTENTS, SIDES

CONFIGS = ("negotiations",)
BESIDE = {"dialogue_acts": "dialogue_id"}
TABLES = {"outcomes": "dialogue_id", "utterances": "dialogue_id"}
FACETS = {
    "category": Facet(order=CATEGORIES),
    "deal": Facet(
        "the deal is {}", "the deal is not {}", order=("yes", "no"), column="outcomes.deal"
    ),
    "list price": Facet("the list price is {}", mean=True, column="outcomes.list_price"),
    "deal price": Facet("the deal price is {}", mean=True, column="outcomes.deal_price"),
    "target": Facet(
        "wants to reach a price of {}", column="negotiations.scenario.kbs[].personal.Target"
    ),
    "deal price over list price": Facet("the deal is {} of the list price", mean=True),
    "computed acts": Facet(
        "has {} as a computed act", "does not have {} as a computed act",
        order=INTENTS, column="dialogue_acts.intent",
    ),
    "upstream's acts": Facet(
        "has {} as an act of upstream", "does not have {} as an act of upstream",
        order=INTENTS, column="negotiations.events[].metadata.intent",
    ),
    "turns": Facet("there are {} turns", mean=True),
    "utterances": Facet("there are {} utterances"),
}  # fmt: skip

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
        entry=" · ".join([f"{_dollars(item['Price'])} → {price}", item["Category"], item["Title"]]),
    )


def facets(row: dict[str, Any], beside: Beside | None = None) -> Facets:
    """Return its category, deal, prices, and of each side its target and acts."""
    outcome, kbs = row["outcome"], row["scenario"]["kbs"]
    listed = kbs[1]["item"]["Price"]
    price = (outcome["offer"] or {}).get("price") if outcome["reward"] else None
    ruled: dict[str, list[str]] = {side: [] for side in SIDES}
    stated: dict[str, list[str]] = {side: [] for side in SIDES}
    for act in (beside or {}).get("dialogue_acts", ()):
        ruled[SIDES[row["events"][act["turn"]]["agent"]]].append(INTENTS[act["intent"]])
    for event in row["events"]:
        if event["metadata"]:
            stated[SIDES[event["agent"]]].append(event["metadata"]["intent"])
    return {
        "category": row["scenario"]["category"],
        "deal": "yes" if outcome["reward"] else "no",
        "list price": listed,
        "deal price": price,
        "target": {side: kb["personal"]["Target"] for side, kb in zip(SIDES, kbs, strict=True)},
        "deal price over list price": price / listed if price is not None and listed else None,
        "computed acts": {side: list(dict.fromkeys(acts)) for side, acts in ruled.items()},
        "upstream's acts": {side: list(dict.fromkeys(acts)) for side, acts in stated.items()},
    }


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
    text, terms = f"{event['action']}s", list[Fact]()
    if event["offer"] is not None:
        terms = [("price", _offer(event["offer"]))]
        text = f"{text} {_offer(event['offer'])}"
    return Turn(speaker, text, action=True, terms=tuple(terms))


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
