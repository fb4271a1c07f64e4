"""Jobs: further commands of a dataset (`parley run NAME JOB`).

`jobs.py` of a dataset folder declares them. A job is a function like a Typer command: its
parameters are the options, its docstring the help:

    JOBS = {"catalogue": Job(catalogue, SOURCES)}

Jobs import optional packages when they run, so help works without them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from parley.base.errors import Problem, ScriptError, require_known
from parley.source.hashes import Pin


@dataclass(frozen=True)
class Job:
    """A command of a dataset; ScriptError if it has no docstring, or a file no pin.

    Args:
        run: The function.
        sources: Part -> file -> pin, with url, size, and sha256 or git_blob: `parley fetch NAME
            --job JOB` fetches these files, or those of a `--part`, into the folder that the job
            takes as `--input`.
    """

    run: Callable[..., None]
    sources: Mapping[str, Mapping[str, Pin]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        problems = [] if self.run.__doc__ else [Problem("run", "a docstring, which is its help")]
        for file, pin in self.sources_of(None).items():
            if not {"url", "size"} <= pin.keys() or not pin.keys() & {"sha256", "git_blob"}:
                problems.append(Problem(file, "url, size and a hash", ", ".join(pin)))
        if problems:
            raise ScriptError("Job", *problems)

    @property
    def summary(self) -> str:
        """The first line of its help."""
        return (self.run.__doc__ or "").strip().split("\n")[0]

    def sources_of(self, parts: list[str] | None) -> dict[str, Pin]:
        """Return file -> pin of these parts, or of all; UsageError if there is no such part."""
        for part in parts or ():
            require_known("the job", "part", part, self.sources)
        chosen = parts or self.sources
        return {file: pin for part in chosen for file, pin in self.sources[part].items()}
