"""The layout and the filters of a Skeleton dialogue."""

from typing import Any

from parley.read import Facets, Transcript, Turn

CONFIGS = ("dialogues",)


def transcript(row: dict[str, Any]) -> Transcript:
    """Return the transcript of a row of `dialogues`."""
    return Transcript(
        title=f"Skeleton dialogue {row['id']}",
        turns=[Turn(turn["speaker"], turn["text"]) for turn in row["turns"]],
        after=[] if row["rating"] is None else [("rating", str(row["rating"]))],
    )


def facets(row: dict[str, Any]) -> Facets:
    """Return its rating and its length."""
    return {"rating": row["rating"], "turns": len(row["turns"])}
