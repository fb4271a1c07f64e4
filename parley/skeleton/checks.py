"""What must hold of Skeleton's rows, beside what parley checks of any dataset."""

from collections.abc import Iterator

from parley.figures import Data, beside, chat_of, check, differing

# config -> the columns that together tell its rows apart, also across splits
KEYS = {"dialogues": ("dialogue_id",), "messages": ("dialogue_id",)}


@check
def messages_say_what_was_said(data: Data) -> Iterator[str]:
    """A chat holds every turn of its dialogue as it was, the clerk's as the assistant's."""
    for where, rows, dialogues in beside(data, "messages", "dialogues"):
        due = []
        for dialogue in dialogues:
            roles = {"customer": "user", "clerk": "assistant"}
            turns = ((roles[turn["speaker"]], turn["text"]) for turn in dialogue["turns"])
            due.append({"dialogue_id": dialogue["dialogue_id"], **chat_of(turns)})
        yield from differing(where, rows, due)
