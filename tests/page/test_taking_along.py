"""The files, Python and SQL of a selection."""

import ast
import csv
import io
import itertools
import json
import random
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urlencode

import duckdb
import jsonlines
import numbered_dataset
import pytest
from browsed import (
    DATA,
    DATASETS,
    RULES,
    STATE,
    answer,
    asked,
    axe,
    code_of,
    data,
    ids,
    page_of,
    saved,
    shown,
    texts,
    written,
)
from hostile_dataset import ATTACKS

import parley
from parley.builds.build import build
from parley.builds.built_folder import find_folder
from parley.builds.sources import open_source
from parley.declaration.registry import get
from parley.page import user_labels
from parley.read.export.export import export


def rows_of(code):
    """Run code of the page, and return the first column of its rows."""
    import datasets

    scope = {}
    exec(code, scope)
    found = scope["rows"]
    parts = found.values() if isinstance(found, dict) else [found]
    assert all(isinstance(part, datasets.Dataset) for part in parts)
    return [row[part.column_names[0]] for part in parts for row in part]


@pytest.mark.parametrize("name", DATASETS)
def test_the_code_and_tables_hold_the_selection(sample, open_page, tmp_path, monkeypatch, name):
    (tmp_path / "build").symlink_to(sample.build)
    monkeypatch.chdir(tmp_path)
    built = find_folder(sample.build, get(name))
    some = {"craigslist_bargains": "is.deal=yes", "duo": "is.setting=ed"}
    some |= {"casino": "is.strategies=uv-part&max.points=18", "cosrec": "max.turns=12"}
    page = open_page((sample.folder / name / "dialogues.html").as_uri() + f"#{some[name]}")
    found = saved(page, tmp_path)
    chosen = found["ids.txt"].split()
    assert 0 < len(chosen) < len(ids(sample.build, name))
    assert sorted(map(str, rows_of(code_of(page)))) == sorted(chosen)
    export(built, "csv", tmp_path / "csv", chosen)
    for config, id in built.dataset.layout.tables.items():
        head, *rows = csv.reader(io.StringIO(found[f"{config}.csv"], newline=""))
        lines = []
        for split in built.splits(config):
            path = tmp_path / "csv" / f"{config}-{split}.csv"
            with path.open(newline="", encoding="utf-8-sig") as file:
                columns, *of_split = csv.reader(file)
            assert head == ["split", *columns]
            lines += [[split, *line] for line in of_split]
        place = head.index(id)
        assert rows == sorted(lines, key=lambda line: chosen.index(line[place]))
    listed = list(csv.DictReader(io.StringIO(found["dialogues.csv"], newline="")))
    key = next(iter(built.dataset.layout.tables.values()), "dialogue_id")
    assert [row.get(key) or row["query_id"] for row in listed] == chosen
    assert len(found["sides.csv"].splitlines()) > len(chosen)
    if name == "casino":
        splits = dict(asked(sample.build, "select dialogue_id, split from casino.official_split"))
        assert [row["official_split"] for row in listed] == [splits[int(id)] for id in chosen]
        query = "select (dialogue_id, speaker), used from sides"
        used = {place: set(labels or ()) for place, labels in asked(sample.build, query)}
        for line in map(json.loads, found["dialogues.jsonl"].splitlines()):
            for side in line["sides"]:
                assert set(side["strategies"]) == used[line["dialogue_id"], side["side"]]
        assert "one side used uv-part and got at most 18 points" in code_of(page)
        command = [sys.executable, "-m", *code_of(page, "#code-command").split()]
        done = subprocess.run(command, capture_output=True)
        assert done.returncode == 0, done.stderr
        with (tmp_path / "casino-csv" / "dialogues-train.csv").open(encoding="utf-8-sig") as file:
            assert [row["dialogue_id"] for row in csv.DictReader(file)] == chosen


TRIED = {"sample": 100, "real": 25}  # random filters of each dataset


FILTERS = """async () => {
    for (const config of page.folds.keys()) await page.load(config);
    return page.filters.map(f => [f.name, f.labels, f.labels ? 0 : [...f.values]]);
}"""  # of all columns, also of those under More
VIEWS = """async () => {
    page.index.views ?? await loadScript("data/views.js");
    return viewsOf(page.index, Object.keys(page.index.views));
}"""


