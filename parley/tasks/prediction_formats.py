"""The formats of predictions in a file: JSON Lines and TREC runs."""

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from sys import intern
from typing import Any

from parley.base.strict_json import loads
from parley.schema.nodes import show

Key = tuple[Any, ...]
"""The values of the fields that tell predictions apart."""
Prediction = Mapping[str, Any]
"""Field -> value, the fields of the key included."""
ANSWER = "answer"
"""The field of a prediction that holds a raw answer, which the task reads."""
UNREADABLE = "unreadable"
"""The field of a prediction that could not be read, beside its key: the reason."""


@dataclass(frozen=True)
class PredictionFormat:
    """A format of prediction files."""

    name: str
    parse: Callable[[bytes], Any]  # a line -> its prediction, or ValueError
    glimpse: Callable[[bytes], Any]  # a line that `parse` refuses -> what tells its key
    lines: Callable[[Iterable[Prediction]], Iterable[str]]  # without line ends


# The digits before the point can be told from those after it: no line takes long to refuse.
_SCORE = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_BOM = b"\xef\xbb\xbf"


def _run_line(line: bytes) -> dict[str, Any]:
    """Return the prediction of a line of a TREC run; second field, rank and tag are ignored."""
    if line.startswith(_BOM):
        raise ValueError("unexpected BOM, a byte order mark")
    parts = [field.decode("utf-8") for field in line.split()]  # at ASCII white space
    if len(parts) != 6:
        what = f"expected six fields, QUERY Q0 DOCUMENT RANK SCORE TAG, found {len(parts)}"
        raise ValueError(what)
    query, _, document, _, score, _ = parts
    if not _SCORE.fullmatch(score) or not math.isfinite(value := float(score)):
        raise ValueError(f"score: expected a finite number, found {show(score)}")
    return {"query_id": intern(query), "document_id": document, "score": value}  # of many lines


def _run_glimpse(line: bytes) -> dict[str, str]:
    query, _, document = map(bytes.decode, line.split()[:3])
    return {"query_id": query, "document_id": document}


def _run_lines(predictions: Iterable[Prediction]) -> Iterator[str]:
    queries: dict[str, list[Prediction]] = {}
    for prediction in predictions:
        queries.setdefault(prediction["query_id"], []).append(prediction)
    for query, hits in queries.items():
        hits.sort(key=lambda hit: (hit["score"], hit["document_id"]), reverse=True)
        for rank, hit in enumerate(hits, 1):
            yield f"{query} Q0 {hit['document_id']} {rank} {hit['score']!r} parley"


# By the line, not by `jsonlines`: all wrong lines are told, and those of a TREC run alike.
_dumps = partial(json.dumps, ensure_ascii=False)
JSON_LINES = PredictionFormat("JSON Lines", loads, json.loads, partial(map, _dumps))
TREC_RUN = PredictionFormat("a TREC run", _run_line, _run_glimpse, _run_lines)
"""A TREC run: query_id, document_id and a float score, which decides, as in trec_eval."""

NO_HIT = "-"
"""The document in the only line of a topic without results; it is judged nowhere."""
