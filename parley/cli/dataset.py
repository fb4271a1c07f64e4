"""Commands for dataset folders: new, pin, card, check."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from parley.cli.common import AsJson, Attempts, Name, Names, app, print_line, print_result, select


@app.command()
def new(
    name: Name,
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="The parent folder: writes DIR/NAME.")
    ],
) -> None:
    """Start a dataset: a folder of two invented dialogues, to edit.

    It passes `parley check` and builds.
    """
    from parley.authoring.new import write_skeleton

    print_line(f"wrote {write_skeleton(name, folder)}; edit it, and check it with")
    print_line(f"PARLEY_DATASETS={shlex.quote(str(folder))} parley check {name}")


@app.command()
def pin(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="An upstream file or folder.")],
    url: Annotated[
        str, typer.Argument(metavar="URL", show_default=False, help="Where upstream has it.")
    ] = "",
) -> None:
    """Print the line of pins.py for a file or folder: URL, size and hash."""
    from parley.authoring.pin import pin_line

    typer.echo(pin_line(path, url))


@app.command()
def card(names: Names = None) -> None:
    """Renew the generated parts and counted numbers of the datasets' own cards.

    They come from the script, the sample and measured.json.
    """
    from parley.base.disk import write_whole
    from parley.builds.card import renewed_card

    attempt = Attempts()
    for dataset in select(names):
        with attempt():
            text = renewed_card(dataset)
            if is_new := text != dataset.read_card():
                write_whole(dataset.card, text)
            print_line(f"{dataset.card}: {'renewed' if is_new else 'no change'}")
    attempt.finish()


@app.command()
def check(names: Names = None, as_json: AsJson = False) -> None:
    """Check dataset folders: script, card, sample and other modules.

    Needs no upstream files. Exit status 1 if a rule is broken.
    """
    from parley.authoring.rules import check_folder
    from parley.base.console import progress
    from parley.cli.report import checked

    with progress() as advance:
        found = {dataset.name: check_folder(dataset, advance) for dataset in select(names)}
    value = [
        {"dataset": name, "checks": [{**vars(each), "failed": each.failed} for each in checks]}
        for name, checks in found.items()
    ]
    print_result(as_json, value, checked, found)
    if any(check.failed for checks in found.values() for check in checks):
        raise typer.Exit(1)
