"""A damaged file is rejected with an error that names the place, or nothing in it is lost.

Three outcomes are allowed. `rejected`: the error names file, record or line and, if a parser can
know it, the field. `harmless`: records and rows are unchanged. `kept`: the rows give back the
damaged records exactly, and the dataset's documents allow such records.
"""

from collections import Counter

import pytest
from damage import KINDS
from subjects import SUBJECTS
from trial import EACH, HARMLESS, KEPT, REJECTED, judged

from parley.building.registry import get

OUTCOMES = (REJECTED, HARMLESS, KEPT)


def require_fair(name, source, each, record=lambda kind, cell: None):
    """Damage files in each kind and record the outcomes; fail if one is unfair."""
    counts, unfair = Counter(), []
    for kind, outcome in judged(get(name), source, each):
        if isinstance(outcome, Exception):
            unfair.append(str(outcome))
            outcome = "unfair"
        counts[kind, outcome] += 1
        counts["all", outcome] += 1
    for kind in (*KINDS, "all"):
        shown = (*OUTCOMES, "unfair") if counts[kind, "unfair"] else OUTCOMES
        record(kind, " / ".join(str(counts[kind, outcome]) for outcome in shown))
    assert not unfair, f"{len(unfair)} unfair, such as:\n" + "\n".join(unfair[:5])
    for kind in KINDS:
        assert sum(counts[kind, outcome] for outcome in OUTCOMES) == each
    assert counts["all", HARMLESS]
    assert counts["all", KEPT]


@pytest.mark.parametrize("name", SUBJECTS)
def test_damaged_samples(name):
    require_fair(name, get(name).sample, 12)


@pytest.mark.parametrize("name", SUBJECTS)
def test_damaged_real_files(name, source, record_property):
    def record(kind, cell):
        record_property(f"damage: {kind}", f"{name}: {cell}")

    require_fair(name, source / name, EACH, record)
