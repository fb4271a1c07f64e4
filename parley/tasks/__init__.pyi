from .agreement import alpha, masi, nominal, ordinal
from .asking import Asking, Question, spoken
from .game_scores import GAME_METRICS, score_games
from .games import NegotiationState, Playing
from .kinds import (
    AnswerField,
    Number,
    OneOf,
    OrderOf,
    Probabilities,
    SomeOf,
    Whole,
    object_form,
    object_schema,
    value_at,
)
from .prediction_formats import NO_HIT, TREC_RUN, UNREADABLE, Key, Prediction
from .probabilities import calibration_error
from .task import Reference, Score, Subset, Task, Undefined

__all__ = ["GAME_METRICS", "NO_HIT", "TREC_RUN", "UNREADABLE", "AnswerField", "Asking", "Key"]
__all__ += ["NegotiationState", "Number", "OneOf", "OrderOf", "Playing", "Prediction"]
__all__ += ["Probabilities", "Question", "Reference", "Score", "SomeOf", "Subset", "Task"]
__all__ += ["Undefined", "Whole", "alpha", "calibration_error", "masi", "nominal"]
__all__ += ["object_form", "object_schema", "ordinal", "score_games", "spoken", "value_at"]
