"""CaSiNo's tasks: strategies, the partner's priorities, the deal, outcomes, new deals.

The first two are in percent, means over the five folds that their authors published, with the
sample SD over the folds.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from statistics import median
from typing import Any

from parley import (
    MEASURED,
    UNREADABLE,
    Data,
    Key,
    Prediction,
    Problem,
    Reference,
    Score,
    Task,
    means,
    over_folds,
)

from . import prompts
from .game import GAME
from .scenarios import (
    ISSUES,
    PACKAGES,
    POINTS,
    SIDES,
    WALK_AWAY,
    Items,
    Priorities,
    is_pareto_optimal,
    most_joint_points,
    points_of,
)
from .subsets import SUBSETS
from .views import LIKENESS, PARTNER, SATISFACTION

# Strategies of an utterance: NAACL 2021, section 5 -------------------------------------------

SEVEN = tuple(prompts.DEFINITIONS)
"""The labels of the task, in the order of the paper's tables.

The paper leaves out showing-empathy and promote-coordination, on which its annotators agreed too
little; an utterance that is only non-strategic has none of the seven.
"""

Labels = Callable[[list[str], Any, list[str]], Any]
"""Takes texts, their labels as a matrix of texts by `SEVEN`, and unseen texts; returns theirs."""


def strategies_gold(data: Data) -> dict[Key, tuple[int, set[str]]]:
    """Return (dialogue_id, turn) -> fold and those of the seven labels that the utterance has."""
    return {
        (row["dialogue_id"], row["turn"]): (row["fold"], {*SEVEN}.intersection(row["labels"]))
        for row in data.named("strategies", "train")
    }


def matrix(labels: Iterable[Iterable[str]]) -> Any:
    """Return labels as an array of bool, utterances by `SEVEN`."""
    import numpy as np

    return np.array([[label in each for label in SEVEN] for each in labels])


def positive_f1(truth: Any, predicted: Any) -> list[float]:
    """Return F1 of each of the seven labels, in percent.

    scikit-learn's, of the class that has the label; 0 for a label that is neither true nor
    predicted, as in the authors' code.
    """
    from sklearn.metrics import f1_score

    return [100 * float(f1) for f1 in f1_score(truth, predicted, average=None, zero_division=0.0)]


def strategies_score(
    gold: Mapping[Key, tuple[int, set[str]]], predictions: Mapping[Key, Prediction]
) -> Score:
    """Score labels: F1 by label, its mean over the labels, and utterances with all seven right.

    Each is computed in each fold, and then the mean over the folds is taken. An unreadable
    prediction misses every label, and never has all seven right.
    """
    import numpy as np

    by_label, f1, joint = [], [], []
    for fold in sorted({fold for fold, _ in gold.values()}):
        keys = [key for key, (each, _) in gold.items() if each == fold]
        truth = matrix(gold[key][1] for key in keys)
        predicted = matrix(predictions[key].get("labels", ()) for key in keys)
        is_read = np.array([UNREADABLE not in predictions[key] for key in keys])
        by_label.append(positive_f1(truth, predicted))
        f1.append(sum(by_label[-1]) / len(SEVEN))
        joint.append(100 * float(((truth == predicted).all(axis=1) & is_read).mean()))
    metrics, spread = over_all({"f1": f1, "joint_accuracy": joint})
    labels, deviations = over_all(dict(zip(SEVEN, zip(*by_label, strict=True), strict=True)))
    counts = {"utterances": len(gold), "dialogues": len({number for number, _ in gold})}
    metrics, spread = metrics | {"f1_by_label": labels}, spread | {"f1_by_label": deviations}
    return Score(metrics, spread, counts | {"folds": len(f1)})


def over_all(found: Mapping[str, Sequence[float]]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return metrics and their spread, from their values in each fold."""
    folds = {name: over_folds(values) for name, values in found.items()}
    metrics, spread = ({name: each[n] for name, each in folds.items()} for n in (0, 1))
    return metrics, spread


