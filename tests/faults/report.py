"""Counts what becomes of damaged files. The same files give the same counts."""

from collections import Counter
from pathlib import Path

from subjects import SUBJECTS
from trial import HARMLESS, KEPT, KINDS, REJECTED, judged

from parley.collection import get

EACH = 100  # mutants of each kind and dataset


def table(source: Path | None, each: int = EACH) -> str:
    """Return Markdown, of the files in a folder, or of the samples if there is none.

    An outcome that is not allowed is a fourth number.
    """
    counts: Counter[tuple[str, str, str]] = Counter()
    for name in SUBJECTS:
        dataset = get(name)
        folder = source / name if source else dataset.sample
        for kind, outcome in judged(dataset, folder, each):
            unfair = outcome if isinstance(outcome, str) else "unfair"
            counts[name, kind, unfair] += 1
            counts[name, "all", unfair] += 1
    lines = [
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
