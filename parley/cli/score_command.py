"""`parley score`."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Group, RenderableType
from typer import Argument, Option

from parley.base.console import progress, safe
from parley.base.disk import write_whole
from parley.base.errors import UsageError
from parley.base.values import flat
from parley.builds.card_parts import Board, leaderboard
from parley.cli.commands import single_command
from parley.cli.common import (
    UNREAD,
    AsJson,
    BuildDir,
    Name,
    completing,
    options_of,
    print_result,
    read_ids,
)
from parley.cli.tables import counts, ends, first, number, table
from parley.cli.tasks_command import tasks_as_dicts
from parley.declaration.registry import get
from parley.models.logs import score_file
from parley.rows.folder import find_folder
from parley.tasks.asking import Asking
from parley.tasks.evaluate import DROP, WRONG, Result, score
from parley.tasks.formats import ANSWER, TREC_RUN, UNREADABLE
from parley.tasks.intervals import FEW
from parley.tasks.predictions import require_free
from parley.tasks.task import ALL, Part, Task, Undefined

_TASK = "A task of the dataset; `parley tasks NAME` lists them."
_FILE = "Predictions in the form that --template shows, also gzipped, or a log; - is stdin."
_SET = "A value of the task's own option, such as aspect=empathy; repeatable."
_BASELINE = "Score a baseline instead."
_IDS = "Score only these dialogues, one id a line."
_KEEP = "Save the predictions of the baseline."
_LIMIT = "Score only a pilot of N, the same for everyone."
_SUBSET = "Score only the dialogues of a publication."
_ENTRY = "Write the score for a model repository: .eval_results/NAME.yaml on the Hub."
_TASKS = completing(lambda dataset: dataset.tasks)
_BASELINES = completing(lambda task: task.baselines)
_SUBSETS = completing(lambda task: task.subsets)
_VALUES = completing(lambda task: (f"{k}={v}" for k, vs in task.options.items() for v in vs))

_SAMPLE = "a sample, not the dataset: its records are invented\n"
_POLICIES = {WRONG: "counted as wrong", DROP: "dropped"}
_WIDEST = 5  # metrics side by side; of more, each has a line
_THIS, _INTERVALS = "this", "  95%"  # rows of the score itself and of its intervals

app = single_command()


@app.command("score")
def score_command(
    name: Name,
    task: Annotated[str, Argument(metavar="TASK", help=_TASK, autocompletion=_TASKS)],
    file: Annotated[str | None, Argument(metavar="FILE", help=_FILE)] = None,
    folder: BuildDir = Path("build"),
    set_: Annotated[
        list[str] | None, Option("--set", metavar="K=V", help=_SET, autocompletion=_VALUES)
    ] = None,
    baseline: Annotated[
        str | None, Option(metavar="B", help=_BASELINE, autocompletion=_BASELINES)
    ] = None,
    keep: Annotated[Path | None, Option("--save-predictions", metavar="OUT", help=_KEEP)] = None,
    subset: Annotated[str, Option(metavar="S", help=_SUBSET, autocompletion=_SUBSETS)] = "",
    limit: Annotated[int, Option(metavar="N", min=0, help=_LIMIT, show_default=False)] = 0,
    ids: Annotated[Path | None, Option(metavar="FILE", help=_IDS)] = None,
    unreadable: Annotated[str, Option(metavar="P", help=UNREAD)] = "wrong",
    entry: Annotated[Path | None, Option("--eval-results", metavar="OUT", help=_ENTRY)] = None,
    template: Annotated[bool, Option("--template", help="Describe FILE.")] = False,
    as_json: AsJson = False,
) -> None:
    """Score predictions on a task, with the documented scores for comparison.

    Exit status 1 if a baseline does not give its reference.
    """
    dataset = get(name)
    declared, options = dataset.task(task), options_of(set_)
    declared.chosen(options)
    if template:
        if file or baseline or keep or entry:
            raise UsageError("--template scores nothing: leave FILE and the other options out")
        (value,) = tasks_as_dicts([(name, task, declared)])
        print_result(as_json, value, lay_out_template, name, task, declared)
        return
    if (file is None) == (baseline is None):
        what = f"{name} {task} scores either FILE or a --baseline"
        baselines = ", ".join(declared.baselines) or "none"
        raise UsageError(what, remedy=f"Baselines: {baselines}; --template describes FILE.")
    if keep and not baseline:
        raise UsageError("--save-predictions saves the predictions of a --baseline")
    for path in filter(None, (keep, entry)):
        require_free(path)
    built = find_folder(folder, dataset)
    part = Part(subset, limit, ids=frozenset(read_ids(ids) or ()))
    with progress() as advance:
        advance(f"{name} {task}", "scoring")
        if baseline:
            result = score(
                built, task, options, baseline=baseline, keep=keep, part=part, policy=unreadable
            )
        else:
            result = score_file(built, task, options, str(file), part, unreadable)
    if entry:
        from parley.hub.eval_results import eval_results

        write_whole(entry, eval_results(result, built))
    print_result(as_json, result.as_dict(), lay_out, result)
    if result.moved:
        raise typer.Exit(1)


def lay_out_template(dataset: str, name: str, task: Task) -> RenderableType:
    """Return the fields of a prediction file, with an example line."""
    amount = "one or more" if task.format is TREC_RUN else "one"
    key_of_gold = " and ".join(task.gold_key)
    parts: list[RenderableType] = [
        safe(f"{dataset} {name}: {task.format.name}, one line for each prediction"),
        safe(f"{amount} for each {key_of_gold}; scored on {task.evaluated_on}\n"),
        table(("field", "content~"), list(task.fields.items())),
    ]
    if task.inputs:
        leak = f"\nwarning: {task.leak}" if task.leak else ""
        columns = ", ".join(task.columns)
        parts.append(safe(f"\na model may see: {task.inputs} ({columns}){leak}"))
    parts.append(safe("\nfor example (invented):\n"))
    parts += [safe(line) for line in task.format.lines([task.example])]
    if isinstance(task.asking, Asking):
        key = {field: task.example[field] for field in task.key}
        answer = json.dumps(key | {ANSWER: "..."})
        unreadable = json.dumps(key | {UNREADABLE: "truncated"})
        what = "with a model's whole answer, which the task's reader reads"
        parts.append(safe(f"or, {what}:\n{answer}"))
        parts.append(safe(f"or, for an answer that cannot be read:\n{unreadable}"))
    return Group(*parts)


def lay_out(result: Result) -> RenderableType:
    """Return a score with its intervals, references and counts."""
    task = result.task
    metrics = flat(result.score.metrics)
    options = "".join(f" --set {option}={value}" for option, value in result.options.items())
    numbers = ", ".join(f"{count:,} {what}" for what, count in result.score.counts.items())
    parts = [safe(f"{result.dataset} {result.name}{options}: {result.predictions}", style="bold")]
    if result.is_sample:
        parts.append(safe(_SAMPLE, style="yellow", end=""))
    if result.part != ALL:
        parts.append(safe(f"only {result.part}", style="yellow"))
    coverage = f"unit: {task.unit}; coverage: {result.coverage:.1%}"
    parts.append(safe(f"{task.evaluated_on}: {numbers}; {coverage}\n"))
    intervals = flat(result.intervals).items()
    entries = [
        (_THIS, "", {path: number(value, task.decimals) for path, value in metrics.items()}),
        (_INTERVALS, "", {path: ends(interval, task.decimals) for path, interval in intervals}),
    ]
    places: dict[str, int] = {}  # place and note of references -> number
    for reference in result.references:
        stated = {path: text for path, text in flat(reference.metrics).items() if path in metrics}
        if stated:
            source = "; ".join(part for part in (reference.place, reference.note) if part)
            place = places.setdefault(source, len(places) + 1)
            entries.append((f"{reference.name} [{place}]", "", stated))
    boards = [part for board in leaderboard(entries) for part in (_board(board), safe())]
    notes = [*_notes(result), *(f"[{place}] {source}" for source, place in places.items())]
    return Group(*parts, *boards, *map(safe, [*notes, *_proof(result)]))


def _board(board: Board) -> RenderableType:
    """Return a table of results: with a line for each, or for each metric if they are many."""
    if len(board.metrics) > _WIDEST and len(board.groups) == 1:
        columns = ["", *(f">{row.who}" for row in board.rows)]
        cells = zip(board.metrics, *(row.cells for row in board.rows), strict=True)
        return table(columns, [*cells], " ".join(board.groups[0]))
    rows: list[tuple[str, ...]] = []
    for group in board.groups:
        if group:
            rows.append((" ".join(group), *[""] * len(board.metrics)))
        indent = "  " if group else ""
        rows += [(indent + row.who, *row.cells) for row in board.rows if row.group == group]
    return table(["~", *(f">{name}" for name in board.metrics)], rows)


def _notes(result: Result) -> Iterator[str]:
    """Yield undefined metrics with their reasons, moved baselines, and what the intervals are."""
    metrics, intervals = flat(result.score.metrics), flat(result.intervals)
    for path, value in metrics.items():
        if isinstance(value, Undefined):
            yield f"{' '.join(path)}: undefined, {value.reason}"
    for problem in result.moved:
        yield f"{problem}; the task states another result of this baseline; correct it"
    if intervals:
        yield f"95%: an interval over {counts(result.clusters)}, each with all its predictions"
    without = metrics.keys() - intervals.keys()
    if any(not isinstance(metrics[path], Undefined) for path in without):
        few = f"one of fewer than {FEW} rows that is no mean over rows"
        yield f"no interval: a median, a metric that no cluster moves, or {few}"
    is_dropped = result.policy == DROP and result.unreadable
    if result.references and (result.part != ALL or is_dropped):
        yield "the scores beside it are of all rows"


def _proof(result: Result) -> Iterator[str]:
    """Yield unreadable predictions by reason, the facts of a log, and the provenance."""
    if result.unreadable:
        by_count = sorted(result.unreadable.items(), key=lambda item: -item[1])
        reasons = ", ".join(first([f"{reason:.80} {count:,}" for reason, count in by_count]))
        count = f"{sum(result.unreadable.values()):,} of {result.total:,}"
        yield f"unreadable: {count} predictions, {_POLICIES[result.policy]} ({reasons})"
    if result.is_uniform:
        share = result.answers[0] / sum(result.answers)
        many = f"{len(result.answers):,} distinct answers"
        yield f"{many}, and one of them for {share:.0%} of the questions: it tells little"
    if log := result.run:
        models = (f"{role}={model}" if role else model for role, model in log["models"].items())
        yield f"asked {', '.join(models)}, answered by {', '.join(log['answered_by'])}"
        facts = [
            f"{name.replace('_', ' ')} {_fact(value)}"
            for name, value in log.items()
            if name not in ("models", "answered_by", "settings") and value is not None
        ]
        yield "; ".join(facts)
    proof = result.provenance
    yield (
        f"parley {proof['parley']}, {result.dataset} {proof['version']}, "
        f"rows {proof['rows'][:12]}, predictions {proof['predictions'][:12]}, {result.part}"
    )


def _fact(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.12}" if isinstance(value, str) else f"{value:,}"
