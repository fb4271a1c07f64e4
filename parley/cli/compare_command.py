"""`parley compare`."""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

from rich.console import Group, RenderableType
from typer import Argument, Option

from parley.base.console import print_message, progress, safe
from parley.base.values import tree
from parley.cli.commands import single_command
from parley.cli.common import UNREAD, AsJson, BuildDir, print_result, require_file
from parley.cli.tables import counts, ends, number, table
from parley.models.compare import Compared, Comparison, compare
from parley.tasks.evaluate import DROP, intervals_of

_LOGS = (
    "Logs of inspect, folders of them, or files of predictions; the first of a task is the base."
)
_OF_FILES = "The task of the files, DATASET/TASK [default: that of the logs]."
_METRIC = "A metric or a group [default: those outside groups, and points]; repeatable."

app = single_command()


@app.command("compare")
def compare_command(
    logs: Annotated[list[Path], Argument(metavar="FILE", help=_LOGS)],
    folder: BuildDir = Path("build"),
    task: Annotated[str, Option(metavar="T", help=_OF_FILES)] = "",
    metric: Annotated[list[str] | None, Option(metavar="M", help=_METRIC)] = None,
    unreadable: Annotated[str, Option(metavar="P", help=UNREAD)] = "wrong",
    as_json: AsJson = False,
) -> None:
    """Compare models by their logs or predictions: scores with intervals, differences, tokens."""
    for path in logs:
        if not path.is_dir():
            require_file("FILE", path)
    with progress() as advance:
        tables, left_out = compare(folder, logs, advance, metric or (), task, unreadable)
    for log in left_out:
        print_message(f"left out: {log}")
    print_result(as_json, _as_dicts(tables), lay_out, tables)


def lay_out(tables: Sequence[Comparison]) -> RenderableType:
    """Return the scores of models by task and metric, their differences, and their logs."""
    notes: list[str] = []
    scores = [row for compared in tables for row in _scores(compared, notes)]
    differences = [row for compared in tables for row in _differences(compared)]
    costs = [row for compared in tables for row in _costs(compared)]
    columns = ["task", "metric", "log~", ">score", ">95%"]
    parts: list[RenderableType] = [table(columns, scores, "scores"), safe()]
    if differences:
        columns = ["task", "metric", "log~", "against~", ">difference", ">95%", ">p", ">p, Holm"]
        parts += [table(columns, differences, "differences"), safe()]
    columns = ["model~", "task", ">answers", ">unreadable", ">read", ">written", ">reasoning"]
    parts += [table([*columns, ">cost"], costs, "tokens and cost"), safe()]
    return Group(*parts, *map(safe, [*notes, *_how(tables)]))


def _task_of(compared: Comparison) -> str:
    options = "".join(f" --set {name}={value}" for name, value in compared.options.items())
    return f"{compared.dataset} {compared.name}{options}"


def _scores(compared: Comparison, notes: list[str]) -> Iterator[list[str]]:
    """Yield a row for each metric of each log, and note where logs differ or have no score."""
    labels: dict[str, str] = {}
    for log in compared.logs:
        labels[log.label] = log.label
        kinds = (("no difference computed", log.differs), ("other settings", log.settings))
        for kind, problems in kinds:
            if problems:
                text = "; ".join(map(str, problems))
                notes.append(f"[{len(notes) + 1}] {log.path}: {kind}: {text}")
                labels[log.label] += f" [{len(notes)}]"
    task, decimals = _task_of(compared), compared.task.decimals
    for name in dict.fromkeys(name for log in compared.logs for name in log.metrics):
        for log in compared.logs:
            if metric := log.metrics.get(name):
                cells = number(metric.value, decimals), ends(metric.interval, decimals)
                yield [task, " ".join(name), labels[log.label], *cells]
    results = {log.label: log.result for log in compared.logs if log.result}
    if any(result.unreadable for result in results.values()):
        for label, result in results.items():
            yield [task, "coverage", labels[label], f"{result.coverage:.1%}", ""]


def _differences(compared: Comparison) -> Iterator[list[str]]:
    """Yield a row for each difference of a log from the first one."""
    task, decimals = _task_of(compared), compared.task.decimals
    against = compared.first.label if compared.first else ""
    for log in compared.logs:
        for name, difference in log.differences.items():
            metric, value = " ".join(name), "undefined"
            if difference.rows is not None:
                metric += f", {difference.rows:,} rows of both"
            if difference.value is not None:
                value = f"{difference.value:+.{decimals}f}"
            cells = (
                ends(difference.interval, decimals),
                number(difference.p, 3),
                number(difference.p_holm, 3),
            )
            yield [task, metric, log.label, against, value, *cells]


def _costs(compared: Comparison) -> Iterator[list[str]]:
    """Yield a row with the tokens and the cost of each log."""
    for log in compared.logs:
        if result := log.result:
            kinds = ("input", "output", "reasoning")
            tokens = [result.run.get(f"{kind}_tokens") for kind in kinds]
            numbers = (result.total, sum(result.unreadable.values()), *tokens)
            cells = [number(count, 0) for count in numbers]
            yield [log.label, _task_of(compared), *cells, number(result.run.get("cost"), 4)]


def _as_dicts(tables: Sequence[Comparison]) -> list[dict[str, Any]]:
    """Return a comparison for JSON; a number that is undefined is null."""
    return [
        {
            "dataset": compared.dataset,
            "task": compared.name,
            "options": dict(compared.options),
            "unit": compared.task.unit,
            "policy": compared.policy,
            "first": compared.first and str(compared.first.path),
            "logs": [_as_dict(log) for log in compared.logs],
        }
        for compared in tables
    ]


def _as_dict(log: Compared) -> dict[str, Any]:
    result = log.result
    values = {names: metric.value for names, metric in log.metrics.items()}
    metrics = {n: None if math.isnan(value) else value for n, value in values.items()}
    intervals = intervals_of(log.metrics).items()
    differences = {
        names: vars(difference) | {"interval": difference.interval and vars(difference.interval)}
        for names, difference in log.differences.items()
    }
    return {
        "log": str(log.path),
        "label": log.label,
        "differs": list(map(str, log.differs)),
        "settings": list(map(str, log.settings)),
        "clusters": result.clusters if result else {},
        "metrics": tree(metrics),
        "intervals": tree({names: vars(interval) for names, interval in intervals}),
        "differences": tree(differences),
        "asked": result.total if result else 0,
        "unreadable": sum(result.unreadable.values()) if result else 0,
        "coverage": result.coverage if result else 0,
        "run": dict(result.run) if result else {},
    }


def _how(tables: Sequence[Comparison]) -> Iterator[str]:
    """Yield what the intervals and p-values are of; docs/tasks.md says how they are computed."""
    logs = [log for compared in tables for log in compared.logs]
    policies = [c.policy for c in tables for log in c.logs if log.result and log.result.unreadable]
    if DROP in policies:
        yield "unreadable answers are dropped: a log is scored on the rows that it has answers for"
    clusters = [
        f"{_task_of(compared)}: {counts(compared.first.result.clusters)}"
        for compared in tables
        if compared.first and compared.first.result
    ]
    if clusters:
        yield f"95%: an interval over clusters ({'; '.join(clusters)})"
    differences = [difference for log in logs for difference in log.differences.values()]
    if any(difference.rows is not None for difference in differences):
        yield "rows of both: those where both logs have a readable answer, or a deal"
    if differences:
        yield "p: paired permutation test of these clusters; Holm's correction in each task"
