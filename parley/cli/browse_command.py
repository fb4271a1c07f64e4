"""`parley browse`."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from typer import Option

from parley.base.console import print_message
from parley.base.errors import Interrupted, UsageError
from parley.cli.commands import single_command
from parley.cli.common import BuildOrOther, Catalogue, Names, Sample, open_built
from parley.cli.samples import built_or_samples
from parley.read.dialogues import require_dialogues
from parley.read.site.page_data import Selection
from parley.read.site.user_files import UserFiles
from parley.read.sql import builds_in, connect, ids, named_in
from parley.rows.folder import BuiltFolder

_WHERE = (
    "Show the dialogues whose ids a query of `parley sql` has in its first column, in its order."
)
_WITH = "Show a file's rows beside the dialogues, turns or sides whose keys they have; repeatable."

app = single_command()


@app.command("browse")
def browse_command(
    names: Names = None,
    folder: BuildOrOther = None,
    sample: Sample = False,
    where: Annotated[str | None, Option("--where", metavar="QUERY", help=_WHERE)] = None,
    files: Annotated[list[Path] | None, Option("--with", metavar="FILE", help=_WITH)] = None,
    catalogue: Catalogue = None,
    port: Annotated[int, Option(min=0, max=65535, show_default="a free one", help="The port.")] = 0,
    open_: Annotated[bool, Option("--open/--no-open", help="Open the browser.")] = True,
) -> None:
    """Show builds, or the samples, in a browser until Ctrl-C.

    A dataset is read when its first page is opened.
    """
    from parley.read.site.serve import browse

    try:
        with built_or_samples(folder, sample, names) as place:
            folders = open_built(names, place, catalogue)
            selection = Selection()
            if where is not None or files:
                selection = _selection(where, files or [], place, folders)
            selection = replace(selection, catalogue=catalogue)
            browse(folders, selection, port=port, open_browser=open_, is_kept=not sample)
    except Interrupted:
        return


def _selection(
    query: str | None, files: list[Path], place: Path, folders: list[BuiltFolder]
) -> Selection:
    """Return a query with the ids that it finds, and files; say how many, and how they differ."""
    if len(folders) != 1:
        raise UsageError("--where and --with take the name of one dataset: parley browse NAME …")
    (built,) = folders
    selection = Selection()
    if query is not None:
        with connect(named_in(query, builds_in(place)), read_only=True) as connection:
            dialogues = ids(connection, query, built)
        require_dialogues(built, dialogues)
        print_message(f"{len(dialogues):,} dialogues")
        selection = Selection(query.strip().rstrip(";"), dialogues)
    if files:
        user_files = UserFiles(built, files)
        print_message("\n".join(user_files.notes))
        selection = replace(selection, files=user_files)
    return selection
