"""The types that a dataset folder's `transcript.py` returns for a dialogue.

`parley show` and the pages of `parley site` lay out the same `Transcript`. A dataset folder may
hold a `transcript.py` with

    CONFIGS = ("dialogues",)            # the configs it can read, the richest first
    def transcript(row) -> Transcript   # pure: one row of such a config, as read from Parquet

The first column of these configs is the id by which `parley show NAME ID` finds a dialogue. What
other configs say of it is asked for with

    BESIDE = {"dialogue_acts": "dialogue_id"}    # config -> its column that holds this id
    def transcript(row, beside) -> Transcript   # config -> its rows, none where it is not there

What the dialogues can be filtered by, of a row and, with `BESIDE`, of the rows beside it, is

    def facets(row) -> Facets           # name -> value, number or list of them; None has no bar
    ORDER = {"answer": ("no", "yes")}   # name -> its values in their order, where they have one

Without `facets` it is the scalars and labels at the top of a row.
"""

from dataclasses import dataclass, field

Fact = tuple[str, str]  # a label and what stands beside it
Value = str | int | float
Facets = dict[str, Value | list[Value] | None]  # name -> what a dialogue can be found by


@dataclass(frozen=True)
class Note:
    """A note on a turn: a label by a person or a rule.

    Args:
        text: The label, e.g. "counter-price".
        kind: What it is a label of, in a word: "strategy", "act", "intent".
        detail: What belongs to the label: the price of an act, the formulation of an intent.
        by: Whose it is where it is not simply the data's: "rule", "3 of 4".
    """

    text: str
    kind: str = "label"
    detail: str = ""
    by: str = ""


@dataclass(frozen=True)
class Turn:
    """One turn: the speaker, the text or action, and notes.

    Args:
        speaker: Name of the speaker as a reader would put it, e.g. "buyer".
        text: What was said; for an action, the action in words ("offers $40").
        notes: Labels of this turn.
        action: Whether the turn is an act (a deal, a rejection) rather than speech.
        terms: What an action puts forward, as facts: what each side gets of a deal, or
            the price of an offer. `text` says it too.
    """

    speaker: str
    text: str
    notes: tuple[Note, ...] = ()
    action: bool = False
    terms: tuple[Fact, ...] = ()


@dataclass(frozen=True)
class Table:
    """Values side by side: outcomes of both sides, ratings of the person and of others.

    Args:
        title: What they are, e.g. "ratings".
        columns: The heading of each column of values.
        rows: The heading of each row, and a value for each column, "" where there is none.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True)
class Transcript:
    """A dialogue laid out for reading.

    Args:
        title: One line that names the dialogue.
        before: What a reader needs before the first turn, and every side knew.
        turns: The turns in order.
        after: What came of it.
        sides: The speakers in the order to show them, each with what it alone knew; empty where
            nothing is to be said of them.
        tables: What came of it, where values belong side by side.
        documents: Grade -> ids of the documents that were judged so, the best grade first.
        language: Of the text, as HTML names it: "en", "ja".
    """

    title: str
    before: list[Fact] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)
    after: list[Fact] = field(default_factory=list)
    sides: dict[str, list[Fact]] = field(default_factory=dict)
    tables: list[Table] = field(default_factory=list)
    documents: dict[str, list[str]] = field(default_factory=dict)
    language: str = "en"

    @property
    def speakers(self) -> list[str]:
        """Each speaker once: the sides in their order, then other speakers."""
        return list(dict.fromkeys((*self.sides, *(turn.speaker for turn in self.turns))))
