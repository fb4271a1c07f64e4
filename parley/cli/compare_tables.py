"""Lay out a comparison of logs and files of predictions."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Group, RenderableType

from parley.base.console import safe
from parley.base.nested import tree
from parley.cli.tables import interval, number, table
from parley.models.compare import SWAPS, Compared, Difference, Table
from parley.tasks.evaluate import DROP
from parley.tasks.rows import Names


def lay_out_comparison(tables: Sequence[Table]) -> RenderableType:
    """Return the scores of models by task and metric, their differences, and their logs."""
    notes: list[str] = []
    models = list(dict.fromkeys(log.label for each in tables for log in each.logs))
    scores = [row for each in tables for row in _scores(each, models, notes)]
    differences = [row for each in tables for row in _differences(each)]
    logs = [row for each in tables for row in _logs(each)]
    parts: list[RenderableType] = [
        table(["task", "metric", *(f">{model}" for model in models)], scores, "scores"),
        safe(),
    ]
    if differences:
        columns = ["task", "metric", "log", "against", ">difference", ">95%", ">p", ">p, Holm"]
        parts += [table(columns, differences, "differences"), safe()]
    columns = ["model", "task", ">answers", ">unreadable", ">read", ">written", ">reasoning"]
    columns += [">cost"]
    parts += [table(columns, logs, "tokens and cost"), safe()]
    return Group(*parts, *map(safe, [*notes, *_how(tables)]))


def comparison_as_dicts(tables: Sequence[Table]) -> list[dict[str, Any]]:
    """Return a comparison for JSON; a number that is undefined is null."""
    return [
        {
            "dataset": each.dataset,
            "task": each.name,
            "options": dict(each.options),
            "unit": each.task.unit,
            "drawn": each.task.key[0],
            "policy": each.policy,
            "first": each.first and str(each.first.path),
            "logs": [_as_dict(log) for log in each.logs],
        }
        for each in tables
    ]


def _as_dict(log: Compared) -> dict[str, Any]:
    metrics = {n: None if math.isnan(value) else value for n, value in log.metrics.items()}
    differences = {
        names: vars(found) | {"interval": found.interval and vars(found.interval)}
        for names, found in log.differences.items()
    }
    return {
        "log": str(log.path),
        "label": log.label,
        "differs": list(map(str, log.differs)),
        "settings": list(map(str, log.settings)),
        "units": log.units,
        "metrics": tree(metrics),
        "intervals": tree({names: vars(found) for names, found in log.intervals.items()}),
        "differences": tree(differences),
        "asked": log.asked,
        "unreadable": log.unreadable,
        "coverage": log.coverage,
        "run": dict(log.facts),
    }


def _task_of(found: Table) -> str:
    options = "".join(f" --set {name}={value}" for name, value in found.options.items())
    return f"{found.dataset} {found.name}{options}"


def _scores(found: Table, models: Sequence[str], notes: list[str]) -> Iterator[list[str]]:
    """Yield a row for each metric, and note where logs differ."""
    marks = dict.fromkeys(models, "")
    for log in found.logs:
        kinds = (("no difference computed", log.differs), ("other settings", log.settings))
        for kind, problems in kinds:
            if problems:
                said = "; ".join(map(str, problems))
                notes.append(f"[{len(notes) + 1}] {log.path}: {kind}: {said}")
                marks[log.label] += f" [{len(notes)}]"
    names = list(dict.fromkeys(name for log in found.logs for name in log.metrics))
    by_model = {log.label: log for log in found.logs}
    heading = _task_of(found)
    for name in names or [()]:
        cells = [
            _score(by_model[model], name, found.task.decimals) + marks[model]
            if model in by_model
            else ""
            for model in models
        ]
        yield [heading, " ".join(name), *cells]
        heading = ""
    if any(log.unreadable for log in found.logs):
        shown = (by_model[each].coverage if each in by_model else None for each in models)
        yield ["", "coverage", *("" if each is None else f"{each:.1%}" for each in shown)]


def _score(log: Compared, name: Names, decimals: int) -> str:
    shown = number(log.metrics.get(name), decimals)
    spread = log.intervals.get(name)
    return f"{shown} ({interval(spread, decimals)})" if spread else shown


def _differences(found: Table) -> Iterator[list[str]]:
    first, heading = found.first, _task_of(found)
    for log in found.logs:
        for name, by in log.differences.items():
            assert first  # noqa: S101 - for types: differences are from it
            sides = [log.label, first.label]
            of = "" if by.rows is None else f", {by.rows:,} rows of both"
            metric = " ".join(name) + of
            yield [heading, metric, *sides, *_difference(by, found.task.decimals)]
            heading = ""


def _difference(by: Difference, decimals: int) -> list[str]:
    value = "undefined" if by.value is None else f"{by.value:+.{decimals}f}"
    ps = ["–" if p is None else f"{p:.3f}" for p in (by.p, by.p_holm)]
    return [value, interval(by.interval, decimals), *ps]


def _logs(found: Table) -> Iterator[list[str]]:
    for log in found.logs:
        counts = (log.facts.get(f"{kind}_tokens") for kind in ("input", "output", "reasoning"))
        shown = ("–" if n is None else f"{n:,}" for n in (log.asked, log.unreadable, *counts))
        cost = log.facts.get("cost")
        yield [log.label, _task_of(found), *shown, "–" if cost is None else f"{cost:,.4f}"]


def _how(tables: Sequence[Table]) -> Iterator[str]:
    """Yield what the intervals and p-values are of; docs/tasks.md says how they are computed."""
    drawn = "; ".join(
        f"{_task_of(each)}: {each.first.units:,} by {each.task.key[0]}"
        for each in tables
        if each.first
    )
    if any(each.policy == DROP and log.unreadable for each in tables for log in each.logs):
        yield "unreadable answers are dropped: a log is scored on the rows that it has answers for"
    if drawn:
        yield f"(low…high): a 95% interval over whole dialogues ({drawn}); none for a median"
    differences = [by for each in tables for log in each.logs for by in log.differences.values()]
    if any(by.rows is not None for by in differences):
        yield "rows of both: those where both logs have a readable answer, or a deal"
    if differences:
        ways = f"in at most {SWAPS:,} ways; Holm's correction over the differences of a task"
        yield f"p: paired permutation test, two-sided, of whole dialogues {ways}"
