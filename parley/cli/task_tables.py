"""Lay out tasks, templates of prediction files, scores and comparisons."""

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType

from parley.base.console import safe
from parley.base.values import flat, tree
from parley.builds.card_parts import leaderboard
from parley.cli.tables import first, interval, labelled, number, table
from parley.tasks.asking import Asking
from parley.tasks.evaluate import DROP, WRONG, Result, intervals_of
from parley.tasks.formats import ANSWER, TREC_RUN, UNREADABLE
from parley.tasks.intervals import FEW
from parley.tasks.task import ALL, Task, Undefined

if TYPE_CHECKING:
    from parley.models.compare import Compared, Comparison

_SAMPLE = "a sample, not the dataset: its records are invented\n"


def lay_out_template(dataset: str, name: str, task: Task) -> RenderableType:
    """Return the fields of a prediction file, with an example line."""
    due = f"{'one or more' if task.format is TREC_RUN else 'one'} for each "
    due += " and ".join(task.gold_key)
    others: dict[str, dict[str, Any]] = {}
    if isinstance(task.asking, Asking):
        key = {name: task.example[name] for name in task.key}
        others["with a model's whole answer, which the task's reader reads"] = {ANSWER: "..."}
        others["for an answer that cannot be read"] = {UNREADABLE: "truncated"}
    return Group(
        safe(f"{dataset} {name}: {task.format.name}, one line for each prediction"),
        safe(f"{due}; scored on {task.evaluated_on}\n"),
        table(("field", "content~"), list(task.fields.items())),
        safe(f"\n{inputs_of(task)}" if task.inputs else "", end="\n" if task.inputs else ""),
        safe("\nfor example (invented):\n"),
        *(safe(line) for line in task.format.lines([task.example])),
        *(safe(f"or, {what}:\n{json.dumps(key | more)}") for what, more in others.items()),
    )


def inputs_of(task: Task) -> str:
    """Return what a model may see, in words and columns, and the columns that leak."""
    leak = f"\nwarning: {task.leak}" if task.leak else ""
    return f"a model may see: {task.inputs} ({', '.join(task.columns)}){leak}"


def lay_out_tasks(tasks: Iterable[tuple[str, str, Task]]) -> RenderableType:
    """Return the properties of tasks, given as (dataset, name, task)."""
    parts: list[RenderableType] = []
    for dataset, name, task in tasks:
        about = {
            "predicted": task.summary,
            "evaluated_on": task.evaluated_on,
            "inputs": task.inputs,
            "metrics": ", ".join(task.metrics),
            "baselines": ", ".join(task.baselines) or "none",
            **{f"--set {option}": ", ".join(values) for option, values in task.options.items()},
            **({"--subset": ", ".join(task.subsets)} if task.subsets else {}),
            **({"public since": task.public_since} if task.public_since else {}),
            **({"not asked": task.not_asked} if task.not_asked else {}),
        }
        rows = ((f"  {label}", value) for label, value in about.items())
        parts += [safe(f"{dataset} {name}", style="bold"), labelled(rows)]
    return Group(*parts)


def tasks_as_dicts(tasks: Iterable[tuple[str, str, Task]]) -> list[dict[str, Any]]:
    """Return tasks for JSON."""
    return [
        {"dataset": dataset, "task": name}
        | {each: getattr(task, each) for each in ("summary", "evaluated_on", "configs")}
        | {"form": task.format.name, "key": task.key}
        | {"fields": task.fields, "example": dict(task.example), "metrics": task.metrics}
        | {"baselines": list(task.baselines), "options": task.options}
        | {
            each: getattr(task, each)
            for each in ("inputs", "columns", "leak", "public_since", "not_asked")
        }
        | {"askable": task.asking is not None, "subsets": list(task.subsets)}
        for dataset, name, task in tasks
    ]


_POLICIES = {WRONG: "counted as wrong", DROP: "dropped"}
_WIDEST = 5  # metrics side by side; of more, each has a line


