"""The words of a dataset's tasks: `TASKS = {"sentiment": Task(...)}` in `NAME/tasks/`.

A task has gold, a score, baselines and references. docs/tasks.md shows one.
"""

from parley.tasks.formats import NO_HIT, TREC_RUN, UNREADABLE, Key, Prediction
from parley.tasks.task import Reference, Score, Subset, Task, Undefined

__all__ = [
    "NO_HIT",
    "TREC_RUN",
    "UNREADABLE",
    "Key",
    "Prediction",
    "Reference",
    "Score",
    "Subset",
    "Task",
    "Undefined",
]
