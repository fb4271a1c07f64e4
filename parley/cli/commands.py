"""The application: the list of commands, and the group that imports a command when it is run.

Commands that share imports share a module. The imports stand at its top, but for those that bring
a package that is slow to import or belongs to an extra: help and completion should not need it.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Annotated, Any

import typer
from typer import Option
from typer.core import TyperCommand, TyperGroup

from parley.base.errors import require_utf8
from parley.base.version import __version__

# heading -> command -> the first line of its help, in the order of work
GROUPS = {
    "From upstream to a build": {
        "list": "List datasets: configs, splits, rows, sizes, licences.",
        "fetch": "Download pinned upstream files into the cache; an interrupted download resumes.",
        "build": "Build datasets: checked rows as Parquet, with card and provenance.",
        "verify": "Verify builds: every byte, consistency, round trip, documented figures.",
        "diff": "Compare two builds by splits, rows, fields, schema and figures.",
    },
    "Reading": {
        "show": "Show one dialogue of a build, a source or the sample, "
        "or the fields of each config.",
        "sql": "Ask builds a question in SQL: each config is a table, DATASET.CONFIG.",
        "browse": "Show builds, or the samples, in a browser until Ctrl-C.",
        "site": "Write builds as a page to read, search and filter in a browser.",
        "charts": "Write the charts of a build as SVG files, into a new folder.",
        "export": "Write a build in another format into a new folder.",
        "run": "Run a job of a dataset; without a job, list the jobs.",
    },
    "Labels, tasks and models": {
        "labels": "Compare the labels of annotators with each other, and with the dataset's own.",
        "tasks": "List the tasks of each dataset, with their metrics and baselines.",
        "score": "Score predictions on a task, with the documented scores for comparison.",
        "compare": "Compare models by their logs or predictions: "
        "scores with intervals, differences, tokens.",
    },
    "The Hub": {
        "publish": "Verify a build, publish it to the Hub in one commit, read it back and tag it."
    },
    "A dataset of your own": {
        "new": "Start a dataset: a folder of two invented dialogues, to edit.",
        "pin": "Print the line of pins.py for a file or folder: URL, size and hash.",
        "check": "Check dataset folders: script, card, sample and other modules.",
        "card": "Renew the generated parts and counted numbers of the datasets' own cards.",
    },
}
SUMMARIES = {name: summary for group in GROUPS.values() for name, summary in group.items()}
# NAME -> its commands, each a function in parley/cli/NAME_commands.py
MODULES = {
    "authoring": ("new", "pin", "card"),
    "browse": ("sql", "browse", "site"),
    "build": ("fetch", "build", "publish"),
    "dataset": ("list", "tasks", "run"),
    "labels": ("labels",),
    "score": ("score", "compare"),
    "show": ("show", "charts", "export"),
    "verify": ("verify", "diff", "check"),
}


class _Commands(TyperGroup):
    """All commands, in groups; to list them imports none of their modules."""

    # `Any` stands for types of click, which Typer keeps in different places by version.

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands = {name: TyperCommand(name, help=text) for name, text in SUMMARIES.items()}

    def make_context(self, info_name: Any, args: list[str], *more: Any, **kwargs: Any) -> Any:
        """Parse the options before a command, and refuse arguments that are not UTF-8."""
        for arg in args:
            require_utf8(arg)
        return super().make_context(info_name, args, *more, **kwargs)

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names in the order of work."""
        return list(SUMMARIES)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Import the module of a command, and return the command; None if there is none."""
        for name, commands in MODULES.items():
            if cmd_name in commands:
                module = import_module(f"parley.cli.{name}_commands")
                function = getattr(module, f"{cmd_name}_command")
                # what follows the name of a job belongs to the job
                return as_command(cmd_name, function, allow_interspersed_args=cmd_name != "run")
        return None

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the list of commands, a section for each group, no summary cut."""
        for heading, summaries in GROUPS.items():
            with formatter.section(heading):
                formatter.write_dl([*summaries.items()])

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """Complete the name of a command, or an option."""
        known = TyperGroup(params=self.params, commands=dict(self.commands))
        return known.shell_complete(typer.Context(known, **self.context_settings), incomplete)


app = typer.Typer(
    name="parley",
    cls=_Commands,
    help="Build, check and read dialogue datasets as Hub folders that load everywhere.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def as_command(
    name: str, run: Callable[..., Any], cls: type[TyperCommand] = TyperCommand, **settings: Any
) -> Any:
    """Return a function as a command, with these settings of its context."""
    single = typer.Typer(add_completion=False, rich_markup_mode=None)
    single.command(name, cls=cls, context_settings=settings)(run)
    return typer.main.get_command(single)


def _print_version(is_asked: bool) -> None:
    if is_asked:
        typer.echo(f"parley {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass
