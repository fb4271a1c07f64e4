"""Several builds at once: `parley sql`, `parley browse` and `parley site`."""

import json
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option, echo

from parley.annotators.tables import add_tables
from parley.base.console import out, print_message, print_output, progress, to_json
from parley.base.errors import Interrupted, UsageError, few, require_known
from parley.base.replace import temporary_folder
from parley.base.secret import secrets_found_once
from parley.builds.built_folder import BuiltFolder
from parley.builds.sources import open_source
from parley.cli.common import open_built, print_line, require_outputs, select
from parley.cli.options import (
    AsJson,
    BuildDir,
    BuildOrOther,
    Names,
    Overwrite,
    Sample,
    dataset_names,
    output,
)
from parley.cli.tables import cut_table, table
from parley.models.logs import answers_of_log
from parley.page.page_data import Selection
from parley.page.user_labels import LABELS, UserLabels
from parley.read import queries, sql
from parley.read.dialogues import require_dialogues
from parley.scoring.predictions import is_log

_QUERY = "A statement of DuckDB's SQL; - reads it from standard input."
_TO = "Write the whole result to a file: .csv, .parquet, .json or .jsonl."
_WHERE = "Show the dialogues whose ids are in the first column of a query, in the query's order."
_LABELS = "Check a file of labels, and make it a table with its name; repeatable."
_WITH = "Show the labels or predictions of a file beside dialogues, turns or sides; repeatable."
_AS = "What JSON Lines of --with hold, if their fields do not show it: labels, or a task."
_PORT = "The port; 0 takes a free port."
_ROWS_UNCUT = 1000  # rows of a table that no terminal cuts

_Catalogue = Annotated[
    Path | None,
    Option("--catalogue", metavar="DIR", help="A folder with the titles of judged documents."),
]


