"""Scores over the five folds that the authors published, in percent, with the sample SD."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from parley.tasks import Key, over_folds


def keys_by_fold(gold: Mapping[Key, tuple[int, Any]]) -> list[list[Key]]:
    """Return the keys of each fold; `gold` is key -> (fold, right answer)."""
    folds: dict[int, list[Key]] = defaultdict(list)
    for key, (fold, _) in gold.items():
        folds[fold].append(key)
    return [folds[fold] for fold in sorted(folds)]


def over_all(found: Mapping[str, Sequence[float]]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return metrics and their spread, from their values in each fold."""
    folds = {name: over_folds(values) for name, values in found.items()}
    metrics, spread = ({name: each[n] for name, each in folds.items()} for n in (0, 1))
    return metrics, spread
