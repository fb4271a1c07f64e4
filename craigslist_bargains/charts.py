"""The charts of CraigslistBargains that its filters do not give."""

from collections import defaultdict
from typing import Any

from parley.figures import Data
from parley.views import Panel, Panels

from .views import SIDES

_PANELS = 25  # dialogues shown: a page has room for no more
_MOST = 2.0  # times the list price: one price of ninety times would flatten every other line


def offers(data: Data) -> Panels:
    """Draw the prices that upstream's events state, in the dialogues with the most of them."""
    splits = data.splits("outcomes")
    about = {row["dialogue_id"]: row for row in data.named("outcomes", *splits)}
    named: dict[str, dict[str, list[tuple[float, float]]]] = defaultdict(
        lambda: {side: [] for side in SIDES}
    )
    for event in data.named("utterances", *splits):
        offered, stated = event["offer_price"], event["intent_price"]
        price = stated if offered is None else offered
        if price is not None and event["list_price"]:
            point = event["turn"], price / event["list_price"]
            named[event["dialogue_id"]][event["speaker"]].append(point)
    most = sorted(named, key=lambda d: (-sum(map(len, named[d].values())), d))[:_PANELS]
    drawn = [y for id in most for line in named[id].values() for _, y in line]
    above = sum(y > _MOST for y in drawn)
    unlisted = sum(not row["list_price"] for row in about.values())
    said = [
        f"{len(drawn):,} prices divided by the list price, in the {len(most)} dialogues with the "
        "most. A price is an offer, or what upstream states for a message.",
        "Dashed: the targets of both sides.",
        f"Triangles: {above} prices above twice the list price." if above else "",
        "Left out: prices that only a rule finds in a text.",
        f"Left out: {unlisted} dialogues without a list price." if unlisted else "",
    ]
    return Panels(
        "Prices over the turns",
        " ".join(filter(None, said)),
        x="turn",
        y="price over list price",
        panels=tuple(_panel(about[id], named[id]) for id in most),
        most=_MOST,
    )


def _panel(row: dict[str, Any], named: dict[str, list[tuple[float, float]]]) -> Panel:
    return Panel(
        f"{row['category']}, ${row['list_price']:,.2f}".removesuffix(".00"),
        {side: tuple(points) for side, points in named.items()},
        {f"{side}'s target": row[f"{side}_target"] / row["list_price"] for side in SIDES},
        {"id": row["dialogue_id"]},
    )


CHARTS = {"prices-over-turns": offers}
