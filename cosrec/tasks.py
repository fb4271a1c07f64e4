"""The tasks of CoSRec: retrieval runs, and the intents of an utterance."""

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import chain, islice
from typing import Any

from parley import (
    MEASURED,
    NO_HIT,
    TREC_RUN,
    UNREADABLE,
    Data,
    Key,
    Prediction,
    Problem,
    Reference,
    Run,
    Score,
    Task,
    interval,
    means,
    resamples,
)

from .prompts import INTENTS, said
from .rows import TYPES

Row = dict[str, Any]

# Runs against the judgments ---------------------------------------------------------------

SEED = 0


def judgments(data: Data, topics: str) -> list[Row]:
    """Return the judgments of one type of topics, or of all, in upstream's order."""
    rows = data.named("qrels", *data.splits("qrels"))
    return [row for row in rows if topics in ("all", row["type"])]


def judged(data: Data, topics: str) -> dict[Key, list[Row]]:
    """Return the judgments of each topic."""
    found: dict[Key, list[Row]] = {}
    for row in judgments(data, topics):
        found.setdefault((row["query_id"],), []).append(row)
    return found


def score_run(gold: Mapping[Key, list[Row]], predictions: Run, topics: str) -> Score:
    """Return the mean of each measure over the topics of a type."""
    import ir_measures
    from ir_measures import AP, Judged, P, Qrel, nDCG

    measures = {"nDCG@10": nDCG @ 10, "P@10": P @ 10, "AP": AP, "judged": Judged @ 10}
    qrels = [
        Qrel(row["query_id"], row["document_id"], row["relevance"])
        for rows in gold.values()
        for row in rows
    ]
    run = ranked(predictions)
    first = {topic: dict(islice(found.items(), 10)) for topic, found in run.items()}
    of_ten = [measure for measure in measures.values() if measure != AP]
    calculated = chain(
        ir_measures.iter_calc(of_ten, qrels, first), ir_measures.iter_calc([AP], qrels, run)
    )
    of_topics = {(each.measure, each.query_id): each.value for each in calculated}
    types: dict[str, list[str]] = {}
    for (query_id,), rows in gold.items():
        types.setdefault(rows[0]["type"], []).append(query_id)
    metrics, spread, counts = {}, {}, {}
    for type_, query_ids in sorted(types.items()):
        values = {name: [of_topics[m, each] for each in query_ids] for name, m in measures.items()}
        metrics[type_], spread[type_] = means(values)
        counts[f"{type_} topics"] = len(query_ids)
    counts["documents"] = sum(len(found) - (NO_HIT in found) for found in run.values())
    return Score(metrics, spread, counts)


def ranked(predictions: Run) -> dict[str, dict[str, float]]:
    """Return a run, topic -> document -> place: all measures see one order, and no tie.

    The highest place is the best, and stands first. The order is that of trec_eval, which keeps 32
    bits of a score: by score, and of equal ones by the bytes of the document's id, the last one
    best.
    """
    import numpy as np

    run: dict[str, dict[str, float]] = {}
    for topic, documents, given in predictions.topics():  # the documents in the order of their ids
        with np.errstate(over="ignore"):  # what is too large for 32 bits is infinite to trec_eval
            scores = np.array(given).astype(np.float32)
        order = np.argsort(scores, kind="stable")[::-1].tolist()
        places = map(float, range(len(order), 0, -1))
        run[topic] = dict(zip([documents[place] for place in order], places, strict=True))
    return run


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


# Intents of an utterance ------------------------------------------------------------------


def reviewed(data: Data) -> dict[Key, list[str]]:
    """Return the types of the intents of each utterance of curated that has some."""
    return {
        (row["dialogue_id"], entry["utterance"]): [intent["type"] for intent in entry["intents"]]
        for row in data.rows("curated", *data.splits("curated"))
        for entry in row["intents"] or ()
    }


