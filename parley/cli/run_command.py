"""`parley run`: the jobs that dataset folders declare."""

from typing import Annotated, Any

import typer
from typer import Argument
from typer.core import TyperCommand

from parley.base.console import plain, print_output
from parley.base.errors import ScriptError
from parley.cli.commands import single_command
from parley.cli.common import Attempts, dataset_names
from parley.cli.tables import table
from parley.declaration.jobs import Job
from parley.declaration.registry import get

app = single_command()


def _words(ctx: typer.Context) -> list[str]:
    """Complete the name of a dataset, then those of its jobs."""
    words = ctx.params.get("arguments") or []
    if not words:
        return dataset_names()
    return list(get(words[0]).jobs) if len(words) == 1 else []


@app.command("run", context_settings={"allow_interspersed_args": False})
def run_command(
    arguments: Annotated[
        list[str] | None,
        Argument(
            metavar="[NAME JOB [OPTION]...]",
            help="A dataset, its job and the job's options; --help lists them.",
            autocompletion=_words,
        ),
    ] = None,
) -> None:
    """Run a job of a dataset; without a job, list the jobs."""
    words = arguments or []
    if len(words) < 2 or words[1].startswith("-"):
        _list_jobs(words[:1] or dataset_names())
        return
    name, job, *options = words
    command = _job_command(name, job, get(name).job(job))
    command.main(options, prog_name=f"parley run {name} {job}", standalone_mode=False)


class _Command(TyperCommand):
    """The command of a job: its help, which a stranger may have written, cannot act."""

    def get_help(self, ctx: Any) -> str:  # a type of click, which Typer keeps in different places
        """Return the help, with control characters escaped."""
        return plain(super().get_help(ctx))


def _job_command(name: str, job: str, declared: Job) -> Any:
    help_options = {"help_option_names": ["-h", "--help"]}
    of_job = single_command()
    of_job.command(job, cls=_Command, context_settings=help_options)(declared.run)
    try:
        return typer.main.get_command(of_job)
    except Exception as error:  # Typer's, for an unsupported parameter
        where = f"{get(name).folder / 'jobs.py'}: JOBS[{job!r}]"
        raise ScriptError(f"{where}: not a command: {error}") from error


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
