"""Questions to models and their scores: `parley questions`, `score` and `compare`."""

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

from rich.console import Group, RenderableType
from typer import Argument, Exit, Option

from parley.base.console import print_message, progress, safe
from parley.base.errors import UsageError, few
from parley.base.replace import write_whole
from parley.base.values import flat
from parley.builds.built_folder import find_folder
from parley.cli.common import options_of, print_line, print_result, read_ids, require_outputs
from parley.cli.dataset_commands import tasks_as_dicts
from parley.cli.options import AsJson, BuildDir, Name, Overwrite, completing, output
from parley.cli.tables import counts, ends, first, number, table
from parley.declaration.registry import get
from parley.models.compare import ComparedTask, compare_logs
from parley.models.logs import score_file
from parley.read.charts import Calibration
from parley.read.svg import svg
from parley.scoring.evaluate import DROP, WRONG, Result, score
from parley.scoring.gold import ALL, Part
from parley.scoring.questions import asked
from parley.tasks.boards import Board, Entry, Footnotes, leaderboard
from parley.tasks.calibration import CALIBRATION
from parley.tasks.games import Playing
from parley.tasks.prediction_formats import ANSWER, TREC_RUN, UNREADABLE
from parley.tasks.prompts import Asking
from parley.tasks.task import Task, Undefined

_TASK = "A task of the dataset; `parley tasks NAME` lists them."
_FILE = "Predictions as --template shows them, also gzipped, or a log; - reads standard input."
_QUESTIONS = "The JSON Lines file to write: in each line a question and its right answer."
_SET = "A value of the task's own option, such as aspect=empathy; repeatable."
_BASELINE = "Score a baseline instead; `parley tasks NAME` lists them."
_IDS = "Only these dialogues, one id a line."
_KEEP = "Save the predictions, each beside the raw answer that it was read from."
_LIMIT = "Only a pilot of N questions, the same for everyone."
_SUBSET = "Only the dialogues of a publication."
_CHART = "Draw the calibration of probabilities, an SVG."
_LOGS = (
    "Logs of inspect, folders of logs, or predictions; differences are from the first of a task."
)
_OF_FILES = "The task of the files, DATASET/TASK [default: that of the logs]."
_METRIC = "A metric or a group [default: points, and metrics outside groups]; repeatable."
_UNREAD = "Count unreadable predictions as wrong, or drop them: wrong, drop."
_TASKS = completing(lambda dataset: dataset.tasks)
_BASELINES = completing(lambda task: task.baselines)
_SUBSETS = completing(lambda task: task.subsets)
_VALUES = completing(lambda task: (f"{k}={v}" for k, vs in task.options.items() for v in vs))

_TaskName = Annotated[str, Argument(metavar="TASK", help=_TASK, autocompletion=_TASKS)]
_Set = Annotated[
    list[str] | None, Option("--set", metavar="OPTION=VALUE", help=_SET, autocompletion=_VALUES)
]
_Unreadable = Annotated[str, Option(metavar="POLICY", help=_UNREAD)]
_Subset = Annotated[str, Option(metavar="SUBSET", help=_SUBSET, autocompletion=_SUBSETS)]
_Limit = Annotated[int, Option(metavar="N", min=0, help=_LIMIT, show_default=False)]
_Ids = Annotated[Path | None, Option(metavar="FILE", help=_IDS)]

_POLICIES = {WRONG: "counted as wrong", DROP: "dropped"}
_WIDEST = 5  # metrics side by side; of more, each has a line


def questions_command(
    name: Name,
    task: _TaskName,
    to: Annotated[Path, output(_QUESTIONS)],
    build: BuildDir = Path("build"),
    set_: _Set = None,
    subset: _Subset = "",
    limit: _Limit = 0,
    ids: _Ids = None,
    overwrite: Overwrite = False,
) -> None:
    """Write the questions of a task as JSON Lines, to ask a model without inspect.

    `parley score` takes the answers: a line {KEY, "answer": TEXT} for each question.
    """
    require_outputs([to], [ids] if ids else [], overwrite)
    built = find_folder(build, get(name))
    rows = asked(built, task, options_of(set_), _part(subset, limit, ids))
    text = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
    write_whole(to, text, overwrite=overwrite)
    kind = ", of the invented sample" if built.is_sample else ""
    print_line(f"{to}: {len(rows):,} questions{kind}; do not send `target` to a model")


