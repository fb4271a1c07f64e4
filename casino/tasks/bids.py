"""The deal that a side submits next."""

from collections import Counter
from collections.abc import Iterator, Mapping
from math import hypot, nan
from operator import mul
from typing import Any

from parley import Data, tasks

from ..records import PARTNER
from ..scenarios import ISSUES, PACKAGES, POINTS, Items, points_of
from .moments import ASKED, COLUMNS, KEY, KNOWN, TURNS, Moment, moments, reported
from .orders import orders_of, questions
from .shared import SETTING, participants_by

_BID = (
    f"{SETTING} You are one of them, and submit a deal now. Say how many packages of each item "
    "you get in it, 0 to 3; your partner gets the rest of the three each."
)


def bidding(data: Data, side: str = "") -> Iterator[Moment]:
    """Yield the moments before a side submits a deal."""
    return (moment for moment in moments(data, TURNS, side) if moment.next["issue2youget"])


def bids(data: Data, side: str = "") -> Iterator[tasks.Question]:
    """Ask a side for its packages in the deal that it submits."""
    return questions(data, bidding(data, side), _BID)


def bids_gold(data: Data, side: str = "") -> dict[tasks.Key, dict[str, Any]]:
    """Return moment -> the side's packages in the deal that it submits, and both sides' orders."""
    orders = {key: dict(zip(POINTS, order, strict=True)) for key, order in orders_of(data).items()}
    return {
        moment.key: {
            **moment.next["issue2youget"],
            "own": orders[moment.side_key],
            "partner": orders[moment.dialogue_id, PARTNER[moment.speaker]],
        }
        for moment in bidding(data, side)
    }


def bids_score(
    gold: Mapping[tasks.Key, Mapping[str, Any]], predictions: Mapping[tasks.Key, tasks.Prediction]
) -> tasks.Score:
    """Score deals; distances in points are those of the readable ones."""
    metrics: dict[str, Any] = {"cosine": [], "exact": [], "points_mae": {"own": [], "partner": []}}
    for key, due in gold.items():
        predicted = predictions[key]
        is_read = tasks.UNREADABLE not in predicted
        metrics["cosine"].append(cosine(predicted, due) if is_read else 0.0)
        metrics["exact"].append(is_read and all(predicted[issue] == due[issue] for issue in ISSUES))
        for name, away in metrics["points_mae"].items():
            # of both sides the same packages tell it, as the partner has the rest
            order = due[name]
            points = points_of(order, predicted) - points_of(order, due) if is_read else nan
            away.append(float(abs(points)))
    return tasks.Score(metrics, {"deals": len(gold)})


def cosine(one: Items, other: Items) -> float:
    """Return the cosine of two deals as six numbers: the packages of both sides."""
    mine, others = ([each[i] for i in ISSUES] for each in (one, other))
    a, b = ([*own, *(PACKAGES - count for count in own)] for own in (mine, others))
    return float(sum(map(mul, a, b))) / (hypot(*a) * hypot(*b))


def commonest(data: Data, side: str = "") -> Iterator[tasks.Prediction]:
    """Submit the commonest deal of all, by the side's own order."""
    orders = orders_of(data)
    every = [(moment.next["issue2youget"], orders[moment.side_key]) for moment in bidding(data)]
    times = Counter(tuple([items[issue] for issue in order]) for items, order in every)
    counts = max(sorted(times), key=times.__getitem__)  # the first of equal ones
    for moment in bidding(data, side):
        yield moment.key_fields() | dict(zip(orders[moment.side_key], counts, strict=True))


BIDS = tasks.Task(
    summary="the deal that a side submits next",
    evaluated_on="both sides before each deal that they submit",
    configs=("participants", "utterances"),
    key=KEY,
    answer={
        issue: tasks.Whole(0, PACKAGES, "packages of it for the side", f"own.{issue}")
        for issue in ISSUES
    },
    metrics={
        "cosine": "cosine of the two deals as the six numbers of packages of both sides, 0 for an "
        "unreadable one; mean",
        "exact": "share of deals with all packages right",
        "points_mae": "mean distance in points from the submitted deal, for the side and for its "
        "partner, of the readable deals",
    },
    inputs=KNOWN,
    columns=COLUMNS,
    asking=tasks.Asking("1", bids, max_tokens=60),
    subsets=ASKED,
    gold=bids_gold,
    clusters={"dialogues": None, "participants": participants_by("utterances", *KEY)},
    score=bids_score,
    per_prediction=("exact",),
    baselines={"commonest": commonest},
    references=(
        reported("BOND teacher", {"cosine": "0.744"}, "of all 86 deals"),
        reported("BOND student", {"cosine": "0.915"}, "of the 14 deals with an offer alone"),
        reported("BOND student", {"cosine": "0.149"}, "of all 86 deals", True),
        reported("Llama 70B", {"cosine": "0.815"}, "of the 29 deals with an offer alone"),
        reported("Llama 70B", {"cosine": "0.275"}, "of all 86 deals", True),
        tasks.Reference("commonest", note="of all deals, by the side's own order"),
    ),
    ends={"points_mae": (0, PACKAGES * sum(POINTS.values()))},
    lower=("points_mae",),
)
