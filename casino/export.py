"""Writes CaSiNo as a ConvoKit corpus, equal in content to ConvoKit's own casino-corpus.

Ids, the reply-to chain and which utterances are annotated come from `utterances`; what upstream
says, in upstream's strings, comes from `dialogues`.
"""

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

from parley.figures import Data

CORPUS = {
    "name": "Campsite Negotiation Dialogues",
    "dataset_url": "https://github.com/kushalchawla/CaSiNo",
    "paper_url": "https://aclanthology.org/2021.naacl-main.254/",
}
# What metadata each component has, and of which type, as ConvoKit keeps count of it.
_STR, _INT, _DICT = (["<class 'str'>"], ["<class 'int'>"], ["<class 'dict'>"])
INDEX = {
    "utterances-index": {
        "data": _STR,
        "issue2youget": _DICT,
        "issue2theyget": _DICT,
        "dialogue_id": _INT,
        "annotations": _STR,
        "speaker_internal_id": _STR,
        "speaker_id": _STR,
    },
    "speakers-index": {"speaker_id": _STR, "demographics": _DICT, "personality": _DICT},
    "conversations-index": {"dialogue_id": _INT, "participant_info": _DICT},
    "overall-index": dict.fromkeys(CORPUS, _STR),
    "version": 2,
    "vectors": [],
}


def convokit(data: Data, folder: Path) -> None:
    """Write the files that `convokit.Corpus(filename=folder)` opens."""
    utterances: list[dict[str, Any]] = []
    speakers: dict[str, Any] = {}
    conversations: dict[str, Any] = {}
    rows = defaultdict(list)
    for row in data.rows("utterances", "train"):
        rows[row["dialogue_id"]].append(row)
    for record in map(data.module.to_record, data.rows("dialogues", "train")):
        turns = rows[record["dialogue_id"]]
        conversations[turns[0]["id"]] = {"meta": conversation(record), "vectors": []}
        annotations = iter(record["annotations"])
        for entry, row in zip(record["chat_logs"], turns, strict=True):
            labels = None if row["annotations"] is None else next(annotations)[1]
            utterances.append(utterance(record, entry, row, labels))
            meta = speaker(record["participant_info"][entry["id"]], row["speaker_id"])
            speakers[row["speaker_id"]] = {"meta": meta, "vectors": []}
    write(folder / "utterances.jsonl", *utterances)
    write(folder / "speakers.json", speakers)
    write(folder / "conversations.json", conversations)
    write(folder / "corpus.json", CORPUS)
    write(folder / "index.json", INDEX)


def utterance(
    record: dict[str, Any], entry: dict[str, Any], row: dict[str, Any], labels: str | None
) -> dict[str, Any]:
    """Return a chat entry as ConvoKit stores it."""
    return {
        "id": row["id"],
        "conversation_id": row["conversation_id"],
        "text": entry["text"],
        "speaker": row["speaker_id"],
        "meta": {
            **entry["task_data"],
            "dialogue_id": record["dialogue_id"],
            "annotations": labels,
            "speaker_internal_id": entry["id"],
            "speaker_id": row["speaker_id"],
        },
        "reply-to": row["reply_to"],
        "timestamp": None,
        "vectors": [],
    }


def speaker(side: dict[str, Any], speaker_id: str) -> dict[str, Any]:
    """Return the metadata of a participant."""
    about = {key: side[key] for key in ("demographics", "personality")}
    return {"speaker_id": speaker_id, **about}


def conversation(record: dict[str, Any]) -> dict[str, Any]:
    """Return the metadata of a dialogue: what the two sides wanted and what they made of it."""
    sides = {
        name: {key: side[key] for key in ("value2issue", "value2reason", "outcomes")}
        for name, side in record["participant_info"].items()
    }
    return {"dialogue_id": record["dialogue_id"], "participant_info": sides}


def write(path: Path, *values: Any) -> None:
    """Write each value as a line of JSON; ASCII, since ConvoKit opens files without an encoding."""
    path.write_text("".join(json.dumps(value) + "\n" for value in values), encoding="ascii")


EXPORTS = {"convokit": convokit}
