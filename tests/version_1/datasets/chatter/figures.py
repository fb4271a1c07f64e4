# figures.py
"""Chatter's documented figures. paper: Someone 2026. readme: upstream's README."""

from parley import Data, Differs, documented

RATED = Differs(2, 1, "one of them has no rating")  # stated, measured, the reason


@documented("paper, table 1", {"dialogues": 2, "rated": RATED, "mean turns": "3.0"})
def size(data: Data, what: str) -> float:
    """Size of the dataset."""
    dialogues = data.rows("dialogues", "train")
    rated = sum(dialogue["rating"] is not None for dialogue in dialogues)
    turns = sum(len(dialogue["turns"]) for dialogue in dialogues)
    return {"dialogues": len(dialogues), "rated": rated}.get(what, turns / len(dialogues))
