"""`parley export`."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from parley.cli.commands import single_command
from parley.cli.common import BuildDir, Name, completing, print_line, read_ids
from parley.declaration.registry import get
from parley.read.export.export import export, formats, without_dialogues
from parley.rows.folder import find_folder

app = single_command()


@app.command("export")
def export_command(
    name: Name,
    format: Annotated[
        str,
        Argument(
            metavar="FORMAT",
            help="A format of the dataset.",
            autocompletion=completing(formats),
        ),
    ],
    target: Annotated[Path, Argument(metavar="DIR", help="A new folder.")],
    folder: BuildDir = Path("build"),
    ids: Annotated[
        Path | None,
        Option(metavar="FILE", help="Only these dialogues, one id a line (csv, jsonl)."),
    ] = None,
) -> None:
    """Write a build in another format into a new folder."""
    built = find_folder(folder, get(name))
    files = export(built, format, target, read_ids(ids))
    kind = "the invented sample, no data of the dataset; " if built.is_sample else ""
    print_line(f"{name} as {format}, in {target}/: {kind}{', '.join(files)}")
    if ids and (left_out := without_dialogues(built)):
        why = "their rows belong to no single dialogue"
        print_line(f"left out, as {why}: {', '.join(left_out)}")
