"""Counts what becomes of damaged files, as Markdown: `python tests/faults/report.py`.

Of the files in the folder PARLEY_SOURCE, or of the samples without it. The same files give the
same counts.
"""

import os
import sys
from collections import Counter
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"  # before anything imports datasets

from subjects import SUBJECTS
from trial import HARMLESS, KEPT, KINDS, REJECTED, judged

from parley.collection import get

EACH = 100


def table(source: Path | None, each: int) -> str:
    """Return the table. An outcome that is not allowed is a fourth number."""
    counts: Counter[tuple[str, str, str]] = Counter()
    for name in SUBJECTS:
        dataset = get(name)
        folder = source / name if source else dataset.sample
        for kind, outcome in judged(dataset, folder, each):
            unfair = outcome if isinstance(outcome, str) else "unfair"
            counts[name, kind, unfair] += 1
            counts[name, "all", unfair] += 1
    lines = [
        f"Mutants: {each} of each kind and dataset. Each cell: rejected / harmless / kept.",
        "",
        f"| damage | {' | '.join(SUBJECTS)} |",
        f"| --- |{' ---: |' * len(SUBJECTS)}",
    ]
    for kind in (*KINDS, "all"):
        cells = []
        for name in SUBJECTS:
            outcomes = [counts[name, kind, outcome] for outcome in (REJECTED, HARMLESS, KEPT)]
            unfair = counts[name, kind, "unfair"]
            cells.append(" / ".join(map(str, [*outcomes, *([unfair] if unfair else [])])))
        lines.append(f"| {kind} | {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    place = os.environ.get("PARLEY_SOURCE")
    print(table(Path(place) if place else None, int(sys.argv[1]) if sys.argv[1:] else EACH))
