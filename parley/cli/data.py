"""Commands from upstream to a verified build: list, fetch, build, verify, diff."""

import time
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option

import parley.cli.common as common
from parley.base.disk import cache_folder
from parley.base.errors import Failures, FetchError, ParleyError, UsageError
from parley.cli.common import AsJson, Attempts, BuildDir, Names, Sample, SourceDir, app
from parley.cli.process import as_failure
from parley.declaration.registry import get


@app.command("list")
def list_(names: Names = None, as_json: AsJson = False) -> None:
    """List datasets: configs, splits, rows, sizes, licences."""
    from parley.builds.card import summary
    from parley.cli.report import listing

    found, attempt = [], Attempts()
    for dataset in common.select(names):
        with attempt():
            found.append(summary(dataset))
    if found or as_json:
        common.print_result(as_json, found, listing, found)
    attempt.finish()


@app.command()
def fetch(
    names: Names = None,
    job: Annotated[str | None, Option(metavar="JOB", help="Fetch the files of a job.")] = None,
    part: Annotated[
        list[str] | None, Option(metavar="PART", help="Only this part of the files; repeatable.")
    ] = None,
) -> None:
    """Download pinned upstream files into the cache; an interrupted download resumes."""
    from parley.base.console import print_message, progress
    from parley.source.fetch import fetch as fetch_sources

    def on_mirror(source: str, mirror: Any, why: Any) -> None:
        reasons = "; ".join(map(str, why))
        print_message(f"{name}: {source} comes from the mirror {mirror['url']}, since {reasons}")

    wanted: dict[str, dict[str, Any]] = {}
    attempt = Attempts()
    if job is not None:
        if names is None or len(names) != 1:
            raise UsageError("--job takes the name of one dataset: parley fetch NAME --job JOB")
        if not (sources := get(names[0]).job(job).sources_of(part)):
            raise UsageError(f"the job {job} of {names[0]} needs no files")
        wanted[name := f"{names[0]}-{job}"] = sources
        _check_space(name, sources, cache_folder())
    elif part:
        raise UsageError("a part belongs to a job; name it with --job")
    else:
        for dataset in common.select(names):
            with attempt():
                wanted[dataset.name] = dataset.pins
    with progress("bytes") as advance:
        for name, sources in wanted.items():
            with attempt():
                folder = fetch_sources(
                    name, sources, cache_folder(), on_progress=advance, on_mirror=on_mirror
                )
                common.print_line(f"{name}: all files are in {folder}")
                if job is not None:
                    common.print_line(f"now run the job {job}, with --input {folder}")
    attempt.finish()


def _check_space(name: str, sources: dict[str, Any], cache: Path) -> None:
    """Print the size of a download and the free space, or raise FetchError if that is too small."""
    import shutil

    from parley.base.console import print_message, size
    from parley.base.disk import part_of

    def fetched(file: Path) -> int:
        places = (file, part_of(file))
        return next((place.stat().st_size for place in places if place.is_file()), 0)

    total = sum(pin["size"] for pin in sources.values())
    left = sum(max(0, pin["size"] - fetched(cache / name / file)) for file, pin in sources.items())
    home = next(folder for folder in (cache, *cache.absolute().parents) if folder.is_dir())
    free = shutil.disk_usage(home).free
    print_message(
        f"{name}: {len(sources)} files of {size(total)}, {size(left)} to fetch; "
        f"{size(free)} are free in {cache}"
    )
    if left > free:
        what = f"{name}: {size(left)} do not fit into the {size(free)} that are free in {cache}"
        remedy = "Fetch less at once, make room, or set PARLEY_CACHE to another folder."
        raise FetchError(what, remedy=remedy)


