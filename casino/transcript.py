"""Lay out a CaSiNo dialogue for reading, and name the columns that filter first."""

from typing import Any

from parley.read import Facet, Fact, Note, Table, Transcript, Turn

from .records import items_of, labelled
from .scenarios import ISSUES, POINTS
from .views import potential_of

CONFIGS = ("dialogues", "official_split")
TABLES = {"participants": "dialogue_id", "utterances": "dialogue_id"}
FACETS = {
    "strategies": Facet("used {}", "did not use {}", column="strategies.labels"),
    "deal": Facet("the deal is {}", "the deal is not {}", column="results.deal"),
    "points": Facet("got {} points", column="participants.points_scored"),
    "satisfaction": Facet("was {}", "was not {}", column="participants.satisfaction"),
    "opponent likeness": Facet(
        "answered {} about the partner", "did not answer {} about the partner",
        column="participants.opponent_likeness",
    ),
    "social value orientation": Facet(column="participants.svo"),
    "age": Facet("is {} years old", column="participants.age"),
    "education": Facet(column="participants.education"),
    "integrative potential": Facet(
        "the integrative potential is {}", column="results.integrative_potential"
    ),
    "turns": Facet("there are {} turns", column="utterances"),
    "utterances": Facet("there are {} utterances", column="results.messages"),
}  # fmt: skip
SPEAKERS = {"mturk_agent_1": "agent 1", "mturk_agent_2": "agent 2"}
SAID = {"utterances": "case when data is null and issue2youget is null then text end"}

_DECISIONS = {
    "accept_deal": "accepts the deal",
    "reject_deal": "rejects the deal",
    "walk_away": "walks away",
}
_OUTCOMES = {  # as the filters call them
    "points": "points_scored",
    "satisfaction": "satisfaction",
    "opponent likeness": "opponent_likeness",
}


def transcript(row: dict[str, Any]) -> Transcript:
    """Lay out one dialogue, with the strategies of each utterance."""
    sides = row["participant_info"]
    rows = [
        (name, tuple(str(side["outcomes"][column]) for side in sides.values()))
        for name, column in _OUTCOMES.items()
    ]
    got = items_of(row)
    if dealt := None not in got.values():
        rows.insert(0, ("packages", tuple(_items(got[agent]) for agent in sides)))
    return Transcript(
        f"CaSiNo dialogue {row['dialogue_id']}",
        turns=_turns(row),
        after=[
            ("deal", "yes" if dealt else "no"),
            ("integrative potential", str(potential_of(row))),
        ],
        sides={agent: _priorities(side) for agent, side in sides.items()},
        tables=[Table("outcome", tuple(SPEAKERS[agent] for agent in sides), tuple(rows))],
        entry=_entry(row, dealt),
    )


def _entry(row: dict[str, Any], dealt: bool) -> str:
    """Return what came of a dialogue."""
    sides = row["participant_info"].values()
    points = "–".join(str(side["outcomes"]["points_scored"]) for side in sides)
    return f"{row['dialogue_id']} · {points} points · {'deal' if dealt else 'no deal'}"


def _priorities(side: dict[str, Any]) -> list[Fact]:
    """Return the items by priority, then the reason for each."""
    items = [side["value2issue"][level] for level in POINTS]
    reasons = (side["value2reason"][level] for level in POINTS)
    return [("priorities", " > ".join(items)), *zip(items, reasons, strict=True)]


def _turns(row: dict[str, Any]) -> list[Turn]:
    turns = []
    for _, entry, labels in labelled(row):
        notes = (Note(label or "(empty label)", kind="strategy") for label in labels or ())
        turns.append(_action(entry) or Turn(entry["id"], entry["text"], tuple(notes)))
    return turns


def _action(entry: dict[str, Any]) -> Turn | None:
    """Return a deal action, or None for an utterance."""
    agent, task = entry["id"], entry["task_data"]
    if not task["issue2youget"]:
        return Turn(agent, _DECISIONS[task["data"]], action=True) if task["data"] else None
    mine, theirs = (_items(task[key]) for key in ("issue2youget", "issue2theyget"))
    said = f"submits a deal: {mine} for me; {theirs} for you"
    return Turn(agent, said, action=True)


def _items(counts: dict[str, Any]) -> str:
    return ", ".join(f"{counts[item]} {item.lower()}" for item in ISSUES)
