"""Metrics of predictions, and how far they move without each cluster.

`TaskRows` has the right answers of a task or a part of it, and computes metrics; an `Epoch` has
also the predictions of a model; an `Evaluation` has one epoch or more. A cluster is rows that
depend on each other, as `Task.clusters` has it: those of a dialogue, or of a person.
"""

import math
import statistics
from collections import Counter
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, product
from typing import Any, NamedTuple

import numpy as np

from parley.base.errors import Problem, ScriptError
from parley.base.values import flat, is_number, is_values, tree
from parley.builds.built_folder import BuiltFolder
from parley.tasks.game_scores import BY_MODEL
from parley.tasks.intervals import FEW, FEW_CORRELATED, Array, Metric, Spread, mean_of
from parley.tasks.prediction_formats import UNREADABLE, Key, Prediction
from parley.tasks.task import MOST, Gold, Score, Task, Undefined, exceeding, running, script_of

BLOCKS = 100
"""The most times that a metric which is no mean over rows is computed without some clusters."""

Names = tuple[str, ...]  # that lead to a metric
Predictions = Mapping[Key, Prediction]


@dataclass(eq=False)
class TaskRows:
    """The rows of a task or of a part of it, and metrics of predictions for them.

    Where a task has folds, a metric of all its rows is the mean over the folds that have it; that
    of a part is one of all rows together. `whole` has the clusters of the rows of a part.
    """

    built: BuiltFolder
    name: str
    options: Mapping[str, str]
    gold: Gold
    is_part: bool = False
    whole: "TaskRows | None" = None

    def __post_init__(self) -> None:
        self.task = self.built.dataset.task(self.name)
        folds: dict[Any, dict[Key, Any]] = {}
        for key, answer in self.gold.items():
            folds.setdefault(answer.get("fold"), {})[key] = answer
        self._has_folds = not self.is_part and None not in folds
        self._folds: list[Gold] = [self.gold]
        if self._has_folds:
            self._folds = [folds[fold] for fold in sorted(folds)]

    @cached_property
    def clusters(self) -> dict[str, list[list[Key]]]:
        """Kind -> the keys of each cluster; of two kinds, "" has the pairs of a cluster of each.

        A part has all clusters of the whole: those without a row in the part are empty.
        """
        if self.whole:
            return {
                kind: [[key for key in keys if key in self.gold] for keys in clusters]
                for kind, clusters in self.whole.clusters.items()
            }
        with running(self.built):
            ids = {kind: self._cluster_ids(kind) for kind in self.task.clusters}
            if len(ids) > 1:
                one, other = ids.values()
                ids[""] = {key: [*product(one[key], other[key])] for key in one}
            keys_by_id: dict[str, dict[Any, list[Key]]] = {kind: {} for kind in ids}
            for kind, ids_by_key in ids.items():
                for key, ids_of_key in ids_by_key.items():
                    for id in ids_of_key:
                        keys_by_id[kind].setdefault(id, []).append(key)
        return {kind: [*clusters.values()] for kind, clusters in keys_by_id.items()}

    def _cluster_ids(self, kind: str) -> dict[Key, Collection[Any]]:
        """Return the ids of the clusters of one kind that each row is in."""
        clusters = self.task.clusters[kind]
        gold = {key: answer for fold in self._folds for key, answer in fold.items()}
        if clusters is None:
            return {key: [tuple(self.task.dialogues(key, gold[key]))] for key in gold}
        of_gold = clusters(self.built)
        width = len(next(iter(of_gold), self.task.gold_key))
        ids = {key: of_gold[key[:width]] for key in gold}
        for value in ids.values():
            if isinstance(value, str) or not value:
                where = f"{script_of(self.built)}: {self.name}: clusters: {kind}"
                raise ScriptError(f"{where}: expected a list of ids, found {value!r:.60}")
        return ids

    def score(self, predictions: Predictions) -> Score:
        """Return the numbers of predictions, one for each row; ScriptError if the task fails."""
        return self._numbers([self._run(fold, predictions) for fold in self._folds])

    def measure(self, predictions: Predictions) -> tuple[Score, dict[Names, Metric]]:
        """Return the score of predictions, and its metrics with their spread.

        They have the order of the score.
        """
        scores = [self._run(fold, predictions) for fold in self._folds]
        score = self._numbers(scores)
        metrics, others = dict[Names, Metric](), dict[Names, float]()
        for names, number in flat(score.metrics).items():
            values = [flat(of_fold.metrics)[names] for of_fold in scores]
            if isinstance(number, Undefined):
                metrics[names] = Metric(math.nan)
            elif {*names} & {*scores[0].without_interval}:
                metrics[names] = Metric(number)
            elif is_values(values[0]):
                is_share = all(np.asarray(of_rows).dtype == bool for of_rows in values)
                mean = self.mean(np.concatenate([*map(self._row, values)]), is_share)
                metrics[names] = replace(mean, value=number)
                if {*names} & {*scores[0].fractions}:
                    metrics[names] = replace(metrics[names], largest=1.0, least=0.0)
            else:
                others[names] = number
        if others:
            metrics |= self._left_out(scores, predictions, others)
        return score, {names: metrics[names] for names in flat(score.metrics)}

    def mean(self, row: Array, is_share: bool = False) -> Metric:
        """Return the mean of values of rows, one for each row, by fold and in the order of gold."""
        has_value, spreads = ~np.isnan(row), []
        if not has_value.any():
            return Metric(math.nan)
        value = np.where(has_value, row, 0)
        of_folds = np.bincount(self._fold_of, has_value)
        has_rows = of_folds > 0
        of_folds = of_folds[has_rows]
        means = np.bincount(self._fold_of, value)[has_rows] / of_folds
        for count, clusters, rows in self._members:
            places, size = clusters * len(self._folds) + self._fold_of[rows], len(self._folds)
            sums = np.bincount(places, value[rows], count * size).reshape(count, -1)
            counts = np.bincount(places, has_value[rows], count * size).reshape(count, -1)
            sums, counts = sums[:, has_rows], counts[:, has_rows]
            with np.errstate(invalid="ignore", divide="ignore"):  # a fold may have no other rows
                shifts = ((counts * means - sums) / (of_folds - counts)).mean(axis=1)
            spreads.append(Spread(shifts, counts.sum(axis=1), (sums / of_folds).mean(axis=1)))
        return Metric(float(means.mean()), (*spreads,), row, is_share, *self._bounds(is_share))

    @cached_property
    def _fold_of(self) -> Array:
        """The number of the fold of each row."""
        return np.repeat(np.arange(len(self._folds)), [*map(len, self._folds)])

    @cached_property
    def _members(self) -> list[tuple[int, Array, Array]]:
        """The number of clusters of each kind; and for each row in one, the cluster and the row."""
        rows = {key: number for number, key in enumerate(chain.from_iterable(self._folds))}
        members = []
        for clusters in self.clusters.values():
            pairs = [(number, rows[key]) for number, keys in enumerate(clusters) for key in keys]
            members.append((len(clusters), *np.array(pairs).T))
        return members

    def _left_out(
        self, scores: Sequence[Score], predictions: Predictions, numbers: Mapping[Names, float]
    ) -> dict[Names, Metric]:
        """Return metrics that are no means over rows, computed anew without blocks of clusters."""
        spreads: dict[Names, tuple[Spread, ...]] = dict.fromkeys(numbers, ())
        of_folds = [*zip(scores, self._folds, strict=True)]
        own = {n: np.concatenate([_own(n, *fold) for fold in of_folds]) for n in numbers}
        for clusters, (_, cluster, row) in zip(self.clusters.values(), self._members, strict=True):
            count = min(BLOCKS, len(clusters))
            # clusters side by side may have a dialogue in common
            blocks = [{*chain.from_iterable(clusters[first::count])} for first in range(count)]
            shifts = {names: np.full(count, math.nan) for names in numbers}
            for number, out in enumerate(blocks):
                without = [*scores]
                for place, fold in enumerate(self._folds):
                    if not out.isdisjoint(fold):
                        rest = {key: answer for key, answer in fold.items() if key not in out}
                        without[place] = self._run(rest, predictions) if rest else Score({})
                metrics = flat(self._numbers(without).metrics)
                for names in numbers:
                    value = metrics.get(names)
                    if not isinstance(value, Undefined | None):
                        shifts[names][number] = value - numbers[names]
            for names, shift in shifts.items():
                sizes = np.bincount(cluster % count, own[names][row], count)
                spreads[names] += (Spread(shift, sizes * (shift != 0)),)
        few = FEW_CORRELATED if self.task.unit == "correlation" else FEW
        most, least = self._bounds()
        return {
            n: Metric(numbers[n], of, None, False, most, least, few, own[n])
            for n, of in spreads.items()
        }

    def _run(self, gold: Gold, predictions: Predictions) -> Score:
        """Return what the task gives for some rows."""
        width = len(self.task.gold_key)
        if len(gold) < len(self.gold):
            predictions = {k: fields for k, fields in predictions.items() if k[:width] in gold}
        with running(self.built):
            score: Score = self.task.score(gold, predictions, **self.options)
            wrong = [*_wrong_scores(score, self.task, len(gold))]
        if wrong:
            what = f"{script_of(self.built)}: {self.name} gives an invalid score"
            raise ScriptError(what, *wrong)
        return score

    def _numbers(self, scores: Sequence[Score]) -> Score:
        """Return the scores of the folds as numbers: the means over the folds."""
        metrics_of = [flat(score.metrics) for score in scores]
        of_folds = [{n: self._number(v) for n, v in of_fold.items()} for of_fold in metrics_of]
        metrics = dict[Names, Any]()
        for names in dict.fromkeys(chain.from_iterable(of_folds)):
            values = [fold[names] for fold in of_folds if names in fold]
            defined = [value for value in values if not isinstance(value, Undefined)]
            # one alone as it is: the mean of an integer would be a float
            first = (defined or values)[0]
            metrics[names] = statistics.fmean(defined) if len(defined) > 1 else first
        counts = Counter[str]()
        for score in scores:
            counts.update(score.counts)
        if self._has_folds:
            counts["folds"] += len(scores)
        found = replace(scores[0], metrics=tree(metrics), counts=counts)
        return replace(found, forecasts=_together(scores))

    def _number(self, value: Any) -> Any:
        """Return a metric as a number or Undefined: of values of rows, the mean of the known."""
        if not is_values(value):
            return value
        row = self._row(value)
        values = row[~np.isnan(row)]
        return float(values.mean()) if len(values) else Undefined("no row has a value")

    def _row(self, values: Any) -> Array:
        """Return the values of rows in the unit of the task."""
        row = np.asarray(values)
        return row * self._bounds(True)[0] if row.dtype == bool else row.astype(float)

    def _bounds(self, is_share: bool = False) -> tuple[float, float]:
        """Return the largest and the least number of a metric."""
        if self.task.unit not in MOST:
            return 1.0 if is_share else math.inf, -math.inf
        return MOST[self.task.unit], -1.0 if self.task.unit == "correlation" else 0.0


