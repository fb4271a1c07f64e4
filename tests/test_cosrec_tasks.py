"""CoSRec's tasks: measures against others' computations, the order of a run, what crowd teaches."""

import importlib
import math
import random
from statistics import mean

import pytest

from parley.base.errors import RecordError
from parley.builds.built_folder import open_folder
from parley.declaration.registry import get
from parley.scoring.evaluate import score
from parley.tasks.prediction_formats import NO_HIT

cosrec = get("cosrec")
cosrec.load_module("tasks")
retrieval, intents = (
    importlib.import_module(f"parley_datasets.cosrec.tasks.{name}")
    for name in ("retrieval", "intents")
)
TYPES = ("search", "recommendation", "product_details")
SEARCH = "CoSRec-Curated_9001_1_0"


@pytest.fixture
def built(sample_build):
    return open_folder(sample_build / "cosrec")


def pools(built):
    """Return topic -> document -> grade."""
    found = {}
    for row in built.rows("qrels", "curated"):
        found.setdefault(row["query_id"], {})[row["document_id"]] = row["relevance"]
    return found


def ranked(run):
    """Return predictions of topic -> document -> score."""
    return [
        {"query_id": topic, "document_id": document, "score": value}
        for topic, found in run.items()
        for document, value in found.items()
    ]


def test_measures_are_the_means_of_trec_evals(built):
    pytrec_eval = importlib.import_module("pytrec_eval")
    draw, run, judged = random.Random(1), {}, {}
    for number, (topic, pool) in enumerate(pools(built).items()):
        documents = [*pool, *(f"unknown-{n}" for n in range(12 * (number % 2)))]
        draw.shuffle(documents)
        documents = documents[: max(1, len(documents) - number % 3)]
        run[topic] = {document: -1.5 * place for place, document in enumerate(documents)}
        judged[topic] = mean(document in pool for document in documents[:10])
    names = {"nDCG@10": "ndcg_cut_10", "P@10": "P_10", "AP": "map"}
    due = pytrec_eval.RelevanceEvaluator(pools(built), {*names.values()}).evaluate(run)
    found = score(built, "retrieval", {}, predictions=ranked(run)).score
    for kind in ("search", "recommendation"):
        topics = [topic for topic in run if ("#" in topic) == (kind == "recommendation")]
        expected = {name: mean(due[topic][m] for topic in topics) for name, m in names.items()}
        expected["judged"] = mean(judged[topic] for topic in topics)
        assert found.metrics[kind] == pytest.approx(expected, abs=1e-12)
    assert found.metrics["search"]["judged"] != found.metrics["search"]["P@10"]


@pytest.mark.parametrize(("scores", "order"), [
    ({"a": 1.0, "b": 2.0, "c": 3.0}, "cba"),
    ({"a": 1.0, "c": 1.0, "b": 1.0}, "cba"),
    ({"B": 1.0, "a": 1.0, "é": 1.0}, "éaB"),  # by bytes
    ({"a": 1.00000002, "b": 1.00000001}, "ba"),  # the same in 32 bits
    ({"a": 2.0000002, "b": 2.0}, "ab"),
    ({"a": 1e300, "b": 1e39, "c": 3.0}, "bac"),  # too large for 32 bits
    ({"a": -1.0, "b": -0.0, "c": 0.0}, "cba"),
])  # fmt: skip
def test_scores_decide_the_order_as_in_trec_eval(built, scores, order):
    pytrec_eval = importlib.import_module("pytrec_eval")
    run = {("q", document): {"score": value} for document, value in scores.items()}
    (found,) = retrieval.ranked(run).values()
    assert sorted(found, key=found.get, reverse=True) == list(order)
    for place, document in enumerate(order, 1):
        evaluator = pytrec_eval.RelevanceEvaluator({"q": {document: 1}}, ["recip_rank"])
        assert evaluator.evaluate({"q": scores})["q"]["recip_rank"] == pytest.approx(1 / place)


