"""Builds as tables of DuckDB: a database for each dataset, a view for each config."""

from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from parley.base.errors import OutputError, Problem, UsageError
from parley.base.replace import temporary_folder
from parley.builds.built_folder import BuiltFolder, find_folder, no_build, open_folder
from parley.builds.card_parts import meaning_of
from parley.builds.provenance import PROVENANCE
from parley.declaration.registry import discover
from parley.read.queries import errors_of_disks, one_line, quoted, text
from parley.schema.features import item_of, labels_of
from parley.source.hashes import problem

_OWN = "system.main."  # so that no macro of a program stands for a function of a view
_SETTINGS: dict[str, Any] = {"autoinstall_known_extensions": False}  # which reaches the network


def builds_in(path: Path) -> list[BuiltFolder]:
    """Return the build at a path, or those in it; UsageError if there are none."""
    if (path / PROVENANCE).exists():
        return [open_folder(path)]
    datasets = [dataset for dataset in discover().values() if (path / dataset.name).is_dir()]
    if not datasets:
        raise no_build(f"{path}: no build, and no folder with one", "NAME", path)
    return [find_folder(path, dataset) for dataset in datasets]


def named_in(query: str, builds: list[BuiltFolder]) -> list[BuiltFolder]:
    """Return the builds of the datasets that a query may name; all if it names none."""
    return [built for built in builds if built.dataset.name in query] or builds


def connect(builds: Iterable[BuiltFolder], *, read_only: bool = False) -> Any:
    """Return a connection of DuckDB to builds; `parley.connect` describes it and its errors.

    One that is `read_only` is for `statement_of`: its settings are locked, as some functions of a
    query change them, and it takes no variable of Python for a table.
    """
    import duckdb

    connection = duckdb.connect(config=_SETTINGS)
    attached: dict[str, BuiltFolder] = {}
    for built in builds:
        name = built.dataset.name
        if name in attached:
            both = f"{attached[name].path} and {built.path}"
            raise UsageError(f"{both} are both builds of {name}: connect to one of them")
        attached[name] = built
    # in threads, as DuckDB turns a signal in the main one into an error of its own
    with temporary_folder("sql") as place, ThreadPoolExecutor() as threads:
        threads.submit(connection.execute, "set enable_progress_bar = false").result()
        list(threads.map(partial(_attach, connection, place), attached.values()))
        if read_only:
            locked = "set python_enable_replacements = false; set lock_configuration = true"
            threads.submit(connection.execute, locked).result()
    return connection


def _attach(connection: Any, place: Path, built: BuiltFolder) -> None:
    """Attach a read-only database of the views of a build, by way of a file in a folder."""
    import duckdb

    _require_recorded(built)
    name, file = built.dataset.name, text(str(place / built.dataset.name))
    try:
        with errors_of_disks(), connection.cursor() as cursor:
            cursor.execute(f"attach {file} as {name}")
            cursor.execute("begin; " + "; ".join(_views(built)) + "; commit")
            # DuckDB refuses any change of what is attached so, and keeps the file open
            cursor.execute(f"detach {name}; attach {file} as {name} (read_only)")
    except duckdb.Error as error:
        what = f"{built.path}: cannot be connected: {one_line(error)}"
        raise OutputError(what, remedy=f"Run {built.command('verify')}.") from error


def _require_recorded(built: BuiltFolder) -> None:
    """Raise OutputError unless the files are those of the provenance: DuckDB compares nothing."""
    built.require_whole()
    problems = {name: problem(built.path / name, pin) for name, pin in built.parquet_files.items()}
    if wrong := [Problem(name, what=what) for name, what in problems.items() if what]:
        what = f"{built.path}: a damaged build"
        raise OutputError(what, *wrong, remedy=f"Run {built.rebuild} again.")


def _views(built: BuiltFolder) -> Iterator[str]:
    """Yield the statements that make a view of each config that has rows, with its comments."""
    for name, config in built.dataset.configs.items():
        if not built.splits(name):
            continue
        yield view_of(built, name, built.path.absolute(), _OWN)
        view = f"{built.dataset.name}.{quoted(name)}"
        kind = ", of the invented sample" if built.is_sample else ""
        yield f"comment on view {view} is {text(config.description + kind)}"
        for column, meaning in _meanings(config).items():
            yield f"comment on column {view}.{quoted(column)} is {text(meaning)}"


