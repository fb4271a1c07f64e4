"""Builds as tables of DuckDB: `parley.connect`, and the command `parley sql`."""

import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tracemalloc
from functools import partial
from pathlib import Path
from threading import Timer

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from build_changes import everything, parquet, reseal, restate, retable
from rich.cells import cell_len
from rich.console import Console

import parley
from parley.base.errors import OutputError, UsageError
from parley.cli.process import _MESSAGE as INTERRUPTED
from parley.declaration.registry import discover
from parley.read.queries import ids, statement_of, until_interrupted, with_meanings, write
from parley.read.sql import connect
from parley.schema.features import item_of, labels_of

COLUMNS = """select column_name, data_type, comment from duckdb_columns()
    where database_name = ? and table_name = ?"""
REAL = pytest.param("real_build", marks=pytest.mark.slow)


@pytest.mark.parametrize("builds", ["sample_build", REAL])
def test_a_table_has_the_rows_of_all_splits_with_names_and_meanings(builds, request):
    folder = request.getfixturevalue(builds)
    with parley.connect(folder) as connection:
        for name, dataset in discover().items():
            for config, declared in dataset.configs.items():
                built = parley.open(folder / name)
                splits = built.splits(config)
                due = [
                    [*row.values(), each, place]
                    for each in splits
                    for place, row in enumerate(built.rows_with_names(config, each))
                ]
                if not due:
                    continue
                found = connection.execute(f'from {name}."{config}"')
                assert [column[0] for column in found.description] == [
                    *declared.features, "split", "place_in_split"
                ]  # fmt: skip
                assert list(map(list, found.fetchall())) == due, (name, config)
                kinds = connection.execute(COLUMNS, [name, config]).fetchall()
                about = {column: (kind, comment) for column, kind, comment in kinds}
                for column in declared.fields:
                    assert column.meaning in about[re.split(r"[.\[]", column.path)[0]][1]
                    assert not re.search(r"see [A-Z][^)]*(?<! in the card)\)", column.meaning)
                for column, feature in declared.features.items():
                    labels = labels_of(item_of(feature) or feature) or ()
                    assert all(label in about[column][0] for label in labels)


def test_ids_come_once_in_the_order_of_the_query(sample_build):
    built = parley.open(sample_build / "casino")
    due = {str(row["dialogue_id"]): None for row in built.rows("utterances")[::-1]}
    query = "select dialogue_id from casino.utterances order by dialogue_id desc"
    with connect([built], read_only=True) as connection:
        assert ids(connection, query, built) == [*due]
        for none in ("null as dialogue_id", "dialogue_id from casino.dialogues limit 0"):
            with pytest.raises(parley.ParleyError):
                ids(connection, f"select {none}", built)


def test_a_connection_changes_no_table_of_a_build_and_installs_nothing(sample_build, tmp_path):
    for name in ("casino", "duo"):
        shutil.copytree(sample_build / name, tmp_path / name)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    with parley.connect(tmp_path / "casino", parley.open(tmp_path / "duo")) as connection:
        installs = "select current_setting('autoinstall_known_extensions')"
        assert connection.execute(installs).fetchone() == (False,)
        due = connection.execute("from casino.strategies").fetchall()
        for change in (
            "drop view casino.strategies",
            "insert into casino.strategies values (1)",
            "create table casino.mine as select 1 as one",
            "detach duo; drop schema casino.main cascade",
        ):
            with pytest.raises(duckdb.Error):
                connection.execute(change)
        connection.execute("create temp table mine as from casino.strategies")
        connection.execute("create macro list_transform(a, b) as []")
        connection.execute("create macro read_parquet(a, hive_partitioning := 1) as table select 1")
        assert connection.execute("from casino.strategies").fetchall() == due
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def test_only_builds_are_connected_each_dataset_once(sample_build, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError):
        parley.connect()
    odd = tmp_path / "it's [a] *?"
    for damage in (
        Path.unlink,
        lambda file: file.write_bytes(file.read_bytes()[:-1] + b"2"),
        lambda file: retable(file, lambda rows: rows.slice(1)),
    ):
        folder = shutil.copytree(sample_build / "duo", odd / "duo")
        with parley.connect(odd) as connection:
            assert connection.execute("select count(*) from duo.dialogues").fetchone()[0]
        with pytest.raises(UsageError):
            parley.connect(odd, sample_build)
        damage(parquet(folder, "ratings", "en"))
        with pytest.raises(OutputError, match="ratings/en"):  # only what the provenance records
            parley.connect(folder)
        shutil.rmtree(folder)
    with pytest.raises(UsageError):  # DuckDB reads a backslash before a sign as another path
        parley.connect(shutil.copytree(sample_build / "duo", tmp_path / "a\\[b]"))


