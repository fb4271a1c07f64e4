"""The formats of predictions in a file: JSON Lines and TREC runs."""

import json
import math
import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from parley.base.strict_json import loads
from parley.schema.nodes import show

Key = tuple[Any, ...]
"""The values of the fields that tell predictions apart."""
Prediction = Mapping[str, Any]
"""Field -> value, the fields of the key included."""
ANSWER = "answer"
"""The field of a prediction that holds a raw answer, which the task's reader reads."""
UNREADABLE = "unreadable"
"""The field of a prediction that could not be read, beside its key: the reason."""


@dataclass(frozen=True)
class PredictionFormat:
    """A format of prediction files."""

    name: str
    parse: Callable[[bytes], Any]  # a line -> its prediction, or ValueError
    glimpse: Callable[[bytes], Any]  # a line that `parse` refuses -> fields of its key
    lines: Callable[[Iterable[Prediction]], Iterable[str]]  # without line ends


def _json_lines(predictions: Iterable[Prediction]) -> Iterator[str]:
    return (json.dumps(each, ensure_ascii=False) for each in predictions)


# The digits before the point can be told from those after it: no line takes long to refuse.
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_BOM = b"\xef\xbb\xbf"


def _run_line(line: bytes) -> dict[str, Any]:
    """Return the prediction of a line of a TREC run; second field, rank and tag are ignored."""
    if line.startswith(_BOM):
        raise ValueError("unexpected BOM, a byte order mark")
    parts = [field.decode("utf-8") for field in line.split()]  # at ASCII white space
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
    query, _, document = line.split()[:3]
    return {"query_id": query.decode("utf-8"), "document_id": document.decode("utf-8")}


def _run_lines(predictions: Iterable[Prediction]) -> Iterator[str]:
    queries: dict[str, list[Prediction]] = {}
    for each in predictions:
        queries.setdefault(each["query_id"], []).append(each)
    for query, found in queries.items():
        found.sort(key=lambda each: (each["score"], each["document_id"]), reverse=True)
        for rank, each in enumerate(found, 1):
            yield f"{query} Q0 {each['document_id']} {rank} {each['score']!r} parley"


# By the line, not by `jsonlines`: all wrong lines are told, and those of a TREC run alike.
JSON_LINES = PredictionFormat("JSON Lines", loads, json.loads, _json_lines)
TREC_RUN = PredictionFormat("a TREC run", _run_line, _run_glimpse, _run_lines)
"""A TREC run: query_id, document_id and a float score, which decides, as in trec_eval."""

NO_HIT = "-"
"""The document in the only line of a topic without results; it is judged nowhere."""


class Run(Mapping[Key, Prediction]):
    """The predictions of a TREC run, kept small, as it can have millions of lines."""

    KEY = ("query_id", "document_id")
    SHAPE: Mapping[str, type] = {"query_id": str, "document_id": str, "score": float}

    def __init__(self) -> None:
        self._topics: dict[str, dict[str, int]] = {}  # topic -> document -> its line
        self._scores = array("d")  # by line, from 1

    def __len__(self) -> int:
        return sum(map(len, self._topics.values()))

    def __iter__(self) -> Iterator[Key]:
        return ((topic, document) for topic, found in self._topics.items() for document in found)

    def __getitem__(self, key: Key) -> Prediction:
        topic, document = key
        score = self._scores[self._topics[topic][document] - 1]
        return {"query_id": topic, "document_id": document, "score": score}

    def clash(self, key: Key, unit: str) -> str:
        """Return why a prediction of this key conflicts with the kept ones, or ""."""
        topic, document = key
        there = self._topics.get(topic, {})
        if document in there:
            return f"repeated, first in {unit} {there[document]}"
        if there and (document == NO_HIT or NO_HIT in there):
            (first, *_) = there.values()
            return f"stands beside {unit} {first}, though {NO_HIT} says that nothing was found"
        return ""

    def keep(self, number: int, key: Key, prediction: Prediction) -> None:
        """Keep the prediction of a line."""
        topic, document = key
        self._skip_to(number)
        self._scores.append(prediction["score"])
        self._topics.setdefault(topic, {})[document] = number

    def keep_all(self, first: int, lines: Sequence[bytes], gold: Mapping[Key, Any]) -> set[Key]:
        """Keep the predictions of many lines, or none if one may be wrong; return their topics.

        `first` is the number of the first line; the keys of `gold` are the topics.
        """
        text = b" \0 ".join([*lines, b""])
        parts = text.split()  # all at once, with a zero byte after those of each line
        if len(parts) != 7 * len(lines) or parts[6::7].count(b"\0") != parts.count(b"\0"):
            return set()
        queries, documents, ranks, scores = (parts[place::7] for place in (0, 2, 3, 4))
        try:
            text.decode("utf-8")
            names = {query: query.decode("utf-8") for query in {*queries}}
            ids = b"\n".join(documents).decode("utf-8").split("\n")
            values = array("d", map(float, scores))
        except ValueError:
            return set()
        topics = {(name,) for name in names.values()}
        if not (
            b"".join(ranks).isdigit()
            and not b"".join(scores).translate(None, b"+-.0123456789Ee")  # float reads more
            and all(map(math.isfinite, values))
            and not any(query.startswith(_BOM) for query in names)
            and topics <= gold.keys()
        ):
            return set()
        new: dict[bytes, dict[str, int]] = {query: {} for query in names}
        for query, document, number in zip(queries, ids, count(first)):
            new[query][document] = number
        if sum(map(len, new.values())) < len(lines):
            return set()
        for query, found in new.items():
            there = self._topics.get(names[query], {})
            if NO_HIT in found or NO_HIT in there or not found.keys().isdisjoint(there.keys()):
                return set()
        for query, found in new.items():
            self._topics.setdefault(names[query], {}).update(found)
        self._skip_to(first)
        self._scores.extend(values)
        return topics

    def _skip_to(self, number: int) -> None:
        """Reserve room for the scores of lines that were not kept."""
        self._scores.extend([0.0] * (number - 1 - len(self._scores)))

    def in_order(self, gold: Mapping[Key, Any]) -> "Run":
        """Return the predictions, in the order of the topics in gold and then of documents' ids."""
        for (topic,) in gold:
            found = self._topics.pop(topic)
            self._topics[topic] = {document: found[document] for document in sorted(found)}
        return self

    def topics(self) -> Iterator[tuple[str, list[str], list[float]]]:
        """Yield each topic with its documents and their scores."""
        for topic, found in self._topics.items():
            yield topic, [*found], [self._scores[number - 1] for number in found.values()]
