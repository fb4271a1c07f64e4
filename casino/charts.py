"""The charts of CaSiNo that its filters do not give."""

from collections import Counter

from parley import Data
from parley.read import Heatmap

from .records import SATISFACTION


def satisfaction(data: Data) -> Heatmap:
    """Count the sides by their points and their satisfaction."""
    sides = data.rows_with_names("participants", "train")
    return Heatmap(
        "Satisfaction by points",
        f"{len(sides):,} sides by their points and their satisfaction.",
        x="points",
        y="satisfaction",
        counted="sides",
        cells=Counter((side["points_scored"], side["satisfaction"]) for side in sides),
        rows=tuple(reversed(SATISFACTION)),
    )


CHARTS = {"satisfaction-by-points": satisfaction}
