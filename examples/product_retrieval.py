"""Search a built catalogue for the products that CoSRec's recommendation queries ask for.

    python examples/product_retrieval.py build/cosrec CATALOGUE RUN

CATALOGUE is what `parley run cosrec catalogue` built. BM25 with CoSRec's k1 1.2 and b 0.75 over
title and description ranks 100 products a query; they are written to RUN in the format of TREC, for
retrieval_evaluation.py too. The judged products in random order (seeded) and in the best order
stand beside the scores, because the pools are rich in relevant products. Needs
`pip install bm25s ir-measures`.
"""

import random
import sys
import time

import bm25s
import datasets
import ir_measures
from ir_measures import AP, P, Qrel, ScoredDoc, nDCG

MEASURES = [nDCG @ 10, P @ 10, AP]  # AP and P take grades 1 and 2 for relevant
DEPTH = 100

datasets.disable_progress_bars()
folder, catalogue, run_file = sys.argv[1:]
rows = datasets.load_dataset(folder, "queries", split="curated")
wanted = rows.features["type"].str2int("recommendation")
queries = {row["query_id"]: row["text"] or "" for row in rows if row["type"] == wanted}
judgments = [
    Qrel(row["query_id"], row["document_id"], row["relevance"])
    for row in datasets.load_dataset(folder, "qrels", split="curated")
    if row["type"] == wanted
]

products = datasets.load_dataset(catalogue, "products", split="all")
ids = products["parent_asin"]
absent = {judgment.doc_id for judgment in judgments} - set(ids)
print(f"{len(products):,} products; {len(absent):,} judged ones are not among them")
for product in sorted(absent)[:5]:
    print(f"  {product}")

start = time.perf_counter()
texts = [" ".join([row["title"], *row["description"]]) for row in products]
index = bm25s.BM25(k1=1.2, b=0.75)
index.index(bm25s.tokenize(texts, stopwords="en", show_progress=False), show_progress=False)
indexed = time.perf_counter()
tokens = bm25s.tokenize(list(queries.values()), stopwords="en", show_progress=False)
found, scores = index.retrieve(tokens, k=min(DEPTH, len(products)), show_progress=False)
print(f"indexed in {indexed - start:.1f} s, searched in {time.perf_counter() - indexed:.1f} s")

run = [
    ScoredDoc(query, ids[place], float(score))
    for query, places, values in zip(queries, found, scores, strict=True)
    for place, score in zip(places, values, strict=True)
    if score > 0
]
with open(run_file, "w", encoding="utf-8") as file:
    rank: dict[str, int] = {}
    for doc in run:
        rank[doc.query_id] = rank.get(doc.query_id, 0) + 1
        file.write(f"{doc.query_id} Q0 {doc.doc_id} {rank[doc.query_id]} {doc.score} bm25\n")

draw = random.Random(0)  # noqa: S311
runs = {
    "bm25": run,
    "random": [ScoredDoc(j.query_id, j.doc_id, draw.random()) for j in judgments],
    "ideal": [ScoredDoc(j.query_id, j.doc_id, j.relevance) for j in judgments],
}
known = {(judgment.query_id, judgment.doc_id) for judgment in judgments}
print(f"{'':10}{'judged':>10}" + "".join(f"{measure!s:>10}" for measure in MEASURES))
for name, documents in runs.items():
    result = ir_measures.calc_aggregate(MEASURES, judgments, documents)
    share = sum((d.query_id, d.doc_id) in known for d in documents) / max(1, len(documents))
    print(f"{name:10}{share:10.1%}" + "".join(f"{result[measure]:10.3f}" for measure in MEASURES))
