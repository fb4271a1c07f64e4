"""Skeleton's views: the same records in forms that a use asks for, here as chats.

Each view is a pure function of the records of a split that yields (key, row).
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import Any

import datasets

Record = dict[str, Any]
Rows = Iterator[tuple[str, dict[str, Any]]]

ASSISTANT = "clerk"  # whose turns a model is to learn
START = "<start>"  # what the first user message says where the assistant speaks first

# What a row looks like ------------------------------------------------------------------

_string, _integer = datasets.Value("string"), datasets.Value("int64")
VIEW_FEATURES = {
    "messages": datasets.Features(
        {
            "dialogue_id": _string,
            "messages": [{"role": _string, "content": _string}],
            "source_turns": [[_integer]],
        }
    ),
}

# The views ------------------------------------------------------------------------------


def messages(records: Iterable[Record]) -> Rows:
    """Yield each dialogue as a chat: user and assistant by turns, a speaker's turns as one."""
    for record in records:
        chat: list[dict[str, str]] = []
        turns: list[list[int]] = []
        for speaker, run in groupby(enumerate(record["turns"]), lambda turn: turn[1]["speaker"]):
            role = "assistant" if speaker == ASSISTANT else "user"
            if role == "assistant" and not chat:
                chat.append({"role": "user", "content": START})
                turns.append([])
            said = list(run)
            chat.append({"role": role, "content": "\n".join(turn["text"] for _, turn in said)})
            turns.append([place for place, _ in said])
        row = {"dialogue_id": record["id"], "messages": chat, "source_turns": turns}
        yield record["id"], row


VIEWS: dict[str, Callable[[Iterable[Record]], Rows]] = {"messages": messages}