class Epoch(NamedTuple):
    """Rows of a task, and a model's predictions for them: one or more for each key of gold."""

    rows: TaskRows
    predictions: Predictions

    @property
    def answered(self) -> set[Key]:
        """The keys of gold with a readable answer."""
        width = len(self.rows.task.gold_key)
        return {key[:width] for key, each in self.predictions.items() if UNREADABLE not in each}

    def within(self, keys: Container[Key]) -> "Epoch":
        """Return it for the rows of these keys; a part has no folds."""
        rows = self.rows
        gold = {key: value for key, value in rows.gold.items() if key in keys}
        is_part = rows.is_part or len(gold) < len(rows.gold)
        part = replace(rows, gold=gold, is_part=is_part, whole=rows)
        return Epoch(part, {key: self.predictions[key] for key in gold})


class Evaluation:
    """The predictions of a model for rows, of an epoch or more, and their metrics.

    An epoch has the rows that a policy keeps of the same ones. `score` has the means over epochs,
    `metrics` the same with their spread over clusters; one is undefined if it is in an epoch.
    """

    def __init__(self, epochs: Sequence[Epoch]) -> None:
        self.epochs, self.rows = epochs, epochs[0][0]
        self.scores = [rows.measure(predictions) for rows, predictions in epochs]  # of each epoch
        self.score, self.metrics = self.scores[0]
        if len(epochs) > 1:
            by_epoch = [metrics for _, metrics in self.scores]
            names = dict.fromkeys(chain.from_iterable(by_epoch))
            self.metrics = {n: mean_of([metrics.get(n) for metrics in by_epoch]) for n in names}
            why = Undefined("it is undefined in an epoch")
            numbers = {n: why if math.isnan(m.value) else m.value for n, m in self.metrics.items()}
            together = _together([score for score, _ in self.scores])
            self.score = replace(self.score, metrics=tree(numbers), forecasts=together)

    def name_models(self, models: Mapping[str, str]) -> None:
        """Name the models of BY_MODEL, given by side, at the end; leave it out if they are one."""

        def named(metrics: Mapping[Names, Any]) -> dict[Names, Any]:
            renamed, by_model = dict[Names, Any](), dict[Names, Any]()
            for names, value in metrics.items():
                if names[0] != BY_MODEL:
                    renamed[names] = value
                elif len({*models.values()}) > 1:
                    group, name, side = names
                    by_model[group, name, models[side]] = value
            return renamed | by_model

        self.metrics = named(self.metrics)
        self.score = replace(self.score, metrics=tree(named(flat(self.score.metrics))))

    @cached_property
    def answered(self) -> set[Key]:
        """The keys with a readable answer in each epoch."""
        return set[Key].intersection(*(epoch.answered for epoch in self.epochs))

    def within(self, keys: Container[Key]) -> "Evaluation":
        """Return it for the rows of these keys alone."""
        return Evaluation([epoch.within(keys) for epoch in self.epochs])


