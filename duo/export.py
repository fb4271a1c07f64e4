"""Write DUO as a ConvoKit corpus.

A conversation is a dialogue; the other columns of its row are metadata. Upstream's ids identify a
person within a language, and a bot within a language and setting.
"""

from typing import Any

from parley.read import convokit

CORPUS = {
    "name": "DUO: Dialogues with User and Objective evaluations",
    "dataset_url": "https://github.com/ikuminumaya/duo-dataset",
    "paper_url": "https://aclanthology.org/2025.sigdial-1.15/",
}


def _speaker(row: dict[str, Any], message: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the id and metadata of the speaker of a message."""
    language = row["language"]
    if message["user_id"] is not None:
        return f"{language} user {message['user_id']}", {"role": "user", "language": language}
    about = {key: row[key] for key in ("language", "setting", "model", "prompt")}
    name = f"{language} {row['setting']} system {message['system_id']}"
    return name, {"role": "system", **about}


EXPORTS = {"convokit": convokit(CORPUS, "dialogue", "message", _speaker)}
