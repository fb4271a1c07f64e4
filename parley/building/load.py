"""Loads splits of a build as `datasets.Dataset`: the bytes and rows that its provenance records.

`load_dataset` follows paths of the card, and keeps rows by what the card states of them, so that a
changed file may load as before.
"""

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import datasets
import pyarrow as pa
import pyarrow.parquet as pq

from parley.base.errors import OutputError, Problem
from parley.base.regular import open_regular
from parley.building.folder import BuiltFolder
from parley.building.rows.digest import Digest
from parley.schema.features import arrow_schema


def load_splits(
    built: BuiltFolder, config: str, splits: Iterable[str]
) -> dict[str, datasets.Dataset]:
    """Return the rows of recorded splits of a config, in memory.

    Raises:
        OutputError: a file is missing or unknown, or files or rows differ from the provenance;
            names all of them.
    """
    wrong: list[Problem] = []
    tables = {split: _table(built, config, split, wrong) for split in splits}
    if wrong:
        what = f"{built.path}: a damaged build"
        raise OutputError(what, *wrong, remedy=f"Run {built.rebuild} again.")
    features = built.features(config)
    return {
        split: datasets.Dataset(
            table,
            datasets.DatasetInfo(
                features=features, dataset_name=built.dataset.name, config_name=config
            ),
            datasets.NamedSplit(split),
        )
        for split, table in tables.items()
    }


def _table(built: BuiltFolder, config: str, split: str, wrong: list[Problem]) -> pa.Table:
    schema = arrow_schema(built.features(config))
    made = built.provenance["configs"][config][split]
    recorded = {str(file["path"]): file for file in made["files"]}
    found = {f"{config}/{path.name}": path for path in built.files(config, split)}
    wrong += [Problem(name, what="missing") for name in recorded.keys() - found.keys()]
    tables, already = [schema.empty_table()], len(wrong)
    for name, path in found.items():
        if (file := recorded.get(name)) is None:
            wrong.append(Problem(name, what="unknown file"))
        elif (data := _recorded_bytes(path, file)) is None:
            wrong.append(Problem(name, what="unreadable, or not of the recorded size and sha256"))
        elif (table := _read(data)) is None or table.schema != schema:
            due = f"Parquet with the columns of {built.dataset.name} {config}"
            wrong.append(Problem(name, due, "other content"))
        else:
            tables.append(table)
    table, digest = pa.concat_tables(tables), Digest(schema)
    digest.update(table)
    if len(wrong) == already and (table.num_rows, digest.hexdigest()) != (
        made["rows"],
        made["digest"],
    ):
        wrong.append(Problem(", ".join(recorded), what="other rows than the recorded ones"))
    return table


def _recorded_bytes(path: Path, file: dict[str, Any]) -> bytes | None:
    """Return the bytes of a file, or None if it has others than the recorded ones or none."""
    try:
        with open_regular(path, links=False) as opened:
            data = opened.read(file["bytes"] + 1)
    except OSError:
        return None
    return data if hashlib.sha256(data).hexdigest() == file["sha256"] else None


def _read(data: bytes) -> pa.Table | None:
    """Return the table of a Parquet file, or None if it is not readable."""
    try:
        return pq.ParquetFile(pa.BufferReader(data)).read()
    except (pa.ArrowException, OSError, ValueError):
        return None
