"""Generate the rows of a split by its plan."""

import gc
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from parley.base.errors import (
    ParleyError,
    Problem,
    RecordError,
    ScriptError,
    SourceError,
)
from parley.base.modules import line_of
from parley.building.rows.split import SplitPlan


def generate(plan: SplitPlan, records: list[Any] | None = None) -> Iterator[Any]:
    """Yield the rows of a split; append each record to `records` before a row is made of it.

    Raises:
        RecordError: a file has invalid records or none, or a key appears twice.
        ScriptError: the script fails, or does not read a file to its end.
        SourceError: a file cannot be read.
    """
    keys = array("q")  # hashes take less memory than keys
    plan.reader.forget()
    with explaining(plan):
        for key, row in plan.keyed_rows(records):
            keys.append(hash(key))
            yield row
        require_whole(plan, keys)


def require_whole(plan: SplitPlan, keys: "array[int]") -> None:
    """Raise an error unless all files were read to their end, and have records of unlike keys.

    Args:
        plan: The plan.
        keys: The hashes of the keys of its rows.
    """
    plan.reader.require_ended(plan.files)
    if not keys:
        raise RecordError("", Problem(plan.named, "at least one record", "none"))
    if not are_unique(keys):
        _require_unique_keys(plan)


@contextmanager
def explaining(plan: SplitPlan) -> Iterator[None]:
    """Name the split, the record and the remedy in errors of a file or of the script."""
    try:
        yield
    except OSError as error:
        problem = Problem(str(error.filename), what=f"cannot be read: {error.strerror or error}")
        raise SourceError(plan.where, problem) from error
    except ScriptError as error:
        raise ScriptError(
            f"{plan.where}: {error.message}", *error.problems, remedy=error.remedy
        ) from None
    except (RecordError, ValueError) as error:  # a script raises ValueError for bad records
        found = error.problems if isinstance(error, RecordError) else [plan.reader.explain(error)]
        raise RecordError(f"{plan.where}, invalid record", *found, remedy=plan.remedy) from error
    except (ParleyError, ImportError):
        raise
    except Exception as error:  # any other error is the script's
        raise ScriptError(
            f"{plan.where}: {line_of(error, plan.dataset) or f'{plan.dataset}.py'} fails",
            plan.reader.explain(error),
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


def are_unique(hashes: "array[int]") -> bool:
    """Tell whether all numbers differ; sort them in place, which takes no memory."""
    ordered = np.frombuffer(hashes, np.int64)
    ordered.sort()
    return not (ordered[1:] == ordered[:-1]).any()


def _require_unique_keys(plan: SplitPlan) -> None:
    """Read a split again to name records with the same key."""
    seen: dict[Any, str] = {}
    for number, (key, _) in enumerate(plan.keyed_rows()):
        place = plan.reader.place or f"{plan.named}, row {number}"
        if key in seen:
            text = f"the key {key!r} appears twice, first in {seen[key]}"
            raise RecordError("", Problem(place, what=text))
        seen[key] = place
