"""The rows of the config `negotiations`, as figures count them."""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from parley import Data

COUNTED = ("validation", "test")  # the splits that our card counts
# the buyer's targets as shares of the listing price, and these in percent
SHARES = {"0.5": 50, "0.6": 60, "0.7": 70, "0.76": 76, "0.9": 90, "0.92": 92}


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
