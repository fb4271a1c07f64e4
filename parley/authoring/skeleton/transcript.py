"""The layout of a Skeleton dialogue, and the columns that filter first."""

from typing import Any

from parley.read import Facet, Transcript, Turn

CONFIGS = ("dialogues",)
FACETS = {"rating": Facet("the rating is {}", column="dialogues.rating")}


def transcript(row: dict[str, Any]) -> Transcript:
    """Return the transcript of a row of `dialogues`."""
    return Transcript(
        title=f"Skeleton dialogue {row['id']}",
        turns=[Turn(turn["speaker"], turn["text"]) for turn in row["turns"]],
        after=[] if row["rating"] is None else [("rating", str(row["rating"]))],
    )
