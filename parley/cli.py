"""The command line. Heavy imports stand inside the commands, so that help is quick."""

import io
import os
import re
import shlex
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Timer
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from parley import __version__
from parley.collection import Dataset, discover, get
from parley.errors import Failures, FetchError, ParleyError, UsageError
from parley.jobs import Fetch, Jobs, each_jobs, get_job
from parley.terminal.score import Scores


@contextmanager
def _told() -> Iterator[None]:
    """Print what the command line library says of a wrong line as all else: nothing in it acts."""
    try:
        yield
    except Exception as error:
        if (show := getattr(error, "show", None)) is None:  # it is not the library's
            raise
        from parley.terminal.console import print_message  # not at the top: help is to be quick

        show(file=(said := io.StringIO()))
        print_message(said.getvalue().rstrip("\n"))
        raise typer.Exit(getattr(error, "exit_code", 2)) from None


class _Commands(TyperGroup):
    """All commands; what they and their options are not is told in one way."""

    # What is Any here is click's, which Typer has in one place or another, by its version.

    def make_context(self, info_name: Any, args: list[str], *more: Any, **kwargs: Any) -> Any:
        """Parse the options before a command, of a line that is text.

        Python opens a file whose name is not UTF-8, but the libraries that read Parquet do not.
        """
        if odd := [arg for arg in args if re.search("[\ud800-\udfff]", arg)]:
            what = "is not UTF-8, in which names are written here"
            raise UsageError(f"{odd[0]}: {what}", remedy="Rename the file or folder.")
        with _told():
            return super().make_context(info_name, args, *more, **kwargs)

    def invoke(self, ctx: Any) -> Any:
        """Parse a command, and run it."""
        with _told():
            return super().invoke(ctx)


