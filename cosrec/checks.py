"""Checks of a CoSRec build: its configs agree."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from parley import Data, chat_of, check, differing, related_rows

Row = dict[str, Any]

PARTS = ("crowd", "curated")  # the annotated ones: each a config, and its only split
LISTED = {"crowd": "intent_annotations", "curated": "intents"}  # where a part has its intents


def built(data: Data, config: str) -> list[Row]:
    """Return the rows of all built splits of a config."""
    return data.rows(config, *data.splits(config))


# Conversations and their annotation -------------------------------------------------------


@check
def no_conversation_is_in_two_splits(data: Data) -> Iterator[str]:
    """The splits of `dialogues` have no conversation in common."""
    seen: dict[str, str] = {}
    for split in data.splits("dialogues"):
        for row in data.rows("dialogues", split):
            if (other := seen.setdefault(row["dialogue_id"], split)) != split:
                yield f"dialogues: {row['dialogue_id']} is in {other} and {split}"


@check
def annotated_conversations_are_those_of_dialogues(data: Data) -> Iterator[str]:
    """`crowd` and `curated` hold the conversations of these splits of `dialogues`, turn by turn."""
    for part in PARTS:
        for where, rows, whole in related_rows(data, part, "dialogues"):
            yield from differing(where, rows, whole)


@check
def utterances_with_intents_exist(data: Data) -> Iterator[str]:
    """Intents are listed once an utterance, which is a turn of the user."""
    for part, column in LISTED.items():
        for row in built(data, part):
            left = set(range(len(utterances(row))))
            for entry in row[column] or ():
                if entry["utterance"] not in left:
                    where = f"{part}: {row['dialogue_id']}"
                    yield f"{where} has no utterance {entry['utterance']}, or lists it twice"
                left.discard(entry["utterance"])


@check
def intent_ids_have_the_documented_form(data: Data) -> Iterator[str]:
    """The id of an intent is <dialogue_id>_<utterance>_<index>, the index from 0 on."""
    for row in built(data, "curated"):
        for entry in row["intents"] or ():
            for index, intent in enumerate(entry["intents"]):
                due = f"{row['dialogue_id']}_{entry['utterance']}_{index}"
                if intent["id"] != due:
                    yield f"curated: expected the intent id {due}, found {intent['id']}"


@check
def users_are_told_apart(data: Data) -> Iterator[str]:
    """A conversation has each user once, and a profile belongs to a user with keywords."""
    for part in PARTS:
        for row in built(data, part):
            where = f"{part}: {row['dialogue_id']}"
            counts = Counter(user["user_id"] for user in row["users"] or ())
            for user_id in (user_id for user_id, count in counts.items() if count > 1):
                yield f"{where} has the user {user_id} twice"
            for user in row["users"] or ():
                if user["user_id"] is None or user["keywords"] is None:
                    yield f"{where} has a user {user['user_id']} without id or keywords"


# Judgments and queries --------------------------------------------------------------------


@check
def judgments_are_of_intents(data: Data) -> Iterator[str]:
    """A query id is a search intent's, or a recommendation intent's with # and 0 to 4.

    So intents of type product_details have no judgments. The column `type` is the intent's.
    """
    if not data.splits("curated"):
        return  # was not built
    intents = reviewed_intents(data)
    rows = data.named("qrels", *data.splits("qrels"))
    for query_id, stated in {(row["query_id"], row["type"]): None for row in rows}:  # in order
        form = re.fullmatch(r"([^#]*)(#[0-4])?", query_id)
        if form is None:
            yield f"qrels: {query_id} is not of the form <intent id> or <intent id>#<0 to 4>"
            continue
        found = intents[form[1]]["type"] if form[1] in intents else "no"
        if not found == stated == ("recommendation" if form[2] else "search"):
            yield f"qrels: {query_id} is of type {stated} and refers to {found} intent"


@check
def queries_are_the_judged_intents(data: Data) -> Iterator[str]:
    """`queries` has the queries of `qrels`, in order, and of each its judgments and its intent.

    The text is the longest formulation, of several the first.
    """
    if not (data.splits("queries") and data.splits("qrels") and data.splits("curated")):
        return  # one was not built
    intents = reviewed_intents(data)
    judged: dict[str, list[Row]] = {}
    for row in built(data, "qrels"):
        judgment = {"document_id": row["document_id"], "relevance": row["relevance"]}
        judged.setdefault(row["query_id"], []).append(judgment)
    due = []
    for query_id, judgments in judged.items():
        intent_id, _, index = query_id.partition("#")
        intent = intents.get(intent_id, {})
        labels = [judgment["relevance"] for judgment in judgments]
        due.append(
            {
                "query_id": query_id,
                "intent_id": intent_id,
                "user_index": int(index) if index else None,
                "text": max(intent.get("variants", ()), key=len, default=None),
                "judgments": judgments,
                **{f"judged_{label}": labels.count(label) for label in (0, 1, 2)},
                **intent,
            }
        )
    yield from differing("queries", data.named("queries", *data.splits("queries")), due)


def reviewed_intents(data: Data) -> dict[str, Row]:
    """Return the columns of `queries` about each intent of curated, by its id."""
    return {
        intent["id"]: {
            "dialogue_id": row["dialogue_id"],
            "turn": utterances(row)[entry["utterance"]]["turn"],
            "utterance": entry["utterance"],
            "type": intent["type"],
            "variants": intent["query_variants"],
        }
        for row in built(data, "curated")
        for entry in row["intents"] or ()
        for intent in entry["intents"]
    }


# Intents and their turns ------------------------------------------------------------------


def utterances(row: Row) -> list[Row]:
    """Return place, text and context of each of the user's turns, as in `intent_labels`."""
    found: list[Row] = []
    context: list[Row] = []
    for turn in row["turns"]:
        spoken = {"speaker": turn["role"], "text": turn["text"]}
        if turn["role"] == "user":
            found.append({"turn": len(context), **spoken, "context": context[:]})
        context.append(spoken)
    return found


