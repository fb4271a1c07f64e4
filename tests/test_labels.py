"""Labels that people bring: read, checked, compared, on the page and in SQL."""

import csv
import json
import random
import re
import shutil
from collections import defaultdict
from contextlib import suppress
from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import parley
from parley.annotators import comparison, layouts
from parley.annotators.columns import Column
from parley.annotators.reader import read_labels
from parley.base.errors import ParleyError, RecordError, UsageError
from parley.read.dialogues import dialogues
from parley.read.export.export import export
from parley.scoring import agreement

KEYS = ("dialogue_id", "turn")

# Files of tools, with two answers of anna and one of ben -----------------------------------------

HERE = Path(__file__).parent / "labels"  # as the tools of docs/labels.md write them
X, Y = ("small-talk", "elicit-pref"), ("uv-part",)
ANSWERS = {("anna", "2001", "0"): X, ("anna", "2001", "2"): Y, ("ben", "2001", "2"): X}
PAIRS = [sorted(folder.glob("*.*")) for folder in HERE.glob("doccano-*")]  # a file for each person
REFUSED = sorted((HERE / "refused").iterdir())  # the error names what stands before the first dot


def write_file(path, rows, separator=",", encoding="utf-8"):
    """Write rows as CSV or as JSON Lines, by the name."""
    if path.suffix == ".csv":
        with path.open("w", encoding=encoding, newline="") as file:
            writer = csv.DictWriter(file, [*rows[0]], delimiter=separator)
            writer.writeheader()
            writer.writerows(rows)
    elif path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    else:
        path.write_text("\n".join(map(json.dumps, rows)), encoding=encoding)
    return path


@pytest.fixture(scope="module")
def casino(sample_build):
    return parley.open(sample_build / "casino")


ALONE = [[path] for path in sorted(HERE.iterdir()) if path.is_file()]


@pytest.mark.parametrize("files", [*PAIRS, *ALONE], ids=lambda files: str(files[0]))
def test_a_file_of_a_tool_gives_the_answers_of_each_person(casino, files):
    (labels,) = read_labels(casino, files, "strategies")
    found = {
        (by, *unit): values["labels"]
        for by, units in labels.annotators.items()
        for unit, values in units.items()
        if values["labels"]
    }
    assert (found, [*labels.columns]) == (ANSWERS, ["labels"])
    assert read_labels(casino, files)[0].config == "strategies"


@pytest.mark.parametrize("file", REFUSED, ids=lambda file: file.name)
def test_a_file_that_a_tool_writes_otherwise_is_refused(casino, file):
    with pytest.raises(ParleyError, match=rf": .*\b{file.name.partition('.')[0]}\b"):
        read_labels(casino, [file], "strategies")


def test_a_region_of_paragraphs_labels_their_turns(casino, tmp_path):
    (task,) = json.loads((HERE / "label-studio-paragraphs.json").read_text(encoding="utf-8"))
    for paragraph in task["data"]["dialogue"]:
        del paragraph["turn"]  # which is told by their order and texts
    region = task["annotations"][1]["result"][0]["value"]
    region |= {"end": "3", "choices": region.pop("paragraphlabels")}  # elicit-pref, of 2 and 3
    (labels,) = read_labels(casino, [write_file(tmp_path / "a.jsonl", [task])], "strategies")
    ben = {int(turn): values["labels"] for (_, turn), values in labels.annotators["ben"].items()}
    assert ben == dict.fromkeys(range(len(ben)), ()) | {2: X, 3: X[1:]}
    assert (len(labels.notes), "1 " in labels.notes[0]) == (1, True)  # of a part of a text
    task["data"]["dialogue"][4]["text"] = "Another"
    with pytest.raises(RecordError, match=r"\b2 of 18 .*\n.*\(2001, 4\)"):  # of both
        read_labels(casino, [write_file(tmp_path / "a.jsonl", [task])], "strategies")


def test_labels_without_a_name_are_a_code_unless_the_config_has_one_of_them(casino, tmp_path):
    row = {"id": 7, "label": ["mine"], "Comments": [], "dialogue_id": 2001, "turn": 0}
    (labels,) = read_labels(casino, [write_file(tmp_path / "a.jsonl", [row])], "strategies")
    assert labels.annotators["a"]["2001", "0"] == {"label": "mine"}
    row["label"].append("uv-part")
    with pytest.raises(RecordError) as error:
        read_labels(casino, [write_file(tmp_path / "a.jsonl", [row])], "strategies")
    assert [problem.place for problem in error.value.problems] == ["line 1 (2001, 0): labels"]


