from .agreement import alpha, masi, nominal, ordinal
from .answers import number_from, one_of, order_of, reader, some_of
from .asking import Asking, Question, Unreadable, chat, object_schema, spoken
from .game_scores import GAME_FIELDS, GAME_METRICS, game_shape, score_games
from .games import NegotiationState, Playing
from .prediction_formats import NO_HIT, TREC_RUN, UNREADABLE, Key, Prediction
from .probabilities import PROBABILITY_STEPS, a_probability, calibration_error
from .task import Reference, Score, Subset, Task, Undefined

__all__ = ["GAME_FIELDS", "GAME_METRICS", "NO_HIT", "PROBABILITY_STEPS", "TREC_RUN", "Asking"]
__all__ += ["UNREADABLE", "Key", "NegotiationState", "Playing", "Prediction", "Question"]
__all__ += ["Reference", "Score", "Subset", "Task", "Undefined", "Unreadable", "a_probability"]
__all__ += ["alpha", "calibration_error", "chat", "game_shape", "masi", "nominal", "number_from"]
__all__ += ["object_schema", "one_of", "order_of", "ordinal", "reader", "score_games", "some_of"]
__all__ += ["spoken"]
