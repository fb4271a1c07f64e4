"""The prompt of the task `deal`, and how answers are read.

A change of a prompt or reader needs a new `version`: tests hold the sha256 of the sample's prompts.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from parley import Asking, Data, Question, Unreadable, chat, object_schema, read_number, spoken

from .views import dollars

_DEAL = (
    "A buyer and a seller negotiate over a post on Craigslist. Read their messages, without any "
    "offer or answer to one, and estimate the probability that they reach a deal. Answer in JSON: "
    '{"probability": p}, with p from 0 to 1.'
)
_PROBABILITY = {"type": "number", "minimum": 0, "maximum": 1}


def deal(data: Data, split: str = "test") -> Iterator[Question]:
    """Ask for each dialogue, given the messages before any other action."""
    said: dict[str, list[tuple[str, str]]] = defaultdict(list)
    acted = set()
    for row in data.named("utterances", split):
        if row["action"] != "message":
            acted.add(row["dialogue_id"])
        elif row["dialogue_id"] not in acted:
            said[row["dialogue_id"]].append((row["speaker"], row["text"]))
    for row in data.named("outcomes", split):
        talk = spoken(said[row["dialogue_id"]])
        user = f"Category: {row['category']}\nList price: {dollars(row['list_price'])}\n\n"
        user += f"The messages:\n{talk or '(none)'}"
        schema = object_schema(probability=_PROBABILITY)
        yield Question((row["dialogue_id"],), chat(_DEAL, user), schema)


def read_probability(text: str, _: Question) -> Mapping[str, Any] | Unreadable:
    """Read a probability."""
    number = read_number(text, "probability", 0, 1)
    return number if isinstance(number, Unreadable) else {"probability": number}


DEAL = Asking("1", deal, read_probability, max_tokens=60)
