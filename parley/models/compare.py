"""Compare models by what they answered: scores, paired differences, tokens and cost."""

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from parley.base.errors import Problem, RecordError, UsageError, require_known
from parley.declaration.registry import get
from parley.models.logs import is_log, read_log, score_file
from parley.rows.folder import find_folder
from parley.tasks.evaluate import POLICIES, WRONG, Result
from parley.tasks.formats import UNREADABLE
from parley.tasks.games import Playing
from parley.tasks.intervals import Interval, Metric
from parley.tasks.metrics import Measured, Names
from parley.tasks.task import ALL, Task, rows_digest

SWAPS = 5_000
"""The most ways to swap the predictions of clusters in a permutation test."""
SEED = 0


@dataclass(frozen=True)
class Difference:
    """A metric of one model minus that of another, with `p_value`, on the same rows.

    `rows` is their number if they are not all: those that have the metric in both, as of a
    readable answer or of a deal.
    """

    value: float | None  # None if the metric is undefined for one of the two
    interval: Interval | None = None
    p: float | None = None
    p_holm: float | None = None
    rows: int | None = None


@dataclass
class Compared:
    """A log or a file of predictions in a table, with the metrics that are shown.

    `differs` says where it differs from the first of the table in what was asked, so that it has no
    differences, or why it has no result. `settings` says where its calls differed.
    """

    path: Path
    label: str
    result: Result | None = None
    differs: tuple[Problem, ...] = ()
    settings: tuple[Problem, ...] = ()
    metrics: Mapping[Names, Metric] = field(default_factory=dict)
    differences: Mapping[Names, Difference] = field(default_factory=dict)


@dataclass(frozen=True)
class Table:
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
        return next((each for each in self.logs if each.metrics), None)


def compare(
    folder: Path,
    paths: Sequence[Path],
    advance: Callable[[str, str], None],
    metrics: Collection[str] = (),
    task: str = "",
    policy: str = WRONG,
) -> tuple[list[Table], list[str]]:
    """Return a table for each task, and choice of its options, of logs and files of predictions.

    Also why files of a folder are in no table.

    Each is compared with the first one of its table. Without names of metrics they are those
    outside groups, or all if there are no others; of a game also points. The differences of a table
    are the family of Holm's correction.

    Args:
        folder: The folder of builds.
        paths: Logs, folders of them, and files, which are scored on the part of the first log.
        advance: Takes what is scored, for the progress shown.
        metrics: Metrics or groups of them: "f1", "f1_by_label", "person.en ed".
        task: The task of files, as DATASET/TASK or DATASET/TASK-VALUE; "" for that of the logs.
        policy: One of `POLICIES`. Where unreadable answers are dropped, a log is scored on the rows
            that it answers, and two are compared on those that both answer.
    """
    require_known("parley compare", "--unreadable", policy, POLICIES)
    given: dict[Path, Mapping[str, Any]] = {}  # what a log states, nothing of a file
    left_out = []
    for path in _files(paths):
        try:
            log = is_log(str(path))
            given[path] = read_log(path, header_only=True).eval.metadata if log else {}
        except (UsageError, RecordError) as error:
            if path in paths:
                raise
            left_out.append(error.message)
    tables = []
    for (dataset, name, *options), of in _by_task(given, task).items():
        built = find_folder(folder, get(dataset))
        due, part = rows_digest(built, built.dataset.task(name)), ALL
        rows = {path: Compared(path, path.stem) for path in of}
        for path in sorted(of, key=lambda path: not given[path]):  # the logs, and then the files
            rows_of = given[path].get("rows", due)
            if rows_of != due:
                what = f"of other rows than {built.path}"
                rows[path].differs = (Problem("rows", due, rows_of, what),)
                continue
            if given[path].get("swap"):
                what = "sides are swapped, so its own score compares its models: `parley score`"
                rows[path].differs = (Problem("swap", what=what),)
                continue
            advance("scoring", str(path))
            try:
                own = ALL if given[path] else part
                result = score_file(built, name, dict(options), str(path), own, policy)
            except (UsageError, RecordError) as error:
                if path in paths:
                    raise
                rows[path].differs = error.problems or (Problem("", what=error.message),)
            else:
                part = part if any(row.result for row in rows.values()) else result.part
                rows[path] = Compared(path, _label(result) or path.stem, result)
        shown = [*rows.values()]
        _against_first(shown, metrics)
        labels = Counter(row.label for row in shown)
        for row in shown:
            row.label += f" ({row.path})" if labels[row.label] > 1 else ""
        task_of = built.dataset.task(name)
        tables.append(Table(dataset, name, task_of, dict(options), (*shown,), policy))
    every = {way for each in tables for log in each.logs for n in log.metrics for way in _ways(n)}
    if unknown := [each for each in metrics if each not in every]:
        raise UsageError(f"--metric {unknown[0]}: no such metric; `parley tasks` lists them")
    return tables, left_out


