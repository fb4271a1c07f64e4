"""CoSRec's views: the same records as judged queries, turns, single intents and chats.

Each view is a pure function of records, conversations in upstream's order, that yields rows.
They share their keys: `dialogue_id` and `turn`, the place among all turns from 0, name a turn, and
`utterance` is its place among the user's turns alone, by which upstream counts; `intent_id` names
a reviewed intent, and `query_id` is that of `qrels`.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from parley import CHAT, Field, View, chat_of

from .records import ASPECTS, PARTS, joined, joined_again, shared, splits
from .rows import to_judgment_row, to_row, to_turns

Record = dict[str, Any]
Rows = Iterator[dict[str, Any]]

GRADES = {2: "highly relevant", 1: "partially relevant", 0: "not relevant"}
LABELS = tuple(reversed(GRADES))


def places_of(turns: list[dict[str, str]]) -> list[int]:
    """Return the place among all turns of each of the user's, which upstream calls utterances."""
    return [place for place, turn in enumerate(turns) if turn["role"] == "user"]


def canonical(variants: list[str]) -> str | None:
    """Return the longest formulation, upstream's canonical one; of several the first."""
    return max(variants, key=len, default=None)


def listed(entry: Record) -> Iterator[tuple[int | None, int, Record]]:
    """Yield the intents of an utterance: annotator, None if reviewed, index, and intent."""
    for index, intent in enumerate(entry.get("intents", ())):
        yield None, index, intent
    for annotator, seen in enumerate(entry.get("intent_annotations", ())):
        for index, intent in enumerate(seen):
            yield annotator, index, intent


def ratings_of(record: Record) -> dict[str, Any]:
    """Return the number of ratings of a conversation and their means, or None."""
    ratings = record.get("quality")
    if not ratings:
        return dict.fromkeys(("raters", *ASPECTS))
    means = {a: sum(rating[a] for rating in ratings) / len(ratings) for a in ASPECTS}
    return {"raters": float(len(ratings)), **means}


@View(
    "a judged query with its judgments",
    {
        **shared("query_id"),
        "intent_id": Field(str, "the intent's id; several queries of a recommendation share it"),
        **shared("dialogue_id", "turn", "utterance", "type"),
        "user_index": Field(
            (int, None),
            "the user for whom the products were judged (see Known limits in the card); "
            "null for a search",
        ),
        "text": Field((str, None), "the first longest of `variants`; null without any"),
        "variants": Field([str], "all formulations, `query_variants` of the intent"),
        "judgments": Field([shared("document_id", "relevance")], "the judged documents"),
        **{
            f"judged_{label}": Field(int, f"the number of documents with relevance {label}")
            for label in LABELS
        },
        "relevant": Field(int, "the number of documents with relevance 1 or 2"),
    },
    of="dialogues",
    key="query_id",
    splits=splits(["curated"], "conversations", "intents", "qrels"),
    records=joined,
    rejoin=joined_again,
    shows={"dialogues": "dialogue_id", "turns": "turn"},
    left_out={"curated": {"turns": 202}},  # not judged
    use="search and recommend",
)
def queries(records: Iterable[Record]) -> Rows:
    """Yield each judged query, in the order of the qrels, with the documents judged for it."""
    for record in records:
        places = places_of(to_turns(record["conversations"]))
        intents = {
            intent["id"]: (entry["utterance"], intent)
            for entry in record.get("intents", ())
            for intent in entry["intents"]
        }
        judged: dict[str, list[dict[str, Any]]] = {}
        for row in map(to_judgment_row, record.get("qrels", ())):
            judged.setdefault(row["query_id"], []).append(row)
        for query_id, rows in judged.items():
            intent_id, _, user_index = query_id.partition("#")
            utterance, intent = intents[intent_id]
            found = [row["relevance"] for row in rows]
            yield {
                "query_id": query_id,
                "intent_id": intent_id,
                "dialogue_id": record["dialogue_id"],
                "turn": places[utterance],
                "utterance": utterance,
                "type": intent["type"],
                "user_index": int(user_index) if user_index else None,
                "text": canonical(intent["query_variants"]),
                "variants": intent["query_variants"],
                "judgments": [
                    {name: row[name] for name in ("document_id", "relevance")} for row in rows
                ],
                **{f"judged_{label}": found.count(label) for label in LABELS},
                "relevant": len(found) - found.count(0),
            }


