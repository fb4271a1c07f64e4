"""The prompt of the task `intents`, and how answers are read.

A change of a prompt or reader needs a new `version`: tests hold the sha256 of the sample's prompts.
"""

from collections.abc import Iterator
from typing import Any

from parley import Asking, Data, Key, Question, chat, object_schema, read_labels, reader, spoken

from .rows import TYPES
from .views import places_of

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
_TYPE = {"type": "string", "enum": TYPES}
_TYPES = {"type": "array", "items": _TYPE, "maxItems": len(TYPES)}


def said(data: Data, part: str) -> Iterator[tuple[Key, list[Any], dict[str, Any]]]:
    """Yield of each listed utterance its key, the turns up to it, and its entry."""
    column = {"crowd": "intent_annotations", "curated": "intents"}[part]
    for row in data.rows(part, *data.splits(part)):
        places = places_of(row["turns"])
        for entry in row[column] or ():
            number = entry["utterance"]
            yield (row["dialogue_id"], number), row["turns"][: places[number] + 1], entry


def intents(data: Data) -> Iterator[Question]:
    """Ask for the types of each reviewed utterance, given the conversation up to it."""
    for key, turns, _ in said(data, "curated"):
        *before, last = ((turn["role"], turn["text"]) for turn in turns)
        talk = spoken(before) or "(nothing)"
        user = f"Before it:\n{talk}\n\nThe utterance:\n{spoken([last])}"
        yield Question(key, chat(_INTENTS, user), object_schema(types=_TYPES))


INTENTS = Asking("2", intents, reader(read_labels, "types", TYPES), max_tokens=60)
