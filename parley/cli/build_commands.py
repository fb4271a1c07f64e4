"""From upstream to the Hub: `parley fetch`, `parley build` and `parley publish`."""

import shutil
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from rich.console import Group, RenderableType
from typer import Option

from parley.base.console import print_logs, print_message, progress, safe, size
from parley.base.disk import cache_folder, part_of
from parley.base.errors import FetchError, ParleyError, UsageError
from parley.builds.built_folder import find_folder
from parley.builds.card import notes
from parley.builds.publication_note import PublicationNote, write_note
from parley.builds.sources import at_hand, open_source, source_folder
from parley.cli.common import Attempts, print_line, print_result, select
from parley.cli.options import AsJson, BuildDir, Name, Names, Sample, SourceDir
from parley.cli.tables import first, table
from parley.declaration.registry import get

if TYPE_CHECKING:
    from parley.hub.publish import Publication
    from parley.rows.splits import BuiltSplit

_PART = "Only this part of the files; repeatable."
_ALLOW = "Leave out splits whose files are missing."
_MEASURE = "Recompute figures and baselines, and renew measured.json."
_PERMITTED = "Publish a dataset without a stated licence."


def fetch_command(
    names: Names = None,
    job: Annotated[str | None, Option(metavar="JOB", help="Fetch the files of a job.")] = None,
    part: Annotated[list[str] | None, Option(metavar="PART", help=_PART)] = None,
) -> None:
    """Download pinned upstream files into the cache; an interrupted download resumes."""
    from parley.source.fetch import fetch

    sources_of: dict[str, dict[str, Any]] = {}  # name of a folder in the cache -> its files
    attempt, cache = Attempts(), cache_folder()
    if job is not None:
        if names is None or len(names) != 1:
            raise UsageError("--job takes the name of one dataset: parley fetch NAME --job JOB")
        if not (sources := get(names[0]).job(job).sources_of(part)):
            raise UsageError(f"the job {job} of {names[0]} needs no files")
        sources_of[f"{names[0]}-{job}"] = sources
        _check_space(f"{names[0]}-{job}", sources, cache)
    elif part:
        raise UsageError("a part belongs to a job; name it with --job")
    else:
        for dataset in select(names):
            with attempt():
                sources_of[dataset.name] = dataset.pins
    with progress("bytes") as advance:
        for name, sources in sources_of.items():
            with attempt():
                on_mirror = partial(_print_mirror, name)
                folder = fetch(name, sources, cache, on_progress=advance, on_mirror=on_mirror)
                print_line(f"{name}: all files are in {folder}")
                if job is not None:
                    print_line(f"now run the job {job}, with --input {folder}")
    attempt.finish()


def _print_mirror(name: str, source: str, mirror: Any, problems: Any) -> None:
    """Print that a source comes from a mirror, and why."""
    reasons = "; ".join(map(str, problems))
    print_message(f"{name}: {source} comes from the mirror {mirror['url']}, since {reasons}")


def _check_space(name: str, sources: dict[str, Any], cache: Path) -> None:
    """Print the size of a download and the free space, or raise FetchError if that is too small."""
    total = sum(pin["size"] for pin in sources.values())
    left = 0
    for source, pin in sources.items():
        file = cache / name / source
        sizes = [path.stat().st_size for path in (file, part_of(file)) if path.is_file()]
        left += max(0, pin["size"] - (sizes[0] if sizes else 0))
    home = next(folder for folder in (cache, *cache.absolute().parents) if folder.is_dir())
    free = shutil.disk_usage(home).free
    files = f"{len(sources)} files of {size(total)}, {size(left)} to fetch"
    print_message(f"{name}: {files}; {size(free)} are free in {cache}")
    if left > free:
        what = f"{name}: {size(left)} do not fit into the {size(free)} that are free in {cache}"
        remedy = "Fetch less at once, make room, or set PARLEY_CACHE to another folder."
        raise FetchError(what, remedy=remedy)


def build_command(
    names: Names = None,
    source: SourceDir = None,
    sample: Sample = False,
    build: BuildDir = Path("build"),
    allow_missing: Annotated[bool, Option("--allow-missing", help=_ALLOW)] = False,
    measure: Annotated[bool, Option("--measure", help=_MEASURE)] = False,
    as_json: AsJson = False,
) -> None:
    """Build datasets: checked rows as Parquet, with card and provenance."""
    from parley.builds.build import build as write_build
    from parley.verification.measure import measure as measure_build

    if sample and (source is not None or measure):
        raise UsageError("--sample excludes --source and --measure")
    upstream = None if sample else source_folder(source)
    splits: list[dict[str, Any]] = []
    messages: list[str] = []
    missing: list[str] = []
    measured = measure_build if measure else None
    attempt, start = Attempts(), time.perf_counter()
    with progress("rows") as advance:
        for dataset in select(names):
            with attempt():
                files = open_source(dataset, upstream, sample=sample, allow_missing=allow_missing)
                built = write_build(files, build, advance, measure=measured)
                splits += [_as_dict(dataset.name, split) for split in built]
                missing += [f"{dataset.name}/{file}" for file in files.missing]
                noted = (note.replace("**", "") for note in notes(files.mirrored))
                messages += [f"{dataset.name}: {note}" for note in noted]
    seconds = time.perf_counter() - start
    if splits or as_json:
        value = {"built": splits, "missing": missing}
        print_result(as_json, value, _build_layout, splits, build, seconds, sample)
    if missing:
        messages.append("missing files; every split made from them is left out:")
        messages += [f"  {file}" for file in missing]
    for message in messages:
        print_message(message, "yellow")
    attempt.finish()


def _as_dict(dataset: str, split: "BuiltSplit") -> dict[str, Any]:
    return {
        "dataset": dataset,
        "config": split.config,
        "split": split.name,
        "rows": split.rows,
        "bytes": split.size,
        "seconds": round(split.seconds, 3),
        "digest": split.digest,
    }


def _build_layout(
    splits: Sequence[Mapping[str, Any]], build: Path, seconds: float, sample: bool
) -> RenderableType:
    """Return a line per split, and where the builds are."""
    rows = []
    for split in splits:
        amounts = (f"{split['rows']:,}", size(split["bytes"]), f"{split['seconds']:.2f} s")
        rows.append((split["dataset"], split["config"], split["split"], *amounts))
    kind = "samples, not the datasets" if sample else "rows checked one by one"
    columns = ("dataset", "config", "split", ">rows", ">Parquet", ">time")
    return Group(table(columns, rows), safe(f"in {build}/, {seconds:.1f} s in all; {kind}"))


def publish_command(
    name: Name,
    repo: Annotated[str, Option(metavar="ORG/NAME", help="The repository to publish to.")],
    build: BuildDir = Path("build"),
    source: SourceDir = None,
    private: Annotated[bool, Option("--private", help="Make a new repository private.")] = False,
    tag: Annotated[bool, Option(help="Tag the version.")] = True,
    dry_run: Annotated[bool, Option("--dry-run", help="Only show the changed files.")] = False,
    endpoint: Annotated[str | None, Option(metavar="URL", help="The URL of another Hub.")] = None,
    permitted: Annotated[bool, Option("--i-have-permission", help=_PERMITTED)] = False,
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
    built = find_folder(build, dataset)
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
            note = PublicationNote(repo, publication.commit, publication.endpoint)
            write_note(files, note)
        except ParleyError as error:
            step(f"published, but the cache cannot keep a note of that: {error}")
    print_result(as_json, publication.as_dict(), _publish_layout, publication)


def _publish_layout(publication: "Publication") -> RenderableType:
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