def one_label_twice(prediction: Prediction, gold: Any) -> Iterator[Problem]:
    """Object to a repeated label."""
    labels = prediction["labels"]
    if len(set(labels)) < len(labels):
        yield Problem("labels", "each label once", str(labels))


def learning(labels: Labels) -> Callable[[Data], Iterator[Prediction]]:
    """Return the baseline that learns from the utterances of the other folds."""

    def predict(data: Data) -> Iterator[Prediction]:
        rows = data.named("strategies", "train")
        for fold in sorted({row["fold"] for row in rows}):
            known = [row for row in rows if row["fold"] != fold]
            unseen = [row for row in rows if row["fold"] == fold]
            truth = matrix(row["labels"] for row in known)
            texts = ([row["text"] for row in part] for part in (known, unseen))
            for row, found in zip(unseen, labels(next(texts), truth, next(texts)), strict=True):
                named = [label for label, has in zip(SEVEN, found, strict=True) if has]
                yield {"dialogue_id": row["dialogue_id"], "turn": row["turn"], "labels": named}

    return predict


def majority(texts: list[str], truth: Any, unseen: list[str]) -> Any:
    """Give each utterance the labels that most of those in training have."""
    return [truth.mean(axis=0) > 0.5] * len(unseen)


def bag_of_words(texts: list[str], truth: Any, unseen: list[str]) -> Any:
    """Predict by logistic regression on word counts: a model a label, scikit-learn's defaults."""
    from sklearn.feature_extraction.text import CountVectorizer

    return regressed(CountVectorizer(), texts, truth, unseen)


def tf_idf(texts: list[str], truth: Any, unseen: list[str]) -> Any:
    """Predict by logistic regression on tf-idf of words and of two in a row, classes balanced."""
    return regressed(word_pairs(), texts, truth, unseen, C=5, class_weight="balanced")


