"""Labels of people compared: agreement, codes of one's own, differences, tables in SQL."""

import json
import random
import re
from collections import defaultdict
from contextlib import suppress
from itertools import cycle

import numpy as np
import pandas as pd
import pytest
from label_files import KEYS, only, write_file

import parley
from parley.annotators import comparison
from parley.annotators.reader import read_labels
from parley.base.errors import UsageError
from parley.page.user_labels import UserLabels
from parley.scoring import agreement


@pytest.mark.parametrize("people", [2, 3, 5])
@pytest.mark.parametrize("units", [1, 7, 40])
@pytest.mark.parametrize("values", [2, 5])
@pytest.mark.filterwarnings("ignore")  # of the packages, about what is undefined
def test_agreement_is_that_of_the_packages(people, units, values, monkeypatch):
    """Of all units, and without each cluster; with few, tied and lacking values."""
    monkeypatch.setattr(agreement, "VARIED", 0)
    import krippendorff
    from nltk.metrics.distance import masi_distance
    from sklearn.metrics import cohen_kappa_score

    drawn, cluster = np.random.default_rng(people * units * values), np.arange(units) % 4
    sets = [frozenset("abc"[: n % 4]) | frozenset("d" * (n > 2)) for n in range(values)]
    apart = [[masi_distance(a, b) if a | b else 0 for b in sets] for a in sets]
    levels = {
        "nominal": agreement.nominal,
        "ordinal": agreement.ordinal,
        lambda v1, v2, i1, i2, **_: np.array(apart)[i1, i2]: agreement.masi(sets),
    }
    for skew in (0.0, 0.7, 1.0):
        codes = drawn.integers(-1, values, (people, units))
        codes[drawn.random(codes.shape) < skew] = values - 1
        data, both = np.where(codes < 0, np.nan, codes), (codes[:2] >= 0).all(axis=0)
        kappa = agreement.kappa(*codes[:2], cluster, values)
        alphas = {
            level: agreement.alpha_of(codes, cluster, values, distance)
            for level, distance in levels.items()
        }
        for left in {-1, *cluster}:
            kept = cluster != left
            for level, alpha in alphas.items():
                due = np.nan
                with suppress(ValueError):  # no unit with two values
                    due = krippendorff.alpha(data[:, kept], None, range(values), level)
                np.testing.assert_allclose(without(alpha, left), due, atol=1e-9)
            due = cohen_kappa_score(*codes[:2, both & kept]) if (both & kept).any() else np.nan
            np.testing.assert_allclose(without(kappa, left), due, atol=1e-9)


def without(metric, cluster):
    return metric.value + (metric.spreads[0].shifts[cluster] if cluster >= 0 else 0)


