"""Compare models by what they answered: scores, paired differences, tokens and cost."""

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import numpy as np

from parley.base.errors import Problem, RecordError, UsageError, require_known
from parley.builds.built_folder import BuiltFolder, find_folder
from parley.declaration.registry import get
from parley.models.logs import read_log, score_file
from parley.tasks.evaluate import POLICIES, WRONG, Result
from parley.tasks.games import Playing
from parley.tasks.intervals import Array, Interval, Metric
from parley.tasks.metrics import BLOCKS, Evaluation, Names
from parley.tasks.prediction_formats import UNREADABLE, Key
from parley.tasks.predictions import is_log
from parley.tasks.task import ALL, Part, Task, rows_digest

SWAPPED, ENUMERATED, SIGNS, SEED = 10, 20, 9_999, 0
"""A permutation test of few clusters tries all ways to swap them: of at most `SWAPPED` clusters if
each way computes the metric anew, of at most `ENUMERATED` if it only changes signs. Of more it
takes `SIGNS` random changes of signs, drawn with `SEED`."""
Statements = dict[Path, Mapping[str, Any]]  # the statements of a log; empty for a file


@dataclass(frozen=True)
class MetricDifference:
    """A metric of one model minus that of another on the same rows.

    `p` is that of a two-sided, paired permutation test over clusters. For two kinds of clusters it
    is the larger of two. Some metrics exist only for some rows, such as those with a deal: then
    `rows` is the number of rows that have the metric in both models, else None.
    """

    value: float | None  # None if the metric is undefined for one of the two
    interval: Interval | None = None
    p: float | None = None
    p_holm: float | None = None
    rows: int | None = None


@dataclass
class Compared:
    """A log or a file of predictions in a table, with the metrics that are shown.

    `differs` says why it has no differences: other questions were asked than in the first of the
    table, or it has no result. `settings` says which settings of its calls differ from the first.
    """

    path: Path
    label: str
    result: Result | None = None
    differs: tuple[Problem, ...] = ()
    settings: tuple[Problem, ...] = ()
    metrics: Mapping[Names, Metric] = field(default_factory=dict)
    differences: Mapping[Names, MetricDifference] = field(default_factory=dict)


@dataclass(frozen=True)
class Comparison:
    """The logs and files of a task with the same options, in the order given."""

    dataset: str
    name: str
    task: Task
    options: Mapping[str, str]
    logs: tuple[Compared, ...]
    policy: str = WRONG

    @property
    def first(self) -> Compared | None:
        """The one that the others are compared with: the first with metrics."""
        return next((log for log in self.logs if log.metrics), None)


def compare(
    folder: Path,
    paths: Sequence[Path],
    advance: Callable[[str, str], None],
    metrics: Collection[str] = (),
    task: str = "",
    policy: str = WRONG,
    part: Part = ALL,
) -> tuple[list[Comparison], list[str]]:
    """Return a table for each task, and choice of its options, of logs and files of predictions.

    Also why files of a folder are in no table.

    Each is compared with the first one of its table. Without names of metrics they are those
    outside groups, or all if there are no others; of a game also points. The differences of a table
    are the family of Holm's correction.

    Args:
        folder: The folder of builds.
        paths: Logs, folders of them, and files.
        advance: Takes what is scored, for the progress shown.
        metrics: Metrics or groups of them: "f1", "f1_by_label", "person.en ed".
        task: The task of files, as DATASET/TASK or DATASET/TASK-VALUE; "" for that of the logs.
        policy: One of `POLICIES`. Where unreadable answers are dropped, a log is scored on the rows
            that it answers, and two are compared on those that both answer.
        part: The part of each task that all are scored on; ALL for that of each log, and for
            files that of the first log.
    """
    require_known("parley compare", "--unreadable", policy, POLICIES)
    statements: Statements = {}
    left_out = []
    for path in _files(paths):
        try:
            log = is_log(str(path))
            statements[path] = read_log(path, header_only=True).eval.metadata if log else {}
        except (UsageError, RecordError) as error:
            if path in paths:
                raise
            left_out.append(error.message)
    tables = []
    for (dataset, name, *options), stated in _by_task(statements, task).items():
        built = find_folder(folder, get(dataset))
        rows = _rows(built, name, dict(options), stated, paths, advance, policy, part)
        _against_first(rows, metrics)
        labels = Counter(row.label for row in rows)
        for row in rows:
            if labels[row.label] > 1:
                row.label += f" ({row.path})"
        of = built.dataset.task(name)
        tables.append(Comparison(dataset, name, of, dict(options), (*rows,), policy))
    names = {name for table in tables for log in table.logs for name in log.metrics}
    ways = {way for name in names for way in _ways(name)}
    if unknown := [metric for metric in metrics if metric not in ways]:
        raise UsageError(f"--metric {unknown[0]}: no such metric; `parley tasks` lists them")
    return tables, left_out


