"""Commands from upstream to a verified build: list, fetch, build, verify, diff."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from parley.cli.common import (
    AsJson,
    Attempts,
    BuildDir,
    Names,
    Sample,
    SourceDir,
    app,
    print_line,
    print_result,
    select,
    select_built,
    typed,
    upstream_folder,
)
from parley.cli.process import as_failure
from parley.collection import get
from parley.errors import Failures, FetchError, ParleyError, UsageError
from parley.jobs import Fetch, get_job

if TYPE_CHECKING:
    from parley.build import Split


@app.command("list")
def list_(names: Names = None, as_json: AsJson = False) -> None:
    """List datasets: configs, splits, rows, sizes, licences."""
    from parley.folder.card import summary
    from parley.terminal.listing import listing, stated_descriptions

    found = []
    descriptions = {}
    attempt = Attempts()
    for dataset in select(names):
        with attempt():
            found.append(summary(dataset))
            descriptions[dataset.name] = stated_descriptions(dataset.folder)
    if found or as_json:
        print_result(as_json, lambda: found, lambda: listing(found, descriptions))
    attempt.finish()


@app.command(cls=Fetch)
def fetch(
    names: Names = None,
    job: Annotated[
        str | None,
        typer.Option("--job", metavar="JOB", help="Fetch the files for `parley run NAME JOB`."),
    ] = None,
    part: Annotated[
        list[str] | None,
        typer.Option("--part", metavar="PART", help="Fetch only this part; may be repeated."),
    ] = None,
) -> None:
    """Download pinned upstream files into the cache; an interrupted download resumes."""
    from parley.source.fetch import cache_folder
    from parley.source.fetch import fetch as fetch_sources
    from parley.terminal.console import print_message, progress

    def on_mirror(source: str, mirror: Any, why: Any) -> None:
        reasons = "; ".join(map(str, why))
        print_message(f"{name}: {source} comes from the mirror {mirror['url']}, since {reasons}")

    wanted: dict[str, dict[str, Any]] = {}
    attempt = Attempts()
    if job is not None:
        name, sources = _sources_of_job(names, job, part)
        wanted[name] = sources
        _check_space(name, sources, cache_folder())
    elif part:
        raise UsageError("only the files of a job can be fetched in part: say which with --job")
    else:
        for dataset in select(names):
            with attempt():
                wanted[dataset.name] = dataset.pins
    with progress("bytes") as advance:
        for name, sources in wanted.items():
            with attempt():
                folder = fetch_sources(
                    name, sources, cache_folder(), on_progress=advance, on_mirror=on_mirror
                )
                print_line(f"{name}: all files are in {folder}")
                if job is not None:
                    print_line(f"now run the job {job}, with --input {folder}")
    attempt.finish()


def _sources_of_job(
    names: list[str] | None, job: str, parts: list[str] | None
) -> tuple[str, dict[str, Any]]:
    """Return the cache folder's name for the files of a job, and the files with their pins."""
    if names is None or len(names) != 1:
        raise UsageError("--job takes the name of one dataset: parley fetch NAME --job JOB")
    found = get_job(get(names[0]), job).sources_of(parts)
    if not found:
        raise UsageError(f"the job {job} of {names[0]} needs no files")
    return f"{names[0]}-{job}", found


def _check_space(name: str, sources: dict[str, Any], cache: Path) -> None:
    """Print the size of a download and the free space.

    Raises:
        FetchError: the space is too small.
    """
    import shutil

    from parley.terminal.console import print_message, size

    def fetched(file: Path) -> int:
        places = (file, file.with_name(f"{file.name}.part"))
        return next((place.stat().st_size for place in places if place.is_file()), 0)

    total = sum(pin["size"] for pin in sources.values())
    left = total - sum(
        min(pin["size"], fetched(cache / name / file)) for file, pin in sources.items()
    )
    home = next(folder for folder in (cache, *cache.absolute().parents) if folder.is_dir())
    free = shutil.disk_usage(home).free
    print_message(
        f"{name}: {len(sources)} files of {size(total)}, {size(left)} to fetch; "
        f"{size(free)} are free in {cache}"
    )
    if left > free:
        raise FetchError(
            f"{name}: {size(left)} do not fit into the {size(free)} that are free in {cache}",
            remedy="Fetch less at once, make room, or set PARLEY_CACHE to another folder.",
        )


