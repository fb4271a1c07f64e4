"""The layout and the filters of a played negotiation."""

from typing import Any

from parley.views import Facets, Table, Transcript, Turn

CONFIGS = ("dialogues",)
ORDER = {"end": ("deal", "walk_away", "turn_limit")}


def transcript(row: dict[str, Any]) -> Transcript:
    """Return a negotiation with the points of both sides beside those of the people."""
    sides = row["sides"]
    rows = tuple(
        (name.replace("_", " "), tuple(str(side[name]) for side in sides))
        for name in ("model", "points", "points_of_people")
    )
    return Transcript(
        title=f"{row['id']}, played",
        turns=[Turn(turn["speaker"], turn["text"]) for turn in row["turns"]],
        after=[("end", row["end"])],
        sides={side["speaker"]: [] for side in sides},
        tables=[Table("outcome", tuple(side["speaker"] for side in sides), rows)],
    )


def facets(row: dict[str, Any]) -> Facets:
    """Return its end, the points of both sides and its length."""
    points = [side["points"] for side in row["sides"] if side["points"] is not None]
    return {"end": row["end"], "points": points, "turns": len(row["turns"])}