def word_pairs() -> Any:
    """Return tf-idf of the words, and of two in a row, that two texts have; 1 + log of counts."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True)


def regressed(
    vectors: Any, texts: list[str], truth: Any, unseen: list[str], **settings: Any
) -> Any:
    """Return what logistic regression predicts, a model for each column of `truth`."""
    import numpy as np
    from sklearn.linear_model import LogisticRegression
    from threadpoolctl import threadpool_limits

    known, new = vectors.fit_transform(texts), vectors.transform(unseen)
    predicted = np.empty((len(unseen), truth.shape[1]), dtype=truth.dtype)
    with threadpool_limits(1):  # more threads take longer on matrices of this size
        for number, column in enumerate(truth.T):
            if len(set(column)) == 1:  # as in a sample
                predicted[:, number] = column[0]
            else:
                model = LogisticRegression(max_iter=1000, **settings).fit(known, column)
                predicted[:, number] = model.predict(new)
    return predicted


TABLE_11 = {"Majority": "0.0", "LR-BoW": "49.6", "BERT-FT": "69.9", "Freeze": "62.3"}
TABLE_11 |= {"No Attn": "66.6", "No Feats": "77.6", "Full": "78.1", "Full+OS": "77.9"}
TABLE_11 |= {"Full+IDPT": "79.6", "Full+IDPT+OS": "79.6"}


def reached(baseline: str, f1: str, joint: str, by_label: str) -> Reference:
    """Return the scores of a baseline, as measured."""
    labels = dict(zip(SEVEN, by_label.split(), strict=True))
    metrics = {"f1": f1, "joint_accuracy": joint, "f1_by_label": labels}
    return Reference(baseline, metrics, MEASURED)


STRATEGIES = Task(
    summary="the negotiation strategies of an utterance, out of seven",
    evaluated_on="strategies, the test parts of the authors' five folds",
    configs=("strategies",),
    fields={
        "dialogue_id": "the dialogue, an integer",
        "turn": "the turn of the utterance, from 0, as in the config strategies",
        "labels": f"its strategies, none or more of {', '.join(SEVEN)}",
    },
    shape={"dialogue_id": int, "turn": int, "labels": [set(SEVEN)]},
    key=("dialogue_id", "turn"),
    example={"dialogue_id": 7, "turn": 0, "labels": ["small-talk", "elicit-pref"]},
    metrics={
        "f1": "F1 of the positive class, mean over the seven labels; 0 in a fold where a label is "
        "neither in gold nor predicted",
        "joint_accuracy": "utterances with all seven labels right",
        "f1_by_label": "F1 of the positive class; 0 as above",
    },
    inputs="the utterance and the texts before it",
    columns=("strategies.text", "strategies.context"),
    asking=prompts.STRATEGIES,
    subsets=SUBSETS,
    gold=strategies_gold,
    score=strategies_score,
    target=lambda gold: {"labels": [label for label in SEVEN if label in gold[1]]},
    per_prediction=("joint_accuracy",),
    validate=one_label_twice,
    baselines={
        "majority": learning(majority),
        "lr-bow": learning(bag_of_words),
        "lr-tfidf": learning(tf_idf),
    },
    references=(
        *(Reference(n, {"f1": f1}, "paper, Table 11 (validation)") for n, f1 in TABLE_11.items()),
        Reference("Majority", {"joint_accuracy": "39.4"}, "paper, section 5"),
        reached("majority", "0.0", "39.54", "0.0 0.0 0.0 0.0 0.0 0.0 0.0"),
        reached("lr-bow", "52.8", "61.1", "70.7 65.0 55.8 23.1 61.6 31.7 61.7"),
        reached("lr-tfidf", "57.4", "58.7", "73.4 67.2 63.7 31.9 69.7 35.1 61.0"),
    ),
    unit="percent",
    decimals=2,
)

# The partner's priorities: Findings of NAACL 2022 --------------------------------------------


def an_order(value: Any) -> None:
    """Check an order: three places, each an item or null, no item twice."""
    ranked = [item for item in value if item is not None] if isinstance(value, list) else []
    if not isinstance(value, list) or len(value) != len(ISSUES):
        raise ValueError(f"a list of {len(ISSUES)}")
    if any(item not in ISSUES or ranked.count(item) > 1 for item in ranked):
        raise ValueError(f"each of {', '.join(ISSUES)} once, or null for a place left open")


def orders_of(data: Data) -> dict[tuple[int, str], list[str]]:
    """Return (dialogue_id, speaker) -> a side's items by its own priorities, the highest first."""
    return {
        (row["dialogue_id"], row["speaker"]): [row[f"priority_{level.lower()}"] for level in POINTS]
        for row in data.rows("participants", "train")
    }


def priorities_gold(data: Data) -> dict[Key, tuple[int, list[str]]]:
    """Return (dialogue_id, speaker) -> the fold that tests on it, and the partner's order."""
    fold_of = {
        number: row["fold"]
        for row in data.rows("priority_folds", "train")
        for number in row["test"]
    }
    orders = orders_of(data)
    return {
        (number, side): (fold_of[number], orders[number, PARTNER[side]]) for number, side in orders
    }


_OPEN = [None] * len(ISSUES)


def priorities_score(
    gold: Mapping[Key, tuple[int, list[str]]], predictions: Mapping[Key, Prediction]
) -> Score:
    """Score orders: sides whose whole order is right, and whose highest item is.

    An open place is wrong, and so is an unreadable prediction. Both are means over the folds.
    """
    from sklearn.metrics import accuracy_score

    exact: list[float] = []
    first: list[float] = []
    for fold in sorted({fold for fold, _ in gold.values()}):
        keys = [key for key, (each, _) in gold.items() if each == fold]
        truth = [gold[key][1] for key in keys]
        predicted = [predictions[key].get("order", _OPEN) for key in keys]
        for found, depth in ((exact, len(ISSUES)), (first, 1)):
            tops = [[str(order[:depth]) for order in each] for each in (truth, predicted)]
            found.append(100 * float(accuracy_score(*tops)))
    counts = {"sides": len(gold), "dialogues": len({number for number, _ in gold})}
    metrics, spread = over_all({"exact_order": exact, "top_1": first})
    return Score(metrics, spread, counts | {"folds": len(exact)})


def guesses(data: Data) -> Iterator[Prediction]:
    """Predict the participants' own guesses of the highest and the lowest item.

    If both are the same item, only the highest counts, so no order is right by chance.
    """
    for row in data.rows("participants", "train"):
        highest, lowest = row["guess_partner_highest_item"], row["guess_partner_lowest_item"]
        order = [highest, None, None]
        if highest != lowest:
            (between,) = {*ISSUES} - {highest, lowest}
            order = [highest, between, lowest]
        yield {"dialogue_id": row["dialogue_id"], "speaker": row["speaker"], "order": order}


def from_words(data: Data) -> Iterator[Prediction]:
    """Predict by logistic regression on tf-idf of the partner's texts: six classes.

    It learns from the training part of each fold, without the validation part. The names of deal
    actions are part of the text.
    """
    import numpy as np

    written: dict[Key, list[str]] = defaultdict(list)
    for row in data.rows("utterances", "train"):
        written[row["dialogue_id"], row["speaker"]].append(row["text"])
    orders = orders_of(data)
    for fold in data.rows("priority_folds", "train"):
        known, unseen = (
            [(number, side) for number in fold[part] for side in SIDES]
            for part in ("train", "test")
        )
        texts = ([" ".join(written[key]) for key in keys] for keys in (known, unseen))
        truth = np.array([[" ".join(orders[key])] for key in known])
        found = regressed(word_pairs(), next(texts), truth, next(texts), C=5)
        for (number, side), (order,) in zip(unseen, found, strict=True):
            yield {"dialogue_id": number, "speaker": PARTNER[side], "order": str(order).split(" ")}


PRIORITIES = Task(
    summary="the partner's order of the three items, from one side's view",
    evaluated_on="participants, the test parts of the five folds of priority_folds",
    configs=("participants", "priority_folds", "utterances"),
    fields={
        "dialogue_id": "the dialogue, an integer",
        "speaker": "the side that guesses, mturk_agent_1 or mturk_agent_2",
        "order": "its partner's items from high to low priority: Food, Water and Firewood, each "
        "once; null for an open place, which is never right",
    },
    shape={"dialogue_id": int, "speaker": set(SIDES), "order": an_order},
    key=("dialogue_id", "speaker"),
    example={"dialogue_id": 7, "speaker": "mturk_agent_1", "order": ["Water", "Firewood", "Food"]},
    metrics={
        "exact_order": "sides with the partner's whole order right",
        "top_1": "sides with the partner's highest item right",
    },
    inputs="the side's own priorities, and the texts of the dialogue without deal actions",
    columns=("participants.priority_*", "utterances.text"),
    leak="`partner_points_scored` and the packages of the deal give the order away: 66.9 and 80.4 "
    "without any text",
    asking=prompts.PRIORITIES,
    subsets=SUBSETS,
    gold=priorities_gold,
    score=priorities_score,
    target=lambda gold: {"order": gold[1]},
    per_prediction=("exact_order", "top_1"),
    baselines={"guesses": guesses, "lr-tfidf": from_words},
    references=(
        Reference("chance", {"exact_order": "16.7", "top_1": "33.3"}, "one of six orders"),
        Reference(
            "guesses",
            {"exact_order": "53.9", "top_1": "76.7"},
            MEASURED,
            "the participants' own, after the chat",
        ),
        Reference("lr-tfidf", {"exact_order": "40.6", "top_1": "61.5"}, MEASURED),
    ),
    unit="percent",
    decimals=2,
)

# The final deal of a dialogue -------------------------------------------------------------


def final_deal_gold(data: Data) -> dict[Key, Any]:
    """Return (dialogue_id,) -> the allocation, None after walking away."""
    return {(each["dialogue_id"],): each["allocation"] for each in people(data)}


