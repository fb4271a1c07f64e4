"""Which products of CoSRec's judgments a catalogue holds; an id is compared as it is written."""

import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

import parley


def judged_products(build: Path) -> set[str]:
    """Return the ids of the products that have judgments.

    Args:
        build: The built folder of cosrec.

    Raises:
        OutputError: it is none, is of another dataset, cannot be read, or its judgments are not
            those of the dataset.
        MissingSplitError: its judgments were not built.
    """
    built = parley.open(build)
    if (name := built.dataset.name) != "cosrec":
        raise parley.OutputError(f"{build}: expected a build of cosrec, found one of {name!r}")
    kinds = built.features("qrels")["type"].names
    found = set()
    for number, row in enumerate(built.rows("qrels", "curated"), 1):
        id, kind = row.get("document_id"), row.get("type")
        if not isinstance(id, str) or type(kind) is not int or not 0 <= kind < len(kinds):
            raise _unsound(build, f"row {number} has not the document_id and type of a judgment")
        if kinds[kind] == "recommendation":
            found.add(id)
    if not found:
        raise _unsound(build, "no judgment is of a recommended product")
    return found


def _unsound(build: Path, what: str) -> parley.OutputError:
    above = shlex.quote(str(build.parent))
    remedy = f"`parley verify cosrec --build {above}` says what else is wrong there."
    return parley.OutputError(f"{build}: qrels/curated: {what}", remedy=remedy)


def compare(judged: set[str], files: Iterable[Path]) -> dict[str, Any]:
    """Return how many of the judged products are in the files of `products`, and which are not."""
    absent = set(judged)
    for path in files:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(columns=["parent_asin"]):
                absent.difference_update(batch.column(0).to_pylist())
    return {"judged": len(judged), "held": len(judged) - len(absent), "absent": sorted(absent)}
