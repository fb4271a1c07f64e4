"""The jobs that dataset folders declare: `parley run`."""

from typing import Annotated, Any

import typer
from typer import Argument
from typer.core import TyperCommand

from parley.base.errors import Failures, ParleyError, ScriptError
from parley.building.jobs import Job
from parley.building.registry import discover, get
from parley.cli.common import app, dataset_names


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
    """Run a job of a dataset; without arguments, list the jobs."""
    if not arguments:
        _list_jobs()
        return
    name, *more = arguments
    jobs = get(name).jobs
    if not more or more[0].startswith("-"):
        _print_jobs([(name, each, job.summary) for each, job in jobs.items()])
        return
    job, *options = more
    command = _command(name, job, get(name).job(job))
    command.main(options, prog_name=f"parley run {name} {job}", standalone_mode=False)


class _Command(TyperCommand):
    """The command of a job: its help, which a stranger may have written, cannot act."""

    def get_help(self, ctx: Any) -> str:  # a type of click, which Typer keeps in different places
        """Return the help, with control characters escaped."""
        from parley.base.console import plain

        return plain(super().get_help(ctx))


def _command(name: str, job: str, declared: Job) -> TyperCommand:
    """Return the command of a job, or raise ScriptError."""
    help_options = {"help_option_names": ["-h", "--help"]}
    single = typer.Typer(add_completion=False, rich_markup_mode=None)
    single.command(job, cls=_Command, context_settings=help_options)(declared.run)
    try:
        command = typer.main.get_command(single)
    except Exception as error:  # Typer's, for an unsupported parameter
        where = f"{get(name).folder / 'jobs.py'}: JOBS[{job!r}]"
        raise ScriptError(f"{where}: not a command: {error}") from error
    assert isinstance(command, TyperCommand)  # noqa: S101 - for types
    return command


def _list_jobs() -> None:
    """Print the jobs of all datasets, then the errors of broken `jobs.py` files."""
    rows: list[tuple[str, str, str]] = []
    broken: list[ParleyError] = []
    for name, dataset in discover().items():
        try:
            rows += [(name, each, job.summary) for each, job in dataset.jobs.items()]
        except ScriptError as error:
            broken.append(error)
    _print_jobs(rows)
    if broken:
        raise Failures(broken)


def _print_jobs(rows: list[tuple[str, str, str]]) -> None:
    from parley.base.console import print_output
    from parley.cli.tables import table

    print_output(table(("dataset", "job", "summary~"), rows))