def score_intents(gold: Mapping[Key, list[str]], predictions: Mapping[Key, Prediction]) -> Score:
    """Compare the types of each utterance; an unreadable prediction misses all, and is wrong."""
    import numpy as np
    from sklearn.metrics import f1_score

    due = np.array([indicators(types) for types in gold.values()])
    found = np.array([indicators(each.get("types", ())) for each in predictions.values()])
    f1 = f1_score(due, found, average=None, zero_division=0)
    # the utterances of each resample, and there the types: columns of one matrix
    drawn = resamples(len(due))
    columns = [np.moveaxis(each[drawn], 1, 0).reshape(len(due), -1) for each in (due, found)]
    f1_drawn = f1_score(*columns, average=None, zero_division=0).reshape(len(drawn), len(TYPES))
    is_read = np.array([UNREADABLE not in each for each in predictions.values()])
    right = (due == found).all(axis=1) & is_read
    return Score(
        metrics={
            "macro_f1": float(f1.mean()),
            "exact_match": float(right.mean()),
            "f1_by_type": dict(zip(TYPES, map(float, f1), strict=True)),
        },
        spread={
            "macro_f1": interval(f1_drawn.mean(axis=1)),
            "exact_match": interval(right[drawn].mean(axis=1)),
            "f1_by_type": dict(zip(TYPES, map(interval, f1_drawn.T), strict=True)),
        },
        counts={"utterances": len(due), "dialogues": len({key[0] for key in gold})},
    )


def indicators(types: Any) -> list[int]:
    """Return 1 for each of the types that is among these, else 0."""
    return [int(type_ in types) for type_ in TYPES]


def repeated(prediction: Prediction, _: list[str]) -> Iterator[Problem]:
    """Object to a repeated type."""
    types: list[str] = prediction["types"]
    for name, count in Counter(types).items():
        if count > 1:
            yield Problem("types", "each type once", f"{name} {count} times")


def utterances(data: Data, part: str) -> Iterator[tuple[Key, str, str, Row]]:
    """Yield of each listed utterance its key, its text, the system's turn before it, its entry."""
    for key, turns, entry in said(data, part):
        *_, before, turn = ({"text": ""}, *turns)
        yield key, turn["text"], before["text"], entry


def seen_by_half(entry: Row) -> list[str]:
    """Return the types that at least half of an utterance's annotators saw."""
    lists = [{intent["type"] for intent in seen} for seen in entry["intent_annotations"]]
    counts = Counter(type_ for types in lists for type_ in types)
    return [type_ for type_ in TYPES if 2 * counts[type_] >= len(lists)]


def predicted(data: Data, types: Any) -> Iterator[Prediction]:
    """Yield a prediction for each utterance of curated, given indicators for each."""
    for (key, *_), found in zip(utterances(data, "curated"), types, strict=True):
        yield {
            "dialogue_id": key[0],
            "utterance": key[1],
            "types": [type_ for type_, is_there in zip(TYPES, found, strict=True) if is_there],
        }


def majority(data: Data) -> Iterator[Prediction]:
    """Predict for all the set of types that most utterances of crowd have."""
    seen = Counter(tuple(seen_by_half(entry)) for *_, entry in utterances(data, "crowd"))
    (most, _), *_ = seen.most_common(1)
    yield from predicted(data, [indicators(most)] * len(reviewed(data)))


def own_words(text: str, _: str) -> str:
    """Return the words of the utterance alone."""
    return text


def words_in_context(text: str, before: str) -> str:
    """Return the words of the utterance and, marked as its, those of the system before it."""
    return " ".join([*(f"system_{word}" for word in before.split()), text])


