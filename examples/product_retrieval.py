"""Search a built catalogue for the products that CoSRec's recommendation queries ask for.

    python examples/product_retrieval.py build/cosrec CATALOGUE RUN
    parley score cosrec retrieval RUN --set topics=recommendation

`parley run cosrec catalogue` builds CATALOGUE. BM25 with CoSRec's k1 1.2 and b 0.75 over
title and description ranks 100 products a query. RUN is written in the format of TREC.
Needs `pip install bm25s`.
"""

import sys
import time

import bm25s
import datasets

DEPTH = 100

datasets.disable_progress_bars()
if len(sys.argv) != 4:
    sys.exit("usage: product_retrieval.py BUILD/cosrec CATALOGUE RUN")
folder, catalogue, run_file = sys.argv[1:]
rows = datasets.load_dataset(folder, "queries", split="curated")
wanted = rows.features["type"].str2int("recommendation")
rows = [row for row in rows if row["type"] == wanted]
queries = {row["query_id"]: row["text"] or "" for row in rows}

products = datasets.load_dataset(catalogue, "products", split="all")
ids = products["parent_asin"]

start = time.perf_counter()
texts = [" ".join([row["title"], *row["description"]]) for row in products]
index = bm25s.BM25(k1=1.2, b=0.75)
index.index(bm25s.tokenize(texts, stopwords="en", show_progress=False), show_progress=False)
indexed = time.perf_counter()
tokens = bm25s.tokenize(list(queries.values()), stopwords="en", show_progress=False)
found, scores = index.retrieve(tokens, k=min(DEPTH, len(products)), show_progress=False)
print(f"indexed in {indexed - start:.1f} s, searched in {time.perf_counter() - indexed:.1f} s")

with open(run_file, "w", encoding="utf-8") as file:
    for query, places, values in zip(queries, found, scores, strict=True):
        for rank, (place, score) in enumerate(zip(places, values, strict=True), 1):
            file.write(f"{query} Q0 {ids[place]} {rank} {score} bm25\n")
