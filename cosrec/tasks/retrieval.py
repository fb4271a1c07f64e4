"""The task `retrieval`: rank passages and products for the judged queries."""

import math
import random
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain, groupby, islice
from operator import itemgetter
from typing import Any

from parley import Data, Field
from parley.tasks import NO_HIT, TREC_RUN, Key, Prediction, Reference, Score, Task

Row = dict[str, Any]
Predictions = Mapping[Key, Prediction]


def judgments(data: Data, topics: str) -> list[Row]:
    """Return the judgments of one type of topics, or of all, in upstream's order."""
    rows = data.rows_with_names("qrels")
    return [row for row in rows if topics in ("all", row["type"])]


def judged(data: Data, topics: str) -> dict[Key, dict[str, Any]]:
    """Return the judgments of each topic, and its conversation."""
    found: dict[Key, dict[str, Any]] = {}
    for row in judgments(data, topics):
        topic = row["query_id"]
        conversation = topic.rsplit("_", 2)[0]  # CONVERSATION_UTTERANCE_INTENT
        of_topic = found.setdefault((topic,), {"judgments": [], "dialogue_ids": [conversation]})
        of_topic["judgments"].append(row)
    return found


def score_run(
    gold: Mapping[Key, Mapping[str, Any]], predictions: Predictions, topics: str
) -> Score:
    """Return the mean of each measure over the topics of a type."""
    import ir_measures
    from ir_measures import AP, Judged, P, Qrel, nDCG

    measures = {"nDCG@10": nDCG @ 10, "P@10": P @ 10, "AP": AP, "judged": Judged @ 10}
    qrels = [
        Qrel(row["query_id"], row["document_id"], row["relevance"])
        for topic in gold.values()
        for row in topic["judgments"]
    ]
    run = ranked(predictions)
    first = {topic: dict(islice(found.items(), 10)) for topic, found in run.items()}
    of_ten = [measure for measure in measures.values() if measure != AP]
    calculated = chain(
        ir_measures.iter_calc(of_ten, qrels, first), ir_measures.iter_calc([AP], qrels, run)
    )
    of_topics = {(each.measure, each.query_id): each.value for each in calculated}
    types = {query_id: topic["judgments"][0]["type"] for (query_id,), topic in gold.items()}
    counts = {f"{type_} topics": count for type_, count in sorted(Counter(types.values()).items())}
    metrics = {
        type_: {
            name: [of_topics[m, each] if types[each] == type_ else math.nan for each in types]
            for name, m in measures.items()
        }
        for type_ in sorted({*types.values()})
    }
    counts["documents"] = sum(len(found) - (NO_HIT in found) for found in run.values())
    return Score(metrics, counts)


def ranked(predictions: Predictions) -> dict[str, dict[str, float]]:
    """Return a run, topic -> document -> place: all measures see one order, and no tie.

    The highest place is the best, and stands first. The order is that of trec_eval, which keeps 32
    bits of a score: by score, and of equal ones by the bytes of the document's id, the last one
    best.
    """
    import numpy as np

    run: dict[str, dict[str, float]] = {}
    for topic, lines in groupby(sorted(predictions), itemgetter(0)):
        documents = [document for _, document in lines]  # in the order of their ids
        given = [predictions[topic, document]["score"] for document in documents]
        with np.errstate(over="ignore"):  # what is too large for 32 bits is infinite to trec_eval
            scores = np.array(given).astype(np.float32)
        order = np.argsort(scores, kind="stable")[::-1].tolist()
        places = map(float, range(len(order), 0, -1))
        run[topic] = dict(zip([documents[place] for place in order], places, strict=True))
    return run


SEED = 0


def random_order(data: Data, topics: str) -> Iterator[Prediction]:
    """Give each judged document a random score, drawn in upstream's order whatever the topics."""
    draw = random.Random(SEED)  # noqa: S311
    scored = [(row, draw.random()) for row in judgments(data, "all")]
    return (_scored(row, score) for row, score in scored if topics in ("all", row["type"]))


def ideal_order(data: Data, topics: str) -> Iterator[Prediction]:
    """Give each judged document its relevance as the score."""
    return (_scored(row, float(row["relevance"])) for row in judgments(data, topics))


def _scored(judgment: Row, score: float) -> Prediction:
    return {name: judgment[name] for name in ("query_id", "document_id")} | {"score": score}


RETRIEVAL = Task(
    summary="the passages that answer a search and the products to recommend, best first",
    evaluated_on="the judged queries of curated, by type",
    configs=("qrels",),
    key={
        "query_id": Field(str, "a topic: a query_id of `qrels`, with # in it for a recommendation"),
        "document_id": Field(
            str,
            "a passage for a search, a product for a recommendation; "
            f"`{NO_HIT}` in the only line of a topic without results",
        ),
    },
    answer={
        "score": Field(
            float,
            "finite; the higher the better. It alone gives the order, with trec_eval's precision "
            "of 32 bits. Equal scores are ordered by document id, bytes descending. The fields "
            "Q0, RANK and TAG are ignored",
        )
    },
    metrics={
        "nDCG@10": "gains are the relevances 0, 1, 2; like all metrics, a mean over the queries",
        "P@10": "relevances 1 and 2 are relevant; unjudged documents are not",
        "AP": "average precision over the whole ranking; 1 and 2 are relevant",
        "judged": "share of judged documents among the first ten results, or among fewer",
    },
    inputs="the conversation, for a recommendation its users' profiles, and the collections",
    columns=("curated.turns", "queries.text", "curated.users"),
    not_asked="the build holds ids of passages and products, not their texts",
    gold=judged,
    clusters={"conversations": None},
    score=score_run,
    baselines={"random": random_order, "ideal": ideal_order},
    references=(
        Reference(
            "random",
            note="the pool in one random order, seeded; each pool is rich in relevant documents",
        ),
        Reference("ideal", note="the pool in the best order"),
    ),
    options={"topics": ("all", "recommendation", "search")},
    format=TREC_RUN,
)
