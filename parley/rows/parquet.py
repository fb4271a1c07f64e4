"""Write record batches as one or more Parquet files of a split."""

import hashlib
import io
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from parley.rows.digest import Digest
from parley.schema.features import arrow_schema

Batches = Iterable[pa.RecordBatch]
BATCH = 500  # rows; a row group has several batches
GROUP = 1 << 20  # bytes of Arrow data in a row group, about
SHARD = 500_000_000  # bytes of Arrow data in a file, the limit of `datasets`


@dataclass(frozen=True)
class Shard:
    """The name, bytes and sha256 of a Parquet file, its bytes of Arrow data and footer."""

    name: str
    size: int
    sha256: str
    arrow_size: int
    footer: pq.FileMetaData = field(repr=False, compare=False)


def write_parquet(
    batches: Batches, schema: pa.Schema, folder: Path | None, split: str, digest: Digest
) -> list[Shard]:
    """Write `split-00000-of-00001.parquet`, or several shards, into a folder.

    A shard has at most `SHARD` bytes of Arrow data, or one row group. Equal rows give equal bytes
    with one version of pyarrow on one kind of machine. OSError if writing fails. Without a folder
    it writes no file, and only hashes what it would hold. `digest` is updated with the rows.
    """
    made = []
    for number, of_shard in groupby(_by_shard(row_groups(batches)), itemgetter(0)):
        # a temporary name, as the final one says how many there are
        path = folder / f".{split}-{number:05d}" if folder else Path(os.devnull)
        made.append(_write((group for _, group in of_shard), schema, path, digest))
    shards = []
    for number, shard in enumerate(made):
        name = f"{split}-{number:05d}-of-{len(made):05d}.parquet"
        if folder:
            (folder / shard.name).rename(folder / name)
        shards.append(replace(shard, name=name))
    return shards


def write_table(
    batches: Iterable[pa.RecordBatch], features: Mapping[str, Any], folder: Path, name: str
) -> dict[str, Any]:
    """Write a table of these features into a folder, as a build does, and return its provenance.

    That is the number and the digest of its rows, and name, size, hash and rows of each file.
    """
    schema = arrow_schema(features)
    digest = Digest(schema)
    shards = write_parquet(batches, schema, folder, name, digest)
    return {
        "rows": digest.rows,
        "digest": digest.hexdigest(),
        "files": [
            {"name": s.name, "size": s.size, "sha256": s.sha256, "rows": s.footer.num_rows}
            for s in shards
        ],
    }


def _by_shard(groups: Iterable[pa.Table]) -> Iterator[tuple[int, pa.Table]]:
    """Yield each row group with the number of its shard."""
    number = size = 0
    for group in groups:
        if size and size + group.nbytes > SHARD:
            number, size = number + 1, 0
        size += group.nbytes
        yield number, group


def _write(groups: Iterable[pa.Table], schema: pa.Schema, path: Path, digest: Digest) -> Shard:
    """Write a file and return its shard.

    pyarrow writes into memory, since it ends the process if a disk is full.
    """
    memory, footers, sha256 = io.BytesIO(), list[pq.FileMetaData](), hashlib.sha256()
    size = arrow_size = 0
    with path.open("wb") as file:

        def empty_memory() -> None:
            nonlocal size
            size += memory.tell()
            file.write(memory.getbuffer())
            sha256.update(memory.getbuffer())
            memory.seek(0)
            memory.truncate()

        # A page index makes the dataset viewer fast. With content-defined chunking the Hub stores
        # only the changes of a new version. Readers that verify checksums notice damaged pages.
        with pq.ParquetWriter(
            memory,
            schema,
            write_page_index=True,
            use_content_defined_chunking=True,
            write_page_checksum=True,
            metadata_collector=footers,
        ) as writer:
            for group in groups:
                writer.write_table(group, row_group_size=group.num_rows)
                empty_memory()
                arrow_size += group.nbytes
                digest.update(group)
        empty_memory()
        return Shard(path.name, size, sha256.hexdigest(), arrow_size, footers[0])


def row_groups(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Gather rows into groups of two or more batches of 500 rows, up to about 1 MB.

    The dataset viewer reads a whole group. A shorter last batch joins the previous group. Few
    groups are better: a process that ends while pyarrow reads the next group can abort
    (apache/arrow#45214).
    """
    group: list[pa.RecordBatch] = []
    size = 0
    for batch in _even(batches):
        if size >= GROUP and len(group) > 1 and batch.num_rows == BATCH:
            yield pa.Table.from_batches(group)
            group, size = [], 0
        group.append(batch)
        size += batch.nbytes
    if group:
        yield pa.Table.from_batches(group)


def _even(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield batches of 500 rows; the last may be shorter."""
    parts: list[pa.RecordBatch] = []
    for batch in batches:
        rows = pa.Table.from_batches([*parts, batch])
        while rows.num_rows >= BATCH:
            yield _join(rows.slice(0, BATCH).to_batches())
            rows = rows.slice(BATCH)
        parts = rows.to_batches()
    if parts:
        yield _join(parts)


def _join(parts: list[pa.RecordBatch]) -> pa.RecordBatch:
    """Return one batch whose bytes do not depend on how the rows were cut.

    Joined batches keep null bitmaps without nulls; serializing the batch drops them.
    """
    batch = pa.concat_batches(parts)
    return pa.ipc.read_record_batch(batch.serialize(), batch.schema)
