"""`parley site`."""

from pathlib import Path
from typing import Annotated

from typer import Option

from parley.base.console import progress
from parley.cli.commands import single_command
from parley.cli.common import BuildDir, Catalogue, Names, open_built, print_line
from parley.read.site.page_data import Selection

app = single_command()


@app.command("site")
def site_command(
    names: Names = None,
    folder: BuildDir = Path("build"),
    output: Annotated[Path, Option(metavar="DIR", help="The folder of the site.")] = Path("site"),
    catalogue: Catalogue = None,
) -> None:
    """Write builds as a page to read, search and filter in a browser.

    The page is static files: open its index.html, or put the folder on any host.
    """
    from parley.read.site.site import write_site

    folders = open_built(names, folder, catalogue)
    with progress("dialogues") as advance:
        write_site(folders, output, advance, Selection(catalogue=catalogue))
    print_line(f"{output / 'index.html'}: open it in a browser")
