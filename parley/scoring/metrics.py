"""Metrics of predictions, and how far they move without each cluster.

`TaskRows` has the right answers of a task or a part of it. An `Epoch` has rows and the predictions
of a model, and computes metrics. An `Evaluation` has one epoch or more. A cluster is rows that
depend on each other, as `Task.clusters` has it: those of a dialogue, or of a person.
"""

import math
import statistics
from collections import Counter
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, product
from typing import Any

import numpy as np

from parley.base.errors import Problem, ScriptError
from parley.base.numbers import is_number
from parley.base.values import flat, is_values, tree, without_numpy
from parley.builds.built_folder import BuiltFolder
from parley.scoring.game_scores import BY_MODEL
from parley.scoring.gold import running, script_of
from parley.scoring.intervals import FEW, FEW_CORRELATED, Array, Metric, Spread, mean_of
from parley.tasks.prediction_formats import UNREADABLE, Key, Prediction
from parley.tasks.task import Gold, Score, Task, Undefined, beyond

Names = tuple[str, ...]  # that lead to a metric
Predictions = Mapping[Key, Prediction]


@dataclass(eq=False)
class TaskRows:
    """The rows of a task or of a part of it, their right answers, folds and clusters.

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
        self.has_folds = not self.is_part and None not in folds
        self.folds: list[Gold] = [self.gold]
        if self.has_folds:
            self.folds = [folds[fold] for fold in sorted(folds)]

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
        gold = {key: answer for fold in self.folds for key, answer in fold.items()}
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

    def mean(self, row: Array) -> Metric:
        """Return the mean of values of rows, one for each row, by fold and in the order of gold."""
        has_value, spreads = ~np.isnan(row), []
        if not has_value.any():
            return Metric(math.nan)
        value = np.where(has_value, row, 0)
        of_folds = np.bincount(self._fold_of, has_value)
        has_rows = of_folds > 0
        of_folds = of_folds[has_rows]
        means = np.bincount(self._fold_of, value)[has_rows] / of_folds
        for count, clusters, rows in self.members:
            places, size = clusters * len(self.folds) + self._fold_of[rows], len(self.folds)
            sums = np.bincount(places, value[rows], count * size).reshape(count, -1)
            counts = np.bincount(places, has_value[rows], count * size).reshape(count, -1)
            sums, counts = sums[:, has_rows], counts[:, has_rows]
            with np.errstate(invalid="ignore", divide="ignore"):  # a fold may have no other rows
                shifts = ((counts * means - sums) / (of_folds - counts)).mean(axis=1)
            spreads.append(Spread(shifts, counts.sum(axis=1), (sums / of_folds).mean(axis=1)))
        return Metric(float(means.mean()), (*spreads,), row)

    @cached_property
    def _fold_of(self) -> Array:
        """The number of the fold of each row."""
        return np.repeat(np.arange(len(self.folds)), [*map(len, self.folds)])

    @cached_property
    def members(self) -> list[tuple[int, Array, Array]]:
        """The number of clusters of each kind; and for each row in one, the cluster and the row."""
        rows = {key: number for number, key in enumerate(chain.from_iterable(self.folds))}
        members = []
        for clusters in self.clusters.values():
            pairs = [(number, rows[key]) for number, keys in enumerate(clusters) for key in keys]
            members.append((len(clusters), *np.array(pairs).T))
        return members

    def values(self, of_rows: Any, names: Names) -> Array:
        """Return the values of rows of a metric as numbers."""
        values = np.asarray(of_rows)
        is_right = values.dtype == bool
        return values * self.task.ends_of(names)[1] if is_right else values.astype(float)


@dataclass(frozen=True, eq=False)
class Epoch:
    """Rows of a task, and the predictions of a model for them, of a key in gold one or more.

    `texts` are the raw answers that are known. ScriptError if the task fails.
    """

    rows: TaskRows
    predictions: Predictions
    texts: Mapping[Key, str] = field(default_factory=dict)

    @cached_property
    def score(self) -> Score:
        """The numbers of the predictions."""
        return self._mean_score(self._scores_of_folds)

    @cached_property
    def metrics(self) -> dict[Names, Metric]:
        """The metrics with their spread, in the order of the score."""
        scores = self._scores_of_folds
        by_fold = [flat(score.metrics) for score in scores]
        numbers = flat(self.score.metrics)
        metrics, recomputed = dict[Names, Metric](), dict[Names, float]()
        for names, number in numbers.items():
            values, ends = [of_fold[names] for of_fold in by_fold], self.rows.task.ends_of(names)
            if isinstance(number, Undefined):
                metrics[names] = Metric(math.nan)
            elif {*names} & {*scores[0].without_interval}:
                metrics[names] = Metric(number)
            elif is_values(values[0]):
                is_share = all(np.asarray(of_rows).dtype == bool for of_rows in values)
                row = np.concatenate([self.rows.values(of_rows, names) for of_rows in values])
                mean = self.rows.mean(row)
                metrics[names] = replace(mean, value=number, is_share=is_share, ends=ends)
            else:
                recomputed[names] = number
        if recomputed:
            metrics |= self._without_clusters(recomputed)
        return {names: metrics[names] for names in numbers}

    @cached_property
    def readable_keys(self) -> set[Key]:
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

    def _without_clusters(self, numbers: Mapping[Names, float]) -> dict[Names, Metric]:
        """Return metrics that are no means over rows, computed anew without each cluster."""
        rows, scores = self.rows, self._scores_of_folds
        spreads: dict[Names, tuple[Spread, ...]] = dict.fromkeys(numbers, ())
        folds = [*zip(scores, rows.folds, strict=True)]
        own = {n: np.concatenate([_own(n, *fold) for fold in folds]) for n in numbers}
        starts = np.cumsum([0, *map(len, rows.folds)])
        whole = [self._mean_score([score]).numbers for score in scores]
        for count, cluster, row in rows.members:
            shifts = {names: np.zeros(count) for names in numbers}
            by_cluster = np.split(row, np.cumsum(np.bincount(cluster, minlength=count))[:-1])
            for number in np.unique(cluster):
                left_out, without = by_cluster[number], [*whole]
                for place in np.unique(rows._fold_of[left_out]):
                    own_places = left_out[rows._fold_of[left_out] == place] - starts[place]
                    kept = np.delete(np.arange(len(rows.folds[place])), own_places)
                    without[place] = self._numbers(place, kept, numbers) if len(kept) else {}
                for names, shift in shifts.items():
                    known = [of_fold[names] for of_fold in without if names in of_fold]
                    mean = statistics.fmean(known) if known else math.nan
                    shift[number] = mean - numbers[names]
            for names, shift in shifts.items():
                sizes = np.bincount(cluster, own[names][row], count)
                spreads[names] += (Spread(shift, sizes * ~(abs(shift) < 1e-12)),)
        metrics = dict[Names, Metric]()
        for names, of in spreads.items():
            ends = rows.task.ends_of(names)
            few = FEW_CORRELATED if ends == (-1, 1) else FEW
            metrics[names] = Metric(numbers[names], of, None, False, ends, few, own[names])
        return metrics

    def _numbers(self, place: int, kept: Array, names: Iterable[Names]) -> dict[Names, Any]:
        """Return metrics of some rows of a fold, by their places in it."""
        metrics = flat(self._scores_of_folds[place].metrics)
        if all(callable(metrics.get(name)) for name in names):
            with running(self.rows.built):
                found = {name: without_numpy(metrics[name](kept)) for name in names}
            return {name: number for name, number in found.items() if is_number(number)}
        gold = [*self.rows.folds[place].items()]
        return self._mean_score([self._run(dict(gold[number] for number in kept))]).numbers

    @cached_property
    def _scores_of_folds(self) -> list[Score]:
        return [self._run(fold) for fold in self.rows.folds]

    def _run(self, gold: Gold) -> Score:
        """Return what the task gives for some rows."""
        rows, task, predictions = self.rows, self.rows.task, self.predictions
        width = len(task.gold_key)
        if len(gold) < len(rows.gold):
            predictions = {k: fields for k, fields in predictions.items() if k[:width] in gold}
        with running(rows.built):
            score: Score = task.score(gold, predictions, **rows.options)
            wrong = [*_wrong_scores(score, task, len(gold))]
        if wrong:
            what = f"{script_of(rows.built)}: {rows.name} gives an invalid score"
            raise ScriptError(what, *wrong)
        return score

    def _mean_score(self, scores: Sequence[Score]) -> Score:
        """Return the scores of the folds as numbers: the means over the folds."""
        by_name: dict[Names, list[Any]] = {}
        for score in scores:
            for names, value in flat(score.metrics).items():
                by_name.setdefault(names, []).append(self._number(value, names))
        metrics = dict[Names, Any]()
        for names, values in by_name.items():
            defined = [value for value in values if not isinstance(value, Undefined)]
            # one alone as it is: the mean of an integer would be a float
            first = (defined or values)[0]
            metrics[names] = statistics.fmean(defined) if len(defined) > 1 else first
        counts = Counter[str]()
        for score in scores:
            counts.update(score.counts)
        if self.rows.has_folds:
            counts["folds"] += len(scores)
        forecasts = _joined_forecasts(scores)
        return replace(scores[0], metrics=tree(metrics), counts=counts, forecasts=forecasts)

    def _number(self, value: Any, names: Names) -> Any:
        """Return a metric as a number or Undefined: of values of rows, the mean of the known."""
        if callable(value):
            return without_numpy(value(slice(None)))
        if not is_values(value):
            return value
        values = self.rows.values(value, names)
        known = values[~np.isnan(values)]
        return float(known.mean()) if len(known) else Undefined("no row has a value")


class Evaluation:
    """The predictions of a model for rows, of an epoch or more, and their metrics.

    The epochs are of the same rows, less those that a policy drops. `score` has the means over
    epochs, `metrics` also their spread over clusters. A metric that is undefined in one epoch is
    undefined.
    """

    def __init__(self, epochs: Sequence[Epoch]) -> None:
        self.epochs, self.rows = epochs, epochs[0].rows
        self.score, self.metrics = epochs[0].score, epochs[0].metrics
        if len(epochs) > 1:
            names = dict.fromkeys(chain.from_iterable(epoch.metrics for epoch in epochs))
            self.metrics = {n: mean_of([epoch.metrics.get(n) for epoch in epochs]) for n in names}
            why = Undefined("it is undefined in an epoch")
            numbers = {n: why if math.isnan(m.value) else m.value for n, m in self.metrics.items()}
            forecasts = _joined_forecasts(epoch.score for epoch in epochs)
            self.score = replace(self.score, metrics=tree(numbers), forecasts=forecasts)

    def name_models(self, models: Mapping[str, str]) -> None:
        """Name the models of BY_MODEL, given by side, at the end; leave it out if they are one."""

        def renamed(metrics: Mapping[Names, Any]) -> dict[Names, Any]:
            others, by_model = dict[Names, Any](), dict[Names, Any]()
            for names, value in metrics.items():
                if names[0] != BY_MODEL:
                    others[names] = value
                elif len({*models.values()}) > 1:
                    group, name, side = names
                    by_model[group, name, models[side]] = value
            return others | by_model

        self.metrics = renamed(self.metrics)
        self.score = replace(self.score, metrics=tree(renamed(flat(self.score.metrics))))

    @cached_property
    def readable_keys(self) -> set[Key]:
        """The keys with a readable answer in each epoch."""
        return set[Key].intersection(*(epoch.readable_keys for epoch in self.epochs))

    def within(self, keys: Container[Key]) -> "Evaluation":
        """Return it for the rows of these keys alone."""
        return Evaluation([epoch.within(keys) for epoch in self.epochs])


def _joined_forecasts(scores: Iterable[Score]) -> tuple[Array, Array]:
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
        number = without_numpy(value(slice(None))) if callable(value) else value
        if is_values(number):
            yield from _wrong_values(number, place, rows, task.ends_of(path))
        elif isinstance(number, Undefined):
            continue
        elif is_number(number) and math.isfinite(number):
            yield from beyond(place, number, task.ends_of(path))
        else:
            what = "a finite number, of 64 bits if it is an integer, or Undefined"
            yield Problem(place, what, f"{value!r:.60}")
    for path, own in flat(score.own_rows).items():
        yield from _wrong_values(own, f"own_rows.{'.'.join(path)}", rows)
    for name, count in score.counts.items():
        if not (isinstance(count, int) and is_number(count)):
            yield Problem(f"counts.{name}", "an integer of 64 bits", f"{count!r:.60}")


def _wrong_values(
    values: Any, place: str, rows: int, ends: tuple[float, float] = (0, 1)
) -> Iterator[Problem]:
    """Yield why these are no values of rows."""
    array = np.asarray(values)
    if array.shape != (rows,) or array.dtype.kind not in "biuf" or np.isinf(array).any():
        yield Problem(place, f"a number, NaN or whether it is right for each of {rows:,} rows")
    elif array.dtype.kind == "b" and math.isinf(ends[1]):
        yield Problem(place, "a greatest number in `ends`; a right row counts as it")
    elif array.dtype.kind != "b" and not np.isnan(array).all():
        yield from beyond(place, float(np.nanmean(array)), ends)
