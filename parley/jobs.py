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
from parley.errors import UsageError

Sources = Mapping[str, Mapping[str, Any]]
"""File -> its pin, in the form of a dataset's SOURCES."""


@dataclass(frozen=True)
class Job:
    """Something that can be done with a dataset.

    Args:
        run: Does it.
        sources: Part -> the files that `parley fetch NAME --for JOB` brings for it, by their
            paths in the folder that the job then takes as `--input`.
        part: What a part is called, and so the option of `parley fetch` that names one.
    """

    run: Callable[..., None]
    sources: Mapping[str, Sources] = field(default_factory=dict)
    part: str = "part"

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


def find(dataset: Dataset, name: str) -> Job:
    """Return the job of this name, or raise UsageError naming those that exist."""
    if name not in dataset.jobs:
        raise UsageError(
            f"{dataset.name} has no job {name!r}; there are: {', '.join(dataset.jobs) or 'none'}"
        )
    job: Job = dataset.jobs[name]
    return job


class Jobs(TyperGroup):
    """The group `parley run`: a group of jobs for each dataset that has some."""

    # What is Any here is click's, which Typer has in one place or another, by its version.

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the datasets that have jobs."""
        return [name for name, dataset in discover().items() if dataset.jobs]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the group of a dataset's jobs, or raise UsageError."""
        jobs = get(cmd_name).jobs
        if not jobs:
            raise UsageError(
                f"{cmd_name} has no jobs; there are some of: {', '.join(self.list_commands(ctx))}"
            )
        group = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None)
        group.callback(help=f"Jobs of {cmd_name}: {', '.join(jobs)}.")(lambda: None)
        for name, job in jobs.items():
            group.command(name)(job.run)
        command = typer.main.get_command(group)
        command.name = cmd_name
        return command


class Fetch(TyperCommand):
    """`parley fetch`, whose option for a part has the names that the jobs give it."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters."""
        words = (job.part for dataset in discover().values() for job in dataset.jobs.values())
        params = super().get_params(ctx)
        for param in params:
            if param.name == "part":
                param.opts = list(dict.fromkeys(f"--{word}" for word in words)) or ["--part"]
        return params