def lay_out_score(found: Result) -> RenderableType:
    """Return a score with its intervals, references and counts."""
    task = found.task
    own = flat(found.score.metrics)
    options = "".join(f" --set {option}={value}" for option, value in found.options.items())
    counts = ", ".join(f"{count:,} {what}" for what, count in found.score.counts.items())
    told: dict[str, int] = {}  # place and note of references -> number
    shown = []
    for each in found.references:
        stated = {path: cell for path, cell in flat(each.metrics).items() if path in own}
        said = "; ".join(part for part in (each.place, each.note) if part)
        if stated:
            place = told.setdefault(said, len(told) + 1)
            shown.append((f"{each.name} [{place}]", "", stated))
    parts: list[RenderableType] = [
        safe(f"{found.dataset} {found.name}{options}: {found.predictions}", style="bold"),
        safe(_SAMPLE * found.is_sample, style="yellow", end=""),
        *([safe(f"only {found.part}", style="yellow")] if found.part != ALL else []),
        safe(f"{task.evaluated_on}: {counts}; unit: {task.unit}; coverage: {found.coverage:.1%}\n"),
    ]
    measured = {path: number(value, task.decimals) for path, value in own.items()}
    spread = {path: interval(each, task.decimals) for path, each in flat(found.intervals).items()}
    for board in leaderboard([(_OWN, "", measured), (_SPREAD, "", spread), *shown]):
        if len(board.metrics) > _WIDEST and len(board.groups) == 1:
            columns = ["", *(f">{row.who}" for row in board.rows)]
            cells = zip(board.metrics, *(row.cells for row in board.rows), strict=True)
            parts += [table(columns, [*cells], " ".join(board.groups[0])), safe()]
            continue
        rows: list[tuple[str, ...]] = []
        for group in board.groups:
            if group:
                rows.append((" ".join(group), *[""] * len(board.metrics)))
            indent = "  " if group else ""
            rows += [(indent + row.who, *row.cells) for row in board.rows if row.group == group]
        parts += [table(["~", *(f">{name}" for name in board.metrics)], rows), safe()]
    notes = [*_notes(found), *(f"[{place}] {said}" for said, place in told.items())]
    notes += _proof(found)
    return Group(*parts, *(safe(line) for line in notes))


_OWN, _SPREAD = "this", "  95%"  # rows of the score itself and of its intervals


def _notes(found: Result) -> Iterator[str]:
    """Yield undefined metrics with their reasons, moved baselines, and what the intervals are."""
    for path, value in flat(found.score.metrics).items():
        if isinstance(value, Undefined):
            yield f"{' '.join(path)}: undefined, {value.reason}"
    for moved in found.moved:
        yield f"{moved}; the task states another result of this baseline; correct it"
    if found.intervals:
        yield f"95%: an interval over {_clusters(found)}, each with all its predictions"
    bare = flat(found.score.metrics).keys() - flat(found.intervals).keys()
    if any(not isinstance(flat(found.score.metrics)[each], Undefined) for each in bare):
        few = f"one of fewer than {FEW} rows that is no mean over rows"
        yield f"no interval: a median, a metric that no cluster moves, or {few}"
    is_dropped = found.policy == DROP and found.unreadable
    if found.references and (found.part != ALL or is_dropped):
        yield "the scores beside it are of all rows"


def _clusters(found: Result) -> str:
    return " and ".join(f"{count:,} {kind}" for kind, count in found.clusters.items())


def _proof(found: Result) -> Iterator[str]:
    """Yield unreadable predictions by reason, the facts of a log, and the provenance."""
    if found.unreadable:
        often = sorted(found.unreadable.items(), key=lambda each: -each[1])
        reasons = ", ".join(first([f"{reason:.80} {count:,}" for reason, count in often]))
        count = f"{sum(found.unreadable.values()):,} of {found.total:,}"
        yield f"unreadable: {count} predictions, {_POLICIES[found.policy]} ({reasons})"
    if found.is_uniform:
        share = found.answers[0] / sum(found.answers)
        many = f"{len(found.answers):,} distinct answers"
        yield f"{many}, and one of them for {share:.0%} of the questions: it tells little"
    if log := found.run:
        models = (f"{role}={model}" if role else model for role, model in log["models"].items())
        yield f"asked {', '.join(models)}, answered by {', '.join(log['answered_by'])}"
        told = log.keys() - {"models", "answered_by", "settings"}
        facts = ((name, log[name]) for name in log if name in told and log[name] is not None)
        yield "; ".join(f"{name.replace('_', ' ')} {_fact(value)}" for name, value in facts)
    proof = found.provenance
    yield (
        f"parley {proof['parley']}, {found.dataset} {proof['version']}, rows {proof['rows'][:12]}, "
        f"predictions {proof['predictions'][:12]}, {found.part}"
    )


def _fact(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.12}" if isinstance(value, str) else f"{value:,}"


