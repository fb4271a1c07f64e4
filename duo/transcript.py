"""The transcript of a DUO dialogue, and its facets for search."""

from typing import Any

from parley.read import Facet, Facets, Table, Transcript, Turn

from .records import ASPECTS
from .views import ROLES

CONFIGS = ("dialogues",)
TABLES = {"ratings": "dialogue_id", "utterances": "dialogue_id"}
FACETS = {
    "setting": Facet(column="dialogues.setting"),
    "model": Facet(column="dialogues.model"),
    "prompt": Facet(order=("aligned", "neutral", "not_aligned"), column="dialogues.prompt"),
    "rated by others": Facet(order=("yes", "no")),
    **{
        f"{aspect.replace('_', ' ')}, {by}": Facet(
            f"{aspect.replace('_', ' ')} is {{}} by {who}", mean=True, column=f"{column}.{aspect}"
        )
        for aspect in ASPECTS
        for by, who, column in (
            ("own", "the person", "dialogues.subjective_evaluation"),
            ("others", "others", "dialogues.objective_evaluation"),
        )
    },
    "turns": Facet("there are {} turns", mean=True),
}

_ABOUT = ("setting", "language", "model", "prompt", "emotion", "episode", "topic")


def transcript(row: dict[str, Any]) -> Transcript:
    """Return the transcript of a row of `dialogues`."""
    about = [row[name] for name in ("setting", "model", "prompt", "emotion", "topic") if row[name]]
    preference = f"{row['subjective_evaluation']['preference']:g}"
    return Transcript(
        title=f"DUO dialogue {row['dialogue_id']}",
        before=[(name, row[name]) for name in _ABOUT if row[name] is not None],
        turns=[Turn(message["speaker"], message["message"]) for message in row["dialogue"]],
        sides={speaker: [] for speaker in ROLES},
        tables=[_ratings(row)],
        language=row["language"],
        entry=" · ".join([str(row["dialogue_id"]), *about, f"preference {preference}"]),
    )


def facets(row: dict[str, Any]) -> Facets:
    """Return its language, setting, model and prompt, and each rating: own, and others' mean."""
    own, others = row["subjective_evaluation"], row["objective_evaluation"]
    return {
        **{name: row[name] for name in ("language", "setting", "model", "prompt")},
        "rated by others": "no" if others is None else "yes",
        **{f"{_spaced(aspect)}, own": own[aspect] for aspect in ASPECTS},
        **{
            f"{_spaced(aspect)}, others": None if others is None else others[aspect]
            for aspect in ASPECTS
        },
    }


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