def score_command(
    name: Name,
    task: _TaskName,
    file: Annotated[str | None, Argument(metavar="FILE", help=_FILE)] = None,
    build: BuildDir = Path("build"),
    set_: _Set = None,
    baseline: Annotated[
        str | None, Option(metavar="BASELINE", help=_BASELINE, autocompletion=_BASELINES)
    ] = None,
    keep: Annotated[Path | None, Option("--save-predictions", metavar="FILE", help=_KEEP)] = None,
    subset: _Subset = "",
    limit: _Limit = 0,
    ids: _Ids = None,
    unreadable: _Unreadable = "wrong",
    chart: Annotated[Path | None, Option("--chart", metavar="FILE", help=_CHART)] = None,
    overwrite: Overwrite = False,
    template: Annotated[bool, Option("--template", help="Describe the fields of FILE.")] = False,
    as_json: AsJson = False,
) -> None:
    """Score predictions on a task, with the documented scores for comparison.

    Exit status 1 if a baseline's score is not that of its reference.
    """
    dataset = get(name)
    declared, options = dataset.task(task), options_of(set_)
    declared.chosen(options)
    if template:
        if file or baseline or keep or chart:
            raise UsageError("--template scores nothing: leave FILE and the other options out")
        (value,) = tasks_as_dicts([(name, task, declared)])
        print_result(as_json, value, _template_layout, name, task, declared)
        return
    if (file is None) == (baseline is None):
        what = f"{name} {task} scores either FILE or a --baseline"
        baselines = ", ".join(declared.baselines) or "none"
        raise UsageError(what, remedy=f"Baselines: {baselines}; --template describes FILE.")
    paths = [path for path in (keep, chart) if path]
    inputs = [Path(path) for path in (file, ids) if path and path != "-"]
    require_outputs(paths, inputs, overwrite)
    if chart and "calibration_error" not in declared.metrics:
        raise UsageError(f"--chart: {name} {task} has no calibration_error to draw; leave it out")
    if chart and chart.suffix != ".svg":
        raise UsageError(f"--chart {chart}: expected a name that ends in .svg")
    built, part = find_folder(build, dataset), _part(subset, limit, ids)
    with progress() as advance:
        advance(f"{name} {task}", "scoring")
        if baseline:
            result = score(built, task, options, baseline=baseline, part=part, policy=unreadable)
        else:
            result = score_file(built, task, options, str(file), part, unreadable)
    if keep:
        result.save(keep, overwrite)
    if chart:
        title = f"Calibration: {result.predictions}, {_task_of(result)}"
        drawn = svg(Calibration(title, result.score.calibration))
        write_whole(chart, drawn, overwrite=overwrite)
    print_result(as_json, result.as_dict(), _score_layout, result)
    if result.wrong_references:
        raise Exit(1)


def _part(subset: str, limit: int, ids: Path | None) -> Part:
    """Return the part of a task that options name."""
    return Part(subset, limit, ids=frozenset(read_ids(ids) or ()))


def _template_layout(dataset: str, name: str, task: Task) -> RenderableType:
    """Return the fields of a prediction file, with an example line."""
    amount = "one or more" if task.format is TREC_RUN else "one"
    key_of_gold = " and ".join(task.gold_key)
    parts: list[RenderableType] = [
        safe(f"{dataset} {name}: {task.format.name}, one line for each prediction"),
        safe(f"{amount} for each {key_of_gold}; scored on {task.evaluated_on}\n"),
        table(("field", "values~", "meaning~"), task.contents),
    ]
    if task.inputs:
        leak = f"\nwarning: {task.leak}" if task.leak else ""
        parts.append(safe(f"\na model may see: {task.inputs} ({', '.join(task.columns)}){leak}"))
    parts.append(safe("\nfor example (invented):\n"))
    parts += [safe(line) for line in task.format.lines([task.example])]
    if isinstance(task.asking, Asking):
        key = {field: task.example[field] for field in task.key}
        answer = json.dumps(key | {ANSWER: "..."})
        unreadable = json.dumps(key | {UNREADABLE: "truncated"})
        what = f"with a model's whole answer, which is asked for as {task.form}"
        parts.append(safe(f"or, {what}:\n{answer}"))
        parts.append(safe(f"or, for an answer that cannot be read:\n{unreadable}"))
    return Group(*parts)


