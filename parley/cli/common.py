"""Parts that all commands share: the application, options, selection and output.

Commands import heavy modules in their bodies, so that help is quick.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option
from typer.core import TyperGroup

from parley.base.errors import Failures, ParleyError, UsageError, require_utf8
from parley.base.version import __version__
from parley.declaration.registry import Dataset, discover, get

if TYPE_CHECKING:
    from rich.console import RenderableType


_GROUPS = {
    "From upstream to a build": "list fetch build verify diff",
    "Reading": "show sql browse site charts export run",
    "Tasks and models": "tasks score compare",
    "The Hub": "publish",
    "A dataset of your own": "new pin check card",
}  # heading -> commands, in the order of work


class _Commands(TyperGroup):
    """All commands, in groups."""

    # `Any` stands for types of click, which Typer keeps in different places by version.

    def make_context(self, info_name: Any, args: list[str], *more: Any, **kwargs: Any) -> Any:
        """Parse the options before a command, and refuse arguments that are not UTF-8."""
        for arg in args:
            require_utf8(arg)
        return super().make_context(info_name, args, *more, **kwargs)

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names in the order of work."""
        return " ".join(_GROUPS.values()).split()

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the list of commands, a section for each group."""
        for heading, names in _GROUPS.items():
            commands: dict[str, Any] = {name: self.get_command(ctx, name) for name in names.split()}
            with formatter.section(heading):  # each with its whole first line, not cut
                formatter.write_dl([(n, each.help.split("\n")[0]) for n, each in commands.items()])


app = typer.Typer(
    name="parley",
    cls=_Commands,
    help="Build, check and read dialogue datasets as Hub folders that load everywhere.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def dataset_names() -> list[str]:
    """Return the names of datasets, for a shell to complete."""
    return [*discover()]


def completing(words: Callable[..., Iterable[str]]) -> Callable[[typer.Context], list[str]]:
    """Return a function that completes an argument by the dataset, or its task, named before."""

    def complete(ctx: typer.Context) -> list[str]:
        named: list[Any] = [ctx.params.get(each) for each in ("name", "task")]
        name, task = named if named[0] else (*ctx.args, "", "")[:2]  # before an option's value
        try:
            dataset = get(name)
            return [*words(dataset.task(task) if task else dataset)]
        except (ParleyError, AttributeError):  # the command says what is wrong
            return []

    return complete


Name = Annotated[str, Argument(metavar="NAME", help="A dataset.", autocompletion=dataset_names)]
Names = Annotated[
    list[str] | None,
    Argument(metavar="NAME", help="Datasets [default: all].", autocompletion=dataset_names),
]
_SOURCE = "Upstream files, a folder per dataset [default: PARLEY_SOURCE, else the cache]."
SourceDir = Annotated[Path | None, Option("--source", metavar="DIR", help=_SOURCE)]
BuildDir = Annotated[
    Path, Option("--build", metavar="DIR", help="Builds, in one folder per dataset.")
]
_BUILDS = "Builds, in one folder per dataset [default: build]."
BuildOrOther = Annotated[Path | None, Option("--build", metavar="DIR", help=_BUILDS)]
Sample = Annotated[bool, Option("--sample", help="Use the invented samples of the datasets.")]
AsJson = Annotated[bool, Option("--json", help="Print JSON.")]
UNREAD = "Count unreadable predictions as wrong, or drop them: wrong, drop."


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"parley {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


def require_file(option: str, path: Path) -> None:
    """Raise UsageError unless a path is a regular file; to read a pipe could wait for ever."""
    if not path.is_file():
        what = "not a regular file" if path.exists() else "no such file"
        raise UsageError(f"{option} {path}: {what}")


def options_of(given: list[str] | None) -> dict[str, str]:
    """Return the values of `--set K=V`, or raise UsageError."""
    found: dict[str, str] = {}
    for each in given or ():
        key, equals, value = each.partition("=")
        if not (key and equals) or key in found:
            raise UsageError(f"--set {each}: expected K=V, each K once")
        found[key] = value
    return found


def read_file(option: str, path: Path) -> str:
    """Return the text of a file, or raise UsageError."""
    require_file(option, path)
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise UsageError(f"{option} {path}: cannot be read: {error}") from error


def read_ids(file: Path | None) -> list[str] | None:
    """Return the lines of a file of ids, or raise UsageError."""
    if file is None:
        return None
    if not (ids := [line for line in read_file("--ids", file).split("\n") if line]):
        raise UsageError(f"--ids {file}: has no ids")
    return ids


def select(names: list[str] | None) -> list[Dataset]:
    """Return the named datasets, or all."""
    return [get(name) for name in dict.fromkeys(names)] if names else list(discover().values())


def select_built(names: list[str] | None, folder: Path) -> list[Dataset]:
    """Return the selected datasets with a build; UsageError if a named one, or each, has none."""
    from parley.rows.folder import find_folder

    chosen = select(names)
    built = [dataset for dataset in chosen if (folder / dataset.name).is_dir()]
    for dataset in chosen if names or not built else ():
        find_folder(folder, dataset)  # raises an error that says how to build
    if absent := [dataset.name for dataset in chosen if dataset not in built]:
        from parley.base.console import print_message

        print_message(f"not built, and so left out: {', '.join(absent)}", "yellow")
    return built


@contextmanager
def built_or_samples(
    folder: Path | None, sample: bool, names: list[str] | None = None
) -> Iterator[Path]:
    """Yield the folder of `--build`, or, with `--sample`, a temporary one of built samples."""
    if not sample:
        yield folder or Path("build")
        return
    if folder is not None:
        raise UsageError("--sample excludes --build")
    from parley.base.disk import temporary_folder
    from parley.builds.build import build
    from parley.rows.upstream import open_source

    with temporary_folder("samples") as place:
        for dataset in select(names):
            build(open_source(dataset, None, sample=True), place)
        yield place


class Attempts:
    """Collects the errors of single datasets, so that one does not stop the others."""

    def __init__(self) -> None:
        self.failed: list[ParleyError] = []

    @contextmanager
    def __call__(self) -> Iterator[None]:
        """Keep an error that the block raises."""
        try:
            yield
        except ParleyError as error:
            self.failed.append(error)

    def finish(self) -> None:
        """Raise the kept errors together."""
        if self.failed:
            raise Failures(self.failed)


def print_result(
    as_json: bool, value: Any, layout: Callable[..., "RenderableType"], *arguments: Any
) -> None:
    """Print a value as JSON, or what `layout` makes of the arguments for people."""
    from parley.base.console import print_output, to_json

    if as_json:
        typer.echo(to_json(value))
    else:
        print_output(layout(*arguments))


def print_line(text: str) -> None:
    """Print a line, with control characters escaped."""
    from parley.base.console import plain, print_output

    print_output(plain(text))
