"""Files of labels that people bring: read or refused. docs/labels.md names their tools."""

import gzip
import json
from contextlib import suppress
from pathlib import Path

import pytest
from label_files import KEYS, only, write_file

import parley
from parley.annotators import layouts
from parley.annotators.columns import Column
from parley.annotators.reader import read_labels
from parley.base.errors import ParleyError, RecordError, UsageError
from parley.read.export.export import export

# Files of tools, with two answers of anna and one of ben
HERE = Path(__file__).parent / "labels"  # as the tools of docs/labels.md write them
X, Y = ("small-talk", "elicit-pref"), ("uv-part",)
ANSWERS = {("anna", "2001", "0"): X, ("anna", "2001", "2"): Y, ("ben", "2001", "2"): X}
PAIRS = [sorted(folder.glob("*.*")) for folder in HERE.glob("doccano-*")]  # a file for each person
REFUSED = sorted((HERE / "refused").iterdir())  # the error names what stands before the first dot
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
    lines = only((rows["offer"], rows["inquiry"]), *KEYS, "intent")
    lines = [line | {"id": 7, "label": [line.pop("intent")], "Comments": []} for line in lines]
    (labels,) = read_labels(built, [write_file(tmp_path / "a.jsonl", lines)], "utterances")
    assert [*labels.columns] == ["intent"]
    with pytest.raises(UsageError, match="'action' or 'intent'"):
        read_labels(built, [write_file(tmp_path / "a.jsonl", lines[:1])], "utterances")


def test_lost_zeros_a_link_and_one_packed_object_are_named_or_read(sample_build, casino, tmp_path):
    for id in (901, "901.0", "'0901", '="0901"'):
        file = write_file(tmp_path / "a.jsonl", [{"dialogue_id": id, "mood": 1}])
        with pytest.raises(RecordError) as error:
            read_labels(parley.open(sample_build / "duo"), [file])
        assert "4" in error.value.remedy  # the digits of an id
    (link := tmp_path / "link.csv").symlink_to(link)
    with pytest.raises(UsageError, match=r"link\.csv"):
        read_labels(casino, [link])
    row = {"dialogue_id": [2001], "turn": 0, "labels": "", "x": 1}
    (one := tmp_path / "one.json").write_bytes(gzip.compress(json.dumps(row, indent=1).encode()))
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