def _score_layout(result: Result) -> RenderableType:
    """Return a score with its intervals, references and counts."""
    task = result.task
    metrics = flat(result.score.metrics)
    numbers = ", ".join(f"{count:,} {what}" for what, count in result.score.counts.items())
    parts = [safe(f"{_task_of(result)}: {result.predictions}", style="bold")]
    if result.is_sample:
        text = "a sample, not the dataset: its records are invented\n"
        parts.append(safe(text, style="yellow", end=""))
    if result.part != ALL:
        parts.append(safe(f"only {result.part}", style="yellow"))
    coverage = f"coverage: {result.coverage:.1%}"
    parts.append(safe(f"{task.evaluated_on}: {numbers}; {coverage}\n"))
    intervals = flat(result.intervals).items()
    entries = [
        Entry("this", {path: number(value, task.decimals) for path, value in metrics.items()}),
        Entry("  95%", {path: ends(interval, task.decimals) for path, interval in intervals}),
    ]
    sources = Footnotes()
    for reference in result.references:
        stated = {path: text for path, text in flat(reference.metrics).items() if path in metrics}
        if stated:
            mark = sources.mark("; ".join(filter(None, (reference.place, reference.note))))
            who = f"{reference.name}{reference.conditions(result.subset)}{mark}"
            entries.append(Entry(who, stated))
    boards = [part for board in leaderboard(entries) for part in (_board(board), safe())]
    if bins := result.score.calibration:
        head, *heads = CALIBRATION
        columns = [head, *(f">{each}" for each in heads)]
        boards += [table(columns, [each.cells for each in bins]), safe()]
    return Group(*parts, *boards, *map(safe, [*_notes(result), *sources, *_proof(result)]))


def _board(board: Board) -> RenderableType:
    """Return a table of results: with a line for each, or for each metric if they are many."""
    if len(board.metrics) > _WIDEST and len(board.groups) == 1:
        columns = ["", *(f">{row.entry.name}" for row in board.rows)]
        cells = zip(board.metrics, *(row.cells for row in board.rows), strict=True)
        return table(columns, [*cells], " ".join(board.groups[0]))
    rows: list[tuple[str, ...]] = []
    for group in board.groups:
        if group:
            rows.append((" ".join(group), *[""] * len(board.metrics)))
        indent = "  " if group else ""
        rows += [(indent + row.entry.name, *row.cells) for row in board.rows if row.group == group]
    return table(["~", *(f">{name}" for name in board.metrics)], rows)


def _notes(result: Result) -> Iterator[str]:
    """Yield undefined metrics with their reasons, wrong references, and what the intervals are."""
    metrics, intervals = flat(result.score.metrics), flat(result.intervals)
    for path, value in metrics.items():
        if isinstance(value, Undefined):
            yield f"{' '.join(path)}: undefined, {value.reason}"
    for problem in result.wrong_references:
        yield f"{problem}; the task states another result of this baseline; correct it"
    if better := _better(result.task, metrics):
        yield better
    if intervals:
        yield f"95%: an interval over {counts(result.clusters)}, each with all its predictions"
    without = result.without_interval
    for reason in dict.fromkeys(without.values()):
        names = [" ".join(path) for path, why in without.items() if why == reason]
        yield f"no interval: {few(names)}: {reason}"


def _better(task: Task, paths: Iterable[tuple[str, ...]]) -> str:
    """Return of which metrics a lower number is better, and of which a higher one."""
    lower = [name for name in task.lower if any(name in path for path in paths)]
    if lower:
        return f"lower is better: {', '.join(lower)}; higher is better for the others"
    return "" if isinstance(task.asking, Playing) else "higher is better"


