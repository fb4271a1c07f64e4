"""The examples run as a reader would run them, and print what their README shows."""

import json
import math
import os
import re
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from parley.collection import get
from parley.evaluate import score
from parley.folder.built import open_folder

EXAMPLES = Path(__file__).parent.parent / "examples"
SHOWN = re.findall(
    r"```\n\$ python examples/(.+)\n([^`]+)```", (EXAMPLES / "README.md").read_text()
)
FIGURE = r"(?<![\w@=.,])\d+\.\d+\b"


@pytest.fixture
def run(tmp_path):
    """Run an example in a folder in which `build` is the given one; warnings are errors."""

    def run(command, build):
        (tmp_path / "build").symlink_to(build)
        script, *arguments = command.split()
        done = subprocess.run(
            [sys.executable, "-W", "error", EXAMPLES / script, *arguments],
            cwd=tmp_path,
            env={**os.environ, "HF_HOME": str(tmp_path / "hf"), "PYTHONUTF8": "1"},
            capture_output=True,
            encoding="utf-8",
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    return run


def scores(printed):
    """Return {(type, run): {column: figure}}."""
    head, *lines = printed.splitlines()
    rows = [line.split() for line in lines]
    return {
        (kind, name): dict(zip(head.split(), map(float, figures), strict=True))
        for kind, name, *figures in rows
    }


# What the README shows --------------------------------------------------------------------


def test_the_readme_tells_of_every_example():
    sections = re.findall(r"^## (\S+)$", (EXAMPLES / "README.md").read_text(), re.MULTILINE)
    assert sorted(sections) == sorted(path.name for path in EXAMPLES.glob("*.py"))
    shown = [command.split()[0] for command, _ in SHOWN]
    # but for what takes a GPU or 377 GB
    left_out = {"finetune_strategies.py", "product_retrieval.py"}
    assert shown == [name for name in sections if name not in left_out]


@pytest.mark.parametrize(("command", "shown"), SHOWN, ids=lambda text: text.split()[0])
def test_the_readme_shows_what_is_printed(command, shown, run, real_build):
    """Words and counts to the letter; fractions nearly, as versions of libraries differ."""
    printed = run(command, real_build).splitlines()
    lines = shown.splitlines()
    if "..." in lines:  # some of the lines
        lines = [line for line in lines if line != "..."]
        printed = [line for line in printed if line in lines]
    assert [re.sub(FIGURE, "", line) for line in printed] == [
        re.sub(FIGURE, "", line) for line in lines
    ]
    for line, expected in zip(printed, lines, strict=True):
        found = [float(figure) for figure in re.findall(FIGURE, line)]
        due = [float(figure) for figure in re.findall(FIGURE, expected)]
        assert found == pytest.approx(due, abs=0.001)


# Retrieval evaluation -----------------------------------------------------------------------


def test_the_ideal_run_of_the_sample(run, sample_build):
    found = scores(run("retrieval_evaluation.py build/cosrec", sample_build))
    assert {kind for kind, _ in found} == {"search", "recommendation"}
    for kind in ("search", "recommendation"):
        assert found[kind, "ideal"]["nDCG@10"] == found[kind, "ideal"]["RR"] == 1.0
        assert found[kind, "random"]["nDCG@10"] < 1.0


def test_the_ideal_run_of_the_real_data(run, real_build):
    found = scores(run("retrieval_evaluation.py build/cosrec", real_build))
    for kind, queries in (("search", 43), ("recommendation", 225)):
        for name in ("ideal", "random"):
            assert found[kind, name]["queries"] == found[kind, name]["answered"] == queries
        assert found[kind, "ideal"]["nDCG@10"] == found[kind, "ideal"]["RR"] == 1.0
        assert found[kind, "ideal"]["P(rel=2)@10"] < found[kind, "ideal"]["P@10"]
        assert found[kind, "random"]["nDCG@10"] < 0.9


def test_a_run_of_ones_own(run, sample_build, tmp_path):
    """Grades are gains, and what is not judged or not answered counts as nothing."""
    query, document = "CoSRec-Curated_9001_1_0", "msmarco_v2.1_doc_99_9000000010"
    (tmp_path / "run.txt").write_text(
        f"{query} Q0 not-judged 1 3.0 mine\n"
        f"{query} Q0 {document}#4_9100000010 2 2.0 mine\n"  # of grade 1
        f"{query} Q0 {document}#0_9100000010 3 1.0 mine\n"  # of grade 2
        "not-a-query Q0 not-judged 1 1.0 mine\n"
    )
    found = scores(run("retrieval_evaluation.py build/cosrec run.txt", sample_build))
    gains = (1 / math.log2(3) + 2 / math.log2(4)) / (2 / math.log2(2) + 1 / math.log2(3))
    assert found["search", "run"] == pytest.approx(
        {  # means over two queries, of which one is answered
            "queries": 2,
            "answered": 1,
            "nDCG@10": gains / 2,
            "P@10": 0.2 / 2,
            "P(rel=2)@10": 0.1 / 2,
            "RR": 0.5 / 2,
            "R@100": 1 / 2,
        },
        abs=0.0006,
    )
    assert found["recommendation", "run"]["answered"] == 0
    assert found["recommendation", "run"]["nDCG@10"] == 0.0


# Product retrieval --------------------------------------------------------------------------


@pytest.fixture
def catalogue(tmp_path):
    """A catalogue of invented products: one judged as relevant, two that are not judged."""
    pytest.importorskip("duckdb", reason="the extra `catalogue` is not installed")
    pytest.importorskip("bm25s", reason="the newest extra `examples` is not installed")
    texts = {
        "B0INVENT02": "Round iron pot with a lid for baking bread with a crisp crust",
        "B0OTHER001": "Garden hose of ten metres",
        "B0OTHER002": "Pot for plants",
    }
    common = {"average_rating": 4.5, "rating_number": 3, "features": ["For every day."]}
    common |= {"price": 12.5, "store": "Crumb & Co.", "categories": ["Home"]}
    common |= {"details": {"Colour": "black"}, "bought_together": None}
    products = [{"parent_asin": id, "title": id, "description": [texts[id]]} for id in texts]
    reviews = [{"parent_asin": "B0INVENT02", "user_id": "A1", "timestamp": 1, "rating": 5.0}]
    reviews[0] |= {"title": "Good", "text": "The crust is crisp.", "helpful_vote": 0}
    reviews[0] |= {"verified_purchase": True}
    files = {"meta/meta_Home": [product | common for product in products], "review/Home": reviews}
    for name, records in files.items():
        path = tmp_path / "raw" / f"{name}.jsonl"
        path.parent.mkdir(parents=True)
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
    get("cosrec").jobs["catalogue"].run(tmp_path / "raw", tmp_path / "catalogue", workers=0)


def test_products_of_a_catalogue_are_found(catalogue, run, sample_build, tmp_path):
    printed = run("product_retrieval.py build/cosrec catalogue run.txt", sample_build)
    first, *lines = printed.splitlines()
    qrels = pq.read_table(sample_build / "cosrec" / "qrels").to_pylist()
    judged = {row["document_id"] for row in qrels} - {
        row["document_id"] for row in qrels if row["document_id"].startswith("msmarco")
    }
    assert first == f"3 products; {len(judged) - 1} judged ones are not among them"
    assert [line.strip() for line in lines[:5]] == sorted(judged - {"B0INVENT02"})[:5]
    found = [line.split() for line in (tmp_path / "run.txt").read_text().splitlines()]
    assert {(document, rank) for _, _, document, rank, _, _ in found} >= {("B0INVENT02", "1")}
    for query in {line[0] for line in found}:
        own = [(int(rank), float(score)) for name, _, _, rank, score, _ in found if name == query]
        assert [rank for rank, _ in own] == list(range(1, len(own) + 1))
        assert own == sorted(own, key=lambda each: -each[1])
    built = open_folder(sample_build / "cosrec")
    options = {"topics": "recommendation"}
    result = score(built, "retrieval", options, file=str(tmp_path / "run.txt")).score
    assert 0 < result.metrics["recommendation"]["nDCG@10"] < 1
    assert 0 < result.metrics["recommendation"]["judged"] < 1
