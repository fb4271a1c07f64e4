"""`parley export`: any format that a dataset folder offers."""

import importlib.util
import json
import math
import os
import shutil
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from parley.collection import discover, get
from parley.errors import OutputError, UsageError
from parley.exports.export import export, formats
from parley.folder.built import open_folder


def run(*args, cwd):
    command = [sys.executable, "-m", "parley", "export", *map(str, args)]
    return subprocess.run(command, cwd=cwd, env=dict(os.environ), capture_output=True, text=True)


def test_every_export_is_the_same_in_two_processes(sample_build, tmp_path):
    offered = [(format, name) for name, d in discover().items() for format in formats(d)]
    assert {"convokit", "trec", "croissant", "prompt-completion"} == {f for f, _ in offered}
    if not importlib.util.find_spec("mlcroissant"):  # else it is one line that says what to install
        format, name = next(each for each in offered if each[0] == "croissant")
        done = run(name, format, tmp_path / "none", "--build", sample_build, cwd=tmp_path)
        assert done.returncode == 1
        assert 'Run `pip install "parley-datasets[croissant]"`.' in done.stderr
        offered = [each for each in offered if each[0] != "croissant"]
    for number in (1, 2):  # each a process, in which sets have an order of their own
        environ = {**os.environ, "PYTHONHASHSEED": str(number)}
        program = "; ".join(
            ["from pathlib import Path", "from parley.exports.export import export"]
            + ["from parley.folder.built import open_folder as open"]
            + [
                f"export(open(Path({str(sample_build / name)!r})), {format!r}, "
                f"Path({str(tmp_path / str(number) / name / format)!r}))"
                for format, name in offered
            ]
        )
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, env=environ)
        assert done.returncode == 0, done.stderr
    first, second = (
        {
            path.relative_to(tmp_path / number): path.read_bytes()
            for path in files(tmp_path / number)
        }
        for number in "12"
    )
    assert first == second
    assert {path.parts[:2] for path in first} == {(name, format) for format, name in offered}


def files(folder):
    return [path for path in folder.rglob("*") if path.is_file()]


