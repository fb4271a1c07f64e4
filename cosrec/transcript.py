"""Lays a CoSRec conversation out for `parley show`."""

from collections import Counter
from statistics import mean
from typing import Any

from parley.transcript import Transcript, Turn

CONFIGS = ("crowd", "curated", "dialogues", "queries")  # of queries the id is the query id

_GRADES = {2: "highly relevant", 1: "partially relevant", 0: "not relevant"}


def transcript(row: dict[str, Any]) -> Transcript:
    """Lay out one conversation: intents beside the user's turns, ratings and users after it.

    A row of `queries` is laid out as its formulations, the judged documents after them.
    """
    if "query_id" in row:
        return _query(row)
    notes = _notes(row)
    turns, utterance = [], 0  # intents count the user's turns only
    for turn in row["turns"]:
        if turn["role"] == "user":
            turns.append(Turn("user", turn["text"], notes.get(utterance, ())))
            utterance += 1
        else:
            turns.append(Turn("system", turn["text"]))
    return Transcript(f"CoSRec conversation {row['dialogue_id']}", turns=turns, after=_after(row))


def _query(row: dict[str, Any]) -> Transcript:
    after = []
    for grade, name in _GRADES.items():
        documents = [j["document_id"] for j in row["judgments"] if j["relevance"] == grade]
        after.append((f"{name}, {len(documents)}", ", ".join(documents)))
    user = [] if row["user_index"] is None else [("user index", str(row["user_index"]))]
    return Transcript(
        f"CoSRec query {row['query_id']}",
        [("utterance", f"{row['utterance']} of {row['dialogue_id']}"), *user],
        [
            Turn("query", text, ("canonical",) if text == row["text"] else ())
            for text in row["variants"]
        ],
        after,
    )


def _notes(row: dict[str, Any]) -> dict[int, tuple[str, ...]]:
    """Return what was annotated, by the index of the user's turn."""
    notes = {}
    for entry in row.get("intents") or ():
        notes[entry["utterance"]] = tuple(_reviewed(intent) for intent in entry["intents"])
    for entry in row.get("intent_annotations") or ():
        notes[entry["utterance"]] = _annotated(entry["intent_annotations"])
    return notes


def _reviewed(intent: dict[str, Any]) -> str:
    """Return an intent with its canonical formulation, which upstream defines as the longest."""
    about = f" of {intent['product']}" if intent["product"] is not None else ""
    return f"{intent['type']}{about}: {max(intent['query_variants'], key=len, default='')}"


def _annotated(annotators: list[list[dict[str, str]]]) -> tuple[str, ...]:
    """Return each type of intent, and how many of the annotators saw it."""
    seen = Counter(
        type_ for intents in annotators for type_ in {i["type"]: None for i in intents} or ["none"]
    )
    return tuple(f"{type_} {count}/{len(annotators)}" for type_, count in seen.most_common())


def _after(row: dict[str, Any]) -> list[tuple[str, str]]:
    after = []
    ratings = row.get("ratings") or ()
    for aspect in ratings[0] if ratings else ():
        average = mean(rating[aspect] for rating in ratings)
        after.append((aspect, f"{average:.1f} (mean of {len(ratings)}, from 1 to 5)"))
    for user in row.get("users") or ():
        after.append((f"user {user['user_id']}", ", ".join(user["keywords"])))
        if user["profile"] is not None:
            after.append(("profile", user["profile"]))
    return after
