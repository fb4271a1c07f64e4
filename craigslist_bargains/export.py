"""Write CraigslistBargains as a ConvoKit corpus.

A conversation is a negotiation, with the other fields of its row as metadata. An utterance is an
event; only messages have text. Upstream does not identify people across negotiations, so each has
its own buyer and seller.
"""

from typing import Any

from parley.read import convokit

CORPUS = {
    "name": "CraigslistBargains",
    "dataset_url": "https://worksheets.codalab.org/worksheets/0x453913e76b65495d8b9730d41c7e0a0c/",
    "paper_url": "https://aclanthology.org/D18-1256/",
}


def _speaker(row: dict[str, Any], event: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the id and metadata of the side of an event."""
    side = row["scenario"]["kbs"][event["agent"]]["personal"]
    return f"{row['uuid']} {side['Role']}", {**side, "agent": event["agent"], "uuid": row["uuid"]}


EXPORTS = {"convokit": convokit(CORPUS, "events", "text", _speaker, "time")}
