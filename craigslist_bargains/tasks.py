"""CraigslistBargains' tasks: predict whether there is a deal, and deals of agents."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from parley import (
    MEASURED,
    UNREADABLE,
    Data,
    Interval,
    Key,
    Prediction,
    Problem,
    Reference,
    Score,
    Task,
    Undefined,
    UsageError,
    interval,
    resamples,
)

from .game import GAME, HIGHEST, WITHOUT_DEAL, scenarios
from .prompts import DEAL, before_actions
from .subsets import SUBSETS
from .views import SIDES

Row = dict[str, Any]

# Was a deal reached? ----------------------------------------------------------------------


def deals_reached(data: Data, split: str = "test") -> dict[Key, bool]:
    """Whether each dialogue of a split ends in a deal."""
    return {(row["dialogue_id"],): row["deal"] for row in data.rows("outcomes", split)}


def score_deal(gold: Mapping[Key, bool], predictions: Mapping[Key, Prediction]) -> Score:
    """Score probabilities of a deal.

    An unreadable prediction is wrong and predicts neither class; it makes AUC undefined.
    """
    import numpy as np
    from sklearn.metrics import f1_score, roc_auc_score

    reached = np.array(list(gold.values()))
    given = [prediction.get("probability", np.nan) for prediction in predictions.values()]
    chances = np.array(given, float)
    yes, no = chances >= 0.5, chances < 0.5
    unread = int(np.isnan(chances).sum())
    why = f"{unread} of {len(given)} predictions are unreadable" if unread else ""
    if reached.all() or not reached.any():  # as in a sample may be
        why = "all end alike"
    pairs = ((~reached, no), (reached, yes))
    metrics = {
        "auc": Undefined(why) if why else float(roc_auc_score(reached, chances)),
        "accuracy": float(np.where(reached, yes, no).mean()),
        "macro_f1": float(np.mean([f1_score(*pair, zero_division=0) for pair in pairs])),
    }
    drawn = resamples(len(reached))
    spread = {name: interval(values) for name, values in drawn_metrics(reached, chances, drawn)}
    if why:
        spread["auc"] = None
    return Score(metrics, _known(spread), {"dialogues": len(reached), "deals": int(reached.sum())})


def drawn_metrics(reached: Any, chances: Any, drawn: Any) -> Iterator[tuple[str, Any]]:
    """Yield the same metrics of each sample, drawn places in a row, all samples at once."""
    import numpy as np
    from scipy.stats import rankdata

    truth, chance = reached[drawn], chances[drawn]
    yes = truth.sum(axis=1)
    no = truth.shape[1] - yes
    above = (rankdata(chance, axis=1) * truth).sum(axis=1) - yes * (yes + 1) / 2
    yield "auc", np.divide(above, yes * no, out=np.full(len(yes), np.nan), where=yes * no > 0)
    said, denied = chance >= 0.5, chance < 0.5  # NaN, of an unreadable one, is neither
    yield "accuracy", np.where(truth, said, denied).mean(axis=1)
    both = [(said & truth, said, truth), (denied & ~truth, denied, ~truth)]
    right, *either = np.array([[each.sum(axis=1) for each in part] for part in both]).swapaxes(0, 1)
    of = np.maximum(sum(either), 1)  # F1 of a class that is neither there nor predicted is 0
    yield "macro_f1", (2 * right / of).mean(axis=0)


def _known(spread: Mapping[str, Interval | None]) -> dict[str, Interval]:
    return {name: found for name, found in spread.items() if found is not None}


def no_probability(prediction: Prediction, _: bool) -> Iterator[Problem]:
    """Object to a number that is no probability."""
    if not 0 <= prediction["probability"] <= 1:
        yield Problem("probability", "from 0 to 1", str(prediction["probability"]))


def trained_on(data: Data, split: str) -> str:
    """Return the split that baselines learn from: train where it was built, else validation.

    Raises:
        UsageError: it is the split to predict.
    """
    learnt = "train" if "train" in data.splits("outcomes") else "validation"
    if learnt == split:
        raise UsageError(f"this baseline learns from {learnt}, which holds the subset")
    return learnt


def majority(data: Data, split: str = "test") -> Iterator[Prediction]:
    """Predict the share of deals for all."""
    reached = [row["deal"] for row in data.rows("outcomes", trained_on(data, split))]
    share = sum(reached) / len(reached)
    for row in data.rows("outcomes", split):
        yield {"dialogue_id": row["dialogue_id"], "probability": share}


def from_acts(data: Data, split: str = "test") -> Iterator[Prediction]:
    """Predict by gradient boosting on the acts of the messages before any other action.

    The features of each side: messages by intent, and last price over listing price.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier
    from threadpoolctl import threadpool_limits  # a part of scikit-learn's own needs

    learnt = trained_on(data, split)
    model = HistGradientBoostingClassifier(random_state=0)
    reached = [row["deal"] for row in data.rows("outcomes", learnt)]
    with threadpool_limits(1):  # several threads are slower on so little data
        model.fit(acts_counted(data, learnt), reached)
        chances = model.predict_proba(acts_counted(data, split))[:, 1]
    for row, chance in zip(data.rows("outcomes", split), chances, strict=True):
        yield {"dialogue_id": row["dialogue_id"], "probability": float(chance)}


