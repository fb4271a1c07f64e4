"""Properties that every build of CraigslistBargains must have."""

from collections.abc import Iterator
from typing import Any

from parley import Data, check, row_differences

from .records import SIDES


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
    """A deal exists if and only if a side accepted an offer of the other, and is that offer.

    It need not be the last offer of the dialogue: if both made one, either can be accepted.
    """
    for split in data.splits("negotiations"):
        for row in data.rows("negotiations", split):
            where, outcome = f"negotiations/{split} {row['uuid']}", row["outcome"]
            found = accepted(row)
            if (outcome["reward"] == 1) != bool(found):
                yield f"{where}: reward {outcome['reward']}, but {len(found)} accepted offers"
            elif found and outcome["offer"] not in found:
                yield f"{where}: the deal is not over an offer that was accepted"


def act_due(event: dict[str, Any], parsed: set[str]) -> dict[str, Any]:
    """The columns of `dialogue_acts` that follow from an event of `utterances`.

    Where upstream gave acts, it did so just to dialogues that are long enough for its parser.
    """
    alike = ("dialogue_id", "turn", "speaker", "action", "text")
    due = {column: event[column] for column in alike}
    due |= {"upstream_intent": event["intent"], "upstream_price": event["intent_price"]}
    if event["action"] != "message":
        due |= {"intent": event["action"], "price": event["offer_price"], "prices": [], "tags": []}
    return due | ({"parsed_upstream": event["dialogue_id"] in parsed} if parsed else {})


@check
def dialogue_acts_match_the_events(data: Data) -> Iterator[str]:
    """`dialogue_acts` has each event of `utterances`, in order, with upstream's act where given.

    The act of an action is the action, and that of a message proposes one of its prices.
    """
    for split in data.splits("dialogue_acts"):
        where, rows = f"dialogue_acts/{split}", data.rows_with_names("dialogue_acts", split)
        events = data.rows_with_names("utterances", split)
        parsed = {event["dialogue_id"] for event in events if event["intent"] is not None}
        yield from row_differences(where, rows, [act_due(event, parsed) for event in events])
        for number, row in enumerate(rows):
            if row["action"] == "message" and row["price"] not in (None, *row["prices"]):
                yield f"{where}[{number}]: the price is not one of the message's"
