"""The task `deals`: the prices that agents agree on when they negotiate the scenarios of test.

A change of a rule, prompt or reader needs a new `version`: a test holds the sha256 of the sample's
prompts.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from parley.errors import Problem
from parley.figures import Data
from parley.questions import NegotiationRules, NegotiationState, make_game
from parley.tasks import (
    MEASURED,
    UNREADABLE,
    Key,
    Prediction,
    Reference,
    Score,
    Task,
    Undefined,
    interval,
    resamples,
)

from ..subsets import SUBSETS
from ..views import SIDES, dollars

Scenario = dict[str, Any]

# The game -------------------------------------------------------------------------------

HIGHEST = 1_000_000_000  # a price; the highest list price is far below
WITHOUT_DEAL = -0.5  # the utility of a side that walks away, as in upstream's code


def scenarios(data: Data, split: str = "test") -> dict[Key, Scenario]:
    """Return the scenarios of a split with a unique id."""
    rows = data.named("scenarios", split)
    named = Counter(row["scenario_id"] for row in rows)
    return {(row["scenario_id"],): row for row in rows if named[row["scenario_id"]] == 1}


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


# Scripted agents ------------------------------------------------------------------------


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


# The score ------------------------------------------------------------------------------

UTILITIES = ("buyer_utility", "seller_utility")
MARGINS = ("margin_to_list_price", "margin_to_buyer_target", "margin_to_seller_target")
MEDIANS = (*MARGINS, "sl")


def score_deals(gold: Mapping[Key, Scenario], predictions: Mapping[Key, Prediction]) -> Score:
    """Return how near prices are to the sides' targets, on average over scenarios.

    The utility is the reward of upstream's code (craigslistbargain/neural/rl_trainer.py,
    `_margin_reward`): 1 to a side at its target, 0 halfway between the targets, and in a line
    through these, so that one side's is the other's negated; without a deal -0.5 to both. `sl` is
    the SL% of papers, the share of the way from the seller's target to the buyer's. Unreadable
    predictions make the utilities undefined.
    """
    import numpy as np

    scenarios, prices = gold.values(), [each.get("price") for each in predictions.values()]
    price = np.array([np.nan if each is None else each for each in prices], dtype=float)
    listed, buyer, seller = (
        np.array([row[column] for row in scenarios], dtype=float)
        for column in ("list_price", "buyer_target", "seller_target")
    )
    no_deal = np.isnan(price)
    unread = np.array([UNREADABLE in each for each in predictions.values()])
    over_time = np.array([each.get("end") == "turn_limit" for each in predictions.values()])
    utility = (price - (buyer + seller) / 2) / ((seller - buyer) / 2)
    margins = {
        name: price / of - 1 for name, of in zip(MARGINS, (listed, buyer, seller), strict=True)
    }
    sl = (price - seller) / (buyer - seller)
    of_deals = {**margins, "sl": sl, "fairness": np.clip(np.minimum(sl, 1 - sl), 0, None)}
    values = {
        "success_rate": ~no_deal * 1.0,
        "walk_aways": (no_deal & ~over_time & ~unread) * 1.0,
        "turn_limits": over_time * 1.0,
        "unreadable": unread * 1.0,
        **of_deals,
        "sl_with_0_without_deal": np.where(no_deal, 0, sl),
        "buyer_utility": np.where(no_deal, WITHOUT_DEAL, -utility),
        "seller_utility": np.where(no_deal, WITHOUT_DEAL, utility),
        "below_walk_away": np.where(unread, 1, (abs(utility) > -WITHOUT_DEAL) / len(SIDES)),
    }

    def mean(found: Any) -> float:
        return float(found.mean()) if len(found := found[~np.isnan(found)]) else float("nan")

    metrics: dict[str, Any] = {name: mean(each) for name, each in values.items()}
    drawn = resamples(len(price))
    spread = {name: interval([mean(each[k]) for k in drawn]) for name, each in values.items()}
    if no_deal.all():
        none = Undefined("no scenario has a deal")
        metrics |= dict.fromkeys(of_deals, none) | {"median": dict.fromkeys(MEDIANS, none)}
    else:
        metrics["median"] = {n: float(np.median(of_deals[n][~no_deal])) for n in MEDIANS}
    if unread.any():
        why = f"{unread.sum()} of {len(price)} negotiations are unreadable"
        metrics |= dict.fromkeys(UTILITIES, Undefined(why))
        spread |= dict.fromkeys(UTILITIES)
    known = {name: found for name, found in spread.items() if found is not None}
    counts = {"scenarios": len(price), "deals": int((~no_deal).sum())}
    return Score(metrics, known, counts)


def no_price(prediction: Prediction, _: Scenario) -> Iterator[Problem]:
    """Object to a price that no post has, and to an end beside a price."""
    if "end" in prediction and prediction["price"] is not None:
        yield Problem("end", "no field, as there is a price", prediction["end"])
    if prediction["price"] is not None and not 0 <= prediction["price"] <= HIGHEST:
        yield Problem("price", f"from 0 to {HIGHEST:,}, or null", str(prediction["price"]))


# Baselines ------------------------------------------------------------------------------


def humans(data: Data, split: str = "test") -> Iterator[Prediction]:
    """Predict the price of each scenario's first dialogue."""
    prices = {row["dialogue_id"]: row["deal_price"] for row in data.rows("outcomes", split)}
    for (scenario_id,), row in scenarios(data, split).items():
        yield {"scenario_id": scenario_id, "price": prices[row["dialogue_ids"][0]]}


