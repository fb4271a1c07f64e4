"""One rule for the questions of a task: they change only with the columns that the task names."""

from collections.abc import Iterator, Mapping
from copy import deepcopy
from fnmatch import fnmatch
from functools import reduce
from itertools import accumulate
from operator import getitem
from typing import Any

from parley.builds.built_folder import BuiltFolder
from parley.scoring.questions import Questions
from parley.tasks.kinds import form_of
from parley.tasks.prediction_formats import Key
from parley.verification.results import Aside, Found

Way = tuple[Any, ...]  # a split, the number of a row, then names and numbers of places
Cells = Mapping[Way, Any]  # the way to each cell -> its value


def of_unnamed_columns(questions: Questions) -> Iterator[Found]:
    """Yield each column that the task does not name and that changes a question.

    The values of a column are exchanged, so that each cell gets another one of the same column.
    For a column that decides which questions are asked, that it is not checked.
    """
    for config in questions.built.dataset.configs:
        for column, cells in _columns(questions, config).items():
            try:
                after = _asked(questions, exchanged(questions.built, config, cells))
            except Exception:  # the rows may contradict each other
                yield Aside("not checked", f"{column} contradicts others if exchanged")
                continue
            both = questions.by_key.keys() & after.keys()
            if changed := [key for key in both if after[key] != questions.by_key[key]]:
                problem = f"the question of {min(changed, key=str)} changes with {column}"
                yield f"{problem}; leave it out, or name it in `columns`"
            elif len(both) < len(questions.by_key):
                yield Aside("not checked", f"{column} selects rows")


def exchanged(built: BuiltFolder, config: str, cells: Cells) -> BuiltFolder:
    """Return a copy of a build in which each cell has the value that follows its own.

    Values follow each other in a circle, each different one once.
    """
    values = sorted({*cells.values()}, key=repr)
    following = dict(zip(values, [*values[1:], *values[:1]], strict=True))
    rows: Any = {s: deepcopy(built.rows(config, s)) for s in {split for split, *_ in cells}}
    for (*steps, last), value in cells.items():
        reduce(getitem, steps, rows)[last] = following[value]
    return built.copy_with_rows({(config, split): rows[split] for split in rows})


def _columns(questions: Questions, config: str) -> dict[str, Cells]:
    """Return the cells of each column that is no key and that the task does not name."""
    built, task = questions.built, questions.task
    keys = {*task.key}.union(*(each.keys for each in built.dataset.configs.values()))
    found: dict[str, dict[Way, Any]] = {}
    for split in built.splits(config):
        for place, value in _leaves(built.rows(config, split)):
            way = (split, *place)
            parts = ["[]" if type(step) is int else f".{step}" for step in way[2:]]
            of_column = [*accumulate([config, *parts])]  # the column, and those that it is within
            patterns = [name.replace("[", "[[]") for name in task.columns]
            if way[2] not in keys and not any(fnmatch(c, p) for c in of_column for p in patterns):
                found.setdefault(of_column[-1], {})[way] = value
    return {column: cells for column, cells in found.items() if len({*cells.values()}) > 1}


def _asked(questions: Questions, built: BuiltFolder) -> dict[Key, Any]:
    """Return the messages of each question about another build."""
    form = form_of(questions.task.asked)
    asked = questions.asking.questions(built, **questions.options)
    return {question.key: question.messages(form) for question in asked}


def _leaves(value: Any, way: Way = ()) -> Iterator[tuple[Way, Any]]:
    """Yield each scalar within a value, with the way to it, without nulls."""
    if isinstance(value, dict | list):
        for step, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _leaves(inner, (*way, step))
    elif value is not None:
        yield way, value