def random_filters(page, rng, texts):
    """Return the address of some filters and words."""
    found = page.evaluate(FILTERS)
    said = []
    for name, labels, numbers in rng.sample(found, rng.randint(0, min(3, len(found)))):
        if labels:
            some = rng.sample(labels, rng.randint(1, min(3, len(labels))))
            said += [(rng.choice([f"is.{name}", f"not.{name}"]), label) for label in some]
            said += [(way, name) for way in ("all", "none") if rng.random() < 0.5]
        else:
            ends = zip(("min", "max"), sorted(rng.choices(numbers, k=2)), strict=True)
            said += [(f"{end}.{name}", number) for end, number in ends if rng.random() < 0.7]
    if rng.random() < 0.5:
        words = rng.choice(texts).split()
        said.append(("q", " ".join(rng.sample(words, min(2, len(words))))))
    said += [(flag, 1) for flag in ("around", "apart") if rng.random() < 0.3]
    orders = page.locator("#sort option").evaluate_all("all => all.map(each => each.value)")
    said.append(("sort", rng.choice(orders)))
    return f"#{urlencode(said)}"


@DATA
@pytest.mark.parametrize("name", DATASETS)
def test_the_sql_of_a_selection_finds_the_same(request, open_page, data, name):
    place, rng = request.getfixturevalue(data), random.Random(name)
    page = open_page(page_of(place, name))
    said = [text for _, text in texts(place.build, name)[0] if text.split()]
    found, alone = Counter(), duckdb.connect()
    alone.execute(page.evaluate(VIEWS))
    with parley.connect(place.build / name) as connection:
        for _ in range(TRIED[data]):
            address = random_filters(page, rng, said)
            ids, sql = page.evaluate(STATE, address)
            for either in (connection, alone):
                due = [str(id) for (id,) in either.execute(sql).fetchall()]
                assert due == ids, (address, sql)
            found[
                "some" if 0 < len(ids) < page.evaluate("page.dialogues.size") else "all or none"
            ] += 1
    assert found["some"] > 2


def test_the_sql_that_older_versions_of_duckdb_run_is_that_of_the_page(sample, open_page):
    text = Path(__file__).parents[1].joinpath("selection.sql").read_text(encoding="utf-8")
    first, _, rest = text.removeprefix("-- ").partition("\n")
    ids, sql = open_page(page_of(sample, "casino")).evaluate(STATE, first)
    assert rest == f"{sql}\n-- finds {', '.join(ids)}\n"


def test_labels_of_files_are_filters_differ_and_are_taken_along(
    served, sample, sample_build, open_page, tmp_path
):
    built = find_folder(sample_build, get("casino"))
    files = [tmp_path / f"{ATTACKS[3]}.jsonl", tmp_path / "ann2.csv"]
    rows = built.rows_with_names("strategies")
    with jsonlines.open(files[0], "w") as lines:
        for row, attack in zip(rows, itertools.cycle(reversed(ATTACKS))):
            keys = {key: row[key] for key in ("dialogue_id", "turn")}
            lines.write(keys | {"labels": ["uv-part"], "<b>x</b>": attack})
    head = "dialogue_id,turn,labels\n"
    lines = (f"{row['dialogue_id']},{row['turn']},{row['labels'][0]}\n" for row in rows)
    files[1].write_text(head + "".join(lines))
    beside = user_labels.UserLabels(built, files, "labels")
    selection = data.Selection(files=beside)
    page = open_page(page_of(written(served, sample_build, "own", selection, "casino"), "casino"))
    counts = shown(page, "ann2: labels")
    assert "ann2: labels" in page.evaluate("page.filters.map(({ name }) => name)")[:4]
    with parley.connect(built, labels=files[1:]) as connection:
        query = """select label, count(distinct dialogue_id) from
            (select dialogue_id, unnest(labels) as label from ann2) group by all"""
        assert counts == dict(connection.execute(query).fetchall())
        query = """select distinct dialogue_id::varchar from ann2 join casino.strategies s
            using (dialogue_id, turn) where ann2.labels <> s.labels"""
        due = {id for (id,) in connection.execute(query).fetchall()}
    found, sql = page.evaluate(
        STATE, f"#{urlencode({'is.differs': 'ann2 and gold differ: labels'})}"
    )
    assert set(found) == due == {*answer(sample_build / "casino", sql)}
    assert 0 < len(found) < len(built.rows("dialogues"))
    without, sql = page.evaluate(
        STATE, f"#{urlencode({'not.differs': 'ann2 and gold differ: labels'})}"
    )
    assert without == answer(sample_build / "casino", sql)
    assert set(without) == ids(sample_build, "casino") - due
    page.evaluate(STATE, f"#{urlencode({'is.differs': 'ann2 and gold differ: labels'})}")
    shown_at = []
    for _ in due:
        page.keyboard.press("d")
        at = page.evaluate("[page.dialogues.names[page.open], page.turn]")
        shown_at.append(tuple(at))
        line = page.locator("#dialogue .turn[aria-current] .own > div", has_text="ann2: labels")
        assert line.locator(".differs").count() == 1
        told = page.locator("#dialogue .turn[aria-current] > .notes .note").all_inner_texts()
        (gold,) = (r["labels"] for r in rows if [str(r["dialogue_id"]), r["turn"]] == at)
        assert [text.removeprefix("differs ") for text in told] == gold
        assert any(text.startswith("differs ") for text in told)
        assert not page.locator("#dialogue .own", has_text="gold: ").count()  # the notes say it
    assert len(set(shown_at)) == len(due)
    text = page.inner_text("#dialogue")
    assert "<b>x</b>" in text
    assert not re.search("[\u202e\u200f\x07]", text)
    page.locator("#your-files summary").click()
    agreed = parley.labels(built, "strategies", *files).as_dict()["columns"]["labels"]
    alpha = f"{agreed['with_gold']['alpha']['value']:.3f}"
    assert alpha in page.locator("#your-files").inner_text()
    page.locator("#your-files summary").click()
    files, plain_page = saved(page, tmp_path), open_page(page_of(sample, "casino", "is.deal=yes"))
    for file, text in saved(plain_page, tmp_path).items():
        if file.endswith(".csv"):  # the same columns without files, then those of the annotators
            head, others = (next(csv.reader(io.StringIO(each))) for each in (files[file], text))
            assert head[: len(others)] == others, file
            own = head[len(others) :]
            assert ("ann2: labels" in own) == (file in ("dialogues.csv", "utterances.csv"))
            assert file != "utterances.csv" or own[-1] == "gold: labels"
            assert "differs" not in head
    taken = [*csv.DictReader(io.StringIO(files["utterances.csv"], newline=""))]
    taken = {(row["dialogue_id"], row["turn"]): row["ann2: labels"] for row in taken}
    of_rows = {(str(row["dialogue_id"]), str(row["turn"])): row["labels"][0] for row in rows}
    assert {key: label for key, label in taken.items() if label} == {
        key: label for key, label in of_rows.items() if key[0] in due
    }
    assert not page.evaluate("'acted' in window")
    found = axe.Axe().run(page, options=RULES)
    assert found.violations_count == 0, found.generate_report()


