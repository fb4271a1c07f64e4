# chatter.py
"""Chatter: people ask for things in a shop. A record looks like this (invented):

    {"id": "s1", "turns": [{"speaker": "customer", "text": "Is it open?"}], "rating": 5}

A row is the record, with null for a rating that it lacks.
"""

from parley import CHAT, Builder, Config, File, View, chat_of

TURN = {"speaker": {"customer", "clerk"}, "text": str}
DIALOGUE = {"id": str, "turns": [TURN], "rating?": {1, 2, 3, 4, 5}}
COLUMNS = {"id": str, **CHAT}
DATA = File(
    "dialogues.jsonl",  # its path in the source folder and in sample/
    DIALOGUE,
    url="https://example.org/chatter/1.0/dialogues.jsonl",
    size=423,
    sha256="0f461b7785d3a48e8c8cd93a580276d08a920e59ae4c70e4a87a7865de8f8fc3",
)


def messages(records):
    """Yield each dialogue as a chat; the clerk is the assistant."""
    roles = {"customer": "user", "clerk": "assistant"}
    for record in records:
        said = ((roles[turn["speaker"]], turn["text"]) for turn in record["turns"])
        yield {"id": record["id"], **chat_of(said)}


class Chatter(Builder):
    """Short talks of a customer and a clerk."""

    VERSION = "1.0.0"
    HOMEPAGE = "https://example.org/chatter"
    LICENSE = "unknown"
    CITATION = "@misc{chatter,\n  title = {The Title of the Paper}\n}"
    CONFIGS = [
        Config("dialogues", "all dialogues", {"train": [DATA]}, key="id"),
        View("messages", "chats", of="dialogues", rows=messages, features=COLUMNS, key="id"),
    ]