def learnt(words_of: Callable[[str, str], str], data: Data) -> Iterator[Prediction]:
    """Predict by logistic regressions on tf-idf, one a type, learnt from crowd."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.pipeline import make_pipeline

    texts = {
        part: [words_of(text, before) for _, text, before, _ in utterances(data, part)]
        for part in ("crowd", "curated")
    }
    types = [indicators(seen_by_half(entry)) for *_, entry in utterances(data, "crowd")]
    model = make_pipeline(
        TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True),
        OneVsRestClassifier(LogisticRegression(C=3, class_weight="balanced", max_iter=1000)),
    )
    yield from predicted(data, model.fit(texts["crowd"], types).predict(texts["curated"]))


# The tasks ----------------------------------------------------------------------------------

TASKS = {
    "retrieval": Task(
        summary="the passages that answer a search and the products to recommend, best first",
        evaluated_on="the judged queries of curated, by type",
        configs=("qrels",),
        fields={
            "query_id": "a topic: a query_id of `qrels`, with # in it for a recommendation",
            "document_id": "a passage for a search, a product for a recommendation; "
            f"`{NO_HIT}` in the only line of a topic without results",
            "score": "finite; the higher the better. It alone gives the order, with trec_eval's "
            "precision of 32 bits. Equal scores are ordered by document id, bytes descending. "
            "The fields Q0, RANK and TAG are ignored",
        },
        shape={"query_id": str, "document_id": str, "score": float},
        key=("query_id", "document_id"),
        required=("query_id",),
        example={
            "query_id": "CoSRec-Curated_9001_0_0#1",
            "document_id": "B0INVENTED",
            "score": 7.25,
        },
        metrics={
            "nDCG@10": "gains are the relevances 0, 1, 2; like all metrics, a mean over the topics",
            "P@10": "relevances 1 and 2 are relevant; unjudged documents are not",
            "AP": "the same over the whole ranking",
            "judged": "share of judged documents among the first ten results, or among fewer",
        },
        inputs="the conversation, the user's profile for a recommendation, and the collections",
        columns=("queries.query", "profiles.*"),
        not_asked="the build holds ids of passages and products, not their texts",
        gold=judged,
        score=score_run,
        baselines={"random": random_order, "ideal": ideal_order},
        references=(
            Reference(
                "random, expected",
                {
                    "recommendation": {"nDCG@10": "0.547", "P@10": "0.668", "AP": "0.689"},
                    "search": {"nDCG@10": "0.427", "P@10": "0.542", "AP": "0.576"},
                },
                "computed from the judgments",
                "the mean over all orders of the judged documents",
            ),
            Reference(
                "random",
                {
                    "recommendation": {"nDCG@10": "0.556", "P@10": "0.686", "AP": "0.695"},
                    "search": {"nDCG@10": "0.427", "P@10": "0.537", "AP": "0.576"},
                },
                MEASURED,
                "the pool in one random order, seeded; each pool is rich in relevant documents",
            ),
            Reference(
                "ideal",
                {
                    "recommendation": {"nDCG@10": "1.000", "P@10": "0.992", "AP": "1.000"},
                    "search": {"nDCG@10": "1.000", "P@10": "0.953", "AP": "1.000"},
                },
                MEASURED,
                "the pool in the best order",
            ),
        ),
        options={"topics": ("all", "recommendation", "search")},
        format=TREC_RUN,
    ),
    "intents": Task(
        summary="the types of the intents of a user's utterance",
        evaluated_on="the utterances of curated with reviewed intents",
        configs=("curated", "crowd"),
        fields={
            "dialogue_id": "a conversation of curated",
            "utterance": "number of the utterance, from 0, as in `curated`",
            "types": "none or more of search, recommendation and product_details, each once, in "
            "any order",
        },
        shape={"dialogue_id": str, "utterance": int, "types": [set(TYPES)]},
        key=("dialogue_id", "utterance"),
        example={
            "dialogue_id": "CoSRec-Curated_9001",
            "utterance": 1,
            "types": ["search", "product_details"],
        },
        metrics={
            "macro_f1": "mean of the F1 of the three types",
            "exact_match": "share of utterances with exactly the right types",
            "f1_by_type": "F1 of a type; 0 if the type is neither in gold nor predicted",
        },
        inputs="the utterance and the turns before it",
        columns=("curated.turns",),
        asking=INTENTS,
        gold=reviewed,
        score=score_intents,
        target=lambda gold: {"types": [type_ for type_ in TYPES if type_ in gold]},
        per_prediction=("exact_match",),
        validate=repeated,
        baselines={
            "majority": majority,
            "lr-text": partial(learnt, own_words),
            "lr-context": partial(learnt, words_in_context),
        },
        references=(
            Reference("majority", {"macro_f1": "0.217", "exact_match": "0.429"}, MEASURED),
            Reference(
                "lr-text",
                {"macro_f1": "0.726", "exact_match": "0.524"},
                MEASURED,
                "tf-idf and a logistic regression for each type, learnt from types that at least "
                "half of crowd's annotators gave",
            ),
            Reference(
                "lr-context",
                {"macro_f1": "0.735", "exact_match": "0.548"},
                MEASURED,
                "the same with the system's turn before the utterance",
            ),
        ),
    ),
}