def test_labels_without_a_name_are_of_the_column_that_takes_all(sample_build, tmp_path):
    built = parley.open(sample_build / "craigslist_bargains")
    rows = {row["intent"]: row for row in built.rows_with_names("utterances")}
    lines = [
        {key: rows[intent][key] for key in KEYS} | {"id": 7, "label": [intent], "Comments": []}
        for intent in ("offer", "inquiry")
    ]
    (labels,) = read_labels(built, [write_file(tmp_path / "a.jsonl", lines)], "utterances")
    assert [*labels.columns] == ["intent"]
    with pytest.raises(UsageError, match="'action' or 'intent'"):
        read_labels(built, [write_file(tmp_path / "a.jsonl", lines[:1])], "utterances")


def test_lost_zeros_a_link_and_one_object_are_named_or_read(sample_build, casino, tmp_path):
    for id in (901, "901.0", "'0901", '="0901"'):
        file = write_file(tmp_path / "a.jsonl", [{"dialogue_id": id, "mood": 1}])
        with pytest.raises(RecordError) as error:
            read_labels(parley.open(sample_build / "duo"), [file])
        assert "4" in error.value.remedy  # the digits of an id
    (link := tmp_path / "link.csv").symlink_to(link)
    with pytest.raises(UsageError, match=r"link\.csv"):
        read_labels(casino, [link])
    row = {"dialogue_id": [2001], "turn": 0, "labels": "", "x": 1}
    (one := tmp_path / "one.json").write_text(json.dumps(row, indent=1))
    assert read_labels(casino, [one])[0].annotators["one"]["2001", "0"] == {"labels": None, "x": 1}


@pytest.mark.parametrize(("separator", "encoding"), [(";", "utf-8-sig"), ("\t", "utf-8")])
def test_cells_are_read_by_what_is_declared(casino, tmp_path, separator, encoding):
    row = {"dialogue_id": 2001, "turn": 0, "labels": "elicit-pref , small-talk", "age": "'-05:00"}
    rows = [row, row | {"turn": 1, "labels": "[]"}, row | {"turn": 2, "labels": "", "age": ""}]
    file = write_file(tmp_path / "a.csv", rows, separator, encoding)
    (labels,) = read_labels(casino, [file], "strategies")
    found = [labels.annotators["a"]["2001", str(turn)] for turn in range(3)]
    assert [each["labels"] for each in found] == [("small-talk", "elicit-pref"), (), None]
    assert [each["age"] for each in found] == ["-05:00", "-05:00", None]
    assert labels.columns["age"].is_open
    text = labels.declared["text"]
    assert text.own(" ") is text.read(" ") is None


def test_an_utterance_is_known_by_its_id_alone(casino, tmp_path):
    row = casino.rows("utterances")[3]
    file = write_file(tmp_path / "a.jsonl", [{"id": row["id"], "code": "x"}])
    (labels,) = read_labels(casino, [file])
    assert [*labels.annotators["a"]] == [(str(row["dialogue_id"]), str(row["turn"]))]


# Files that are wrong ----------------------------------------------------------------------------

