"""Open Parquet files that are not trusted; pyarrow is imported late, as cards need none of it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from parley.base.errors import OutputError

if TYPE_CHECKING:
    import pyarrow.parquet as pq


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Turn pyarrow's errors into an OutputError that names the file."""
    import pyarrow as pa

    try:
        yield
    except MemoryError:  # pyarrow's too
        raise
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        raise OutputError(f"{path}: unreadable Parquet file: {error}") from error


@contextmanager
def open_parquet(path: Path) -> "Iterator[pq.ParquetFile]":
    """Open a Parquet file, whose pages are compared with their checksums; errors as `readable`."""
    import pyarrow.parquet as pq

    with readable(path), pq.ParquetFile(path, page_checksum_verification=True) as file:
        yield file
