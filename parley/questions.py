"""The words of a task's questions for a model, and of the games that models play.

`Task(asking=Asking(...))` has prompts and a reader of answers; `Task(asking=make_game(...))` rules.
"""

from parley.declaring.answers import (
    choice,
    read_labels,
    read_number,
    read_object,
    read_order,
    reader,
)
from parley.declaring.games import Rules as NegotiationRules
from parley.declaring.games import State as NegotiationState
from parley.declaring.games import make_game
from parley.declaring.questions import (
    Asking,
    Playing,
    Question,
    Unreadable,
    chat,
    object_schema,
    spoken,
)

__all__ = [
    "Asking",
    "NegotiationRules",
    "NegotiationState",
    "Playing",
    "Question",
    "Unreadable",
    "chat",
    "choice",
    "make_game",
    "object_schema",
    "read_labels",
    "read_number",
    "read_object",
    "read_order",
    "reader",
    "spoken",
]
