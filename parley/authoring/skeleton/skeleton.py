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

from parley import CHAT, Builder, Config, File, View, chat_of

DIALOGUE = {
    "id": str,
    "turns": [{"speaker": {"customer", "clerk"}, "text": str}],
    "rating?": {1, 2, 3, 4, 5},
}


def require_turns(record: dict[str, Any]) -> None:
    """Raise ValueError for a contradiction that the shape cannot express."""
    if not record["turns"]:
        raise ValueError("turns: expected at least one, found none")


# Replace this pin of the sample's file by that of upstream's.
DATA = File(
    "dialogues.jsonl",
    DIALOGUE,
    url="https://example.org/skeleton/1.0/dialogues.jsonl",
    size=423,
    sha256="0f461b7785d3a48e8c8cd93a580276d08a920e59ae4c70e4a87a7865de8f8fc3",
    validate=require_turns,
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
    CITATION = """\
@inproceedings{someone2026skeleton,
  title = {The Title of the Paper},
  author = {Someone, Ann},
  year = {2026}
}"""
    CONFIGS = [
        Config("dialogues", "all dialogues, as published", {"train": [DATA]}, key="id"),
        View(
            "messages",
            "chats, the clerk the assistant",
            of="dialogues",
            rows=messages,
            features={"id": str, **CHAT},
            key="id",
        ),
    ]
