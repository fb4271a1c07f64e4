"""The command that asks builds a question: sql."""

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option

import parley.cli.common as common
from parley.base.errors import UsageError, few
from parley.cli.common import AsJson, BuildOrOther, Sample, app

_TO = "Write the whole result to a file: .csv, .parquet, .json or .jsonl."
_MOST = 1000  # rows of a table that no terminal cuts


@app.command()
def sql(
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
    from parley.base.console import out, print_message, print_output, progress, to_json
    from parley.cli.tables import cut_table, table
    from parley.read import sql as engine
    from parley.tasks.predictions import require_free

    if as_json and to is not None:
        raise UsageError("--to excludes --json")
    if to is not None:
        require_free(to)
    try:
        query = sys.stdin.read() if query == "-" else query
    except UnicodeError as error:
        raise UsageError(f"standard input: not a text in {sys.stdin.encoding}") from error
    named = [name for name in common.dataset_names() if name in query]
    with (
        progress() as advance,
        common.built_or_samples(folder, sample, named) as place,
        engine.connect(
            engine.named_in(query, engine.builds_in(place)), read_only=True
        ) as connection,
    ):
        advance("query", "running", None)
        if to is not None:
            count = engine.until_interrupted(
                connection, lambda: engine.write(connection, query, to)
            )
            common.print_line(f"{to}: {count:,} rows")
            return
        most = max(out.height - 6, 10) if out.is_terminal else _MOST

        def ask() -> tuple[list[str], list[Any], bool]:
            asked = engine.statement_of(connection, query)
            has_meanings = asked != (statement := engine.with_meanings(asked))
            found = connection.execute(engine.with_texts(connection, statement))
            columns = [str(column[0]) for column in found.description]
            rows = found.fetchall() if as_json or has_meanings else found.fetchmany(most + 1)
            return columns, rows, has_meanings

        columns, rows, has_meanings = engine.until_interrupted(connection, ask)
    if as_json:
        if twice := [name for name, times in Counter(columns).items() if times > 1]:
            raise UsageError(f"two columns are named {few(twice)}: name one with AS")
        typer.echo(to_json([dict(zip(columns, row, strict=True)) for row in rows]))
        return
    if has_meanings:
        cells = [[str(value or "") for value in row] for row in rows]
        print_output(table([f"{column}~" for column in columns], cells))
        return
    laid_out = cut_table(columns, [list(map(_shown, row)) for row in rows[:most]])
    print_output(laid_out)
    cut = [f"the first {most:,} rows"] if len(rows) > most else []
    if len(laid_out.columns) < len(columns):
        cut.append(f"{len(laid_out.columns)} of {len(columns)} columns")
    if cut:
        print_message(f"{', '.join(cut)}; --to FILE writes all")


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return value.replace("\n", "\\n")
    if value is None or isinstance(value, bool | int | float | list | dict):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)
