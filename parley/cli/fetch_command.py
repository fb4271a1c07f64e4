"""`parley fetch`."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from typer import Option

from parley.base.console import print_message, progress, size
from parley.base.disk import cache_folder, part_of
from parley.base.errors import FetchError, UsageError
from parley.cli.commands import single_command
from parley.cli.common import Attempts, Names, print_line, select
from parley.declaration.registry import get

app = single_command()


@app.command("fetch")
def fetch_command(
    names: Names = None,
    job: Annotated[str | None, Option(metavar="JOB", help="Fetch the files of a job.")] = None,
    part: Annotated[
        list[str] | None, Option(metavar="PART", help="Only this part of the files; repeatable.")
    ] = None,
) -> None:
    """Download pinned upstream files into the cache; an interrupted download resumes."""
    from parley.source.fetch import fetch

    sources_of: dict[str, dict[str, Any]] = {}  # name of a folder in the cache -> its files
    attempt = Attempts()
    if job is not None:
        if names is None or len(names) != 1:
            raise UsageError("--job takes the name of one dataset: parley fetch NAME --job JOB")
        if not (sources := get(names[0]).job(job).sources_of(part)):
            raise UsageError(f"the job {job} of {names[0]} needs no files")
        sources_of[f"{names[0]}-{job}"] = sources
        _check_space(f"{names[0]}-{job}", sources, cache_folder())
    elif part:
        raise UsageError("a part belongs to a job; name it with --job")
    else:
        for dataset in select(names):
            with attempt():
                sources_of[dataset.name] = dataset.pins
    with progress("bytes") as advance:
        for name, sources in sources_of.items():
            with attempt():
                on_mirror = _mirror_notes(name)
                folder = fetch(
                    name, sources, cache_folder(), on_progress=advance, on_mirror=on_mirror
                )
                print_line(f"{name}: all files are in {folder}")
                if job is not None:
                    print_line(f"now run the job {job}, with --input {folder}")
    attempt.finish()


def _mirror_notes(name: str) -> Callable[[str, Any, Any], None]:
    """Return a function that says where a source comes from a mirror, and why."""

    def on_mirror(source: str, mirror: Any, why: Any) -> None:
        reasons = "; ".join(map(str, why))
        print_message(f"{name}: {source} comes from the mirror {mirror['url']}, since {reasons}")

    return on_mirror


def _check_space(name: str, sources: dict[str, Any], cache: Path) -> None:
    """Print the size of a download and the free space, or raise FetchError if that is too small."""
    total = sum(pin["size"] for pin in sources.values())
    left = 0
    for source, pin in sources.items():
        file = cache / name / source
        there = next((place for place in (file, part_of(file)) if place.is_file()), None)
        left += max(0, pin["size"] - (there.stat().st_size if there else 0))
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
