"""Lays a CaSiNo dialogue out for `parley show`."""

from typing import Any

from parley.transcript import Transcript, Turn

CONFIGS = ("dialogues", "official_split")

_DECISIONS = {
    "accept_deal": "accepts the deal",
    "reject_deal": "rejects the deal",
    "walk_away": "walks away",
}


def transcript(row: dict[str, Any]) -> Transcript:
    """Lay out one dialogue, with the strategies beside the utterances they label."""
    before, after = [], []
    for agent, side in row["participant_info"].items():
        for level in ("High", "Medium", "Low"):
            item, reason = side["value2issue"][level], side["value2reason"][level]
            before.append((f"{_name(agent)}, {level.lower()}", f"{item}: {reason}"))
        outcomes = side["outcomes"]
        after += [
            (f"{_name(agent)}, points", str(outcomes["points_scored"])),
            (f"{_name(agent)}, satisfaction", outcomes["satisfaction"]),
            (f"{_name(agent)}, opponent likeness", outcomes["opponent_likeness"]),
        ]
    return Transcript(f"CaSiNo dialogue {row['dialogue_id']}", before, _turns(row), after)


def _turns(row: dict[str, Any]) -> list[Turn]:
    """Return the turns, each annotation beside the next utterance that has its text.

    Annotations follow the order of the utterances but not their positions: deal actions have
    none, and in three annotated dialogues an utterance has none either.
    """
    annotations = list(row["annotations"])
    turns = []
    for entry in row["chat_logs"]:
        notes: tuple[str, ...] = ()
        action = _action(entry["task_data"])
        if not action and annotations and annotations[0][0] == entry["text"]:
            labels = annotations.pop(0)[1].split(",")
            notes = tuple(label or "(empty label)" for label in labels)
        turns.append(Turn(_name(entry["id"]), action or entry["text"], notes, bool(action)))
    if annotations:
        raise ValueError(
            f"dialogue {row['dialogue_id']}: expected an utterance for each annotation, in order; "
            f"found none for {annotations[0][0]!r}"
        )
    return turns


def _action(task_data: dict[str, Any]) -> str:
    """Return a deal action in words, or "" for an utterance."""
    if task_data["issue2youget"]:
        mine, theirs = (_items(task_data[key]) for key in ("issue2youget", "issue2theyget"))
        return f"submits a deal: {mine} for me; {theirs} for you"
    return _DECISIONS[task_data["data"]] if task_data["data"] else ""


def _items(counts: dict[str, str]) -> str:
    return ", ".join(f"{counts[item]} {item.lower()}" for item in ("Food", "Water", "Firewood"))


def _name(agent: str) -> str:
    return agent.removeprefix("mturk_").replace("_", " ")
