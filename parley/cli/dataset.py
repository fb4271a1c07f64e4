"""Commands for dataset folders: new, pin, card, check."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from parley.base.errors import UsageError
from parley.cli.common import AsJson, Attempts, Name, Names, app, print_line, print_result, select


@app.command()
def new(
    name: Name,
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="The parent folder: writes DIR/NAME.")
    ],
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="FILE", help="Upstream files or folders to draft from."),
    ] = None,
    turns: Annotated[
        str, typer.Option(metavar="FIELD", help="The field of a record that lists its turns.")
    ] = "",
    speaker: Annotated[
        str, typer.Option(metavar="FIELD", help="Who speaks: of a turn, or a list beside --text.")
    ] = "",
    text: Annotated[
        str, typer.Option(metavar="FIELD", help="What is said: of a turn, or a list.")
    ] = "",
    dialogue: Annotated[
        str, typer.Option(metavar="FIELD", help="The dialogue of a row that is a turn.")
    ] = "",
) -> None:
    """Start a dataset: a skeleton to edit, or a draft from upstream's files.

    A draft declares the fields, types, labels and key of the records, has an invented sample,
    passes `parley check`, and builds from the files. Where its dialogues are, you state.
    """
    from parley.authoring.starting.draft import Stated
    from parley.authoring.starting.new import write_draft, write_skeleton

    stated = Stated(turns, speaker, text, dialogue)
    if not files and stated != Stated():
        raise UsageError("--turns, --speaker, --text and --dialogue need files to draft from")
    made, notes = (
        write_draft(name, folder, files, stated) if files else (write_skeleton(name, folder), ())
    )
    for line in notes:
        print_line(line)
    print_line(f"wrote {made}; edit it, and check it with")
    print_line(f"PARLEY_DATASETS={shlex.quote(str(folder))} parley check {name}")
    if files:
        print_line(f"build it with `parley build {name} --source DIR`, the files in DIR/{name}/")


@app.command()
def pin(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="An upstream file or folder.")],
    url: Annotated[
        str, typer.Argument(metavar="URL", show_default=False, help="Where upstream has it.")
    ] = "",
) -> None:
    """Print the line of pins.py for a file or folder: URL, size and hash."""
    from parley.authoring.starting.files import pin_line

    typer.echo(pin_line(path, url))


@app.command()
def card(names: Names = None) -> None:
    """Renew the generated parts and counted numbers of the datasets' own cards.

    They come from the script, the sample and measured.json.
    """
    from parley.base.replace import write_whole
    from parley.building.card import renewed_card

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
    from parley.authoring.linting.run import check_folder
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
