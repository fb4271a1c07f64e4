"""The jobs that dataset folders declare: `parley run`."""

from typing import Annotated, Any

import typer
from typer import Argument
from typer.core import TyperCommand

from parley.base.errors import ScriptError
from parley.cli.common import Attempts, app, dataset_names
from parley.declaration.jobs import Job
from parley.declaration.registry import get


def _words(ctx: typer.Context) -> list[str]:
    """Complete the name of a dataset, then those of its jobs."""
    given = ctx.params.get("arguments") or []
    return list(get(given[0]).jobs) if len(given) == 1 else [] if given else dataset_names()


@app.command(context_settings={"allow_interspersed_args": False})
def run(
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
    given = arguments or []
    if len(given) < 2 or given[1].startswith("-"):
        _list_jobs(given[:1] or dataset_names())
        return
    name, job, *options = given
    command = _command(name, job, get(name).job(job))
    command.main(options, prog_name=f"parley run {name} {job}", standalone_mode=False)


class _Command(TyperCommand):
    """The command of a job: its help, which a stranger may have written, cannot act."""

    def get_help(self, ctx: Any) -> str:  # a type of click, which Typer keeps in different places
        """Return the help, with control characters escaped."""
        from parley.base.console import plain

        return plain(super().get_help(ctx))


def _command(name: str, job: str, declared: Job) -> Any:
    help_options = {"help_option_names": ["-h", "--help"]}
    single = typer.Typer(add_completion=False, rich_markup_mode=None)
    single.command(job, cls=_Command, context_settings=help_options)(declared.run)
    try:
        return typer.main.get_command(single)
    except Exception as error:  # Typer's, for an unsupported parameter
        where = f"{get(name).folder / 'jobs.py'}: JOBS[{job!r}]"
        raise ScriptError(f"{where}: not a command: {error}") from error


def _list_jobs(names: list[str]) -> None:
    """Print the jobs of datasets, then the errors of broken `jobs.py` files."""
    from parley.base.console import print_output
    from parley.cli.tables import table

    rows: list[tuple[str, str, str]] = []
    attempt = Attempts()
    for name in names:
        with attempt():
            rows += [(name, each, job.summary) for each, job in get(name).jobs.items()]
    if rows or not attempt.failed:
        print_output(table(("dataset", "job", "summary~"), rows))
    attempt.finish()
