"""The charts of CoSRec that its filters do not give."""

from parley import Bar, Bars, Data

GRADES = {2: "highly relevant", 1: "partially relevant", 0: "not relevant"}


def grades(data: Data) -> Bars:
    """Count the documents of each judged query by grade, the most judged query first."""
    queries = data.rows("queries", "curated")
    bars = [
        Bar(
            query["query_id"],
            tuple(query[f"judged_{grade}"] for grade in GRADES),
            {"id": query["query_id"]},
        )
        for query in queries
    ]
    return Bars(
        "Grades by query",
        f"The judged documents of each of the {len(bars)} queries, by grade.",
        of="query",
        series=tuple(GRADES.values()),
        bars=tuple(sorted(bars, key=lambda bar: (*bar.values, bar.label), reverse=True)),
    )


CHARTS = {"grades-by-query": grades}