def test_a_number_without_a_label_is_an_error(sample_build, tmp_path):
    folder = shutil.copytree(sample_build / "duo", tmp_path / "duo")
    table = pq.read_table(file := parquet(folder, "ratings", "en"))
    place = table.column_names.index("source")
    retable(file, lambda rows: rows.set_column(place, "source", pa.array([7] * len(table))))
    reseal(folder)
    with parley.connect(folder) as connection, pytest.raises(duckdb.Error, match="7"):
        connection.execute("select source from duo.ratings").fetchall()


ODD = "select '=1+1' as formula, 'a\x1b[2Jb' as \"na\x1bme\", null as nothing, ['ä', null] as list"
SIDES = "select dialogue_id, speaker, points_scored, satisfaction from casino.participants"


READERS = {  # which are not DuckDB's
    ".csv": pd.read_csv,
    ".parquet": pd.read_parquet,
    ".json": pd.read_json,
    ".jsonl": partial(pd.read_json, lines=True),
}


@pytest.mark.parametrize("suffix", READERS)
def test_a_result_is_printed_and_written_and_read_as_a_table(run, sample_build, tmp_path, suffix):
    names = "dialogue_id", "speaker", "points_scored", "satisfaction"
    rows = parley.open(sample_build / "casino").rows_with_names("participants")
    due = [{name: row[name] for name in names} for row in rows]
    at = ("--build", sample_build)
    assert json.loads(run("sql", SIDES, *at, "--json").stdout) == due
    head, _, *lines = run("sql", "-", *at, stdin=f"{SIDES};\n".encode()).stdout.splitlines()
    assert head.split() == list(due[0])
    assert [line.split()[:3] for line in lines] == [list(map(str, r.values()))[:3] for r in due]
    file = tmp_path / f"it's{suffix}"
    assert run("sql", f"{SIDES} -- all", *at, "-o", file).returncode == 0
    assert READERS[suffix](file).to_dict("records") == due
    assert run("sql", "select 1 as a", *at, "-o", file).returncode == 1  # it is there
    name = str(file).replace("'", "''")
    joined = f"select count(*) as n from ({SIDES}) join '{name}' using (dialogue_id, speaker)"
    assert json.loads(run("sql", joined, *at, "--json").stdout) == [{"n": len(due)}]


def test_a_text_acts_neither_in_a_terminal_nor_in_a_spreadsheet(run, sample_build, tmp_path):
    done = run("sql", ODD, "--build", sample_build)
    assert "\x1b" not in done.stdout
    assert '["ä", null]' in done.stdout
    run("sql", ODD, "--build", sample_build, "-o", tmp_path / "odd.csv")
    assert list(pd.read_csv(tmp_path / "odd.csv").formula) == ["'=1+1"]


TIMES = {  # which Python has not, or not in whole
    "infinity": "'infinity'::timestamp",
    "-infinity": "'-infinity'::date",
    "2020-01-01 00:00:00.123456789": "'2020-01-01 00:00:00.123456789'::timestamp_ns",
    "1 year 2 days": "interval '1 year 2 days'",
    '["1 month"]': "[interval '1 month']",
    '{"DATE": "infinity", "b": 1}': "{'DATE': 'infinity'::date, 'b': 1}",
}


