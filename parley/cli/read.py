"""Commands to read dialogues: show, site, browse."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

import parley.cli.common as common
from parley.base.errors import Interrupted, UsageError
from parley.cli.common import AsJson, BuildDir, BuildOrOther, Name, Names, Sample, SourceDir, app
from parley.declaration.registry import get

if TYPE_CHECKING:
    from parley.read.site.page_data import Selection
    from parley.rows.folder import BuiltFolder
    from parley.rows.upstream import Sources

_TITLES = "A folder with the titles of judged documents."
_WHERE = (
    "Show the dialogues whose ids a query of `parley sql` has in its first column, in its order."
)
_WITH = "Show a file's rows beside the dialogues, turns or sides whose keys they have; repeatable."
Catalogue = Annotated[Path | None, Option("--catalogue", metavar="DIR", help=_TITLES)]


@app.command()
def show(
    name: Name,
    id: Annotated[
        str | None,
        Argument(
            metavar="ID",
            help="A dialogue [default: the first]; with --fields a config [default: all].",
            autocompletion=common.completing(lambda dataset: dataset.configs),
        ),
    ] = None,
    folder: BuildOrOther = None,
    source: SourceDir = None,
    sample: Sample = False,
    fields: Annotated[
        bool, Option("--fields", help="Show the fields of configs, not a dialogue.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show one dialogue of a build, a source or the sample, or the fields of each config.

    Without an option, read the build in build/, else PARLEY_SOURCE, else the sample.
    """
    from parley.builds.card_parts import field_tables
    from parley.cli.show import find_dialogue, lay_out, lay_out_fields
    from parley.rows.folder import find_folder
    from parley.rows.upstream import open_source, source_folder

    dataset = get(name)
    excluding = {"--fields": fields, "--sample": sample, "--build": folder, "--source": source}
    if len(given := [option for option, value in excluding.items() if value]) > 1:
        raise UsageError(f"{given[0]} excludes {', '.join(given[1:])}")
    if fields:
        if id is not None:
            dataset.require(id)
        tables = field_tables({id: dataset.configs[id]} if id else dataset.configs)
        common.print_result(as_json, list(map(vars, tables)), lay_out_fields, tables)
        return
    place: BuiltFolder | Sources
    usual = Path("build")
    if folder or (not (sample or source) and (usual / name).is_dir()):
        place = find_folder(folder or usual, dataset)
        origin = f"{place.path}{', a build of the invented sample' if place.is_sample else ''}"
    elif not sample and (upstream := source_folder(source)):
        place = open_source(dataset, upstream, allow_missing=True)
        origin = str(place.folder)
    else:
        place, origin = open_source(dataset, None, sample=True), "the sample (invented)"
        if not sample:
            origin += f", as build/ has no build: run `parley build {name}` for the dataset"
    found = find_dialogue(dataset, id, place, origin)
    common.print_result(as_json, found.row, lay_out, found, origin)


@app.command()
def site(
    names: Names = None,
    folder: BuildDir = Path("build"),
    output: Annotated[Path, Option(metavar="DIR", help="The folder of the site.")] = Path("site"),
    catalogue: Catalogue = None,
) -> None:
    """Write builds as a page to read, search and filter in a browser.

    The page is static files: open its index.html, or put the folder on any host.
    """
    from parley.base.console import progress
    from parley.read.site.page_data import Selection
    from parley.read.site.site import write_site

    folders = _folders(names, folder, catalogue)
    with progress("dialogues") as advance:
        write_site(folders, output, advance, Selection(catalogue=catalogue))
    common.print_line(f"{output / 'index.html'}: open it in a browser")


def _folders(names: list[str] | None, folder: Path, catalogue: Path | None) -> "list[BuiltFolder]":
    from parley.rows.folder import find_folder

    if catalogue is not None and not catalogue.is_dir():
        raise UsageError(f"--catalogue {catalogue}: no such folder")
    return [find_folder(folder, dataset) for dataset in common.select_built(names, folder)]


def _selection(
    query: str | None, files: list[Path], place: Path, folders: "list[BuiltFolder]"
) -> "Selection":
    """Return a query with the ids that it finds, and files; say how many, and how they differ."""
    from parley.base.console import print_message
    from parley.read.dialogues import require_dialogues
    from parley.read.site.page_data import Selection
    from parley.read.site.user_files import UserFiles
    from parley.read.sql import builds_in, connect, ids, named_in

    if len(folders) != 1:
        raise UsageError("--where and --with take the name of one dataset: parley browse NAME …")
    selection = Selection()
    if query is not None:
        with connect(named_in(query, builds_in(place)), read_only=True) as connection:
            found = ids(connection, query, folders[0])
        selection = Selection(query.strip().rstrip(";"), found)
        require_dialogues(folders[0], found)
        print_message(f"{len(found):,} dialogues")
    if files:
        user_files = UserFiles(folders[0], files)
        selection = replace(selection, files=user_files)
        print_message("\n".join(user_files.notes))
    return selection


@app.command()
def browse(
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
    from parley.read.site.page_data import Selection
    from parley.read.site.serve import browse as browse_builds

    try:
        with common.built_or_samples(folder, sample, names) as place:
            folders = _folders(names, place, catalogue)
            selection = Selection()
            if where is not None or files:
                selection = _selection(where, files or [], place, folders)
            selection = replace(selection, catalogue=catalogue)
            browse_builds(folders, selection, port=port, open_browser=open_, is_kept=not sample)
    except Interrupted:
        return
