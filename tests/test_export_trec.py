"""`parley export cosrec trec`: what retrieval tools read."""

import json
from pathlib import Path

import pytest

from parley.collection import get
from parley.errors import OutputError
from parley.folder.built import open_folder

cosrec = get("cosrec")


def export(build: Path, folder: Path) -> Path:
    folder.mkdir()
    cosrec.exports["trec"](open_folder(build / "cosrec"), folder)
    return folder


def topics(path: Path) -> dict[str, str]:
    """Read topics as Pyserini, PyTerrier and most scripts do: an id, a tab, a text."""
    lines = path.read_bytes().decode().removesuffix("\n").split("\n")
    return dict(line.split("\t") for line in lines)


def judged(path: Path) -> set[str]:
    return {line.split()[0] for line in path.read_text(encoding="utf-8").splitlines()}


def test_the_sample(sample_build: Path, tmp_path: Path) -> None:
    out = export(sample_build, tmp_path / "out")
    upstream = cosrec.sample / "dataset/curated/qrels.qrels"
    assert (out / "qrels.qrels").read_bytes() == upstream.read_bytes()
    search = topics(out / "topics.search.tsv")
    assert search == {
        "CoSRec-Curated_9001_1_0": "why does steam give a crisp crust when baking bread",
        "CoSRec-Curated_9002_0_1": "what do the numbers on binoculars mean",
    }
    assert all("#" in query_id for query_id in topics(out / "topics.recommendation.tsv"))
    assert_consistent(out)


def test_the_real_data(source: Path, real_build: Path, tmp_path: Path) -> None:
    out = export(real_build, tmp_path / "out")
    upstream = source / "cosrec/dataset/curated/qrels.qrels"
    assert (out / "qrels.qrels").read_bytes() == upstream.read_bytes()
    assert_consistent(out)
    counts = {"": (268, 17464), ".search": (43, 2314), ".recommendation": (225, 15150)}
    for part, (queries, judgments) in counts.items():
        assert len(topics(out / f"topics{part}.tsv")) == queries
        assert len((out / f"qrels{part}.qrels").read_text().splitlines()) == judgments


def assert_consistent(out: Path) -> None:
    """Topics and judgments are of the same queries, and the parts make up the whole."""
    found = {}
    for part in ("", ".search", ".recommendation"):
        found[part] = topics(out / f"topics{part}.tsv")
        titles = json.loads((out / f"topics{part}.json").read_text(encoding="utf-8"))
        assert titles == {query_id: {"title": text} for query_id, text in found[part].items()}
        assert found[part].keys() == judged(out / f"qrels{part}.qrels")
    assert found[""] == found[".search"] | found[".recommendation"]
    assert not found[".search"].keys() & found[".recommendation"].keys()


@pytest.mark.parametrize("text", [None, "", "two\nlines", "a\ttab"])
def test_a_text_that_a_line_cannot_hold_is_refused(
    sample_build: Path, tmp_path: Path, text: str | None
) -> None:
    data = open_folder(sample_build / "cosrec")
    data.rows("queries", "curated")[0]["text"] = text
    with pytest.raises(OutputError, match="CoSRec-Curated_9001_0_0#0: expected one line"):
        cosrec.exports["trec"](data, tmp_path)


def test_ir_measures_reads_both(sample_build: Path, tmp_path: Path) -> None:
    ir_measures = pytest.importorskip("ir_measures")
    out = export(sample_build, tmp_path / "out")
    for part in ("", ".search", ".recommendation"):
        qrels = list(ir_measures.read_trec_qrels(str(out / f"qrels{part}.qrels")))
        run = [
            ir_measures.ScoredDoc(query_id, judgment.doc_id, judgment.relevance)
            for query_id in topics(out / f"topics{part}.tsv")
            for judgment in qrels
            if judgment.query_id == query_id
        ]
        assert ir_measures.calc_aggregate([ir_measures.nDCG @ 10], qrels, run) == {
            ir_measures.nDCG @ 10: 1.0
        }
