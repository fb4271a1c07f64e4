"""Generate the rows of a split from its upstream files with the dataset's script."""

import gc
from array import array
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from parley.base.errors import (
    ParleyError,
    Problem,
    RecordError,
    ScriptError,
    SourceError,
    is_no_memory,
)
from parley.building.sources import Source
from parley.rows.reader import Reader


def generate(
    source: Source, config: str, split: str, reader: Reader | None = None
) -> Iterator[Any]:
    """Yield the rows of a split. A reader shared by several splits checks each file only once.

    Raises:
        RecordError: a file has invalid records or none, or a key appears twice.
        ScriptError: the script fails, or does not read a file to its end.
        SourceError: a file cannot be read.
    """
    reader = reader or Reader(source.folder)
    where = f"{source.dataset.name} {config}/{split}"
    files = ", ".join(each.path for each in source.sources(config, split))
    keys = array("q")  # hashes take less memory than keys
    reader.forget()
    try:
        for key, row in keyed_rows(source, config, split, reader):
            keys.append(hash(key))
            yield row
        reader.require_ended(source.sources(config, split))
        if not keys:
            raise RecordError("", Problem(files, "at least one record", "none"))
        if not are_unique(keys):
            _require_unique_keys(source, config, split, reader)
    except OSError as error:
        problem = Problem(str(error.filename), what=f"cannot be read: {error.strerror or error}")
        raise SourceError(where, problem) from error
    except ScriptError as error:
        raise ScriptError(
            f"{where}: {error.message}", *error.problems, remedy=error.remedy
        ) from None
    except (RecordError, ValueError) as error:  # a script raises ValueError for bad records
        found = error.problems if isinstance(error, RecordError) else [reader.explain(error)]
        raise RecordError(f"{where}, invalid record", *found, remedy=_remedy(source)) from error
    except (ParleyError, ImportError):
        raise
    except Exception as error:  # any other error is the script's
        if is_no_memory(error):
            raise
        raise ScriptError(
            f"{where}: {source.dataset.name}.py fails",
            reader.explain(error),
            remedy="If the record is valid, fix the script; otherwise raise ValueError in it.",
        ) from error


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


def keyed_rows(
    source: Source, config: str, split: str, reader: Reader
) -> Iterable[tuple[Any, dict[str, Any]]]:
    """Return the rows of a split, each with its key."""
    opened = reader.open(source.sources(config, split))
    return source.dataset.builder.keyed_rows(config, opened)


def are_unique(hashes: "array[int]") -> bool:
    """Tell whether all numbers differ."""
    ordered = np.sort(np.frombuffer(hashes, np.int64))  # takes much less memory than a set
    return not (ordered[1:] == ordered[:-1]).any()


def _require_unique_keys(source: Source, config: str, split: str, reader: Reader) -> None:
    """Read a split again to name records with the same key."""
    seen: dict[Any, str] = {}
    files = ", ".join(each.path for each in source.sources(config, split))
    for number, (key, _) in enumerate(keyed_rows(source, config, split, reader)):
        place = reader.place or f"{files}, row {number}"
        if key in seen:
            text = f"the key {key!r} appears twice, first in {seen[key]}"
            raise RecordError("", Problem(place, what=text))
        seen[key] = place


def _remedy(source: Source) -> str:
    name = source.dataset.name
    if source.fallbacks:
        return f"Get {', '.join(source.fallbacks)}: this build reads a fallback instead."
    if source.sample:
        return f"The error is in the sample of {name}, or in {name}.py."
    return f"The files match their pins, so the error is in {name}.py: please report it."