def _rows(
    built: BuiltFolder,
    name: str,
    options: Mapping[str, str],
    statements: Statements,
    paths: Collection[Path],
    advance: Callable[[str, str], None],
    policy: str,
    asked: Part,
) -> list[Compared]:
    """Return the logs and files of a table with their results, or why they have none.

    An error of one that is no path given, but found in a folder, is no reason to stop.
    """
    digest, part = rows_digest(built, built.dataset.task(name)), asked
    rows = [Compared(path, path.stem) for path in statements]
    for row in sorted(rows, key=lambda row: not statements[row.path]):  # logs, and then files
        stated = statements[row.path]
        if stated.get("rows", digest) != digest:
            what = f"of other rows than {built.path}"
            row.differs = (Problem("rows", digest, stated["rows"], what),)
            continue
        if stated.get("swap"):
            what = "sides are swapped, so its own score compares its models: `parley score`"
            row.differs = (Problem("swap", what=what),)
            continue
        advance("scoring", str(row.path))
        try:
            of_row = asked if stated else part
            result = score_file(built, name, options, str(row.path), of_row, policy)
        except (UsageError, RecordError) as error:
            if row.path in paths:
                raise
            row.differs = error.problems or (Problem("", what=error.message),)
        else:
            if not any(each.result for each in rows):
                part = result.part
            row.result, row.label = result, _label(result) or row.label
    return rows


def _files(paths: Sequence[Path]) -> list[Path]:
    """Return files, and the logs of folders by name, each once."""
    files: dict[Path, None] = {}
    for path in paths:
        of_path = [path]
        if path.is_dir():
            of_path = [file for file in sorted(path.iterdir()) if is_log(str(file))]
            if not of_path:
                raise UsageError(f"{path}: has no logs of inspect; they end in .eval or .json")
        files |= dict.fromkeys(of_path)
    return [*files]


def _by_task(statements: Statements, task: str) -> dict[tuple[Any, ...], Statements]:
    """Return statements by dataset, task and options; `task` is that of files."""
    tasks = {
        path: (stated["dataset"], stated["task"], *sorted(stated["options"].items()))
        for path, stated in statements.items()
        if stated
    }
    of_files = _named_task(task) if task else next(iter(tasks.values()), None)
    files = [path for path in statements if path not in tasks]
    if files and (of_files is None or (not task and len({*tasks.values()}) > 1)):
        what = f"{files[0]}: a file of predictions does not state its task"
        remedy = "Name it: --task DATASET/TASK, or DATASET/TASK-VALUE with an option."
        raise UsageError(what, remedy=remedy)
    by_task: dict[tuple[Any, ...], Statements] = {}
    for path, stated in statements.items():
        by_task.setdefault(tasks.get(path, of_files or ()), {})[path] = stated
    return by_task


def _named_task(named: str) -> tuple[Any, ...]:
    """Return dataset, task and options of a name as on the Hub, DATASET/TASK-VALUE."""
    dataset, _, named_id = named.partition("/")
    known = {
        id: (name, *sorted(options.items()))
        for name, task in get(dataset).tasks.items()
        for id, options in ({name: task.chosen({})} | task.ids(name)).items()
    }
    require_known(dataset, "task", named_id, known)
    return (dataset, *known[named_id])


def _chosen(result: Result, metrics: Collection[str]) -> Mapping[Names, Metric]:
    """Return the metrics that are shown."""
    of_result = result.evaluation.metrics
    if metrics:
        return {n: metric for n, metric in of_result.items() if {*metrics} & {*_ways(n)}}
    is_game = isinstance(result.task.asking, Playing)
    groups = ("points",) if is_game else ()
    main = {n: metric for n, metric in of_result.items() if len(n) == 1 or n[0] in groups}
    if is_game:
        main.pop((UNREADABLE,), None)
    return main or of_result


