"""Write CoSRec as a ConvoKit corpus, and its judged queries for trec_eval and similar tools.

In the corpus, the other columns of `crowd` or `curated` are metadata of a conversation. Each
conversation has its own user and assistant.

For trec_eval, ir_measures and Pyserini, of all queries and of each type:

    topics.tsv              topics.search.tsv    topics.recommendation.tsv    query id, tab, text
    topics.json             topics.search.json   topics.recommendation.json   the same for Pyserini
    qrels.qrels             qrels.search.qrels   qrels.recommendation.qrels   the judgments

`qrels.qrels` is upstream's file, byte for byte. A text is the canonical formulation. Pyserini
takes ids that are no numbers from JSON; from TSV only in newer versions.

For BEIR and MTEB, of each type, which has documents of its own:

    TYPE/queries.jsonl      {"_id": query id, "text": text}
    TYPE/qrels/test.tsv     query-id, corpus-id, score, with these headings

They read `TYPE/corpus.jsonl` too. CoSRec published no documents; docs/catalogue.md makes that of
the products.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import jsonlines

from parley import Data, OutputError
from parley.read import convokit

from .rows import to_judgment_record

CORPUS = {"name": "CoSRec", "dataset_url": "https://github.com/CAMEO-22/CoSRec"}


def trec(data: Data, folder: Path) -> None:
    """Write topics and judgments: of all queries, and of each type."""
    for kind in ("", "search", "recommendation"):
        part = f".{kind}" if kind else ""
        texts, judgments = _judged(data, kind)
        _write(folder / f"topics{part}.tsv", [f"{key}\t{text}" for key, text in texts.items()])
        titles = {query_id: {"title": text} for query_id, text in texts.items()}
        _write(folder / f"topics{part}.json", [json.dumps(titles, indent=2, ensure_ascii=False)])
        _write(folder / f"qrels{part}.qrels", map(to_judgment_record, judgments))


def beir(data: Data, folder: Path) -> None:
    """Write queries and judgments of each type."""
    for kind in ("search", "recommendation"):
        texts, judgments = _judged(data, kind)
        (folder / kind / "qrels").mkdir(parents=True)
        with jsonlines.open(folder / kind / "queries.jsonl", "w") as file:
            file.write_all({"_id": query_id, "text": text} for query_id, text in texts.items())
        scores = (f"{r['query_id']}\t{r['document_id']}\t{r['relevance']}" for r in judgments)
        _write(folder / kind / "qrels" / "test.tsv", ["query-id\tcorpus-id\tscore", *scores])


def _judged(data: Data, kind: str) -> tuple[dict[str, str], list[dict[str, Any]]]:
    """Return the queries of a type, "" for all, id -> text, and their judgments."""
    name = data.features("qrels")["type"].int2str
    rows = [row for row in data.rows("queries", "curated") if kind in ("", name(row["type"]))]
    texts = {row["query_id"]: row["text"] or "" for row in rows}
    for query_id, text in texts.items():
        if not text or set("\t\n\r") & set(text):
            raise OutputError(f"{query_id}: expected one line without tabs, found {text!r}")
    return texts, [r for r in data.rows("qrels", "curated") if kind in ("", name(r["type"]))]


def _speaker(row: dict[str, Any], turn: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the id and metadata of the user or assistant of a conversation."""
    return f"{row['dialogue_id']} {turn['role']}", {"role": turn["role"]}


def _write(path: Path, lines: Iterable[str]) -> None:
    path.write_bytes("".join(f"{line}\n" for line in lines).encode())  # the same on every system


EXPORTS = {"trec": trec, "beir": beir, "convokit": convokit(CORPUS, "turns", "text", _speaker)}
