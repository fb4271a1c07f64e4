"""The words of a task's questions for a model, and of the games that models play.

`Task(asking=)` is an `Asking`, prompts and a reader of answers, or a `Playing`, a game.
"""

from parley.tasks.answers import number_from as number_from
from parley.tasks.answers import one_of as one_of
from parley.tasks.answers import order_of as order_of
from parley.tasks.answers import reader as reader
from parley.tasks.answers import some_of as some_of
from parley.tasks.asking import Asking as Asking
from parley.tasks.asking import Question as Question
from parley.tasks.asking import Unreadable as Unreadable
from parley.tasks.asking import chat as chat
from parley.tasks.asking import object_schema as object_schema
from parley.tasks.asking import spoken as spoken
from parley.tasks.game_scores import GAME_FIELDS as GAME_FIELDS
from parley.tasks.game_scores import GAME_METRICS as GAME_METRICS
from parley.tasks.game_scores import game_shape as game_shape
from parley.tasks.game_scores import score_games as score_games
from parley.tasks.game_scores import wrong_end as wrong_end
from parley.tasks.games import NegotiationState as NegotiationState
from parley.tasks.games import Playing as Playing

__all__ = sorted(name for name in dir() if not name.startswith("_"))