def view_of(built: BuiltFolder, name: str, folder: Path, own: str = "") -> str:
    """Return the statement that makes the view of a config of the build in a folder.

    Labels have their names; `split` and `place_in_split` tell the row. `own` stands before each
    function.
    """
    from pyarrow.parquet import read_metadata  # not at the top: only views need it

    features, splits = built.dataset.configs[name].features, built.splits(name)
    named = {c: _with_label_names(quoted(c), f, own) for c, f in features.items()}
    cells = [f"{sql} as {quoted(c)}" for c, sql in named.items() if sql != quoted(c)]
    replaced = f" replace ({', '.join(cells)})" if cells else ""
    kind, parts = f"enum({', '.join(map(text, splits))})", []
    for split in splits:
        before = 0
        for file in built.files(name, split):
            place = f"file_row_number + {before}" if before else "file_row_number"
            path = literal(folder / file.relative_to(built.path.absolute()))
            parts.append(
                f"select * exclude (file_row_number){replaced}, {text(split)}::{kind} as split, "  # noqa: S608
                f"{place} as place_in_split from {own}read_parquet({path}, file_row_number = true, "
                "hive_partitioning = false)"
            )
            before += read_metadata(file).num_rows
    lines = "\nunion all ".join(parts)
    return f"create view {built.dataset.name}.{quoted(name)} as\n{lines}"


def literal(path: Path) -> str:
    """Return a path as a literal that matches this file alone; UsageError if DuckDB has none."""
    whole = path.as_posix()
    if "\\" in whole and {*"*?["} & {*whole}:
        what = f"{path}: a path with a backslash and one of *, ? and [, which DuckDB cannot open"
        raise UsageError(what, remedy="Rename the file or folder.")
    return text("".join(f"[{sign}]" if sign in "*?[" else sign for sign in whole))


def _meanings(config: Any) -> dict[str, str]:
    """Return column -> its meaning, then those of the fields within it, a line for each."""
    lines_of: dict[str, list[str]] = {name: [] for name in config.features}
    top = ""
    for column in config.fields:
        top = column.path if column.path in lines_of else top
        inner = column.path.removeprefix(top)
        is_label = column.type.endswith("ClassLabel")  # the type of a column lists its labels
        meaning = meaning_of(replace(column, values=()) if is_label else column)
        lines_of[top].append(f"{inner}: {meaning}" if inner else meaning)
        lines_of[top] += [f"{label}: {its}" for label, its in column.meanings if its]
    lines_of["split"] = ["the split of the row"]
    lines_of["place_in_split"] = ["the place of the row in its split, from 0"]
    return {name: "\n".join(lines) for name, lines in lines_of.items()}


def _with_label_names(value: str, feature: Any, own: str, depth: int = 0) -> str:
    """Return the SQL of a value with the names of labels instead of their numbers."""
    if names := labels_of(feature):
        known = ", ".join(map(text, names))
        wrong = f"{own}error('no label has the number ' || {value})"
        return (
            f"case when {value} between 0 and {len(names) - 1} "
            f"then ([{known}])[{value} + 1]::enum({known}) "
            f"when {value} is not null then {wrong} end"
        )
    if (item := item_of(feature)) is not None:
        name = f"x{depth}"
        inner = _with_label_names(name, item, own, depth + 1)
        return value if inner == name else f"{own}list_transform({value}, lambda {name}: {inner})"
    if not isinstance(feature, Mapping):
        return value
    places = {name: f"{value}.{quoted(name)}" for name in feature}
    parts = {
        name: _with_label_names(places[name], inner, own, depth) for name, inner in feature.items()
    }
    packed = ", ".join(f"{quoted(name)} := {part}" for name, part in parts.items())
    if parts == places:
        return value
    return f"case when {value} is not null then {own}struct_pack({packed}) end"
