"""Skeleton's documented figures.

paper: name each document with figures here; the places below use this short name.
"""

from typing import Any

from parley import Data, documented


def dialogues(data: Data) -> list[dict[str, Any]]:
    """All dialogues."""
    return data.rows("dialogues", "train")


# The notation sets the precision: 2 must be equal, "3.0" is rounded to one decimal.
@documented("paper, table 1", {"dialogues": 2, "turns": 6, "turns of a dialogue": "3.0"})
def size(data: Data, what: str) -> float:
    """How large the dataset is."""
    turns = sum(len(dialogue["turns"]) for dialogue in dialogues(data))
    count = len(dialogues(data))
    return {"dialogues": count, "turns": turns, "turns of a dialogue": turns / count}[what]