OF_IDS, OF_TURNS, OF_SIDES = "dialogue_id,x", "dialogue_id,turn,x", "dialogue_id,speaker,x"
OF_LABELS, OF_TEXTS = "dialogue_id,turn,labels", "dialogue_id,turn,text,x"
OF_PEOPLE, OF_POINTS = "dialogue_id,annotator,x", "dialogue_id,speaker,points_scored"
OF_TRAITS = "dialogue_id,speaker,extraversion"
SIDE = "mturk_agent_1"
WRONG_ROWS = [  # the lines of a file, and the place of its problem
    # keys
    ([OF_IDS, "9,a"], "row 1 (9)"),
    ([OF_TURNS, "2001,0,a", "2001,99,b"], "row 2 (2001, 99)"),
    ([OF_TURNS, "2001,-1,a"], "row 1 (2001, -1)"),
    ([OF_TURNS, "2001,0.5,a"], "row 1 (2001, None): turn"),
    ([OF_TURNS, "2001,,a"], "row 1 (2001, None)"),
    ([OF_TURNS, "2001,0,a", "#2001,1,b"], "row 2 (None, 1): dialogue_id"),
    ([OF_SIDES, "2001,agent_1,a"], "row 1 (2001, None): speaker"),
    (['{"dialogue_id": 2001.5, "x": 1}'], "line 1 (None): dialogue_id"),
    (['{"dialogue_id": true, "x": 1}'], "line 1 (None): dialogue_id"),
    (['{"dialogue_id": [2001, 1], "x": 1}'], "line 1 (None): dialogue_id"),
    (['{"dialogue_id": {"a": 1}, "x": 1}'], "line 1 (None): dialogue_id"),
    (['{"dialogue_id": "02001", "x": 1}'], "line 1 (None): dialogue_id"),
    (['{"dialogue_id": null, "x": 1}'], "line 1 (None)"),
    (['{"x": 1}', '{"dialogue_id": 2001, "x": 1}'], "line 1 (None)"),
    # a key twice
    (['{"dialogue_id": 2001.0, "x": 1}', '{"dialogue_id": "2001", "x": 1}'], "line 2 (2001)"),
    ([OF_TURNS, "2001,0,a", "2001,0,a"], "row 2 (2001, 0)"),
    ([OF_SIDES, f"2001,{SIDE},a", f"2002,{SIDE},a", f"2001,{SIDE},b"], f"row 3 (2001, {SIDE})"),
    # texts that are not the dataset's
    ([OF_TEXTS, "2001,2,Water.,a"], "row 1 (2001, 2)"),
    ([OF_TEXTS, "2001,0,,a"], "row 1 (2001, 0)"),
    (['{"dialogue_id": 2001, "turn": 0, "text": 5, "x": 1}'], "line 1 (2001, 0)"),
    # labels
    ([OF_LABELS, "2001,1,uv-part", "2001,2,uv_part"], "row 2 (2001, 2): labels"),
    ([OF_LABELS, '2001,2,"no-need,no-need"'], "row 1 (2001, 2): labels"),
    ([OF_LABELS, "2001,0,", "", "2001,1,x"], "row 3 (2001, 1): labels"),
    ([OF_LABELS, f"2001,0,{'[' * 99_999}"], "row 1 (2001, 0): labels"),
    (['{"dialogue_id": 2001, "turn": 2, "labels": ["uv-part", 1]}'], "line 1 (2001, 2): labels"),
    (['{"dialogue_id": 2001, "turn": 2, "labels": {"a": "b"}}'], "line 1 (2001, 2): labels"),
    # numbers
    ([OF_POINTS, f"2001,{SIDE},1.5"], f"row 1 (2001, {SIDE}): points_scored"),
    ([OF_POINTS, f"2001,{SIDE},9223372036854775808"], f"row 1 (2001, {SIDE}): points_scored"),
    ([OF_TRAITS, f"2001,{SIDE},9007199254740993"], f"row 1 (2001, {SIDE}): extraversion"),
    ([OF_TRAITS, f"2001,{SIDE},1_0"], f"row 1 (2001, {SIDE}): extraversion"),
    ([OF_TRAITS, f"2001,{SIDE},1e400"], f"row 1 (2001, {SIDE}): extraversion"),
    # annotators
    ([OF_PEOPLE, "2001,,a"], "row 1 (2001): annotator"),
    ([OF_PEOPLE, "2001,gold,a"], "row 1 (2001): annotator"),
    ([OF_PEOPLE, "2001,annotator,a"], "row 1 (2001): annotator"),
    (["dialogue_id,turn,annotator,x", "2001,0,turn,a"], "row 1 (2001, 0): annotator"),
    # columns
    (["dialogue_id,Annotator,x", "2001,a,b"], "'Annotator'"),
    (["dialogue_id,Turn,x", "2001,0,a"], "'Turn'"),
    (["Dialogue_ID,x", "2001,a"], "'Dialogue_ID'"),
    (["dialogue_id,turn,Split,x", "2001,0,a,b"], "'Split'"),
    (["dialogue_id,turn,Text,x", "2001,0,a,b"], "'Text'"),
    (["dialogue_id,Mood,mood", "2001,a,b"], "'Mood'"),
    (["dialogue_id,turn,ann,ben", "2001,0,uv-part,x", "2001,1,,"], "'ann'"),
    (["dialogue_id,turn,ann", "2001,0,uv-part", "2001,1,unclear", "2001,2,no-need"], "'ann'"),
    (["dialogue_id,turn,uv-part", "2001,0,1"], "'uv-part'"),
    (['{"dialogue_id": 2001, "turn": 0, "strategy": ["no-need"]}'], "'strategy'"),
    # the form of a line
    ([OF_IDS, "2001,a,b"], "row 1"),
    ([OF_IDS, '2001,"a'], "row 1"),
    (["[2001]"], "row 1"),
    (["5"], "line 1"),
    (['{"dialogue_id": 2001, "x": 1'], "line 1"),
    (['{"dialogue_id": 2001, "dialogue_id": 2002}'], "line 1"),
    (['{"dialogue_id": 2001, "x": NaN}'], "line 1"),
]
ODD_FILES = [  # the end of a name, the bytes of the file, and what the error names
    (".csv", b"dialogue_id,x\n2001,\xe9", "0xe9 in line 2"),
    (".jsonl", b'{"dialogue_id": 2001}\n{"dialogue_id": 2001, "x": "\xe9"}', "0xe9 in line 2"),
    (".csv", b"\xff\xfeI\0D\0", "UTF-16"),
    (".csv", b"x,y\n1,2", "dialogue_id and turn"),
    (".csv", b"turn,x\n0,a", "dialogue_id and turn"),
    (".jsonl", b"{}", "dialogue_id and turn"),
    (".csv", b"", "mine.csv"),
    (".jsonl", b"", "mine.jsonl"),
    (".csv", b"dialogue_id,x", "mine.csv"),
    (".csv", b"<html>", "mine.csv"),
    (".csv", b",dialogue_id,x\n0,2001,a", "index=False"),
    (".csv", b"dialogue_id,x,x\n2001,a,b", "'x'"),
    (".csv", b"dialogue_id\n2001", "dialogue_id"),
    (".csv", b"dialogue_id,turn,text\n2001,0,a", "dialogue_id, turn, text"),
    (".csv", b"dialogue_id,a\x1b[2J\n2001,a", "a\x1b[2J"),
    (".csv", "dialogue_id,\u202ea\n2001,a".encode(), "\u202ea"),
    (".xlsx", b"a", ".parquet"),
    (".parquet", b"a", "mine.parquet"),
    (".csv.gz", b"a", "gzip"),
    (".json", b'[{"dialogue_id": 2001]', "mine.json"),
]


