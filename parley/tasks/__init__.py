"""The words of a dataset's tasks: `TASKS = {"sentiment": Task(...)}` in `NAME/tasks/`.

A task has gold, a score, baselines and references. docs/tasks.md shows one. Its questions for a
model are an `Asking`, prompts and a reader of answers, or a `Playing`, a game.
"""

from parley.tasks.answers import number_from, one_of, order_of, reader, some_of
from parley.tasks.asking import Asking, Question, Unreadable, chat, object_schema, spoken
from parley.tasks.formats import NO_HIT, TREC_RUN, UNREADABLE, Key, Prediction
from parley.tasks.game_scores import GAME_FIELDS, GAME_METRICS, game_shape, score_games
from parley.tasks.games import NegotiationState, Playing
from parley.tasks.task import Reference, Score, Subset, Task, Undefined

__all__ = ["GAME_FIELDS", "GAME_METRICS", "NO_HIT", "TREC_RUN", "UNREADABLE", "Asking", "Key"]
__all__ += ["NegotiationState", "Playing", "Prediction", "Question", "Reference", "Score", "Subset"]
__all__ += ["Task", "Undefined", "Unreadable", "chat", "game_shape", "number_from", "object_schema"]
__all__ += ["one_of", "order_of", "reader", "score_games", "some_of", "spoken"]