def _against_first(rows: Sequence[Compared], metrics: Collection[str]) -> None:
    """Compare the rows of a table with the first that has one of the metrics."""
    base: Result | None = None
    tested: dict[Any, list[tuple[Compared, Names, float]]] = {}  # multiples are one test
    for row in rows:
        result = row.result
        row.metrics = _chosen(result, metrics) if result else {}
        if result is None or not row.metrics:
            continue
        if base is None:
            base, first = result, row.path
            continue
        # examples and another system text stand in the labels
        of_row, of_base = _asked(result), _asked(base)
        row.differs = _unlike({**of_base, **of_row}, {**of_row, **of_base}, first)
        row.settings = _unlike(_calls(result.run), _calls(base.run), first)
        if not row.differs:
            row.differences = paired_differences(result.evaluation, base.evaluation, row.metrics)
            for name, by in row.differences.items():
                if by.p is not None:
                    own = _first_multiple(name, result.evaluation, base.evaluation)
                    tested.setdefault((row.path, own), []).append((row, name, by.p))
    adjusted = holm([metrics_of[0][2] for metrics_of in tested.values()])
    for metrics_of, p in zip(tested.values(), adjusted, strict=True):
        for row, name, _ in metrics_of:
            row.differences = {**row.differences, name: replace(row.differences[name], p_holm=p)}


def _first_multiple(name: Names, one: Evaluation, other: Evaluation) -> Names:
    """Return the first metric of which this one is a multiple in every row of both, or its name."""
    shares = {}
    for each in filter(other.metrics.__contains__, one.metrics):
        ours, theirs = one.metrics[each].rows, other.metrics[each].rows
        if ours is not None and theirs is not None:
            rows = np.concatenate([ours, theirs])
            if total := np.nansum(rows):
                shares[each] = rows / total
    own = shares.get(name, np.nan)
    return next((n for n, of in shares.items() if np.allclose(of, own, 1e-9, 0, True)), name)


def _asked(result: Result) -> dict[str, Any]:
    """Return in what a log must agree with others; a file states no turns."""
    turns = {"turns": result.run["turns"]} if "turns" in result.run else {}
    return {"part": str(result.part), **turns}