@pytest.mark.parametrize(("lines", "place"), WRONG_ROWS)
def test_a_wrong_row_or_column_is_named(casino, tmp_path, lines, place):
    is_csv = lines[0].lower().startswith("dialogue_id,")
    (path := tmp_path / ("mine.csv" if is_csv else "mine.jsonl")).write_text("\n".join(lines))
    with pytest.raises((RecordError, UsageError)) as error:
        read_labels(casino, [path])
    assert [problem.place for problem in error.value.problems] == [place]
    assert error.value.message.startswith(f"{path}: ")


@pytest.mark.parametrize(("end", "content", "named"), ODD_FILES)
def test_a_file_that_is_no_table_of_labels_is_refused(casino, tmp_path, end, content, named):
    (path := tmp_path / f"mine{end}").write_bytes(content)
    with pytest.raises(UsageError) as error:
        read_labels(casino, [path])
    assert named in str(error.value)
    assert str(path) in str(error.value)


LIMITS = {"rows": 1, "columns": 1, "cells": 2, "bytes": 20}
OF_LISTS = [("values in lists", 1, ["a", "b", "c"]), ("values in lists", 5, {"a": {"b": 1}})]
LIMITED = [(end, *limit, "1") for limit in LIMITS.items() for end in ("csv", "jsonl", "parquet")]
LIMITED += [("parquet", *limit) for limit in (*OF_LISTS, ("bytes about columns", 99, "1"))]


@pytest.mark.parametrize(("end", "what", "most", "value"), LIMITED)
def test_a_file_beyond_a_limit_is_refused(casino, tmp_path, monkeypatch, end, what, most, value):
    rows = [{"dialogue_id": id, "x": value} for id in (2001, 2002)]
    file = write_file(tmp_path / f"a.{end}", rows)
    monkeypatch.setitem(layouts._MOST, what, most)
    with pytest.raises(UsageError, match=f" {most} {what}"):
        read_labels(casino, [file])


def test_a_long_cell_is_read_in_a_moment(casino):
    """In time that grows with its length, not its square: a signal waits for the end of a match."""
    for name, cell in (("labels", f"a{' ' * 300_000}b"), ("x", f"{'1' * 300_000}x")):
        column = Column.of(casino, "strategies", name)
        with suppress(RecordError):
            column.of_values([column.read(cell)])


