"""Skeleton: describe the dataset in a line here, and its origin below.

Say who collected it, how and when, and in which files. A record looks like this (invented):

    {"id": "s1",
     "turns": [{"speaker": "customer", "text": "Is the kettle still there?"},
               {"speaker": "clerk", "text": "It is."}],
     "rating": 5}

A row is the record, with null for a missing rating.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from parley import CHAT, Builder, Config, Field, File, View, chat_of

from .pins import PINS

ID = Field(str, "the dialogue")
TURN = {"speaker": Field({"customer", "clerk"}, "who speaks"), "text": Field(str, "what is said")}
DIALOGUE = {
    "id": ID,
    "turns": Field([TURN], "the turns in order"),
    "rating?": Field({1, 2, 3, 4, 5}, "the customer's rating of the talk"),
}


def require_turns(record: dict[str, Any]) -> None:
    """Raise ValueError for a contradiction that the shape cannot express."""
    if not record["turns"]:
        raise ValueError("turns: expected at least one, found none")


DATA = File("dialogues.jsonl", DIALOGUE, **PINS["dialogues.jsonl"], validate=require_turns)


def holds(row: dict[str, Any]) -> tuple[int, Iterable[str]]:
    """Return the number of turns of a dialogue, and who speaks."""
    return len(row["turns"]), {turn["speaker"] for turn in row["turns"]}


@View(
    "a chat, the clerk the assistant", {"id": ID, **CHAT}, of="dialogues", use="train a chat model"
)
def messages(records: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield each dialogue as a chat; the clerk is the assistant."""
    roles = {"customer": "user", "clerk": "assistant"}
    for record in records:
        said = ((roles[turn["speaker"]], turn["text"]) for turn in record["turns"])
        yield {"id": record["id"], **chat_of(said)}


class Skeleton(Builder):
    """Two invented dialogues of a customer and a clerk."""

    VERSION = "1.0.0"
    HOMEPAGE = "https://example.org/skeleton"
    LICENSE = "cc-by-4.0"
    LANGUAGES = ("en",)
    CONFIGS = [
        Config("dialogues", "a dialogue", {"train": [DATA]}, key="id", holds=holds, use="read"),
        messages,
    ]
