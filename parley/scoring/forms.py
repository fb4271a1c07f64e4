"""The forms that predictions have in a file: JSON Lines, and the run of TREC."""

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from parley.rows.strict_json import loads
from parley.shapes import show

Key = tuple[Any, ...]
Prediction = Mapping[str, Any]


@dataclass(frozen=True)
class Form:
    """How predictions stand in a file.

    Args:
        name: What it is called.
        parse: Returns the prediction of a line, or raises ValueError.
        glimpse: Returns what can be made out of a line that `parse` refuses, or raises ValueError:
            its key is to be named.
        lines: Returns the lines of predictions, without line ends.
    """

    name: str
    parse: Callable[[bytes], Any]
    glimpse: Callable[[bytes], Any]
    lines: Callable[[Iterable[Prediction]], Iterable[str]]


def _json_lines(predictions: Iterable[Prediction]) -> Iterator[str]:
    return (json.dumps(each, ensure_ascii=False) for each in predictions)


# The digits before the point can be told from those after it: no line takes long to refuse.
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_BOM = b"\xef\xbb\xbf"


def _run_fields(line: bytes) -> list[str]:
    """Return the fields of a line: what stands between white space of ASCII."""
    return [field.decode("utf-8") for field in line.split()]


def _run_line(line: bytes) -> dict[str, Any]:
    """Return what a line of a run says; its second field, its rank and its tag decide nothing."""
    if line.startswith(_BOM):
        raise ValueError("unexpected BOM, a byte order mark")
    parts = _run_fields(line)
    if len(parts) != 6:
        raise ValueError(
            f"expected six fields, QUERY Q0 DOCUMENT RANK SCORE TAG, found {len(parts)}"
        )
    query, _, document, rank, score, _ = parts
    if not re.fullmatch(r"\d+", rank, re.ASCII):
        raise ValueError(f"rank: expected a whole number, found {show(rank)}")
    if not _NUMBER.fullmatch(score) or not math.isfinite(value := float(score)):
        raise ValueError(f"score: expected a finite number, found {show(score)}")
    return {"query_id": query, "document_id": document, "score": value}


def _run_glimpse(line: bytes) -> dict[str, Any]:
    query, _, document = _run_fields(line)[:3]
    return {"query_id": query, "document_id": document}


def _run_lines(predictions: Iterable[Prediction]) -> Iterator[str]:
    queries: dict[str, list[Prediction]] = {}
    for each in predictions:
        queries.setdefault(each["query_id"], []).append(each)
    for query, found in queries.items():
        found.sort(key=lambda each: (each["score"], each["document_id"]), reverse=True)
        for rank, each in enumerate(found, 1):
            yield f"{query} Q0 {each['document_id']} {rank} {each['score']!r} parley"


JSON_LINES = Form("JSON Lines", loads, json.loads, _json_lines)
TREC_RUN = Form("a TREC run", _run_line, _run_glimpse, _run_lines)
"""A run in the format of TREC: predictions of query_id, document_id and score, a float.

As in trec_eval the scores decide, and neither the order of lines nor the rank.
"""
