"""The examples run and print the output that their README shows."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from catalogue_files import PRODUCT, REVIEW

from parley.building.folder import open_folder
from parley.building.registry import discover, get
from parley.tasks.evaluate import score

EXAMPLES = Path(__file__).parent.parent / "examples"
SHOWN = re.findall(
    r"```\n\$ python examples/(.+)\n([^`]+)```", (EXAMPLES / "README.md").read_text()
)


@pytest.fixture
def run(tmp_path):
    """Run an example in a folder whose `build` is the given one; warnings are errors."""

    def run(command, build):
        if not (tmp_path / "build").exists():
            (tmp_path / "build").symlink_to(build)
        script, *arguments = command.split()
        env = {**os.environ, "HF_HOME": str(tmp_path / "hf"), "PYTHONUTF8": "1"}
        command = [sys.executable, "-W", "error", EXAMPLES / script, *arguments]
        done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, encoding="utf-8")
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    return run


def test_the_readme_has_every_example():
    sections = re.findall(r"^## (\S+)$", (EXAMPLES / "README.md").read_text(), re.MULTILINE)
    assert sorted(sections) == sorted(path.name for path in EXAMPLES.glob("*.py"))
    shown = [command.split()[0] for command, _ in SHOWN]
    # `make demo` runs the first; the others take a GPU or 377 GB
    left_out = {"demo.py", "finetune_strategies.py", "product_retrieval.py"}
    assert shown == [name for name in sections if name not in left_out]


@pytest.mark.slow
@pytest.mark.parametrize(("command", "shown"), SHOWN, ids=lambda text: text.split()[0])
def test_examples_print_the_lines_of_the_readme(command, shown, run, real_build):
    lines = [line for line in shown.splitlines() if line != "..."]
    assert [line for line in run(command, real_build).splitlines() if line in lines] == lines


@pytest.mark.slow
def test_examples_run_after_the_demo_with_and_without_builds(run, sample_build, tmp_path):
    build = tmp_path / "builds"
    build.mkdir()
    *lines, last = run("demo.py build", build).splitlines()
    assert len(lines) < 40
    assert last.endswith((build / "demo-site" / "index.html").resolve().as_uri())
    scores = lines[lines.index("$ python examples/score_every_task.py build/demo") + 2 :]
    assert len(scores) == sum(len(dataset.tasks) for dataset in discover().values())
    assert all(line.endswith(")") for line in scores)  # with its unit
    assert sorted(path.name for path in build.iterdir()) == ["demo", "demo-site"]
    for command, _ in SHOWN:
        _, *lines = run(command, build).splitlines()
        assert [line.split() for line in lines] == [[name, "not", "built"] for name in discover()]
    for name in discover():
        (build / name).symlink_to(sample_build / name)
    for command, _ in SHOWN:
        _, *lines = run(command, build).splitlines()
        assert {line.split()[0] for line in lines} == {*discover()}
        assert "not built" not in "".join(lines)


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
    products = [
        PRODUCT | {"parent_asin": id, "title": id, "description": [text]}
        for id, text in texts.items()
    ]
    reviews = [REVIEW | {"parent_asin": "B0INVENT02"}]
    files = {"meta/meta_Home": products, "review/Home": reviews}
    for name, records in files.items():
        path = tmp_path / "raw" / f"{name}.jsonl"
        path.parent.mkdir(parents=True)
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
    get("cosrec").jobs["catalogue"].run(tmp_path / "raw", tmp_path / "catalogue", workers=0)


@pytest.mark.slow
def test_product_retrieval_ranks_the_judged_product_first(catalogue, run, sample_build, tmp_path):
    printed = run("product_retrieval.py build/cosrec catalogue run.txt", sample_build)
    first, *lines = printed.splitlines()
    qrels = pq.read_table(sample_build / "cosrec" / "qrels").to_pylist()
    judged = {row["document_id"] for row in qrels}
    judged = {name for name in judged if not name.startswith("msmarco")}
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