def test_a_label_of_one_person_comes_from_one_file(casino, tmp_path):
    rows = [{"dialogue_id": 2001, "annotator": "anna", "code": "x"}]
    files = [write_file(tmp_path / name, rows) for name in ("a.csv", "b.jsonl")]
    with pytest.raises(RecordError) as error:
        read_labels(casino, files)
    assert str(files[0]) in str(error.value.problems[0])
    assert len(read_labels(casino, [files[0], tmp_path / ".." / tmp_path.name / "a.csv"])) == 1


# Agreement ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("people", [2, 3, 5])
@pytest.mark.parametrize("units", [1, 7, 40])
@pytest.mark.parametrize("values", [2, 5])
@pytest.mark.filterwarnings("ignore")  # of the packages, about what is undefined
def test_agreement_is_that_of_the_packages(people, units, values, monkeypatch):
    """Of all units, and without each cluster.

    There are unequal numbers of values, few and tied ones, and values of nobody or of all.
    """
    monkeypatch.setattr(agreement, "VARIED", 0)
    krippendorff = pytest.importorskip("krippendorff")
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
                try:
                    due = krippendorff.alpha(
                        data[:, kept], value_domain=range(values), level_of_measurement=level
                    )
                except ValueError:  # no unit with two values
                    due = np.nan
                np.testing.assert_allclose(without(alpha, left), due, atol=1e-9)
            due = cohen_kappa_score(*codes[:2, both & kept]) if (both & kept).any() else np.nan
            np.testing.assert_allclose(without(kappa, left), due, atol=1e-9)


def without(metric, cluster):
    return metric.value + (metric.spreads[0].shifts[cluster] if cluster >= 0 else 0)


def due_alpha(lines, column):
    """Alpha of lines with an annotator each, counted by unit alone."""
    units = defaultdict(list)
    for line in lines:
        value = line[column]
        if value is not None:
            values = units[line["dialogue_id"], line.get("turn")]
            values.append(tuple(sorted(value)) if isinstance(value, list) else value)
    domain = sorted({value for values in units.values() for value in values})
    distance = agreement.nominal if isinstance(domain[0], str) else agreement.ordinal
    if isinstance(domain[0], tuple):
        distance = agreement.masi([*map(frozenset, domain)])
    return agreement.alpha(units.values(), distance)


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


def test_of_many_annotators_the_pairs_with_the_most_common_rows_have_numbers(
    casino, tmp_path, monkeypatch
):
    rows = [
        {key: row[key] for key in (*KEYS, "labels")} for row in casino.rows_with_names("strategies")
    ]
    given = {"a": rows[:5], "b": rows[2:7], "c": rows[4:9], "d": rows[8:]}
    files = [write_file(tmp_path / f"{by}.jsonl", each) for by, each in given.items()]
    monkeypatch.setattr("parley.annotators.comparison.MOST_PAIRS", 2)
    found = parley.labels(casino, "strategies", *files).as_dict()["columns"]["labels"]
    pairs = ["".join(pair["of"]) for pair in found["pairs"]]
    assert pairs == ["ab", "agold", "bc", "bgold", "cgold", "dgold"]
    assert found["pairs_left_out"] == 2  # a and c, c and d; a and d have no common row


def test_percent_agreement_counts_units_to_which_all_gave_one_value():
    codes = np.array([[0, 1, 1, -1, 2], [0, 0, -1, -1, 2], [0, 1, 1, 1, 2]])
    metric = agreement.percent_alike(codes, np.arange(5))
    assert metric.value == 75
    assert metric.rows.tolist() == [100, 0, 100, 100]


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
    for key in ({key: row[key] for key in KEYS} for row in casino.rows_with_names("strategies")):
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


@pytest.mark.parametrize(("one", "other", "measure", "alike", "told"), WRITTEN)
def test_equal_answers_in_two_spellings_are_equal_or_named(
    casino, tmp_path, one, other, measure, alike, told
):
    rows = [{key: row[key] for key in KEYS} for row in casino.rows("strategies")[:20]]
    files = []
    for name, cells in (("a", one), ("b", other)):
        lines = [row | {"x": cells[n % len(cells)]} for n, row in enumerate(rows)]
        files.append(write_file(tmp_path / f"{name}.csv", lines))
    found = parley.labels(casino, "strategies", *files)
    column = found.as_dict()["columns"]["x"]
    assert column["alpha_of"] == measure
    assert column["annotators"]["percent"]["value"] == pytest.approx(alike, abs=5)
    assert [told in note for note in found.labels.notes] == [True] * bool(told)


