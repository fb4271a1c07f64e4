"""The jobs that dataset folders declare: `parley run`, and the options of `parley fetch`."""

from typing import Any

import typer

from parley.base.errors import Failures, ParleyError, ScriptError, UsageError
from parley.building.collection import discover, get
from parley.cli.common import PLAIN, Command, Group, app, command_of
from parley.declaring.jobs import Job

# `Any` stands for types of click, which Typer keeps in different places by version.


def each_jobs() -> dict[str, dict[str, Job] | ScriptError]:
    """Return dataset -> its jobs, or the error of its `jobs.py`; skip datasets without jobs."""
    found: dict[str, dict[str, Job] | ScriptError] = {}
    for name, dataset in discover().items():
        try:
            if jobs := dataset.jobs:
                found[name] = jobs
        except ScriptError as error:
            found[name] = error
    return found


class _AllJobs(Group):
    """The group `parley run`, with a subgroup for each dataset that has jobs."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the datasets with jobs or a broken `jobs.py`."""
        return list(each_jobs())

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the group of a dataset's jobs, or raise UsageError."""
        dataset = get(cmd_name)
        try:
            jobs = dataset.jobs
        except ScriptError:  # raised again when a job runs
            return _Jobs.of(dataset, f"Jobs of {cmd_name}; its jobs.py is broken.")
        if not jobs:
            there = ", ".join(self.list_commands(ctx))
            raise UsageError(f"{cmd_name} has no jobs; these datasets have some: {there}")
        return _Jobs.of(dataset, f"Jobs of {cmd_name}: {', '.join(jobs)}.")


class _Jobs(Group):
    """The jobs of one dataset."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of its jobs."""
        return list(self.dataset.jobs)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the command of a job, or None."""
        if (job := self.dataset.jobs.get(cmd_name)) is None:
            return None
        try:
            return command_of(job.run, cmd_name, Command, short_help=job.summary)
        except Exception as error:  # Typer's, for an unsupported parameter
            where = f"{self.dataset.folder / 'jobs.py'}: JOBS[{cmd_name!r}]"
            raise ScriptError(f"{where}: not a command: {error}") from error


class Fetch(Command):
    """`parley fetch`, with an option for the parts of each job."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters."""
        try:
            found = list(each_jobs().values())
        except ParleyError:  # raised again by the command; help works without
            found = []
        words = [job.part for jobs in found if isinstance(jobs, dict) for job in jobs.values()]
        params = super().get_params(ctx)
        for param in params:
            if param.name == "part":
                param.opts = list(dict.fromkeys(f"--{word}" for word in words)) or ["--part"]
        return params

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse arguments; report broken `jobs.py` files with an unknown option."""
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            broken = [jobs for jobs in each_jobs().values() if isinstance(jobs, ScriptError)]
            if not broken or type(error).__name__ != "NoSuchOption":
                raise
            raise Failures([UsageError(f"{error}"), *broken]) from error


run = typer.Typer(
    cls=_AllJobs, help="Run a job of a dataset; without arguments, list the jobs.", **PLAIN
)
app.add_typer(run, name="run")


@run.callback(invoke_without_command=True)
def _run(ctx: typer.Context) -> None:
    from parley.base.console import print_output, table

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
