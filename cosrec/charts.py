"""The charts of CoSRec that its filters do not give."""

from parley import Data
from parley.read import Bar, Bars

from .views import GRADES


def grades(data: Data) -> Bars:
    """Count the documents of each judged query by grade, the most judged query first."""
    bars = []
    for query in data.rows("queries", "curated"):
        counts = tuple(query[f"judged_{grade}"] for grade in GRADES)
        bars.append(Bar(query["query_id"], counts, {"id": query["query_id"]}))
    return Bars(
        "Grades by query",
        f"{sum(sum(bar.values) for bar in bars):,} judgments of {len(bars):,} queries, by grade.",
        of="query",
        series=tuple(GRADES.values()),
        bars=tuple(sorted(bars, key=lambda bar: (*bar.values, bar.label), reverse=True)),
    )


CHARTS = {"grades-by-query": grades}