def _together(scores: Iterable[Score]) -> tuple[Array, Array]:
    """Return the forecasts of several parts."""
    probabilities, right = zip(*(score.forecasts for score in scores), strict=True)
    return np.concatenate(probabilities), np.concatenate(right)


def _own(names: Names, score: Score, gold: Gold) -> Array:
    """Return whether each row counts in a metric that is no mean over rows."""
    of_metrics = flat(score.own_rows).items()
    own = (np.asarray(rows, bool) for path, rows in of_metrics if names[: len(path)] == path)
    return next(own, np.ones(len(gold), bool))


def _wrong_scores(score: Any, task: Task, rows: int) -> Iterator[Problem]:
    """Yield the problems of what a task's `score` gives for so many rows."""
    if not isinstance(score, Score):
        yield Problem("score", "a Score", type(score).__name__)
        return
    for path, value in flat(score.metrics).items():
        place = f"metrics.{'.'.join(path)}"
        if task.metrics.keys().isdisjoint(path):
            yield Problem(place, what="is not in the `metrics` of the task; declare what it means")
        if is_values(value):
            yield from _wrong_values(value, place, rows, task.unit)
        elif isinstance(value, Undefined):
            continue
        elif is_number(value) and math.isfinite(value):
            yield from exceeding(place, value, task.unit, repr(value))
        else:
            what = "a finite number, of 64 bits if it is an integer, or Undefined"
            yield Problem(place, what, f"{value!r:.60}")
    for path, own in flat(score.own_rows).items():
        yield from _wrong_values(own, f"own_rows.{'.'.join(path)}", rows, task.unit)
    for name, count in score.counts.items():
        if not (isinstance(count, int) and is_number(count)):
            yield Problem(f"counts.{name}", "an integer of 64 bits", f"{count!r:.60}")


def _wrong_values(values: Any, place: str, rows: int, unit: str) -> Iterator[Problem]:
    """Yield why these are no values of rows."""
    array = np.asarray(values)
    if array.shape != (rows,) or array.dtype.kind not in "biuf" or np.isinf(array).any():
        yield Problem(place, f"a number, NaN or whether it is right for each of {rows:,} rows")
    elif array.dtype.kind != "b":
        yield from exceeding(place, float(np.nanmax(abs(array), initial=0)), unit)
