"""The charts of DUO that its filters do not give: each rating by the person and by others."""

from collections import Counter
from functools import partial

from parley.figures import Data
from parley.views import Heatmap

from .views import ASPECTS


def ratings(data: Data, aspect: str) -> Heatmap:
    """Count the dialogues by the person's rating of an aspect and by the mean of the others'."""
    name = aspect.replace("_", " ")
    cells: Counter[tuple[float, tuple[float, float]]] = Counter()
    for row in data.rows("dialogues", *data.splits("dialogues")):
        own, others = row["subjective_evaluation"], row["objective_evaluation"]
        if others is not None and own[aspect] is not None:
            least = min(int(others[aspect] * 2) / 2, 4.5)
            cells[own[aspect], (least, least + 0.5 - 0.01 * (least < 4.5))] += 1
    return Heatmap(
        f"{name.capitalize()}: own rating and others'",
        f"The rating of {name} by the person who took part, and the mean of three others', "
        f"for the {cells.total()} dialogues with both.",
        x=f"{name}, own",
        y=f"{name}, others",
        counted="dialogues",
        cells=cells,
    )


CHARTS = {f"own-and-others-{aspect}": partial(ratings, aspect=aspect) for aspect in ASPECTS}
