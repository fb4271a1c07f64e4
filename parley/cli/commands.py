"""The application: the list of commands, and the group that imports a command when it is run.

Commands that share imports share a module. The imports stand at its top, but for those that bring
a package that is slow to import or belongs to an extra: help and completion should not need it.
"""

import ast
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Option
from typer.core import TyperCommand, TyperGroup

from parley.base.errors import require_utf8
from parley.base.version import __version__
from parley.cli.examples import EXAMPLES

# heading -> commands, in the order of work
GROUPS = {
    "From upstream to a build": ("list", "fetch", "build", "verify", "diff"),
    "Reading": ("show", "sql", "browse", "site", "charts", "export", "run"),
    "Labels, tasks and models": ("labels", "tasks", "questions", "score", "compare"),
    "The Hub": ("publish",),
    "A dataset of your own": ("new", "pin", "check", "card"),
}
# NAME -> its commands, each a function in parley/cli/NAME_commands.py
MODULES = {
    "authoring": ("new", "pin", "card"),
    "browse": ("sql", "browse", "site"),
    "build": ("fetch", "build", "publish"),
    "dataset": ("list", "tasks", "run"),
    "labels": ("labels",),
    "score": ("questions", "score", "compare"),
    "show": ("show", "charts", "export"),
    "verify": ("verify", "diff", "check"),
}
NAMES = [name for group in GROUPS.values() for name in group]


def summaries() -> dict[str, str]:
    """Return command -> the first line of its help, without an import of its module."""
    found: dict[str, str] = {}
    for module, names in MODULES.items():
        source = Path(__file__).with_name(f"{module}_commands.py").read_text(encoding="utf-8")
        functions = [each for each in ast.parse(source).body if isinstance(each, ast.FunctionDef)]
        texts = {each.name: ast.get_docstring(each) or "" for each in functions}
        found |= {name: texts[f"{name}_command"].partition("\n")[0] for name in names}
    return found


class _Commands(TyperGroup):
    """All commands, in groups; to list them imports none of their modules."""

    # `Any` stands for types of click, which Typer keeps in different places by version.

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands = {name: TyperCommand(name) for name in NAMES}

    def make_context(self, info_name: Any, args: list[str], *more: Any, **kwargs: Any) -> Any:
        """Parse the options before a command, and refuse arguments that are not UTF-8."""
        for arg in args:
            require_utf8(arg)
        return super().make_context(info_name, args, *more, **kwargs)

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names in the order of work."""
        return NAMES

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Import the module of a command, and return the command; None if there is none."""
        for name, commands in MODULES.items():
            if cmd_name in commands:
                module = import_module(f"parley.cli.{name}_commands")
                function = getattr(module, f"{cmd_name}_command")
                # what follows the name of a job belongs to the job
                is_free = cmd_name != "run"
                command = as_command(cmd_name, function, allow_interspersed_args=is_free)
                command.epilog = _examples(cmd_name)
                return command
        return None

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the list of commands, a section for each group, no summary cut."""
        texts = summaries()
        for heading, names in GROUPS.items():
            with formatter.section(heading):
                formatter.write_dl([(name, texts[name]) for name in names])

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """Complete the name of a command, or an option."""
        known = TyperGroup(params=self.params)
        known.commands = {name: TyperCommand(name, help=text) for name, text in summaries().items()}
        return known.shell_complete(typer.Context(known, **self.context_settings), incomplete)


def _examples(start: str) -> str:
    # click keeps the lines of a paragraph that begins with this character
    lines = [line for line in EXAMPLES.splitlines() if line.startswith(f"parley {start} ")]
    return "\n    ".join(["Examples:\n\n\b", *lines])


app = typer.Typer(
    name="parley",
    cls=_Commands,
    help="Build, check and read dialogue datasets as Hub folders that load everywhere.",
    epilog=_examples("build"),
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
    command: Any = typer.main.get_command(single)
    for each in command.params:
        if each.param_type_name == "argument":  # its metavar says more than its type in Python
            each.display_type_rich = lambda ctx: None
    return command


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