def final_deal_score(gold: Mapping[Key, Any], predictions: Mapping[Key, Prediction]) -> Score:
    """Score allocations: dialogues with all right, and items with the right shares."""
    exact, items = [], []
    for key, due in gold.items():
        found = predictions[key].get("allocation", UNREADABLE)
        exact.append(found == due)
        if due is None or not isinstance(found, Mapping):
            items.append(float(found == due))
        else:
            same = [
                all(found[side][issue] == due[side][issue] for side in SIDES) for issue in ISSUES
            ]
            items.append(sum(same) / len(ISSUES))
    counts = {"dialogues": len(gold), "deals": sum(due is not None for due in gold.values())}
    return Score(*means({"exact": exact, "items": items}), counts)


def commonest_deal(data: Data) -> Iterator[Prediction]:
    """Predict the commonest deal of all dialogues for each."""
    found = [*people(data)]
    times = Counter(repr(each["allocation"]) for each in found)
    of_text = {repr(each["allocation"]): each["allocation"] for each in found}
    for each in found:
        yield {**each, "allocation": of_text[most_common(times)]}


def most_common(times: Counter[str]) -> str:
    """Return the name with the highest count, the first in alphabetical order of equal ones."""
    return min(times, key=lambda name: (-times[name], name))


# Outcomes: how satisfied a side is, and how much it likes its partner ---------------------


def outcomes_gold(data: Data) -> dict[Key, tuple[str, str]]:
    """Return (dialogue_id, speaker) -> the side's satisfaction and its liking of the partner."""
    return {
        (row["dialogue_id"], row["speaker"]): (row["satisfaction"], row["opponent_likeness"])
        for row in data.named("participants", "train")
    }


def outcomes_score(
    gold: Mapping[Key, tuple[str, str]], predictions: Mapping[Key, Prediction]
) -> Score:
    """Score answers: sides with the right one of five."""
    names = ("satisfaction", "likeness")
    right = {
        name: [predictions[key].get(name) == due[place] for key, due in gold.items()]
        for place, name in enumerate(names)
    }
    counts = {"sides": len(gold), "dialogues": len({number for number, _ in gold})}
    return Score(*means(right), counts)


def commonest_outcomes(data: Data) -> Iterator[Prediction]:
    """Predict the commonest answers of all sides for each."""
    gold = outcomes_gold(data)
    found = [most_common(Counter(answers)) for answers in zip(*gold.values(), strict=True)]
    answers = dict(zip(("satisfaction", "likeness"), found, strict=True))
    for number, side in gold:
        yield {"dialogue_id": number, "speaker": side, **answers}


# Deals that somebody's agents made of the scenarios ------------------------------------------


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


def wrong_shares(prediction: Prediction, gold: Any) -> Iterator[Problem]:
    """Object to shares of an item that are not all its packages."""
    allocation = prediction["allocation"]
    if allocation and "end" in prediction:
        yield Problem("end", "no field, as there is an allocation", prediction["end"])
    for issue in ISSUES if allocation else ():
        shares = [allocation[side][issue] for side in SIDES]
        if sum(shares) != PACKAGES:
            yield Problem(f"allocation: {issue}", f"{PACKAGES} packages in all", str(shares))


def people(data: Data) -> Iterator[Prediction]:
    """Predict the participants' own deal: the last submitted, if accepted."""
    chats = groupby(data.rows("utterances", "train"), key=lambda row: row["dialogue_id"])
    for number, chat in chats:
        *before, last = (row for row in chat if row["issue2youget"] or row["data"])
        allocation: dict[str, Items] | None = None
        if last["data"] == "accept_deal":
            deal = before[-1]
            mine, theirs = deal["issue2youget"], deal["issue2theyget"]
            allocation = {deal["speaker"]: mine, PARTNER[deal["speaker"]]: theirs}
        yield {"dialogue_id": number, "allocation": allocation}


_SHARE = {issue: set(range(PACKAGES + 1)) for issue in ISSUES}
_ALLOCATION = (dict.fromkeys(SIDES, _SHARE), None)
_SHARES_EXAMPLE = {
    "mturk_agent_1": {"Food": 1, "Water": 3, "Firewood": 0},
    "mturk_agent_2": {"Food": 2, "Water": 0, "Firewood": 3},
}