def test_a_time_is_printed_and_written_as_duckdb_has_it(run, sample_build, tmp_path):
    values = zip("abcdef", TIMES.values(), strict=True)
    query = ", ".join(f"{value} as {name}" for name, value in values)
    at, file = ("--build", sample_build), tmp_path / "times.csv"
    printed = json.loads(run("sql", f"select {query}", *at, "--json").stdout)
    run("sql", f"select {query}, 1 as a", *at, "-o", file)
    written = pd.read_csv(file, dtype=str).iloc[0]
    for name, due in zip("abcdef", TIMES, strict=True):
        found = printed[0][name]
        assert due == (found if isinstance(found, str) else json.dumps(found))
        assert due == written[name].removeprefix("'")


@pytest.fixture
def on_screen(run, sample_build, monkeypatch):
    def lines_of(query, width, height):
        size = {"force_terminal": True, "color_system": None, "width": width, "height": height}
        screen_of = Console(file=io.StringIO(), **size)
        for module in ("base.console", "cli.browse_commands", "cli.tables"):
            monkeypatch.setattr(f"parley.{module}.out", screen_of)
        done = run("sql", query, "--build", sample_build)
        lines = screen_of.file.getvalue().splitlines()
        assert all(cell_len(line) <= width for line in lines)
        return lines, done.stderr

    return lines_of


@pytest.mark.parametrize("config", ["utterances", "participants"])
@pytest.mark.parametrize(("width", "height"), [(40, 20), (90, 24), (100, 24)])
def test_a_table_is_cut_to_the_terminal_but_for_its_names(on_screen, config, width, height):
    lines, message = on_screen(f"from casino.{config}", width, height)
    names = lines[0].split()
    assert names == [*discover()["casino"].configs[config].features][: len(names)]
    assert len(lines) < height
    assert "-o" in message


@pytest.mark.parametrize("width", [80, 100])
def test_describe_has_each_label_and_whole_meanings(on_screen, width):
    config = discover()["casino"].configs["strategies"]
    text = "\n".join(on_screen("describe casino.strategies", width, 8)[0])
    for label, meaning in config.features["labels"][0].meanings.items():
        assert text.count(f"'{label}'") == text.count(f"{label}: ") == 1
        assert {*meaning.split()} <= {*text.split()}
    assert {*config.fields[1].meaning.split()} <= {*text.split()}


@pytest.mark.parametrize(("query", "named"), [
    ("from casino.strateges", "strategies"), ("from casino", "casino.strategies"),
    ("from Duo.ratings", "parley build duo"),
    ("select avg(satisfaction) from casino.participants", "enum_code"), ("selec 1", ""),
    ("select '\x1b'::int", ""), ("select 1; select 2", ""), ("", ""),
    ("copy casino.strategies to 'mine.csv'", ""),
    ("from enable_logging(storage = 'file', storage_config = {'path': 'mine'})", ""),
    ("from parquet", ""),  # a name of a variable here
    ("from read_csv('/dev/stdin')", "/dev/stdin"), ("from read_csv(['/dev/fd/0'])", "/dev/fd"),
])  # fmt: skip
def test_a_wrong_query_is_one_short_line(run, sample_build, tmp_path, monkeypatch, query, named):
    monkeypatch.chdir(tmp_path)
    done = run("sql", query, "--build", built := sample_build / "casino")
    assert named in done.stderr
    assert len(done.stderr) < 350
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "\x1b" not in done.stderr
    assert run("sql", query, "--build", built, "-o", "mine.csv").returncode == 2
    assert not any(tmp_path.iterdir())


_PIVOT = "pivot (select 1 as a) on a"
_COPY = "copy (select 1 as a) to 'mine.csv'"
_WITH = f"with a as ({_COPY}) select 1"


