"""Whether a side accepts the deal that its partner has just submitted."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from parley import Data, tasks

from ..records import ANSWERS
from ..scenarios import POINTS, points_of
from ..views import entry_in_words
from .moments import ASKED, COLUMNS, KEY, KNOWN, TURNS, Moment, moments, reported
from .orders import orders_of, questions
from .shared import SETTING, participants_by

ACCEPT = "accept"
NAMES = tuple(name.removesuffix("_deal") for name in ANSWERS)  # accept, reject, walk_away
SHOWN = {
    name: [shown, entry_in_words({"task_data": {"data": action}})]
    for name, (action, shown) in zip(NAMES, ANSWERS.items(), strict=True)
}
"""Decision -> its names in the talk: "Accept-Deal", "[I accept the deal.]"."""
HALF = 18  # of the 36 points that all packages are worth to a side

_DECISION = (
    f"{SETTING} If one walks away, both get 5 points. You are one of them, and your partner has "
    f"just submitted a deal. Say what you do now: {', '.join(NAMES)}."
)


def submitted(data: Data, side: str = "") -> Iterator[Moment]:
    """Yield the moments before a side answers a deal that its partner submitted."""
    return (moment for moment in moments(data, TURNS, side) if moment.is_answer)


def decisions(data: Data, side: str = "") -> Iterator[tasks.Question]:
    """Ask a side for its answer to a deal."""
    return questions(data, submitted(data, side), _DECISION)


def decisions_gold(data: Data, side: str = "") -> dict[tasks.Key, dict[str, str]]:
    """Return each moment -> what the side did."""
    return {
        moment.key: {"decision": moment.next["data"].removesuffix("_deal")}
        for moment in submitted(data, side)
    }


def decisions_score(
    gold: Mapping[tasks.Key, Mapping[str, str]], predictions: Mapping[tasks.Key, tasks.Prediction]
) -> tasks.Score:
    """Score decisions; an unreadable one is wrong, and accepts nothing."""
    import numpy as np

    due = np.array([right["decision"] for right in gold.values()])
    predicted = np.array([predictions[key].get("decision", "") for key in gold])
    accepted, is_right = due == ACCEPT, due == predicted
    of_each = [due == name for name in dict.fromkeys(due.tolist())]

    def balanced(rows: Any) -> Any:
        """Return the mean over the decisions that occur of the share of right ones."""
        right = is_right[rows]
        return np.mean([right[has[rows]].mean() for has in of_each if has[rows].any()])

    metrics = {
        "f1_accept": tasks.f1_of(accepted, predicted == ACCEPT),
        "accuracy": is_right,
        "balanced_accuracy": balanced,
    }
    return tasks.Score(metrics, {"deals": len(due), "accepted": accepted.sum()})


def accept_from(least: int, data: Data, side: str = "") -> Iterator[tasks.Prediction]:
    """Accept a deal of so many points for the side, and reject others."""
    orders = orders_of(data)
    for moment in submitted(data, side):
        own = dict(zip(POINTS, orders[moment.side_key], strict=True))
        points = points_of(own, moment.known[-1]["issue2theyget"])
        yield {**moment.key_fields(), "decision": ACCEPT if points >= least else "reject"}


DECISIONS = tasks.Task(
    summary="whether a side accepts the deal that its partner has just submitted",
    evaluated_on="both sides after each deal that the partner submits",
    configs=("participants", "utterances"),
    key=KEY,
    answer={"decision": tasks.OneOf(SHOWN, "what the side does")},
    metrics={
        "f1_accept": "F1 of accept",
        "accuracy": "share of right decisions",
        "balanced_accuracy": "share of right ones of each decision, mean over those that occur",
    },
    inputs=KNOWN,
    columns=COLUMNS,
    asking=tasks.Asking("1", decisions, max_tokens=60),
    subsets=ASKED,
    gold=decisions_gold,
    clusters={"dialogues": None, "participants": participants_by("utterances", *KEY)},
    score=decisions_score,
    per_prediction=("accuracy",),
    baselines={"accept": partial(accept_from, 0), "half": partial(accept_from, HALF)},
    references=(
        reported("BOND teacher", {"f1_accept": "0.897"}, "of all 87 deals"),
        reported("BOND student", {"f1_accept": "0.908"}, "of the 84 answered deals alone"),
        reported("BOND student", {"f1_accept": "0.896"}, "of all 87 deals", True),
        reported("Llama 70B", {"f1_accept": "0.947"}),
        tasks.Reference("accept"),
        tasks.Reference("half", note=f"accepts a deal of {HALF} points or more for the side"),
    ),
)
