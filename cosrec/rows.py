"""Convert CoSRec's records to rows and back.

A record is a line of a file; for crowd and curated, the values of all files for a conversation.
"""

import functools
from typing import Any

from parley import ClassLabel

TYPE = ClassLabel(  # of intents, queries and judgments; what a user does, in our own words
    {
        "search": "looks for information, which a passage of a web page can give",
        "recommendation": "looks for products to buy or consider",
        "product_details": "asks about a property of a product that was named",
    }
)
TYPES = TYPE.names

_ROLES = {"U: ": "user", "S: ": "assistant", "U:": "user", "S:": "assistant"}
_MARKERS = {"user": "U:", "assistant": "S:"}


@functools.lru_cache(maxsize=1)  # called for the check of a record, then for its row
def to_turns(text: str) -> list[dict[str, str]]:
    """Cut a conversation into turns, at the lines that begin with a marker, "U:" or "S:".

    In upstream's crowd and curated files every line is a marker, a space and text. Also taken are
    a line without a marker, which continues the turn before it, and a marker alone, a turn
    without text. Anything else raises ValueError, since `to_text` could not give it back.
    """
    turns: list[dict[str, str]] = []
    for line in text.split("\n"):
        role = _ROLES.get(line[:3])
        if role and len(line) != 3:
            turns.append({"role": role, "text": line[3:]})
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


def to_annotated_row(record: dict[str, Any]) -> dict[str, Any]:
    """Return the row of a crowd or curated conversation, without missing values."""
    row = dict(record)
    row["turns"] = to_turns(row.pop("conversations"))
    if "quality" in row:
        row["ratings"] = row.pop("quality")
    if "keywords" in row:
        profiles = row.pop("profiles")
        row["users"] = [
            {"user_id": user_id, "keywords": keywords, "profile": profiles.get(user_id)}
            for user_id, keywords in row.pop("keywords").items()
        ]
    return row


def to_annotated_record(row: dict[str, Any]) -> dict[str, Any]:
    """Return the record of such a row: the inverse of `to_annotated_row`."""
    record = dict(row)
    record["conversations"] = to_text(record.pop("turns"))
    if "ratings" in record:
        record["quality"] = record.pop("ratings")
    if "users" in record:
        users = record.pop("users")
        profiles = {user["user_id"]: user["profile"] for user in users}
        record["keywords"] = {user["user_id"]: user["keywords"] for user in users}
        record["profiles"] = {key: text for key, text in profiles.items() if text is not None}
    return record


def to_judgment_row(record: str) -> dict[str, Any]:
    """Return the row of a line of the qrels."""
    query_id, _, document_id, relevance = record.split("\t")
    return {
        "query_id": query_id,
        "document_id": document_id,
        "relevance": int(relevance),
        "type": "recommendation" if "#" in query_id else "search",
    }


def to_judgment_record(row: dict[str, Any]) -> str:
    """Return the line of the qrels of a row: the inverse of `to_judgment_row`."""
    return f"{row['query_id']}\t0\t{row['document_id']}\t{row['relevance']}"
