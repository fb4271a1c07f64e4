"""Write DUO as a ConvoKit corpus.

A conversation is a dialogue; the other columns of its row are metadata. Upstream's ids identify a
person within a language, and a bot within a language and setting.
"""

from pathlib import Path
from typing import Any

from parley.figures import Data
from parley.jobs import utterance, write_corpus

CORPUS = {
    "name": "DUO: Dialogues with User and Objective evaluations",
    "dataset_url": "https://github.com/ikuminumaya/duo-dataset",
    "paper_url": "https://aclanthology.org/2025.sigdial-1.15/",
}


def convokit(data: Data, folder: Path) -> None:
    """Write the files that `convokit.Corpus(filename=folder)` opens."""
    utterances: list[dict[str, Any]] = []
    speakers: dict[str, Any] = {}
    conversations: dict[str, Any] = {}
    for split in data.splits("dialogues"):
        for row in data.rows("dialogues", split):
            about = {key: value for key, value in row.items() if key != "dialogue"}
            place = f"{row['language']} {row['setting']} {row['dialogue_id']}"
            conversations[f"{place} 0"] = about
            for turn, message in enumerate(row["dialogue"]):
                name, meta = _speaker(row, message)
                speakers[name] = meta
                before = f"{place} {turn - 1}" if turn else None
                ids = (f"{place} {turn}", f"{place} 0", before, name)
                kept = {key: message[key] for key in ("message_id", "user_id", "system_id")}
                utterances.append(utterance(*ids, message["message"], kept | {"turn": turn}))
    write_corpus(folder, CORPUS, utterances, speakers, conversations)


def _speaker(row: dict[str, Any], message: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the id and metadata of the speaker of a message."""
    language = row["language"]
    if message["user_id"] is not None:
        return f"{language} user {message['user_id']}", {"role": "user", "language": language}
    about = {key: row[key] for key in ("language", "setting", "model", "prompt")}
    name = f"{language} {row['setting']} system {message['system_id']}"
    return name, {"role": "system", **about}


EXPORTS = {"convokit": convokit}