def _calls(run: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the settings of the calls of a log, nothing of a file."""
    return run and {**run["settings"], "schema": run.get("schema"), "epochs": run["epochs"]}


def _unlike(one: Mapping[str, Any], other: Mapping[str, Any], path: Path) -> tuple[Problem, ...]:
    """Return where settings differ from those of the one at `path`, as far as both state any."""
    names = {**one, **other} if one and other else ()
    unlike = [(n, one.get(n), other.get(n)) for n in names if one.get(n) != other.get(n)]
    return tuple(Problem(n, what=f"{ours}, but {theirs} in {path}") for n, ours, theirs in unlike)


def _ways(names: Names) -> Iterator[str]:
    """Yield how a metric may be named: with each of its groups, or whole."""
    return (".".join(names[: end + 1]) for end in range(len(names)))


def _label(result: Result) -> str:
    """Return the models of a log, with their sides if it is a game, and what else was asked."""
    run = result.run
    models = run.get("models", {}).items()
    parts = [", ".join(f"{role}={model}" if role else model for role, model in models)]
    if run.get("shots"):
        parts.append(f"{run['shots']} shots")
    if "prompt" in run:
        parts.append(f"prompt {run['prompt'][:8]}")
    return ", ".join(filter(None, parts))


def paired_differences(
    one: Evaluation, other: Evaluation, names: Iterable[Names]
) -> dict[Names, MetricDifference]:
    """Return metrics of one minus those of the other, each over the same rows in both.

    A metric that is not of every row, as of readable answers or of deals alone, is compared on the
    rows that have it in both.
    """
    names = [name for name in names if name in one.metrics and name in other.metrics]
    if len({frozenset(epoch.rows.gold) for epoch in (*one.epochs, *other.epochs)}) > 1:
        apart = {*names}  # some are dropped
    else:
        metrics = [of_epoch for _, of_epoch in (*one.scores, *other.scores)]
        owns = {n: [of[n].own for of in metrics if n in of] for n in names}
        apart = {n for n, of in owns.items() if len({o.tobytes() for o in of if o is not None}) > 1}
    differences = _differences(one, other, [name for name in names if name not in apart])
    common = one.answered & other.answered
    if apart and common:
        of_both = _differences(one.within(common), other.within(common), apart)
        differences |= {name: replace(by, rows=len(common)) for name, by in of_both.items()}
    elif apart:
        differences |= dict.fromkeys(apart, MetricDifference(None, rows=0))
    return {name: differences[name] for name in names}


def _differences(
    one: Evaluation, other: Evaluation, names: Iterable[Names]
) -> dict[Names, MetricDifference]:
    """Return differences of metrics, over the rows that have a value in both."""
    differences = {name: _difference(one, other, name) for name in names}
    swapped = [n for n, by in differences.items() if by.value is not None and by.p is None]
    if swapped := [name for name in swapped if one.metrics[name].spreads]:  # a median has none
        for name, p in _p_of_swaps(one, other, swapped).items():
            differences[name] = replace(differences[name], p=p)
    return differences


def _difference(one: Evaluation, other: Evaluation, name: Names) -> MetricDifference:
    """Return the difference of a metric; p is lacking if it is no mean over rows."""
    ours, theirs = one.metrics.get(name), other.metrics.get(name)
    if ours is None or theirs is None or math.isnan(ours.value) or math.isnan(theirs.value):
        return MetricDifference(None)
    by, rows = ours.minus(theirs), None
    if (
        ours.rows is not None
        and theirs.rows is not None
        and not np.array_equal(np.isnan(ours.rows), np.isnan(theirs.rows))
    ):
        of_both = ours.rows - theirs.rows
        mean, rows = one.rows.mean(of_both), int((~np.isnan(of_both)).sum())
        by = Metric(mean.value, mean.spreads)  # it has no bounds
    if math.isnan(by.value):
        return MetricDifference(None, rows=rows)
    sums = [spread.sums for spread in by.spreads[:2] if spread.sums is not None]
    p = max(map(_p_of_sums, sums), default=None)
    return MetricDifference(by.value, by.interval, p, rows=rows)


def _p_of_sums(added: Array) -> float:
    """Return p by changing the sign of what each cluster adds to a difference; NaN for a NaN.

    As in `scipy.stats.permutation_test` of samples: in all ways for up to `ENUMERATED` clusters
    that add something, else in `SIGNS` random ways and that of the difference itself.
    """
    if np.isnan(added).any():
        return math.nan
    added = added[abs(added) > 1e-12 * abs(added).max(initial=0)]  # another sign of 0 changes none
    least = abs(added.sum()) - 1e-9 * abs(added).sum()  # a sum in another order is the same number
    if len(added) > ENUMERATED:
        signs = np.random.default_rng(SEED).choice([1.0, -1.0], (SIGNS, len(added)))
        return float((abs(signs @ added) >= least).sum() + 1) / (SIGNS + 1)
    sums = np.zeros(1)
    for each in added:
        sums = np.concatenate([sums + each, sums - each])
    return float((abs(sums) >= least).mean())


def _p_of_swaps(
    one: Evaluation, other: Evaluation, names: Sequence[Names]
) -> dict[Names, float | None]:
    """Return p of metrics that are no mean over rows, by swapping two models' answers in a cluster.

    The metrics are computed anew for each way to swap up to `SWAPPED` clusters in which the models
    differ; one that leaves a metric undefined counts as one of as large a difference. Of more, each
    is swapped alone, or `BLOCKS` groups of them, and half of what that changes is what it adds.
    """
    width, count = len(one.rows.task.gold_key), math.lcm(len(one.epochs), len(other.epochs))
    epochs = [*islice(zip(cycle(one.epochs), cycle(other.epochs), strict=True), count)]
    differing = frozenset(
        key[:width]
        for (_, ours), (_, theirs) in epochs
        for key in {**ours, **theirs}
        if ours.get(key) != theirs.get(key)
    )

    @cache
    def numbers(keys: frozenset[Key]) -> Array:
        """Compute the metrics with answers of the first model for these keys."""
        found = []
        for (rows, ours), (_, theirs) in epochs:
            of = {key: ours if key[:width] in keys else theirs for key in {**ours, **theirs}}
            score = rows.score({key: answers[key] for key, answers in of.items() if key in answers})
            found.append([score.numbers.get(name, math.nan) for name in names])
        mean: Array = np.array(found).mean(axis=0)
        return mean

    def difference(swapped: frozenset[Key]) -> Array:
        return numbers(differing - swapped) - numbers(swapped)

    p_values = []
    for clusters in [*one.rows.clusters.values()][:2]:
        unlike = [*filter(None, map(differing.intersection, clusters))]
        if len(unlike) > SWAPPED:
            groups = (frozenset().union(*unlike[first::BLOCKS]) for first in range(BLOCKS))
            changes = difference(frozenset()) - np.array([*map(difference, filter(None, groups))])
            p_values.append([_p_of_sums(added / 2) for added in changes.T])
        else:
            ways = [frozenset[Key]()]
            for keys in unlike:
                ways += [swapped ^ keys for swapped in ways]
            found = abs(np.array([*map(difference, ways)]))
            p_values.append(1 - (found < found[0] * (1 - 1e-9)).mean(axis=0))
    largest = np.max(p_values, axis=0)
    return {n: None if math.isnan(p) else float(p) for n, p in zip(names, largest, strict=True)}


def holm(values: Sequence[float]) -> list[float]:
    """Return p-values by Holm's correction, in the same order."""
    adjusted, most = [0.0] * len(values), 0.0
    for rank, place in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        most = max(most, min(1.0, (len(values) - rank) * values[place]))
        adjusted[place] = most
    return adjusted
