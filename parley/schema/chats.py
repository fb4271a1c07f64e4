"""Chats of user and assistant for trainers, made from the turns of a dialogue."""

from collections.abc import Iterable
from itertools import groupby
from typing import Any

from parley.schema.shapes import Field

START = "<start>"  # a user message before an assistant that begins

CHAT: dict[str, Any] = {
    "messages": Field(
        [
            {
                "role": Field(
                    {"system", "user", "assistant"},
                    "`assistant` for the speaker to learn from, `user` for the other",
                ),
                "content": Field(str, "the text"),
            }
        ],
        f"the chat; `user` says `{START}` if the assistant begins",
    ),
    "source_turns": Field(
        [[int]], f"the turns that each message is made from; none for `system` and `{START}`"
    ),
}
"""The columns `messages` and `source_turns` of a config of chats, as trainers read them."""


def chat_of(turns: Iterable[tuple[str, str]], system: str = "") -> dict[str, Any]:
    """Return `messages` and `source_turns` of a chat, from turns of (role, text).

    Consecutive turns of a role become one message. If the assistant begins, a user message START
    precedes it. START and the system message have no source turns.
    """
    messages: list[dict[str, str]] = []
    source_turns: list[list[int]] = []

    def say(role: str, text: str, places: list[int]) -> None:
        messages.append({"role": role, "content": text})
        source_turns.append(places)

    if system:
        say("system", system, [])
    by_role = groupby(enumerate(turns), key=lambda turn: turn[1][0])
    for number, (role, some) in enumerate(by_role):
        if role == "assistant" and number == 0:
            say("user", START, [])
        if role not in ("user", "assistant"):
            raise ValueError(f"expected turns of user and assistant, found {role!r:.60}")
        places, said = zip(*some, strict=True)
        say(role, "\n".join(text for _, text in said), list(places))
    return {"messages": messages, "source_turns": source_turns}
