"""Lays a DUO dialogue out for `parley show`."""

from typing import Any

from parley.transcript import Transcript, Turn

CONFIGS = ("dialogues",)

_ABOUT = ("setting", "language", "model", "prompt", "emotion", "episode", "topic")
_ASPECTS = ("preference", "stylistic_similarity", "consistency", "empathy", "engagingness")


def transcript(row: dict[str, Any]) -> Transcript:
    """Return the transcript of a row of `dialogues`."""
    return Transcript(
        title=f"DUO dialogue {row['dialogue_id']}",
        before=[(name, row[name]) for name in _ABOUT if row[name] is not None],
        turns=[Turn(message["speaker"], message["message"]) for message in row["dialogue"]],
        after=[
            (aspect.replace("_", " "), _ratings(row, aspect))
            for aspect in _ASPECTS
            if row["subjective_evaluation"][aspect] is not None
        ],
    )


def _ratings(row: dict[str, Any], aspect: str) -> str:
    """Return the user's score and, where there are any, the annotators' mean and scores."""
    ratings = f"user {row['subjective_evaluation'][aspect]:g}"
    objective = row["objective_evaluation"]
    if objective is not None:
        scores = ", ".join(f"{score:g}" for score in objective[f"{aspect}_scores"])
        ratings += f"; annotators {objective[aspect]:g} ({scores})"
    return ratings
