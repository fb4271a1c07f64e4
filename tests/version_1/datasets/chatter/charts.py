# charts.py
"""The charts of chatter that its filters do not give."""

from collections import Counter

from parley import Data, Heatmap


def ratings(data: Data) -> Heatmap:
    """Count the dialogues by rating and length."""
    rows = data.rows("dialogues", "train")
    cells = Counter((len(row["turns"]), row["rating"]) for row in rows if row["rating"])
    about = "The customer's rating of a talk, by its turns."
    return Heatmap("Rating by turns", about, "turns", "rating", "dialogues", cells)


CHARTS = {"rating-by-turns": ratings}
