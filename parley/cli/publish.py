"""Commands that give a build to others: publish, export, charts."""

from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

import parley.cli.common as common
from parley.base.errors import ParleyError
from parley.cli.common import AsJson, BuildDir, Name, SourceDir, app
from parley.declaration.registry import Dataset, get


@app.command()
def publish(
    name: Name,
    repo: Annotated[str, Option(metavar="ORG/NAME", help="The repository to publish to.")],
    folder: BuildDir = Path("build"),
    source: SourceDir = None,
    private: Annotated[bool, Option("--private", help="Make a new repository private.")] = False,
    tag: Annotated[bool, Option(help="Tag the version.")] = True,
    dry_run: Annotated[bool, Option("--dry-run", help="Only show the changed files.")] = False,
    endpoint: Annotated[str | None, Option(metavar="URL", help="The URL of another Hub.")] = None,
    permitted: Annotated[
        bool, Option("--i-have-permission", help="Publish a dataset without a stated licence.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Verify a build, publish it to the Hub in one commit, read it back and tag it.

    The token comes from `hf auth login`, HF_TOKEN or a Trusted Publisher. An interrupted run leaves
    the repository at the old version or at the new one; the next run completes the rest.
    """
    from parley.base.console import print_logs, print_message
    from parley.builds.publication_note import PublicationNote, write_note
    from parley.cli.report import publication
    from parley.hub import publish as hub
    from parley.rows.folder import find_folder
    from parley.rows.upstream import at_hand, source_folder

    def step(text: str) -> None:
        print_message(f"{repo}: {text}")

    dataset = get(name)
    print_logs("huggingface_hub")
    hub.validate_target(repo, dry_run, endpoint)
    upstream = at_hand(dataset, source_folder(source))
    built = find_folder(folder, dataset)
    files = built.hashes()

    def on_verify() -> None:
        hub.require_reachable(built, repo, endpoint)
        step("verifying the build")
        if upstream is None:
            step("not compared with upstream files: none are available")

    hub.verify_for_upload(built, upstream, permitted, on_verify)
    given: Any = {"private": private, "tag": tag, "dry_run": dry_run, "endpoint": endpoint}
    found = hub.publish(built, files, repo, **given, on_step=step)
    if found.commit:
        try:
            write_note(files, PublicationNote(repo, found.commit))
        except ParleyError as error:
            step(f"published, but the cache cannot keep a note of that: {error}")
    common.print_result(as_json, found.as_dict(), publication, found)


def _formats(dataset: Dataset) -> list[str]:
    from parley.read.export.export import formats

    return list(formats(dataset))


@app.command()
def export(
    name: Name,
    format: Annotated[
        str,
        Argument(
            metavar="FORMAT",
            help="A format of the dataset.",
            autocompletion=common.completing(_formats),
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
    from parley.read.export.export import export as export_dataset
    from parley.read.export.export import without_dialogues
    from parley.rows.folder import find_folder

    built = find_folder(folder, get(name))
    files = export_dataset(built, format, target, common.read_ids(ids))
    kind = "the invented sample, no data of the dataset; " if built.is_sample else ""
    common.print_line(f"{name} as {format}, in {target}/: {kind}{', '.join(files)}")
    if ids and (left_out := without_dialogues(built)):
        why = "their rows belong to no single dialogue"
        common.print_line(f"left out, as {why}: {', '.join(left_out)}")


@app.command()
def charts(
    name: Name,
    target: Annotated[Path, Argument(metavar="DIR", help="A new folder.")],
    folder: BuildDir = Path("build"),
) -> None:
    """Write the charts of a build as SVG files, into a new folder."""
    from parley.read.site.build_charts import write_charts
    from parley.rows.folder import find_folder

    files = write_charts(find_folder(folder, get(name)), target)
    common.print_line(f"charts of {name}, in {target}/: {', '.join(files)}")
