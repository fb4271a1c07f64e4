"""A query of DuckDB: what it may do, how it ends, and where its rows go."""

import errno
import os
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

from parley.base.errors import Problem, UsageError
from parley.base.replace import writing
from parley.builds.built_folder import BuiltFolder
from parley.declaration.registry import discover
from parley.read.dialogues import id_columns
from parley.read.export.export import write_cells

T = TypeVar("T")
_FORMATS = {
    ".csv": "",  # written here, as no other function makes text safe for a spreadsheet
    ".parquet": "format parquet",
    ".json": "format json, array true",
    ".jsonl": "format json",
}
_AT_ONCE = 1000  # rows in memory
_RUNS_TEXT = "JSON_EXECUTE_SERIALIZED_SQL"  # a function: it runs a text on a connection of its own
_TIME = re.compile(  # in the name of a type, not of a label or a field
    r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|"""
    r"""\b(DATE|INTERVAL|TIME(?:STAMP)?(?:_\w+)?(?: WITH TIME ZONE)?)(?=[],)[]|$)"""
)


@contextmanager
def errors_of_disks() -> Iterator[None]:
    """Raise OSError where DuckDB says in an error of its own that a disk is full."""
    import duckdb

    try:
        yield
    except duckdb.Error as error:
        if os.strerror(errno.ENOSPC) in str(error):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)) from error
        raise


def until_interrupted(connection: Any, ask: Callable[[], T]) -> T:
    """Return what a function returns; end its query on a signal, which DuckDB may not notice.

    An error of DuckDB becomes a UsageError of one line.
    """
    import duckdb

    with ThreadPoolExecutor(1) as thread:
        try:
            return thread.submit(ask).result()
        except duckdb.Error as error:
            raise UsageError(_message(connection, error)) from error
        except BaseException:
            connection.interrupt()
            raise


def _message(connection: Any, error: Exception) -> str:
    """Return an error of DuckDB as a line, with what to do about a dataset or a label in it."""
    match = re.match(r'Catalog Error: Table with name "?(\w+)', str(error))
    if match and (name := match[1].lower()) in discover():
        views = "select view_name from duckdb_views() where database_name = ? order by all"
        if not (tables := connection.execute(views, [name]).fetchall()):
            return f"{name} has no build here: run `parley build {name}`"
        named = ", ".join(f"{name}.{table}" for (table,) in tables)
        return f"{name} is a dataset, not a table: name one of its tables, {named}"
    is_of_label = re.match("Binder Error: No function matches .*ENUM", str(error))
    more = " The number of a label, from 1, is enum_code(LABEL) + 1."
    return one_line(error) + (more if is_of_label else "")


def statement_of(connection: Any, query: str) -> str:
    """Return the one statement of a query without what ends it; UsageError if it may do else.

    DuckDB takes nothing but a query within brackets, and no part of it that writes. Explaining it
    finds that out and runs nothing, but for a PIVOT whose values DuckDB is to find.
    """
    import duckdb

    statements = duckdb.extract_statements(query)
    if (kinds := [statement.type.name for statement in statements]) != ["SELECT"]:
        what = "expected one statement that reads, such as SELECT, or PIVOT with the values: "
        raise UsageError(f"{what}on COLUMN in (…); found {', '.join(kinds) or 'none'}")
    whole = str(statements[0].query).encode()
    for at, kind in reversed(duckdb.tokenize(whole.decode())):  # places in bytes
        if kind != duckdb.token_type.comment and whole[at : at + 1] != b";":
            break
        whole = whole[:at]
    statement = whole.decode().strip()
    for name in ("/dev/stdin", "/dev/fd/"):  # of which DuckDB makes an empty table
        if name in statement:
            raise UsageError(f"{name}: expected a file", remedy="Copy it to a file, and name that.")
    bracketed = f"select * from ({statement}\n)"  # noqa: S608
    plan = connection.execute(f"explain (format json) {bracketed}").fetchall()
    if _RUNS_TEXT in str(plan):
        raise UsageError(f"expected a statement that reads, found {_RUNS_TEXT}")
    return statement


def with_meanings(statement: str) -> str:
    """Return a statement; `describe NAME.CONFIG` and `show tables` become ones with meanings."""
    if re.fullmatch(r"show\s+tables", statement, re.IGNORECASE):
        return (
            "select database_name || '.' || view_name as \"table\", comment as meaning "
            "from duckdb_views() where not internal order by all"
        )
    if not (names := re.fullmatch(r"describe\s+(\w+)\.(\w+)", statement, re.IGNORECASE)):
        return statement
    name, config = (text(part.lower()) for part in names.groups())
    return (
        "select column_name, data_type as column_type, comment as meaning from duckdb_columns() "  # noqa: S608
        f"where lower(database_name) = {name} and lower(table_name) = {config} "
        "order by column_index"
    )


def with_texts(connection: Any, statement: str) -> str:
    """Return a statement whose times are texts, as Python has no infinite, exact or long ones."""
    result = connection.sql(statement)
    cells = []
    for number, (name, kind) in enumerate(zip(result.columns, map(str, result.types), strict=True)):
        with_text = _TIME.sub(lambda match: "VARCHAR" if match[1] else match[0], kind)
        value = f"c{number}" if with_text == kind else f"c{number}::{with_text}"
        cells.append(f"{value} as {quoted(name)}")
    names = ", ".join(f"c{number}" for number in range(len(cells)))
    return f"select {', '.join(cells)} from ({statement}\n) t({names})"  # noqa: S608


def ids(connection: Any, query: str, built: BuiltFolder) -> list[str]:
    """Return the ids of dialogues in the first column of a result, each once; else UsageError."""
    execute = connection.execute
    result = until_interrupted(connection, lambda: execute(statement_of(connection, query)))
    names = {"id", *id_columns(built)}
    if (name := result.description[0][0]) not in names:
        what = f"ids in its first column, by the name {' or '.join(sorted(names))}"
        raise UsageError("", Problem("the query", what, name))
    rows = until_interrupted(connection, result.fetchall)
    if not rows or any(row[0] is None for row in rows):
        lack = "null" if rows else "no row"
        raise UsageError("", Problem("the query", "ids in its first column", lack))
    return list(dict.fromkeys(str(row[0]) for row in rows))


def write(connection: Any, query: str, path: Path, overwrite: bool = False) -> int:
    """Write the result of a query to a file in the format of its suffix; return the rows.

    The file appears whole or not at all, as `writing` does it, after the query, which may read the
    file that it replaces. Memory does not grow with the rows.
    """
    if path.suffix not in _FORMATS:
        raise UsageError(f"{path}: expected a name that ends in {', '.join(_FORMATS)}")
    statement = with_meanings(statement_of(connection, query))
    with writing(path, overwrite=overwrite) as file, errors_of_disks():
        if path.suffix != ".csv":
            target = f"{text(file.name)} ({_FORMATS[path.suffix]}, use_tmp_file false)"
            return int(connection.execute(f"copy ({statement}\n) to {target}").fetchone()[0])
        result = connection.execute(with_texts(connection, statement))
        rows = chain.from_iterable(iter(partial(result.fetchmany, _AT_ONCE), []))
        return write_cells(file, [column[0] for column in result.description], rows)


def one_line(error: Exception) -> str:
    """Return the message of an error of DuckDB as a line, without the query that it quotes."""
    return " ".join(re.split(r"\n\nLINE |\s+Candidate functions:", str(error))[0].split())


def text(value: str) -> str:
    """Return a text as a literal of SQL."""
    return "'" + value.replace("'", "''") + "'"


def quoted(name: str) -> str:
    """Return a name as an identifier of SQL."""
    return '"' + name.replace('"', '""') + '"'