@View(
    "a turn",
    {**shared("dialogue_id", "turn"), "speaker": shared("role")["role"], **shared("text")},
    of="dialogues",
    key=("dialogue_id", "turn"),
    use="study turns",
)
def utterances(records: Iterable[Record]) -> Rows:
    """Yield each turn of the user and of the system."""
    for record in records:
        row = to_row(record)
        for turn, said in enumerate(row["turns"]):
            place = {"dialogue_id": row["dialogue_id"], "turn": turn}
            yield {**place, "speaker": said["role"], "text": said["text"]}


@View(
    "an intent with its turn and the turns before",
    {
        **shared("dialogue_id", "turn"),
        "speaker": Field({"user"}, "who speaks"),
        **shared("text", "utterance"),
        "context": Field(
            [{"speaker": shared("role")["role"], **shared("text")}], "all turns before, in order"
        ),
        "annotator": Field((int, None), "the place of the annotator's list; null in curated"),
        "annotators": Field(
            (int, None), "the number of the utterance's lists, also empty ones; null in curated"
        ),
        "index": Field(int, "the intent's place in its list, from 0"),
        **shared("type"),
        "formulations": Field([str], "`query` in crowd, `query_variants` in curated"),
        "intent_id": Field((str, None), "the intent's id; null in crowd"),
        **shared("product"),
    },
    of="dialogues",
    key=("dialogue_id", "utterance", "annotator", "index"),
    splits=splits(["crowd", "curated"], "conversations", "intent_annotations", "intents"),
    records=joined,
    rejoin=joined_again,
    left_out={"crowd": {"turns": 2554}, "curated": {"turns": 170}},  # without intents
    use="classify",
)
def intent_labels(records: Iterable[Record]) -> Rows:
    """Yield each intent, with the user's turn it belongs to and all turns before that."""
    for record in records:
        turns = to_turns(record["conversations"])
        places = places_of(turns)
        for entry in (*record.get("intents", ()), *record.get("intent_annotations", ())):
            utterance = entry["utterance"]
            turn = places[utterance]
            context = [{"speaker": t["role"], "text": t["text"]} for t in turns[:turn]]
            for annotator, index, intent in listed(entry):
                reviewed = annotator is None
                yield {
                    "dialogue_id": record["dialogue_id"],
                    "turn": turn,
                    "speaker": "user",
                    "text": turns[turn]["text"],
                    "utterance": utterance,
                    "context": context,
                    "annotator": annotator,
                    "annotators": None if reviewed else len(entry["intent_annotations"]),
                    "index": index,
                    "type": intent["type"],
                    "formulations": intent["query_variants"] if reviewed else [intent["query"]],
                    "intent_id": intent.get("id"),
                    "product": intent.get("product"),
                }


@View(
    "a conversation as a chat",
    {
        **shared("dialogue_id"),
        **CHAT,
        # raters too: integers from 4 to 5 alone cost a split its statistics on the Hub
        "raters": Field((float, None), "the number of raters; null in raw"),
        **{
            aspect: Field((float, None), f"the mean rating of {aspect}, 1 to 5; null in raw")
            for aspect in ASPECTS
        },
    },
    of="dialogues",
    splits=splits(PARTS, "conversations", "quality"),
    records=joined,
    rejoin=joined_again,
    use="train a chat model",
)
def messages(records: Iterable[Record]) -> Rows:
    """Yield each conversation as a chat in which the system is the assistant."""
    for record in records:
        turns = to_turns(record["conversations"])
        yield {
            "dialogue_id": record["dialogue_id"],
            **chat_of((turn["role"], turn["text"]) for turn in turns),
            **ratings_of(record),
        }
