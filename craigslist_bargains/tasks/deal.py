"""The task `deal`: predict from the messages of a negotiation whether it ends in a deal."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from parley import Data, Field, UsageError, tasks

from ..records import SIDES
from ..subsets import SUBSETS
from ..views import dollars

_PROMPT = (
    "A buyer and a seller negotiate over a post on Craigslist. Read their messages, without any "
    "offer or answer to one, and estimate the probability that they reach a deal, from 0 to 1, in "
    "steps of 0.01."
)


def before_actions(rows: Iterable[dict[str, Any]]) -> Mapping[str, list[dict[str, Any]]]:
    """Return the messages of each dialogue before any other action."""
    turns: dict[str, list[dict[str, Any]]] = defaultdict(list)
    acted = set()
    for row in rows:
        if row["action"] != "message":
            acted.add(row["dialogue_id"])
        elif row["dialogue_id"] not in acted:
            turns[row["dialogue_id"]].append(row)
    return turns


def questions(data: Data, split: str = "test") -> Iterator[tasks.Question]:
    """Ask for each dialogue, given the messages before any other action."""
    turns = before_actions(data.rows_with_names("utterances", split))
    for row in data.rows_with_names("outcomes", split):
        talk = tasks.text_of_turns(
            (turn["speaker"], turn["text"]) for turn in turns[row["dialogue_id"]]
        )
        user = f"Category: {row['category']}\nList price: {dollars(row['list_price'])}\n\n"
        user += f"The messages:\n{talk or '(none)'}"
        yield tasks.Question((row["dialogue_id"],), _PROMPT, user)


def deals_reached(data: Data, split: str = "test") -> dict[tasks.Key, dict[str, float]]:
    """Return the probability of a deal in each dialogue of a split: 1 if it ends in one, else 0."""
    rows = data.rows("outcomes", split)
    return {(row["dialogue_id"],): {"probability": float(row["deal"])} for row in rows}


def score_deal(
    gold: Mapping[tasks.Key, Mapping[str, float]], predictions: Mapping[tasks.Key, tasks.Prediction]
) -> tasks.Score:
    """Score probabilities of a deal.

    An unreadable prediction is wrong and predicts neither class; AUC is that of the readable ones.
    """
    import numpy as np

    reached = np.array([right["probability"] for right in gold.values()], bool)
    given = [prediction.get("probability", np.nan) for prediction in predictions.values()]
    chances = np.array(given, float)
    yes, no = chances >= 0.5, chances < 0.5
    classes = tasks.f1_of(~reached, no), tasks.f1_of(reached, yes)
    metrics = {
        "auc": partial(auc, reached, chances),
        "accuracy": np.where(reached, yes, no),
        "macro_f1": partial(tasks.mean_of_known, classes),
    }
    counts = {"dialogues": len(reached), "deals": int(reached.sum())}
    return tasks.Score(metrics, counts, own_rows={"auc": ~np.isnan(chances)})


def auc(reached: Any, chances: Any, rows: Any) -> float | tasks.Undefined:
    """Return the area under the ROC curve by ranks, of those of some rows that have a chance."""
    from scipy.stats import rankdata

    is_read = chances[rows] == chances[rows]  # NaN is not itself
    reached, chances = reached[rows][is_read], chances[rows][is_read]
    deals, others = int(reached.sum()), int((~reached).sum())
    if not deals + others:
        return tasks.Undefined("no prediction is readable")
    if not (deals and others):  # as in a sample may be
        return tasks.Undefined("all end alike")
    above = rankdata(chances)[reached].sum() - deals * (deals + 1) / 2
    return float(above) / (deals * others)


def trained_on(data: Data, split: str) -> str:
    """Return the split that baselines learn from: train where it was built, else validation."""
    other = "train" if "train" in data.splits("outcomes") else "validation"
    if other == split:
        raise UsageError(f"this baseline learns from {other}, which holds the subset")
    return other


def majority(data: Data, split: str = "test") -> Iterator[tasks.Prediction]:
    """Predict the share of deals for all."""
    reached = [row["deal"] for row in data.rows("outcomes", trained_on(data, split))]
    share = sum(reached) / len(reached)
    for row in data.rows("outcomes", split):
        yield {"dialogue_id": row["dialogue_id"], "probability": share}


def from_acts(data: Data, split: str = "test") -> Iterator[tasks.Prediction]:
    """Predict by gradient boosting on the acts of the messages before any other action.

    The features of each side: messages by intent, and last price over listing price.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier
    from threadpoolctl import threadpool_limits  # a part of scikit-learn's own needs

    with threadpool_limits(1):  # several threads are slower on so little data
        yield from learnt(HistGradientBoostingClassifier(random_state=0), acts_counted, data, split)


