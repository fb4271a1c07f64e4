"""Writes record batches as the Parquet files of a split, in one file or in several shards."""

import hashlib
import io
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from parley.rows.digest import Digest

BATCH = 500  # rows; a row group has some of these
SHARD = 500_000_000  # bytes of Arrow data, as `datasets` cuts
LARGEST = 200_000_000  # bytes of Arrow data in a row group


@dataclass(frozen=True)
class File:
    """One Parquet file: its name, bytes and sha256, and the rows and bytes of its Arrow data."""

    name: str
    size: int
    sha256: str
    rows: int
    arrow_size: int


def write(
    batches: Iterable[pa.RecordBatch],
    schema: pa.Schema,
    folder: Path,
    split: str,
    max_shard_size: int = SHARD,
    digest: Digest | None = None,
) -> list[File]:
    """Write `split-00000-of-00001.parquet`, or more of them, into a folder.

    Args:
        batches: Batches of any length.
        schema: Their schema, with the footer's metadata.
        folder: Where to write.
        split: What the names begin with.
        max_shard_size: Bytes of Arrow data that a file holds at most, unless one row alone is
            larger.
        digest: Takes in what is written.

    Raises:
        OSError: the disk is full, or does not take the files for another reason.
    """
    shards: list[_Shard] = []
    with ExitStack() as last:
        for group in row_groups(batches, min(LARGEST, max_shard_size)):
            if not shards or shards[-1].arrow_size + group.nbytes > max_shard_size:
                last.close()
                shards.append(_Shard(folder / f".{split}-{len(shards):05d}", schema))
                last.callback(shards[-1].close)
            shards[-1].add(group)
            if digest:
                digest.update(group)
    return [
        shard.named(f"{split}-{number:05d}-of-{len(shards):05d}.parquet")
        for number, shard in enumerate(shards)
    ]


def row_groups(batches: Iterable[pa.RecordBatch], largest: int = LARGEST) -> Iterator[pa.Table]:
    """Gather batches into row groups of 500 rows each: two, or more while they are under 1 MB.

    No group holds more than `largest` bytes, unless one row does: the dataset viewer reads a
    group at once, and 300 MB at most. A shorter last batch joins the group before it, so that a
    small split is one group. Few groups are better than many small ones: while the next group is
    read in the background, a process that has read one streamed row and ends can abort in pyarrow
    (apache/arrow#45214).
    """
    group: list[pa.RecordBatch] = []
    size = 0
    for batch in _even(batches):
        for part in _readable(batch, largest):
            full = size >= 1 << 20 and len(group) * BATCH >= 1000 and part.num_rows == BATCH
            if group and (full or size + part.nbytes > largest):
                yield pa.Table.from_batches(group)
                group, size = [], 0
            group.append(part)
            size += part.nbytes
    if group:
        yield pa.Table.from_batches(group)


def _even(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Cut and join batches to 500 rows each; the last may be shorter."""
    parts: list[pa.RecordBatch] = []
    lacking = BATCH
    sliced = False
    for batch in batches:
        while batch.num_rows > lacking:
            yield _join([*parts, batch.slice(0, lacking)], True)
            batch, parts, lacking, sliced = batch.slice(lacking), [], BATCH, True
        parts.append(batch)
        lacking -= batch.num_rows
        if lacking == 0:
            yield _join(parts, sliced)
            parts, lacking, sliced = [], BATCH, False
    if parts:
        yield _join(parts, sliced)


def _join(parts: list[pa.RecordBatch], sliced: bool) -> pa.RecordBatch:
    """Return one batch, whose bytes are the same however its rows were cut.

    What is joined of slices keeps bitmaps of nulls that have none; Arrow's own format drops them.
    """
    batch = pa.concat_batches(parts)
    return pa.ipc.read_record_batch(batch.serialize(), batch.schema) if sliced else batch


def _readable(batch: pa.RecordBatch, largest: int) -> Iterator[pa.RecordBatch]:
    """Cut a batch in halves until each can be a row group."""
    if batch.nbytes <= largest or batch.num_rows < 2:
        yield batch
        return
    half = batch.num_rows // 2
    yield from _readable(batch.slice(0, half), largest)
    yield from _readable(batch.slice(half), largest)


class _Shard:
    """A Parquet file while it is written, under a name of its own until all are."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self._path = path
        self._file = path.open("wb", buffering=0)
        self._sink = _Sink(self._file)
        # Small row groups and a page index keep streaming and the dataset viewer quick;
        # content-defined chunking lets the Hub store only what a new version changes.
        self._writer = pq.ParquetWriter(
            self._sink, schema, write_page_index=True, use_content_defined_chunking=True
        )
        self.rows = self.arrow_size = 0

    def add(self, group: pa.Table) -> None:
        self._writer.write_table(group, row_group_size=group.num_rows)
        self._sink.check()
        self.rows += group.num_rows
        self.arrow_size += group.nbytes

    def close(self) -> None:
        try:
            self._writer.close()
        finally:
            self._file.close()
        self._sink.check()

    def named(self, name: str) -> File:
        """Give the file its final name."""
        self._path.rename(self._path.with_name(name))
        return File(name, self._sink.size, self._sink.hash.hexdigest(), self.rows, self.arrow_size)


class _Sink(io.RawIOBase):
    """Takes what pyarrow writes, and hashes it. It keeps an error of the disk until asked.

    pyarrow ends the whole process when closing a file fails, as it does on a full disk.
    """

    def __init__(self, file: BinaryIO) -> None:
        super().__init__()
        self._file = file
        self._error: OSError | None = None
        self.hash = hashlib.sha256()
        self.size = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        rest = memoryview(data)
        try:
            while rest and self._error is None:
                rest = rest[self._file.write(rest) :]  # a nearly full disk takes a part
        except OSError as error:
            self._error = error
        self.hash.update(data)
        self.size += len(data)
        return len(data)

    def check(self) -> None:
        """Raise the error that there was, if any."""
        if self._error:
            raise self._error