def acts_counted(data: Data, split: str) -> list[list[float]]:
    """Return the features of each dialogue for `from_acts`; NaN is a price not named."""
    intents = data.features("dialogue_acts")["intent"].names
    said = before_actions(data.named("dialogue_acts", split))
    found = []
    for row in data.rows("outcomes", split):
        numbers: list[float] = []
        for side in SIDES:
            acts = [act for act in said[row["dialogue_id"]] if act["speaker"] == side]
            counts = Counter(act["intent"] for act in acts)
            prices = [act["price"] for act in acts if act["price"] is not None]
            numbers += [counts[intent] for intent in intents]
            numbers.append(prices[-1] / row["list_price"] if prices else float("nan"))
        found.append(numbers)
    return found


# Deals of agents ----------------------------------------------------------

UTILITIES = ("buyer_utility", "seller_utility")
MARGINS = ("margin_to_list_price", "margin_to_buyer_target", "margin_to_seller_target")
MEDIANS = (*MARGINS, "sl")


def score_deals(gold: Mapping[Key, Row], predictions: Mapping[Key, Prediction]) -> Score:
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
    counts = {"scenarios": len(price), "deals": int((~no_deal).sum())}
    return Score(metrics, _known(spread), counts)


def no_price(prediction: Prediction, _: Row) -> Iterator[Problem]:
    """Object to a price that no post has, and to an end beside a price."""
    if "end" in prediction and prediction["price"] is not None:
        yield Problem("end", "no field, as there is a price", prediction["end"])
    if prediction["price"] is not None and not 0 <= prediction["price"] <= HIGHEST:
        yield Problem("price", f"from 0 to {HIGHEST:,}, or null", str(prediction["price"]))


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


# The tasks ----------------------------------------------------------------------------------

TASKS = {
    "deal": Task(
        summary="whether a negotiation ends in a deal, from its messages alone",
        evaluated_on="dialogues of test",
        configs=("outcomes", "dialogue_acts"),
        fields={
            "dialogue_id": "a dialogue of test",
            "probability": "of a deal, from 0 to 1; from 0.5 on it counts as a yes",
        },
        shape={"dialogue_id": str, "probability": (float, int)},
        key=("dialogue_id",),
        example={"dialogue_id": "C_26384e52efd21aa63e37f6bc3a1c922a", "probability": 0.81},
        metrics={
            "auc": "area under the ROC curve",
            "accuracy": "share of right dialogues",
            "macro_f1": "mean F1 of the two classes, deal and no deal",
        },
        inputs="the category, the listing price, and the messages before any other action",
        columns=("outcomes.category", "outcomes.list_price", "utterances.text"),
        leak="the config `messages` ends in words such as [I accept.], which give an AUC of .998; "
        "`acts` without them gives .856",
        asking=DEAL,
        subsets=SUBSETS,
        gold=deals_reached,
        score=score_deal,
        target=lambda reached: {"probability": float(reached)},
        per_prediction=("accuracy",),
        validate=no_probability,
        baselines={"majority": majority, "acts": from_acts},
        references=(
            Reference(
                "majority", {"auc": "0.500", "accuracy": "0.761", "macro_f1": "0.432"}, MEASURED
            ),
            Reference(
                "acts",
                {"auc": "0.856", "accuracy": "0.847", "macro_f1": "0.774"},
                MEASURED,
                "gradient boosting on counts of dialogue acts and last prices before the first "
                "offer, learnt from validation's 597 dialogues, because train was missing",
            ),
        ),
    ),
    "deals": Task(
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
            "sl_with_0_without_deal": "sl, with 0 for scenarios without a deal; mean over "
            "scenarios",
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
        asking=GAME,
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
                "the first dialogue of each scenario, so that all count alike; prices include "
                "slips",
            ),
        ),
    ),
}
