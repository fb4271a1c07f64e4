"""CraigslistBargains' negotiation as a game: prompt of a side, offers, scripted agents."""

import math
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from parley import Data, Key, NegotiationRules, NegotiationState, make_game

from .views import SIDES, dollars

Scenario = dict[str, Any]

HIGHEST = 1_000_000_000  # a price; the highest list price is far below
WITHOUT_DEAL = -0.5  # the utility of a side that walks away, as in upstream's code


def scenarios(data: Data, split: str = "test") -> dict[Key, Scenario]:
    """Return the scenarios of a split with a unique id."""
    rows = data.named("scenarios", split)
    named = Counter(row["scenario_id"] for row in rows)
    return {(row["scenario_id"],): row for row in rows if named[row["scenario_id"]] == 1}


def start(data: Data, split: str = "test") -> Iterator[tuple[Key, Scenario]]:
    """Yield each scenario."""
    yield from scenarios(data, split).items()


def prompt(scenario: Scenario, side: str) -> str:
    """Return a side's private knowledge and the rules."""
    (other,) = {*SIDES} - {side}
    lines = [
        f"You are the {side} and negotiate with the {other} over the price of a post on "
        f"Craigslist, in the category {scenario['category']}.",
        f"Title: {scenario['title']}",
        f"List price: {dollars(scenario['list_price'])}",
        f"You want to reach a price of {dollars(scenario[f'{side}_target'])}; the {other} does "
        "not know this.",
        "Description:",
        *scenario[f"{side}_description"],
        f"Talk with the {other} until you agree. Write one short message at a time; it may end "
        "with one action:",
        "[Offer: 120] offers this price in dollars.",
        f"[Accept] accepts and [Reject] rejects the {other}'s last offer.",
        "[Walk-Away] ends the negotiation without a deal.",
    ]
    return "\n".join(lines)


_PRICE = re.compile(
    r"(?:price\s?[=:]\s?)?\$?\s?(\d{1,3}(?:,\d{3})+|\d+)(\.\d\d?)?\s?(?:\$|dollars|usd)?"
    r"(?:\s?(?:per|/|a)\s?(?:month|mo))?[.!]?",
    re.IGNORECASE,
)


def read_offer(_: Scenario, side: str, terms: str) -> float:
    """Read a price such as "$1,200.50"."""
    match = _PRICE.fullmatch(terms)
    price = float(match[1].replace(",", "") + (match[2] or "")) if match else math.nan
    if not 0 <= price <= HIGHEST:
        raise ValueError(f"expected a price from 0 to {HIGHEST:,}")
    return price


def points(scenario: Scenario, price: float | None) -> dict[str, float]:
    """Return the utilities of both sides, as `score_deals` explains them."""
    if price is None:
        return dict.fromkeys(SIDES, WITHOUT_DEAL)
    buyer, seller = (scenario[f"{side}_target"] for side in SIDES)
    utility = (price - (buyer + seller) / 2) / ((seller - buyer) / 2)
    return {"buyer": -utility, "seller": utility}


# Scripted agents -------------------------------------------------------------------------


def settle(state: NegotiationState, side: str, price: float) -> str:
    """Accept an offer that is at least as good as `price` for this side, else offer `price`."""
    sign = 1 if side == "seller" else -1
    is_theirs = state.offered_by not in ("", side)
    if is_theirs and sign * state.offer >= sign * price:
        return "I agree. [Accept]"
    return f"This is my offer. [Offer: {price:.2f}]"


def firm(state: NegotiationState, side: str) -> str:
    """Demand the own target and never concede."""
    return settle(state, side, state.scenario[f"{side}_target"])


def concede(state: NegotiationState, side: str) -> str:
    """Begin at the own target, and go 5% of the list price towards the other in each turn."""
    turns = sum(speaker == side for speaker, _ in state.turns)
    sign = 1 if side == "buyer" else -1
    price = state.scenario[f"{side}_target"] + sign * turns * 0.05 * state.scenario["list_price"]
    return settle(state, side, max(price, 0.0))


def joint(state: NegotiationState, side: str) -> str:
    """Propose the price halfway between the targets.

    It knows both sides' targets, which a model does not.
    """
    both = (state.scenario[f"{each}_target"] for each in SIDES)
    return settle(state, side, round(sum(both) / len(SIDES), 2))


GAME = make_game(
    NegotiationRules(SIDES, prompt, read_offer),
    "1",
    start,
    points,
    agreed="price",
    people="humans",
    agents={"firm": firm, "concede": concede, "joint": joint},
)
