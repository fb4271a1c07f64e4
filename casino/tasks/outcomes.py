"""How satisfied a side is, and how much it likes its partner."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from parley import Data, tasks

from ..records import LIKENESS, SATISFACTION
from ..scenarios import SIDES
from ..subsets import SUBSETS
from .moments import END, moments
from .shared import SETTING, heard, participants

# Question ----------------------------------------------------------------------------------

_OUTCOMES = (
    f"{SETTING} After the talk each of them said how satisfied it was with the outcome and how "
    "much it liked the other. Read the talk of You and Partner and give the two answers of You.\n"
    f"satisfaction: one of {', '.join(SATISFACTION)}.\n"
    f"likeness: one of {', '.join(LIKENESS)}."
)
_FORM = 'Answer in JSON: {"satisfaction": "...", "likeness": "..."}.'
SCALES = {"satisfaction": SATISFACTION, "likeness": LIKENESS}
_CHOICES = {name: {"type": "string", "enum": scale} for name, scale in SCALES.items()}


def outcomes(data: Data) -> Iterator[tasks.Question]:
    """Ask for each side's satisfaction and its liking of the partner, given the talk."""
    schema = tasks.object_schema(**_CHOICES)
    for moment in moments(data, END):
        user = f"The talk:\n{heard(moment.talk, moment.speaker)}"
        yield tasks.Question(moment.side_key, tasks.chat(_OUTCOMES, user, _FORM), schema)


# Score -------------------------------------------------------------------------------------


def outcomes_gold(data: Data) -> dict[tasks.Key, tuple[str, str]]:
    """Return (dialogue_id, speaker) -> the side's satisfaction and its liking of the partner."""
    return {
        (row["dialogue_id"], row["speaker"]): (row["satisfaction"], row["opponent_likeness"])
        for row in data.named("participants", "train")
    }


def outcomes_score(
    gold: Mapping[tasks.Key, tuple[str, str]], predictions: Mapping[tasks.Key, tasks.Prediction]
) -> tasks.Score:
    """Score answers: sides with the right one of five, and how far apart the two answers are."""
    import numpy as np

    metrics: dict[str, Any] = {name: [] for name in SCALES} | {"mae": {}, "quadratic_kappa": {}}
    own_rows: dict[str, Any] = {}
    for place, (name, scale) in enumerate(SCALES.items()):
        found = [predictions[key].get(name) for key in gold]
        metrics[name] = [each == due[place] for each, due in zip(found, gold.values(), strict=True)]
        right = np.array([scale.index(due[place]) for due in gold.values()], float)
        said = np.array([np.nan if each is None else scale.index(each) for each in found])
        metrics["mae"][name] = abs(said - right)
        own_rows[name] = is_read = ~np.isnan(said)
        metrics["quadratic_kappa"][name] = quadratic_kappa(said[is_read], right[is_read])
    counts = {"sides": len(gold), "dialogues": len({number for number, _ in gold})}
    return tasks.Score(metrics, counts, own_rows={"quadratic_kappa": own_rows})


def quadratic_kappa(one: Any, other: Any) -> float | tasks.Undefined:
    """Return Cohen's kappa with quadratic weights."""
    if not len(one):
        return tasks.Undefined("no prediction is readable")
    by_chance = one.var() + other.var() + (one.mean() - other.mean()) ** 2
    if not by_chance:
        return tasks.Undefined("all answers are the same")
    together = ((one - one.mean()) * (other - other.mean())).mean()
    return float(2 * together / by_chance)  # scikit-learn's takes 40 times as long


# Baseline ----------------------------------------------------------------------------------


def commonest_outcomes(data: Data) -> Iterator[tasks.Prediction]:
    """Predict the commonest answers of all sides for each."""
    gold = outcomes_gold(data)
    times = [Counter(answers) for answers in zip(*gold.values(), strict=True)]
    found = [max(sorted(each), key=lambda answer: each[answer]) for each in times]
    answers = dict(zip(SCALES, found, strict=True))
    for number, side in gold:
        yield {"dialogue_id": number, "speaker": side, **answers}


# Task --------------------------------------------------------------------------------------

OUTCOMES = tasks.Task(
    summary="a side's satisfaction with the outcome, and its liking of the partner",
    category="text-classification",
    public_since="2021",
    evaluated_on="all participants",
    configs=("participants", "utterances"),
    fields={
        "dialogue_id": "the dialogue, an integer",
        "speaker": "the side, mturk_agent_1 or mturk_agent_2",
        **{name: f"one of {', '.join(scale)}" for name, scale in SCALES.items()},
    },
    shape={
        "dialogue_id": int,
        "speaker": set(SIDES),
        **{name: set(scale) for name, scale in SCALES.items()},
    },
    key=("dialogue_id", "speaker"),
    example={
        "dialogue_id": 2001,
        "speaker": "mturk_agent_1",
        "satisfaction": "Slightly satisfied",
        "likeness": "Extremely like",
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
    asking=tasks.Asking(
        "4",
        outcomes,
        tasks.reader(**{name: tasks.one_of(scale) for name, scale in SCALES.items()}),
        max_tokens=80,
    ),
    subsets=SUBSETS,
    gold=outcomes_gold,
    clusters={
        "dialogues": None,
        "participants": participants("participants", "dialogue_id", "speaker"),
    },
    score=outcomes_score,
    target=lambda gold: dict(zip(SCALES, gold, strict=True)),
    per_prediction=("satisfaction", "likeness"),
    baselines={"commonest": commonest_outcomes},
    references=(tasks.Reference("commonest"),),
    lower=("mae",),
    unit="fraction, but mae in steps of the scale",
)
