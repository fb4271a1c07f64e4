"""The deals that somebody's agents make of the scenarios, and the game that they play."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from statistics import median
from typing import Any

from parley.figures import Data
from parley.questions import NegotiationRules, NegotiationState, make_game
from parley.tasks import MEASURED, UNREADABLE, Key, Prediction, Reference, Score, Task, means

from ..scenarios import (
    ISSUES,
    PACKAGES,
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
from ..views import PARTNER, briefing
from .allocations import ALLOCATION, EXAMPLE, people, wrong_shares

# Game --------------------------------------------------------------------------------------

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


# Scripted agents ---------------------------------------------------------------------------


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

# Score -------------------------------------------------------------------------------------


def deals_gold(data: Data) -> dict[Key, dict[str, Priorities]]:
    """Return (dialogue_id,) -> side -> its `value2issue`."""
    return {
        (row["dialogue_id"],): {side: row[side]["value2issue"] for side in SIDES}
        for row in data.rows("scenarios", "train")
    }


def deals_score(
    gold: Mapping[Key, dict[str, Priorities]], predictions: Mapping[Key, Prediction]
) -> Score:
    """Score allocations: means over the scenarios, with bootstrap intervals.

    Without a deal each side has 5 points, after walking away and at the turn limit; that is never
    Pareto-optimal. A side of an unreadable negotiation has none.
    """
    values: dict[str, list[float]] = defaultdict(list)
    for key, sides in gold.items():
        for name, value in measured(sides, predictions[key]).items():
            values[name].append(value)
    found, spread = means(values)
    points, points_spread = (
        {s: each.pop(s) for s in SIDES if s in each} for each in (found, spread)
    )
    medians = {side: float(median(values[side])) for side in SIDES}
    metrics = {"points": points, "median_points": medians, **found}
    ended = ("walk_aways", "turn_limits", "unreadable")
    deals = len(gold) - int(sum(sum(values[name]) for name in ended))
    counts = {"scenarios": len(gold), "deals": deals}
    return Score(metrics, {"points": points_spread, **spread}, counts)


def measured(sides: Mapping[str, Priorities], prediction: Prediction) -> dict[str, float]:
    """Return the measures of one negotiation."""
    is_read = UNREADABLE not in prediction
    allocation = prediction.get("allocation")
    is_over_time = prediction.get("end") == "turn_limit"
    first, second = (
        points_of(sides[side], None if allocation is None else allocation[side]) if is_read else 0
        for side in SIDES
    )
    joint = first + second
    return {
        SIDES[0]: first,
        SIDES[1]: second,
        "joint_points": joint,
        "share_of_most": joint / most_joint_points(sides),
        "pareto_optimal": is_pareto_optimal(sides, (first, second)),
        "fairness": min(first, second) / joint if joint else 0.0,
        "below_walk_away": sum(points < WALK_AWAY for points in (first, second)) / len(SIDES),
        "walk_aways": is_read and allocation is None and not is_over_time,
        "turn_limits": is_over_time,
        "unreadable": not is_read,
    }


# Task --------------------------------------------------------------------------------------

DEALS = Task(
    summary="the deal that agents reach when they negotiate a scenario",
    category="text-generation",
    evaluated_on="all scenarios",
    configs=("scenarios", "utterances"),
    fields={
        "dialogue_id": "the scenario, an integer",
        "allocation": "mturk_agent_1 and mturk_agent_2, each with its packages of Food, Water and "
        "Firewood, together three of each; null without a deal",
        "end": "turn_limit if the negotiation ended at its turn limit without a deal; otherwise no "
        "field, and null means walking away",
    },
    shape={"dialogue_id": int, "allocation": ALLOCATION, "end?": {"turn_limit"}},
    key=("dialogue_id",),
    example={"dialogue_id": 7, "allocation": EXAMPLE},
    metrics={
        "points": "points of a side: 5, 4 or 3 for each package by priority, 5 without a deal, 0 "
        "if unreadable",
        "median_points": "their median",
        "joint_points": "points of both sides together",
        "share_of_most": "joint points over the most that the two orders of priorities allow",
        "pareto_optimal": "share of scenarios without another deal that is better for one side and "
        "not worse for the other",
        "fairness": "the smaller side's share of the joint points",
        "below_walk_away": f"share of sides with fewer than {WALK_AWAY} points",
        "walk_aways": "share of scenarios in which a side walks away",
        "turn_limits": "share of scenarios that end at the turn limit",
        "unreadable": "share of scenarios with an unreadable turn",
    },
    inputs="its own side's priorities and reasons, and the turns of both sides",
    columns=("scenarios.mturk_agent_*",),
    asking=GAME,
    subsets=SUBSETS,
    gold=deals_gold,
    score=deals_score,
    per_prediction=("joint_points", "share_of_most", "pareto_optimal", "fairness"),
    validate=wrong_shares,
    baselines={"people": people},
    references=(
        Reference(
            "people",
            {
                "points": {"mturk_agent_1": "18.64", "mturk_agent_2": "18.63"},
                "joint_points": "37.3",
                "share_of_most": "0.947",
                "pareto_optimal": "0.657",
                "walk_aways": "0.024",
            },
            MEASURED,
            "the participants themselves",
        ),
    ),
    unit="points, and shares as fractions",
)
