"""Files of one's own beside the dialogues: `parley browse --with`."""

import json
import re
import shutil

import pytest

import parley
from parley.base.errors import ParleyError
from parley.read.export.export import export
from parley.read.sql import write

pytest.importorskip("duckdb", reason="the extra `sql` is not installed")
UserFiles = pytest.importorskip("parley.read.site.user_files").UserFiles

# a pattern of what the error names -> files with ID for dialogue_id and ; for a new line
DAMAGED = {
    r"row \d \(.*\): .*dialogue_id": """csv:ID,x;9,a
        csv:ID,turn,x;2001,0,a;2001,99,b csv:ID,turn,x;9,0,a
        csv:ID,turn,x;2001,-1,a csv:ID,turn,x;2001,0.5,a csv:ID,turn,x;2001,,a
        csv:ID,turn,x;,0,a
        csv:ID,turn,x;2001,zero,a csv:ID,speaker,x;2001,agent_1,a csv:ID,speaker,x;2001,,a
        jsonl:{"ID":2001.5,"x":1} jsonl:{"ID":true,"x":1} jsonl:{"ID":[2001],"x":1}
        jsonl:{"ID":{"a":1},"x":1} jsonl:{"ID":"02001","x":1} jsonl:{"ID":null,"x":1}
        csv:ID,turn,x;2001,0,a;#2001,1,b jsonl:{"x":1};{"ID":2001,"x":1}""",
    r"row \d \(.*\): .* row 1": """
        jsonl:{"ID":2001.0,"x":1};{"ID":"2001","x":1} csv:ID,x;2001,a;2001,b
        csv:ID,turn,x;2001,0,a;2001,0,a
        csv:ID,speaker,x;2001,mturk_agent_1,a;2002,mturk_agent_1,a;2001,mturk_agent_1,b""",
    r"row 1 \(.*\): .*text": """
        csv:ID,turn,text,x;2001,2,Water.,a csv:ID,turn,text,x;2001,0,,a
        jsonl:{"ID":2001,"turn":0,"text":5,"x":1}""",
    r"1 of 2 .*\n  row 2 \(2001, 2\): labels": """
        csv:ID,turn,labels;2001,1,uv-part;2001,2,uv_part
        jsonl:{"ID":2001,"turn":1,"labels":"uv-part"};{"ID":2001,"turn":2,"labels":["uv-part",1],"x":1}
        jsonl:{"ID":2001,"turn":1};{"ID":2001,"turn":2,"labels":{"choices":["uv-part"]},"x":1}""",
    ": points_scored: ": """csv:ID,speaker,points_scored;2001,mturk_agent_1,1.5
        jsonl:{"ID":2001,"speaker":"mturk_agent_1","points_scored":true}""",
    "UTF-8": 'csv:ID,x;2001,\udce9 jsonl:{"ID":2001,"x":"\udce9"}',
    "dialogue_id": """csv:x,y;1,2 csv:Dialogue_ID,x;2001,a csv:turn,x;0,a csv:a
        csv: jsonl: jsonl:[2001] jsonl:{} csv:<html>""",
    "": "csv:ID,x",
    "dialogue_id( and turn)?$": "csv:ID;2001 csv:ID,turn;2001,0 csv:ID,turn,text;2001,0,a",
    r"(a\x1b\[2J|\u202ea)$": "csv:ID,a\x1b[2J;2001,a csv:ID,\u202ea;2001,a",
    r"\.parquet$": "xlsx:a",
    "mine.": """jsonl:nonsense jsonl:{"ID":2001,"x":1 jsonl:{"ID":2001,"ID":2002} parquet:a
        csv:ID;\udcff csv.gz:a json:[{"ID":2001]""",
}


CASES = [(names, file) for names, files in DAMAGED.items() for file in files.split()]


@pytest.mark.parametrize(("names", "file"), CASES)
def test_a_damaged_file_is_one_clear_error(sample_build, tmp_path, names, file):
    suffix, _, text = file.replace("ID", "dialogue_id").replace(";", "\n").partition(":")
    path = tmp_path / f"mine.{suffix}"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(ParleyError) as error:
        UserFiles(parley.open(sample_build / "casino"), [path])
    assert re.search(names, str(error.value))
    assert str(path) in str(error.value)


