"""What datasets declare: `parley list`, `parley tasks` and `parley run`."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

from rich.console import Group, RenderableType
from typer import Argument, Context, Option
from typer.core import TyperCommand

from parley.base.console import plain, print_output, safe, size
from parley.base.errors import ScriptError, UsageError
from parley.base.replace import write_whole
from parley.builds.card import summary
from parley.builds.card_parts import overview, with_parts
from parley.cli.commands import as_command
from parley.cli.common import Attempts, print_result, read_file, select
from parley.cli.options import AsJson, Names, dataset_names
from parley.cli.tables import labelled, table
from parley.declaration.registry import get
from parley.tasks.task import Task

_UPDATE = "Renew the list of tasks in FILE."
_JOB = "A dataset, its job and the job's options; --help lists them."


def list_command(names: Names = None, as_json: AsJson = False) -> None:
    """List datasets: configs, splits, rows, sizes, licences."""
    summaries, attempt = [], Attempts()
    for dataset in select(names):
        with attempt():
            summaries.append(summary(dataset))
    if summaries or as_json:
        print_result(as_json, summaries, _list_layout, summaries)
    attempt.finish()


def _list_layout(summaries: Sequence[dict[str, Any]]) -> RenderableType:
    """Return summaries of datasets: a table for each."""
    parts = [part for dataset in summaries for part in _dataset(dataset)]
    configs = [config for dataset in summaries for config in dataset["configs"]]
    if any(rows[-1] in "*–" for config in configs for _, rows, _ in _splits(config)):
        parts.append(safe("* documented, not counted\n–: neither, or not built"))
    return Group(*parts)


def _dataset(dataset: dict[str, Any]) -> Iterator[RenderableType]:
    yield safe(dataset["name"], style="bold")
    yield safe(f"licence: {_licences(dataset['configs'])}")
    rows = []
    for config in dataset["configs"]:
        name, description = config["name"], config["description"]
        for split in _splits(config):
            rows.append((name, *split, description))
            name = description = ""  # only beside the first split
    yield table(("config", "split", ">rows", ">Parquet", "content~"), rows)
    yield safe()


def _licences(configs: Sequence[dict[str, Any]]) -> str:
    """Return the usual licence, and the configs that have one that it does not name."""
    licences = [config["license"] for config in configs]
    usual = max(licences, key=licences.count, default="unknown")
    known = (usual, *usual.replace(",", "").split())
    others = [f"{c['name']}: {c['license']}" for c in configs if c["license"] not in known]
    return "; ".join([usual, *others])


def _splits(config: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield each split with its number of rows and its size as Parquet."""
    for split, count in config["splits"].items():
        documented = config["documented"].get(split)
        if count is not None:
            yield split, f"{count:,}", size(config["sizes"][split])
        else:
            yield split, "–" if documented is None else f"{documented:,}*", "–"


def tasks_command(
    names: Names = None,
    update: Annotated[Path | None, Option(metavar="FILE", help=_UPDATE)] = None,
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
        print_result(as_json, tasks_as_dicts(tasks), _tasks_layout, tasks)
    attempt.finish()


def _tasks_layout(tasks: Iterable[tuple[str, str, Task]]) -> RenderableType:
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
        optional = {"--subset": ", ".join(task.subsets), "not asked": task.not_asked}
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
            "key": [*task.key],
            "fields": {n: {"values": v, "meaning": m} for n, v, m in task.contents},
            "example": dict(task.example),
            "asked": task.form,
            "metrics": task.metrics,
            "baselines": list(task.baselines),
            "options": task.options,
            "inputs": task.inputs,
            "columns": task.columns,
            "leak": task.leak,
            "not_asked": task.not_asked,
            "askable": task.asking is not None,
            "subsets": list(task.subsets),
        }
        for dataset, name, task in tasks
    ]


def _words(ctx: Context) -> list[str]:
    """Complete the name of a dataset, then those of its jobs."""
    words = ctx.params.get("arguments") or []
    if not words:
        return dataset_names()
    return list(get(words[0]).jobs) if len(words) == 1 else []


def run_command(
    arguments: Annotated[
        list[str] | None, Argument(metavar="NAME JOB OPTION", help=_JOB, autocompletion=_words)
    ] = None,
) -> None:
    """Run a job of a dataset; without a job, list the jobs."""
    words = arguments or []
    if len(words) < 2 or words[1].startswith("-"):
        _list_jobs(words[:1] or dataset_names())
        return
    name, job, *options = words
    dataset = get(name)
    declared = dataset.job(job)
    try:
        command = as_command(job, declared.run, _Command, help_option_names=["-h", "--help"])
    except Exception as error:  # Typer's, for an unsupported parameter
        where = f"{dataset.folder / 'jobs.py'}: JOBS[{job!r}]"
        raise ScriptError(f"{where}: not a command: {error}") from error
    with command.make_context(f"parley run {name} {job}", options) as context:
        command.invoke(context)


class _Command(TyperCommand):
    """The command of a job: its help, which a stranger may have written, cannot act."""

    def get_help(self, ctx: Any) -> str:  # a type of click, which Typer keeps in different places
        """Return the help, with control characters escaped."""
        return plain(super().get_help(ctx))


def _list_jobs(names: list[str]) -> None:
    """Print the jobs of datasets, then the errors of broken `jobs.py` files."""
    rows: list[tuple[str, str, str]] = []
    attempt = Attempts()
    for name in names:
        with attempt():
            rows += [(name, job, declared.summary) for job, declared in get(name).jobs.items()]
    if rows or not attempt.failed:
        print_output(table(("dataset", "job", "summary~"), rows))
    attempt.finish()
