"""The types that a dataset folder's `transcript.py` returns for a dialogue.

`parley show` and the pages of `parley site` lay out the same `Transcript`. What else the module
declares, `parley.declaration.layout` describes.
"""

from dataclasses import dataclass, field

from parley.declaration.layout import Facet as Facet  # a name of the door

Fact = tuple[str, str]
"""A label and what stands beside it."""


@dataclass(frozen=True)
class Note:
    """A note on a turn: a label by a person or a rule; all but the label by their names.

    Args:
        text: The label: "counter-price".
        kind: The kind of label: "strategy", "act", "intent".
        detail: The price of an act, the formulation of an intent.
        by: The author, if not the data's: "rule", "3 of 4".
    """

    text: str
    kind: str = field(default="label", kw_only=True)
    detail: str = field(default="", kw_only=True)
    by: str = field(default="", kw_only=True)


@dataclass(frozen=True)
class Turn:
    """One turn: the speaker, the text or action, and notes.

    Args:
        speaker: The speaker, as in the column `speaker`: "buyer".
        text: The text said; for an action, the action in words ("offers $40").
        notes: Labels of this turn.
        action: Whether the turn is an act (a deal, a rejection) rather than speech.
    """

    speaker: str
    text: str
    notes: tuple[Note, ...] = ()
    action: bool = False


@dataclass(frozen=True)
class Table:
    """Values side by side: outcomes of both sides, ratings of the person and of others.

    Args:
        title: A heading: "ratings".
        columns: The heading of each column of values.
        rows: The heading of each row, and a value for each column, or "".
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True)
class Pool:
    """The documents judged for one query.

    Args:
        name: The query among those of its intent: "user 0".
        id: The id of the query.
        grades: Grade -> ids of the documents with this grade, the best grade first.
    """

    name: str
    id: str
    grades: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True)
class Judged:
    """The judged queries of one intent, side by side.

    Args:
        turn: The turn of the conversation that has the intent.
        title: The intent.
        pools: Its queries.
    """

    turn: int
    title: str
    pools: tuple[Pool, ...]


@dataclass(frozen=True)
class Transcript:
    """A dialogue laid out for reading.

    Args:
        title: One line that names the dialogue.
        before: Facts that both sides knew before the first turn.
        turns: The turns in order.
        after: The outcome.
        sides: The speakers in the order to show them, each with what it knew, alone or not. The
            page shows the first fact in a line, and the others when it is opened.
        tables: Outcomes to show side by side.
        judged: The judged queries of its intents, in the order of their turns.
        part_of: The id of the conversation, if the dialogue is a query.
        language: Of the text, as HTML names it, such as "ja"; by default the one of LANGUAGES.
        entry: Its line in a list, the title if empty: "58 · 23–13 points · deal".
    """

    title: str
    before: list[Fact] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)
    after: list[Fact] = field(default_factory=list)
    sides: dict[str, list[Fact]] = field(default_factory=dict)
    tables: list[Table] = field(default_factory=list)
    judged: list[Judged] = field(default_factory=list)
    part_of: str = ""
    language: str = ""
    entry: str = ""

    @property
    def speakers(self) -> list[str]:
        """Each speaker once: the sides in their order, then other speakers."""
        return list(dict.fromkeys((*self.sides, *(turn.speaker for turn in self.turns))))