def _proof(result: Result) -> Iterator[str]:
    """Yield unreadable predictions by reason, the facts of a log, and the provenance."""
    if result.unreadable:
        by_count = sorted(result.unreadable.items(), key=lambda item: -item[1])
        reasons = ", ".join(
            first([f"{' '.join(reason.split()):.80} {count:,}" for reason, count in by_count])
        )
        count = f"{sum(result.unreadable.values()):,} of {result.total:,}"
        yield f"unreadable: {count} predictions, {_POLICIES[result.policy]} ({reasons})"
        if result.task.form:
            yield f"the form that is read: {result.task.form}"
        if own := result.under_own_names:
            yield f"{own:,} of them have the fields by the names of a file instead"
    if result.is_uniform:
        share = result.answer_counts[0] / sum(result.answer_counts)
        many = f"{len(result.answer_counts):,} distinct answers"
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


def compare_command(
    logs: Annotated[list[Path], Argument(metavar="FILE", help=_LOGS)],
    build: BuildDir = Path("build"),
    task: Annotated[str, Option(metavar="TASK", help=_OF_FILES)] = "",
    metric: Annotated[list[str] | None, Option(metavar="METRIC", help=_METRIC)] = None,
    subset: _Subset = "",
    limit: _Limit = 0,
    ids: _Ids = None,
    unreadable: _Unreadable = "wrong",
    as_json: AsJson = False,
) -> None:
    """Compare models by their logs or predictions: scores with intervals, differences, tokens."""
    with progress() as advance:
        asked = (metric or (), task, unreadable, _part(subset, limit, ids))
        found = compare_logs(build, logs, advance, *asked)
    for log in found.left_out:
        print_message(f"left out: {log}")
    print_result(as_json, found.as_dict(), _compare_layout, found.tables)


def _compare_layout(tables: Sequence[ComparedTask]) -> RenderableType:
    """Return the scores of models by task and metric, their differences, and their logs."""
    notes = Footnotes()
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


def _task_of(scored: ComparedTask | Result) -> str:
    options = "".join(f" --set {name}={value}" for name, value in scored.options.items())
    return f"{scored.dataset} {scored.name}{options}"


def _scores(compared: ComparedTask, notes: Footnotes) -> Iterator[list[str]]:
    """Yield a row for each metric of each log, and note where logs differ or have no score."""
    labels: dict[str, str] = {}
    for log in compared.logs:
        labels[log.label] = log.label
        kinds = (("no difference computed", log.differs), ("other settings", log.settings))
        for kind, problems in kinds:
            if problems:
                text = "; ".join(map(str, problems))
                labels[log.label] += notes.mark(f"{log.path}: {kind}: {text}")
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


def _differences(compared: ComparedTask) -> Iterator[list[str]]:
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
            p_values = map(_p, (difference.p, difference.p_holm))
            cells = (ends(difference.interval, decimals), *p_values)
            yield [task, metric, log.label, against, value, *cells]


def _p(p: float | None) -> str:
    return "< 0.001" if p is not None and p < 0.001 else number(p, 3)


def _costs(compared: ComparedTask) -> Iterator[list[str]]:
    """Yield a row with the tokens and the cost of each log."""
    for log in compared.logs:
        if result := log.result:
            tokens = [result.run.get(f"{kind}_tokens") for kind in ("input", "output", "reasoning")]
            numbers = (result.total, sum(result.unreadable.values()), *tokens)
            cells = [number(count, 0) for count in numbers]
            yield [log.label, _task_of(compared), *cells, number(result.run.get("cost"), 4)]


def _how(tables: Sequence[ComparedTask]) -> Iterator[str]:
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
    for compared in tables:
        names = {name for log in compared.logs for name in log.metrics}
        if better := _better(compared.task, names):
            yield f"{_task_of(compared)}: {better}"
    differences = [difference for log in logs for difference in log.differences.values()]
    if any(difference.rows is not None for difference in differences):
        yield "rows of both: those where both have a readable answer, or a deal"
    if differences:
        tests = "a paired permutation test of these clusters for means, else Student's t"
        yield f"p: {tests}; Holm's correction in each task"
        yield "p says whether two models differ, 95% by how much; they may disagree near 0.05"
