"""Lay out a DUO dialogue for reading, and name the columns that filter first."""

from typing import Any

from parley.read import Facet, Table, Transcript, Turn

from .records import ASPECTS
from .views import ROLES

CONFIGS = ("dialogues",)
TABLES = {"ratings": "dialogue_id", "utterances": "dialogue_id"}
FACETS = {
    "language": Facet(column="dialogues.language"),
    "setting": Facet(column="dialogues.setting"),
    "model": Facet(column="dialogues.model"),
    "prompt": Facet(column="messages.prompt_style"),
    **{
        f"{aspect.replace('_', ' ')}, {by}": Facet(
            f"{aspect.replace('_', ' ')} is {{}} by {who}", column=f"dialogues.{column}.{aspect}"
        )
        for aspect in ASPECTS
        for by, who, column in (
            ("own", "the person", "subjective_evaluation"),
            ("others", "others", "objective_evaluation"),
        )
    },
    "source of ratings": Facet(
        "has {} ratings", "does not have {} ratings", column="ratings.source"
    ),
    "turns": Facet("there are {} turns", column="utterances"),
}
SAID = {"utterances": "text"}

_ABOUT = ("setting", "language", "model", "prompt", "emotion", "episode", "topic")


def transcript(row: dict[str, Any]) -> Transcript:
    """Return the transcript of a row of `dialogues`."""
    preference = f"{row['subjective_evaluation']['preference']:g}"
    return Transcript(
        title=f"DUO dialogue {row['dialogue_id']}",
        before=[(name, row[name]) for name in _ABOUT if row[name] is not None],
        turns=[Turn(message["speaker"], message["message"]) for message in row["dialogue"]],
        sides={speaker: [] for speaker in ROLES},
        tables=[_ratings(row)],
        language=row["language"],
        entry=f"{row['dialogue_id']} · preference {preference}",
    )


def _ratings(row: dict[str, Any]) -> Table:
    """Return the person's score of each aspect and the annotators' scores, if any."""
    own, others = row["subjective_evaluation"], row["objective_evaluation"]
    rated = [aspect for aspect in ASPECTS if own[aspect] is not None]
    columns = ["person"]
    cells = [[f"{own[aspect]:g}"] for aspect in rated]
    if others is not None:
        columns += ["mean of others", "others"]
        for aspect, scores in zip(rated, cells, strict=True):
            each = (f"{score:g}" for score in others[f"{aspect}_scores"])
            scores += [f"{others[aspect]:g}", ", ".join(each)]
    rows = tuple((_spaced(aspect), tuple(c)) for aspect, c in zip(rated, cells, strict=True))
    return Table("rating", tuple(columns), rows)


def _spaced(aspect: str) -> str:
    return aspect.replace("_", " ")
