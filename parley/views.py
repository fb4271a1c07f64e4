"""The words of a dataset's `transcript.py` and `charts.py`: its dialogues and charts, drawn."""

from parley.reading.charts import Bar, Bars, Heatmap
from parley.reading.transcript import (
    Facets,
    Fact,
    Judged,
    Note,
    Pool,
    Table,
    Transcript,
    Turn,
)

__all__ = [
    "Bar",
    "Bars",
    "Facets",
    "Fact",
    "Heatmap",
    "Judged",
    "Note",
    "Pool",
    "Table",
    "Transcript",
    "Turn",
]
