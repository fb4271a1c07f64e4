"""Lay out a CaSiNo dialogue for reading, and give its facets."""

from typing import Any

from parley.read import Facet, Facets, Fact, Note, Table, Transcript, Turn

from .records import LIKENESS, PARTNER, SATISFACTION, STRATEGIES, items_of, labelled
from .scenarios import ISSUES, POINTS
from .views import potential_of

CONFIGS = ("dialogues", "official_split")
TABLES = {"participants": "dialogue_id", "utterances": "dialogue_id"}
FACETS = {
    "strategies": Facet(
        "used {}", "did not use {}", order=STRATEGIES, column="strategies.labels"
    ),
    "deal": Facet(
        "the deal is {}", "the deal is not {}", order=("yes", "no"), column="participants.deal"
    ),
    "points": Facet("got {} points", mean=True, column="participants.points_scored"),
    "satisfaction": Facet(
        "was {}", "was not {}",
        order=SATISFACTION, mean=True, column="participants.satisfaction",
    ),
    "opponent likeness": Facet(
        "answered {} about the partner", "did not answer {} about the partner",
        order=LIKENESS, mean=True, column="participants.opponent_likeness",
    ),
    "age": Facet("is {} years old", column="participants.age"),
    "education": Facet(column="participants.education"),
    "integrative potential": Facet(
        "the integrative potential is {}", column="participants.integrative_potential"
    ),
    "turns": Facet("there are {} turns", mean=True),
    "utterances": Facet("there are {} utterances"),
}  # fmt: skip

_DECISIONS = {
    "accept_deal": "accepts the deal",
    "reject_deal": "rejects the deal",
    "walk_away": "walks away",
}
_OUTCOMES = ("points_scored", "satisfaction", "opponent_likeness")


def transcript(row: dict[str, Any]) -> Transcript:
    """Lay out one dialogue, with the strategies of each utterance."""
    sides = row["participant_info"]
    rows = [
        (_spaced(name), tuple(str(side["outcomes"][name]) for side in sides.values()))
        for name in _OUTCOMES
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
        sides={_name(agent): _priorities(side) for agent, side in sides.items()},
        tables=[Table("outcome", tuple(map(_name, sides)), tuple(rows))],
        entry=_entry(row, dealt),
    )


def facets(row: dict[str, Any]) -> Facets:
    """Return its deal and potential, and of both sides strategies, outcomes and the person."""
    sides = row["participant_info"]
    used: dict[str, list[str]] = {agent: [] for agent in sides}
    for _, entry, labels in labelled(row):
        used[entry["id"]] += filter(None, labels or ())

    def each(group: str, name: str) -> dict[str, Any]:
        return {agent: side[group][name] for agent, side in sides.items()}

    return {
        "strategies": {agent: list(dict.fromkeys(labels)) for agent, labels in used.items()},
        "deal": "no" if None in items_of(row).values() else "yes",
        "points": each("outcomes", "points_scored"),
        "satisfaction": each("outcomes", "satisfaction"),
        "opponent likeness": each("outcomes", "opponent_likeness"),
        "social value orientation": each("personality", "svo"),
        "age": each("demographics", "age"),
        "education": each("demographics", "education"),
        "integrative potential": potential_of(row),
    }


def _entry(row: dict[str, Any], dealt: bool) -> str:
    """Return what came of a dialogue, and its strategies but the common ones."""
    sides = row["participant_info"].values()
    points = "–".join(str(side["outcomes"]["points_scored"]) for side in sides)
    used = {label for _, names in row["annotations"] for label in names.split(",")}
    told = [str(row["dialogue_id"]), f"{points} points", "deal" if dealt else "no deal"]
    rare = [label for label in STRATEGIES if label in used - {"small-talk", "non-strategic"}]
    return " · ".join([*told, ", ".join(rare)] if rare else told)


def _priorities(side: dict[str, Any]) -> list[Fact]:
    return [
        (level.lower(), f"{side['value2issue'][level]}: {side['value2reason'][level]}")
        for level in POINTS
    ]


def _turns(row: dict[str, Any]) -> list[Turn]:
    turns = []
    for _, entry, labels in labelled(row):
        notes = (Note(label or "(empty label)", kind="strategy") for label in labels or ())
        turns.append(_action(entry) or Turn(_name(entry["id"]), entry["text"], tuple(notes)))
    return turns


def _action(entry: dict[str, Any]) -> Turn | None:
    """Return a deal action, or None for an utterance."""
    agent, task = entry["id"], entry["task_data"]
    if not task["issue2youget"]:
        return Turn(_name(agent), _DECISIONS[task["data"]], action=True) if task["data"] else None
    mine, theirs = (_items(task[key]) for key in ("issue2youget", "issue2theyget"))
    said = f"submits a deal: {mine} for me; {theirs} for you"
    terms = ((_name(agent), mine), (_name(PARTNER[agent]), theirs))
    return Turn(_name(agent), said, action=True, terms=terms)


def _items(counts: dict[str, Any]) -> str:
    return ", ".join(f"{counts[item]} {item.lower()}" for item in ISSUES)


def _name(agent: str) -> str:
    return _spaced(agent.removeprefix("mturk_"))


def _spaced(name: str) -> str:
    return name.replace("_", " ")
