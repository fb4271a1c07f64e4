"""Tables of tasks, of what their files hold, and of scores."""

from collections.abc import Iterable
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from parley.collection import Dataset
from parley.evaluate import Result
from parley.leaderboard import entry, leaderboard
from parley.spread import Folds, Interval
from parley.tasks import Task, Undefined, flat
from parley.terminal.console import plain, table


def template_as_dict(dataset: Dataset, name: str, task: Task, lines: int | None) -> dict[str, Any]:
    """Return what a file of predictions must hold, for JSON."""
    return {
        "dataset": dataset.name,
        "task": name,
        "form": task.form.name,
        "fields": dict(task.fields),
        "key": list(task.key),
        "example": dict(task.example),
        "due": lines,
    }


def lay_out_template(dataset: Dataset, name: str, task: Task, lines: int | None) -> RenderableType:
    """Return what a file of predictions must hold, with an example line."""
    one = ", ".join(task.required or task.key)
    count = "" if lines is None else f", {lines:,} in all"
    return Group(
        Text(f"{dataset.name} {name}: {task.form.name}, one prediction a line"),
        Text(f"for each {one} of {task.on}{count}\n"),
        table(("field", "what~"), list(task.fields.items())),
        Text("\nfor example (invented):\n"),
        *(Text(line) for line in task.form.lines([task.example])),
    )


def lay_out_tasks(tasks: Iterable[tuple[str, str, Task]]) -> RenderableType:
    """Return a table of tasks, each with the dataset and its name."""
    rows = [
        (
            dataset,
            name,
            f"{task.summary}; on {task.on}",
            ", ".join(task.metrics),
            ", ".join(task.baselines) or "–",
        )
        for dataset, name, task in tasks
    ]
    return table(("dataset", "task", "what is predicted~", "metrics~", "baselines~"), rows)


def tasks_as_dicts(tasks: Iterable[tuple[str, str, Task]]) -> list[dict[str, Any]]:
    """Return tasks for JSON."""
    return [
        {
            "dataset": dataset,
            "task": name,
            "summary": task.summary,
            "on": task.on,
            "configs": list(task.configs),
            "form": task.form.name,
            "fields": dict(task.fields),
            "metrics": dict(task.metrics),
            "baselines": list(task.baselines),
            "options": {option: list(values) for option, values in task.options.items()},
        }
        for dataset, name, task in tasks
    ]


def lay_out_score(found: Result) -> RenderableType:
    """Return a score with its spread, the references beside it and what it rests on."""
    task = found.task
    decimals = task.decimals
    spread = found.spread
    own = {
        path: _with_spread(value, spread.get(path), decimals)
        for path, value in flat(found.score.metrics).items()
    }
    title = " ".join([found.dataset, found.name, *(f"{k}={v}" for k, v in found.options.items())])
    sample = "  (a build of the invented sample: sample, not the dataset)" * found.is_sample
    counts = ", ".join(f"{count:,} {what}" for what, count in found.score.counts.items())
    parts: list[RenderableType] = [Text(plain(f"{title}{sample}"), style="bold")]
    parts.append(Text(plain(f"{task.on}: {counts}; unit: {task.unit}\n")))
    entries = [(found.predictions, "", own), *map(entry, found.references)]
    for board in leaderboard(entries):
        columns = [f">{name}" if name in board.numbers else name for name in board.columns]
        columns[-1] += "~"
        parts += [table(columns, board.rows, board.title), Text()]
    reasons = [
        f"{'.'.join(path)}: undefined, {value.reason}"
        for path, value in flat(found.score.metrics).items()
        if isinstance(value, Undefined)
    ]
    kinds = {type(each) for each in spread.values()}
    if Folds in kinds:
        reasons.append("± is the sample SD over folds")
    if Interval in kinds:
        reasons.append("in brackets, a 95% interval by bootstrap")
    reasons += [f"{each.name}: {each.note}" for each in found.references if each.note]
    return Group(*parts, *(Text(plain(line)) for line in reasons))


def _with_spread(value: Any, spread: Interval | Folds | None, decimals: int) -> str:
    """Return a number as a table shows it."""
    if isinstance(value, Undefined):
        return "undefined"
    shown = _number(value, decimals)
    if isinstance(spread, Folds):
        return f"{shown} ±{_number(spread.sd, decimals)}"
    if isinstance(spread, Interval):
        return f"{shown} [{_number(spread.low, decimals)}, {_number(spread.high, decimals)}]"
    return shown


def _number(value: float, decimals: int) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.{decimals}f}"
