"""`parley new`."""

import shlex
from pathlib import Path
from typing import Annotated

from typer import Argument

from parley.authoring.new import write_skeleton
from parley.cli.commands import single_command
from parley.cli.common import Name, print_line

app = single_command()


@app.command("new")
def new_command(
    name: Name,
    folder: Annotated[Path, Argument(metavar="DIR", help="The parent folder: writes DIR/NAME.")],
) -> None:
    """Start a dataset: a folder of two invented dialogues, to edit.

    It passes `parley check` and builds.
    """
    print_line(f"wrote {write_skeleton(name, folder)}; edit it, and check it with")
    print_line(f"PARLEY_DATASETS={shlex.quote(str(folder))} parley check {name}")
