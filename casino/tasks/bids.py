"""The deal that a side submits next."""

from collections import Counter
from collections.abc import Iterator, Mapping
from math import hypot, nan
from operator import mul
from typing import Any

from parley import Data, tasks

from ..records import PARTNER
from ..scenarios import ISSUES, PACKAGES, POINTS, SIDES, Items, Priorities, points_of
from .moments import ASKED, COLUMNS, FIELDS, KEY, KNOWN, SHAPE, TURNS, Moment, moments, reported
from .orders import orders_of, questions
from .shared import EXAMPLE, SETTING, participants

Truth = tuple[Items, Priorities, Priorities]  # the side's packages, its order, the partner's

# Question ----------------------------------------------------------------------------------

_BID = (
    f"{SETTING} You are one of them, and submit a deal now. Say how many packages of each item "
    "you get in it; your partner gets the rest of the three each."
)
_FORM = 'Answer in JSON: {"Food": .., "Water": .., "Firewood": ..}, with numbers from 0 to 3.'
_COUNT = {"type": "integer", "enum": [*range(PACKAGES + 1)]}
_SCHEMA = tasks.object_schema(**dict.fromkeys(ISSUES, _COUNT))


def bidding(data: Data, side: str = "") -> Iterator[Moment]:
    """Yield the moments before a side submits a deal."""
    return (moment for moment in moments(data, TURNS, side) if moment.next["issue2youget"])


def bids(data: Data, side: str = "") -> Iterator[tasks.Question]:
    """Ask a side for its packages in the deal that it submits."""
    return questions(data, bidding(data, side), _BID, _FORM, _SCHEMA)


_number = tasks.number_from(0, PACKAGES)


def packages(value: Any) -> int | tasks.Unreadable:
    """Return a whole number of packages."""
    number = _number(value)
    is_whole = not isinstance(number, tasks.Unreadable) and number.is_integer()
    return int(number) if is_whole else tasks.Unreadable()


# Score -------------------------------------------------------------------------------------


def bids_gold(data: Data, side: str = "") -> dict[tasks.Key, Truth]:
    """Return moment -> the side's packages in the deal that it submits, and both orders."""
    orders = {key: dict(zip(POINTS, order, strict=True)) for key, order in orders_of(data).items()}
    return {
        moment.key: (
            moment.next["issue2youget"],
            orders[moment.side_key],
            orders[moment.dialogue_id, PARTNER[moment.speaker]],
        )
        for moment in bidding(data, side)
    }


def bids_score(
    gold: Mapping[tasks.Key, Truth], predictions: Mapping[tasks.Key, tasks.Prediction]
) -> tasks.Score:
    """Score deals; distances in points are those of the readable ones."""
    pairs = [(predictions[key], *truth) for key, truth in gold.items()]
    metrics: dict[str, Any] = {"cosine": [], "exact": [], "points_mae": {"own": [], "partner": []}}
    for said, due, *orders in pairs:
        is_read = tasks.UNREADABLE not in said
        metrics["cosine"].append(cosine(said, due) if is_read else 0.0)
        metrics["exact"].append(is_read and all(said[issue] == due[issue] for issue in ISSUES))
        for name, order in zip(metrics["points_mae"], orders, strict=True):
            # of both sides the same packages tell it, as the partner has the rest
            away = abs(points_of(order, said) - points_of(order, due)) if is_read else nan
            metrics["points_mae"][name].append(float(away))
    return tasks.Score(metrics, {"deals": len(gold)}, fractions=("cosine",))


def cosine(one: Items, other: Items) -> float:
    """Return the cosine of two deals as six numbers: the packages of both sides."""
    mine, others = ([each[i] for i in ISSUES] for each in (one, other))
    a, b = ([*own, *(PACKAGES - count for count in own)] for own in (mine, others))
    return float(sum(map(mul, a, b))) / (hypot(*a) * hypot(*b))


# Baseline ----------------------------------------------------------------------------------


def commonest(data: Data, side: str = "") -> Iterator[tasks.Prediction]:
    """Submit the commonest deal of all, by the side's own order."""
    orders = orders_of(data)
    every = [(moment.next["issue2youget"], orders[moment.side_key]) for moment in bidding(data)]
    times = Counter(tuple([items[issue] for issue in order]) for items, order in every)
    counts = max(sorted(times), key=times.__getitem__)  # the first of equal ones
    for moment in bidding(data, side):
        yield moment.key_fields() | dict(zip(orders[moment.side_key], counts, strict=True))


# Task --------------------------------------------------------------------------------------

BIDS = tasks.Task(
    summary="the deal that a side submits next",
    category="text-classification",
    public_since="2021",
    evaluated_on="both sides before each deal that they submit",
    configs=("participants", "utterances"),
    fields=FIELDS | dict.fromkeys(ISSUES, "packages of it for the side, 0 to 3"),
    shape=SHAPE | {issue: set(range(PACKAGES + 1)) for issue in ISSUES},
    key=KEY,
    example={"dialogue_id": 2001, "speaker": SIDES[0], "turn": 9, **EXAMPLE[SIDES[0]]},
    metrics={
        "cosine": "cosine of the two deals as the six numbers of packages of both sides, 0 for an "
        "unreadable one; mean",
        "exact": "share of deals with all packages right",
        "points_mae": "mean distance in points from the submitted deal, for the side and for its "
        "partner, of the readable deals",
    },
    inputs=KNOWN,
    columns=COLUMNS,
    asking=tasks.Asking("1", bids, tasks.reader(**dict.fromkeys(ISSUES, packages)), max_tokens=60),
    subsets=ASKED,
    gold=bids_gold,
    clusters={"dialogues": None, "participants": participants("utterances", *KEY)},
    score=bids_score,
    target=lambda gold: dict(gold[0]),
    per_prediction=("exact",),
    baselines={"commonest": commonest},
    references=(
        reported("BOND teacher", {"cosine": "0.744"}),
        reported("BOND student", {"cosine": "0.915"}, "of the 14 deals with an offer alone"),
        reported("BOND student", {"cosine": "0.149"}, "of all 86 deals", True),
        reported("Llama 70B", {"cosine": "0.815"}, "of the 29 deals with an offer alone"),
        reported("Llama 70B", {"cosine": "0.275"}, "of all 86 deals", True),
        tasks.Reference("commonest", note="of all deals, by the side's own order"),
    ),
    unit="fraction; points for points_mae",
    lower=("points_mae",),
)
