"""The moments of a dialogue at which a side is asked, and what it knows by then."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import groupby
from typing import Any, NamedTuple

from parley import Data, Field
from parley.tasks import Key, Reference

from ..scenarios import SIDES
from ..subsets import SUBSETS
from .shared import is_utterance

TURNS, END = "turns", "end"
AFTER = {f"after-{count}": count for count in range(1, 6)}
AT = {"at": (TURNS, *AFTER, END)}
"""Before each own turn, after so many of the partner's utterances, or after the dialogue."""

KEY = {
    "dialogue_id": Field(int, "the dialogue"),
    "speaker": Field(set(SIDES), "the side that is asked"),
    "turn": Field(int, "its turn, from 0, before which it is asked"),
}
KNOWN = "the side's own priorities, and the dialogue before the turn, deal actions included"
COLUMNS = ("participants.priority_*", "utterances.text", "utterances.issue2*", "utterances.data")

# What Cui and Lin report: they ask one side alone
_OF_AGENT_1 = "bond2026-agent-1"
ASKED = SUBSETS | {_OF_AGENT_1: replace(SUBSETS["bond2026"], arguments={"side": SIDES[0]})}
BOND = "arXiv 2605.04507, as PAPER_NUMBER_AUDIT.md of its repository states"
_ANSWERS = "answers in kaneis1/CaSiNo_negotiation-agent"
_SAME = f"its {_ANSWERS} at commit ac813a0 gave the same when they were scored here"
_SYSTEMS = {
    "BOND teacher": f"learnt from upstream's train, which has 134 of the 150 dialogues; {_SAME}",
    "BOND student": _SAME,
    "Llama 70B": "",
}


def reported(
    name: str, metrics: Mapping[str, str], rule: str = "", counted_here: bool = False, **at: str
) -> Reference:
    """Return a reference of Cui and Lin, or what their system's answers give by the task's rule."""
    place, note = BOND, _SYSTEMS[name]
    if counted_here:
        place, note = f"counted by the task's rule from the {_ANSWERS}", ""
    return Reference(name, metrics, place, note, at, _OF_AGENT_1, rule)


class Moment(NamedTuple):
    """A moment of a side: of `chat` it knows the entries before `turn`, and no other."""

    dialogue_id: int
    speaker: str
    turn: int
    chat: list[dict[str, Any]]

    @property
    def key(self) -> Key:
        """Dialogue, side and turn."""
        return self[:3]

    @property
    def side_key(self) -> Key:
        """Dialogue and side."""
        return self[:2]

    @property
    def known(self) -> list[dict[str, Any]]:
        """The entries before it."""
        return self.chat[: self.turn]

    @property
    def talk(self) -> list[dict[str, Any]]:
        """The utterances before it, without deal actions."""
        return [*filter(is_utterance, self.known)]

    @property
    def next(self) -> dict[str, Any]:
        """The side's entry at this turn, which may be the right answer."""
        return self.chat[self.turn]

    @property
    def is_answer(self) -> bool:
        """Whether the entry before it is a deal that the partner submits."""
        return bool(self.known and self.known[-1]["issue2youget"])

    def key_fields(self, key: Iterable[str] = KEY) -> dict[str, Any]:
        """Return the fields of the key of a prediction."""
        return dict(zip(key, self.key, strict=False))


def moments(data: Data, at: str = TURNS, side: str = "") -> Iterator[Moment]:
    """Yield the moments of each dialogue, of one side or of both.

    A side whose partner writes fewer utterances than `at` says has no moment.
    """
    for number, rows in groupby(data.rows("utterances", "train"), lambda row: row["dialogue_id"]):
        chat = [*rows]
        for own in [side] if side else SIDES:
            turns = [row["turn"] for row in chat if row["speaker"] == own]
            if at in AFTER:
                utterances = [row for row in chat if row["speaker"] != own and is_utterance(row)]
                turns = [row["turn"] + 1 for row in utterances[AFTER[at] - 1 : AFTER[at]]]
            elif at == END:
                turns = [len(chat)]
            yield from (Moment(number, own, turn, chat) for turn in turns)
