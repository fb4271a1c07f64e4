"""`parley sql`."""

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option

from parley.base.console import out, print_message, print_output, progress, to_json
from parley.base.errors import UsageError, few
from parley.cli.commands import single_command
from parley.cli.common import AsJson, BuildOrOther, Sample, dataset_names, print_line
from parley.cli.samples import built_or_samples
from parley.cli.tables import cut_table, table
from parley.read.sql import (
    builds_in,
    connect,
    named_in,
    statement_of,
    until_interrupted,
    with_meanings,
    with_texts,
    write,
)
from parley.tasks.predictions import require_free

_TO = "Write the whole result to a file: .csv, .parquet, .json or .jsonl."
_MOST = 1000  # rows of a table that no terminal cuts

app = single_command()


@app.command("sql")
def sql_command(
    query: Annotated[
        str,
        Argument(
            metavar="QUERY", help="A statement of DuckDB's SQL; - reads it from standard input."
        ),
    ],
    folder: BuildOrOther = None,
    sample: Sample = False,
    to: Annotated[Path | None, Option("--to", metavar="FILE", help=_TO)] = None,
    as_json: AsJson = False,
) -> None:
    """Ask builds a question in SQL: each config is a table, DATASET.CONFIG.

    Class labels are names, and `split` is a column. A file of your own is a table too, by its name
    in quotes: 'labels.csv'. Without a terminal, the first 1,000 rows are printed.
    """
    if as_json and to is not None:
        raise UsageError("--to excludes --json")
    if to is not None:
        require_free(to)
    if query == "-":
        query = _standard_input()
    names = [name for name in dataset_names() if name in query]
    most = max(out.height - 6, 10) if out.is_terminal else _MOST
    with (
        progress() as advance,
        built_or_samples(folder, sample, names) as place,
        connect(named_in(query, builds_in(place)), read_only=True) as connection,
    ):
        advance("query", "running", None)
        if to is not None:
            count = until_interrupted(connection, lambda: write(connection, query, to))
            print_line(f"{to}: {count:,} rows")
            return
        columns, rows, has_meanings = until_interrupted(
            connection, lambda: _ask(connection, query, None if as_json else most + 1)
        )
    if as_json:
        if twice := [name for name, times in Counter(columns).items() if times > 1]:
            raise UsageError(f"two columns are named {few(twice)}: name one with AS")
        typer.echo(to_json([dict(zip(columns, row, strict=True)) for row in rows]))
    elif has_meanings:
        cells = [[str(value or "") for value in row] for row in rows]
        print_output(table([f"{column}~" for column in columns], cells))
    else:
        _print_table(columns, rows, most)


def _standard_input() -> str:
    try:
        return sys.stdin.read()
    except UnicodeError as error:
        raise UsageError(f"standard input: not a text in {sys.stdin.encoding}") from error


def _ask(connection: Any, query: str, most: int | None) -> tuple[list[str], list[Any], bool]:
    """Return columns, rows, `most` or all, and whether they are columns with their meanings."""
    plain = statement_of(connection, query)
    statement = with_meanings(plain)
    has_meanings = statement != plain
    result = connection.execute(with_texts(connection, statement))
    columns = [str(column[0]) for column in result.description]
    is_whole = most is None or has_meanings
    return columns, result.fetchall() if is_whole else result.fetchmany(most), has_meanings


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
        print_message(f"{', '.join(notes)}; --to FILE writes all")


def cell_of(value: Any) -> str:
    """Return a value in one line, as a table shows it."""
    if isinstance(value, str):
        return value.replace("\n", "\\n")
    if value is None or isinstance(value, bool | int | float | list | dict):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)