@check
def intents_stand_in_their_dialogues(data: Data) -> Iterator[str]:
    """An intent has the text of its turn, which is the user's, and the turns before it."""
    none = {"utterance": "one of its dialogue"}
    for where, rows, dialogues in related_rows(data, "intent_labels", "dialogues"):
        said = {
            (row["dialogue_id"], number): utterance
            for row in dialogues
            for number, utterance in enumerate(utterances(row))
        }
        due = [said.get((row["dialogue_id"], row["utterance"]), none) for row in rows]
        yield from differing(where, rows, due)


@check
def intents_are_those_of_the_annotation(data: Data) -> Iterator[str]:
    """`intent_labels` has every intent of `crowd` and `curated`, once, in order, and no other."""
    for part in data.splits("intent_labels"):
        if part in data.splits(part):
            due = [intent for row in data.rows(part, part) for intent in annotated_intents(row)]
            yield from differing(f"intent_labels/{part}", data.named("intent_labels", part), due)


def annotated_intents(row: Row) -> Iterator[Row]:
    """The intents of a row of `crowd` or `curated`, with the names that `intent_labels` has."""
    reviewed = "intents" in row  # by the authors, in curated
    for entry in row["intents" if reviewed else "intent_annotations"] or ():
        lists = [entry["intents"]] if reviewed else entry["intent_annotations"]
        for annotator, seen in enumerate(lists):
            for index, intent in enumerate(seen):
                yield {
                    "dialogue_id": row["dialogue_id"],
                    "utterance": entry["utterance"],
                    "annotator": None if reviewed else annotator,
                    "annotators": None if reviewed else len(lists),
                    "index": index,
                    "type": intent["type"],
                    "formulations": intent["query_variants"] if reviewed else [intent["query"]],
                    "intent_id": intent["id"] if reviewed else None,
                    "product": intent["product"] if reviewed else None,
                }


# Chats ------------------------------------------------------------------------------------


@check
def messages_are_the_dialogues(data: Data) -> Iterator[str]:
    """Chats hold the turns of their dialogue; consecutive turns of one side are one message.

    `<start>`, from no turn, comes first only where the assistant speaks first.
    """
    for where, rows, dialogues in related_rows(data, "messages", "dialogues"):
        due = [
            {"dialogue_id": row["dialogue_id"]}
            | chat_of((turn["role"], turn["text"]) for turn in row["turns"])
            for row in dialogues
        ]
        yield from differing(where, rows, due)


@check
def ratings_of_chats_are_means(data: Data) -> Iterator[str]:
    """`messages` has the number of ratings and their means; null without ratings, as in raw."""
    for part in data.splits("messages"):
        if part in PARTS and part not in data.splits(part):
            continue  # was not built
        ratings = {row["dialogue_id"]: row.get("ratings") for row in built(data, part)}
        rows = data.rows("messages", part)
        due = [means(ratings.get(row["dialogue_id"])) for row in rows]
        yield from differing(f"messages/{part}", rows, due)


def means(ratings: list[dict[str, int]] | None) -> Row:
    """The number of ratings of a conversation and their means, or null."""
    aspects = ("coherence", "logicality", "informativeness", "fluency")
    if not ratings:
        return dict.fromkeys(("raters", *aspects))
    means = {aspect: sum(rating[aspect] for rating in ratings) / len(ratings) for aspect in aspects}
    return {"raters": float(len(ratings)), **means}