def test_a_query_chooses_the_dialogues_and_their_order(served, sample_build, open_page):
    query = "select dialogue_id from casino.participants where dialogue_id <> 2005 "
    query += "order by points_scored, dialogue_id"
    due = list(dict.fromkeys(str(id) for (id,) in asked(sample_build, query)))
    chosen = data.Selection(query, due)
    page = open_page(page_of(written(served, sample_build, "asked", chosen, "casino"), "casino"))
    assert page.evaluate("page.index.ids") == due
    ids, sql = page.evaluate(STATE, "#q=food")
    assert 0 < len(ids) < len(due)
    assert answer(sample_build / "casino", sql) == ids


def test_the_python_of_a_published_build(sample, open_page, tmp_path, monkeypatch):
    page = open_page(page_of(sample, "duo", "is.setting=ed"))
    page.evaluate("page.index.load = { path: 'org/duo', revision: 'a1', folder: 'copy/duo' }")
    asked = []

    def download(*names, local_dir, **more):
        asked.append((names, more))
        shutil.copytree(sample.build / "duo", local_dir)

    monkeypatch.chdir(tmp_path)
    scope = {"parley": parley, "huggingface_hub": SimpleNamespace(snapshot_download=download)}
    exec(page.evaluate("page.selection.selecting()"), scope)
    assert asked == [(("org/duo",), {"repo_type": "dataset", "revision": "a1"})]
    assert scope["ids"] == set(page.evaluate("page.selection.ids()"))
    assert ast.parse(code_of(page)).body[0].names[0].name == "huggingface_hub"


def test_a_selection_names_dialogues_of_two_splits_with_one_id(
    served, open_page, tmp_path, monkeypatch
):
    monkeypatch.setenv("PARLEY_DATASETS", str(numbered_dataset.write(tmp_path)))
    build(open_source(get("numbered"), None, sample=True), tmp_path / "build")
    made = written(served, tmp_path / "build", "numbered")
    page = open_page(page_of(made, "numbered", "q=what's"))
    page.locator("#window a").first.click()
    assert page.locator("#dialogue").inner_text().count("What’s a plum?") == 1
    files = saved(page, tmp_path)
    assert files["ids.txt"] == "test/0\n"
    for name in ("dialogues.csv", "utterances.csv", "acts.csv"):
        rows = [*csv.DictReader(io.StringIO(files[name], newline=""))]
        assert {(row["split"], row["id"]) for row in rows} == {("test", "0")}, name
    (row,) = map(json.loads, files["dialogues.jsonl"].splitlines())
    assert (row["split"], row["id"]) == ("test", 0)
    assert answer(tmp_path / "build" / "numbered", code_of(page, "#code-sql")) == ["test/0"]
    monkeypatch.chdir(tmp_path)
    assert rows_of(code_of(page)) == [0]
