"""`parley pin`."""

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument

from parley.authoring.pin import pin_line
from parley.cli.commands import single_command

app = single_command()


@app.command("pin")
def pin_command(
    path: Annotated[Path, Argument(metavar="PATH", help="An upstream file or folder.")],
    url: Annotated[
        str, Argument(metavar="URL", show_default=False, help="Where upstream has it.")
    ] = "",
) -> None:
    """Print the line of pins.py for a file or folder: URL, size and hash."""
    typer.echo(pin_line(path, url))
