"""`parley tasks`."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

from rich.console import Group, RenderableType
from typer import Option

from parley.base.console import safe
from parley.base.disk import write_whole
from parley.base.errors import UsageError
from parley.builds.card_parts import overview, with_parts
from parley.cli.commands import single_command
from parley.cli.common import AsJson, Attempts, Names, print_result, read_file, select
from parley.cli.tables import labelled
from parley.tasks.task import Task

app = single_command()


@app.command("tasks")
def tasks_command(
    names: Names = None,
    update: Annotated[
        Path | None, Option(metavar="FILE", help="Renew the list of tasks in FILE.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the tasks of each dataset, with their metrics and baselines."""
    tasks, attempt = [], Attempts()
    for dataset in select(names):
        with attempt():
            tasks += [(dataset.name, name, task) for name, task in dataset.tasks.items()]
    if names and not tasks and not attempt.failed:
        raise UsageError(f"{', '.join(names)}: no tasks; `parley tasks` lists all")
    if update:
        attempt.finish()
        text = read_file("--update", update)
        write_whole(update, with_parts(text, str(update), {"tasks": overview(tasks)}))
    else:
        print_result(as_json, tasks_as_dicts(tasks), lay_out, tasks)
    attempt.finish()


def lay_out(tasks: Iterable[tuple[str, str, Task]]) -> RenderableType:
    """Return the properties of tasks, given as (dataset, name, task)."""
    parts: list[RenderableType] = []
    for dataset, name, task in tasks:
        properties = {
            "predicted": task.summary,
            "evaluated_on": task.evaluated_on,
            "inputs": task.inputs,
            "metrics": ", ".join(task.metrics),
            "baselines": ", ".join(task.baselines) or "none",
        }
        for option, values in task.options.items():
            properties[f"--set {option}"] = ", ".join(values)
        optional = {
            "--subset": ", ".join(task.subsets),
            "public since": task.public_since,
            "not asked": task.not_asked,
        }
        properties |= {label: value for label, value in optional.items() if value}
        rows = ((f"  {label}", value) for label, value in properties.items())
        parts += [safe(f"{dataset} {name}", style="bold"), labelled(rows)]
    return Group(*parts)


def tasks_as_dicts(tasks: Iterable[tuple[str, str, Task]]) -> list[dict[str, Any]]:
    """Return tasks for JSON."""
    return [
        {
            "dataset": dataset,
            "task": name,
            "summary": task.summary,
            "evaluated_on": task.evaluated_on,
            "configs": task.configs,
            "form": task.format.name,
            "key": task.key,
            "fields": task.fields,
            "example": dict(task.example),
            "metrics": task.metrics,
            "baselines": list(task.baselines),
            "options": task.options,
            "inputs": task.inputs,
            "columns": task.columns,
            "leak": task.leak,
            "public_since": task.public_since,
            "not_asked": task.not_asked,
            "askable": task.asking is not None,
            "subsets": list(task.subsets),
        }
        for dataset, name, task in tasks
    ]
