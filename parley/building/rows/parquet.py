"""Write record batches as one or more Parquet files of a split."""

import hashlib
import io
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from parley.building.rows.digest import Digest

BATCH = 500  # rows; a row group has several batches
SHARD = 500_000_000  # bytes of Arrow data, the limit of `datasets`
LARGEST = 200_000_000  # bytes of Arrow data in a row group


@dataclass(frozen=True)
class Shard:
    """The name, bytes and sha256 of a Parquet file, its rows, bytes of Arrow data and footer."""

    name: str
    size: int
    sha256: str
    rows: int
    arrow_size: int
    footer: pq.FileMetaData = field(repr=False, compare=False)


def write_parquet(
    batches: Iterable[pa.RecordBatch],
    schema: pa.Schema,
    folder: Path | None,
    split: str,
    digest: Digest | None = None,
) -> list[Shard]:
    """Write `split-00000-of-00001.parquet`, or several shards, into a folder.

    A shard has at most `SHARD` bytes of Arrow data, unless one row is larger. Equal rows give equal
    bytes with one version of pyarrow on one kind of machine.

    Args:
        batches: Batches of any length.
        schema: Their schema with the footer's metadata.
        folder: The folder; None writes no file, and only hashes what it would hold.
        split: The prefix of the names.
        digest: Updated with the rows.

    Raises:
        OSError: the disk is full or writing fails.
    """
    shards: list[_Shard] = []
    with ExitStack() as last:
        for group in row_groups(batches, min(LARGEST, SHARD)):
            if not shards or shards[-1].arrow_size + group.nbytes > SHARD:
                last.close()
                path = folder and folder / f".{split}-{len(shards):05d}"
                shards.append(_Shard(path, schema))
                last.push(shards[-1].end)
            shards[-1].add(group)
            if digest:
                digest.update(group)
    return [
        shard.named(f"{split}-{number:05d}-of-{len(shards):05d}.parquet")
        for number, shard in enumerate(shards)
    ]


def row_groups(batches: Iterable[pa.RecordBatch], largest: int = LARGEST) -> Iterator[pa.Table]:
    """Gather rows into groups of two or more batches of 500 rows, up to about 1 MB.

    A group has at most `largest` bytes, unless one row is larger: the dataset viewer reads a whole
    group, and 300 MB at most. A shorter last batch joins the previous group. Few groups are better:
    a process that ends while pyarrow reads the next group can abort (apache/arrow#45214).
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
    """Yield batches of 500 rows; the last may be shorter."""
    parts: list[pa.RecordBatch] = []
    lacking = BATCH
    for batch in batches:
        while batch.num_rows > lacking:
            yield _join([*parts, batch.slice(0, lacking)])
            batch, parts, lacking = batch.slice(lacking), [], BATCH
        parts.append(batch)
        lacking -= batch.num_rows
        if lacking == 0:
            yield _join(parts)
            parts, lacking = [], BATCH
    if parts:
        yield _join(parts)


def _join(parts: list[pa.RecordBatch]) -> pa.RecordBatch:
    """Return one batch whose bytes do not depend on how the rows were cut.

    Joined batches keep null bitmaps without nulls; serializing the batch drops them.
    """
    batch = pa.concat_batches(parts)
    if not any(map(_has_bitmap, batch.columns)):
        return batch
    return pa.ipc.read_record_batch(batch.serialize(), batch.schema)


def _has_bitmap(array: pa.Array) -> bool:
    """Tell whether an array, or one inside it, has a bitmap of its nulls."""
    if array.buffers()[0] is not None:
        return True
    if pa.types.is_struct(array.type):
        return any(_has_bitmap(array.field(number)) for number in range(array.type.num_fields))
    return pa.types.is_list(array.type) and _has_bitmap(array.values)


def _readable(batch: pa.RecordBatch, largest: int) -> Iterator[pa.RecordBatch]:
    """Halve a batch until each part can be a row group."""
    if batch.nbytes <= largest or batch.num_rows < 2:
        yield batch
        return
    half = batch.num_rows // 2
    yield from _readable(_join([batch.slice(0, half)]), largest)
    yield from _readable(_join([batch.slice(half)]), largest)


class _Shard:
    """A Parquet file being written, with a temporary name until all shards are complete."""

    def __init__(self, path: Path | None, schema: pa.Schema) -> None:
        self._path = path
        self._footers: list[pq.FileMetaData] = []
        self._sink = _Sink(path.open("wb", buffering=0) if path else None)
        # A page index makes the dataset viewer fast. With content-defined chunking the Hub stores
        # only the changes of a new version. Readers that verify checksums notice damaged pages.
        self._writer = pq.ParquetWriter(
            self._sink,
            schema,
            write_page_index=True,
            use_content_defined_chunking=True,
            write_page_checksum=True,
            metadata_collector=self._footers,
        )
        self.rows = self.arrow_size = 0

    def add(self, group: pa.Table) -> None:
        self._writer.write_table(group, row_group_size=group.num_rows)
        self._sink.check()
        self.rows += group.num_rows
        self.arrow_size += sum(batch.nbytes for batch in group.to_batches())

    def end(self, kind: object, error: object, traceback: object) -> None:
        try:
            self._writer.close()
        except RuntimeError:  # pyarrow ended the file itself after an error, such as Ctrl-C
            if error is None:
                raise
        finally:
            self._sink.end()
        self._sink.check()

    def named(self, name: str) -> Shard:
        """Give the file its final name."""
        if self._path:
            self._path.rename(self._path.with_name(name))
        made = self._sink.size, self._sink.hash.hexdigest(), self.rows, self.arrow_size
        return Shard(name, *made, *self._footers)


class _Sink(io.RawIOBase):
    """Hashes the output of pyarrow, and writes it; `check` raises an error of the disk later.

    pyarrow ends the whole process if closing a file fails, as on a full disk.
    """

    def __init__(self, file: io.FileIO | None) -> None:
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
            while self._file and rest and self._error is None:
                rest = rest[self._file.write(rest) :]  # a nearly full disk writes only a part
        except OSError as error:
            self._error = error
        self.hash.update(data)
        self.size += len(data)
        return len(data)

    def end(self) -> None:
        """Close the file."""
        if self._file:
            self._file.close()

    def check(self) -> None:
        """Raise the first error of the disk, if any."""
        if self._error:
            raise self._error
