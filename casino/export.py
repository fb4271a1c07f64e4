"""Write CaSiNo as a ConvoKit corpus, equal in content to ConvoKit's own casino-corpus.

Ids, the reply-to chain and the annotated utterances come from `utterances`; upstream's strings come
from `dialogues`.
"""

from collections import defaultdict
from pathlib import Path
from typing import Any

from parley.figures import Data
from parley.jobs import write_corpus

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
    rows = defaultdict(list)
    for row in data.rows("utterances", "train"):
        rows[row["dialogue_id"]].append(row)
    records = (data.record("dialogues", row) for row in data.rows("dialogues", "train"))
    conversations = (_conversation(record, rows[record["dialogue_id"]]) for record in records)
    write_corpus(folder, CORPUS, conversations, INDEX)


def _conversation(record: dict[str, Any], rows: list[dict[str, Any]]) -> Any:
    """Return a dialogue with the ids of its rows of `utterances`."""
    about = {"dialogue_id": record["dialogue_id"]}
    annotations, people, said = iter(record["annotations"]), record["participant_info"], []
    for entry, row in zip(record["chat_logs"], rows, strict=True):
        labels = None if row["annotations"] is None else next(annotations)[1]
        id = {"speaker_id": row["speaker_id"]}
        side = {"annotations": labels, "speaker_internal_id": entry["id"], **id}
        person = id | kept(people[entry["id"]], "demographics", "personality")
        meta = {**entry["task_data"], **about, **side}
        said.append((row["speaker_id"], person, entry["text"], meta))
    sides = {
        name: kept(side, "value2issue", "value2reason", "outcomes") for name, side in people.items()
    }
    return [row["id"] for row in rows], {**about, "participant_info": sides}, said


def kept(side: dict[str, Any], *keys: str) -> dict[str, Any]:
    """Return these values of a side."""
    return {key: side[key] for key in keys}


EXPORTS = {"convokit": convokit}
