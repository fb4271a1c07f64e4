"""Chats of user and assistant, as trainers take them, made of the turns of a dialogue."""

from collections.abc import Iterable
from itertools import groupby
from typing import Any

START = "<start>"  # the first cue of the user, where the assistant begins

# The columns of a chat: its messages, and for each the turns that it was made of.
CHAT: dict[str, Any] = {"messages": [{"role": str, "content": str}], "source_turns": [[int]]}


def chat_of(turns: Iterable[tuple[str, str]], system: str = "") -> dict[str, Any]:
    """Return `messages` and `source_turns` of a chat of these turns, which are (role, text).

    What a role says in a row is one message. Where the assistant begins, a first cue of the user
    stands before it. The cue and the system's message are made of no turn.
    """
    messages: list[dict[str, str]] = []
    source_turns: list[list[int]] = []

    def say(role: str, text: str, places: list[int]) -> None:
        messages.append({"role": role, "content": text})
        source_turns.append(places)

    if system:
        say("system", system, [])
    runs = groupby(enumerate(turns), key=lambda turn: turn[1][0])
    for number, (role, run) in enumerate(runs):
        if role == "assistant" and number == 0:
            say("user", START, [])
        places, said = zip(*run, strict=True)
        say(role, "\n".join(text for _, text in said), list(places))
    return {"messages": messages, "source_turns": source_turns}
