"""The tasks of a dataset, as its folder declares them.

A dataset folder may hold a `tasks.py`, or a `tasks/` with a file for each task, that defines

    TASKS = {"sentiment": Task(...)}   # name -> task

One command checks and scores the files of every task: `parley score NAME TASK FILE`. Functions of
a task import packages of the extra `tasks` when they run, not before.
"""

import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from typing import Any

from parley.base.errors import Problem, require_known
from parley.base.exact import plain
from parley.base.nested import flat, tree
from parley.schema.nodes import Node
from parley.schema.shapes import parse, problems
from parley.tasks.asking import Asking
from parley.tasks.formats import JSON_LINES, TREC_RUN, Key, Prediction, PredictionFormat
from parley.tasks.games import Playing

__all__ = ["Reference", "Score", "Subset", "Task", "Undefined"]

MEASURED = "run with this tool"
"""The place of a reference that a baseline gives, as a test holds."""

_NAME = re.compile(r"[\w-]+")  # of a value of an option, in the names of configs and logs
MOST = {"fraction": 1.0, "percent": 100.0, "correlation": 1.0}
"""Unit of a task -> the greatest number."""

Gold = Mapping[Key, Any]
"""The right answers: the values of the key's fields -> an answer for `score`."""


@dataclass(frozen=True)
class Undefined:
    """A metric without a value on these predictions, such as a correlation with a constant."""

    reason: str


@dataclass(frozen=True)
class Score:
    """The metrics of predictions; numbers of numpy become the equal ones of Python.

    Args:
        metrics: Metric -> a number, or the values of all rows in the order of gold, whose mean it
            is: numbers, NaN for a row without one, or whether each row is right, which counts as
            1, or 100 if the unit is percent. Or group -> metrics; groups may be nested.
        counts: The numbers of scored items: {"utterances": 4615}.
        without_interval: The metrics or groups that can have no interval, such as medians.
    """

    metrics: Mapping[str, Any]
    counts: Mapping[str, int] = field(default_factory=dict)
    without_interval: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        metrics = {p: v if is_values(v) else plain(v) for p, v in flat(self.metrics).items()}
        object.__setattr__(self, "metrics", tree(metrics))
        object.__setattr__(self, "counts", plain(self.counts))


@dataclass(frozen=True)
class Reference:
    """A documented score, or that of a baseline, to compare with.

    Args:
        name: The name of the system or baseline.
        metrics: Numbers as their document prints them, named as in `Score.metrics`; those of a
            baseline come from `measured.json`.
        place: The document and the place in it; by default a baseline, run now.
        note: A difference that matters for the comparison.
        options: The task's options that it holds for.
    """

    name: str
    metrics: Mapping[str, Any] = field(default_factory=dict)
    place: str = MEASURED
    note: str = ""
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Subset:
    """Dialogues that a published evaluation used.

    Args:
        place: The publication and its file.
        ids: The ids of the dialogues.
        arguments: Keywords for `gold`, baselines and questions of a task: {"split": "validation"}.
    """

    place: str
    ids: frozenset[Any]
    arguments: Mapping[str, str] = field(default_factory=dict)


def _first(key: Key, gold: Any) -> Iterable[Any]:
    return key[:1]


