"""CaSiNo's negotiation as a game between two models: prompt of a side, offers, scripted agents."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from parley import Data, Key, NegotiationRules, NegotiationState, make_game

from .scenarios import (
    ISSUES,
    PACKAGES,
    SIDES,
    WALK_AWAY,
    Items,
    allocations,
    most_joint_points,
    points_of,
)
from .views import PARTNER, briefing

Scenario = dict[str, Any]


def prompt(scenario: Scenario, side: str) -> str:
    """Return a side's private knowledge and the rules."""
    return (
        f"{briefing(scenario[side])}\n"
        "Talk with your neighbour until you agree. Write one short message at a time; it may end "
        "with one action:\n"
        "[Offer: Food=2 Water=1 Firewood=0] offers that you get these packages and your neighbour "
        "the rest of the three each.\n"
        "[Accept] accepts and [Reject] rejects your neighbour's last offer.\n"
        f"[Walk-Away] ends the negotiation without a deal: each side then has {WALK_AWAY} points."
    )


_ITEM = "(food|water|firewood)"
_SHARE = re.compile(rf"\b{_ITEM}\s?[=:]?\s?(\d)\b|\b(\d)\s?{_ITEM}\b", re.IGNORECASE)


def read_offer(_: Scenario, side: str, terms: str) -> dict[str, Items]:
    """Read "Food=2 Water=1 Firewood=0" or "2 food, 1 water", the packages of the offering side."""
    pairs = [(a or d, b or c) for a, b, c, d in _SHARE.findall(terms)]
    mine = {name.capitalize(): int(count) for name, count in pairs}
    rest = re.sub(r"\band\b|\bfor me\b|[\s,;.|&]", "", _SHARE.sub("", terms), flags=re.I)
    if rest or len(pairs) != len(ISSUES) or mine.keys() != {*ISSUES}:
        raise ValueError(f"expected {', '.join(ISSUES)} once each, with a number")
    if max(mine.values()) > PACKAGES:
        raise ValueError(f"there are {PACKAGES} packages of each item")
    shares = {
        side: {issue: mine[issue] for issue in ISSUES},
        PARTNER[side]: {issue: PACKAGES - mine[issue] for issue in ISSUES},
    }
    return {each: shares[each] for each in SIDES}


def start(data: Data) -> Iterator[tuple[Key, Scenario]]:
    """Yield each scenario."""
    for row in data.rows("scenarios", "train"):
        yield (row["dialogue_id"],), row


def points(scenario: Scenario, allocation: Mapping[str, Items] | None) -> dict[str, float]:
    """Return the points of both sides."""
    shares = allocation or dict.fromkeys(SIDES)
    return {side: float(points_of(scenario[side]["value2issue"], shares[side])) for side in SIDES}


# Scripted agents -------------------------------------------------------------------------


def worth(state: NegotiationState, side: str, shares: Mapping[str, Items]) -> int:
    """Return a side's points in an allocation."""
    return points_of(state.scenario[side]["value2issue"], shares[side])


def settle(state: NegotiationState, side: str, wanted: Mapping[str, Items]) -> str:
    """Accept an offer that is worth at least `wanted` to this side, else offer `wanted`."""
    is_theirs = state.offered_by == PARTNER[side]
    if is_theirs and worth(state, side, state.offer) >= worth(state, side, wanted):
        return "I agree. [Accept]"
    terms = " ".join(f"{issue}={wanted[side][issue]}" for issue in ISSUES)
    return f"This is my offer. [Offer: {terms}]"


def best(state: NegotiationState, side: str, least: int) -> Mapping[str, Items]:
    """Return the allocation with the fewest points for this side that has at least `least`.

    Of equal ones it is the first of `allocations`.
    """
    enough = [each for each in allocations() if worth(state, side, each) >= least]
    return min(enough, key=lambda shares: worth(state, side, shares))


def firm(state: NegotiationState, side: str) -> str:
    """Demand all packages and never concede."""
    return settle(state, side, best(state, side, 36))


def concede(state: NegotiationState, side: str) -> str:
    """Demand 36 points, and three fewer in each turn; never fewer than for walking away."""
    turns = sum(speaker == side for speaker, _ in state.turns)
    return settle(state, side, best(state, side, max(36 - 3 * turns, WALK_AWAY)))


def joint(state: NegotiationState, side: str) -> str:
    """Propose the most even one of the deals with the most joint points.

    It knows both sides' priorities, which a model does not.
    """
    orders = {each: state.scenario[each]["value2issue"] for each in SIDES}
    most = most_joint_points(orders)
    points = [([worth(state, s, shares) for s in SIDES], shares) for shares in allocations()]
    _, wanted = max(
        ((both, shares) for both, shares in points if sum(both) == most),
        key=lambda each: min(each[0]),
    )
    return settle(state, side, wanted)


GAME = make_game(
    NegotiationRules(SIDES, prompt, read_offer),
    "1",
    start,
    points,
    agreed="allocation",
    people="people",
    agents={"firm": firm, "concede": concede, "joint": joint},
)
