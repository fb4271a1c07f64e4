"""What can be done with a dataset beyond building it: `parley run NAME JOB`.

A dataset folder's `jobs.py` names its jobs, each a function whose parameters are its options,
annotated as Typer's commands are, and whose docstring is its help:

    JOBS = {"catalogue": Job(catalogue, SOURCES, part="category")}

What a job needs and is not installed it imports when it runs, so that its help needs nothing.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from parley.collection import Dataset, discover, get
from parley.errors import Failures, ParleyError, Problem, ScriptError, UsageError

Sources = Mapping[str, Mapping[str, Any]]
"""File -> its pin: url, size, and sha256 or git_blob."""


@dataclass(frozen=True)
class Job:
    """Something that can be done with a dataset.

    Args:
        run: Does it.
        sources: Part -> the files that `parley fetch NAME --job JOB` brings for it, by their
            paths in the folder that the job then takes as `--input`.
        part: What a part is called, and so the option of `parley fetch` that names one.

    Raises:
        ScriptError: the function has no docstring, which is its help; or a file is not pinned.
    """

    run: Callable[..., None]
    sources: Mapping[str, Sources] = field(default_factory=dict)
    part: str = "part"

    def __post_init__(self) -> None:
        found = [] if self.run.__doc__ else [Problem("run", "a docstring, which is its help")]
        for file, pin in self.sources_of(None).items():
            if not {"url", "size"} <= pin.keys() or not pin.keys() & {"sha256", "git_blob"}:
                found.append(Problem(file, "url, size and a hash", ", ".join(pin)))
        if found:
            raise ScriptError("Job", *found)

    @property
    def summary(self) -> str:
        """The first line of its help."""
        return (self.run.__doc__ or "").strip().split("\n")[0]

    def sources_of(self, parts: list[str] | None) -> dict[str, Mapping[str, Any]]:
        """Return the files of these parts, or of all, with their pins.

        Raises:
            UsageError: there is no such part.
        """
        if unknown := set(parts or ()) - self.sources.keys():
            raise UsageError(
                f"no {self.part} is named {', '.join(sorted(unknown))}; "
                f"there are: {', '.join(self.sources)}"
            )
        chosen = parts or self.sources
        return {file: pin for part in chosen for file, pin in self.sources[part].items()}


def jobs_of(dataset: Dataset) -> dict[str, Job]:
    """Return the jobs of a dataset by name, none if its folder has no `jobs.py`.

    Raises:
        ScriptError: `jobs.py` cannot be imported, or defines something else.
    """
    jobs = dataset.jobs
    if wrong := {name: job for name, job in jobs.items() if not isinstance(job, Job)}:
        found = [Problem(f"JOBS[{n!r}]", "a Job", type(job).__name__) for n, job in wrong.items()]
        raise ScriptError(str(dataset.folder / "jobs.py"), *found, remedy="Write Job(function).")
    return jobs


def each_jobs() -> dict[str, dict[str, Job] | ScriptError]:
    """Return name -> jobs of each dataset that has some, or the reason why nobody can tell."""
    found: dict[str, dict[str, Job] | ScriptError] = {}
    for name, dataset in discover().items():
        try:
            if jobs := jobs_of(dataset):
                found[name] = jobs
        except ScriptError as error:
            found[name] = error
    return found


def get_job(dataset: Dataset, name: str) -> Job:
    """Return the job of this name, or raise UsageError naming those that exist."""
    jobs = jobs_of(dataset)
    if name not in jobs:
        raise UsageError(
            f"{dataset.name} has no job {name!r}; there are: {', '.join(jobs) or 'none'}"
        )
    return jobs[name]


# What is Any below is click's, which Typer has in one place or another, by its version.


class Jobs(TyperGroup):
    """The group `parley run`: a group of jobs for each dataset that has some."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the datasets that have jobs, or a `jobs.py` that is broken."""
        return list(each_jobs())

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the group of a dataset's jobs, or raise UsageError."""
        dataset = get(cmd_name)
        try:
            jobs = jobs_of(dataset)
        except ScriptError:  # raised again when a job of this dataset is asked for
            summary = f"Jobs of {cmd_name}, whose jobs.py cannot be read."
        else:
            if not jobs:
                there = ", ".join(self.list_commands(ctx))
                raise UsageError(f"{cmd_name} has no jobs; there are some of: {there}")
            summary = f"Jobs of {cmd_name}: {', '.join(jobs)}."
        group = typer.Typer(
            cls=_Jobs, no_args_is_help=True, add_completion=False, rich_markup_mode=None
        )
        group.callback(help=summary, short_help=summary)(lambda: None)
        command: Any = typer.main.get_command(group)
        command.name = cmd_name
        command.dataset = dataset
        return command


class _Jobs(TyperGroup):
    """The jobs of one dataset."""

    dataset: Dataset

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of its jobs."""
        return list(jobs_of(self.dataset))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the command of a job, or None if there is none of this name."""
        if (job := jobs_of(self.dataset).get(cmd_name)) is None:
            return None
        one = typer.Typer(add_completion=False, rich_markup_mode=None)
        one.command(cmd_name, short_help=job.summary)(job.run)
        try:
            return typer.main.get_command(one)
        except Exception as error:  # Typer's, of a parameter that no option can be made of
            where = f"{self.dataset.folder / 'jobs.py'}: JOBS[{cmd_name!r}]"
            raise ScriptError(f"{where}: is no command: {error}") from error


class Fetch(TyperCommand):
    """`parley fetch`, whose option for a part has the names that the jobs give it."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters."""
        try:
            found = list(each_jobs().values())
        except ParleyError:  # raised again by what needs the datasets; help does not
            found = []
        words = [job.part for jobs in found if isinstance(jobs, dict) for job in jobs.values()]
        params = super().get_params(ctx)
        for param in params:
            if param.name == "part":
                param.opts = list(dict.fromkeys(f"--{word}" for word in words)) or ["--part"]
        return params

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse arguments; an option that is not there may be that of a broken `jobs.py`."""
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            broken = [jobs for jobs in each_jobs().values() if isinstance(jobs, ScriptError)]
            if not broken or type(error).__name__ != "NoSuchOption":
                raise
            raise Failures([UsageError(f"{error}"), *broken]) from error
