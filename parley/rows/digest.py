"""The digest of a split: what two builds, or a build and its copy on the Hub, are compared by."""

import hashlib
from collections.abc import Iterable
from typing import Any

import orjson


class Digest:
    """A sha256 over rows in order, each as canonical JSON and a newline.

    Canonical JSON has sorted keys, no spaces, UTF-8. It depends on the values alone, so it is
    the same for a Parquet file written otherwise, and for rows read back from anywhere.
    """

    def __init__(self) -> None:
        self._hash = hashlib.sha256()
        self.rows = 0

    def update(self, rows: Iterable[Any]) -> None:
        """Take in more rows."""
        for row in rows:
            self.add(canonical([row]), 1)

    def add(self, lines: bytes | memoryview, rows: int) -> None:
        """Take in more rows, given as canonical JSON."""
        self._hash.update(lines)
        self.rows += rows

    def hexdigest(self) -> str:
        """Return the digest of the rows so far, in hexadecimal."""
        return self._hash.hexdigest()


def canonical(rows: Iterable[Any]) -> bytes:
    """Return rows as canonical JSON, a line each."""
    option = orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE
    return b"".join(orjson.dumps(row, option=option) for row in rows)
