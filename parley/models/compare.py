"""Compare models by what they answered: scores, paired differences, tokens and cost."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from parley.base.errors import Problem, RecordError, UsageError, require_known
from parley.base.values import tree
from parley.builds.built_folder import BuiltFolder, find_folder
from parley.declaration.registry import get
from parley.models.logs import read_log, score_file
from parley.scoring.differences import MetricDifference, holm, paired_differences
from parley.scoring.evaluate import POLICIES, WRONG, Result, as_numbers
from parley.scoring.gold import ALL, Part, rows_digest
from parley.scoring.intervals import Metric
from parley.scoring.metrics import Names
from parley.scoring.predictions import is_log
from parley.tasks.games import Playing
from parley.tasks.prediction_formats import UNREADABLE
from parley.tasks.task import Task


@dataclass
class ComparedLog:
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

    def as_dict(self) -> dict[str, Any]:
        """Return it for JSON; a number that is undefined is null."""
        result = self.result
        differences = {
            names: vars(by) | {"interval": by.interval and vars(by.interval)}
            for names, by in self.differences.items()
        }
        return {
            "log": str(self.path),
            "label": self.label,
            "differs": list(map(str, self.differs)),
            "settings": list(map(str, self.settings)),
            "clusters": result.clusters if result else {},
            **as_numbers(self.metrics),
            "differences": tree(differences),
            "asked": result.total if result else 0,
            "unreadable": sum(result.unreadable.values()) if result else 0,
            "coverage": result.coverage if result else 0,
            "run": dict(result.run) if result else {},
        }


@dataclass(frozen=True)
class ComparedTask:
    """The logs and files of a task with the same options, in the order given."""

    dataset: str
    name: str
    task: Task
    options: Mapping[str, str]
    logs: tuple[ComparedLog, ...]
    policy: str = WRONG

    @property
    def first(self) -> ComparedLog | None:
        """The one that the others are compared with: the first with metrics."""
        return next((log for log in self.logs if log.metrics), None)

    def as_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        return {
            "dataset": self.dataset,
            "task": self.name,
            "options": dict(self.options),
            "ends": self.task.ends_in_words,
            "lower_is_better": [*self.task.lower],
            "policy": self.policy,
            "first": self.first and str(self.first.path),
            "logs": [log.as_dict() for log in self.logs],
        }


@dataclass(frozen=True)
class Comparisons:
    """A table for each task and choice of its options; why logs of a folder are in none."""

    tables: tuple[ComparedTask, ...]
    left_out: tuple[str, ...]

    def __repr__(self) -> str:
        tables = (f"{len(of.logs)} of {of.dataset} {of.name}" for of in self.tables)
        return f"<comparison: {', '.join(tables)}>"

    def as_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        return {"tasks": [each.as_dict() for each in self.tables], "left_out": [*self.left_out]}


def compare_logs(
    build: Path,
    paths: Sequence[Path],
    advance: Callable[[str, str], None],
    metrics: Collection[str] = (),
    task: str = "",
    policy: str = WRONG,
    part: Part = ALL,
) -> Comparisons:
    """Compare logs and files of predictions, in a table for each task and choice of its options.

    Each is compared with the first one of its table. Without names of metrics they are those
    outside groups, or all if there are no others; of a game also points. The differences of a table
    are the family of Holm's correction. `advance` takes what is scored; `task` is that of files, ""
    for that of the logs. Where `policy` drops unreadable answers, a log is scored on the rows that
    it answers, and two are compared on those that both answer. ALL is the part of each log, and for
    files that of the first log.
    """
    require_known("parley compare", "--unreadable", policy, POLICIES)
    statements, left_out = _statements(paths)
    tables = []
    for (dataset, name, *of_options), stated in _by_task(statements, task).items():
        built, options = find_folder(build, get(dataset)), dict(of_options)
        logs = _scored(built, name, options, stated, paths, advance, policy, part)
        _label(logs)
        _against_first(logs, metrics)
        declared = built.dataset.task(name)
        tables.append(ComparedTask(dataset, name, declared, options, (*logs,), policy))
    found = {metric for table in tables for log in table.logs for metric in log.metrics}
    known = {name for metric in found for name in _names_of(metric)}
    if unknown := [metric for metric in metrics if metric not in known]:
        raise UsageError(f"--metric {unknown[0]}: no such metric; `parley tasks` lists them")
    return Comparisons((*tables,), (*left_out,))


def _statements(paths: Sequence[Path]) -> tuple[dict[Path, Mapping[str, Any]], list[str]]:
    """Return path -> what a log states, {} for a file; and why logs in folders are left out."""
    files: dict[Path, None] = {}
    if not paths:
        raise UsageError("no log or file of predictions is named")
    for path in paths:
        if not (path.is_dir() or path.is_file()):
            raise UsageError(f"{path}: {'not a regular file' if path.exists() else 'no such file'}")
        logs = [path]
        if path.is_dir():
            logs = [file for file in sorted(path.iterdir()) if is_log(str(file))]
            if not logs:
                raise UsageError(f"{path}: has no logs of inspect; they end in .eval or .json")
        files |= dict.fromkeys(logs)
    statements: dict[Path, Mapping[str, Any]] = {}
    left_out = []
    for path in files:
        try:
            log = is_log(str(path))
            statements[path] = read_log(path, header_only=True).eval.metadata if log else {}
        except (UsageError, RecordError) as error:
            if path in paths:
                raise
            left_out.append(error.message)
    return statements, left_out


def _by_task(
    statements: Mapping[Path, Mapping[str, Any]], task: str
) -> dict[tuple[Any, ...], dict[Path, Mapping[str, Any]]]:
    """Return statements by dataset, task and options; `task` is that of files."""
    tasks = {
        path: (stated["dataset"], stated["task"], *sorted(stated["options"].items()))
        for path, stated in statements.items()
        if stated
    }
    of_files = _task_of_id(task) if task else next(iter(tasks.values()), ())
    files = [path for path in statements if path not in tasks]
    if files and (not of_files or (not task and len({*tasks.values()}) > 1)):
        what = f"{files[0]}: a file of predictions does not state its task"
        remedy = "Name the task: --task DATASET/TASK, or DATASET/TASK-VALUE with an option."
        raise UsageError(what, remedy=remedy)
    by_task: dict[tuple[Any, ...], dict[Path, Mapping[str, Any]]] = {}
    for path, stated in statements.items():
        by_task.setdefault(tasks.get(path, of_files), {})[path] = stated
    return by_task


def _task_of_id(id: str) -> tuple[Any, ...]:
    """Return dataset, task and options of DATASET/ID, of an id as in `Task.ids`."""
    dataset, _, id_of_task = id.partition("/")
    known = {
        each: (name, *sorted(options.items()))
        for name, task in get(dataset).tasks.items()
        for each, options in ({name: task.chosen({})} | task.ids(name)).items()
    }
    require_known(dataset, "task", id_of_task, known)
    return (dataset, *known[id_of_task])


def _scored(
    built: BuiltFolder,
    name: str,
    options: Mapping[str, str],
    statements: Mapping[Path, Mapping[str, Any]],
    paths: Collection[Path],
    advance: Callable[[str, str], None],
    policy: str,
    part: Part,
) -> list[ComparedLog]:
    """Return the logs and files of a table with their results, or why they have none.

    An error of one that is no path given, but found in a folder, is no reason to stop.
    """
    digest, part_of_files = rows_digest(built, built.dataset.task(name)), None
    logs = [ComparedLog(path, path.stem) for path in statements]
    for log in sorted(logs, key=lambda each: not statements[each.path]):  # logs, and then files
        stated = statements[log.path]
        if stated.get("rows", digest) != digest:
            what = f"has other rows than {built.path}"
            log.differs = (Problem("rows", digest, stated["rows"], what),)
            continue
        if stated.get("swap"):
            what = "sides are swapped, so its own score compares its models: `parley score`"
            log.differs = (Problem("swap", what=what),)
            continue
        advance("scoring", str(log.path))
        of_log = part if stated else part_of_files or part
        try:
            log.result = score_file(built, name, options, str(log.path), of_log, policy)
        except (UsageError, RecordError) as error:
            if log.path in paths:
                raise
            log.differs = error.problems or (Problem("", what=error.message),)
        else:
            part_of_files = part_of_files or log.result.part
    return logs


def _label(logs: Sequence[ComparedLog]) -> None:
    """Label logs by their models, with their sides in a game, and what else was asked."""
    for log in logs:
        run = log.result.run if log.result else {}
        models = run.get("models", {}).items()
        parts = [", ".join(f"{role}={model}" if role else model for role, model in models)]
        if run.get("shots"):
            parts.append(f"{run['shots']} shots")
        if "prompt" in run:
            parts.append(f"prompt {run['prompt'][:8]}")
        log.label = ", ".join(filter(None, parts)) or log.label
    labels = Counter(log.label for log in logs)
    for log in logs:
        if labels[log.label] > 1:
            log.label += f" ({log.path})"


def _shown_metrics(result: Result, metrics: Collection[str]) -> Mapping[Names, Metric]:
    """Return the metrics that are shown: those named, else the main ones."""
    of_result = result.evaluation.metrics
    if metrics:
        return {n: metric for n, metric in of_result.items() if {*metrics} & {*_names_of(n)}}
    is_game = isinstance(result.task.asking, Playing)
    groups = ("points",) if is_game else ()
    main = {n: metric for n, metric in of_result.items() if len(n) == 1 or n[0] in groups}
    if is_game:
        main.pop((UNREADABLE,), None)
    return main or of_result


def _names_of(metric: Names) -> Iterator[str]:
    """Yield how a metric may be named: by each of its groups, or whole."""
    return (".".join(metric[: end + 1]) for end in range(len(metric)))


def _against_first(logs: Sequence[ComparedLog], metrics: Collection[str]) -> None:
    """Compare the logs of a table with the first that has one of the metrics."""
    base: Result | None = None
    for log in logs:
        result = log.result
        log.metrics = _shown_metrics(result, metrics) if result else {}
        if result is None or not log.metrics:
            continue
        if base is None:
            base, first = result, log.path
            continue
        asked, asked_of_base = _asked(result), _asked(base)
        log.differs = _unlike(asked_of_base | asked, asked | asked_of_base, first)
        log.settings = _unlike(_calls(result.run), _calls(base.run), first)
        if log.differs:
            continue
        log.differences = paired_differences(result.evaluation, base.evaluation, log.metrics)
    differences = [by for log in logs for by in log.differences.values()]
    adjusted = iter(holm([by.p for by in differences if by.p is not None]))
    for log in logs:
        log.differences = {
            name: by if by.p is None else replace(by, p_holm=next(adjusted))
            for name, by in log.differences.items()
        }


def _asked(result: Result) -> dict[str, Any]:
    """Return in what a log must agree with others; its label has examples and system text."""
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
