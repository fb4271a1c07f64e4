"""Commands that the dataset folders declare, jobs and tasks: tasks, run, score."""

from pathlib import Path
from typing import Annotated, Any

import typer

from parley.cli.common import AsJson, Attempts, Names, app, print_result, select
from parley.errors import Failures, OutputError, ParleyError, UsageError
from parley.jobs import Jobs, each_jobs
from parley.terminal.score import Scores

_PLAIN: dict[str, Any] = {"add_completion": False, "rich_markup_mode": None}
_SCORE = "Score predictions on a task, with the documented scores for comparison."
run = typer.Typer(
    cls=Jobs, help="Run a job of a dataset; without arguments, list the jobs.", **_PLAIN
)
app.add_typer(run, name="run")
app.add_typer(typer.Typer(cls=Scores, help=_SCORE, no_args_is_help=True, **_PLAIN), name="score")


@app.command()
def tasks(
    names: Names = None,
    update: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Renew the tables of tasks in FILE.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the tasks of each dataset, with their metrics and baselines."""
    from parley.folder.replace import write_whole
    from parley.scoring.leaderboard import renewed
    from parley.tasks import tasks_of
    from parley.terminal.tasks import lay_out_tasks, tasks_as_dicts

    found, attempt = [], Attempts()
    for dataset in select(names):
        with attempt():
            found += [(dataset.name, name, task) for name, task in tasks_of(dataset).items()]
    if names and not found and not attempt.failed:
        raise UsageError(f"{', '.join(names)}: no tasks; `parley tasks` lists all")
    if update:
        attempt.finish()
        try:
            text = update.read_text(encoding="utf-8")
        except (OSError, UnicodeError) as error:
            raise OutputError(f"{update}: cannot be read: {error}") from error
        write_whole(update, renewed(text, str(update), found))
    else:
        print_result(as_json, lambda: tasks_as_dicts(found), lambda: lay_out_tasks(found))
    attempt.finish()


@run.callback(invoke_without_command=True)
def _run(ctx: typer.Context) -> None:
    from parley.terminal.console import print_output, table

    if ctx.invoked_subcommand is None:
        rows, broken = [], []
        for dataset, jobs in each_jobs().items():
            if isinstance(jobs, ParleyError):
                broken.append(jobs)
            else:
                rows += [(dataset, name, job.summary) for name, job in jobs.items()]
        print_output(table(("dataset", "job", "summary~"), rows))
        if broken:
            raise Failures(broken)