@app.command()
def build(
    names: Names = None,
    source: SourceDir = None,
    sample: Sample = False,
    folder: BuildDir = Path("build"),
    allow_missing: Annotated[
        bool, Option("--allow-missing", help="Leave out splits whose files are missing.")
    ] = False,
    measure: Annotated[
        bool, Option("--measure", help="Recompute figures and baselines, and renew measured.json.")
    ] = False,
    questions: Annotated[
        bool, Option("--questions", help="Add the tasks' questions and eval.yaml.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Build datasets: checked rows as Parquet, with card and provenance."""
    from parley.base.console import print_message, progress
    from parley.builds import card
    from parley.builds.build import build as build_dataset
    from parley.cli.report import build_table
    from parley.rows.upstream import open_source, source_folder

    if sample and (source is not None or measure):
        raise UsageError("--sample excludes --source and --measure")
    upstream = None if sample else source_folder(source)
    built: list[dict[str, Any]] = []
    messages: list[str] = []
    missing: list[str] = []
    attempt, start = Attempts(), time.perf_counter()
    with progress("rows") as advance:
        for dataset in common.select(names):
            with attempt():
                files = open_source(dataset, upstream, sample=sample, allow_missing=allow_missing)
                splits = build_dataset(files, folder, advance, measure=measure, questions=questions)
                missing += [f"{dataset.name}/{file}" for file in files.missing]
                notes = card.notes(files.mirrored)
                messages += [f"{dataset.name}: {note.replace('**', '')}" for note in notes]
                for each in splits:
                    found: dict[str, Any] = {"dataset": dataset.name, "config": each.config}
                    found |= {"split": each.name, "rows": each.rows, "bytes": each.size}
                    built.append(found | {"seconds": round(each.seconds, 3), "digest": each.digest})
    seconds = time.perf_counter() - start
    if built or as_json:
        value = {"built": built, "missing": missing}
        common.print_result(as_json, value, build_table, built, folder, seconds, sample)
    if missing:
        messages += ["missing files; every split made from them is left out:"]
    for message in [*messages, *(f"  {file}" for file in missing)]:
        print_message(message, "yellow")
    attempt.finish()


@app.command()
def verify(
    names: Names = None,
    folder: BuildDir = Path("build"),
    source: SourceDir = None,
    all_figures: Annotated[bool, Option("--all", help="Also list the figures that match.")] = False,
    as_json: AsJson = False,
) -> None:
    """Verify builds: every byte, consistency, round trip, documented figures.

    Exit status 1 if a check fails or a figure is unexplained.
    """
    chosen = common.select_built(names, folder)  # before what is slow to import
    from parley.base.console import progress
    from parley.cli.report import report
    from parley.rows.upstream import source_folder
    from parley.verification.verify import Verification, verify_each

    with progress() as advance:
        outcomes = list(verify_each(chosen, folder, source_folder(source), advance))
    found = [each for each in outcomes if isinstance(each, Verification)]
    named = zip((dataset.name for dataset in chosen), outcomes, strict=True)
    broken = {name: each for name, each in named if isinstance(each, ParleyError)}
    if found or as_json:
        value = [each.as_dict() for each in found]
        value += [{"dataset": n, "failed": True, "error": str(e)} for n, e in broken.items()]
        common.print_result(as_json, value, report, found, list(broken), all_figures)
    if broken:
        raise Failures(broken.values())
    if any(each.failed for each in found):
        raise typer.Exit(1)


@app.command()
def diff(
    old: Annotated[Path, Argument(metavar="OLD", help="The build of a dataset.")],
    new: Annotated[Path, Argument(metavar="NEW", help="Another build of the same dataset.")],
    as_json: AsJson = False,
) -> None:
    """Compare two builds by splits, rows, fields, schema and figures.

    As with diff(1), exit status 1 if they differ, 2 if they cannot be compared.
    """
    from parley.cli.report import differences
    from parley.rows.folder import open_folder
    from parley.verification.diff import compare

    try:
        found = compare(open_folder(old), open_folder(new))
    except Exception as error:
        failure = as_failure(error)
        failure.status = 2
        raise failure from error
    common.print_result(as_json, found.as_dict(), differences, found)
    if found.differs:
        raise typer.Exit(1)