def _files(paths: Sequence[Path]) -> list[Path]:
    """Return files, and the logs of folders by name, each once."""
    found: dict[Path, None] = {}
    for path in paths:
        files = [path]
        if path.is_dir():
            files = [each for each in sorted(path.iterdir()) if is_log(str(each))]
            if not files:
                raise UsageError(f"{path}: has no logs of inspect; they end in .eval or .json")
        found |= dict.fromkeys(files)
    return [*found]


def _by_task(
    given: Mapping[Path, Mapping[str, Any]], task: str
) -> dict[tuple[Any, ...], list[Path]]:
    """Return paths by dataset, task and options; `task` is that of files."""
    tasks = {
        path: (stated["dataset"], stated["task"], *sorted(stated["options"].items()))
        for path, stated in given.items()
        if stated
    }
    of_files = _named_task(task) if task else next(iter(tasks.values()), None)
    files = [path for path in given if path not in tasks]
    if files and (of_files is None or (not task and len({*tasks.values()}) > 1)):
        what = f"{files[0]}: a file of predictions does not state its task"
        remedy = "Name it: --task DATASET/TASK, or DATASET/TASK-VALUE with an option."
        raise UsageError(what, remedy=remedy)
    found: dict[tuple[Any, ...], list[Path]] = {}
    for path in given:
        found.setdefault(tasks.get(path, of_files or ()), []).append(path)
    return found


def _named_task(named: str) -> tuple[Any, ...]:
    """Return dataset, task and options of a name as on the Hub, DATASET/TASK-VALUE."""
    dataset, _, named_id = named.partition("/")
    known = {
        id: (name, *sorted(options.items()))
        for name, task in get(dataset).tasks.items()
        for id, options in task.ids(name).items()
    }
    require_known(dataset, "task", named_id, known)
    return (dataset, *known[named_id])


def _chosen(result: Result, metrics: Collection[str]) -> Mapping[Names, Metric]:
    """Return the metrics that are shown."""
    found = result.measured.metrics
    if metrics:
        return {n: each for n, each in found.items() if {*metrics} & {*_ways(n)}}
    of_game = ("points",) if isinstance(result.task.asking, Playing) else ()
    shown = {n: each for n, each in found.items() if len(n) == 1 or n[0] in of_game}
    if of_game:
        shown.pop((UNREADABLE,), None)
    return shown or found


def _against_first(rows: Sequence[Compared], metrics: Collection[str]) -> None:
    """Compare the rows of a table with the first that has one of the metrics."""
    base: Result | None = None
    tested: list[tuple[Compared, Names, float]] = []
    for row in rows:
        if not (own := row.result) or not (chosen := _chosen(own, metrics)):
            continue
        row.metrics = chosen
        if base is None:
            base, first = own, row.path
            continue
        # examples and another system text stand in the labels
        asked, due = _asked(own), _asked(base)
        row.differs = _unlike({**due, **asked}, {**asked, **due}, first)
        row.settings = _unlike(_calls(own.run), _calls(base.run), first)
        if not row.differs:
            row.differences = paired_differences(own.measured, base.measured, chosen)
            tested += [(row, n, by.p) for n, by in row.differences.items() if by.p is not None]
    adjusted = holm([p for *_, p in tested])
    for (row, names, _), p in zip(tested, adjusted, strict=True):
        by = replace(row.differences[names], p_holm=p)
        row.differences = {**row.differences, names: by}


def _asked(result: Result) -> dict[str, Any]:
    """Return in what a log must agree with others; a file states no turns."""
    turns = {"turns": result.run["turns"]} if "turns" in result.run else {}
    return {"part": str(result.part), **turns}


