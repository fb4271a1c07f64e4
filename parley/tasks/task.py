"""The tasks of a dataset, as its folder declares them.

A dataset folder may hold a `tasks.py`, or a `tasks/` with a file for each task, that defines

    TASKS = {"sentiment": Task(...)}   # name -> task

One command checks and scores the files of every task: `parley score NAME TASK FILE`. Functions of
a task import packages of the extra `tasks` when they run, not before.
"""

import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import permutations, product
from typing import Any

from parley.base.errors import Problem, require_known
from parley.base.numbers import exponent_of, is_number
from parley.base.values import flat, is_values, tree, without_numpy
from parley.schema.nodes import Choice, Node
from parley.schema.shapes import Field, parse, problems
from parley.tasks.answers import read
from parley.tasks.calibration import Bin, calibration
from parley.tasks.games import Playing
from parley.tasks.kinds import AnswerField, form_of, normalized_name, place_of
from parley.tasks.prediction_formats import JSON_LINES, TREC_RUN, Key, Prediction, PredictionFormat
from parley.tasks.prompts import Asking

MEASURED = "run with this tool"
"""The place of a reference that a baseline gives, as a test holds."""

_NAME = re.compile(r"[\w-]+")  # of a value of an option, in the names of configs and logs
Gold = Mapping[Key, Mapping[str, Any]]
"""The values of the key's fields -> the fields of the right answer, and what a score needs."""


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
            the greatest number of the metric. Or a function: it takes the index of some rows, for
            an array in the order of gold, and returns the number of these rows alone. Or group ->
            metrics; groups may be nested.
        counts: The numbers of scored items: {"utterances": 4615}.
        without_interval: The metrics or groups that can have no interval -> the reason.
        own_rows: The metric or group, nested as `metrics` -> whether each row counts in it; all do
            if it is not here. Of a mean its NaN tell that. Where other rows count for two models,
            they are compared on the rows that both answer.
        forecasts: The probability of each answer and whether it is right, or its share of that: two
            arrays, with NaN as the probability of an answer left out.
    """

    metrics: Mapping[str, Any]
    counts: Mapping[str, int] = field(default_factory=dict)
    without_interval: Mapping[str, str] = field(default_factory=dict)
    forecasts: tuple[Any, Any] = field(default=((), ()), compare=False)
    own_rows: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        metrics = {
            p: v if is_values(v) else without_numpy(v) for p, v in flat(self.metrics).items()
        }
        object.__setattr__(self, "metrics", tree(metrics))
        object.__setattr__(self, "counts", without_numpy(self.counts))

    @property
    def calibration(self) -> list[Bin]:
        """The forecasts by their probability."""
        return calibration(*self.forecasts)

    @property
    def numbers(self) -> dict[tuple[str, ...], Any]:
        """The metrics that are defined, by the names that lead to them."""
        return {n: v for n, v in flat(self.metrics).items() if not isinstance(v, Undefined)}


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
        rows: The rows that it is of if they are not all: a subset of the task, or words.
        rule: Where it counts otherwise than the task, or which answers it has, in a few words.
    """

    name: str
    metrics: Mapping[str, Any] = field(default_factory=dict)
    place: str = MEASURED
    note: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    rows: str = ""
    rule: str = ""

    def conditions(self, rows: str | None = "") -> str:
        """Return its rule, and its rows if they are not `rows`, for a text behind its name.

        `rows` are the rows of the score: the name of a subset, "" for all rows, or None for a part
        that no reference has.
        """
        rule = f", {self.rule}" if self.rule else ""
        return rule if self.rows == rows else f"{rule} ({self.rows or 'all rows'})"


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


