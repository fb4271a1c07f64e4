"""From CoSRec's records to rows, and from the rows back to the records.

A record is what `records` of cosrec.py yields for a config: a line of conversations.jsonl; a line
of qrels.qrels; or, for crowd and curated, what the files hold for one conversation, by name.
"""

import functools
from collections.abc import Iterator
from typing import Any

TYPES = ["search", "recommendation", "product_details"]  # of intents, queries and judgments

# Conversations --------------------------------------------------------------------------

_ROLES = {"U: ": "user", "S: ": "assistant", "U:": "user", "S:": "assistant"}
_MARKERS = {"user": "U:", "assistant": "S:"}


@functools.lru_cache(maxsize=1)  # the check of a record and its row ask for the same, in turn
def to_turns(text: str) -> list[dict[str, str]]:
    """Cut a conversation into turns, at the lines that begin with a marker, "U:" or "S:".

    In upstream's crowd and curated files every line is a marker, a space and text. Also taken are
    a line without a marker, which continues the turn before it, and a marker alone, a turn
    without text. Anything else raises ValueError, since `to_text` could not give it back.
    """
    turns: list[dict[str, str]] = []
    for line in text.split("\n"):
        role, rest = _ROLES.get(line[:3]), line[3:]
        if role and (rest or len(line) == 2):
            turns.append({"role": role, "text": rest})
        elif turns and not line.startswith(("U:", "S:")):
            turns[-1]["text"] += "\n" + line
        else:
            raise ValueError(f'turns that begin with "U: " or "S: " and text, not {line[:40]!r}')
    return turns


def to_text(turns: list[dict[str, str]]) -> str:
    """Return the text of a conversation: the inverse of `to_turns`."""
    lines = []
    for turn in turns:
        space = "" if turn["text"][:1] in ("", "\n") else " "  # none after a marker alone
        lines.append(_MARKERS[turn["role"]] + space + turn["text"])
    return "\n".join(lines)


def to_row(record: dict[str, str]) -> dict[str, Any]:
    """Return the row of a line of conversations.jsonl."""
    ((dialogue_id, text),) = record.items()
    return {"dialogue_id": dialogue_id, "turns": to_turns(text)}


def to_record(row: dict[str, Any]) -> dict[str, str]:
    """Return the line of conversations.jsonl of a row: the inverse of `to_row`."""
    return {row["dialogue_id"]: to_text(row["turns"])}


# Annotated conversations ----------------------------------------------------------------


def broken_references(record: dict[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    """Yield (file, field, expected, found) where a file refers to what another does not have."""
    keywords, profiles = record.get("keywords"), record.get("profiles")
    if keywords is None and profiles is not None:
        yield "profiles", "", "no line, as in keywords.jsonl", "one"
    if profiles is None and keywords is not None:
        yield "keywords", "", "no line, as in profiles.jsonl", "one"
    for user_id in sorted((profiles or {}).keys() - (keywords or {}).keys()):
        yield "profiles", f".{user_id}", "a user that keywords.jsonl has", "another"
    count = f"\n{record['conversations']}".count("\nU:")
    for name in ("intent_annotations", "intents"):
        due = set(range(count))
        for number, entry in enumerate(record.get(name, ())):
            utterance, field = entry["utterance"], f"[{number}].utterance"
            if not 0 <= utterance < count:
                expected = f"0 to {count - 1}, an utterance of the user in conversations.jsonl"
                yield name, field, expected, str(utterance)
            elif utterance not in due:
                yield name, field, "each utterance once", str(utterance)
            due -= {utterance}
    types: dict[str, str] = {}
    for number, entry in enumerate(record.get("intents", ())):
        for index, intent in enumerate(entry["intents"]):
            due_id = f"{record['dialogue_id']}_{entry['utterance']}_{index}"
            types[due_id] = intent["type"]
            if intent["id"] != due_id:
                yield "intents", f"[{number}].intents[{index}].id", due_id, intent["id"]
    for line in record.get("qrels", ()) if "intents" in record else ():
        query_id = line.split("\t")[0]
        intent_id, _, user_index = query_id.partition("#")
        due_type = "recommendation" if user_index else "search"
        if types.get(intent_id) != due_type:
            yield "qrels", "", f"a query id of a {due_type} intent in intents.jsonl", query_id


def to_crowd_row(record: dict[str, Any]) -> dict[str, Any]:
    """Return the row of a crowd conversation."""
    return {**_to_rated_row(record), "intent_annotations": record.get("intent_annotations")}


def to_curated_row(record: dict[str, Any]) -> dict[str, Any]:
    """Return the row of a curated conversation; an intent without product has null there."""
    entries = record.get("intents")
    if entries is not None:
        entries = [
            {
                **entry,
                "intents": [
                    {**intent, "product": intent.get("product")} for intent in entry["intents"]
                ],
            }
            for entry in entries
        ]
    return {**_to_rated_row(record), "intents": entries}


def _to_rated_row(record: dict[str, Any]) -> dict[str, Any]:
    users = None
    if "keywords" in record:
        users = [
            {"user_id": user_id, "keywords": keywords, "profile": record["profiles"].get(user_id)}
            for user_id, keywords in record["keywords"].items()
        ]
    return {
        "dialogue_id": record["dialogue_id"],
        "turns": to_turns(record["conversations"]),
        "ratings": record.get("quality"),
        "users": users,
    }


def to_crowd_record(row: dict[str, Any]) -> dict[str, Any]:
    """Return the record of a crowd row: the inverse of `to_crowd_row`."""
    return _without_nulls(
        {**_to_rated_record(row), "intent_annotations": row["intent_annotations"]}
    )


def to_curated_record(row: dict[str, Any]) -> dict[str, Any]:
    """Return the record of a curated row: the inverse of `to_curated_row`."""
    entries = row["intents"]
    if entries is not None:
        entries = [
            {**entry, "intents": [_without_nulls(intent) for intent in entry["intents"]]}
            for entry in entries
        ]
    return _without_nulls({**_to_rated_record(row), "intents": entries})


def _to_rated_record(row: dict[str, Any]) -> dict[str, Any]:
    record = {
        "dialogue_id": row["dialogue_id"],
        "conversations": to_text(row["turns"]),
        "quality": row["ratings"],
    }
    if row["users"] is not None:
        record["keywords"] = {user["user_id"]: user["keywords"] for user in row["users"]}
        profiles = {user["user_id"]: user["profile"] for user in row["users"]}
        record["profiles"] = _without_nulls(profiles)
    return record


def _without_nulls(values: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}


# Judgments ------------------------------------------------------------------------------


def to_judgment_row(record: str) -> dict[str, Any]:
    """Return the row of a line of the qrels."""
    query_id, _, document_id, relevance = record.split("\t")
    return {
        "query_id": query_id,
        "document_id": document_id,
        "relevance": int(relevance),
        "type": TYPES.index("recommendation" if "#" in query_id else "search"),
    }


def to_judgment_record(row: dict[str, Any]) -> str:
    """Return the line of the qrels of a row: the inverse of `to_judgment_row`."""
    return f"{row['query_id']}\t0\t{row['document_id']}\t{row['relevance']}"
