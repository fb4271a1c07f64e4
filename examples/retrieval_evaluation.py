"""Score a retrieval run against CoSRec's judgments, search and recommendation separately.

    python examples/retrieval_evaluation.py build/cosrec [RUN]

RUN is in the format of TREC: query id, Q0, document id, rank, score and a tag in each line.
Without it, the judged documents are scored in random order (seeded) and in the best order. Needs
`pip install ir-measures`; takes the name of a dataset on the Hub as well.
"""

import random
import sys

import datasets
import ir_measures
from ir_measures import RR, P, Qrel, R, ScoredDoc, nDCG

# nDCG takes the grades 0, 1 and 2 as gains. The others know relevant or not: 1 and 2 are relevant;
# with `rel=2` only 2 is. A document without a judgment counts as not relevant.
MEASURES = [nDCG @ 10, P @ 10, P(rel=2) @ 10, RR, R @ 100]

datasets.disable_progress_bars()
rows = datasets.load_dataset(sys.argv[1], "qrels", split="curated")
name = rows.features["type"].int2str
qrels = {kind: [] for kind in sorted(set(map(name, rows["type"])))}
for row in rows:
    qrels[name(row["type"])].append(Qrel(row["query_id"], row["document_id"], row["relevance"]))

if len(sys.argv) > 2:
    runs = {"run": list(ir_measures.read_trec_run(sys.argv[2]))}
else:
    judged = [judgment for judgments in qrels.values() for judgment in judgments]
    draw = random.Random(0)  # noqa: S311
    runs = {
        "random": [ScoredDoc(q.query_id, q.doc_id, draw.random()) for q in judged],
        "ideal": [ScoredDoc(q.query_id, q.doc_id, q.relevance) for q in judged],
    }

print(f"{'':25}{'queries':>8}{'answered':>10}" + "".join(f"{m!s:>15}" for m in MEASURES))
for kind, judgments in qrels.items():
    queries = {judgment.query_id for judgment in judgments}
    for name, run in runs.items():
        # a mean over the judged queries: one that the run does not answer counts as 0
        scores = ir_measures.calc_aggregate(MEASURES, judgments, run)
        answered = len(queries & {document.query_id for document in run})
        line = f"{kind:15}{name:10}{len(queries):8}{answered:10}"
        print(line + "".join(f"{scores[measure]:15.3f}" for measure in MEASURES))