@pytest.mark.parametrize("form", ["; ".join, lambda tags: ",".join(tags[::-1]), json.dumps])
def test_a_list_of_texts_of_the_config_is_a_set(sample_build, tmp_path, form):
    rows = parley.open(sample_build / "craigslist_bargains").rows("dialogue_acts")
    lines = [{k: row[k] for k in KEYS} | {"tags": form(row["tags"])} for row in rows if row["tags"]]
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

    rows, drawn = casino.rows_with_names("strategies"), random.Random(1)
    few = [row for row in rows if drawn.random() < 0.9]
    given = {"ann1": rows, "ann2": few, "ann3": rows, "gold": rows}
    lines = {
        by: [{key: row[key] for key in (*KEYS, "labels")} | {"annotator": by} for row in kept]
        for by, kept in given.items()
    }
    said = lines["ann1"] + lines["ann2"] + lines["ann3"]
    for line in said:
        line["labels"] = drawn.choice(rows if drawn.random() < 0.3 else [line])["labels"]
    file = write_file(tmp_path / "a.jsonl", said)
    numbers = parley.labels(casino, "strategies", file).as_dict()["columns"]["labels"]
    for kind, of in (("annotators", said), ("with_gold", said + lines["gold"])):
        due = due_alpha(of, "labels")
        assert numbers[kind]["alpha"]["value"] == pytest.approx(due, abs=1e-12)
    units = [
        {(line["dialogue_id"], line["turn"]): str(sorted(line["labels"])) for line in lines[by]}
        for by in given
    ]
    for pair, (one, other) in zip(numbers["pairs"], combinations(units, 2), strict=True):
        both = [(one[unit], other[unit]) for unit in one.keys() & other.keys()]
        assert pair["rows"] == len(both)
        due = cohen_kappa_score(*zip(*both, strict=True))
        assert pair["kappa"]["value"] == pytest.approx(due, abs=1e-12)
        alike = np.equal(*zip(*both, strict=True)).mean()
        assert pair["percent"]["value"] == pytest.approx(100 * alike)
    label, counts = next((n, each["counts"]) for n, each in numbers["labels"].items())
    assert counts["ann1"] == sum(label in line["labels"] for line in lines["ann1"])


# Taken along -------------------------------------------------------------------------------------


@pytest.fixture
def two(casino, tmp_path):
    """Files of two people; the second differs in each third row, and has no text and no fold."""
    rows = casino.rows_with_names("strategies")
    one = [{key: row[key] for key in (*KEYS, "text", "labels", "fold")} for row in rows]
    other = [{key: row[key] for key in KEYS} | {"labels": row["labels"][::-1]} for row in rows]
    for row in other[::3]:
        row["labels"] = ["uv-part"]
    one[1]["labels"] = other[1]["labels"] = ["vouch-fair"]  # not gold
    return [write_file(tmp_path / f"{n}.jsonl", r) for n, r in (("ann 1", one), ("ann2", other))]


def test_answers_are_counted_of_what_is_compared(casino, tmp_path):
    """Not of the dataset's own columns that a file has, too."""
    rows = casino.rows_with_names("strategies")
    kept = [{key: row[key] for key in (*KEYS, "speaker", "fold")} for row in rows]
    lines = [row | {"labels": "", "notes": "", "x": "y" * (n < 3)} for n, row in enumerate(kept)]
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


def test_differences_are_written_and_read_back(casino, two, run, tmp_path, monkeypatch):
    rows = casino.rows_with_names("strategies")
    kept = [{key: row[key] for key in (*KEYS, "labels")} | {"x": 1} for row in rows]
    same = write_file(tmp_path / "same.jsonl", kept)
    alone = parley.labels(casino, "strategies", same).as_dict()["columns"]
    assert (alone["labels"]["with_gold"]["alpha"]["value"], [*alone]) == (1, ["labels", "x"])
    user_labels = pytest.importorskip("parley.page.user_labels")
    assert [*user_labels.UserLabels(casino, [same], "labels").order] == ["differs", "same: x"]
    done = run("labels", "casino", "strategies", *two, "--build", casino.path.parent, "--json")
    assert json.loads(done.stdout) == parley.labels(casino, "strategies", *two).as_dict()
    to = tmp_path / "differ.csv"
    call = ("labels", "casino", "strategies", *two, "--build", casino.path.parent, "-o", to)
    tables, before = "parley.cli.labels_commands.print_result", []
    monkeypatch.setattr(tables, lambda *_: before.append(to.exists()))  # who reads them may end
    assert (run(*call).returncode, before) == (0, [True])
    due = [*parley.labels(casino, "strategies", *two).differences()]
    changed = [row for row in rows[::3] if row["labels"] != ["uv-part"]]
    assert len(due) == len(changed) > 0
    with to.open(encoding="utf-8-sig", newline="") as file:
        head, *lines = csv.reader(file)
    assert head == [*KEYS, "speaker", "context", "text", "ann 1", "ann2", "gold"]
    contexts = {(str(row["dialogue_id"]), str(row["turn"])): row["context"] for row in rows}
    for id, turn, _, context, *_ in lines:
        due_context = [each["text"] for each in contexts[id, turn][-2:]]
        assert [said.partition(": ")[2] for said in context.split("\n") if said] == due_context
    with to.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(
            [["dialogue_id", "turn", "context", "text", "labels"]]
            + [[*line[:2], *line[3:6]] for line in lines]
        )
    (labels,) = read_labels(casino, [to], "strategies")
    assert all(labels.rows[unit] == v for unit, v in labels.annotators["differ"].items())


