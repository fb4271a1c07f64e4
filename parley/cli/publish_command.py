"""`parley publish`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from rich.console import Group, RenderableType
from typer import Option

from parley.base.console import print_logs, print_message, safe, size
from parley.base.errors import ParleyError
from parley.builds.publication_note import PublicationNote, write_note
from parley.cli.commands import single_command
from parley.cli.common import AsJson, BuildDir, Name, SourceDir, print_result
from parley.cli.tables import first, table
from parley.declaration.registry import get
from parley.rows.folder import find_folder
from parley.rows.upstream import at_hand, source_folder

if TYPE_CHECKING:
    from parley.hub.publish import Publication

app = single_command()


@app.command("publish")
def publish_command(
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
    from parley.hub import publish as hub

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
    publication = hub.publish(
        built,
        files,
        repo,
        private=private,
        tag=tag,
        dry_run=dry_run,
        endpoint=endpoint,
        on_step=step,
    )
    if publication.commit:
        try:
            write_note(files, PublicationNote(repo, publication.commit))
        except ParleyError as error:
            step(f"published, but the cache cannot keep a note of that: {error}")
    print_result(as_json, publication.as_dict(), lay_out, publication)


def lay_out(publication: "Publication") -> RenderableType:
    """Return a table of the files that publishing changes, and the result."""
    rows = [(change.action, change.path, size(change.size)) for change in publication.changed]
    lines = []
    if same := len(publication.changes) - len(rows) - len(publication.left):
        lines.append(f"{same} files are there already")
    if publication.left:
        files = ", ".join(first(publication.left))
        lines.append(f"left as they are, since parley did not publish them: {files}")
    commit = publication.commit
    if publication.dry_run:
        new = f"{publication.repo} would be made; " if publication.is_new else ""
        lines.append(f"a dry run: {new}nothing was written")
    elif rows:
        lines.append(f"{publication.url}\ncommit {commit}, read back and equal")
    else:
        lines.append(f"{publication.url}\nno change: commit {commit}, read back and equal")
    if commit:
        lines.append(f'load_dataset("{publication.repo}", ..., revision="{commit}")')
    parts: list[RenderableType] = [table(("", "file", ">size"), rows)] if rows else []
    return Group(*parts, *map(safe, lines))