@app.command()
def build(
    ctx: typer.Context,
    names: Names = None,
    source: SourceDir = None,
    sample: Sample = False,
    folder: BuildDir = Path("build"),
    allow_missing: Annotated[
        bool, typer.Option("--allow-missing", help="Leave out splits whose files are missing.")
    ] = False,
    update_cards: Annotated[
        bool,
        typer.Option(
            "--update-cards", help="Measure figures again and update the cards of the datasets."
        ),
    ] = False,
    max_shard_size: Annotated[
        str,
        typer.Option("--max-shard-size", help="Arrow data per Parquet file: 500MB, 2GiB."),
    ] = "500MB",
    workers: Annotated[
        int,
        typer.Option(
            "--workers",
            min=0,
            metavar="N",
            help="Extra processes for large JSON Lines files (Linux).",
        ),
    ] = 0,
    as_json: AsJson = False,
) -> None:
    """Build datasets: checked rows as Parquet, with card and provenance."""
    from parley.build import build as build_dataset
    from parley.build import notes
    from parley.source.files import open_source
    from parley.terminal.console import print_message, progress
    from parley.terminal.report import build_table

    if sample and (typed(ctx, "source") or update_cards):
        raise UsageError("--sample excludes --source and --update-cards")
    shard = _shard_size(max_shard_size)
    upstream = None if sample else upstream_folder(ctx, source)
    built: list[dict[str, Any]] = []
    messages: list[str] = []
    missing: list[str] = []
    attempt = Attempts()
    start = time.perf_counter()
    with progress("rows") as advance:
        for dataset in select(names):
            with attempt():
                files = open_source(dataset, upstream, sample=sample, allow_missing=allow_missing)
                splits = build_dataset(
                    files,
                    folder,
                    advance,
                    max_shard_size=shard,
                    update_card=update_cards,
                    workers=workers,
                )
                missing += [f"{dataset.name}/{file}" for file in files.missing]
                messages += [f"{dataset.name}: {note.replace('**', '')}" for note in notes(files)]
                built += [_split_as_dict(dataset.name, split) for split in splits]
    seconds = time.perf_counter() - start
    if built or as_json:
        value = {"built": built, "missing": missing}
        print_result(as_json, lambda: value, lambda: build_table(built, folder, seconds, sample))
    if missing:
        messages += ["missing files, left out with every split made from them:"]
    for message in [*messages, *(f"  {file}" for file in missing)]:
        print_message(message, "yellow")
    attempt.finish()


def _split_as_dict(dataset: str, split: "Split") -> dict[str, Any]:
    return {
        "dataset": dataset,
        "config": split.config,
        "split": split.name,
        "rows": split.rows,
        "bytes": split.size,
        "seconds": round(split.seconds, 3),
        "digest": split.digest,
    }


def _shard_size(text: str) -> int:
    """Return a size such as 500MB in bytes."""
    from datasets.utils.py_utils import convert_file_size_to_int

    try:
        size = int(convert_file_size_to_int(text))
    except ValueError as error:
        raise UsageError(f"--max-shard-size {text}: expected a size as 500MB") from error
    if size < 1000:
        raise UsageError(f"--max-shard-size {text}: expected 1KB or more")
    return size


@app.command()
def verify(
    ctx: typer.Context,
    names: Names = None,
    folder: BuildDir = Path("build"),
    source: SourceDir = None,
    all_figures: Annotated[
        bool, typer.Option("--all", help="List the figures that match too.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Verify builds: schema, counts, consistency, round trip, documented figures.

    Exit status 1 if a check fails or a figure is unexplained.
    """
    from parley.folder.verify import Verification, verify_each
    from parley.terminal.console import print_message, progress
    from parley.terminal.report import report

    chosen, absent = select_built(names, folder)
    with progress() as advance:
        outcomes = list(verify_each(chosen, folder, upstream_folder(ctx, source), advance))
    found = [each for each in outcomes if isinstance(each, Verification)]
    broken = {
        dataset.name: each
        for dataset, each in zip(chosen, outcomes, strict=True)
        if isinstance(each, ParleyError)
    }
    if found or as_json:
        errors = [
            {"dataset": name, "failed": True, "error": str(error)} for name, error in broken.items()
        ]
        print_result(
            as_json,
            lambda: [*(each.as_dict() for each in found), *errors],
            lambda: report(found, list(broken), all_figures),
        )
    if absent:
        print_message(f"not built, and so not verified: {', '.join(absent)}", "yellow")
    if broken:
        raise Failures(broken.values())
    if any(each.failed for each in found):
        raise typer.Exit(1)


@app.command()
def diff(
    old: Annotated[Path, typer.Argument(metavar="OLD", help="The build of a dataset.")],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="Another build of it.")],
    as_json: AsJson = False,
) -> None:
    """Compare two builds by splits, rows, fields, schema and figures.

    As with diff(1), exit status 1 if they differ, 2 if they cannot be compared.
    """
    from parley.folder.built import open_folder
    from parley.folder.diff import compare
    from parley.terminal.report import differences

    try:
        found = compare(open_folder(old), open_folder(new))
    except Exception as error:
        failure = as_failure(error)
        failure.status = 2
        raise failure from error
    print_result(as_json, found.as_dict, lambda: differences(found))
    if found.differs:
        raise typer.Exit(1)
