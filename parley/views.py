"""The words of a dataset's `transcript.py` and `charts.py`: its dialogues and charts, drawn."""

from parley.reading.charts import Bar as Bar
from parley.reading.charts import Bars as Bars
from parley.reading.charts import Heatmap as Heatmap
from parley.reading.transcript import Facets as Facets
from parley.reading.transcript import Fact as Fact
from parley.reading.transcript import Judged as Judged
from parley.reading.transcript import Note as Note
from parley.reading.transcript import Pool as Pool
from parley.reading.transcript import Table as Table
from parley.reading.transcript import Transcript as Transcript
from parley.reading.transcript import Turn as Turn

__all__ = sorted(name for name in dir() if not name.startswith("_"))
