"""How probable a side holds each order of its partner's priorities as a dialogue goes on."""

from collections.abc import Iterator, Mapping
from math import log
from operator import itemgetter
from typing import Any

from parley import Data, Field, tasks

from ..records import PARTNER
from ..scenarios import ISSUES
from .moments import ASKED, AT, COLUMNS, END, KEY, KNOWN, TURNS, moments, reported
from .orders import ORDERS, UNIFORM, Chances, baselines, orders_of, partners, questions
from .shared import SETTING

_OF_ORDERS = itemgetter(*ORDERS)
LEAST = 0.005  # half a step of the question: smaller ones cannot be told from it
IN_TURNS = "uniform own-reversed mentions lr-tfidf"
ROUNDED = 0.03 + 1e-9  # by which six numbers with two decimals can miss 1
ALL = "all 1,054 moments"
MANY = 6  # utterances; moments after more are counted together
_SIX_TIMES = "six times the paper's"  # which has the mean over the six orders, not the sum

_BELIEFS = (
    f"{SETTING} You are one of them. Say how probable each of the six orders is in which your "
    "partner may rank the items, the high priority first: each from 0 to 1, in steps of 0.01, "
    "together 1."
)


def beliefs(data: Data, at: str, side: str = "") -> Iterator[tasks.Question]:
    """Ask a side for the probabilities of its partner's orders."""
    return questions(data, moments(data, at, side), _BELIEFS)


def in_steps(found: Chances) -> tasks.Prediction:
    """Return probabilities as the prompt asks for them: in steps of 0.01, together 1."""
    steps = {order: int(100 * found[order]) for order in ORDERS}
    by_rest = sorted(ORDERS, key=lambda order: steps[order] - 100 * found[order])
    for order in by_rest[: 100 - sum(steps.values())]:
        steps[order] += 1
    return {"probabilities": {order: count / 100 for order, count in steps.items()}}


def beliefs_gold(data: Data, at: str, side: str = "") -> dict[tasks.Key, dict[str, Any]]:
    """Return moment -> certainty of the right order, and the partner's utterances before it: k."""
    orders = orders_of(data)
    certain = {order: {each: float(each == order) for each in ORDERS} for order in ORDERS}
    found = {}
    for moment in moments(data, at, side):
        order = orders[moment.dialogue_id, PARTNER[moment.speaker]]
        known = sum(row["speaker"] != moment.speaker for row in moment.talk)
        found[moment.key] = {"probabilities": certain[" > ".join(order)], "k": known}
    return found


def beliefs_score(
    gold: Mapping[tasks.Key, Mapping[str, Any]],
    predictions: Mapping[tasks.Key, tasks.Prediction],
    at: str,
) -> tasks.Score:
    """Score probabilities; an unreadable prediction counts as certain of a wrong order.

    They are divided by their sum, as Cui and Lin do (sft_8b/student_parser.py of their repository).
    """
    import numpy as np

    given = [predictions[key].get("probabilities") for key in gold]
    is_read = np.array([each is not None for each in given])
    predicted = np.array([_OF_ORDERS(each or UNIFORM) for each in given], float)
    others = int((abs(predicted.sum(axis=1) - 1) > ROUNDED).sum())
    predicted /= predicted.sum(axis=1, keepdims=True)
    due = np.array([_OF_ORDERS(right["probabilities"]) for right in gold.values()], bool)
    known = np.array([right["k"] for right in gold.values()])
    first = np.array([[order.startswith(item) for item in ISSUES] for order in ORDERS])
    brier = np.where(is_read, ((predicted - due) ** 2).sum(axis=1), 2)
    exact = is_read * share_of_largest(predicted, due)
    most = np.where(is_read, predicted.max(axis=1), np.nan)
    metrics: dict[str, Any] = {
        "brier": brier,
        "log_loss": -np.log(np.maximum(np.where(is_read, predicted[due], 0), LEAST)),
        "calibration_error": tasks.calibration_error(most, exact),
        "exact_order": exact,
        "top_1": is_read * share_of_largest(predicted @ first, due @ first),
    }
    for name, values in (("brier_by_k", brier), ("exact_order_by_k", exact)):
        of_k = {str(k): known == k for k in range(MANY)} | {f"{MANY}+": known >= MANY}
        if at == TURNS:
            metrics[name] = {k: np.where(has, values, np.nan) for k, has in of_k.items()}
    counts = {"moments": len(gold), "dialogues": len({number for number, *_ in gold})}
    counts |= {"sums other than 1": others} if others else {}
    none = {"calibration_error": "chance alone puts it above 0"}
    return tasks.Score(metrics, counts, none, (most, exact))


def share_of_largest(rows: Any, due: Any) -> Any:
    """Return 1/n for each row of which one of the n largest numbers is where `due` is true."""
    largest = rows >= rows.max(axis=1, keepdims=True) - 1e-9
    return (largest & due).sum(axis=1) / largest.sum(axis=1)


BELIEFS = tasks.Task(
    summary="the probability of each order of the partner's priorities, at a moment of a dialogue",
    evaluated_on="both sides: each own turn, after 1 to 5 of the partner's utterances, or the end",
    configs=("participants", "priority_folds", "utterances"),
    key=KEY | {"turn": Field(int, f"{KEY['turn'].meaning}; with at=end the number of turns")},
    answer={
        "probabilities": tasks.Probabilities(
            ORDERS,
            "of its partner's six orders, from high to low priority; scored after division by "
            "their sum",
        )
    },
    metrics={
        "brier": "squared error summed over the six orders, 0 to 2, mean over moments; equal "
        "probabilities give 0.8333, and an unreadable answer 2",
        "log_loss": "-ln of the probability of the right order, mean; equal ones give 1.7918; less "
        "than 0.005, half a step of the question, counts as 0.005; an unreadable one, too: 5.2983",
        "calibration_error": "in each of ten bins, the distance of the most probable orders' mean "
        "probability from the share that is right; mean over readable answers",
        "exact_order": "share of moments whose most probable order is right; of n equally probable "
        "ones the right one counts 1/n",
        "top_1": "share of moments whose item that is most probably the highest is right, likewise",
        "brier_by_k": "brier by k, the number of the partner's utterances before; with at=turns",
        "exact_order_by_k": "exact_order by k",
    },
    options=AT,
    inputs=KNOWN,
    columns=COLUMNS,
    leak="`partner_points_scored` and the packages of the deal give the order away",
    asking=tasks.Asking("1", beliefs, max_tokens=400, shown=baselines(KEY, in_steps)["mentions"]),
    subsets=ASKED,
    gold=beliefs_gold,
    clusters={"dialogues": None, "participants": partners},
    score=beliefs_score,
    per_prediction=("exact_order", "top_1"),
    baselines=baselines(
        KEY, lambda found: {"probabilities": {order: found.get(order, 0) for order in ORDERS}}
    ),
    references=(
        reported("BOND teacher", {"brier": "0.51"}, f"{_SIX_TIMES} 0.085", at=TURNS),
        reported("BOND teacher", {"brier": "0.511", "exact_order": "0.594"}, ALL, True, at=TURNS),
        reported("BOND student", {"brier": "0.68"}, f"{_SIX_TIMES} 0.114", at=TURNS),
        reported("BOND student", {"exact_order": "0.518"}, "first of equal orders", at=TURNS),
        reported("BOND student", {"exact_order": "0.496"}, ALL, True, at=TURNS),
        reported(
            "Llama 70B",
            {"brier": "1.16"},
            f"{_SIX_TIMES} 0.194, invalid samples as uniform",
            at=TURNS,
        ),
        *(tasks.Reference(name, options={"at": TURNS}) for name in IN_TURNS.split()),
        *(tasks.Reference(name, options={"at": END}) for name in ("lr-tfidf", "guesses")),
    ),
    ends={"brier": (0, 2), "log_loss": (0, -log(LEAST)), "brier_by_k": (0, 2)},
    lower=("brier", "log_loss", "calibration_error", "brier_by_k"),
)
