"""`parley charts`."""

from pathlib import Path
from typing import Annotated

from typer import Argument

from parley.cli.commands import single_command
from parley.cli.common import BuildDir, Name, print_line
from parley.declaration.registry import get
from parley.read.site.build_charts import write_charts
from parley.rows.folder import find_folder

app = single_command()


@app.command("charts")
def charts_command(
    name: Name,
    target: Annotated[Path, Argument(metavar="DIR", help="A new folder.")],
    folder: BuildDir = Path("build"),
) -> None:
    """Write the charts of a build as SVG files, into a new folder."""
    files = write_charts(find_folder(folder, get(name)), target)
    print_line(f"charts of {name}, in {target}/: {', '.join(files)}")
