"""Every command reports a changed build in words and in strict JSON."""

import contextlib
import math
import os
import random
import shutil
from pathlib import Path

import loader_files
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from build_changes import read, reseal
from mutations import inner, nodes

from parley.base.strict_json import loads
from parley.builds.built_folder import open_folder
from parley.declaration.registry import discover
from parley.verification.changes import exactly_equal
from parley.verification.folder_checks import files

TRIALS = 15 * int(os.environ.get("PARLEY_TRIALS", 0)) or 12  # `make faults` has 300
FORMATS = {name: [*dataset.exports, "csv", "jsonl"] for name, dataset in discover().items()}
ODD = (
    *(None, math.nan, math.inf, -math.inf, -0.0, 0, -1, 2**62, 1.5, True, "", "\x1b[2J", "é😀"),
    *([], [None], [[]], {}, {"a": None}, b"\xff"),
)
TYPES = (
    *(pa.string(), pa.large_string(), pa.int32(), pa.int64(), pa.float32(), pa.float64()),
    *(pa.bool_(), pa.binary(), pa.timestamp("ms"), pa.date32(), pa.decimal128(38, 3)),
    *(pa.dictionary(pa.int32(), pa.string()), pa.list_(pa.string()), pa.null()),
)


def odd_values(draw, table):
    """Replace a value anywhere by an odd one, in one row or in all."""
    rows = table.to_pylist()
    (_, *path), _ = draw.choice([each for each in nodes(rows) if len(each[0]) > 1])
    odd = draw.choice(ODD)
    for row in rows if draw.random() < 0.5 else [draw.choice(rows)]:
        with contextlib.suppress(LookupError, TypeError):  # not every row has it
            inner(row, path)[path[-1]] = odd
    schema = table.schema
    try:
        return pa.Table.from_pylist(rows, schema)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return pa.Table.from_pylist(rows).replace_schema_metadata(schema.metadata)


def another_type(draw, table):
    place = draw.randrange(table.num_columns)
    column = table.column(place).cast(draw.choice(TYPES), safe=False)
    return table.set_column(place, table.schema.names[place], column)


def other_columns(draw, table):
    names = list(table.schema.names)
    return table.select(draw.choice([names[::-1], names[1:], [*names, names[0]], []]))


CHANGES = (odd_values, odd_values, odd_values, another_type, other_columns)


def alike(one, other):
    try:
        same_rows = exactly_equal(one.to_pylist(), other.to_pylist())
    except ValueError:  # text that is no UTF-8
        return False
    return same_rows and one.schema.equals(other.schema, check_metadata=True)


def changed(draw, sample_build, tmp_path):
    """Change one file of a copy; return the folder, the change, and whether the rows are equal."""
    name = draw.choice(list(discover()))
    folder = Path(shutil.copytree(sample_build / name, tmp_path / "build" / name))
    built = open_folder(folder)
    config, split = draw.choice(built.declared_splits)
    (file,) = built.files(config, split)
    before = read(file)
    while True:
        change = draw.choice(CHANGES)
        try:
            after = change(draw, before)
            pq.write_table(after, file)
            break
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            pass  # not of this table
    after = read(file)
    if draw.random() < 0.7:  # figures are computed unless it is a sample
        reseal(folder, sample=draw.random() < 0.7)
    return folder, f"{name} {config}/{split} {change.__name__}", alike(before, after)


@pytest.mark.parametrize("seed", range(TRIALS))
def test_a_changed_folder_is_noticed_in_words(seed, sample_build, tmp_path, run):
    draw = random.Random(f"changed folder {seed}")
    folder, what, same_rows = changed(draw, sample_build, tmp_path)
    name, build = folder.name, ("--build", folder.parent)
    status, out, _ = run("verify", name, *build, "--json")
    (found,) = loads(out)
    assert found["failed"] == (status == 1), what
    assert found["failed"] or same_rows, what
    status, out, _ = run("diff", sample_build / name, folder, "--json")
    assert status == 2 if not out else loads(out)["differs"] == (status == 1), what
    assert status or same_rows, what
    status, out, _ = run("show", name, *build, "--json")
    assert not out if status else loads(out), what
    run("show", name, *build)
    run("verify", name, *build)
    run("site", name, *build, "-o", tmp_path / "site")
    run("diff", folder, sample_build / name)
    run("charts", name, "-o", tmp_path / "charts", *build)
    for each in FORMATS[name]:
        run("export", name, each, "-o", tmp_path / each, *build)


def test_a_planted_name_is_refused(sample_build, tmp_path):
    """Beside the recorded files; test_verify.py has other names among them."""
    built = open_folder(sample_build / "duo")
    (rows,) = built.files(*built.declared_splits[0])
    names = loader_files.contents("duo", rows.read_bytes())
    for number, (name, body) in enumerate(names.items()):
        folder = Path(shutil.copytree(built.path, tmp_path / str(number) / "duo"))
        (folder / ".cache/huggingface/upload").mkdir(parents=True)  # as a copy may have it
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(body)
        found = list(files(open_folder(folder)))
        assert found == ([] if name in loader_files.KNOWN else [f"{name}: unknown file"])
