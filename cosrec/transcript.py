"""Lay out a CoSRec conversation or query for reading, and name the columns that filter first."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from statistics import mean
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from parley.read import Facet, Fact, Judged, Note, Pool, Table, Transcript, Turn

from .records import ASPECTS
from .rows import TYPES
from .views import GRADES, canonical, places_of

CONFIGS = ("crowd", "curated", "dialogues", "queries")  # of queries the id is the query id
BESIDE = {"queries": "dialogue_id"}
FACETS = {
    "intents": Facet(
        "the intents include {}", "the intents do not include {}", column="intent_labels.type"
    ),
    **{
        aspect: Facet(f"the mean {aspect} is {{}}", column=f"messages.{aspect}")
        for aspect in ASPECTS
    },
    "judged queries": Facet("the number of judged queries is {}", column="queries"),
    "type of query": Facet(column="queries.type"),
    "relevant documents": Facet(
        "the number of relevant documents is {}", column="queries.relevant"
    ),
    "turns": Facet("there are {} turns", column="utterances"),
}  # fmt: skip
SPEAKERS = {"assistant": "system"}
SAID = {"utterances": "text", "queries": "variants"}

_UNKNOWN = [("user index", "upstream does not document which user has which index")]
_ROLES = ("user", "assistant")

Beside = dict[str, list[dict[str, Any]]]


def transcript(row: dict[str, Any], beside: Beside | None = None) -> Transcript:
    """Lay out one conversation: intents and judged queries next to the user's turns.

    A row of `queries` is laid out as its formulations and its judged documents.
    """
    if "query_id" in row:
        return _query(row)
    notes = _notes(row)
    turns = [Turn(turn["role"], turn["text"]) for turn in row["turns"]]
    for number, place in enumerate(places_of(row["turns"])):
        turns[place] = replace(turns[place], notes=notes.get(number, ()))
    queries = (beside or {}).get("queries", ())
    return Transcript(
        row["dialogue_id"],
        turns=turns,
        after=[*_users(row), *_UNKNOWN[: len(queries)]],
        sides={role: [] for role in _ROLES},
        tables=_ratings(row),
        judged=_judged(queries),
        entry=_entry(row),
    )


def _entry(row: dict[str, Any]) -> str:
    """Return the id, with the mean of all ratings if there are any."""
    if not (ratings := row.get("ratings")):
        return str(row["dialogue_id"])
    return f"{row['dialogue_id']} · rated {mean(r[a] for r in ratings for a in ASPECTS):.1f}"


def _query(row: dict[str, Any]) -> Transcript:
    user = [] if row["user_index"] is None else [("user index", str(row["user_index"]))]
    relevant = row["relevant"]
    return Transcript(
        f"{row['text']} ({row['query_id']})" if row["text"] else row["query_id"],
        [("utterance", f"{row['utterance']} of {row['dialogue_id']}"), *user],
        [
            Turn("query", text, (Note("canonical"),) if text == row["text"] else ())
            for text in row["variants"]
        ],
        judged=_judged([row]),
        part_of=row["dialogue_id"],
        entry=f"{row['query_id']} · {relevant} relevant",
    )


def _notes(row: dict[str, Any]) -> dict[int, tuple[Note, ...]]:
    """Return the annotation, by utterance."""
    notes = {}
    for entry in row.get("intents") or ():
        notes[entry["utterance"]] = tuple(_reviewed(intent) for intent in entry["intents"])
    for entry in row.get("intent_annotations") or ():
        notes[entry["utterance"]] = _annotated(entry["intent_annotations"])
    return notes


def _reviewed(intent: dict[str, Any]) -> Note:
    """Return an intent with its product and its canonical formulation."""
    details = intent["product"], canonical(intent["query_variants"])
    return Note(intent["type"], kind="intent", detail=" · ".join(filter(None, details)))


def _annotated(annotators: list[list[dict[str, str]]]) -> tuple[Note, ...]:
    """Return each type of intent with the number of annotators who saw it."""
    seen = Counter(
        type_ for intents in annotators for type_ in {i["type"]: None for i in intents} or ["none"]
    )
    return tuple(
        Note(type_, kind="intent", by=f"{count} of {len(annotators)}")
        for type_, count in seen.most_common()
    )


def _ratings(row: dict[str, Any]) -> list[Table]:
    """Return the mean and each annotator's rating, from 1 to 5, of each aspect."""
    ratings = row.get("ratings") or ()
    if not ratings:
        return []
    columns = ("mean", *(str(number) for number in range(1, len(ratings) + 1)))
    cells = [[rating[aspect] for rating in ratings] for aspect in ASPECTS]
    rows = [(f"{mean(scores):.1f}", *map(str, scores)) for scores in cells]
    return [Table("rating by annotator", columns, tuple(zip(ASPECTS, rows, strict=True)))]


def _judged(queries: Iterable[dict[str, Any]]) -> list[Judged]:
    """Return the judged queries by intent, in the order of their turns."""
    intents: dict[str, list[dict[str, Any]]] = {}
    for query in sorted(queries, key=lambda each: each["turn"]):
        intents.setdefault(query["intent_id"], []).append(query)
    return [
        Judged(
            first["turn"],
            ": ".join(filter(None, (TYPES[first["type"]], first["text"]))),
            tuple(map(_pool, found)),
        )
        for found in intents.values()
        for first in found[:1]
    ]


def _pool(query: dict[str, Any]) -> Pool:
    user = query["user_index"]
    grades = tuple(
        (name, tuple(j["document_id"] for j in query["judgments"] if j["relevance"] == grade))
        for grade, name in GRADES.items()
    )
    return Pool("every user" if user is None else f"user {user}", query["query_id"], grades)


def titles(folder: Path, ids: set[str]) -> dict[str, str]:
    """Return the titles of products in a catalogue that the job `catalogue` built."""
    wanted, found = pc.field("parent_asin").isin(pa.array(ids, pa.string())), []
    for path in sorted(folder.glob("products/*.parquet")):
        found += pq.read_table(path, columns=["parent_asin", "title"], filters=wanted).to_pylist()
    return {row["parent_asin"]: row["title"] for row in found if row["title"]}


def _users(row: dict[str, Any]) -> list[Fact]:
    facts = []
    for user in row.get("users") or ():
        facts.append((f"user {user['user_id']}", ", ".join(user["keywords"])))
        if user["profile"] is not None:
            facts.append(("profile", user["profile"]))
    return facts
