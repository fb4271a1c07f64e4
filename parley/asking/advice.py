"""What to try when many answers are unreadable."""

from collections.abc import Mapping
from typing import Any

from parley.asking.client import NO_SCHEMA
from parley.declaring.questions import EMPTY, TRUNCATED


def advice(unreadable: Mapping[str, int], asked: int, facts: Mapping[str, Any]) -> str:
    """Return the settings that make more answers readable, "" unless more than a tenth are not.

    `unreadable` counts them by reason. `facts` has `schema`, `sampling`, `ask_again` and `mode` as
    in the header of a log, and `reasoning_tokens`.
    """
    if sum(unreadable.values()) * 10 <= asked:
        return ""
    tries = []
    if not facts["schema"]:
        tries.append("--schema, which asks for JSON of the right form")
    if any(NO_SCHEMA in mode for mode in facts["mode"].values()):
        tries.append("an endpoint that takes a JSON schema, as this one refuses it")
    most = facts["sampling"].get("max_tokens")
    if facts["reasoning_tokens"] and {EMPTY, TRUNCATED} & unreadable.keys():
        tries.append("--max-tokens 4000, as the model thinks before it answers")
    elif TRUNCATED in unreadable:
        tries.append(f"a greater --max-tokens{f' than {most}' * bool(most)}")
    if not facts["ask_again"]:
        tries.append("--ask-again, which tells the model why its answer was not read")
    tries.append("another model, as one that follows instructions")
    return f"many answers are unreadable; try {'; or '.join(tries)}"
