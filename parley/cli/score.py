"""Commands on the tasks that dataset folders declare: tasks, score, compare."""

from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option

import parley.cli.common as common
from parley.base.errors import UsageError
from parley.cli.common import UNREAD, AsJson, BuildDir, Name, Names, app, completing
from parley.declaration.registry import get

_TASK = "A task of the dataset; `parley tasks NAME` lists them."
_FILE = "Predictions in the form that --template shows, also gzipped, or a log; - is stdin."
_SET = "A value of the task's own option, such as aspect=empathy; repeatable."
_BASELINE = "Score a baseline instead."
_IDS = "Score only these dialogues, one id a line."
_KEEP = "Save the predictions of the baseline."
_LIMIT = "Score only a pilot of N, the same for everyone."
_SUBSET = "Score only the dialogues of a publication."
_ENTRY = "Write the score for a model repository: .eval_results/NAME.yaml on the Hub."
_LOGS = (
    "Logs of inspect, folders of them, or files of predictions; the first of a task is the base."
)
_OF_FILES = "The task of the files, DATASET/TASK [default: that of the logs]."
_METRIC = "A metric or a group [default: those outside groups, and points]; repeatable."
_TASKS = completing(lambda dataset: dataset.tasks)
_BASELINES = completing(lambda task: task.baselines)
_SUBSETS = completing(lambda task: task.subsets)
_VALUES = completing(lambda task: (f"{k}={v}" for k, vs in task.options.items() for v in vs))


@app.command()
def tasks(
    names: Names = None,
    update: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Renew the list of tasks in FILE.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the tasks of each dataset, with their metrics and baselines."""
    from parley.base.disk import write_whole
    from parley.builds.card_parts import overview, with_parts
    from parley.cli.task_tables import lay_out_tasks, tasks_as_dicts

    found, attempt = [], common.Attempts()
    for dataset in common.select(names):
        with attempt():
            found += [(dataset.name, name, task) for name, task in dataset.tasks.items()]
    if names and not found and not attempt.failed:
        raise UsageError(f"{', '.join(names)}: no tasks; `parley tasks` lists all")
    if update:
        attempt.finish()
        text = common.read_file("--update", update)
        write_whole(update, with_parts(text, str(update), {"tasks": overview(found)}))
    else:
        common.print_result(as_json, tasks_as_dicts(found), lay_out_tasks, found)
    attempt.finish()


@app.command()
def score(
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
    from parley.base.console import progress
    from parley.cli.task_tables import lay_out_score, lay_out_template, tasks_as_dicts
    from parley.models.logs import score_file
    from parley.rows.folder import find_folder
    from parley.tasks.evaluate import score as evaluate
    from parley.tasks.predictions import require_free
    from parley.tasks.task import Part

    dataset = get(name)
    declared, asked = dataset.task(task), common.options_of(set_)
    declared.chosen(asked)
    if template:
        if file or baseline or keep or entry:
            raise UsageError("--template scores nothing: leave FILE and the other options out")
        found = (name, task, declared)
        common.print_result(as_json, tasks_as_dicts([found])[0], lay_out_template, *found)
        return
    if (file is None) == (baseline is None):
        raise UsageError(
            f"{name} {task} scores either FILE or a --baseline",
            remedy=f"Baselines: {', '.join(declared.baselines) or 'none'}; "
            "--template describes FILE.",
        )
    if keep and not baseline:
        raise UsageError("--save-predictions saves the predictions of a --baseline")
    for new in filter(None, (keep, entry)):
        require_free(new)
    built = find_folder(folder, dataset)
    part = Part(subset, limit, ids=frozenset(common.read_ids(ids) or ()))
    with progress() as advance:
        advance(f"{name} {task}", "scoring")
        if baseline:
            how: Any = {"baseline": baseline, "keep": keep, "part": part, "policy": unreadable}
            result = evaluate(built, task, asked, **how)
        else:
            result = score_file(built, task, asked, str(file), part, unreadable)
    if entry:
        from parley.base.disk import write_whole
        from parley.hub.eval_results import eval_results

        write_whole(entry, eval_results(result, built))
    common.print_result(as_json, result.as_dict(), lay_out_score, result)
    if result.moved:
        raise typer.Exit(1)


@app.command()
def compare(
    logs: Annotated[list[Path], Argument(metavar="FILE", help=_LOGS)],
    folder: BuildDir = Path("build"),
    task: Annotated[str, Option(metavar="T", help=_OF_FILES)] = "",
    metric: Annotated[list[str] | None, Option(metavar="M", help=_METRIC)] = None,
    unreadable: Annotated[str, Option(metavar="P", help=UNREAD)] = "wrong",
    as_json: AsJson = False,
) -> None:
    """Compare models by their logs or predictions: scores with intervals, differences, tokens."""
    from parley.base.console import print_message, progress
    from parley.cli.task_tables import comparison_as_dicts, lay_out_comparison
    from parley.models.compare import compare as compare_logs

    for path in logs:
        if not path.is_dir():
            common.require_file("FILE", path)
    with progress() as advance:
        tables, left_out = compare_logs(folder, logs, advance, metric or (), task, unreadable)
    for each in left_out:
        print_message(f"left out: {each}")
    common.print_result(as_json, comparison_as_dicts(tables), lay_out_comparison, tables)