@dataclass(frozen=True, kw_only=True)
class Task:
    """Something to predict, and how predictions are scored.

    The tool checks a file: `score` is called only with sound predictions, one for each key of
    `gold` and in its order.

    Args:
        summary: The object of the prediction, in one line.
        category: The Hub's name of its category, for the card: "text-classification".
        evaluated_on: The scored rows: "strategies, the test parts of the authors' five folds".
        configs: The configs it reads of a build.
        fields: Field of a prediction -> its content, in a phrase.
        shape: The shape of a prediction, in the language of `parley.schema.shapes`.
        key: The fields that tell predictions apart; of a TREC run the query is the key of `gold`.
        example: An invented prediction.
        metrics: Name of a metric -> its meaning, in a phrase; the primary one first, as in scores.
        gold: Build -> the right answers.
        score: Gold, predictions -> the score. An unreadable prediction has the fields of the key
            and `UNREADABLE`, the reason, alone: it is wrong; a metric that no answer can be wrong
            in, as a correlation, is that of the readable ones. The tool calls it also for fewer
            rows: for each fold, and without some dialogues.
        fold: An answer of gold -> its fold: a metric of all rows is the mean over the folds that
            have it. Of a part, such as a subset, it is one of all its rows together.
        baselines: Name -> a function: build -> predictions.
        upper: The baselines that may know right answers, as an upper limit.
        references: Results to compare with, the documented ones first.
        options: Option -> its values, the default first; a keyword of `gold`, `score` and each
            baseline.
        inputs: The knowledge that a model may use, in words.
        columns: These inputs as columns: "strategies.text".
        public_since: The year in which the scored rows were first published.
        leak: A warning of columns that give the answer away, "" without one.
        asking: The questions for a language model, or the game that two of them play.
        not_asked: The reason why there are no questions.
        subsets: Name -> dialogues that a published evaluation used.
        dialogues: Key, its gold -> the ids of its dialogues, for subsets; the key's first value.
        clusters: What ties rows to each other, so that an interval leaves them out together: a
            plural -> a function, build -> the ids of it for each key of gold; None for what
            `dialogues` gives. One kind, or two: {"dialogues": None, "raters": raters}.
        per_prediction: The metrics that are means over predictions, so that one prediction has a
            value of its own: ("joint_accuracy",).
        target: An answer of gold -> the fields of the right prediction beside the key. A game has
            no right one.
        format: The format of a file of predictions.
        unit: The unit of the numbers: "fraction" (0 to 1), "percent" (0 to 100), "correlation" (-1
            to 1), or words for those without bounds.
        decimals: The decimals in a table.
    """

    summary: str
    evaluated_on: str
    configs: tuple[str, ...]
    fields: Mapping[str, str]
    shape: Any
    key: tuple[str, ...]
    example: Prediction
    metrics: Mapping[str, str]
    gold: Callable[..., Gold]
    score: Callable[..., Score]
    fold: Callable[[Any], Any] | None = None
    category: str = ""
    baselines: Mapping[str, Callable[..., Iterable[Prediction]]] = field(default_factory=dict)
    upper: tuple[str, ...] = ()
    references: tuple[Reference, ...] = ()
    options: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    inputs: str = ""
    columns: tuple[str, ...] = ()
    leak: str = ""
    public_since: str = ""
    asking: Asking | Playing | None = None
    not_asked: str = ""
    subsets: Mapping[str, Subset] = field(default_factory=dict)
    dialogues: Callable[[Key, Any], Iterable[Any]] = _first
    clusters: Mapping[str, Callable[[Any], Mapping[Key, Collection[Any]]] | None] = field(
        default_factory=lambda: {"dialogues": None}
    )
    per_prediction: tuple[str, ...] = ()
    target: Callable[[Any], Mapping[str, Any]] | None = None
    format: PredictionFormat = JSON_LINES
    unit: str = "fraction"
    decimals: int = 3

    def chosen(self, given: Mapping[str, str | None]) -> dict[str, str]:
        """Return a value for each option, given or default; UsageError if there is no such one."""
        for name, value in given.items():
            require_known("the task", "option", name, self.options)
            if value is not None:
                require_known("the task", name, value, self.options[name])
        return {name: given.get(name) or values[0] for name, values in self.options.items()}

    def measured(self) -> dict[str, Reference]:
        """Return the references to baselines, by name and options as `measured.json` has them."""
        found = (each for each in self.references if each.place == MEASURED)
        return {" ".join((each.name, *each.options.values())): each for each in found}

    def with_measured(self, scores: Mapping[str, Any]) -> "Task":
        """Return the task whose references to baselines have their measured scores."""
        of_papers = [each for each in self.references if each.place != MEASURED]
        known = self.measured().items()
        of_baselines = [replace(each, metrics=scores.get(name, {})) for name, each in known]
        return replace(self, references=(*of_papers, *of_baselines))

    def subset(self, name: str) -> Subset:
        """Return the published subset of this name, an empty one for ""; else raise UsageError."""
        if name:
            require_known("the task", "subset", name, self.subsets)
        return self.subsets.get(name, Subset("", frozenset()))

    @cached_property
    def node(self) -> Node:
        """The parsed shape of a prediction."""
        return parse(self.shape)

    @property
    def gold_key(self) -> tuple[str, ...]:
        """The first fields of the key, which are the keys of `gold`: all but of a TREC run."""
        return self.key[:-1] if self.format is TREC_RUN else self.key

    def answer(self, prediction: Prediction) -> dict[str, Any]:
        """Return the fields of a prediction beside the key."""
        return {name: value for name, value in prediction.items() if name not in self.key}

    def ids(self, name: str) -> dict[str, dict[str, str]]:
        """Return each choice of a value for every option, by its id on the Hub."""
        every = product(*self.options.values())
        chosen = (dict(zip(self.options, each, strict=True)) for each in every)
        return {task_id(name, options): options for options in chosen}

    def problems(self, name: str) -> Iterator[Problem]:
        """Yield the problems of the declaration, at `TASKS[name]`."""
        where = f"TASKS[{name!r}]"
        names = ("summary", "evaluated_on", "inputs", "leak", "public_since", "not_asked", "unit")
        texts = {name: getattr(self, name) for name in names}
        if wrong := [*problems(texts, dict.fromkeys(names, str), where)]:
            yield from wrong
            return
        if len(self.clusters) > 2:
            yield Problem(f"{where}.clusters", "one kind or two", f"{[*self.clusters]}")
        for name in ("summary", "evaluated_on", "configs", "key", "metrics", "clusters"):
            if not getattr(self, name):
                yield Problem(f"{where}.{name}", what="is empty")
        yield from self.node.problems(self.example, f"{where}.example")
        for what, due, known in (
            *(("example", "fields", self.fields), ("key", "fields", self.fields)),
            *(("upper", "names", self.baselines), ("per_prediction", "names", self.metrics)),
        ):
            if unknown := [each for each in getattr(self, what) if each not in known]:
                yield Problem(f"{where}.{what}", f"{due} of {list(known)}", str(unknown))
        for option, values in self.options.items():
            if not option.isidentifier() or not values:
                yield Problem(f"{where}.options", what=f"{option!r} is no name with values")
            for value in values:
                if not (isinstance(value, str) and _NAME.fullmatch(value)):
                    place = f"{where}.options[{option!r}]"
                    yield Problem(place, "letters, digits, _ and - for a value", repr(value))
        for reference in self.references:
            place = f"{where}.references, {reference.name}"
            is_measured = reference.place == MEASURED
            if is_measured and reference.name not in self.baselines:
                yield Problem(place, f"a baseline, of {', '.join(self.baselines) or 'none'}")
            if is_measured == bool(reference.metrics):
                yield Problem(place, what="names a document just if it has metrics")
            for path, value in flat(reference.metrics).items():
                number = f"{place}, {'.'.join(path)}"
                if not _is_number(value):
                    yield Problem(number, "a finite number as its document prints it", repr(value))
                elif exceeds(float(value), self.unit):
                    yield Problem(number, within(self.unit), value)


def exceeds(value: float, unit: str) -> bool:
    """Tell whether a number is too large for its unit, beyond rounding."""
    return abs(value) > MOST.get(unit, math.inf) * (1 + 1e-9)


def within(unit: str) -> str:
    """Return the expected number of a unit, for an error."""
    return f"a {unit}, at most {MOST[unit]:g}; else name another unit"


def _is_number(value: Any) -> bool:
    """Tell whether a value is the text of a finite number."""
    with suppress(ValueError):
        return isinstance(value, str) and math.isfinite(float(value))
    return False


def task_id(name: str, options: Mapping[str, str]) -> str:
    """Return the id of a task with these options on the Hub, as "agreement-empathy"."""
    return "-".join((name, *options.values()))


def is_values(value: Any) -> bool:
    """Tell whether a metric is given by the values of its rows."""
    return isinstance(value, list | tuple) or bool(getattr(value, "ndim", 0))
