"""Checks of a CoSRec build: its configs agree."""

from collections.abc import Iterator
from typing import Any

from parley.figures import Data, check, check_of_views, differing, differing_views, related_rows

from . import views
from .cosrec import broken_references

Row = dict[str, Any]

# part -> the configs that its records are made from; each has a split of its name
CONFIGS = {"raw": ("dialogues",), "crowd": ("crowd",), "curated": ("curated", "qrels")}


def records(data: Data, part: str) -> list[Row]:
    """Return a part's records, as its views are made of them; none if it was not built whole."""
    if not all(part in data.splits(config) for config in CONFIGS[part]):
        return []
    found = [data.record(CONFIGS[part][0], row) for row in data.rows(CONFIGS[part][0], part)]
    if part == "raw":
        return [{"dialogue_id": k, "conversations": v} for line in found for k, v in line.items()]
    judged: dict[str, list[str]] = {}
    for row in data.rows("qrels", part) if part == "curated" else ():
        dialogue_id = row["query_id"].partition("#")[0].rsplit("_", 2)[0]
        judged.setdefault(dialogue_id, []).append(data.record("qrels", row))
    return [record | {"qrels": judged.get(record["dialogue_id"], [])} for record in found]


@check
def annotated_conversations_are_those_of_dialogues(data: Data) -> Iterator[str]:
    """`crowd` and `curated` hold the conversations of these splits of `dialogues`, turn by turn."""
    for part in ("crowd", "curated"):
        for where, rows, whole in related_rows(data, part, "dialogues"):
            yield from differing(where, rows, whole)


@check
def references_hold(data: Data) -> Iterator[str]:
    """Utterances and intents that annotation and judgments name exist, and have one entry.

    The id of an intent is <dialogue_id>_<utterance>_<index>. A query id is that of a search, or of
    a recommendation with # and an index of a user.
    """
    for part in CONFIGS:
        for record in records(data, part):
            for name, field, expected, found in broken_references(record):
                where = f"{part}: {record['dialogue_id']}: {name}{field}"
                yield f"{where}: expected {expected}, found {found}"


@check_of_views
def views_follow_from_the_conversations(data: Data) -> Iterator[str]:
    """The rows of each view are those computed from the other configs, in order."""
    found = {part: records(data, part) for part in CONFIGS}
    yield from differing_views(data, found, views.queries, views.intent_labels, views.messages)
