"""A dataset of your own: `parley new`, `parley pin` and `parley card`."""

import shlex
from pathlib import Path
from typing import Annotated

from typer import Argument, echo

from parley.authoring.new import write_skeleton
from parley.authoring.pin import pin_line
from parley.base.replace import write_whole
from parley.builds.card import renewed_card
from parley.cli.common import Attempts, print_line, select
from parley.cli.options import Name, Names


def new_command(
    name: Name,
    folder: Annotated[Path, Argument(metavar="DIR", help="The parent folder: writes DIR/NAME.")],
) -> None:
    """Start a dataset: a folder of two invented dialogues, to edit.

    It passes `parley check` and builds.
    """
    print_line(f"wrote {write_skeleton(name, folder)}; edit it, and check it with")
    print_line(f"PARLEY_DATASETS={shlex.quote(str(folder))} parley check {name}")


def pin_command(
    path: Annotated[Path, Argument(metavar="PATH", help="An upstream file or folder.")],
    url: Annotated[
        str, Argument(metavar="URL", show_default=False, help="Where upstream publishes it.")
    ] = "",
) -> None:
    """Print the line of pins.py for a file or folder: URL, size and hash."""
    echo(pin_line(path, url))


def card_command(names: Names = None) -> None:
    """Renew the generated parts and counted numbers of the datasets' own cards.

    They come from the script, the sample and measured.json.
    """
    attempt = Attempts()
    for dataset in select(names):
        with attempt():
            text = renewed_card(dataset)
            if is_new := text != dataset.read_card():
                write_whole(dataset.card, text)
            print_line(f"{dataset.card}: {'renewed' if is_new else 'no change'}")
    attempt.finish()