def sql_command(
    query: Annotated[str, Argument(metavar="QUERY", help=_QUERY)],
    build: BuildOrOther = None,
    sample: Sample = False,
    files: Annotated[list[Path] | None, Option("--with", metavar="FILE", help=_LABELS)] = None,
    to: Annotated[Path | None, output(_TO)] = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Ask builds a question in SQL: each config is a table, DATASET.CONFIG.

    Class labels are names, and `split` is a column. A file of your own is a table too, by its name
    in quotes: 'labels.csv'. Without a terminal it prints the first 1,000 rows.
    """
    if as_json and to is not None:
        raise UsageError("--output excludes --json")
    require_outputs([to] if to else [], files or [], overwrite)
    if query == "-":
        query = _standard_input()
    names = [name for name in dataset_names() if name in query]
    most = max(out.height - 6, 10) if out.is_terminal else _ROWS_UNCUT
    with (
        progress() as advance,
        _built_or_samples(build, sample, names) as place,
        _connected(query, place, files) as connection,
    ):
        advance("query", "running", None)
        if to is not None:
            count = queries.until_interrupted(
                connection, lambda: queries.write(connection, query, to, overwrite)
            )
            print_line(f"{to}: {count:,} rows")
            return
        columns, rows, has_meanings = queries.until_interrupted(
            connection, lambda: _ask(connection, query, None if as_json else most + 1)
        )
    if as_json:
        if twice := [name for name, times in Counter(columns).items() if times > 1]:
            raise UsageError(f"two columns are named {few(twice)}: name one with AS")
        echo(to_json([dict(zip(columns, row, strict=True)) for row in rows]))
    elif has_meanings:
        cells = [[str(value or "") for value in row] for row in rows]
        print_output(table([f"{column}~" for column in columns], cells))
    else:
        _print_table(columns, rows, most)


def _connected(
    query: str, place: Path, files: list[Path] | None, of: list[BuiltFolder] | None = None
) -> Any:
    """Return a connection for a query to the builds that it may name, and to files of labels.

    The files are of one build, `of`, or that of the query.
    """
    builds = sql.named_in(query, sql.builds_in(place))
    connection = sql.connect(builds, read_only=True)
    if files:
        add_tables(connection, of or builds, files)
    return connection


def _standard_input() -> str:
    try:
        return sys.stdin.read()
    except UnicodeError as error:
        raise UsageError(f"standard input: not a text in {sys.stdin.encoding}") from error


def _ask(connection: Any, query: str, most: int | None) -> tuple[list[str], list[Any], bool]:
    """Return columns, rows, `most` or all, and whether they are columns with their meanings."""
    plain = queries.statement_of(connection, query)
    statement = queries.with_meanings(plain)
    has_meanings = statement != plain
    result = connection.execute(queries.with_texts(connection, statement))
    columns = [str(column[0]) for column in result.description]
    is_whole = most is None or has_meanings
    return columns, result.fetchall() if is_whole else result.fetchmany(most), has_meanings


@secrets_found_once()
def _print_table(columns: list[str], rows: list[Any], most: int) -> None:
    """Print what fits a terminal of a result, and say what does not."""
    cells = [[cell_of(value) for value in row] for row in rows[:most]]
    laid_out = cut_table(columns, cells)
    print_output(laid_out)
    notes = []
    if len(rows) > most:
        notes.append(f"the first {most:,} rows")
    if len(laid_out.columns) < len(columns):
        notes.append(f"{len(laid_out.columns)} of {len(columns)} columns")
    if notes:
        print_message(f"{', '.join(notes)}; -o FILE writes all")


def cell_of(value: Any) -> str:
    """Return a value in one line, as a table shows it."""
    if isinstance(value, str):
        return value.replace("\n", "\\n")
    if value is None or isinstance(value, bool | int | float | list | dict):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)


def browse_command(
    names: Names = None,
    build: BuildOrOther = None,
    sample: Sample = False,
    where: Annotated[str | None, Option("--where", metavar="QUERY", help=_WHERE)] = None,
    files: Annotated[list[Path] | None, Option("--with", metavar="FILE", help=_WITH)] = None,
    kind: Annotated[str, Option("--as", metavar="KIND", help=_AS)] = "",
    catalogue: _Catalogue = None,
    port: Annotated[int, Option(metavar="PORT", min=0, max=65535, help=_PORT)] = 0,
    open_: Annotated[bool, Option("--open/--no-open", help="Open the browser.")] = True,
) -> None:
    """Show builds, or the samples, in a browser until Ctrl-C.

    Parley reads a dataset when you first open one of its pages.
    """
    from parley.page.serve import browse

    try:
        if kind and not files:
            raise UsageError(f"--as {kind} says what --with FILE holds: name a file")
        with _built_or_samples(build, sample, names) as place:
            builds = open_built(names, place, catalogue)
            selection = Selection()
            if where is not None or files:
                selection = _selection(where, files or [], kind, place, builds)
            selection = replace(selection, catalogue=catalogue)
            browse(builds, selection, port=port, open_browser=open_, is_kept=not sample)
    except Interrupted:
        return


def _selection(
    query: str | None, files: list[Path], kind: str, place: Path, builds: list[BuiltFolder]
) -> Selection:
    """Return a query with the ids that it finds, and files; say how many, and how they differ."""
    if len(builds) != 1:
        raise UsageError("--where and --with take the name of one dataset: parley browse NAME …")
    (built,) = builds
    own_files = None
    if files:
        if kind:
            require_known("parley browse", "--as", kind, [LABELS, *built.dataset.tasks])
        own_files = UserLabels(built, [path for path in files if not is_log(str(path))], kind)
        for path in files:
            if is_log(str(path)):
                model, epochs = answers_of_log(built, path)
                own_files.add_answers(path, epochs, model)
        print_message("\n".join(own_files.notes))
    selection = Selection(files=own_files)
    if query is not None:
        with _connected(query, place, own_files.paths if own_files else None, builds) as connection:
            dialogues = queries.ids(connection, query, built)
        require_dialogues(built, dialogues)
        print_message(f"{len(dialogues):,} dialogues")
        selection = replace(selection, query=query.strip().rstrip(";"), ids=dialogues)
    return selection


def site_command(
    names: Names = None,
    build: BuildDir = Path("build"),
    to: Annotated[Path, output("The folder of the site.", "DIR")] = Path("site"),
    catalogue: _Catalogue = None,
) -> None:
    """Write builds as a page to read, search and filter in a browser.

    The page is static files: open its index.html, or put the folder on any host.
    """
    from parley.page.site import write_site

    builds = open_built(names, build, catalogue)
    with progress("dialogues") as advance:
        write_site(builds, to, advance, Selection(catalogue=catalogue))
    print_line(f"{to / 'index.html'}: open it in a browser")


@contextmanager
def _built_or_samples(
    build: Path | None, sample: bool, names: list[str] | None = None
) -> Iterator[Path]:
    """Yield the folder of `--build`, or, with `--sample`, a temporary one of built samples."""
    if not sample:
        yield build or Path("build")
        return
    if build is not None:
        raise UsageError("--sample excludes --build")
    from parley.builds.build import build as write_build

    with temporary_folder("samples") as place:
        for dataset in select(names):
            write_build(open_source(dataset, None, sample=True), place)
        yield place
