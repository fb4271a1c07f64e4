"""The talks of two campers as the prompts show them: without deal actions."""

from collections import defaultdict
from typing import Any

from parley.building.figures import Data
from parley.tasks.asking import spoken

SETTING = (
    "Two campsite neighbours negotiate over three packages each of Food, Water and Firewood. Each "
    "neighbour has a private order of priorities: a package of the high, medium and low priority "
    "is worth 5, 4 and 3 points."
)


def dialogues(data: Data) -> dict[int, list[dict[str, Any]]]:
    """Return the utterances of each dialogue, without deal actions."""
    found: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for row in data.rows("utterances", "train"):
        if row["data"] is None and row["issue2youget"] is None:
            found[row["dialogue_id"]].append(row)
    return found


def heard(rows: list[dict[str, Any]], side: str) -> str:
    """Return a dialogue as lines, as one side hears it."""
    return spoken(("You" if row["speaker"] == side else "Partner", row["text"]) for row in rows)


def seen(rows: list[dict[str, Any]]) -> str:
    """Return a dialogue as lines, from outside."""
    return spoken((row["speaker"], row["text"]) for row in rows)
