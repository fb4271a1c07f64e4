"""Find the turns of a dialogue, their texts and their two speakers."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

SPEAKERS = ("speaker", "role", "agent", "sender", "from", "author", "user")  # keys of a turn
_TEXTS = ("text", "utterance", "message", "content", "value", "data", "transcript", "sentence")
_ASSISTANTS = ("assistant", "system", "bot", "wizard", "model", "agent")
LONGEST = 64  # characters of an id or a name


@dataclass(frozen=True)
class Chat:
    """The columns of a chat."""

    turns: str  # the column with the list of turns
    text: str  # the key of a turn's text; "" if a turn is a text
    speaker: str  # the key of its speaker; "" without one
    roles: dict[Any, str]  # speaker, or alternately 0 and 1 -> role

    def fits(self, record: Any) -> bool:
        """Tell whether a record, or a row, has such turns."""
        turns = record.get(self.turns) if isinstance(record, dict) else None
        return isinstance(turns, list) and all(map(self._fits, turns))

    def _fits(self, turn: Any) -> bool:
        if not self.text:
            return isinstance(turn, str)
        said = isinstance(turn, dict) and isinstance(turn.get(self.text), str)
        return said and (not self.speaker or turn.get(self.speaker) in self.roles)


def chat_of_turns(name: str, turns: Sequence[Any]) -> Chat | None:
    """Return the chat of the turns of all records, which are in a column; None if they are none."""
    by_turns = {0: "user", 1: "assistant"}
    kinds = set(map(type, turns))
    if kinds == {str}:
        return Chat(name, "", "", by_turns) if _are_sentences(turns) else None
    if kinds != {dict}:
        return None
    kind = {key: {type(turn.get(key)) for turn in turns} for key in turns[0]}
    texts = [key for key, found in kind.items() if found == {str}]
    text = next((key for word in _TEXTS for key in texts if key.lower() == word), "")
    if not text or not _are_sentences(turn[text] for turn in turns):
        return None
    named = [key for key, found in kind.items() if found in ({str}, {int}, {bool})]
    words = (*SPEAKERS, "id")
    speakers = [key for word in words for key in named if word == key.lower()]
    speakers += [key for word in SPEAKERS for key in named if word in key.lower()]
    if not (speaker := next((key for key in speakers if key != text), "")):
        return Chat(name, text, "", by_turns)
    said = list(dict.fromkeys(turn[speaker] for turn in turns))
    if len(said) != 2 or max(len(str(who)) for who in said) > LONGEST:
        return None
    machine = [who for who in said if str(who).lower() in _ASSISTANTS]
    assistant = machine[0] if len(machine) == 1 else said[1]
    return Chat(
        name, text, speaker, {who: "assistant" if who == assistant else "user" for who in said}
    )


def _are_sentences(texts: Iterable[str]) -> bool:
    """Tell whether most texts have several words or no Latin script."""
    found = [" " in text or not text.isascii() for text in texts]
    return sum(found) * 2 > len(found)