def lay_out_comparison(tables: "Sequence[Comparison]") -> RenderableType:
    """Return the scores of models by task and metric, their differences, and their logs."""
    notes: list[str] = []
    scores: list[list[str]] = []
    differences: list[list[str]] = []
    costs: list[list[str]] = []
    for each in tables:
        task, decimals = _task_of(each), each.task.decimals
        scores += _scores(each, notes)
        for log in each.logs:
            if own := log.result:
                kinds = ("input", "output", "reasoning")
                tokens = (own.run.get(f"{kind}_tokens") for kind in kinds)
                counts = (own.total, sum(own.unreadable.values()), *tokens)
                cells = (number(count, 0) for count in counts)
                costs.append([log.label, task, *cells, number(own.run.get("cost"), 4)])
            for name, by in log.differences.items():
                of = "" if by.rows is None else f", {by.rows:,} rows of both"
                value = "undefined" if by.value is None else f"{by.value:+.{decimals}f}"
                against = each.first.label if each.first else ""
                spread = interval(by.interval, decimals), number(by.p, 3), number(by.p_holm, 3)
                differences.append([task, " ".join(name) + of, log.label, against, value, *spread])
    columns = ["task", "metric", "log~", ">score", ">95%"]
    parts: list[RenderableType] = [table(columns, scores, "scores"), safe()]
    if differences:
        columns = ["task", "metric", "log~", "against~", ">difference", ">95%", ">p", ">p, Holm"]
        parts += [table(columns, differences, "differences"), safe()]
    columns = ["model~", "task", ">answers", ">unreadable", ">read", ">written", ">reasoning"]
    parts += [table([*columns, ">cost"], costs, "tokens and cost"), safe()]
    return Group(*parts, *map(safe, [*notes, *_how(tables)]))


def _task_of(found: "Comparison") -> str:
    options = "".join(f" --set {name}={value}" for name, value in found.options.items())
    return f"{found.dataset} {found.name}{options}"


def _scores(found: "Comparison", notes: list[str]) -> Iterator[list[str]]:
    """Yield a row for each metric of each log, and note where logs differ or have no score."""
    labels: dict[str, str] = {}
    for log in found.logs:
        labels[log.label] = log.label
        kinds = (("no difference computed", log.differs), ("other settings", log.settings))
        for kind, problems in kinds:
            if problems:
                said = "; ".join(map(str, problems))
                notes.append(f"[{len(notes) + 1}] {log.path}: {kind}: {said}")
                labels[log.label] += f" [{len(notes)}]"
    task, decimals = _task_of(found), found.task.decimals
    for name in dict.fromkeys(name for log in found.logs for name in log.metrics):
        for log in found.logs:
            if own := log.metrics.get(name):
                cells = number(own.value, decimals), interval(own.interval, decimals)
                yield [task, " ".join(name), labels[log.label], *cells]
    results = {log.label: log.result for log in found.logs if log.result}
    if any(each.unreadable for each in results.values()):
        for label, each in results.items():
            yield [task, "coverage", labels[label], f"{each.coverage:.1%}", ""]


def comparison_as_dicts(tables: "Sequence[Comparison]") -> list[dict[str, Any]]:
    """Return a comparison for JSON; a number that is undefined is null."""
    return [
        {
            "dataset": each.dataset,
            "task": each.name,
            "options": dict(each.options),
            "unit": each.task.unit,
            "policy": each.policy,
            "first": each.first and str(each.first.path),
            "logs": [_as_dict(log) for log in each.logs],
        }
        for each in tables
    ]


def _as_dict(log: "Compared") -> dict[str, Any]:
    own = log.result
    values = {names: each.value for names, each in log.metrics.items()}
    metrics = {n: None if math.isnan(value) else value for n, value in values.items()}
    differences = {
        names: vars(found) | {"interval": found.interval and vars(found.interval)}
        for names, found in log.differences.items()
    }
    return {
        "log": str(log.path),
        "label": log.label,
        "differs": list(map(str, log.differs)),
        "settings": list(map(str, log.settings)),
        "clusters": own.clusters if own else {},
        "metrics": tree(metrics),
        "intervals": tree({names: vars(each) for names, each in intervals_of(log.metrics).items()}),
        "differences": tree(differences),
        "asked": own.total if own else 0,
        "unreadable": sum(own.unreadable.values()) if own else 0,
        "coverage": own.coverage if own else 0,
        "run": dict(own.run) if own else {},
    }


def _how(tables: "Sequence[Comparison]") -> Iterator[str]:
    """Yield what the intervals and p-values are of; docs/tasks.md says how they are computed."""
    results = [log.result for each in tables for log in each.logs if log.result]
    if any(each.policy == DROP and each.unreadable for each in results):
        yield "unreadable answers are dropped: a log is scored on the rows that it has answers for"
    clusters = [
        f"{_task_of(each)}: {_clusters(each.first.result)}"
        for each in tables
        if each.first and each.first.result
    ]
    if clusters:
        yield f"95%: an interval over clusters ({'; '.join(clusters)})"
    differences = [by for each in tables for log in each.logs for by in log.differences.values()]
    if any(by.rows is not None for by in differences):
        yield "rows of both: those where both logs have a readable answer, or a deal"
    if differences:
        yield "p: paired permutation test of these clusters; Holm's correction in each task"
