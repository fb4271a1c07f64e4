"""Look up the judged products of CoSRec in a catalogue, by their ids as written."""

import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

import parley
from parley.errors import OutputError


def judged_products(build: Path) -> set[str]:
    """Return the ids of the products that have judgments in a build of cosrec.

    Raises:
        OutputError: not a readable build of cosrec, or invalid judgments.
        MissingSplitError: the build has no judgments.
    """
    built = parley.open(build)
    if (name := built.dataset.name) != "cosrec":
        raise OutputError(f"{build}: expected a build of cosrec, found one of {name!r}")
    kinds = built.features("qrels")["type"].names
    found = set()
    for number, row in enumerate(built.rows("qrels", "curated"), 1):
        id, kind = row.get("document_id"), row.get("type")
        if not isinstance(id, str) or type(kind) is not int or not 0 <= kind < len(kinds):
            raise _unsound(build, f"row {number} lacks the document_id or type of a judgment")
        if kinds[kind] == "recommendation":
            found.add(id)
    if not found:
        raise _unsound(build, "no judgment names a recommended product")
    return found


def _unsound(build: Path, what: str) -> OutputError:
    above = shlex.quote(str(build.parent))
    remedy = f"`parley verify cosrec --build {above}` lists all problems."
    return OutputError(f"{build}: qrels/curated: {what}", remedy=remedy)


def compare(judged: set[str], files: Iterable[Path]) -> dict[str, Any]:
    """Count the judged products in the files of `products`, and list the absent ones."""
    absent = set(judged)
    for path in files:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(columns=["parent_asin"]):
                absent.difference_update(batch.column(0).to_pylist())
    return {"judged": len(judged), "held": len(judged) - len(absent), "absent": sorted(absent)}