OF_IDS, OF_TURNS, OF_SIDES = "dialogue_id,x", "dialogue_id,turn,x", "dialogue_id,speaker,x"
OF_LABELS, OF_TEXTS = "dialogue_id,turn,labels", "dialogue_id,turn,text,x"
OF_PEOPLE, OF_POINTS = "dialogue_id,annotator,x", "dialogue_id,speaker,points_scored"
OF_TRAITS, SIDE = "dialogue_id,speaker,extraversion", "mturk_agent_1"
NO_IDS = ("2001.5", "true", "[2001, 1]", '{"a": 1}', '"02001"')
NO_FLOATS = ("2001,{0},9007199254740993", "2002,{0},1_0", "2003,{0},1e400")
OF_THREE = "row 1 (2001, {0}); row 2 (2002, {0}); row 3 (2003, {0}): extraversion"
WRONG_ROWS = [  # the lines of a file, and the place of its problem
    ([OF_IDS, "9,a"], "row 1 (9)"),
    ([OF_TURNS, "2001,0,a", "2001,99,b"], "row 2 (2001, 99)"),
    ([OF_TURNS, "2001,0.5,a"], "row 1 (2001, None): turn"),
    ([OF_TURNS, "2001,0,a", "#2001,1,b"], "row 2 (None, 1): dialogue_id"),
    ([OF_SIDES, "2001,agent_1,a"], "row 1 (2001, None): speaker"),
    (
        [f'{{"dialogue_id": {id}, "x": 1}}' for id in NO_IDS],
        "line 1 (None); line 2 (None); line 3 (None) and 2 more: dialogue_id",
    ),
    (['{"x": 1}', '{"dialogue_id": 2001, "x": 1}'], "line 1 (None)"),
    (['{"dialogue_id": 2001.0, "x": 1}', '{"dialogue_id": "2001", "x": 1}'], "line 2 (2001)"),
    ([OF_SIDES, f"2001,{SIDE},a", f"2002,{SIDE},a", f"2001,{SIDE},b"], f"row 3 (2001, {SIDE})"),
    ([OF_TEXTS, "2001,2,Water.,a"], "row 1 (2001, 2)"),
    ([OF_TEXTS, "2001,0,,a"], "row 1 (2001, 0)"),
    (['{"dialogue_id": 2001, "turn": 0, "text": 5, "x": 1}'], "line 1 (2001, 0)"),
    (
        [OF_LABELS, "2001,0,", "2001,1,uv_part", "", f"2001,2,{'[' * 99_999}", '2001,3,"x,x"'],
        "row 2 (2001, 1); row 4 (2001, 2); row 5 (2001, 3): labels",
    ),
    ([OF_LABELS, '2001,2,"no-need,no-need"'], "row 1 (2001, 2): labels"),
    (['{"dialogue_id": 2001, "turn": 2, "labels": ["uv-part", 1]}'], "line 1 (2001, 2): labels"),
    ([OF_POINTS, f"2001,{SIDE},1.5"], f"row 1 (2001, {SIDE}): points_scored"),
    ([OF_POINTS, f"2001,{SIDE},9223372036854775808"], f"row 1 (2001, {SIDE}): points_scored"),
    ([OF_TRAITS, *(row.format(SIDE) for row in NO_FLOATS)], OF_THREE.format(SIDE)),
    ([OF_PEOPLE, "2001,,a"], "row 1 (2001): annotator"),
    ([OF_PEOPLE, "2001,gold,a", "2002,annotator,a"], "row 1 (2001); row 2 (2002): annotator"),
    (["dialogue_id,turn,annotator,x", "2001,0,turn,a"], "row 1 (2001, 0): annotator"),
    (["dialogue_id,Annotator,x", "2001,a,b"], "'Annotator'"),
    (["dialogue_id,Turn,x", "2001,0,a"], "'Turn'"),
    (["dialogue_id,turn,Split,x", "2001,0,a,b"], "'Split'"),
    (["dialogue_id,turn,Text,x", "2001,0,a,b"], "'Text'"),
    (["dialogue_id,Mood,mood", "2001,a,b"], "'Mood'"),
    (["dialogue_id,turn,ann,ben", "2001,0,uv-part,x", "2001,1,,"], "'ann'"),
    (["dialogue_id,turn,ann", "2001,0,uv-part", "2001,1,unclear", "2001,2,no-need"], "'ann'"),
    (["dialogue_id,turn,uv-part", "2001,0,1"], "'uv-part'"),
    (['{"dialogue_id": 2001, "turn": 0, "strategy": ["no-need"]}'], "'strategy'"),
    ([OF_IDS, "2001,a,b"], "row 1"),
    ([OF_IDS, '2001,"a'], "row 1"),
    (["[2001]"], "row 1"),
    (['{"dialogue_id": 2001, "x": 1'], "line 1"),
    (['{"dialogue_id": 2001, "dialogue_id": 2002}'], "line 1"),
    (['{"dialogue_id": 2001, "x": NaN}'], "line 1"),
]
ODD_FILES = [  # the end of a name, the bytes of the file, and what the error names
    (".csv", b"dialogue_id,x\n2001,\xe9", "0xe9 in line 2"),
    (".jsonl", b'{"dialogue_id": 2001}\n{"dialogue_id": 2001, "x": "\xe9"}', "0xe9 in line 2"),
    (".csv", b"\xff\xfeI\0D\0", "UTF-16"),
    (".csv", b"x,y\n1,2", "dialogue_id and turn"),
    (".csv", b"", "mine.csv"),
    (".csv", b"dialogue_id,x", "mine.csv"),
    (".csv", b",dialogue_id,x\n0,2001,a", "index=False"),
    (".csv", b"dialogue_id,x,x\n2001,a,b", "'x'"),
    (".csv", b"dialogue_id,turn,text\n2001,0,a", "dialogue_id, turn, text"),
    (".csv", b"dialogue_id,a\x1b[2J\n2001,a", "a\x1b[2J"),
    (".csv", "dialogue_id,\u202ea\n2001,a".encode(), "\u202ea"),
    (".xlsx", b"a", ".parquet"),
    (".parquet", b"a", "mine.parquet"),
    (".csv", gzip.compress(b"dialogue_id,x\n2001,a", mtime=0)[:-9], "gzip"),
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
    monkeypatch.setitem(layouts.LIMITS, what, most)
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
