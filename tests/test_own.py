"""Files of one's own beside the dialogues: `parley browse --with`."""

import pytest

import parley
from parley.base.errors import ParleyError, RecordError
from parley.reading.sql import write

pytest.importorskip("duckdb", reason="the extra `sql` is not installed")
Own = pytest.importorskip("parley.reading.site.own").Own

DAMAGED = {  # what the error says -> files with ID for dialogue_id and ; for a new line
    "no such": """csv:ID,x;9,a csv:ID,turn,x;2001,0,a;2001,99,b csv:ID,turn,x;9,0,a
        csv:ID,turn,x;2001,-1,a csv:ID,turn,x;2001,0.5,a csv:ID,turn,x;2001,,a
        csv:ID,turn,x;,0,a
        csv:ID,turn,x;2001,zero,a csv:ID,speaker,x;2001,agent_1,a csv:ID,speaker,x;2001,,a
        jsonl:{"ID":2001.5,"x":1} jsonl:{"ID":true,"x":1} jsonl:{"ID":[2001],"x":1}
        jsonl:{"ID":{"a":1},"x":1} jsonl:{"ID":"02001","x":1} jsonl:{"ID":null,"x":1}
        jsonl:{"x":1};{"ID":2001,"x":1} jsonl:{"ID":2001,"x":1};{"ID":"2001","x":1}""",
    "repeated, first in row 1": """csv:ID,x;2001,a;2001,b csv:ID,turn,x;2001,0,a;2001,0,a
        csv:ID,speaker,x;2001,mturk_agent_1,a;2002,mturk_agent_1,a;2001,mturk_agent_1,b""",
    "its text differs": """csv:ID,turn,text,x;2001,2,Water.,a csv:ID,turn,text,x;2001,0,,a
        jsonl:{"ID":2001,"turn":0,"text":5,"x":1}""",
    "expected one column of": """csv:x,y;1,2 csv:Dialogue_ID,x;2001,a csv:turn,x;0,a csv:a
        csv: jsonl: jsonl:[2001] jsonl:{} csv:<html>""",
    "0 of 0 rows": "csv:ID,x",
    "no column beside": "csv:ID;2001 csv:ID,turn;2001,0 csv:ID,turn,text;2001,0,a",
    "control characters": "csv:ID,a\x1b[2J;2001,a csv:ID,\u202ea;2001,a",
    "ends in": "xlsx:a",
    "mine.": """jsonl:nonsense jsonl:{"ID":2001,"x":1 jsonl:{"ID":2001,"ID":2002} parquet:a
        csv:ID;\udcff csv.gz:a json:[{"ID":2001]""",
}


@pytest.mark.parametrize(
    ("says", "file"), [(says, file) for says, files in DAMAGED.items() for file in files.split()]
)
def test_a_damaged_file_is_one_clear_error(sample_build, tmp_path, says, file):
    suffix, _, text = file.replace("ID", "dialogue_id").replace(";", "\n").partition(":")
    path = tmp_path / f"mine.{suffix}"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(ParleyError) as error:
        Own(parley.open(sample_build / "casino"), [path])
    assert says in str(error.value)
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
        own = Own(built, files)
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
    assert "whole: chat_logs" not in told  # null
    assert len(told["whole: note"]) == 100_000
    assert "nan" in told["whole: nested"].lower()


LABELS = {  # file, with LABEL and POINTS of ours -> its differences, or None if it is refused
    'csv:ID,turn,labels;2001,0,"[""LABEL""]"': 0,
    "csv:ID,turn,labels;2001,0,LABEL": 0,
    "csv:ID,turn,labels;2001,0.0,LABEL": 0,
    'csv:ID,turn,labels;2001,0,"LABEL, LABEL"': 0,
    "csv:ID,turn,labels;2001,0,uv-part": 1,
    "csv:ID,turn,labels;2001,0,LABEL; uv-part": 1,
    'jsonl:{"ID":2001,"turn":0,"labels":["LABEL"],"note":""}': 0,
    'jsonl:{"ID":2001,"turn":0,"labels":"LABEL","note":"","id":7}': 0,
    'jsonl:{"ID":2001,"turn":0,"labels":["uv-part"]}': 0,  # a prediction, which score compares
    "csv:ID,turn,labels;2001,0,none such": None,
    'csv:ID,turn,labels;2001,0,"{""choices"": [""LABEL""]}"': None,
    'jsonl:{"ID":2001,"turn":0,"labels":{"choices":["LABEL"]},"x":1}': None,
    "csv:ID,turn,Labels;2001,0,LABEL": None,
    "csv:ID,speaker,points_scored;2001,mturk_agent_1,19.5": None,
    "csv:ID,speaker,points_scored;2001,mturk_agent_1,POINTS.0": 0,
    "csv:ID,speaker,deal;2001,mturk_agent_1,perhaps": None,
}


@pytest.mark.parametrize(("file", "differences"), LABELS.items())
def test_a_label_is_compared_as_its_column_declares(sample_build, tmp_path, file, differences):
    built = parley.open(sample_build / "casino")
    label = next(row["labels"] for row in built.named("strategies") if row["turn"] == 0)[0]
    points = str(built.rows("participants")[0]["points_scored"])
    for name, value in {"LABEL": label, "POINTS": points, "ID": "dialogue_id"}.items():
        file = file.replace(name, value)
    suffix, _, text = file.partition(":")
    path = tmp_path / f"mine.{suffix}"
    path.write_text(text.replace(";", "\n", 1) if suffix == "csv" else text)
    if differences is None:
        with pytest.raises(RecordError):
            Own(built, [path])
    else:
        assert len(Own(built, [path]).beside("2001")[1]) == differences


def test_the_files_of_a_command_are_one_datasets(run, sample_build, tmp_path):
    file = tmp_path / "mine.csv"
    file.write_text("dialogue_id,query_id,turn,x\n1,1,0,a\n")
    for names in (("casino", "duo"), ("cosrec",), ()):
        done = run("browse", *names, "--build", sample_build, "--with", file)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), names
