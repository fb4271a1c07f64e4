"""The deals that somebody's agents make of the scenarios, and the game that they play."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from parley import Data, Field, tasks

from ..records import PARTNER
from ..scenarios import (
    ISSUES,
    PACKAGES,
    POINTS,
    SIDES,
    WALK_AWAY,
    Items,
    Priorities,
    allocations,
    is_pareto_optimal,
    most_joint_points,
    points_of,
)
from ..subsets import SUBSETS
from ..views import briefing
from .shared import Allocation, own_deals

Scenario = dict[str, Any]
Deal = Mapping[str, Items] | None


def prompt(scenario: Scenario, side: str) -> str:
    """Return a side's private knowledge, its aim and its actions."""
    return (
        f"{briefing(scenario[side])}\n"
        "Get as many points as you can. Talk with your neighbour until you agree. Write one short "
        "message at a time; it may hold one action, on a line of its own:\n"
        "[Offer: Food=F Water=W Firewood=R], with numbers for F, W and R, offers that you get F "
        "packages of food, W of water and R of firewood, and your neighbour the rest of the three "
        "each.\n"
        "[Accept] accepts and [Reject] rejects your neighbour's last offer.\n"
        f"[Walk-Away] ends the negotiation without a deal. Without a deal each side has "
        f"{WALK_AWAY} points."
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


def start(data: Data) -> Iterator[tuple[tasks.Key, Scenario]]:
    """Yield each scenario."""
    for row in data.rows("scenarios", "train"):
        yield (row["dialogue_id"],), row


def orders(scenario: Scenario) -> dict[str, Priorities]:
    """Return side -> its `value2issue`."""
    return {side: scenario[side]["value2issue"] for side in SIDES}


def points(scenario: Scenario, deal: Deal) -> dict[str, float]:
    """Return the points of both sides."""
    shares = deal or dict.fromkeys(SIDES)
    return {s: float(points_of(order, shares[s])) for s, order in orders(scenario).items()}


def settle(state: tasks.NegotiationState, side: str, wanted: Mapping[str, Items]) -> str:
    """Accept an offer that is worth at least `wanted` to this side, else offer `wanted`."""
    is_theirs = state.offered_by == PARTNER[side]
    if (
        is_theirs
        and points(state.scenario, state.offer)[side] >= points(state.scenario, wanted)[side]
    ):
        return "I agree.\n[Accept]"
    terms = " ".join(f"{issue}={wanted[side][issue]}" for issue in ISSUES)
    return f"This is my offer.\n[Offer: {terms}]"


def best(state: tasks.NegotiationState, side: str, least: int) -> Mapping[str, Items]:
    """Return the allocation with the fewest points for this side that has at least `least`.

    Of equal ones it is the first of `allocations`.
    """
    worth = ((points(state.scenario, each)[side], each) for each in allocations())
    return min((pair for pair in worth if pair[0] >= least), key=lambda pair: pair[0])[1]


def firm(state: tasks.NegotiationState, side: str) -> str:
    """Demand all packages and never concede."""
    return settle(state, side, best(state, side, 36))


def concede(state: tasks.NegotiationState, side: str) -> str:
    """Demand 36 points, and three fewer in each turn; never fewer than for walking away."""
    turns = sum(each.role == side for each in state.turns)
    return settle(state, side, best(state, side, max(36 - 3 * turns, WALK_AWAY)))


def joint(state: tasks.NegotiationState, side: str) -> str:
    """Propose the most even one of the deals with the most joint points.

    It knows both sides' priorities, which a model does not.
    """

    def rank(shares: Mapping[str, Items]) -> tuple[float, float]:
        both = points(state.scenario, shares).values()
        return sum(both), min(both)

    return settle(state, side, max(allocations(), key=rank))


GAME = tasks.Playing(
    "1",
    SIDES,
    start,
    prompt,
    read_offer,
    points,
    agreed="allocation",
    agents={"firm": firm, "concede": concede, "joint": joint},
)


def joint_points(scenario: Scenario, deal: Deal) -> float:
    """Return the points of both sides together."""
    return sum(points(scenario, deal).values())


def deals_score(
    gold: Mapping[tasks.Key, Scenario], predictions: Mapping[tasks.Key, tasks.Prediction]
) -> tasks.Score:
    """Score allocations.

    Without a deal each side has 5 points; that is never Pareto-optimal.
    """
    of_games = {
        "joint_points": joint_points,
        "pareto_optimal": lambda scenario, deal: is_pareto_optimal(
            orders(scenario), (*points(scenario, deal).values(),)
        ),
    }
    of_deals = {
        "share_of_most": lambda scenario, deal: (
            joint_points(scenario, deal) / most_joint_points(orders(scenario))
        ),
        "fairness": lambda scenario, deal: (
            min(points(scenario, deal).values()) / joint_points(scenario, deal)
        ),
    }
    return tasks.score_games(gold, predictions, "allocation", points, of_games, of_deals)


def negotiated(data: Data) -> Iterator[tasks.Prediction]:
    """Predict the participants' own negotiation; messages and actions are turns of their own."""
    turns, left = Counter[tuple[int, str]](), dict[int, dict[str, str]]()
    for row in data.rows("utterances", "train"):
        turns[row["dialogue_id"], row["speaker"]] += 1
        if row["data"] == "walk_away":
            left[row["dialogue_id"]] = {"walked_away": row["speaker"]}
    for each in own_deals(data):
        number = each["dialogue_id"]
        counts = {"turns": {side: turns[number, side] for side in SIDES}}
        yield {**each, **left.get(number, {}), **counts}


DEALS = tasks.Task(
    summary="the deal that agents reach when they negotiate a scenario",
    evaluated_on="all scenarios",
    configs=("scenarios", "utterances"),
    key={"dialogue_id": Field(int, "the scenario")},
    answer={"allocation": Allocation("each side's packages")},
    metrics=tasks.GAME_METRICS
    | {
        "points": f"points of a side: 5, 4 or 3 for each package by priority, {WALK_AWAY} without "
        "a deal; mean over scenarios",
        "joint_points": "points of both sides together, mean over scenarios",
        "pareto_optimal": "share of scenarios whose deal leaves no other one that is better for "
        "one side and not worse for the other",
        "share_of_most": "joint points over the most that the two orders of priorities allow, mean "
        "over deals",
        "fairness": "the smaller of the two sides' shares of the joint points, 0 to 0.5; mean "
        "over deals",
    },
    inputs="its own side's priorities and reasons, and the turns of both sides",
    columns=("scenarios.mturk_agent_*",),
    asking=GAME,
    subsets=SUBSETS,
    gold=lambda data: dict(start(data)),
    clusters={"scenarios": None},
    score=deals_score,
    per_prediction=("deals", "joint_points", "pareto_optimal"),
    baselines={"people": negotiated},
    references=(
        tasks.Reference(
            "people", note="the participants themselves; an action is a turn of its own"
        ),
    ),
    ends=tasks.GAME_ENDS
    | dict.fromkeys(("points", "median_points"), (0, PACKAGES * sum(POINTS.values())))
    | {"joint_points": (2 * WALK_AWAY, 42), "fairness": (0, 0.5)},
)