def test_an_unknown_format_is_an_error_that_lists_the_formats(tmp_path, sample_build):
    with pytest.raises(UsageError, match="duo has no export 'trec'; it has: convokit, "):
        export(open_folder(sample_build / "duo"), "trec", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_export_leaves_an_existing_folder_alone(sample_build, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").write_text("years of work")
    with pytest.raises(OutputError, match="already"):
        export(open_folder(sample_build / "cosrec"), "trec", tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["thesis.tex"]


@pytest.mark.parametrize(
    ("name", "format", "config", "change", "said"),
    [
        (
            "casino",
            "convokit",
            "dialogues",
            {"chat_logs": 5},
            r"dialogues/train\[0\]\.chat_logs: expected a",
        ),
        (
            "duo",
            "convokit",
            "dialogues",
            {"dialogue_id": "x"},
            "the utterance '.* x .*' comes . times",
        ),
        (
            "casino",
            "prompt-completion",
            "messages",
            {"dialogue_id": math.nan},
            r"messages/train\[0\]\.dialogue_id: expected int64, found nan",
        ),
        (
            "casino",
            "prompt-completion",
            "messages",
            {"messages": None},
            "TypeError: 'NoneType' object",
        ),
    ],
)
def test_a_row_that_a_format_cannot_hold_is_an_error(
    sample_build, tmp_path, name, format, config, change, said
):
    build = shutil.copytree(sample_build / name, tmp_path / name)
    (file, *_) = (build / config).glob("*.parquet")
    rows = [row | change for row in pq.read_table(file).to_pylist()]
    pq.write_table(pa.Table.from_pylist(rows), file)
    with pytest.raises(OutputError, match=said):
        export(open_folder(build), format, tmp_path / "out")
    assert not (tmp_path / "out").exists()


OF_MLCROISSANT = pytest.mark.filterwarnings("ignore::DeprecationWarning")
TURNS = {
    "casino": ("dialogues", "chat_logs", "text"),
    "cosrec": ("dialogues", "turns", "text"),
    "craigslist_bargains": ("negotiations", "events", "text"),
    "duo": ("dialogues", "dialogue", "message"),
}


@pytest.fixture(params=["sample_build", "real_build"])
def built(request):
    """Builds of the samples, then of the available real data."""
    return request.getfixturevalue(request.param)


@pytest.mark.parametrize("name", TURNS)
def test_a_convokit_corpus_holds_every_turn_in_its_place(name, built, tmp_path):
    folder = open_folder(built / name)
    export(folder, "convokit", tmp_path / "out")
    whole = {
        part: json.loads((tmp_path / "out" / f"{part}.json").read_text(encoding="ascii"))
        for part in ("speakers", "conversations", "index")
    }
    lines = (tmp_path / "out" / "utterances.jsonl").read_text(encoding="ascii").splitlines()
    utterances = {u["id"]: u for u in map(json.loads, lines)}
    assert len(utterances) == len(lines)
    config, turns, text = TURNS[name]
    rows = [row for split in folder.splits(config) for row in folder.rows(config, split)]
    assert [u["text"] for u in utterances.values()] == [
        t[text] or "" for r in rows for t in r[turns]
    ]
    assert len(whole["conversations"]) == len(rows)
    assert {u["speaker"] for u in utterances.values()} == set(whole["speakers"])
    assert {u["conversation_id"] for u in utterances.values()} == set(whole["conversations"])
    for each in utterances.values():
        if each["reply-to"] is None:
            assert each["id"] == each["conversation_id"]
        else:
            assert utterances[each["reply-to"]]["conversation_id"] == each["conversation_id"]
        assert set(each["meta"]) <= set(whole["index"]["utterances-index"])


def test_every_turn_of_the_assistant_has_its_prompt(dataset, sample_build, tmp_path):
    folder = open_folder(sample_build / dataset.name)
    export(folder, "prompt-completion", tmp_path / "out")
    for split in folder.splits("messages"):
        lines = (tmp_path / "out" / f"{split}.jsonl").read_text(encoding="utf-8").splitlines()
        found = [json.loads(line) for line in lines]
        due = [
            (row, turn)
            for row in folder.rows("messages", split)
            for turn, message in enumerate(row["messages"])
            if message["role"] == "assistant"
        ]
        assert len(found) == len(due)
        for line, (row, turn) in zip(found, due, strict=True):
            assert line.pop("prompt") + line.pop("completion") == row["messages"][: turn + 1]
            assert line == {key: row[key] for key in dataset.configs["messages"].keys} | {
                "turn": turn
            }


def test_export_names_a_split_that_the_folder_lost(sample_build, tmp_path):
    folder = shutil.copytree(sample_build / "casino", tmp_path / "casino")
    shutil.rmtree(folder / "utterances")
    with pytest.raises(OutputError, match="has lost utterances/train"):
        export(open_folder(folder), "convokit", tmp_path / "out")


@OF_MLCROISSANT
def test_croissant_loads_every_config(dataset, sample_build, tmp_path):
    mlcroissant = pytest.importorskip("mlcroissant", reason="mlcroissant is not installed")
    folder = open_folder(sample_build / dataset.name)
    names = export(folder, "croissant", tmp_path / "out")
    assert names == sorted(p.relative_to(tmp_path / "out").as_posix() for p in files(tmp_path))
    described = mlcroissant.Dataset(jsonld=tmp_path / "out" / "croissant.json")
    assert not described.metadata.ctx.issues.errors
    sets = {each.name: each for each in described.metadata.record_sets}
    assert list(sets) == list(dataset.splits)
    for config in dataset.configs:
        rows = [row for s in sorted(folder.splits(config)) for row in folder.rows(config, s)]
        records = list(described.records(config))
        assert len(records) == len(rows)
        named = {field.name for field in sets[config].fields}
        left_out = set(dataset.features(config)) - named
        assert all(column in sets[config].description for column in left_out)
        for column in named:
            first = rows[0][column]
            if isinstance(first, str | int | float):
                values = [record[f"{config}/{column}"] for record in records]
                values = [v.decode() if isinstance(v, bytes) else v for v in values]
                assert values == [row[column] for row in rows]


@OF_MLCROISSANT
def test_croissant_names_sources_and_figures(sample_build, real_build, tmp_path):
    pytest.importorskip("mlcroissant", reason="mlcroissant is not installed")
    export(open_folder(real_build / "casino"), "croissant", tmp_path / "out")
    described = json.loads((tmp_path / "out" / "croissant.json").read_text(encoding="utf-8"))
    pin = get("casino").pins["data/casino.json"]
    (upstream,) = (d for d in described["distribution"] if d["name"] == "data/casino.json")
    assert (upstream["contentUrl"], upstream["sha256"]) == (pin["url"], pin["sha256"])
    for property in ("dataCollection", "dataAnnotationProtocol", "personalSensitiveInformation"):
        assert len(described[f"rai:{property}"]) > 100
    figures = {figure["name"]: figure for figure in described["variableMeasured"]}
    assert figures["number_of_dialogues"]["value"] == "1030"
    assert figures["number_of_dialogues"]["description"] == "documented 1030: matches"
