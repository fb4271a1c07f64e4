"""Skeleton's documented figures, in the order of the documents, each with its computation.

paper: the documents that state figures, each with the short name that is used below.
"""

from typing import Any

from parley import Data, documented


def dialogues(data: Data) -> list[dict[str, Any]]:
    """All dialogues."""
    return data.rows("dialogues", "train")


# How a value is written says how exact it is: 2 must be equal, "3.0" is rounded to one decimal.
@documented("paper, table 1", {"dialogues": 2, "turns": 6, "turns of a dialogue": "3.0"})
def size(data: Data, what: str) -> float:
    """How large the dataset is."""
    turns = sum(len(dialogue["turns"]) for dialogue in dialogues(data))
    count = len(dialogues(data))
    return {"dialogues": count, "turns": turns, "turns of a dialogue": turns / count}[what]