app = typer.Typer(
    name="parley",
    cls=_Commands,
    help="Build, check and read dialogue datasets as Hub folders that load everywhere.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

run = typer.Typer(
    cls=Jobs,
    help="Run a job of a dataset; without arguments, list them.",
    add_completion=False,
    rich_markup_mode=None,
)
app.add_typer(run, name="run")

score = typer.Typer(
    cls=Scores,
    help="Score predictions on a task of a dataset, beside the results that are documented.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)
app.add_typer(score, name="score")

Names = Annotated[
    list[str] | None, typer.Argument(metavar="[NAME]...", help="Datasets; all unless named.")
]
SourceDir = Annotated[
    Path | None,
    typer.Option(
        "--source",
        envvar="PARLEY_SOURCE",
        metavar="DIR",
        help="Upstream files at hand: a folder with one folder a dataset.",
    ),
]
BuildDir = Annotated[
    Path, typer.Option("--build", metavar="DIR", help="Built folders, one a dataset.")
]
Sample = Annotated[
    bool, typer.Option("--sample", help="Take the invented samples shipped with the datasets.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


def main() -> None:
    """Run the command line; an error is one message and an exit status, never a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # text that a terminal cannot show is escaped
            stream.reconfigure(errors="backslashreplace")
    # A process that another package starts looks for no code in the current folder (Python 3.11)
    os.environ.setdefault("PYTHONSAFEPATH", "1")
    for each in _ENDING:
        if each == signal.SIGINT or signal.getsignal(each) != signal.SIG_IGN:  # as under nohup
            signal.signal(each, _interrupt)
    sys.unraisablehook = _once_more
    try:
        _refuse_without_docstrings()
        app()
    except _Interrupted as interrupted:
        with suppress(OSError):  # a terminal that was closed takes no more
            typer.echo("interrupted; the same command again does what is left", err=True)
        sys.exit(128 + interrupted.signum)
    except Exception as error:  # the one place where failures become messages
        if os.environ.get("PARLEY_TRACEBACK"):
            raise
        from parley.terminal.console import print_message  # not at the top: help is to be quick

        failure = _as_failure(error)
        print_message(str(failure), style="red")
        sys.exit(failure.status)
    finally:  # all that is left is to end
        for each in _ENDING:
            if signal.getsignal(each) == _interrupt:
                signal.signal(each, signal.SIG_DFL)


def _refuse_without_docstrings() -> None:
    """Raise UsageError where Python dropped them: help and the definitions of figures are some."""
    if sys.flags.optimize > 1:
        raise UsageError(
            "parley shows texts that `python -OO` and PYTHONOPTIMIZE=2 leave out",
            remedy="Run it without; -O and PYTHONOPTIMIZE=1 are fine.",
        )


def _as_failure(error: Exception) -> ParleyError:
    """Return what an exception that reached the command line says to a person."""
    if isinstance(error, ParleyError):
        return error
    if isinstance(error, BrokenPipeError):
        return ParleyError("what was printed could not be delivered: its reader has gone")
    if isinstance(error, OSError):
        place = f"{error.filename:.200}: " if isinstance(error.filename, str) else ""
        return ParleyError(f"{place}{error.strerror or error}")
    if isinstance(error, MemoryError):
        import traceback

        traceback.clear_frames(error.__traceback__)  # which hold what filled the memory
        return ParleyError("there is not enough memory for this: give it more, or less to do")
    if isinstance(error, ModuleNotFoundError) and error.name in ("fcntl", "resource"):
        return ParleyError("parley runs on Linux and macOS; on Windows, use it in WSL")
    if isinstance(error, ModuleNotFoundError) and (missing := _missing(error)):
        return missing
    return ParleyError(
        f"parley failed in a way that it does not know: {type(error).__name__}: {error}",
        remedy="Please report it, with what PARLEY_TRACEBACK=1 prints before the same command.",
    )


def _missing(error: ModuleNotFoundError) -> ParleyError | None:
    """Return what to say of a package that is not installed, if an extra of ours brings it."""
    from parley.extras import extra_of

    package = (error.name or "").partition(".")[0]
    if not (extra := extra_of(package)):
        return None
    remedy = f'Run `pip install "parley-datasets[{extra}]"`.'
    return ParleyError(f"the package {package} is not installed", remedy=remedy)


class _Interrupted(BaseException):
    """Ctrl-C or a signal like it, under a name that the command line library leaves alone."""

    def __init__(self, signum: int) -> None:
        super().__init__(signum)
        self.signum = signum


_ENDING = [getattr(signal, n) for n in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, n)]


def _interrupt(signum: int, frame: object) -> None:
    """End the command tidily; meanwhile a second Ctrl-C ends it at once."""
    for each in _ENDING:
        if signal.getsignal(each) == _interrupt:
            again = signal.SIG_DFL if each == signal.SIGINT else signal.SIG_IGN
            signal.signal(each, again)
    raise _Interrupted(signum)


def _once_more(lost: Any) -> None:
    """Let an interrupt come again that met a callback, out of which Python lets nothing."""
    if not isinstance(lost.exc_value, _Interrupted):
        sys.__unraisablehook__(lost)
        return
    signum = lost.exc_value.signum
    signal.signal(signum, _interrupt)
    Timer(0.01, os.kill, (os.getpid(), signum)).start()


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"parley {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


def _upstream(ctx: typer.Context, source: Path | None) -> Path | None:
    """Return the folder of upstream files that was named, if it is one."""
    if source is not None and not source.is_dir():
        name = "--source" if _typed(ctx, "source") else "PARLEY_SOURCE"
        raise UsageError(f"{name} names {source}, which is no folder")
    return source


def _typed(ctx: typer.Context, option: str) -> bool:
    source = ctx.get_parameter_source(option)
    return source is not None and source.name == "COMMANDLINE"


def _chosen(names: list[str] | None) -> list[Dataset]:
    return [get(name) for name in dict.fromkeys(names)] if names else list(discover().values())


@app.command("list")
def list_(names: Names = None, as_json: AsJson = False) -> None:
    """Show what there is: datasets, configs, splits, rows, licence, size."""
    from parley.folder.card import summary
    from parley.terminal.console import print_output, to_json
    from parley.terminal.listing import listing

    found = []
    failed: list[ParleyError] = []
    for dataset in _chosen(names):
        try:
            found.append(summary(dataset))
        except ParleyError as error:
            failed.append(error)
    if as_json:
        typer.echo(to_json(found))
    elif found:
        print_output(listing(found))
    if failed:
        raise Failures(failed)


@app.command(cls=Fetch)
def fetch(
    names: Names = None,
    job: Annotated[
        str | None,
        typer.Option("--job", metavar="JOB", help="Fetch what `parley run NAME JOB` needs."),
    ] = None,
    part: Annotated[
        list[str] | None,
        typer.Option("--part", metavar="PART", help="Only this of it; may be repeated."),
    ] = None,
) -> None:
    """Download the pinned upstream files into the cache, checked and resumable."""
    from parley.source.fetch import cache_folder
    from parley.source.fetch import fetch as fetch_sources
    from parley.terminal.console import plain, print_message, print_output, progress

    def from_mirror(source: str, mirror: Any, why: Any) -> None:
        reasons = "; ".join(map(str, why))
        print_message(f"{name}: {source} comes from the mirror {mirror['url']}, since {reasons}")

    wanted: dict[str, dict[str, Any]] = {}
    failed: list[ParleyError] = []
    if job is not None:
        name, sources = _sources_of_job(names, job, part)
        wanted[name] = sources
        _tell_size(name, sources, cache_folder())
    elif part:
        raise UsageError("only what a job needs can be fetched in part: say which with --job")
    else:
        for dataset in _chosen(names):
            try:
                wanted[dataset.name] = dataset.pins
            except ParleyError as error:
                failed.append(error)
    with progress("bytes") as advance:
        for name, sources in wanted.items():
            try:
                folder = fetch_sources(
                    name, sources, cache_folder(), on_progress=advance, on_mirror=from_mirror
                )
            except ParleyError as error:
                failed.append(error)
            else:
                print_output(plain(f"{name}: all files are in {folder}"))
                if job is not None:
                    print_output(plain(f"now run the job {job}, with --input {folder}"))
    if failed:
        raise Failures(failed)


def _sources_of_job(
    names: list[str] | None, job: str, parts: list[str] | None
) -> tuple[str, dict[str, Any]]:
    """Return the folder in the cache for what a job needs, and the files with their pins."""
    if names is None or len(names) != 1:
        raise UsageError("--job takes the name of one dataset: parley fetch NAME --job JOB")
    found = get_job(get(names[0]), job).sources_of(parts)
    if not found:
        raise UsageError(f"the job {job} of {names[0]} needs no files")
    return f"{names[0]}-{job}", found


def _tell_size(name: str, sources: dict[str, Any], cache: Path) -> None:
    """Say how much is to be fetched and how much room there is.

    Raises:
        FetchError: there is not enough.
    """
    import shutil

    from parley.terminal.console import print_message, size

    def there(file: Path) -> int:
        places = (file, file.with_name(f"{file.name}.part"))
        return next((place.stat().st_size for place in places if place.is_file()), 0)

    total = sum(pin["size"] for pin in sources.values())
    left = total - sum(
        min(pin["size"], there(cache / name / file)) for file, pin in sources.items()
    )
    home = next(folder for folder in (cache, *cache.absolute().parents) if folder.is_dir())
    free = shutil.disk_usage(home).free
    print_message(
        f"{name}: {len(sources)} files of {size(total)}, of which {size(left)} are to be fetched; "
        f"{size(free)} are free in {cache}"
    )
    if left > free:
        raise FetchError(
            f"{name}: {size(left)} do not fit into the {size(free)} that are free in {cache}",
            remedy="Fetch less at once, make room, or set PARLEY_CACHE to a folder elsewhere.",
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
            "--update-cards",
            help="Recompute the documented figures and renew the cards in the dataset folders.",
        ),
    ] = False,
    max_shard_size: Annotated[
        str,
        typer.Option("--max-shard-size", help="Of Arrow data in a Parquet file: 500MB, 2GiB."),
    ] = "500MB",
    workers: Annotated[
        int,
        typer.Option(
            "--workers",
            min=0,
            metavar="N",
            help="Processes beside this one that make the rows of large JSON Lines files (Linux).",
        ),
    ] = 0,
    as_json: AsJson = False,
) -> None:
    """Build hub folders: strict rows in Parquet, with the card and provenance beside them."""
    from datasets.utils.py_utils import convert_file_size_to_int

    from parley.build import build as build_dataset
    from parley.build import notes
    from parley.source.files import open_source
    from parley.terminal.console import (
        plain,
        print_message,
        print_output,
        progress,
        size,
        table,
        to_json,
    )

    if sample and (_typed(ctx, "source") or update_cards):
        raise UsageError("--sample excludes --source and --update-cards")
    try:
        shard = convert_file_size_to_int(max_shard_size)
    except ValueError as error:
        raise UsageError(f"--max-shard-size {max_shard_size}: expected a size as 500MB") from error
    if shard < 1000:
        raise UsageError(f"--max-shard-size {max_shard_size}: expected 1KB or more")
    upstream = None if sample else _upstream(ctx, source)
    built: list[dict[str, Any]] = []
    missing: list[str] = []
    said: list[str] = []
    failed: list[ParleyError] = []
    start = time.perf_counter()
    with progress("rows") as advance:
        for dataset in _chosen(names):
            try:
                files = open_source(dataset, upstream, sample=sample, allow_missing=allow_missing)
                splits = build_dataset(
                    files,
                    folder,
                    advance,
                    max_shard_size=shard,
                    update_card=update_cards,
                    workers=workers,
                )
            except ParleyError as error:
                failed.append(error)
                continue
            missing += [f"{dataset.name}/{file}" for file in files.missing]
            said += [f"{dataset.name}: {note.replace('**', '')}" for note in notes(files)]
            built += [
                {
                    "dataset": dataset.name,
                    "config": split.config,
                    "split": split.name,
                    "rows": split.rows,
                    "bytes": split.size,
                    "seconds": round(split.seconds, 3),
                    "digest": split.digest,
                }
                for split in splits
            ]
    if as_json:
        typer.echo(to_json({"built": built, "missing": missing}))
    elif built:
        rows = [
            (
                split["dataset"],
                split["config"],
                split["split"],
                f"{split['rows']:,}",
                size(split["bytes"]),
                f"{split['seconds']:.2f} s",
            )
            for split in built
        ]
        kind = "samples, not the datasets" if sample else "rows checked one by one"
        print_output(table(("dataset", "config", "split", ">rows", ">Parquet", ">time"), rows))
        print_output(plain(f"in {folder}/, {time.perf_counter() - start:.1f} s in all; {kind}"))
    for note in said:
        print_message(note, "yellow")
    if missing:
        print_message("missing, and so left out with every split made from them:", "yellow")
        for file in missing:
            print_message(f"  {file}", "yellow")
    if failed:
        raise Failures(failed)


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
    """Verify built folders: schema, counts, consistency, round trip, every documented figure.

    Exit status 1 if a check fails or a figure is unexplained.
    """
    from parley.folder.built import find_folder
    from parley.folder.verify import Verification, verify_each
    from parley.terminal.console import print_message, print_output, progress, to_json
    from parley.terminal.report import report

    chosen = _chosen(names)
    there = [dataset for dataset in chosen if (folder / dataset.name).is_dir()]
    for dataset in chosen if names or not there else []:
        find_folder(folder, dataset)  # says what to do where there is none
    with progress() as advance:
        outcomes = list(verify_each(there, folder, _upstream(ctx, source), advance))
    found = [each for each in outcomes if isinstance(each, Verification)]
    broken = {
        dataset.name: each
        for dataset, each in zip(there, outcomes, strict=True)
        if isinstance(each, ParleyError)
    }
    if as_json:
        errors = [
            {"dataset": name, "failed": True, "error": str(error)} for name, error in broken.items()
        ]
        typer.echo(to_json([*(each.as_dict() for each in found), *errors]))
    elif found:
        print_output(report(found, list(broken), all_figures))
    if absent := [dataset.name for dataset in chosen if dataset not in there]:
        print_message(f"not built, and so not verified: {', '.join(absent)}", "yellow")
    if broken:
        raise Failures(broken.values())
    if any(each.failed for each in found):
        raise typer.Exit(1)


@app.command()
def diff(
    old: Annotated[Path, typer.Argument(metavar="OLD", help="A built folder of a dataset.")],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="Another one of the same dataset.")],
    as_json: AsJson = False,
) -> None:
    """Compare two built folders row by row: splits, rows, fields, schema and figures.

    As with diff(1), exit status 1 if they differ, 2 if they cannot be compared.
    """
    from parley.folder.built import open_folder
    from parley.folder.diff import compare
    from parley.terminal.console import print_output, to_json
    from parley.terminal.report import differences

    try:
        found = compare(open_folder(old), open_folder(new))
    except Exception as error:
        failure = _as_failure(error)
        failure.status = 2
        raise failure from error
    if as_json:
        typer.echo(to_json(found.as_dict()))
    else:
        print_output(differences(found))
    if found.differs:
        raise typer.Exit(1)


class New(TyperCommand):
    """`parley new`, whose --from takes all that follows it, as a shell's pattern gives it."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments, each file after the first with a --from of its own."""
        given = iter(args)
        spread: list[str] = []
        for arg in given:
            spread.append(arg)
            if arg == "--from":
                break
        for number, arg in enumerate(given):
            spread += ["--from", arg] if number and not arg.startswith("-") else [arg]
        return super().parse_args(ctx, spread)


@app.command(cls=New)
def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name of the dataset.")],
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Takes the dataset's folder, DIR/NAME.")
    ],
    files: Annotated[
        list[Path] | None,
        typer.Option(
            "--from",
            metavar="FILE...",
            help="Upstream's files that hold the records, their folders, or zip archives of them.",
        ),
    ] = None,
) -> None:
    """Write the folder of a new dataset: a skeleton to edit, or a draft --from upstream's files.

    A draft declares what the files hold, has an invented sample, passes `parley check`, and builds
    from the files. It lists what was guessed.
    """
    from parley.starting.new import write_draft, write_skeleton
    from parley.terminal.console import plain, print_output

    made, guesses = (
        write_draft(name, folder, files) if files else (write_skeleton(name, folder), ())
    )
    for line in guesses:
        print_output(plain(f"guessed: {line}"))
    print_output(plain(f"{made} is there; edit it, and check it with"))
    print_output(plain(f"PARLEY_DATASETS={shlex.quote(str(folder))} parley check {name}"))
    if files:
        print_output(
            plain(f"`parley build {name} --source DIR` builds it from DIR/{name}/ with the files")
        )


@app.command()
def check(names: Names = None, as_json: AsJson = False) -> None:
    """Check dataset folders: script, card, sample, and the modules beside the script.

    Needs no upstream files. Exit status 1 if a check fails.
    """
    from parley.linting.run import check_each
    from parley.terminal.console import print_output, progress, to_json
    from parley.terminal.report import checked

    chosen = _chosen(names)
    with progress() as advance:
        found = dict(check_each(chosen, advance))
    if as_json:
        made = {name: [{**vars(c), "failed": c.failed} for c in cs] for name, cs in found.items()}
        typer.echo(to_json([{"dataset": name, "checks": checks} for name, checks in made.items()]))
    else:
        print_output(checked(found))
    if any(check.failed for checks in found.values() for check in checks):
        raise typer.Exit(1)


@app.command()
def publish(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="A dataset.")],
    repo: Annotated[str, typer.Option("--repo", metavar="ORG/NAME", help="Where to publish it.")],
    folder: BuildDir = Path("build"),
    source: SourceDir = None,
    private: Annotated[
        bool, typer.Option("--private", help="Make the repository private, if it is new.")
    ] = False,
    tag: Annotated[bool, typer.Option("--tag/--no-tag", help="Tag the version.")] = True,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would change, file by file.")
    ] = False,
    endpoint: Annotated[
        str | None, typer.Option("--endpoint", metavar="URL", help="Another Hub.")
    ] = None,
    permitted: Annotated[
        bool,
        typer.Option("--i-have-permission", help="Publish a dataset of which no licence is known."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Publish a built dataset to the Hub: verified, in one commit, tagged and read back.

    The token is that of `hf auth login`, HF_TOKEN or a Trusted Publisher. An interrupted run leaves
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
    from parley.terminal.console import print_logs, print_message, print_output, to_json
    from parley.terminal.report import publication

    def step(what: str) -> None:
        print_message(f"{repo}: {what}")

    dataset = get(name)
    print_logs("huggingface_hub")
    validate_target(repo, dry_run, endpoint)
    upstream = at_hand(dataset, _upstream(ctx, source))
    find_folder(folder, dataset)
    # no build may come between what is verified and what is uploaded
    with locked((folder / name).resolve().parent):
        built = find_folder(folder, dataset)
        step("verifying the folder")
        if upstream is None:
            step("not compared with the upstream files: they are missing")
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
    if as_json:
        typer.echo(to_json(found.as_dict()))
    else:
        print_output(publication(found))


@app.command()
def export(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A dataset.")],
    format: Annotated[str, typer.Argument(metavar="FORMAT", help="A format of the dataset.")],
    target: Annotated[Path, typer.Argument(metavar="DIR", help="A folder to make.")],
    folder: BuildDir = Path("build"),
) -> None:
    """Write a built dataset in another format of its field, into a new folder."""
    from parley.exports.export import export as export_dataset
    from parley.folder.built import find_folder
    from parley.terminal.console import plain, print_output

    built = find_folder(folder, get(name))
    files = export_dataset(built, format, target)
    kind = "the invented sample, no data of the dataset; " if built.is_sample else ""
    print_output(plain(f"{name} as {format}, in {target}/: {kind}{', '.join(files)}"))


@app.command()
def show(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="A dataset.")],
    id: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="A dialogue; else the first.")
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option("--build", metavar="DIR", help="Read built folders in DIR [default: build]."),
    ] = None,
    source: SourceDir = None,
    sample: Sample = False,
    as_json: AsJson = False,
) -> None:
    """Lay out one dialogue for reading: from a built folder, a source or the sample.

    Without an option it is taken from build/ if it is there, else from PARLEY_SOURCE, else
    from the sample.
    """
    from parley.folder.built import BuiltFolder, find_folder
    from parley.source.files import Source, open_source
    from parley.terminal.console import plain, print_output, to_json
    from parley.terminal.show import find_dialogue, lay_out

    dataset = get(name)
    if sample and (folder is not None or _typed(ctx, "source")):
        raise UsageError("--sample excludes --build and --source")
    if folder is not None and _typed(ctx, "source"):
        raise UsageError("--build excludes --source")
    place: BuiltFolder | Source
    if folder is not None or (
        not sample and not _typed(ctx, "source") and (Path("build") / name).is_dir()
    ):
        place = find_folder(folder or Path("build"), dataset)
        origin = f"{place.path}{', a build of the invented sample' if place.is_sample else ''}"
    elif source is not None and not sample:
        place = open_source(dataset, _upstream(ctx, source), allow_missing=True)
        origin = str(place.folder)
    else:
        place, origin = open_source(dataset, None, sample=True), "the sample (invented)"
    try:
        found = find_dialogue(dataset, id, place, origin)
    except UsageError as error:
        if isinstance(place, Source) and place.sample and not sample:
            error.remedy = f"Nothing is built in build/: run `parley build {name}` for the dataset."
        raise
    if as_json:
        typer.echo(to_json(found.row))
        return
    print_output(lay_out(found))
    print_output(plain(f"\n{name}, config {found.config}, from {origin}"), style="dim")


