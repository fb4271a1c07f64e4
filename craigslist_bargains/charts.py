"""The charts of CraigslistBargains that its filters do not give."""

from collections import defaultdict
from typing import Any

from parley import Data, Panel, Panels

from .views import SIDES

_PANELS = 24  # dialogues shown: a page has room for no more


def offers(data: Data) -> Panels:
    """Draw the prices of the dialogues with the most: those named by a rule, and offers."""
    splits = data.splits("outcomes")
    about = {row["dialogue_id"]: row for row in data.named("outcomes", *splits)}
    named: dict[str, dict[str, list[tuple[float, float]]]] = defaultdict(
        lambda: {side: [] for side in SIDES}
    )
    prices = {
        (act["dialogue_id"], act["turn"]): act["price"]
        for act in data.rows("dialogue_acts", *splits)
    }
    for event in data.named("utterances", *splits):
        id, listed = event["dialogue_id"], event["list_price"]
        price = event["offer_price"]
        price = prices.get((id, event["turn"])) if price is None else price
        # a price of twice the list price is mostly a slip, and would flatten every other line
        if price is not None and listed and price <= 2 * listed:
            named[id][event["speaker"]].append((event["turn"], price / listed))
    most = sorted(named, key=lambda d: (-sum(map(len, named[d].values())), d))[:_PANELS]
    return Panels(
        "Prices over the turns",
        f"Offers and prices in messages, relative to the list price, in the {len(most)} dialogues "
        "with the most of them; dashed: the targets of both sides.",
        x="turn",
        y="price over list price",
        panels=tuple(_panel(about[id], named[id]) for id in most),
    )


def _panel(row: dict[str, Any], named: dict[str, list[tuple[float, float]]]) -> Panel:
    return Panel(
        f"{row['category']}, ${row['list_price']:,.0f}",
        {side: tuple(points) for side, points in named.items()},
        {f"{side}'s target": row[f"{side}_target"] / row["list_price"] for side in SIDES},
        {"id": row["dialogue_id"]},
    )


CHARTS = {"prices-over-turns": offers}
