"""Write CraigslistBargains as a ConvoKit corpus.

A conversation is a negotiation, with the other fields of its row as metadata. An utterance is an
event; only messages have text. Upstream does not identify people across negotiations, so each has
its own buyer and seller.
"""

from pathlib import Path
from typing import Any

from parley.figures import Data
from parley.jobs import utterance, write_corpus

CORPUS = {
    "name": "CraigslistBargains",
    "dataset_url": "https://worksheets.codalab.org/worksheets/0x453913e76b65495d8b9730d41c7e0a0c/",
    "paper_url": "https://aclanthology.org/D18-1256/",
}


def convokit(data: Data, folder: Path) -> None:
    """Write the files that `convokit.Corpus(filename=folder)` opens."""
    utterances: list[dict[str, Any]] = []
    speakers: dict[str, Any] = {}
    conversations: dict[str, Any] = {}
    for split in data.splits("negotiations"):
        for row in data.rows("negotiations", split):
            about = {key: value for key, value in row.items() if key != "events"}
            first = f"{row['uuid']} 0"
            conversations[first] = about | {"split": split}
            names = []
            for agent, side in enumerate(row["scenario"]["kbs"]):
                names.append(f"{row['uuid']} {side['personal']['Role']}")
                speakers[names[-1]] = {**side["personal"], "agent": agent, "uuid": row["uuid"]}
            for turn, event in enumerate(row["events"]):
                before = f"{row['uuid']} {turn - 1}" if turn else None
                ids = (f"{row['uuid']} {turn}", first, before, names[event["agent"]])
                meta = {key: value for key, value in event.items() if key != "text"}
                utterances.append(utterance(*ids, event["text"] or "", meta | {"turn": turn}))
    write_corpus(folder, CORPUS, utterances, speakers, conversations)


EXPORTS = {"convokit": convokit}
