"""The partner's order of the three items: the right ones, and how probable baselines hold each."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from itertools import permutations
from typing import Any

from parley import Data
from parley.tasks import Key, Prediction, Question

from ..records import PARTNER
from ..scenarios import ISSUES, POINTS, SIDES
from .moments import END, Moment, moments
from .shared import chances, heard, participants_by, word_pairs

ORDERS = tuple(" > ".join(order) for order in permutations(ISSUES))
Chances = Mapping[str, float]
"""Order, of `ORDERS`, -> its probability; a lacking one has 0."""
UNIFORM = dict.fromkeys(ORDERS, 1 / len(ORDERS))


def orders_of(data: Data) -> dict[Key, list[str]]:
    """Return dialogue and side -> its items by its own priorities, the highest first."""
    return {
        (row["dialogue_id"], row["speaker"]): [row[f"priority_{level.lower()}"] for level in POINTS]
        for row in data.rows("participants", "train")
    }


def partners(data: Data) -> dict[Key, Collection[str]]:
    """Return dialogue and side -> the participant who is the partner, whose order is predicted."""
    of = participants_by("participants", "dialogue_id", "speaker")(data)
    return {(number, side): of[number, PARTNER[side]] for number, side in of}


def questions(data: Data, asked: Iterable[Moment], system: str) -> Iterator[Question]:
    """Ask at these moments; a side knows its own order and the talk so far."""
    orders = orders_of(data)
    for moment in asked:
        talk = heard(moment.known, moment.speaker) or "(nothing yet)"
        user = f"Your own order, from high to low: {', '.join(orders[moment.side_key])}\n\n"
        yield Question(moment.key, system, f"{user}The talk so far:\n{talk}")


def even(known: Iterable[str | None]) -> Chances:
    """Return equal probabilities of the orders that have these items; None is an open place."""
    pattern = re.compile(" > ".join(item or r"\w+" for item in known))
    fitting = [order for order in ORDERS if pattern.fullmatch(order)]
    return dict.fromkeys(fitting, 1 / len(fitting))


def own(data: Data, asked: list[Moment], step: int = 1) -> Iterator[Chances]:
    """Be certain of the side's own order, or with the step -1 of its reverse."""
    orders = orders_of(data)
    return (even(orders[moment.side_key][::step]) for moment in asked)


def guessed(data: Data, asked: list[Moment]) -> Iterator[Chances]:
    """Be certain of the highest and the lowest item that the side guessed after the chat.

    If both are the same item, only the highest counts.
    """
    names = ("guess_partner_highest_item", "guess_partner_lowest_item")
    guesses = {
        (row["dialogue_id"], row["speaker"]): [row[name] for name in names]
        for row in data.rows("participants", "train")
    }
    for moment in asked:
        highest, lowest = guesses[moment.side_key]
        yield even([highest, None, None if highest == lowest else lowest])


def partners_text(moment: Moment) -> str:
    """Return the partner's texts before a moment; that of a deal action is its name."""
    return " ".join(row["text"] for row in moment.known if row["speaker"] != moment.speaker)


def mentioned(_: Data, asked: list[Moment]) -> Iterator[Chances]:
    """Draw the items without putting back, each by 1 + the times that the partner named it."""
    for moment in asked:
        text = partners_text(moment).lower()
        times = {item: 1 + text.count(item.removeprefix("Fire").lower()) for item in ISSUES}
        of_order = {order: [times[item] for item in order.split(" > ")] for order in ORDERS}
        yield {o: a / (a + b + c) * b / (b + c) for o, (a, b, c) in of_order.items()}


def by_words(data: Data, asked: list[Moment]) -> Iterator[Chances]:
    """Learn by logistic regression on tf-idf of the partner's texts so far: six classes.

    It learns from the whole texts of the training part of each fold, without the validation part.
    The names of deal actions are part of the text.
    """
    import numpy as np

    orders, found = orders_of(data), dict[Key, Chances]()
    whole = {(m.dialogue_id, PARTNER[m.speaker]): partners_text(m) for m in moments(data, END)}
    for fold in data.rows("priority_folds", "train"):
        known = [(number, side) for number in fold["train"] for side in SIDES]
        if not (unseen := [moment for moment in asked if moment.dialogue_id in fold["test"]]):
            continue
        truth = np.array([[" > ".join(orders[key])] for key in known])
        texts = [whole[key] for key in known], truth, [*map(partners_text, unseen)]
        ((classes, columns),) = chances(word_pairs(), *texts, C=5)
        for moment, row in zip(unseen, columns.tolist(), strict=True):
            found[moment.key] = dict(zip(classes.tolist(), row, strict=True))
    return (found[moment.key] for moment in asked)


CHANCES: dict[str, Callable[[Data, list[Moment]], Iterable[Chances]]] = {
    "uniform": lambda _, asked: [UNIFORM] * len(asked),
    "own-order": own,
    "own-reversed": partial(own, step=-1),
    "mentions": mentioned,
    "lr-tfidf": by_words,
    "guesses": guessed,
}
"""Baseline -> the probabilities of orders at moments."""


def baselines(
    key: Iterable[str], predict: Callable[[Chances], Prediction]
) -> dict[str, Callable[..., Any]]:
    """Return the baselines of a task, which predict from the probabilities at each moment."""

    def baseline(name: str, data: Data, at: str, side: str = "") -> Iterator[Prediction]:
        asked = [*moments(data, at, side)]
        for moment, found in zip(asked, CHANCES[name](data, asked), strict=True):
            yield {**moment.key_fields(key), **predict(found)}

    return {name: partial(baseline, name) for name in CHANCES}
