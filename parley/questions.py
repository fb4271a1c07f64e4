"""The words of a task's questions for a model, and of the games that models play.

`Task(asking=)` is an `Asking`, prompts and a reader of answers, or a `Playing`, a game.
"""

from parley.tasks.answers import number_from, one_of, order_of, reader, some_of
from parley.tasks.asking import Asking, Question, Unreadable, chat, object_schema, spoken
from parley.tasks.game_scores import (
    GAME_FIELDS,
    GAME_METRICS,
    game_shape,
    score_games,
    wrong_end,
)
from parley.tasks.games import NegotiationState, Playing

__all__ = [
    "GAME_FIELDS",
    "GAME_METRICS",
    "Asking",
    "NegotiationState",
    "Playing",
    "Question",
    "Unreadable",
    "chat",
    "game_shape",
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
