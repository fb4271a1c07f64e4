"""What a dataset folder's `transcript.py` returns for `parley show` to lay out.

A dataset folder may hold a `transcript.py` with

    CONFIGS = ("dialogues",)            # the configs it can read, the richest first
    def transcript(row) -> Transcript   # pure: one row of such a config, as read from Parquet

The first column of these configs is the id by which `parley show NAME ID` finds a dialogue. What
other configs say of it is asked for with

    BESIDE = {"acts": "dialogue_id"}    # config -> its column that holds this id
    def transcript(row, beside) -> Transcript   # config -> its rows, none where it is not there
"""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Turn:
    """One turn: who speaks, what is said or done, and what is noted beside it.

    Args:
        speaker: Name of the speaker as a reader would put it, e.g. "buyer".
        text: What was said; for an action, the action in words ("offers $40").
        notes: Labels, prices or scores that belong to this turn.
        action: Whether the turn is an act (a deal, a rejection) rather than speech.
    """

    speaker: str
    text: str
    notes: tuple[str, ...] = ()
    action: bool = False


@dataclass(frozen=True)
class Transcript:
    """A dialogue laid out for reading.

    Args:
        title: One line that names the dialogue.
        before: (label, value) pairs that a reader needs before the first turn.
        turns: The turns in order.
        after: (label, value) pairs that came of it: outcomes, ratings.
    """

    title: str
    before: list[tuple[str, str]] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)
    after: list[tuple[str, str]] = field(default_factory=list)