def _calls(run: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the settings of the calls of a log, nothing of a file."""
    return run and {**run["settings"], "schema": run.get("schema"), "epochs": run["epochs"]}


def _unlike(own: Mapping[str, Any], other: Mapping[str, Any], path: Path) -> tuple[Problem, ...]:
    """Return where settings differ from those of the one at `path`, as far as both state any."""
    names = {**own, **other} if own and other else ()
    return tuple(
        Problem(name, what=f"{own.get(name)}, but {other.get(name)} in {path}")
        for name in names
        if own.get(name) != other.get(name)
    )


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
    one: Measured, other: Measured, names: Iterable[Names]
) -> dict[Names, Difference]:
    """Return metrics of one minus those of the other, each over the same rows in both.

    A metric that is not of every row, as of readable answers or of deals alone, is compared on the
    rows that have it in both.
    """
    names = [name for name in names if name in one.metrics and name in other.metrics]
    apart: set[Names] = set()
    sizes = {len(rows.gold) for each in (one, other) for rows, _ in each.epochs}
    if len(sizes) > 1:  # some are dropped
        apart = {*names}
    elif one.answered != other.answered:
        computed = [name for name in names if one.metrics[name].rows is None]
        apart = one.of_answered(computed) & other.of_answered(computed)
    found = {name: _difference(one, other, name) for name in names if name not in apart}
    common = one.answered & other.answered
    if apart and common:
        ours, theirs = one.within(common), other.within(common)
        of_both = {name: _difference(ours, theirs, name) for name in apart}
        found |= {name: replace(each, rows=len(common)) for name, each in of_both.items()}
    elif apart:
        found |= dict.fromkeys(apart, Difference(None, rows=0))
    return {name: found[name] for name in names}


def _difference(one: Measured, other: Measured, name: Names) -> Difference:
    """Return the difference of a metric, over the rows that have a value in both."""
    ours, theirs = one.metrics.get(name), other.metrics.get(name)
    if ours is None or theirs is None or math.isnan(ours.value) or math.isnan(theirs.value):
        return Difference(None)
    by, rows = ours.minus(theirs), None
    if ours.rows is not None and theirs.rows is not None:
        known, of_both = ~np.isnan(ours.rows), ~np.isnan(ours.rows - theirs.rows)
        if not np.array_equal(known, ~np.isnan(theirs.rows)):
            mean = one.rows.mean(ours.rows - theirs.rows)
            by, rows = Metric(mean.value, mean.spreads), int(of_both.sum())  # it has no bounds
    if math.isnan(by.value):
        return Difference(None, rows=rows)
    return Difference(by.value, by.interval, p_value(by), rows=rows)


def p_value(difference: Metric) -> float | None:
    """Return the two-sided p-value of a paired permutation test over clusters.

    What each cluster adds to the difference changes its sign, as in `scipy.stats.permutation_test`
    of samples: in all ways, if they are no more than `SWAPS`, else in so many random ones, with the
    difference itself as one more, so that p is never 0. Of two kinds of clusters it is the larger.
    None if the difference is undefined without a cluster.
    """
    spreads = difference.spreads[:2]  # the third is of both
    found = [each.added(difference.value) for each in spreads if len(each.shifts)]
    if math.isnan(difference.value) or any(np.isnan(each).any() for each in found):
        return None
    return max(map(_p_of, found), default=None)


def _p_of(found: "np.ndarray[Any, Any]") -> float:
    added = found[abs(found) > 1e-12 * abs(found).max(initial=0)]  # another sign of 0 changes none
    least = abs(added.sum()) - 1e-9 * abs(added).sum()  # a sum in another order is the same number
    signs = _signs(len(added))
    as_large = int((abs(signs @ added) >= least).sum())
    is_all = 2 ** len(added) <= SWAPS
    return as_large / len(signs) if is_all else (as_large + 1) / (SWAPS + 1)


@lru_cache(maxsize=2)
def _signs(clusters: int) -> "np.ndarray[Any, Any]":
    """Return the signs of each way to swap clusters, all ways or random ones: [ways, clusters]."""
    if 2**clusters <= SWAPS:
        return np.array([*product((1.0, -1.0), repeat=clusters)])
    return np.random.default_rng(SEED).choice([1.0, -1.0], (SWAPS, clusters))


def holm(values: Sequence[float]) -> list[float]:
    """Return p-values by Holm's correction, in the same order."""
    adjusted, most = [0.0] * len(values), 0.0
    for rank, place in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        most = max(most, min(1.0, (len(values) - rank) * values[place]))
        adjusted[place] = most
    return adjusted
