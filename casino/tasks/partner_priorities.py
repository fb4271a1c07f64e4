"""The partner's order of the three items: Findings of NAACL 2022."""

from collections.abc import Iterator, Mapping
from typing import Any

from parley import Data, Field, tasks

from ..records import PARTNER
from ..scenarios import ISSUES, SIDES
from ..subsets import SUBSETS
from .moments import AFTER, END, moments
from .orders import ORDERS, Chances, baselines, orders_of, partners
from .shared import SETTING, heard

_PRIORITIES = (
    f"{SETTING} You are one of them. After {{talk}}, say in which order your partner ranks the "
    f"items, the high priority first: {', '.join(ISSUES)}, each once."
)


def priorities(data: Data, at: str) -> Iterator[tasks.Question]:
    """Ask each side for its partner's order, given its own order and the talk so far."""
    orders, is_whole = orders_of(data), at == END
    system = _PRIORITIES.format(talk="the talk" if is_whole else "this part of the talk")
    for moment in moments(data, at):
        user = f"Your own order, from high to low: {', '.join(orders[moment.side_key])}\n\n"
        user += f"The talk{'' if is_whole else ' so far'}:\n{heard(moment.talk, moment.speaker)}"
        yield tasks.Question(moment.side_key, system, user)


def priorities_gold(data: Data, at: str) -> dict[tasks.Key, dict[str, Any]]:
    """Return (dialogue_id, speaker) -> the partner's order, and the fold that tests on it."""
    fold_of = {
        number: row["fold"]
        for row in data.rows("priority_folds", "train")
        for number in row["test"]
    }
    orders = orders_of(data)
    return {
        (number, side): {"order": orders[number, PARTNER[side]], "fold": fold_of[number]}
        for number, side, *_ in moments(data, at)
    }


_OPEN = [None] * len(ISSUES)


def priorities_score(
    gold: Mapping[tasks.Key, Mapping[str, Any]],
    predictions: Mapping[tasks.Key, tasks.Prediction],
    at: str,
) -> tasks.Score:
    """Score orders: sides whose whole order is right, and whose highest item is.

    An open place is wrong, and so is an unreadable prediction.
    """
    pairs = [(due["order"], predictions[key].get("order", _OPEN)) for key, due in gold.items()]
    right = {
        name: [due[:depth] == order[:depth] for due, order in pairs]
        for name, depth in (("exact_order", len(ISSUES)), ("top_1", 1))
    }
    counts = {"sides": len(gold), "dialogues": len({number for number, _ in gold})}
    return tasks.Score(right, counts)


def most_probable(chances: Chances) -> tasks.Prediction:
    """Predict the most probable order; equally probable ones leave open where they differ."""
    most = max(chances.values())
    equal = [order.split(" > ") for order in ORDERS if chances.get(order, 0) == most]
    places = (set(items) for items in zip(*equal, strict=True))
    return {"order": [items.pop() if len(items) == 1 else None for items in places]}


BASELINES = baselines(("dialogue_id", "speaker"), most_probable)

# After 1 to 5 utterances, of 2,060, 2,060, 2,060, 2,058 and 2,052 sides. Weighted 5 to 1 they are
# the 53.84 and 76.21 of PAPER_NUMBER_AUDIT.md; its 80.88 is an NDCG, which the task has not.
EXACT, TOP = "39.42 53.35 63.69 68.27 69.44", "63.74 77.52 84.27 87.03 87.52"

PRIORITIES = tasks.Task(
    summary="the partner's order of the three items, from one side's view",
    evaluated_on="participants, the test parts of the five folds of priority_folds; after-4 and "
    "after-5 without the sides whose partner writes fewer utterances",
    configs=("participants", "priority_folds", "utterances"),
    key={
        "dialogue_id": Field(int, "the dialogue"),
        "speaker": Field(set(SIDES), "the side that guesses"),
    },
    answer={
        "order": tasks.OrderOf(
            ISSUES,
            "its partner's items from high to low priority; an open place is never right",
            "partner_order",
        )
    },
    metrics={
        "exact_order": "sides with the partner's whole order right",
        "top_1": "sides with the partner's highest item right",
    },
    options={"at": (END, *AFTER)},
    inputs="the side's own priorities, and the texts of the dialogue without deal actions; with "
    "at=after-k, up to the partner's k-th utterance",
    columns=("participants.priority_*", "utterances.text"),
    leak="`partner_points_scored` and the packages of the deal give the order away",
    asking=tasks.Asking("1", priorities, max_tokens=80),
    subsets=SUBSETS,
    gold=priorities_gold,
    clusters={"dialogues": None, "participants": partners},
    score=priorities_score,
    per_prediction=("exact_order", "top_1"),
    baselines={n: each for n, each in BASELINES.items() if n != "uniform"},  # which has no order
    references=(
        tasks.Reference("chance", {"exact_order": "16.7", "top_1": "33.3"}, "one of six orders"),
        *(
            tasks.Reference(name, note=note, options={"at": END})
            for name, note in (
                ("guesses", "the participants' own, after the chat"),
                ("lr-tfidf", "also reads the names of deal actions"),
                ("own-order", "the side's own order, without the dialogue"),
                ("own-reversed", ""),
            )
        ),
        *(tasks.Reference("lr-tfidf", options={"at": at}) for at in AFTER),
        *(
            tasks.Reference(
                "Llama 8B, tuned",
                {"exact_order": exact, "top_1": top},
                "arXiv 2605.04507, as cv_summary.json of its repository states",
                "trained on each fold's other dialogues; it also reads the side's own reasons",
                {"at": at},
                rule="mean over folds of its own",
            )
            for at, exact, top in zip(AFTER, EXACT.split(), TOP.split(), strict=True)
        ),
    ),
    ends=dict.fromkeys(("exact_order", "top_1"), (0, 100)),
)