def test_a_file_of_labels_is_a_table_with_the_types_of_its_config(casino, two, tmp_path):
    pytest.importorskip("duckdb", reason="the extra `sql` is not installed")
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


@pytest.mark.parametrize("config", ["participants", "utterances"])
def test_a_table_of_the_dataset_comes_back_as_it_went_out(casino, tmp_path, config):
    export(casino, "csv", tmp_path / "csv")
    file = tmp_path / "csv" / f"{config}-train.csv"
    (labels,) = read_labels(casino, [file])
    ordered = [name for name in ("gender", "satisfaction") if labels.columns.get(name)]
    assert [labels.columns[name].is_ordered for name in ordered] == [False, True][: len(ordered)]
    labels.leave_out_equal(labels_too=True)
    assert labels.config == config
    assert (len(labels.notes), labels.columns) == (1, {})
    assert not [*parley.labels(casino, config, file).differences()]


def test_gold_is_none_of_the_datasets_own_annotators(sample_build, tmp_path):
    built, keys = parley.open(sample_build / "duo"), ("dialogue_id", "source", "aspect")
    rows = [(tuple(row[key] for key in keys), row) for row in built.rows_with_names("ratings")]
    of_nobody = {unit: row["score"] for unit, row in rows if row["annotator"] is None}
    lines = [dict(zip(keys, unit, strict=True)) | {"score": 1.0} for unit in dict(rows)]
    (labels,) = read_labels(built, [write_file(tmp_path / "a.jsonl", lines)], "ratings")
    assert {unit: row["score"] for unit, row in labels.rows.items() if row} == of_nobody


def test_zero_is_not_nothing(sample_build, tmp_path):
    built = parley.open(sample_build / "craigslist_bargains")
    rows = built.rows_with_names("utterances")
    lines = [{k: row[k] for k in (*KEYS, "intent", "intent_price")} | {"x": "a"} for row in rows]
    next(line for line in lines if line["intent_price"] is None)["intent_price"] = 0
    (labels,) = read_labels(built, [write_file(tmp_path / "a.jsonl", lines)], "utterances")
    assert not labels.columns["intent"].is_ordered
    labels.leave_out_equal(labels_too=True)
    assert {*labels.columns} == {"intent_price", "x"}


def test_predictions_are_right_or_wrong_as_their_task_has_it(casino, tmp_path):
    user_labels = pytest.importorskip("parley.page.user_labels")
    file = tmp_path / "model.jsonl"
    rows = casino.rows_with_names("strategies")
    lines = [{key: row[key] for key in KEYS} | {"labels": ["uv-part"]} for row in rows]
    write_file(file, lines)
    found = user_labels.UserLabels(casino, [file])
    score = parley.score(casino, "strategies", file).as_dict()["metrics"]["joint_accuracy"]
    right = round(score / 100 * len(rows))
    assert f"{right:,} right" in found.notes[0]
    assert not found.paths
    same = [{"dialogue_id": 2001, "annotator": "a", "b: c": 1}]
    same.append({"dialogue_id": 2002, "annotator": "a: b", "c": 1})
    with pytest.raises(UsageError, match="a: b: c"):
        user_labels.UserLabels(casino, [write_file(tmp_path / "b.jsonl", same)])
    lines[0]["labels"] = ["non-strategic"]  # which the task has not, but the config
    assert user_labels.UserLabels(casino, [write_file(file, lines)], "labels").paths == [file]
    with pytest.raises(UsageError, match=r"a\.csv"):
        user_labels.UserLabels(casino, [write_file(tmp_path / "a.csv", lines)], "strategies")
    lines = [{**line, "text": row["text"]} for line, row in zip(lines, rows, strict=True)]
    assert user_labels.UserLabels(casino, [write_file(file, lines)]).paths == [file]