def from_number(data: Data, split: str = "test") -> Iterator[tasks.Prediction]:
    """Predict by logistic regression on the number of messages before any other action."""
    from sklearn.linear_model import LogisticRegression

    def numbers(data: Data, split: str) -> list[list[int]]:
        return [[len(turns)] for turns in messages(data, split)]

    return learnt(LogisticRegression(), numbers, data, split)


def from_last_message(data: Data, split: str = "test") -> Iterator[tasks.Prediction]:
    """Predict by logistic regression on tf-idf of the last message before any other action."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    def texts(data: Data, split: str) -> list[str]:
        return [" ".join(turn["text"] for turn in turns[-1:]) for turns in messages(data, split)]

    model = make_pipeline(
        TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True),
        LogisticRegression(C=3, class_weight="balanced", max_iter=1000),
    )
    return learnt(model, texts, data, split)


def messages(data: Data, split: str) -> Iterator[list[dict[str, Any]]]:
    """Yield the messages of each dialogue before any other action."""
    turns = before_actions(data.rows_with_names("utterances", split))
    return (turns[row["dialogue_id"]] for row in data.rows("outcomes", split))


def learnt(
    model: Any, features: Callable[[Data, str], Any], data: Data, split: str
) -> Iterator[tasks.Prediction]:
    """Predict by a model that learns from the features of another split."""
    other = trained_on(data, split)
    model.fit(features(data, other), [row["deal"] for row in data.rows("outcomes", other)])
    chances = model.predict_proba(features(data, split))[:, 1]
    for row, chance in zip(data.rows("outcomes", split), chances, strict=True):
        yield {"dialogue_id": row["dialogue_id"], "probability": float(chance)}


def acts_counted(data: Data, split: str) -> list[list[float]]:
    """Return the features of each dialogue for `from_acts`; NaN is a price not named."""
    intents = data.features("dialogue_acts")["intent"].names
    turns = before_actions(data.rows_with_names("dialogue_acts", split))
    found = []
    for row in data.rows("outcomes", split):
        numbers: list[float] = []
        for side in SIDES:
            acts = [act for act in turns[row["dialogue_id"]] if act["speaker"] == side]
            counts = Counter(act["intent"] for act in acts)
            prices = [act["price"] for act in acts if act["price"] is not None]
            numbers += [counts[intent] for intent in intents]
            numbers.append(prices[-1] / row["list_price"] if prices else float("nan"))
        found.append(numbers)
    return found


DEAL = tasks.Task(
    summary="whether a negotiation ends in a deal, from its messages alone",
    evaluated_on="dialogues of test",
    configs=("outcomes", "dialogue_acts"),
    key={"dialogue_id": Field(str, "a dialogue of test")},
    answer={
        "probability": tasks.Number(
            0, 1, "of a deal; from 0.5 on it counts as a yes", "probability_of_a_deal"
        )
    },
    metrics={
        "auc": "area under the ROC curve of the readable predictions",
        "accuracy": "share of right dialogues",
        "macro_f1": "mean F1 of the two classes, deal and no deal, without a class that is neither "
        "in gold nor predicted",
    },
    inputs="the category, the listing price, and the messages before any other action",
    columns=(
        *(f"outcomes.{name}" for name in ("category", "list_price")),
        *(f"utterances.{name}" for name in ("text", "action")),  # of which one ends what is shown
    ),
    leak="the config `messages` ends in words such as [I accept.], which give the deal away",
    asking=tasks.Asking("1", questions, max_tokens=60, examples={"split": "validation"}),
    subsets=SUBSETS,
    gold=deals_reached,
    score=score_deal,
    per_prediction=("accuracy",),
    baselines={
        "majority": majority,
        "messages": from_number,
        "acts": from_acts,
        "last-message": from_last_message,
    },
    references=(
        tasks.Reference("majority"),
        tasks.Reference(
            "messages",
            note="a logistic regression on the number of messages before the first offer alone, "
            "learnt from the same dialogues as the others",
        ),
        tasks.Reference(
            "acts",
            note="gradient boosting on counts of dialogue acts and last prices before the first "
            "offer, learnt from validation's 597 dialogues, because train was missing",
        ),
        tasks.Reference(
            "last-message",
            note="tf-idf and a logistic regression on the last message before the first offer, "
            "learnt from the same dialogues",
        ),
    ),
)
