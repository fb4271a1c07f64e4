"""Files of labels as tables of DuckDB."""

from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from parley.annotators.columns import Column
from parley.annotators.layouts import ANNOTATOR
from parley.annotators.reader import Labels, file_stem, read_labels
from parley.base.errors import UsageError, few
from parley.builds.built_folder import BuiltFolder
from parley.read.queries import one_line, quoted, text, until_interrupted

_TYPES = {"int": "bigint", "float": "double", "bool": "boolean"}


def add_tables(connection: Any, builds: Sequence[BuiltFolder], files: Sequence[str | Path]) -> None:
    """Add a table for each file of labels of the one build; errors as `read_labels`.

    Its name is that of the file without suffix. It has the key, the annotator, and the columns as
    the config declares them; a set of labels is a list in the order of the dataset's equal one.
    """
    import pyarrow as pa

    if len(builds) != 1:
        names = ", ".join(built.dataset.name for built in builds)
        remedy = "Name the build of that dataset alone, or a table of it in the query."
        raise UsageError(f"expected files of labels of one dataset, found {names}", remedy=remedy)
    stems = {path: file_stem(path) for path in dict.fromkeys(map(Path, files))}
    folded = Counter(map(str.lower, stems.values()))
    if twice := [name for name, count in folded.items() if count > 1]:
        raise UsageError(f"two files would both be the table {few(twice)}", remedy="Rename one.")
    for path, name in stems.items():
        (labels,) = read_labels(builds[0], [path])
        columns = [*labels.key_columns, Column(ANNOTATOR), *labels.columns.values()]
        values: dict[str, list[Any]] = {column.name: [] for column in columns}
        listed = _listed(labels)
        for person, units in labels.annotators.items():
            for unit, given in units.items():
                row = {ANNOTATOR: person} | given | labels.key_values(unit)
                for column, cells in values.items():
                    value = row.get(column)
                    cells.append(listed.get((unit, column, value), value))
        typed = (
            f"{quoted(c.name)}::{_type_of(c, values[c.name])} as {quoted(c.name)}" for c in columns
        )
        try:
            connection.register("parley_rows", pa.table(values))
            query = f"create table {quoted(name)} as select {', '.join(typed)} from parley_rows"  # noqa: S608
            until_interrupted(connection, partial(connection.execute, query))
            connection.unregister("parley_rows")
        except (UsageError, pa.ArrowException) as error:
            raise UsageError(f"{path}: cannot be a table: {one_line(error)}") from error


def _listed(labels: Labels) -> dict[tuple[Any, ...], Any]:
    """Return unit, column and set of labels -> the dataset's list, if the set is equal."""
    names = [n for n, c in labels.columns.items() if c.is_set and n in labels.paths]
    return {
        (key, name, labels.columns[name].own(row[name])): row[name]
        for key, row in labels.each_row()
        for name in names
        if isinstance(row[name], list)
    }


def _type_of(column: Column, values: Sequence[Any]) -> str:
    """Return the type in SQL of a column with these values."""
    if column.labels and not column.is_open:
        return f"enum({', '.join(map(text, column.labels))}){'[]' * column.is_set}"
    if column.is_open:
        is_whole = all(isinstance(value, int) for value in values if value is not None)
        number = "bigint" if is_whole else "double"
        return number if column.is_ordered else "varchar" + "[]" * column.is_set
    dtype = str(getattr(column.node and column.node.conversion("").feature, "dtype", ""))
    return _TYPES.get(dtype.rstrip("0123456789"), "varchar")
