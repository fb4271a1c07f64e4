"""Words of tasks: what is predicted, asked of a model, played and scored."""

from typing import TYPE_CHECKING

from parley.base.door import opened

if TYPE_CHECKING:
    from parley.tasks.agreement import alpha, masi, nominal, ordinal
    from parley.tasks.answers import number_from, one_of, order_of, reader, some_of
    from parley.tasks.asking import Asking, Question, Unreadable, chat, object_schema, spoken
    from parley.tasks.game_scores import GAME_FIELDS, GAME_METRICS, game_shape, score_games
    from parley.tasks.games import NegotiationState, Playing
    from parley.tasks.prediction_formats import NO_HIT, TREC_RUN, UNREADABLE, Key, Prediction
    from parley.tasks.probabilities import PROBABILITY_STEPS, a_probability, calibration_error
    from parley.tasks.task import Reference, Score, Subset, Task, Undefined

_PLACES = {
    "parley.tasks.agreement": "alpha masi nominal ordinal",
    "parley.tasks.answers": "number_from one_of order_of reader some_of",
    "parley.tasks.asking": "Asking Question Unreadable chat object_schema spoken",
    "parley.tasks.probabilities": "PROBABILITY_STEPS a_probability calibration_error",
    "parley.tasks.prediction_formats": "NO_HIT TREC_RUN UNREADABLE Key Prediction",
    "parley.tasks.game_scores": "GAME_FIELDS GAME_METRICS game_shape score_games",
    "parley.tasks.games": "NegotiationState Playing",
    "parley.tasks.task": "Reference Score Subset Task Undefined",
}
__all__ = ["GAME_FIELDS", "GAME_METRICS", "NO_HIT", "PROBABILITY_STEPS", "TREC_RUN", "Asking"]
__all__ += ["UNREADABLE", "Key", "NegotiationState", "Playing", "Prediction", "Question"]
__all__ += ["Reference", "Score", "Subset", "Task", "Undefined", "Unreadable", "a_probability"]
__all__ += ["alpha", "calibration_error", "chat", "game_shape", "masi", "nominal", "number_from"]
__all__ += ["object_schema", "one_of", "order_of", "ordinal", "reader", "score_games", "some_of"]
__all__ += ["spoken"]
__getattr__ = opened(__name__, _PLACES)
