"""The task `deals`: the prices that agents agree on when they negotiate the scenarios of test."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from statistics import median
from typing import Any

from parley import Checked, Data, Field, tasks

from ..records import SIDES
from ..subsets import SUBSETS
from ..views import dollars

Scenario = dict[str, Any]

HIGHEST = 1_000_000_000  # a price; the highest list price is far below
WITHOUT_DEAL = -0.5  # the points of a side that walks away, as in upstream's code


def scenarios(data: Data, split: str = "test") -> dict[tasks.Key, Scenario]:
    """Return the scenarios of a split with a unique id."""
    rows = data.rows_with_names("scenarios", split)
    named = Counter(row["scenario_id"] for row in rows)
    return {(row["scenario_id"],): row for row in rows if named[row["scenario_id"]] == 1}


def prompt(scenario: Scenario, side: str) -> str:
    """Return a side's private knowledge, its aim and its actions."""
    (other,) = {*SIDES} - {side}
    better = "lower" if side == "buyer" else "higher"
    lines = [
        f"You are the {side} and negotiate with the {other} over the price of a post on "
        f"Craigslist, in the category {scenario['category']}.",
        f"Title: {scenario['title']}",
        f"List price: {dollars(scenario['list_price'])}",
        f"You want to reach a price of {dollars(scenario[f'{side}_target'])}; the {other} does "
        "not know this.",
        "Description:",
        *scenario[f"{side}_description"],
        f"Get the best price you can: the {better}, the better for you. Talk with the {other} "
        "until you agree. Write one short message at a time; it may hold one action, on a line of "
        "its own:",
        "[Offer: PRICE], with a number for PRICE, offers this price in dollars.",
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
    """Return the points of both sides, as `score_deals` explains them."""
    if price is None:
        return dict.fromkeys(SIDES, WITHOUT_DEAL)
    buyer, seller = (scenario[f"{side}_target"] for side in SIDES)
    utility = (price - (buyer + seller) / 2) / ((seller - buyer) / 2)
    return {"buyer": 0.0 - utility, "seller": utility}  # no -0.0


def settle(state: tasks.NegotiationState, side: str, price: float) -> str:
    """Accept an offer that is at least as good as `price` for this side, else offer `price`."""
    sign = 1 if side == "seller" else -1
    is_theirs = state.offered_by not in ("", side)
    if is_theirs and sign * state.offer >= sign * price:
        return "I agree.\n[Accept]"
    return f"This is my offer.\n[Offer: {price:.2f}]"


def firm(state: tasks.NegotiationState, side: str) -> str:
    """Demand the own target and never concede."""
    return settle(state, side, state.scenario[f"{side}_target"])


def concede(state: tasks.NegotiationState, side: str) -> str:
    """Begin at the own target, and go 5% of the list price towards the other in each turn."""
    turns = sum(each.role == side for each in state.turns)
    sign = 1 if side == "buyer" else -1
    price = state.scenario[f"{side}_target"] + sign * turns * 0.05 * state.scenario["list_price"]
    return settle(state, side, max(price, 0.0))


def joint(state: tasks.NegotiationState, side: str) -> str:
    """Propose the price halfway between the targets.

    It knows both sides' targets, which a model does not.
    """
    both = (state.scenario[f"{each}_target"] for each in SIDES)
    return settle(state, side, round(sum(both) / len(SIDES), 2))


MARGINS = ("list_price", "buyer_target", "seller_target")
MEDIANS = (*(f"margin_to_{name}" for name in MARGINS), "sl")


def measured(scenario: Scenario, price: float) -> dict[str, float]:
    """Return how near a price is to what a scenario names.

    `sl` is the SL% of papers: the share of the way from the seller's target to the buyer's.
    """
    buyer, seller = (scenario[f"{side}_target"] for side in SIDES)
    sl = (price - seller) / (buyer - seller)
    margins = {f"margin_to_{name}": price / scenario[name] - 1 for name in MARGINS}
    return {**margins, "sl": sl, "fairness": max(min(sl, 1 - sl), 0.0)}


def score_deals(
    gold: Mapping[tasks.Key, Scenario], predictions: Mapping[tasks.Key, tasks.Prediction]
) -> tasks.Score:
    """Return how near prices are to the sides' targets: means and medians.

    The points are the reward of upstream's code (craigslistbargain/neural/rl_trainer.py,
    `_margin_reward`): 1 to a side at its target, 0 halfway between the targets, and in a line
    through these, so that one side's are the other's negated; without a deal -0.5 to both.
    """

    def of(name: str) -> Callable[[Scenario, float | None], float]:
        return lambda scenario, price: 0.0 if price is None else measured(scenario, price)[name]

    of_games = {"sl_with_0_without_deal": of("sl")}
    of_deals = {name: of(name) for name in (*MEDIANS, "fairness")}
    found = tasks.score_games(gold, predictions, "price", points, of_games, of_deals)
    pairs = zip(gold.values(), predictions.values(), strict=True)
    deals = [measured(row, each["price"]) for row, each in pairs if each.get("price") is not None]
    none = tasks.Undefined("no scenario has a deal")
    medians = {n: median(each[n] for each in deals) if deals else none for n in MEDIANS}
    metrics = {**found.metrics, "median": medians}
    return tasks.Score(
        metrics, found.counts, {**found.without_interval, "median": "it is a median"}
    )


def a_price(value: float) -> None:
    """Check that a post may have a price."""
    if not 0 <= value <= HIGHEST:
        raise ValueError(f"a price from 0 to {HIGHEST:,}")


def humans(data: Data, split: str = "test") -> Iterator[tasks.Prediction]:
    """Predict the first dialogue of each scenario: its price, its turns and who quit.

    Messages and actions are turns of their own. Most dialogues without a deal end otherwise.
    """
    prices = {row["dialogue_id"]: row["deal_price"] for row in data.rows("outcomes", split)}
    turns, last = defaultdict[str, Counter[str]](Counter), dict[str, dict[str, Any]]()
    for row in data.rows_with_names("utterances", split):
        turns[row["dialogue_id"]][row["speaker"]] += 1
        last[row["dialogue_id"]] = row
    for (scenario_id,), row in scenarios(data, split).items():
        first = row["dialogue_ids"][0]
        has_quit = last[first]["action"] == "quit"
        walked_away = {"walked_away": last[first]["speaker"]} if has_quit else {}
        counts = {"turns": {side: turns[first][side] for side in SIDES}}
        yield {"scenario_id": scenario_id, "price": prices[first], **walked_away, **counts}


def halfway(data: Data, split: str = "test") -> Iterator[tasks.Prediction]:
    """Predict the price halfway between the targets."""
    for (scenario_id,), row in scenarios(data, split).items():
        price = (row["buyer_target"] + row["seller_target"]) / 2
        yield {"scenario_id": scenario_id, "price": price}


DEALS = tasks.Task(
    summary="the price that agents agree on when they negotiate a scenario, if any",
    evaluated_on="scenarios of test with a unique id",
    configs=("scenarios", "outcomes", "utterances"),
    key={"scenario_id": Field(str, "a scenario of test with a unique id")},
    answer={
        "price": Field(
            (Checked((float, int), a_price), None),
            f"of the deal, in dollars, from 0 to {HIGHEST:,}; null without a deal",
        )
    },
    metrics=tasks.GAME_METRICS
    | {
        "points": "points of a side, linear in the price and without bounds: 1 at its target, 0 "
        "halfway between the targets, -1 at the other's target; -0.5 without a deal; mean over "
        "scenarios",
        "sl_with_0_without_deal": "sl, with 0 for scenarios without a deal; mean over scenarios",
        "margin_to_list_price": "price / listing price - 1, mean over deals",
        "margin_to_buyer_target": "price / buyer's target - 1, mean over deals",
        "margin_to_seller_target": "price / seller's target - 1, mean over deals",
        "sl": "SL%: (price - seller's target) / (buyer's target - seller's target), unbounded "
        "as in papers: below 0 if the price is over the seller's target, over 1 if under the "
        "buyer's; mean over deals",
        "fairness": "the smaller of the two sides' shares of the distance between the targets, "
        "0 to 0.5; mean over deals",
        "median": "medians over deals",
    },
    inputs="its own side's view of the post and target, and the turns of both sides",
    columns=(
        *(f"scenarios.{name}" for name in ("category", "title", "list_price")),
        "scenarios.*_description",
        "scenarios.*_target",
    ),
    asking=tasks.Playing(
        "1",
        SIDES,
        lambda data, **options: scenarios(data, **options).items(),
        prompt,
        read_offer,
        points,
        agreed="price",
        agents={"firm": firm, "concede": concede, "joint": joint},
    ),
    subsets=SUBSETS,
    clusters={"scenarios": None},
    gold=scenarios,
    score=score_deals,
    ends=tasks.GAME_ENDS
    | dict.fromkeys(("points", "median_points", *MEDIANS, "median"), (-math.inf, math.inf))
    | {"sl_with_0_without_deal": (-math.inf, math.inf), "fairness": (0, 0.5)}
    | {f"margin_to_{name}": (-1, math.inf) for name in MARGINS},
    per_prediction=("deals", "sl_with_0_without_deal"),
    baselines={"humans": humans, "halfway": halfway},
    references=(
        tasks.Reference(
            "humans",
            note="the first dialogue of each scenario, so that all count alike; prices include "
            "slips; an action is a turn of its own; of those without a deal, few end with a quit",
        ),
    ),
)
