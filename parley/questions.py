"""The words of a task's questions for a model, and of the games that models play.

`Task(asking=Asking(...))` has prompts and a reader of answers; `Task(asking=make_game(...))` rules.
"""

from parley.tasks.answers import number_from, one_of, order_of, reader, some_of
from parley.tasks.asking import (
    Asking,
    Playing,
    Question,
    Unreadable,
    chat,
    object_schema,
    spoken,
)
from parley.tasks.game_scores import (
    GAME_FIELDS,
    GAME_METRICS,
    game_shape,
    score_games,
    wrong_end,
)
from parley.tasks.games import Rules as NegotiationRules
from parley.tasks.games import State as NegotiationState
from parley.tasks.games import make_game

__all__ = [
    "GAME_FIELDS",
    "GAME_METRICS",
    "Asking",
    "NegotiationRules",
    "NegotiationState",
    "Playing",
    "Question",
    "Unreadable",
    "chat",
    "game_shape",
    "make_game",
    "number_from",
    "object_schema",
    "one_of",
    "order_of",
    "reader",
    "score_games",
    "some_of",
    "spoken",
    "wrong_end",
]
