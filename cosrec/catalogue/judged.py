"""Look up the judged products of CoSRec in a catalogue, by their ids as written."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

import parley
from parley.errors import OutputError


def judged_products(build: Path) -> set[str]:
    """Return the ids of the products that have judgments in a build of cosrec.

    Raises:
        OutputError: not a readable build of cosrec.
        MissingSplitError: the build has no judgments.
    """
    built = parley.open(build)
    if (name := built.dataset.name) != "cosrec":
        raise OutputError(f"{build}: expected a build of cosrec, found one of {name!r}")
    rows = built.named("qrels", "curated")
    return {row["document_id"] for row in rows if row["type"] == "recommendation"}


def compare(judged: set[str], files: Iterable[Path]) -> dict[str, Any]:
    """Count the judged products in the files of `products`, and list the absent ones."""
    absent = set(judged)
    for path in files:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(columns=["parent_asin"]):
                absent.difference_update(batch.column(0).to_pylist())
    return {"judged": len(judged), "held": len(judged) - len(absent), "absent": sorted(absent)}
