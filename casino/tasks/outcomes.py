"""How satisfied a side is, and how much it likes its partner."""

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from parley import Data, Field, tasks

from ..records import LIKENESS, SATISFACTION
from ..scenarios import SIDES
from ..subsets import SUBSETS
from .moments import END, moments
from .shared import SETTING, heard, participants_by

_OUTCOMES = (
    f"{SETTING} After the talk each of them said how satisfied it was with the outcome and how "
    "much it liked the other. Read the talk of You and Partner and give the two answers of You.\n"
    f"satisfaction: one of {', '.join(SATISFACTION)}.\n"
    f"likeness: one of {', '.join(LIKENESS)}."
)
SCALES = {"satisfaction": SATISFACTION, "likeness": LIKENESS}


def outcomes(data: Data) -> Iterator[tasks.Question]:
    """Ask for each side's satisfaction and its liking of the partner, given the talk."""
    for moment in moments(data, END):
        user = f"The talk:\n{heard(moment.talk, moment.speaker)}"
        yield tasks.Question(moment.side_key, _OUTCOMES, user)


def outcomes_gold(data: Data) -> dict[tasks.Key, dict[str, str]]:
    """Return (dialogue_id, speaker) -> the side's satisfaction and its liking of the partner."""
    return {
        (row["dialogue_id"], row["speaker"]): {
            "satisfaction": row["satisfaction"],
            "likeness": row["opponent_likeness"],
        }
        for row in data.rows_with_names("participants", "train")
    }


def outcomes_score(
    gold: Mapping[tasks.Key, Mapping[str, str]], predictions: Mapping[tasks.Key, tasks.Prediction]
) -> tasks.Score:
    """Score answers: sides with the right one of five, and how far apart the two answers are."""
    import numpy as np

    metrics: dict[str, Any] = {name: [] for name in SCALES} | {"mae": {}, "quadratic_kappa": {}}
    own_rows: dict[str, Any] = {}
    for name, scale in SCALES.items():
        place = {text: float(number) for number, text in enumerate(scale)}
        right = np.array([place[due[name]] for due in gold.values()])
        predicted = np.array([place.get(predictions[key].get(name, ""), np.nan) for key in gold])
        metrics[name] = predicted == right
        metrics["mae"][name] = abs(predicted - right)
        own_rows[name] = ~np.isnan(predicted)
        metrics["quadratic_kappa"][name] = partial(quadratic_kappa, predicted, right)
    counts = {"sides": len(gold), "dialogues": len({number for number, _ in gold})}
    return tasks.Score(metrics, counts, own_rows={"quadratic_kappa": own_rows})


def quadratic_kappa(one: Any, other: Any, rows: Any) -> float | tasks.Undefined:
    """Return Cohen's kappa with quadratic weights, of those of some rows that have a value."""
    has_value = one[rows] == one[rows]  # NaN is not itself
    one, other = one[rows][has_value], other[rows][has_value]
    if not len(one):
        return tasks.Undefined("no prediction is readable")
    by_chance = one.var() + other.var() + (one.mean() - other.mean()) ** 2
    if not by_chance:
        return tasks.Undefined("all answers are the same")
    together = ((one - one.mean()) * (other - other.mean())).mean()
    return float(2 * together / by_chance)  # scikit-learn's takes 40 times as long


def commonest_outcomes(data: Data) -> Iterator[tasks.Prediction]:
    """Predict the commonest answers of all sides for each."""
    gold = outcomes_gold(data)
    answers = {}
    for name in SCALES:
        times = Counter(answer[name] for answer in gold.values())
        answers[name] = max(sorted(times), key=times.__getitem__)
    for number, side in gold:
        yield {"dialogue_id": number, "speaker": side, **answers}


OUTCOMES = tasks.Task(
    summary="a side's satisfaction with the outcome, and its liking of the partner",
    evaluated_on="all participants",
    configs=("participants", "utterances"),
    key={"dialogue_id": Field(int, "the dialogue"), "speaker": Field(set(SIDES), "the side")},
    answer={
        "satisfaction": tasks.OneOf(
            SATISFACTION, "how satisfied the side is with the outcome", "You.satisfaction"
        ),
        "likeness": tasks.OneOf(LIKENESS, "how much the side likes the other", "You.likeness"),
    },
    metrics={
        "satisfaction": "share of sides with the right satisfaction",
        "likeness": "share of sides with the right likeness",
        "mae": "mean distance of the readable answers from the right ones, 0 to 4 steps",
        "quadratic_kappa": "Cohen's kappa of the readable answers, weighted by squared distance",
    },
    inputs="the texts of the dialogue without deal actions",
    columns=("utterances.text",),
    leak="the partner's answers and both sides' points correlate with a side's answers",
    asking=tasks.Asking("1", outcomes, max_tokens=80),
    subsets=SUBSETS,
    gold=outcomes_gold,
    clusters={
        "dialogues": None,
        "participants": participants_by("participants", "dialogue_id", "speaker"),
    },
    score=outcomes_score,
    per_prediction=("satisfaction", "likeness"),
    baselines={"commonest": commonest_outcomes},
    references=(tasks.Reference("commonest"),),
    lower=("mae",),
    ends={"mae": (0, len(SATISFACTION) - 1), "quadratic_kappa": (-1, 1)},
)
