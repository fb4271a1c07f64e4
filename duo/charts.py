"""The charts of DUO that its filters do not give: each rating by the person and by others."""

from collections import Counter
from functools import partial

from parley import Data
from parley.read import Heatmap

from .records import ASPECTS

# half a point each; a mean has two decimals
_BANDS = tuple((low / 2, low / 2 + (0.49 if low < 9 else 0.5)) for low in range(2, 10))


def ratings(data: Data, aspect: str) -> Heatmap:
    """Count the dialogues by the person's rating of an aspect and by the mean of the others'."""
    name = aspect.replace("_", " ")
    cells: Counter[tuple[float, tuple[float, float]]] = Counter()
    for row in data.rows("dialogues"):
        own, others = row["subjective_evaluation"], row["objective_evaluation"]
        if others is not None and own[aspect] is not None:
            (band,) = (band for band in _BANDS if band[0] <= others[aspect] <= band[1])
            cells[own[aspect], band] += 1
    return Heatmap(
        f"{name.capitalize()}: own rating and others'",
        f"{cells.total()} dialogues by the person's rating of {name}, and by the mean of three "
        "others' ratings.",
        x=f"{name}, own",
        y=f"{name}, others",
        counted="dialogues",
        cells=cells,
        rows=tuple(reversed(_BANDS)),
    )


CHARTS = {f"own-and-others-{aspect}": partial(ratings, aspect=aspect) for aspect in ASPECTS}
