"""Generate the rows of a split by its plan."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

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
    keys = set()
    plan.reader.forget()
    with explaining(plan):
        for number, (key, row) in enumerate(plan.keyed_rows(records)):
            if key in keys:
                place = plan.reader.place or f"{plan.named}, row {number}"
                raise RecordError("", Problem(place, what=f"the key {key!r} appears twice"))
            keys.add(key)
            yield row
        plan.reader.require_ended(plan.files)
        if not keys:
            raise RecordError("", Problem(plan.named, "at least one record", "none"))


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
