"""The prompt of the task `intents`, and how answers are read.

A change of a prompt or reader needs a new `version`: tests hold the sha256 of the sample's prompts.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from parley import Asking, Data, Question, Unreadable, chat, object_schema, read_labels, spoken

from .rows import TYPES

DEFINITIONS = {
    "search": "the user looks for information, which a passage of a web page can give",
    "recommendation": "the user looks for products to buy or consider",
    "product_details": "the user asks about a property of a product that was named",
}
_INTENTS = "\n".join(
    [
        "You label utterances of a user who talks with a shopping assistant. An utterance can have "
        "several of these types of intents, or none:",
        *(f"- {name}: {meaning}" for name, meaning in DEFINITIONS.items()),
        'Answer in JSON: {"types": [...]}, with the types of the last utterance alone; [] for '
        "none.",
    ]
)
_TYPES = {"type": "array", "items": {"enum": TYPES}, "maxItems": len(TYPES)}


def intents(data: Data) -> Iterator[Question]:
    """Ask for the types of each reviewed utterance, given the conversation up to it."""
    for row in data.rows("curated", *data.splits("curated")):
        turns = row["turns"]
        places = [place for place, turn in enumerate(turns) if turn["role"] == "user"]
        for entry in row["intents"] or ():
            place = places[entry["utterance"]]
            talk = spoken((turn["role"], turn["text"]) for turn in turns[:place])
            last = spoken([("user", turns[place]["text"])])
            user = f"Before it:\n{talk or '(nothing)'}\n\nThe utterance:\n{last}"
            key = (row["dialogue_id"], entry["utterance"])
            yield Question(key, chat(_INTENTS, user), object_schema(types=_TYPES))


def read_types(text: str, _: Question) -> Mapping[str, Any] | Unreadable:
    """Read the types of an utterance."""
    types = read_labels(text, TYPES, "types")
    return types if isinstance(types, Unreadable) else {"types": types}


INTENTS = Asking("1", intents, read_types, max_tokens=60)
