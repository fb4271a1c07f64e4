"""Commands that give a build to others: publish, export."""

from pathlib import Path
from typing import Annotated

import typer

from parley.cli.common import (
    AsJson,
    BuildDir,
    Name,
    SourceDir,
    app,
    print_line,
    print_result,
    upstream_folder,
)
from parley.collection import get
from parley.errors import ParleyError


@app.command()
def publish(
    ctx: typer.Context,
    name: Name,
    repo: Annotated[str, typer.Option("--repo", metavar="ORG/NAME", help="Where to publish it.")],
    folder: BuildDir = Path("build"),
    source: SourceDir = None,
    private: Annotated[
        bool, typer.Option("--private", help="Make the repository private, if it is new.")
    ] = False,
    tag: Annotated[bool, typer.Option("--tag/--no-tag", help="Tag the version.")] = True,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show the changes, file by file.")
    ] = False,
    endpoint: Annotated[
        str | None, typer.Option("--endpoint", metavar="URL", help="Another Hub.")
    ] = None,
    permitted: Annotated[
        bool,
        typer.Option("--i-have-permission", help="Publish a dataset without a stated licence."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Verify a build, publish it to the Hub in one commit, and read it back.

    The token comes from `hf auth login`, HF_TOKEN or a Trusted Publisher. An interrupted run leaves
    the repository at the old version or at the new one; the next run does what is left.
    """
    from parley.folder.built import find_folder
    from parley.folder.replace import locked
    from parley.hub.publish import (
        files_to_upload,
        read_back,
        validate_target,
        verify_for_upload,
    )
    from parley.hub.publish import publish as publish_folder
    from parley.hub.published import Published, note
    from parley.source.files import at_hand
    from parley.terminal.console import print_logs, print_message
    from parley.terminal.report import publication

    def step(text: str) -> None:
        print_message(f"{repo}: {text}")

    dataset = get(name)
    print_logs("huggingface_hub")
    validate_target(repo, dry_run, endpoint)
    upstream = at_hand(dataset, upstream_folder(ctx, source))
    find_folder(folder, dataset)
    # the lock keeps a build from replacing the files between verification and upload
    with locked((folder / name).resolve().parent):
        built = find_folder(folder, dataset)
        step("verifying the build")
        if upstream is None:
            step("not compared with upstream files: none are available")
        files = files_to_upload(built)
        verify_for_upload(built, upstream, permitted)
        found = publish_folder(
            built,
            files,
            repo,
            private=private,
            tag=tag,
            dry_run=dry_run,
            endpoint=endpoint,
            on_step=step,
        )
    if found.commit:
        step("reading it back from an empty cache")
        read_back(built, found, endpoint)
        try:
            note(files, Published(repo, found.commit))
        except ParleyError as error:
            step(f"published, but the cache cannot keep a note of that: {error}")
    print_result(as_json, found.as_dict, lambda: publication(found))


@app.command()
def export(
    name: Name,
    format: Annotated[str, typer.Argument(metavar="FORMAT", help="A format of the dataset.")],
    target: Annotated[Path, typer.Argument(metavar="DIR", help="A new folder.")],
    folder: BuildDir = Path("build"),
) -> None:
    """Write a build in another format, into a new folder."""
    from parley.exports.export import export as export_dataset
    from parley.folder.built import find_folder

    built = find_folder(folder, get(name))
    files = export_dataset(built, format, target)
    kind = "the invented sample, no data of the dataset; " if built.is_sample else ""
    print_line(f"{name} as {format}, in {target}/: {kind}{', '.join(files)}")
