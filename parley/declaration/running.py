"""Errors of the functions of a dataset folder."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice

from parley.base.errors import (
    MOST_PROBLEMS,
    MissingSplitError,
    OutputError,
    ParleyError,
    Problem,
    ScriptError,
    words_of,
)
from parley.base.extras import lacking
from parley.declaration.registry import Dataset


@contextmanager
def running(
    dataset: Dataset,
    file: str,
    on: object,
    odd: Callable[[], Iterable[Problem]] = tuple,
    kind: type[ParleyError] = ScriptError,
) -> Iterator[None]:
    """Name a file of a dataset folder in errors of its functions, and the build or row.

    `odd` gives what is wrong with the rows; `kind` is the class of the error. Errors of parley and
    of disks stay as they are, and so does a missing package of an extra, which the caller names.
    """
    try:
        yield
    except MissingSplitError as error:
        raise OutputError(f"{on}: {error}") from error
    except (ParleyError, OSError):
        raise
    except Exception as error:  # an unverified folder may hold anything
        if isinstance(error, ModuleNotFoundError) and lacking(error):
            raise
        what = f"{dataset.name}/{file} fails on {on} ({words_of(error)})"
        remedy = f"If `parley verify {dataset.name}` holds for the folder, fix {file}; "
        remedy += "else the folder is damaged: build it again."
        raise kind(what, *islice(odd(), MOST_PROBLEMS), remedy=remedy) from error
