"""Options and arguments that commands share, and how a shell completes them."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option

from parley.base.console import plain
from parley.base.errors import ParleyError
from parley.declaration.registry import discover, get


def dataset_names() -> list[str]:
    """Return the names of datasets, for a shell to complete."""
    return [*map(plain, discover())]


def completing(words: Callable[..., Iterable[str]]) -> Callable[[typer.Context], list[str]]:
    """Return a function that completes an argument by the dataset, or its task, named before."""

    def complete(ctx: typer.Context) -> list[str]:
        name, task = ctx.params.get("name") or "", ctx.params.get("task")
        if not name:  # before an option's value
            name, task = (*ctx.args, "", "")[:2]
        try:
            dataset = get(name)
            return [*map(plain, words(dataset.task(task) if task else dataset))]
        except (ParleyError, AttributeError):  # the command says what is wrong
            return []

    return complete


def output(what: str, metavar: str = "FILE") -> Any:
    """Return the option of the one file or folder that a command writes."""
    return Option("--output", "-o", metavar=metavar, help=what)


Name = Annotated[str, Argument(metavar="NAME", help="A dataset.", autocompletion=dataset_names)]
Names = Annotated[
    list[str] | None,
    Argument(metavar="NAME", help="Datasets [default: all].", autocompletion=dataset_names),
]
_SOURCE = "Upstream files, a folder per dataset [default: PARLEY_SOURCE, else the cache]."
SourceDir = Annotated[Path | None, Option("--source", metavar="DIR", help=_SOURCE)]
_BUILDS = "The folder of builds, a folder per dataset"
BuildDir = Annotated[Path, Option("--build", metavar="DIR", help=f"{_BUILDS}.")]
_OTHER = f"{_BUILDS} [default: build]."
BuildOrOther = Annotated[Path | None, Option("--build", metavar="DIR", help=_OTHER)]
Sample = Annotated[bool, Option("--sample", help="Use the invented samples of the datasets.")]
_OVERWRITE = "Replace an existing file in one step, but never a file that is named as input."
Overwrite = Annotated[bool, Option("--overwrite", help=_OVERWRITE)]
AsJson = Annotated[bool, Option("--json", help="Print JSON.")]
