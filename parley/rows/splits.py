"""What makes a split and its rows, and what it became."""

import gc
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import Any

import pyarrow as pa

from parley.base.errors import ParleyError, Problem, RecordError, RowError, ScriptError, SourceError
from parley.declaration.configs import Config, Records, View
from parley.declaration.registry import line_of
from parley.rows import parquet
from parley.rows.arrow import to_batches
from parley.rows.digest import Digest
from parley.rows.parquet import Batches, write_parquet
from parley.schema.features import arrow_schema
from parley.schema.shapes import fitting
from parley.source.files import Source
from parley.source.reader import Reader

Name = tuple[str, str]  # of a config and a split


@dataclass(frozen=True)
class SplitPlan:
    """Everything that makes one split."""

    dataset: str
    config: Config | View
    split: str
    files: tuple[Source, ...]
    reader: Reader  # opens and checks the files; shared by the splits of a build
    join: Records | None  # makes records of several files; None for those of each in order
    remedy: str = ""  # what to do about an invalid record

    @cached_property
    def schema(self) -> pa.Schema:
        """The columns and types of its rows, with the metadata of the footer."""
        return arrow_schema(self.config.features)

    @property
    def where(self) -> str:
        """The place of its rows, for messages and progress."""
        return f"{self.dataset} {self.config.name}/{self.split}"

    @property
    def paths(self) -> str:
        """The paths of its files, for messages."""
        return ", ".join(file.path for file in self.files)

    @property
    def name(self) -> Name:
        """The names of its config and of itself."""
        return self.config.name, self.split

    def records(self) -> Iterable[Any]:
        """Return its records, read and checked as they are asked for."""
        opened = self.reader.open(self.files)
        return chain.from_iterable(opened.values()) if self.join is None else self.join(opened)

    def values(self) -> Iterable[Any]:
        """Return the records of a config, or the rows that a view yields.

        Joined records and a view's rows come from the script, so they are compared with their
        shape: RecordError, RowError.
        """
        if isinstance(config := self.config, View):
            return fitting(config.node, config.rows(self.records()), RowError, self.where)
        if self.join:
            return self._numbered(fitting(config.node, self.records(), RecordError, "records"))
        return self.records()

    def _numbered(self, records: Iterable[Any]) -> Iterator[Any]:
        """Yield joined records, and tell the reader the number of the current one.

        The reader names this record in an error that it finds meanwhile.
        """
        for number, record in enumerate(records):
            self.reader.joined = number
            yield record


def generate(plan: SplitPlan) -> Iterator[Any]:
    """Yield the rows of a split."""
    return (row for _, row in with_rows(plan))


def with_rows(plan: SplitPlan) -> Iterator[tuple[Any, Any]]:
    """Yield each of the `values` of a split with its row."""
    first = dict[Any, int]()  # key, or number -> row
    key = itemgetter(*plan.config.keys) if plan.config.keys else None
    plan.reader.forget()
    with explaining(plan):
        for number, value in enumerate(plan.values()):
            row = plan.config.to_row(value)
            this = key(row) if key else number
            if first.setdefault(this, number) != number:
                place = plan.reader.place or f"{plan.paths}, row {number}"
                what = f"the key {this!r} appears twice, first in row {first[this]}"
                raise RecordError("", Problem(place, what=what))
            yield value, row
        plan.reader.require_ended(plan.files)
        if not first:
            raise RecordError("", Problem(plan.paths, "at least one record", "none"))


@contextmanager
def explaining(plan: SplitPlan) -> Iterator[None]:
    """Name the split, the record and the remedy in errors of a file or of the script."""
    try:
        yield
    except OSError as error:
        problem = Problem(str(error.filename), what=f"cannot be read: {error.strerror or error}")
        raise SourceError(plan.where, problem) from error
    except ScriptError as error:
        what = f"{plan.where}: {error.message}"
        raise ScriptError(what, *error.problems, remedy=error.remedy) from None
    except (RecordError, ValueError) as error:  # a script raises ValueError for bad records
        found = error.problems if isinstance(error, RecordError) else [plan.reader.explain(error)]
        raise RecordError(f"{plan.where}, invalid record", *found, remedy=plan.remedy) from error
    except (ParleyError, ImportError):
        raise
    except Exception as error:  # any other error is the script's
        what = f"{plan.where}: {line_of(error, plan.dataset) or f'{plan.dataset}.py'} fails"
        remedy = "If the record is valid, fix the script; otherwise raise ValueError in it."
        raise ScriptError(what, plan.reader.explain(error), remedy=remedy) from error


@contextmanager
def paused_garbage_collection() -> Iterator[None]:
    """Disable the search for cyclic garbage: many rows make it slow, and rows have no cycles."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@dataclass(frozen=True)
class BuiltSplit:
    """One built split."""

    config: str
    name: str
    digest: str
    files: list[parquet.Shard]
    seconds: float
    nulls: list[str]  # columns, and fields of structs, that are null in all rows

    @property
    def rows(self) -> int:
        """Rows in all."""
        return sum(file.footer.num_rows for file in self.files)

    @property
    def size(self) -> int:
        """Bytes of Parquet."""
        return sum(file.size for file in self.files)

    @property
    def provenance_entry(self) -> dict[str, Any]:
        """Its entry in `provenance.json`."""
        return {
            "rows": self.rows,
            "digest": self.digest,
            "files": [
                {"path": f"{self.config}/{f.name}", "bytes": f.size, "sha256": f.sha256}
                for f in self.files
            ],
        }

    @property
    def measured_entry(self) -> dict[str, Any]:
        """Its entry in `measured.json`."""
        return {
            "rows": self.rows,
            "digest": self.digest,
            "bytes": self.size,
            "arrow_bytes": sum(file.arrow_size for file in self.files),
            "null": self.nulls,
        }


def write_batches(
    name: Name, batches: Batches, schema: pa.Schema, folder: Path | None
) -> BuiltSplit:
    """Write the rows of a split into `folder/<config>`, if any."""
    start = time.perf_counter()
    config, split = name
    digest = Digest(schema)
    if target := folder and folder / config:
        target.mkdir(exist_ok=True)
    files = write_parquet(batches, schema, target, split, digest)
    seconds = time.perf_counter() - start
    return BuiltSplit(config, split, digest.hexdigest(), files, seconds, digest.nulls())


def write_split(plan: SplitPlan, folder: Path, on_rows: Callable[[str, int], None]) -> BuiltSplit:
    """Write a split into `folder/<config>`; see `build` for the arguments and errors."""

    def batches() -> Iterator[pa.RecordBatch]:
        rows = 0
        for batch in to_batches(generate(plan), plan.schema, plan.where):
            rows += batch.num_rows
            on_rows(plan.where, rows)
            yield batch

    return write_batches(plan.name, batches(), plan.schema, folder)