FINAL_DEAL = Task(
    summary="each side's packages at the end of a dialogue",
    evaluated_on="all scenarios",
    configs=("scenarios", "utterances"),
    fields={
        "dialogue_id": "the dialogue, an integer",
        "allocation": "mturk_agent_1 and mturk_agent_2, each with its packages of Food, Water and "
        "Firewood, together three of each; null if a side walks away",
    },
    shape={"dialogue_id": int, "allocation": _ALLOCATION},
    key=("dialogue_id",),
    example={"dialogue_id": 7, "allocation": _SHARES_EXAMPLE},
    metrics={
        "exact": "dialogues with the whole allocation right",
        "items": "share of items with the right packages, mean over the dialogues; if a side walks "
        "away, all or none",
    },
    inputs="the texts of the dialogue without deal actions",
    columns=("utterances.text",),
    leak="the deal actions and the config `messages` hold the deal",
    asking=prompts.FINAL_DEAL,
    subsets=SUBSETS,
    gold=final_deal_gold,
    score=final_deal_score,
    target=lambda gold: {"allocation": gold},
    per_prediction=("exact", "items"),
    validate=wrong_shares,
    baselines={"commonest": commonest_deal},
    references=(Reference("commonest", {"exact": "0.058", "items": "0.318"}, MEASURED),),
)

_ANSWERS = {"satisfaction": set(SATISFACTION), "likeness": set(LIKENESS)}

OUTCOMES = Task(
    summary="a side's satisfaction with the outcome, and its liking of the partner",
    evaluated_on="all participants",
    configs=("participants", "utterances"),
    fields={
        "dialogue_id": "the dialogue, an integer",
        "speaker": "the side, mturk_agent_1 or mturk_agent_2",
        "satisfaction": f"one of {', '.join(SATISFACTION)}",
        "likeness": f"one of {', '.join(LIKENESS)}",
    },
    shape={"dialogue_id": int, "speaker": set(SIDES), **_ANSWERS},
    key=("dialogue_id", "speaker"),
    example={
        "dialogue_id": 7,
        "speaker": "mturk_agent_1",
        "satisfaction": "Slightly satisfied",
        "likeness": "Extremely like",
    },
    metrics={
        "satisfaction": "share of sides with the right satisfaction",
        "likeness": "share of sides with the right likeness",
    },
    inputs="the texts of the dialogue without deal actions",
    columns=("utterances.text",),
    leak="the partner's answers and both sides' points correlate with a side's answers",
    asking=prompts.OUTCOMES,
    subsets=SUBSETS,
    gold=outcomes_gold,
    score=outcomes_score,
    target=lambda gold: dict(zip(_ANSWERS, gold, strict=True)),
    per_prediction=("satisfaction", "likeness"),
    baselines={"commonest": commonest_outcomes},
    references=(Reference("commonest", {"satisfaction": "0.462", "likeness": "0.481"}, MEASURED),),
)

DEALS = Task(
    summary="the deal that agents reach when they negotiate a scenario",
    evaluated_on="all scenarios",
    configs=("scenarios", "utterances"),
    fields={
        "dialogue_id": "the scenario, an integer",
        "allocation": "mturk_agent_1 and mturk_agent_2, each with its packages of Food, Water and "
        "Firewood, together three of each; null without a deal",
        "end": "turn_limit if the negotiation ended at its turn limit without a deal; otherwise no "
        "field, and null means walking away",
    },
    shape={"dialogue_id": int, "allocation": _ALLOCATION, "end?": {"turn_limit"}},
    key=("dialogue_id",),
    example={"dialogue_id": 7, "allocation": _SHARES_EXAMPLE},
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

TASKS = {
    "strategies": STRATEGIES,
    "partner-priorities": PRIORITIES,
    "final-deal": FINAL_DEAL,
    "outcomes": OUTCOMES,
    "deals": DEALS,
}