def _text(query):
    return "'" + query.replace("'", "''") + "'"


_SERIALIZED = f"json_execute_serialized_sql(json_serialize_sql({_text(_WITH)}))"
WRITES = [
    # of another kind than SELECT, by one statement of several, or within it
    _COPY, f"select 1; {_COPY}", f"select 1) to 'mine.csv'; {_COPY}; --",
    f"copy ({_PIVOT}) to 'mine.csv' (format csv)", f"explain analyze {_COPY}",
    "call enable_logging(storage='file', storage_config={'path': 'mine'})",
    "set profiling_output = 'mine.json'", "attach 'mine.duckdb' as mine",
    "create table mine as select 1 as a", "export database 'mine'", "import database 'mine'",
    "load 'mine.duckdb_extension'", f"with a as ({_COPY}), p as ({_PIVOT}) from p",
    f'pivot (from {_SERIALIZED}) on "1"',
    # of the kind SELECT
    _WITH, f"with b as ({_WITH}) from b", f"from query({_text(_WITH)})", f"from {_SERIALIZED}",
    f"from system.main.{_SERIALIZED}", f"select 1 limit (from {_SERIALIZED})",
    f"from query('from json_' || {_text(_SERIALIZED.removeprefix('json_'))})",
    "from enable_logging(storage='file', storage_config={'path': 'mine'})",
    "with a as (insert into duo.ratings values (1) returning 1) from a",
]  # fmt: skip


