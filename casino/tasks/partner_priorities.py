"""The partner's order of the three items: Findings of NAACL 2022."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from itertools import permutations

from parley import Checked, Data, tasks

from ..records import PARTNER
from ..scenarios import ISSUES, POINTS, SIDES
from ..subsets import SUBSETS
from .shared import SETTING, dialogues, heard, participants, regressed, word_pairs

# Question ----------------------------------------------------------------------------------

_PRIORITIES = (
    f"{SETTING} You are one of them. After the talk, say in which order your partner ranks the "
    "items, the high priority first."
)
_FORM = 'Answer in JSON: {"order": ".. > .. > .."}, with Food, Water and Firewood, each once.'
_ORDER = {"type": "string", "enum": [" > ".join(order) for order in permutations(ISSUES)]}


def priorities(data: Data) -> Iterator[tasks.Question]:
    """Ask each side for its partner's order, given its own order and the talk."""
    talks = dialogues(data)
    for row in data.rows("participants", "train"):
        own = ", ".join(row[f"priority_{level}"] for level in ("high", "medium", "low"))
        user = f"Your own order, from high to low: {own}\n\nThe talk:\n"
        user += heard(talks[row["dialogue_id"]], row["speaker"])
        key = (row["dialogue_id"], row["speaker"])
        yield tasks.Question(
            key, tasks.chat(_PRIORITIES, user, _FORM), tasks.object_schema(order=_ORDER)
        )


# Score -------------------------------------------------------------------------------------


def an_order(order: list[str | None]) -> None:
    """Check an order: three places, no item twice, null for a place left open."""
    items = [item for item in order if item]
    if len(order) != len(ISSUES) or len(set(items)) < len(items):
        raise ValueError(f"each of {', '.join(ISSUES)} once, or null for a place left open")


def orders_of(data: Data) -> dict[tuple[int, str], list[str]]:
    """Return (dialogue_id, speaker) -> a side's items by its own priorities, the highest first."""
    return {
        (row["dialogue_id"], row["speaker"]): [row[f"priority_{level.lower()}"] for level in POINTS]
        for row in data.rows("participants", "train")
    }


def priorities_gold(data: Data) -> dict[tasks.Key, tuple[int, list[str]]]:
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


def partners(data: Data) -> dict[tasks.Key, Collection[str]]:
    """Return (dialogue_id, speaker) -> the participant whose order is predicted."""
    of = participants("participants", "dialogue_id", "speaker")(data)
    return {(number, side): of[number, PARTNER[side]] for number, side in of}


_OPEN = [None] * len(ISSUES)


def priorities_score(
    gold: Mapping[tasks.Key, tuple[int, list[str]]],
    predictions: Mapping[tasks.Key, tasks.Prediction],
) -> tasks.Score:
    """Score orders: sides whose whole order is right, and whose highest item is.

    An open place is wrong, and so is an unreadable prediction.
    """
    pairs = [(due, predictions[key].get("order", _OPEN)) for key, (_, due) in gold.items()]
    right = {
        name: [due[:depth] == order[:depth] for due, order in pairs]
        for name, depth in (("exact_order", len(ISSUES)), ("top_1", 1))
    }
    counts = {"sides": len(gold), "dialogues": len({number for number, _ in gold})}
    return tasks.Score(right, counts)


# Baselines ---------------------------------------------------------------------------------


def guesses(data: Data) -> Iterator[tasks.Prediction]:
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


def as_own(data: Data) -> Iterator[tasks.Prediction]:
    """Predict that the partner has the side's own order."""
    for (number, side), order in orders_of(data).items():
        yield {"dialogue_id": number, "speaker": side, "order": order}


def against_own(data: Data) -> Iterator[tasks.Prediction]:
    """Predict that the partner has the reverse of the side's own order."""
    for each in as_own(data):
        yield {**each, "order": each["order"][::-1]}


def from_words(data: Data) -> Iterator[tasks.Prediction]:
    """Predict by logistic regression on tf-idf of the partner's texts: six classes.

    It learns from the training part of each fold, without the validation part. The names of deal
    actions are part of the text.
    """
    import numpy as np

    written: dict[tasks.Key, list[str]] = defaultdict(list)
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


# Task --------------------------------------------------------------------------------------

PRIORITIES = tasks.Task(
    summary="the partner's order of the three items, from one side's view",
    category="text-classification",
    public_since="2021",
    evaluated_on="participants, the test parts of the five folds of priority_folds",
    configs=("participants", "priority_folds", "utterances"),
    fields={
        "dialogue_id": "the dialogue, an integer",
        "speaker": "the side that guesses, mturk_agent_1 or mturk_agent_2",
        "order": "its partner's items from high to low priority: Food, Water and Firewood, each "
        "once; null for a place left open, which is never right",
    },
    shape={
        "dialogue_id": int,
        "speaker": set(SIDES),
        "order": Checked([(set(ISSUES), None)], an_order),
    },
    key=("dialogue_id", "speaker"),
    example={"dialogue_id": 2001, "speaker": SIDES[0], "order": ["Water", "Firewood", "Food"]},
    metrics={
        "exact_order": "sides with the partner's whole order right",
        "top_1": "sides with the partner's highest item right",
    },
    inputs="the side's own priorities, and the texts of the dialogue without deal actions",
    columns=("participants.priority_*", "utterances.text"),
    leak="`partner_points_scored` and the packages of the deal give the order away",
    asking=tasks.Asking(
        "4",
        priorities,
        tasks.reader(order=tasks.order_of(ISSUES)),
        max_tokens=80,
        answer=lambda fields: {"order": " > ".join(fields["order"])},
    ),
    subsets=SUBSETS,
    gold=priorities_gold,
    clusters={"dialogues": None, "participants": partners},
    score=priorities_score,
    fold=lambda gold: gold[0],
    target=lambda gold: {"order": gold[1]},
    per_prediction=("exact_order", "top_1"),
    baselines={
        "guesses": guesses,
        "lr-tfidf": from_words,
        "own-order": as_own,
        "own-reversed": against_own,
    },
    references=(
        tasks.Reference("chance", {"exact_order": "16.7", "top_1": "33.3"}, "one of six orders"),
        tasks.Reference("guesses", note="the participants' own, after the chat"),
        tasks.Reference("lr-tfidf"),
        tasks.Reference("own-order", note="the side's own order, without the dialogue"),
        tasks.Reference("own-reversed"),
    ),
    unit="percent",
    decimals=2,
)
