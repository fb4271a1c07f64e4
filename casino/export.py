"""Write CaSiNo as a ConvoKit corpus, equal in content to ConvoKit's own casino-corpus.

Ids, the reply-to chain and the annotated utterances come from `utterances`; upstream's strings come
from `dialogues`.
"""

from collections import defaultdict
from pathlib import Path
from typing import Any

from parley.figures import Data
from parley.jobs import utterance, write_corpus

CORPUS = {
    "name": "Campsite Negotiation Dialogues",
    "dataset_url": "https://github.com/kushalchawla/CaSiNo",
    "paper_url": "https://aclanthology.org/2021.naacl-main.254/",
}
# The metadata of each component and its types, as in ConvoKit's index.
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
    for row in data.rows("dialogues", "train"):
        record = data.record("dialogues", row)
        turns = rows[record["dialogue_id"]]
        conversations[turns[0]["id"]] = {
            "dialogue_id": record["dialogue_id"],
            "participant_info": {
                side: kept(info, "value2issue", "value2reason", "outcomes")
                for side, info in record["participant_info"].items()
            },
        }
        annotations = iter(record["annotations"])
        for entry, row in zip(record["chat_logs"], turns, strict=True):
            labels = None if row["annotations"] is None else next(annotations)[1]
            meta = {
                **entry["task_data"],
                "dialogue_id": record["dialogue_id"],
                "annotations": labels,
                "speaker_internal_id": entry["id"],
                "speaker_id": row["speaker_id"],
            }
            ids = (row["id"], row["conversation_id"], row["reply_to"], row["speaker_id"])
            utterances.append(utterance(*ids, entry["text"], meta))
            about = kept(record["participant_info"][entry["id"]], "demographics", "personality")
            speakers[row["speaker_id"]] = {"speaker_id": row["speaker_id"], **about}
    write_corpus(folder, CORPUS, utterances, speakers, conversations, INDEX)


def kept(side: dict[str, Any], *keys: str) -> dict[str, Any]:
    """Return these values of a side."""
    return {key: side[key] for key in keys}


EXPORTS = {"convokit": convokit}
