"""The prompt of the task `deal`, and how answers are read.

A change of a prompt or reader needs a new `version`: tests hold the sha256 of the sample's prompts.
"""

from collections import defaultdict
from collections.abc import Iterator

from parley import Asking, Data, Question, chat, object_schema, read_number, reader, spoken

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


DEAL = Asking("1", deal, reader(read_number, "probability", 0, 1), max_tokens=60)