def test_one_type_of_topics_is_scored_by_itself(built):
    whole = score(built, "retrieval", {}, baseline="random").score
    for kind in ("search", "recommendation"):
        part = score(built, "retrieval", {"topics": kind}, baseline="random").score
        assert part.metrics == {kind: whole.metrics[kind]}
        assert part.counts[f"{kind} topics"] == whole.counts[f"{kind} topics"]


def test_a_file_of_one_type_of_topics_names_the_option(built, tmp_path):
    search = "".join(f"{topic} Q0 d 1 1.0 me\n" for topic in pools(built) if "#" not in topic)
    recommendation = "".join(f"{topic} Q0 d 1 1.0 me\n" for topic in pools(built) if "#" in topic)
    runs = {"search": search, "recommendation": recommendation, "all": search + recommendation}
    for kind, text in runs.items():
        (tmp_path / "run").write_text(text)
        for chosen in runs.keys() - {kind}:
            with pytest.raises(RecordError, match=f"topics.*{chosen}.*{kind}"):
                score(built, "retrieval", {"topics": chosen}, file=str(tmp_path / "run"))
        assert score(built, "retrieval", {"topics": kind}, file=str(tmp_path / "run"))


def test_a_topic_without_a_hit_is_worth_nothing_and_counts(built):
    run = {
        topic: {NO_HIT: 0.0} if topic == SEARCH else {d: float(grade) for d, grade in pool.items()}
        for topic, pool in pools(built).items()
    }
    found = score(built, "retrieval", {}, predictions=ranked(run)).score
    searches = found.counts["search topics"]
    assert found.metrics["search"]["nDCG@10"] == pytest.approx(1 - 1 / searches)
    assert found.metrics["search"]["judged"] == pytest.approx(1 - 1 / searches)
    assert found.metrics["recommendation"]["nDCG@10"] == 1
    assert found.counts["documents"] == sum(map(len, run.values())) - 1


def reviewed(built):
    """Return utterance -> its types."""
    return {
        (row["dialogue_id"], entry["utterance"]): {intent["type"] for intent in entry["intents"]}
        for row in built.rows("curated", "curated")
        for entry in row["intents"]
    }


def test_f1_and_exact_match_are_those_of_a_plain_computation(built):
    due, draw = reviewed(built), random.Random(3)
    said = {key: [t for t in TYPES if n and draw.random() < 0.5] for n, key in enumerate(due)}
    given = [{"dialogue_id": id, "utterance": n, "types": of} for (id, n), of in said.items()]
    found = score(built, "intents", {}, predictions=given).score

    def f1(type_, keys):
        both = sum(type_ in due[key] and type_ in said[key] for key in keys)
        either = sum((type_ in due[key]) + (type_ in said[key]) for key in keys)
        return 2 * both / either if either else math.nan

    keys = list(due)
    by_type = {type_: f1(type_, keys) for type_ in TYPES}
    assert found.metrics["f1_by_type"] == pytest.approx(by_type, abs=1e-12)
    assert found.metrics["macro_f1"] == pytest.approx(mean(by_type.values()), abs=1e-12)
    right = mean(due[key] == set(said[key]) for key in due)
    assert found.metrics["exact_match"] == pytest.approx(right, abs=1e-12)
    assert found.counts == {"utterances": len(due), "dialogues": len({key[0] for key in due})}


def test_the_majority_is_of_the_annotators_of_an_utterance_empty_lists_counted():
    def entry(*lists):
        return {"intent_annotations": [[{"type": type_} for type_ in seen] for seen in lists]}

    search, both = ["search"], ["search", "recommendation"]
    assert intents.seen_by_half(entry(search, [])) == ["search"]
    assert intents.seen_by_half(entry(search, [], [])) == []
    assert intents.seen_by_half(entry(both, ["search", "search"], [])) == ["search"]
    assert intents.seen_by_half(entry(both, both, [], [])) == both
