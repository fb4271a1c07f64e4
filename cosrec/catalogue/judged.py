"""Which products of CoSRec's judgments a catalogue holds; an id is compared as it is written."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from parley.collection import get
from parley.folder.built import open_folder


def judged_products(build: Path) -> set[str]:
    """Return the ids of the products that have judgments.

    Args:
        build: The built folder of cosrec.

    Raises:
        OutputError: it is none, or cannot be read.
        MissingSplitError: its judgments were not built.
    """
    rows = open_folder(build, get("cosrec")).named("qrels", "curated")
    return {row["document_id"] for row in rows if row["type"] == "recommendation"}


def compare(judged: set[str], files: Iterable[Path]) -> dict[str, Any]:
    """Return how many of the judged products are in the files of `products`, and which are not."""
    absent = set(judged)
    for path in files:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(columns=["parent_asin"]):
                absent.difference_update(batch.column(0).to_pylist())
    return {"judged": len(judged), "held": len(judged) - len(absent), "absent": sorted(absent)}