@pytest.mark.parametrize("people", [2, 3])
def test_a_value_of_few_dialogues_has_no_interval(people):
    """And one that few lack; a dialogue has it though one of its turns alone does."""
    for rare in (0, 1):
        codes = np.full((people, 400), 1 - rare)
        for dialogue in range(10):
            codes[:, 4 * dialogue] = rare
            codes[0, 4 * dialogue + 1] = rare if dialogue % 2 else 1 - rare
            found = agreement.alpha_of(codes, np.arange(400) // 4, 2)
            of_two = agreement.kappa(*codes[:2], np.arange(400) // 4, 2)
            assert [bool(each.interval) for each in (found, of_two)] == [dialogue == 9] * 2


def test_percent_agreement_counts_units_to_which_all_gave_one_value():
    codes = np.array([[0, 1, 1, -1, 2], [0, 0, -1, -1, 2], [0, 1, 1, 1, 2]])
    metric = agreement.percent_alike(codes, np.arange(5))
    assert metric.value == 75
    assert metric.rows.tolist() == [100, 0, 100, 100]


def due_alpha(lines, column):
    """Alpha of lines with an annotator each, counted by unit alone."""
    units = defaultdict(list)
    for line in lines:
        value = line[column]
        value = tuple(sorted(value)) if isinstance(value, list) else value
        units[line["dialogue_id"], line["turn"]].append(value)
    domain = sorted({value for values in units.values() for value in values})
    distance = agreement.nominal if isinstance(domain[0], str) else agreement.ordinal
    if isinstance(domain[0], tuple):
        distance = agreement.masi([*map(frozenset, domain)])
    return agreement.alpha(units.values(), distance)


def test_of_many_annotators_the_pairs_with_the_most_common_rows_have_numbers(
    casino, tmp_path, monkeypatch
):
    rows = only(casino.rows_with_names("strategies"), *KEYS, "labels")
    given = {"a": rows[:5], "b": rows[2:7], "c": rows[4:9], "d": rows[8:]}
    files = [write_file(tmp_path / f"{by}.jsonl", each) for by, each in given.items()]
    monkeypatch.setattr("parley.annotators.comparison.MOST_PAIRS", 2)
    found = parley.labels(casino, "strategies", *files).as_dict()["columns"]["labels"]
    pairs = ["".join(pair["of"]) for pair in found["pairs"]]
    assert pairs == ["ab", "agold", "bc", "bgold", "cgold", "dgold"]
    assert found["pairs_left_out"] == 2  # a and c, c and d; a and d have no common row


# A code of one's own: each value as a cell and as JSON may have it -> its measure
CODES = {
    "ordinal": {2: (" 2", 2.0), 10: ("10.0", 10), 3: ("3", [3]), 1.5: ("1.5", 1.5)},
    "nominal": {"true": ("TRUE", True), "1": ("1", 1.0), "a": ("a ", ["a"]), "b": ("b", " b")},
    "MASI": {
        ("a", "b"): ('["b", "a"]', ["a", "b"]),
        ("a",): ("['a']", "a"),
        ("a", "c; d"): ("['a' \"c; d\"]", ["c; d", "a"]),
        ("c; d",): ("c; d", ["c; d"]),
        (): ("[]", []),
    },
}


@pytest.mark.parametrize("measure", CODES)
def test_a_code_of_ones_own_is_compared_as_what_its_values_are(
    casino, tmp_path, monkeypatch, measure
):
    drawn, lines, written = random.Random(3), [], {"one.csv": [], "two.jsonl": []}
    for key in only(casino.rows("strategies"), *KEYS):
        value = drawn.choice([*CODES[measure]])
        for form, (name, rows) in enumerate(written.items()):
            value = drawn.choice([*CODES[measure]]) if drawn.random() < 0.2 else value
            code = [*value] if isinstance(value, tuple) else value
            lines.append(key | {"annotator": name, "code": code})
            rows.append(key | {"code": CODES[measure][value][form]})
    files = [write_file(tmp_path / name, rows) for name, rows in written.items()]
    compared = parley.labels(casino, "strategies", *files)
    compared.write_differences(tmp_path / "differ.csv")
    (labels,) = read_labels(casino, [tmp_path / "differ.csv"], "strategies")
    due = [{by: row[by] for by in ("one", "two", "gold")} for row in compared.differences()]
    assert [*labels.annotators["differ"].values()] == due
    found = compared.as_dict()["columns"]["code"]
    assert found["alpha_of"] == measure
    alpha = found["annotators"]["alpha"]["value"]
    assert alpha == pytest.approx(due_alpha(lines, "code"), abs=1e-12)
    if measure == "ordinal":
        assert [*found["labels"]] == ["1.5", "2", "3", "10"]
    monkeypatch.setattr(comparison, "_MOST_SETS", 3)  # of more, the distances need gigabytes
    found = parley.labels(casino, "strategies", *files).as_dict()["columns"]["code"]
    assert found["alpha_of"] == ("nominal" if measure == "MASI" else measure)


# What two people write by turns in a column of their own -> its measure, agreement, and a note
WRITTEN = [
    (['["a", "b"]', "a"], ["b; a", "a"], "MASI", 100, ""),
    (["a; b", "a", "b"], ["b,a", "a", "b"], "MASI", 100, ""),
    (["yes; but late", "yes"], ["yes; but late", "no"], "nominal", 50, ""),
    (["1.1", "1.10"], ["1.10", "1.1"], "nominal", 0, "1.1 and 1.10"),
    (["1.5", "1", "5"], ["1,5", "1", "5"], "nominal", 65, "1,5 (b)"),
    (["1", "0"], ["yes", "no"], "nominal", 0, "a (0, 1), b (no, yes)"),
    (["Yes", "no"], ["yes", "no"], "nominal", 50, "Yes and yes"),
    ([*"1234123412"], [*"123412341", "n/a"], "nominal", 90, "n/a (b)"),
    (['{"x": 1, "y": 2}'], ['{"y":2.0,"x":1}'], "nominal", 100, ""),
]


def test_each_number_of_a_label_has_its_own_text():
    numbers = (0.1, 0.1 + 2**-55, 1.0, 1e16, True)
    texts = [*map(comparison.label_text, numbers)]
    assert texts == ["0.1", "0.10000000000000003", "1", "1e+16", "true"]


@pytest.mark.parametrize(("one", "other", "measure", "alike", "told"), WRITTEN)
def test_equal_answers_in_two_spellings_are_equal_or_named(
    casino, tmp_path, one, other, measure, alike, told
):
    rows, files = only(casino.rows("strategies")[:20], *KEYS), []
    for name, cells in (("a", one), ("b", other)):
        lines = [row | {"x": cell} for row, cell in zip(rows, cycle(cells), strict=False)]
        files.append(write_file(tmp_path / f"{name}.csv", lines))
    found = parley.labels(casino, "strategies", *files)
    column = found.as_dict()["columns"]["x"]
    assert column["alpha_of"] == measure
    assert column["annotators"]["percent"]["value"] == pytest.approx(alike, abs=5)
    assert [told in note for note in found.labels.notes] == [True] * bool(told)


@pytest.mark.parametrize("form", ["; ".join, lambda tags: ",".join(tags[::-1]), json.dumps])
def test_a_list_of_labels_of_the_config_is_a_set(sample_build, tmp_path, form):
    rows = parley.open(sample_build / "craigslist_bargains").rows_with_names("dialogue_acts")
    tags = [row for row in only(rows, *KEYS, "tags") if row["tags"]]
    lines = [row | {"tags": form(row["tags"])} for row in tags]
    file = write_file(tmp_path / "a.csv", lines)
    found = parley.labels(sample_build / "craigslist_bargains", "dialogue_acts", file)
    tags = found.as_dict()["columns"]["tags"]
    assert (tags["alpha_of"], tags["with_gold"]["alpha"]["value"]) == ("MASI", 1)


# A file of columns of the dataset, and of values -> what a note or an error names
SEEMING = [
    ("a.jsonl", "casino", "strategies", "dialogue_id turn labels", {}, "task strategies"),
    ("a.csv", "cosrec", "intent_labels", "dialogue_id", {"turn": 1, "x": 1}, "from 0"),
    ("a.csv", "duo", "ratings", "dialogue_id source aspect score", {"mine": 1}, r"mine.*\bscore\b"),
]


@pytest.mark.parametrize(("name", "dataset", "config", "columns", "others", "named"), SEEMING)
def test_what_makes_labels_other_than_they_seem_is_named(
    sample_build, tmp_path, name, dataset, config, columns, others, named
):
    rows = parley.open(sample_build / dataset).rows_with_names(config)
    rows = [row for row in rows if row.get("annotator") is None and row.get("index", 0) == 0]
    rows = rows[:1] if "turn" in others else rows
    lines = [{key: row[key] for key in columns.split()} | others for row in rows]
    try:
        found = parley.labels(sample_build / dataset, config, write_file(tmp_path / name, lines))
        told = found.labels.notes[0]
    except UsageError as error:
        told = error.message
    assert re.search(named, told)


def test_three_people_and_gold_agree_as_the_packages_say(casino, tmp_path):
    from sklearn.metrics import cohen_kappa_score

    rows, drawn = only(casino.rows_with_names("strategies"), *KEYS, "labels"), random.Random(1)
    own = [row | {"annotator": "gold"} for row in rows]
    said = [
        line | {"annotator": by, "labels": drawn.choice([line] * len(rows) + rows)["labels"]}
        for by, share in (("ann1", 1), ("ann2", 0.9), ("ann3", 1))
        for line in rows
        if drawn.random() < share
    ]
    file = write_file(tmp_path / "a.jsonl", said)
    numbers = parley.labels(casino, "strategies", file).as_dict()["columns"]["labels"]
    for kind, of in (("annotators", said), ("with_gold", said + own)):
        due = due_alpha(of, "labels")
        assert numbers[kind]["alpha"]["value"] == pytest.approx(due, abs=1e-12)
    given = pd.DataFrame(said + own).pivot(index=[*KEYS], columns="annotator", values="labels")
    assert len(numbers["pairs"]) == 6
    for pair in numbers["pairs"]:
        one, other = given[pair["of"]].dropna().map(sorted).map(str).to_numpy().T
        assert pair["rows"] == len(one)
        due = cohen_kappa_score(one, other)
        assert pair["kappa"]["value"] == pytest.approx(due, abs=1e-12)
        assert pair["percent"]["value"] == pytest.approx(100 * (one == other).mean())
    label, each = next(iter(numbers["labels"].items()))
    assert each["counts"]["ann1"] == sum(label in labels for labels in given["ann1"])


@pytest.fixture
def two(casino, tmp_path):
    """Files of two people; the second differs in each third row, and has no text and no fold."""
    rows = casino.rows_with_names("strategies")
    one = only(rows, *KEYS, "text", "labels", "fold")
    other = [row | {"labels": row["labels"][::-1]} for row in only(rows, *KEYS, "labels")]
    for row in other[::3]:
        row["labels"] = ["uv-part"]
    one[1]["labels"] = other[1]["labels"] = ["vouch-fair"]  # not gold
    return [write_file(tmp_path / f"{n}.jsonl", r) for n, r in (("ann 1", one), ("ann2", other))]


def test_answers_are_counted_of_what_is_compared(casino, tmp_path):
    """Not of the dataset's own columns that a file has, too."""
    rows = only(casino.rows("strategies"), *KEYS, "speaker", "fold")
    lines = [row | {"labels": "", "notes": "", "x": "y" * (n < 3)} for n, row in enumerate(rows)]
    file = write_file(tmp_path / "a.csv", lines)
    with pytest.raises(UsageError, match=r"a\.csv: .*gold"):  # else a table of nothing
        parley.labels(casino, "strategies", file)
    lines[9]["labels"] = "uv-part"
    found = parley.labels(casino, "strategies", write_file(file, lines))
    numbers = found.as_dict()["annotators"]["a"]
    ((title, _, _), *_), found = found.tables(), found.as_dict()
    assert title.endswith(": labels (MASI)")
    assert (numbers["rows"], numbers["without_answer"]) == (len(rows), len(rows) - 4)
    assert numbers["answered_alone"] == 3


def test_differences_are_written_before_the_tables(casino, two, run, tmp_path, monkeypatch):
    rows = casino.rows_with_names("strategies")
    same = [row | {"x": 1} for row in only(rows, *KEYS, "labels")]
    same = write_file(tmp_path / "same.jsonl", same)
    alone = parley.labels(casino, "strategies", same).as_dict()["columns"]
    assert (alone["labels"]["with_gold"]["alpha"]["value"], [*alone]) == (1, ["labels", "x"])
    assert [*UserLabels(casino, [same], "labels").order] == ["differs", "same: x"]
    compared, to = parley.labels(casino, "strategies", *two), tmp_path / "differ.csv"
    call = ("labels", "casino", "strategies", *two, "--build", casino.path.parent)
    assert json.loads(run(*call, "--json").stdout) == compared.as_dict()
    tables, before = "parley.cli.labels_commands.print_result", []
    monkeypatch.setattr(tables, lambda *_: before.append(to.exists()))  # who reads them may end
    assert (run(*call, "-o", to).returncode, before) == (0, [True])
    changed = [row for row in rows[::3] if row["labels"] != ["uv-part"]]
    assert len([*compared.differences()]) == len(changed) > 0


def test_a_file_of_labels_is_a_table_with_the_types_of_its_config(casino, two, tmp_path):
    query = """select count(*), count(*) filter (s.labels = a.labels),
        count(*) filter (a.labels = b.labels) from casino.strategies s
        join "ann 1" a using (dialogue_id, turn) join ann2 b using (dialogue_id, turn)"""
    with parley.connect(casino, labels=two) as connection:
        ((rows, equal, alike),) = connection.execute(query).fetchall()
    numbers = parley.labels(casino, "strategies", *two).as_dict()["columns"]["labels"]
    assert rows == equal + 1 == len(casino.rows("strategies"))
    assert 100 * alike / rows == pytest.approx(numbers["annotators"]["percent"]["value"])
    with pytest.raises(UsageError, match=r"casino, .*duo"):
        parley.connect(casino.path.parent, labels=two)


def test_zero_is_not_nothing(sample_build, tmp_path):
    built = parley.open(sample_build / "craigslist_bargains")
    rows = only(built.rows_with_names("utterances"), *KEYS, "intent", "intent_price")
    lines = [row | {"x": "a"} for row in rows]
    next(line for line in lines if line["intent_price"] is None)["intent_price"] = 0
    (labels,) = read_labels(built, [write_file(tmp_path / "a.jsonl", lines)], "utterances")
    assert not labels.columns["intent"].is_ordered
    labels.leave_out_equal(labels_too=True)
    assert {*labels.columns} == {"intent_price", "x"}
