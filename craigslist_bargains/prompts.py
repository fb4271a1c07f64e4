"""The prompt of the task `deal`, and how answers are read.

A change of a prompt or reader needs a new `version`: tests hold the sha256 of the sample's prompts.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from parley import Asking, Data, Question, chat, object_schema, read_number, reader, spoken

from .views import dollars

_DEAL = (
    "A buyer and a seller negotiate over a post on Craigslist. Read their messages, without any "
    "offer or answer to one, and estimate the probability that they reach a deal. Answer in JSON: "
    '{"probability": p}, with p from 0 to 1.'
)
_PROBABILITY = {"type": "number", "minimum": 0, "maximum": 1}


def before_actions(rows: Iterable[dict[str, Any]]) -> Mapping[str, list[dict[str, Any]]]:
    """Return the messages of each dialogue before any other action."""
    said: dict[str, list[dict[str, Any]]] = defaultdict(list)
    acted = set()
    for row in rows:
        if row["action"] != "message":
            acted.add(row["dialogue_id"])
        elif row["dialogue_id"] not in acted:
            said[row["dialogue_id"]].append(row)
    return said


def deal(data: Data, split: str = "test") -> Iterator[Question]:
    """Ask for each dialogue, given the messages before any other action."""
    said = before_actions(data.named("utterances", split))
    for row in data.named("outcomes", split):
        talk = spoken((turn["speaker"], turn["text"]) for turn in said[row["dialogue_id"]])
        user = f"Category: {row['category']}\nList price: {dollars(row['list_price'])}\n\n"
        user += f"The messages:\n{talk or '(none)'}"
        schema = object_schema(probability=_PROBABILITY)
        yield Question((row["dialogue_id"],), chat(_DEAL, user), schema)


DEAL = Asking("1", deal, reader(read_number, "probability", 0, 1), max_tokens=60)
