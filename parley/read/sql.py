"""Builds as tables of DuckDB: a database for each dataset, a view for each config."""

import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from parley.base.errors import OutputError, Problem, UsageError
from parley.base.replace import temporary_folder
from parley.base.values import strings
from parley.builds.built_folder import BuiltFolder, find_folder, no_build, open_folder
from parley.builds.card_parts import meaning_of
from parley.builds.provenance import PROVENANCE
from parley.declaration.layout import Value
from parley.declaration.registry import discover
from parley.read.dialogues import dialogues
from parley.read.filters import display_text, pairs_of, sides_of
from parley.read.queries import errors_of_disks, one_line, quoted, text
from parley.read.transcript import Transcript
from parley.schema.features import item_of, labels_of
from parley.source.hashes import problem

FILTERS = "filters"  # the table of what the page filters by, beside the configs of a dataset
_SIDES = {
    "id": ("varchar", "the id of the dialogue, as text; SPLIT/ID where splits share ids"),
    "place": ("bigint", "the place of the dialogue on the page, from 0"),
    "side": ("varchar", "a side of the dialogue; null for a dialogue without sides"),
    "labels": ("map(varchar, varchar[])", "filter -> its values, of the side or the dialogue"),
    "numbers": (
        "map(varchar, double[])",
        "filter -> its numbers, of the side or the dialogue; of a label its rank",
    ),
    "said": ("varchar[]", "the utterances, NFKC in lower case"),
    "around": ("varchar", "the texts around the utterances, NFKC in lower case"),
}
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
    kind = f"struct({', '.join(f'{name} {kind}' for name, (kind, _) in _SIDES.items())})[]"
    sides = partial(_sides, attached, {})
    connection.create_function(
        "parley_sides", sides, ["varchar"], kind, type="arrow", side_effects=True
    )  # without side effects, it is called while a query is planned
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


def _sides(attached: Mapping[str, BuiltFolder], arrays: dict[str, Any], names: Any) -> Any:
    """Return the rows of `filters` of datasets, which are read when a query first needs them."""
    import pyarrow as pa

    texts, numbers = pa.list_(pa.string()), pa.list_(pa.float64())
    types = {"labels": pa.map_(pa.string(), texts), "numbers": pa.map_(pa.string(), numbers)}
    types |= {"said": texts, "place": pa.int64()}
    row = pa.struct([(name, types.get(name, pa.string())) for name in _SIDES])
    datasets = names.to_pylist()
    for name in datasets:
        if name not in arrays:
            arrays[name] = pa.array([list(sides_in(attached[name]))], pa.list_(row))
    return pa.concat_arrays([arrays[name] for name in datasets])


def sides_in(built: BuiltFolder) -> Iterator[dict[str, Any]]:
    """Yield a row for each side of a dialogue, or one for a dialogue without sides.

    `labels` and `numbers` are lists of (filter, its values of the side or of the dialogue). A label
    has a number if its facet has ranks.
    """
    ranks = {name: facet.ranks for name, facet in built.dataset.layout.words.items()}
    for place, dialogue in enumerate(dialogues(built)):
        facets, transcript = dialogue.facets, dialogue.transcript
        utterances = [_fold(turn.text) for turn in transcript.turns if not turn.action]
        around = _fold("\n".join(_around(transcript)))
        whole = {"id": dialogue.id, "place": place, "said": utterances, "around": around}
        known = sides_of(facets)
        for side, number in known.items() if known else [(None, -1)]:
            values = {
                name: [value for of, value in pairs_of(facet, known) if of in (-1, number)]
                for name, facet in facets.items()
            }
            labels = [(name, list(map(display_text, of_name))) for name, of_name in values.items()]
            numbers = [
                (name, [*_numbers(of_name, ranks.get(name, {}))])
                for name, of_name in values.items()
            ]
            yield whole | {"side": side, "labels": labels, "numbers": numbers}


def _numbers(values: Sequence[Value], ranks: Mapping[Value, int]) -> Iterator[float]:
    """Yield the numbers among values, and the ranks of the values that have one."""
    for value in values:
        number = ranks.get(value, value)
        if not isinstance(number, str | bool):
            yield float(number)


def _around(transcript: Transcript) -> Iterator[str]:
    """Yield reasons, descriptions, actions and labels."""
    yield from transcript.speakers
    yield from strings(replace(transcript, turns=[], language="", entry=""))
    for turn in transcript.turns:
        if turn.action:
            yield turn.text
        yield from strings(turn.notes)


def _fold(text: str) -> str:
    """Return text for comparison, as text.js does."""
    return unicodedata.normalize("NFKC", text).lower()


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
        if not (splits := built.splits(name)):
            continue
        view = f"{built.dataset.name}.{quoted(name)}"
        columns = [
            f"{_with_label_names(quoted(c), f)} as {quoted(c)}" for c, f in config.features.items()
        ]
        kind = f"enum({', '.join(map(text, splits))})"
        parts = [
            f"select {', '.join(columns)}, {text(split)}::{kind} as split "  # noqa: S608
            f"from {_OWN}read_parquet([{', '.join(map(literal, built.files(name, split)))}], "
            "hive_partitioning = false)"
            for split in splits
        ]
        yield f"create view {view} as {' union all '.join(parts)}"
        kind = ", of the invented sample" if built.is_sample else ""
        yield f"comment on view {view} is {text(config.description + kind)}"
        for column, meaning in _meanings(config).items():
            yield f"comment on column {view}.{quoted(column)} is {text(meaning)}"

    if FILTERS not in built.dataset.configs:
        name = built.dataset.name
        rows = f"(select unnest({_OWN}parley_sides({text(name)})) as row)"
        yield f"create view {name}.{FILTERS} as select row.* from {rows}"  # noqa: S608
        yield f"comment on view {name}.{FILTERS} is 'a side of a dialogue, as the page filters it'"
        for column, (_, meaning) in _SIDES.items():
            yield f"comment on column {name}.{FILTERS}.{column} is {text(meaning)}"


def literal(path: Path) -> str:
    """Return a path as a literal that matches this file alone; UsageError if DuckDB has none."""
    whole = str(path.absolute())
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
    lines_of["split"] = ["the split of the row"]
    return {name: "\n".join(lines) for name, lines in lines_of.items()}


def _with_label_names(value: str, feature: Any, depth: int = 0) -> str:
    """Return the SQL of a value with the names of labels instead of their numbers."""
    if names := labels_of(feature):
        known = ", ".join(map(text, names))
        wrong = f"{_OWN}error('no label has the number ' || {value})"
        return (
            f"case when {value} between 0 and {len(names) - 1} "
            f"then ([{known}])[{value} + 1]::enum({known}) "
            f"when {value} is not null then {wrong} end"
        )
    if (item := item_of(feature)) is not None:
        name = f"x{depth}"
        inner = _with_label_names(name, item, depth + 1)
        return value if inner == name else f"{_OWN}list_transform({value}, lambda {name}: {inner})"
    if not isinstance(feature, Mapping):
        return value
    places = {name: f"{value}.{quoted(name)}" for name in feature}
    parts = {name: _with_label_names(places[name], inner, depth) for name, inner in feature.items()}
    packed = ", ".join(f"{quoted(name)} := {part}" for name, part in parts.items())
    if parts == places:
        return value
    return f"case when {value} is not null then {_OWN}struct_pack({packed}) end"