@app.command()
def tasks(
    names: Names = None,
    update: Annotated[
        Path | None,
        typer.Option("--update", metavar="FILE", help="Renew what a card or page says of them."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List what can be scored: the tasks of each dataset, with their metrics and baselines."""
    from parley.scoring.leaderboard import renew
    from parley.tasks import tasks_of
    from parley.terminal.console import print_output, to_json
    from parley.terminal.tasks import lay_out_tasks, tasks_as_dicts

    found = []
    failed: list[ParleyError] = []
    for dataset in _chosen(names):
        try:
            found += [(dataset.name, name, task) for name, task in tasks_of(dataset).items()]
        except ParleyError as error:
            failed.append(error)
    if names and not found and not failed:
        raise UsageError(f"{', '.join(names)}: no tasks; `parley tasks` lists those there are")
    if update:
        if failed:
            raise Failures(failed)
        renew(update, found)
    elif as_json:
        typer.echo(to_json(tasks_as_dicts(found)))
    else:
        print_output(lay_out_tasks(found))
    if failed:
        raise Failures(failed)


@app.command()
def site(
    names: Names = None,
    folder: BuildDir = Path("build"),
    output: Annotated[
        Path, typer.Option("--output", metavar="DIR", help="The folder of the site.")
    ] = Path("site"),
) -> None:
    """Write built folders as a page to read, search and filter in a browser.

    It is static files: open its index.html, or put the folder on any host.
    """
    from parley.site.write import write_site
    from parley.terminal.console import plain, print_output, progress

    with progress("dialogues") as advance:
        write_site(_built(names, folder), output, advance)
    print_output(plain(f"{output / 'index.html'}: open it in a browser"))


@app.command()
def browse(
    ctx: typer.Context,
    names: Names = None,
    folder: BuildDir = Path("build"),
    sample: Sample = False,
    open_: Annotated[
        bool, typer.Option("--open/--no-open", help="Open the browser, or only say where.")
    ] = True,
) -> None:
    """Show built folders, or the samples, in a browser until Ctrl-C."""
    import webbrowser

    from parley.build import build as build_dataset
    from parley.site.serve import serving
    from parley.site.write import write_site
    from parley.source.files import open_source
    from parley.temporary import temporary_folder
    from parley.terminal.console import plain, print_output, progress

    if sample and _typed(ctx, "folder"):
        raise UsageError("--sample excludes --build")
    try:
        with temporary_folder("browse") as place:
            with progress("dialogues") as advance:
                if sample:
                    folder = place / "build"
                    for dataset in _chosen(names):
                        build_dataset(open_source(dataset, None, sample=True), folder)
                write_site(_built(names, folder), place / "site", advance)
            with serving(place / "site") as url:
                print_output(plain(f"{url} shows them; Ctrl-C ends it"))
                if open_:
                    webbrowser.open(url)
                while True:  # pause() would miss a signal just before it
                    time.sleep(0.5)
    except _Interrupted:
        return


def _built(names: list[str] | None, folder: Path) -> list[Any]:
    """Open the built folders of these datasets, or of all that are built."""
    from parley.folder.built import find_folder
    from parley.terminal.console import print_message

    chosen = _chosen(names)
    there = [dataset for dataset in chosen if (folder / dataset.name).is_dir()]
    if names or not there:
        return [find_folder(folder, dataset) for dataset in chosen]  # says what to do of each
    if absent := [dataset.name for dataset in chosen if dataset not in there]:
        print_message(f"not built, and so left out: {', '.join(absent)}", "yellow")
    return [find_folder(folder, dataset) for dataset in there]


@run.callback(invoke_without_command=True)
def _run(ctx: typer.Context) -> None:
    from parley.terminal.console import print_output, table

    if ctx.invoked_subcommand is None:
        found = each_jobs()
        rows = [
            (dataset, name, job.summary)
            for dataset, jobs in found.items()
            if isinstance(jobs, dict)
            for name, job in jobs.items()
        ]
        print_output(table(("dataset", "job", "what it does~"), rows))
        if broken := [jobs for jobs in found.values() if isinstance(jobs, ParleyError)]:
            raise Failures(broken)


if __name__ == "__main__":
    main()