@dataclass(frozen=True, kw_only=True)
class Task:
    """Something to predict, and how predictions are scored.

    The tool checks a file: `score` is called only with sound predictions, one for each key of
    `gold` and in its order.

    Args:
        summary: The object of the prediction, in one line.
        evaluated_on: The scored rows: "strategies, the test parts of the authors' five folds".
        configs: The configs it reads of a build.
        key: The fields that tell predictions apart, each a `Field`; of a TREC run the query is the
            key of `gold`.
        answer: The other fields of a prediction. If a model is asked, each is an `AnswerField`.
        metrics: Name of a metric -> its meaning, in a phrase; the primary one first, as in scores.
        gold: Build -> key -> the fields of the right answer, if there is one, and what else
            `score` needs. "fold" is the fold of a row. A metric of all rows is then the mean over
            the folds in which it is defined; a part, such as a subset, is scored without folds.
            "dialogue_ids" are the dialogues of a row; without them the key's first value is it.
        score: Gold, predictions -> the score. An unreadable prediction has the fields of the key
            and `UNREADABLE`, the reason, and no others. Count it as wrong; leave it out of a metric
            in which no answer can be wrong, such as a correlation. The tool calls `score` for each
            fold; if a metric is one number, it calls it again without each cluster, which takes
            longer than a function.
        baselines: Name -> a function: build -> predictions.
        references: Results to compare with, the documented ones first.
        options: Option -> its values, the default first; a keyword of `gold`, `score` and each
            baseline.
        inputs: The knowledge that a model may use, in words.
        columns: These inputs as columns: "strategies.text".
        leak: A warning of columns that give the answer away, "" without one.
        asking: The questions for a language model, or the game that two of them play.
        not_asked: The reason why there are no questions.
        subsets: Name -> dialogues that a published evaluation used.
        clusters: The kinds of clusters, one or two: {"dialogues": None, "raters": raters}. An
            interval leaves out the rows of a cluster together. The name of a kind is a plural. Its
            function takes the build, and returns the ids of the row's clusters for each key of
            gold, or for the first fields of the keys. None stands for the dialogues.
        per_prediction: The metrics that are means over predictions, so that one prediction has a
            value of its own: ("joint_accuracy",).
        format: The format of a file of predictions.
        ends: Metric or group -> its least and its greatest number, infinite for none:
            {"error": (0, inf)}. One that is not named is a fraction, from 0 to 1.
        lower: The metrics and groups of which a lower number is better.
    """

    summary: str
    evaluated_on: str
    configs: tuple[str, ...]
    key: Mapping[str, Field]
    answer: Mapping[str, Field]
    metrics: Mapping[str, str]
    gold: Callable[..., Gold]
    score: Callable[..., Score]
    baselines: Mapping[str, Callable[..., Iterable[Prediction]]] = field(default_factory=dict)
    references: tuple[Reference, ...] = ()
    options: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    inputs: str = ""
    columns: tuple[str, ...] = ()
    leak: str = ""
    asking: Asking | Playing | None = None
    not_asked: str = ""
    subsets: Mapping[str, Subset] = field(default_factory=dict)
    clusters: Mapping[str, Callable[[Any], Mapping[Key, Collection[Any]]] | None] = field(
        default_factory=lambda: {"dialogues": None}
    )
    per_prediction: tuple[str, ...] = ()
    format: PredictionFormat = JSON_LINES
    ends: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    lower: tuple[str, ...] = ()

    def chosen(self, options: Mapping[str, str | None]) -> dict[str, str]:
        """Return a value for each option, the default for None; UsageError for an unknown one."""
        for name, value in options.items():
            require_known("the task", "option", name, self.options)
            if value is not None:
                require_known("the task", name, value, self.options[name])
        return {name: options.get(name) or values[0] for name, values in self.options.items()}

    def measured(self) -> dict[str, Reference]:
        """Return the references to baselines, by name and options as `measured.json` has them."""
        baselines = [reference for reference in self.references if reference.place == MEASURED]
        return {" ".join((b.name, *b.options.values())): b for b in baselines}

    def with_measured(self, scores: Mapping[str, Any]) -> "Task":
        """Return the task whose references to baselines have their scores of `measured.json`."""
        documented = [reference for reference in self.references if reference.place != MEASURED]
        baselines = [replace(b, metrics=scores.get(n, {})) for n, b in self.measured().items()]
        return replace(self, references=(*documented, *baselines))

    def subset(self, name: str) -> Subset:
        """Return the published subset of this name, an empty one for ""; else raise UsageError."""
        if name:
            require_known("the task", "subset", name, self.subsets)
        return self.subsets.get(name, Subset("", frozenset()))

    @cached_property
    def fields(self) -> dict[str, Field]:
        """The fields of a prediction; the name of one that it may lack ends in "?"."""
        game = self.asking.fields if isinstance(self.asking, Playing) else {}
        return {**self.key, **self.answer, **game}

    @cached_property
    def node(self) -> Node:
        """The parsed shape of a prediction."""
        return parse(self.fields)

    @property
    def contents(self) -> list[tuple[str, str, str]]:
        """The name, the values and the meaning of each field of a prediction, in words."""
        return [
            (n.removesuffix("?"), _values_in_words(of), of.meaning) for n, of in self.fields.items()
        ]

    @property
    def example(self) -> Prediction:
        """An invented prediction."""
        return {name: _example(name, of) for name, of in {**self.key, **self.answer}.items()}

    @property
    def gold_key(self) -> tuple[str, ...]:
        """The first fields of the key, which are the keys of `gold`: all but of a TREC run."""
        return tuple(self.key)[:-1] if self.format is TREC_RUN else tuple(self.key)

    @property
    def category(self) -> str:
        """The Hub's name of its category, for the front matter of a card."""
        if self.format is TREC_RUN:
            return "text-retrieval"
        return "text-generation" if isinstance(self.asking, Playing) else "text-classification"

    @property
    def decimals(self) -> int:
        """The decimals in a table."""
        return 2 if self.ends_of([*self.metrics][:1])[1] == 100 else 3

    @property
    def ends_in_words(self) -> dict[str, str]:
        """The ends of each metric, such as "0 to 1"."""
        words = {}
        for name in self.metrics:
            least, most = self.ends_of([name])
            words[name] = f"{least:.4g} to {most:.4g}"
            if math.isinf(most):
                words[name] = "any number" if math.isinf(least) else f"{least:.4g} or more"
        return words

    def ends_of(self, names: Iterable[str]) -> tuple[float, float]:
        """Return the least and the greatest number of a metric, by the names that lead to it."""
        return next((self.ends[name] for name in names if name in self.ends), (0.0, 1.0))

    @property
    def has_right_answers(self) -> bool:
        """Whether gold has the right answer of each key: not if it is a run or a game."""
        return self.format is JSON_LINES and not isinstance(self.asking, Playing)

    def without_key(self, prediction: Prediction) -> dict[str, Any]:
        """Return the fields of a prediction beside the key."""
        return {name: value for name, value in prediction.items() if name not in self.key}

    def right(self, gold: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the right answer in an entry of gold, None if there is none."""
        return {name: gold[name] for name in self.answer} if {*self.answer} <= {*gold} else None

    def dialogues(self, key: Key, gold: Mapping[str, Any]) -> Collection[Any]:
        """Return the ids of the dialogues of a row."""
        ids: Collection[Any] = gold.get("dialogue_ids", key[:1])
        return ids

    @property
    def asked(self) -> dict[str, AnswerField]:
        """The fields that a model is asked for."""
        return {n: f for n, f in self.answer.items() if isinstance(f, AnswerField)}

    @property
    def form(self) -> str:
        """The form of an answer that a model is asked for; "" if none is."""
        return form_of(self.asked) if isinstance(self.asking, Asking) else ""

    def read(self, text: str, by_own: bool = False) -> dict[str, Any]:
        """Return what `read` of `answers.py` does for the fields that a model is asked for."""
        return read(text, self.asked, by_own)

    def ids(self, name: str) -> dict[str, dict[str, str]]:
        """Return each choice of a value for every option, by its id, as "agreement-empathy"."""
        choices = product(*self.options.values())
        every = [dict(zip(self.options, values, strict=True)) for values in choices]
        return {"-".join((name, *options.values())): options for options in every}

    def problems(self, name: str) -> Iterator[Problem]:
        """Yield the problems of the declaration, at `TASKS[name]`."""
        where = f"TASKS[{name!r}]"
        names = ("summary", "evaluated_on", "inputs", "leak", "not_asked")
        texts = {name: getattr(self, name) for name in names}
        if wrong := [*problems(texts, dict.fromkeys(names, str), where)]:
            yield from wrong
            return
        if len(self.clusters) > 2:
            yield Problem(f"{where}.clusters", "one kind or two", f"{[*self.clusters]}")
        for name in ("summary", "evaluated_on", "configs", "key", "answer", "metrics", "clusters"):
            if not getattr(self, name):
                yield Problem(f"{where}.{name}", what="is empty")
        kind = AnswerField if isinstance(self.asking, Asking) else Field
        for attribute, of in (("key", Field), ("answer", kind)):
            fields = getattr(self, attribute)
            if not isinstance(fields, Mapping):
                place, known = f"{where}.{attribute}", f"name -> {of.__name__}"
                yield Problem(place, known, repr(fields))
                continue
            for name, value in fields.items():
                if not isinstance(value, of):
                    place = f"{where}.{attribute}[{name!r}]"
                    expected = "a Field" if of is Field else "a kind, such as tasks.OneOf"
                    yield Problem(place, expected, type(value).__name__)
        asked = self.asked if isinstance(self.answer, Mapping) else {}
        places = [tuple(map(normalized_name, place_of(n, of))) for n, of in asked.items()]
        if any(one[: len(two)] == two for one, two in permutations(places, 2)):
            yield Problem(f"{where}.answer", "fields in places of their own", f"{places}")
        for name, ends in self.ends.items():
            if not (isinstance(ends, tuple) and [*map(is_number, ends)] == [True, True]):
                yield Problem(f"{where}.ends[{name!r}]", "(least, greatest)", f"{ends!r:.60}")
                return
        for attribute in ("per_prediction", "lower", "ends"):
            if unknown := [name for name in getattr(self, attribute) if name not in self.metrics]:
                known = f"names of {list(self.metrics)}"
                yield Problem(f"{where}.{attribute}", known, str(unknown))
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
                if exponent_of(value) is None or math.isinf(float(value)):
                    yield Problem(number, "a finite number as its document prints it", repr(value))
                else:
                    yield from beyond(number, float(value), self.ends_of(path))


def _values_in_words(of: Field) -> str:
    return of.values if isinstance(of, AnswerField) else parse(of.shape).described()


def _example(name: str, of: Field) -> Any:
    """Return an invented value of a field."""
    if isinstance(of, AnswerField):
        return of.example
    node = parse(of.shape)
    if isinstance(node, Choice):
        return min(node.values)
    return next(filter(node.fits, (name.upper(), 1, 1.0, [], {})), None)


def beyond(place: str, value: float, ends: tuple[float, float]) -> Iterator[Problem]:
    """Yield that a number is beyond the ends of its metric."""
    least, most = ends
    if not least - 1e-9 <= value <= most + 1e-9:  # rounding
        expected = f"a number from {least:g} to {most:g}; else name its `ends`"
        yield Problem(place, expected, f"{value:g}")
