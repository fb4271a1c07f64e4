"""Words of a dialogue's transcript, its charts, and exports for ConvoKit."""

from typing import TYPE_CHECKING

from parley.base.door import opened

if TYPE_CHECKING:
    from parley.read.charts import Bar, Bars, Heatmap
    from parley.read.export.convokit import convokit, write_corpus
    from parley.read.transcript import Facets, Fact, Judged, Note, Pool, Table, Transcript, Turn

_PLACES = {
    "parley.read.charts": "Bar Bars Heatmap",
    "parley.read.export.convokit": "convokit write_corpus",
    "parley.read.transcript": "Facets Fact Judged Note Pool Table Transcript Turn",
}
__all__ = ["Bar", "Bars", "Facets", "Fact", "Heatmap", "Judged", "Note", "Pool", "Table"]
__all__ += ["Transcript", "Turn", "convokit", "write_corpus"]
__getattr__ = opened(__name__, _PLACES)