TURNS = "select dialogue_id, turn, text, {} as labels from casino.strategies"
MINE = {
    "one.csv": TURNS.format("case turn when 1 then ['uv-part'] else labels::varchar[] end"),
    "other.jsonl": TURNS.format("list_reverse(labels)"),
    "sides.parquet": "select dialogue_id, speaker, case dialogue_id when 2001 then "
    "points_scored + 1 when 2002 then null else points_scored end as points_scored, "
    "satisfaction::varchar as satisfaction from casino.participants",
    "whole.parquet": "select dialogue_id, null as chat_logs, repeat('w', 100_000) as note, "
    "[{'a': 'nan'::double}] as nested from casino.dialogues limit 1",
}


def test_differences_are_those_of_sql(sample_build, tmp_path):
    built, files = parley.open(sample_build / "casino"), [tmp_path / name for name in MINE]
    with parley.connect(built) as connection:
        for file in files:
            write(connection, MINE[file.name], file)
        own = UserFiles(built, files)
        ids = [str(row["dialogue_id"]) for row in built.rows("dialogues")]
        for label, query in own.queries.items():
            due = {id for (id,) in connection.execute(query).fetchall()}
            assert due == {id for id in ids if label in own.beside(id)[1]}, label
    differ = [label for id in ids for label in own.beside(id)[1]]
    rows = built.named("strategies")
    changed = sum(row["turn"] == 1 and row["labels"] != ["uv-part"] for row in rows)
    assert 0 < changed == differ.count("one: labels ≠ strategies")
    assert changed == differ.count("other: labels ≠ one")
    assert "other: labels ≠ strategies" not in differ  # but for the order of labels
    assert differ.count("sides: points_scored ≠ participants") == 4  # null is a difference
    assert not any("satisfaction" in label for label in differ)
    assert own.notes[0].startswith(f"one: {len(rows)} of ")
    told = dict(own.beside(ids[0])[0]["facts"])
    assert "whole: chat_logs" not in told
    assert len(told["whole: note"]) == 100_000
    assert "nan" in told["whole: nested"].lower()


@pytest.mark.parametrize("form", [str, "; ".join, ",".join])
def test_labels_equal_to_gold_do_not_differ_in_any_form(sample_build, tmp_path, form):
    built, file = parley.open(sample_build / "casino"), tmp_path / "mine.csv"
    names = built.dataset.configs["strategies"].features["labels"][0].names
    rows = built.rows("strategies", "train")
    cells = [form([names[label] for label in row["labels"]]) for row in rows]
    pairs = zip(rows, cells, strict=True)
    lines = [f'{row["dialogue_id"]},{row["turn"]}.0,7,"{cell}"' for row, cell in pairs]
    file.write_text("\n".join(["dialogue_id,turn,id,labels", *lines]))
    own = UserFiles(built, [file])
    assert not own.queries
    shown = {note.by for turn in own.beside("2001")[0]["turns"].values() for note in turn}
    assert shown == {"mine: id"}


@pytest.mark.parametrize("config", ["participants", "utterances"])
def test_a_table_of_the_page_comes_back_as_it_went_out(sample_build, tmp_path, config):
    built = parley.open(sample_build / "casino")
    export(built, "csv", tmp_path / "csv")
    own = UserFiles(built, [tmp_path / "csv" / f"{config}-train.csv"])
    shown = [own.beside(str(row["dialogue_id"]))[0] for row in built.rows("dialogues")]
    assert not any(each["facts"] or any(each["turns"].values()) for each in shown)
    assert (len(own.notes), own.queries) == (2, {})  # the rows, and the equal columns


def test_predictions_are_not_compared_with_the_configs(sample_build, tmp_path):
    built, file = parley.open(sample_build / "casino"), tmp_path / "mine.jsonl"
    file.write_text('{"dialogue_id": 2001, "turn": 2, "labels": []}')
    own = UserFiles(built, [file, shutil.copy(file, tmp_path / "other.jsonl")])
    assert [*own.queries] == ["other: labels ≠ mine"]
    assert "strategies" in own.notes[1]


def test_a_value_is_shown_as_the_file_has_it(sample_build, tmp_path):
    values = ["05:00", 9007199254740993, "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11"]
    file = tmp_path / "mine.jsonl"
    file.write_text(json.dumps({"dialogue_id": 2001} | dict(zip("abc", values, strict=True))))
    own = UserFiles(parley.open(sample_build / "casino"), [file])
    assert [text for _, text in own.beside("2001")[0]["facts"]] == [str(each) for each in values]


def test_the_files_of_a_command_are_one_datasets(run, sample_build, tmp_path):
    file = tmp_path / "mine.csv"
    file.write_text("dialogue_id,query_id,turn,x\n1,1,0,a\n")
    for names in (("casino", "duo"), ("cosrec",), ()):
        done = run("browse", *names, "--build", sample_build, "--with", file)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), names
