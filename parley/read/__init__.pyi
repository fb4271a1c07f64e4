from .charts import Bar, Bars, Heatmap
from .export.convokit import convokit, write_corpus
from .transcript import Facets, Fact, Judged, Note, Pool, Table, Transcript, Turn

__all__ = ["Bar", "Bars", "Facets", "Fact", "Heatmap", "Judged", "Note", "Pool", "Table"]
__all__ += ["Transcript", "Turn", "convokit", "write_corpus"]