def halfway(data: Data, split: str = "test") -> Iterator[Prediction]:
    """Predict the price halfway between the targets."""
    for (scenario_id,), row in scenarios(data, split).items():
        price = (row["buyer_target"] + row["seller_target"]) / 2
        yield {"scenario_id": scenario_id, "price": price}


# The task -------------------------------------------------------------------------------

DEALS = Task(
    category="text-generation",
    summary="the price that agents agree on when they negotiate a scenario, if any",
    evaluated_on="scenarios of test with a unique id",
    configs=("scenarios", "outcomes"),
    fields={
        "scenario_id": "a scenario of test with a unique id",
        "price": f"of the deal, in dollars, from 0 to {HIGHEST:,}; null without a deal",
        "end": "turn_limit if the negotiation ended at its turn limit without a deal; "
        "otherwise no field, and null means walking away",
    },
    shape={"scenario_id": str, "price": (float, int, None), "end?": {"turn_limit"}},
    key=("scenario_id",),
    example={"scenario_id": "S_FM9Vz1N8VPcJ5WzA", "price": 4000.0},
    metrics={
        "success_rate": "share of scenarios with a deal",
        "walk_aways": "share of scenarios in which a side walks away",
        "turn_limits": "share of scenarios that end at the turn limit",
        "unreadable": "share of scenarios with an unreadable turn",
        "margin_to_list_price": "price / listing price - 1, mean over deals",
        "margin_to_buyer_target": "price / buyer's target - 1, mean over deals",
        "margin_to_seller_target": "price / seller's target - 1, mean over deals",
        "sl": "SL%: (price - seller's target) / (buyer's target - seller's target), mean over "
        "deals",
        "fairness": "the smaller side's share of the distance between the targets, 0 to 0.5; "
        "mean over deals",
        "sl_with_0_without_deal": "sl, with 0 for scenarios without a deal; mean over scenarios",
        "buyer_utility": "linear in the price: 1 at the buyer's target, -1 at the seller's; "
        "-0.5 without a deal; mean over scenarios",
        "seller_utility": "the seller's; in a deal, the negated utility of the buyer",
        "below_walk_away": "share of sides with a utility below -0.5; 1 if unreadable",
        "median": "medians over deals",
    },
    inputs="its own side's view of the post and target, and the turns of both sides",
    columns=(
        *(f"scenarios.{name}" for name in ("category", "title", "list_price")),
        "scenarios.*_description",
        "scenarios.*_target",
    ),
    asking=make_game(
        NegotiationRules(SIDES, prompt, read_offer),
        "1",
        lambda data, **options: scenarios(data, **options).items(),
        points,
        agreed="price",
        people="humans",
        agents={"firm": firm, "concede": concede, "joint": joint},
    ),
    subsets=SUBSETS,
    dialogues=lambda _, row: row["dialogue_ids"],
    gold=scenarios,
    score=score_deals,
    unit="utilities and fractions",
    per_prediction=("success_rate", "sl_with_0_without_deal", "below_walk_away"),
    validate=no_price,
    baselines={"humans": humans, "halfway": halfway},
    references=(
        Reference(
            "humans",
            {
                "walk_aways": "0.241",
                "margin_to_list_price": "-0.171",
                "margin_to_buyer_target": "0.184",
                "margin_to_seller_target": "-0.171",
                "buyer_utility": "0.317",
                "seller_utility": "-0.558",
            },
            MEASURED,
            "the first dialogue of each scenario, so that all count alike; prices include slips",
        ),
    ),
)