def test_a_query_that_may_write_changes_nothing(sample_build, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = shutil.copytree(sample_build / "duo", tmp_path / "duo")
    (tmp_path / "mine.duckdb_extension").write_bytes(b"mine")
    before = everything(tmp_path)
    with connect([parley.open(folder)], read_only=True) as connection:
        replaces = "select current_setting('python_enable_replacements')"
        assert connection.execute(replaces).fetchone() == (False,)
        for query in WRITES:
            with pytest.raises((UsageError, duckdb.Error)):
                connection.execute(statement_of(connection, query))
            assert everything(tmp_path) == before, query


@pytest.mark.parametrize("query", [
    "/* first */ with a as (select 1 as one) from a;", "describe duo.ratings", "show tables",
    "pivot duo.ratings on split in (en, ja) using count(*)",
    "select '; -- ', 'é' as a; -- the end\n; /* é */",
])  # fmt: skip
def test_a_query_that_reads_is_answered(sample_build, query):
    with connect([parley.open(sample_build / "duo")], read_only=True) as connection:
        assert connection.execute(with_meanings(statement_of(connection, query))).fetchall()


DESCRIBE = "DESCRIBE Duo.Ratings; -- x"


@pytest.mark.parametrize("query", ["show tables", "describe duo.ratings", DESCRIBE])
def test_meanings_are_printed_and_written(run, sample_build, tmp_path, query):
    at, file = ("--build", sample_build / "duo"), tmp_path / "all.jsonl"
    printed = json.loads(run("sql", query, *at, "--json").stdout)
    run("sql", query, *at, "-o", file)
    assert pd.read_json(file, lines=True).to_dict("records") == printed
    assert [row["meaning"] for row in printed if row["meaning"]]


def test_a_result_goes_neither_into_a_build_nor_into_a_format_unknown(run, sample_build, tmp_path):
    folder = shutil.copytree(sample_build / "duo", tmp_path / "duo")
    before = sorted(folder.rglob("*"))
    for to, status in ((folder / "mine.csv", 1), (tmp_path / "mine.xlsx", 2)):
        assert run("sql", "select 1", "--build", tmp_path, "-o", to).returncode == status
    assert sorted(folder.rglob("*")) == before
    for more in (("--sample",), ("--json", "-o", "mine.csv")):
        assert run("sql", "select 1", "--build", tmp_path, *more).returncode == 2
    assert run("sql", "-", "--build", tmp_path, stdin=b"select '\xff'").returncode == 2
    assert run("sql", "select 1 as a, 2 as a", "--build", tmp_path, "--json").returncode == 2


def test_a_broken_script_stops_only_questions_to_its_dataset(run, sample_build, tmp_path):
    script = tmp_path / "more/spoilt/spoilt.py"
    script.parent.mkdir(parents=True)
    script.write_text("def")
    for name in ("duo", "spoilt"):
        shutil.copytree(sample_build / "duo", tmp_path / "build" / name)
    restate(tmp_path / "build/spoilt", "dataset", "spoilt")
    at = ("--build", tmp_path / "build")
    for query, status in (("from duo.ratings", 0), ("from spoilt.ratings", 1), ("select 1", 1)):
        assert run("sql", query, *at, PARLEY_DATASETS=tmp_path / "more").returncode == status, query


def test_a_long_result_needs_little_memory(sample_build, tmp_path):
    with parley.connect(sample_build / "duo") as connection:
        tracemalloc.start()
        try:
            write(connection, "select repeat('x', 1000) from range(20_000)", tmp_path / "long.csv")
            assert tracemalloc.get_traced_memory()[1] < 5_000_000
        finally:
            tracemalloc.stop()
    assert (tmp_path / "long.csv").stat().st_size > 20_000_000


@pytest.mark.parametrize("name", ["own.csv", "own.parquet"])
def test_a_result_replaces_the_file_that_the_query_reads(sample_build, tmp_path, name):
    path = tmp_path / name
    with parley.connect(sample_build / "duo") as connection:
        write(connection, "select i from range(100_000) t(i)", path)
        write(connection, f"select i + 1 as i from '{path}'", path, overwrite=True)
        found = connection.execute(f"select count(*), min(i), max(i) from '{path}'").fetchone()
    assert found == (100_000, 1, 100_000)


def test_without_duckdb_one_line_says_what_to_install(run, sample_build, monkeypatch):
    monkeypatch.setitem(sys.modules, "duckdb", None)
    for command in (("sql", "select 1"), ("browse", "casino", "--where", "select 1")):
        done = run(*command, "--build", sample_build)
        assert (done.returncode, done.stderr.count("\n")) == (1, 1)
        assert "[sql]" in done.stderr
    with pytest.raises(ModuleNotFoundError, match=r"\[sql\]"):
        parley.connect(sample_build)


def test_a_signal_ends_a_query_that_waits_for_a_pipe(sample_build, tmp_path):
    query = "from read_csv('pipe')"
    os.mkfifo(tmp_path / "pipe")
    command = [sys.executable, "-m", "parley", "sql", query, "--build", str(sample_build)]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.DEVNULL)
    with open(tmp_path / "pipe", "wb"):  # waits until it is opened to be read
        process.terminate()
        try:
            assert process.wait(60) == 128 + signal.SIGTERM
        finally:
            process.kill()


def test_a_signal_waits_for_the_import_of_a_library_in_c(sample_build):
    """Else DuckDB aborts; its types are made while it is imported."""
    code = """if True:
        import enum, os, signal, sys
        from parley.cli import main
        make = enum.EnumMeta.__call__

        def call(*args, **more):
            if "_duckdb" in sys.modules:
                enum.EnumMeta.__call__ = make
                os.kill(os.getpid(), signal.SIGINT)
            return make(*args, **more)

        enum.EnumMeta.__call__ = call
        main()"""
    command = [sys.executable, "-c", code, "sql", "select 1", "--build", sample_build]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr.splitlines()) == (128 + signal.SIGINT, [INTERRUPTED])


def test_a_signal_ends_a_query(sample_build):
    endless = "select count(*) from range(100_000_000_000) a, range(1000)"
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # none in the background
    with parley.connect(sample_build / "duo") as connection:
        Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            until_interrupted(connection, lambda: connection.execute(endless))
    signal.signal(signal.SIGINT, before)