@pytest.mark.parametrize("wrong", [
    {"decision": "Accept"}, {"turn": 1.0}, {"model": "mine"}, {"dialogue_id": 9}, {"answer": 1},
])  # fmt: skip
def test_a_wrong_line_of_predictions_is_an_error(casino, run, tmp_path, wrong):
    """That of `parley score`, and no label of a person, unless the file is said to hold labels."""
    task, file = casino.dataset.tasks["decisions"], tmp_path / "model.jsonl"
    first, *rest = task.baselines["accept"](casino)
    write_file(file, [first | wrong, *rest])
    done = run("browse", "casino", "--build", casino.path.parent, "--with", file, "--no-open")
    scored = run("score", "casino", "decisions", file, "--build", casino.path.parent)
    assert (done.returncode, scored.returncode) == (1, 1)
    assert {*scored.stderr.splitlines()[1:2]} <= {*done.stderr.splitlines()}


def test_answers_to_several_tasks_are_of_the_one_that_is_named(casino, run, tmp_path):
    user_labels = pytest.importorskip("parley.page.user_labels")
    task, file = casino.dataset.tasks["decisions"], tmp_path / "model.jsonl"
    gold = task.gold(casino)
    names = (*task.key, "answer")
    write_file(file, [dict(zip(names, (*key, "accept"), strict=True)) for key in gold])
    with pytest.raises(UsageError, match="decisions"):
        user_labels.UserLabels(casino, [file])
    found = user_labels.UserLabels(casino, [file], "decisions")
    assert f"{[*gold.values()].count({'decision': 'accept'})} right" in found.notes[0]
    given = "browse", "casino", "--build", casino.path.parent, "--no-open", "--as", "nothing"
    assert run(*given, "--with", file)[0] == run(*given)[0] == 2


def test_beliefs_stand_beside_their_turns_with_their_calibration(casino, tmp_path):
    user_labels = pytest.importorskip("parley.page.user_labels")
    for at, place in (("turns", "turns"), ("end", "rest")):
        predicted = [*casino.dataset.tasks["beliefs"].baselines["uniform"](casino, at)]
        first, *others = (row | {"epoch": epoch} for epoch in (1, 2) for row in predicted)
        raw = json.dumps(first.pop("probabilities"))
        file = write_file(tmp_path / f"{at}.jsonl", [first | {"answer": raw}, *others])
        found = user_labels.UserLabels(casino, [file])
        ((chart,), (note,)) = found.charts, found.notes
        assert note.endswith(f": {2 * len(predicted)} tied")
        assert sum(each.count for each in chart.bins) == 2 * len(predicted)
        due = {(str(e["dialogue_id"]), str(e["turn"]) * (at == "turns")) for e in predicted}
        beside = {each.id: found.own_labels(each)[place] for each in dialogues(casino)}
        assert {(id, turn) for id, turns in beside.items() for turn in turns} == due


def test_a_log_beside_its_dialogues_is_right_or_wrong(casino, run, tmp_path, monkeypatch):
    inspect_runs = pytest.importorskip("inspect_runs", reason="needs the extra models")
    answer = '{"labels": ["small-talk"]}'
    log = inspect_runs.ask("casino strategies", lambda *_: answer, casino.path.parent, tmp_path)
    given = []
    monkeypatch.setattr("parley.page.serve.browse", lambda *of, **_: given.extend(of))
    done = run("browse", "casino", "--build", casino.path.parent, "--with", log)
    score = parley.score(casino, "strategies", log).as_dict()["metrics"]["joint_accuracy"]
    right = round(score / 100 * len(casino.rows("strategies")))
    assert right > 0
    named = "mockllm/model: predictions of the task strategies: "
    assert re.search(rf"{named}.*\b{right} right", done.stderr), done.stderr
    again = shutil.copy(log, tmp_path / "again.eval")
    run("browse", "casino", "--build", casino.path.parent, "--with", log, "--with", again)
    order = [*given.pop().files.order][1:]
    assert order == ["mockllm/model: strategies", f"mockllm/model ({again}): strategies"]
    beside = [given[1].files.own_labels(each).get("turns", {}) for each in dialogues(casino)]
    told = [
        t for turns in beside for lines in turns.values() for line in lines for t in line["texts"]
    ]
    assert sum(text.startswith("right: ") for text in told) == right
