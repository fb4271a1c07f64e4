"""Scoring through an invented dataset: what a file must hold, and what comes of it."""

import bz2
import gzip
import io
import itertools
import json
import lzma
import os
import re
import shutil
import signal
import sys
import tarfile
import threading
from contextlib import suppress
from types import SimpleNamespace

import pytest
from test_fifth_dataset import CARD, SAMPLE, SCRIPT

from parley.build import build
from parley.cli import main
from parley.collection import Dataset
from parley.errors import RecordError, UsageError
from parley.folder.built import find_folder
from parley.scoring import predictions
from parley.scoring.evaluate import score
from parley.scoring.leaderboard import BEGIN, END
from parley.scoring.prediction_formats import Run
from parley.scoring.predictions import read, validate_predictions
from parley.source.files import open_source
from parley.tasks import OWN_OPTIONS, tasks_of

TASKS = '''"""Tasks of an invented dataset."""

from parley.figures import Data
from parley.scoring.prediction_formats import TREC_RUN
from parley.scoring.spread import Folds
from parley.tasks import Reference, Score, Task, Undefined
from parley.errors import Problem


def turns(data: Data):
    return {
        (row["id"], number): text
        for row in data.rows("dialogues", "train")
        for number, text in enumerate(row["turns"])
    }


def score(gold, predictions, unit):
    right = [p["words"] == len(gold[key].split()) for key, p in predictions.items()]
    order = "".join(f"{name}{turn}" for name, turn in predictions)
    return Score(
        {"right": sum(right) / len(right), "by_side": {"left": 0.25, "none": Undefined("no side")}},
        {"right": Folds(0.125)},
        {"turns": len(right), order: len(order), unit: 1},
    )


def validate(prediction, text):
    if prediction["words"] > 100:
        yield Problem("words", "at most 100", str(prediction["words"]))


def ones(data, unit):
    return [{"id": name, "turn": turn, "words": 1} for name, turn in turns(data)]


def lazy(data, unit):
    import sklearn_that_nobody_has


TASKS = {
    "words": Task(
        summary="the number of words",
        evaluated_on="all turns",
        configs=("dialogues",),
        fields={"id": "the dialogue", "turn": "its turn", "words": "how many"},
        shape={"id": str, "turn": int, "words": int},
        key=("id", "turn"),
        example={"id": "one", "turn": 0, "words": 3},
        metrics={"right": "share", "by_side": "the same a side"},
        gold=lambda data, unit: turns(data),
        score=score,
        validate=validate,
        baselines={"ones": ones, "none": lambda data, unit: [], "lazy": lazy},
        references=(
            Reference("a paper's", {"right": "0.9"}, "paper, Table 1", "on other turns"),
            Reference("letters", {"right": "0.1"}, "paper, Table 2", options={"unit": "letters"}),
        ),
        options={"unit": ("words", "letters")},
    ),
    "run": Task(
        summary="an order of the turns",
        evaluated_on="the dialogues",
        configs=("dialogues",),
        fields={"query_id": "the dialogue", "document_id": "a turn", "score": "its score"},
        shape={"query_id": str, "document_id": str, "score": float},
        key=("query_id", "document_id"),
        required=("query_id",),
        example={"query_id": "one", "document_id": "d1", "score": 0.5},
        metrics={"lines": "how many"},
        gold=lambda data: {(row["id"],): row for row in data.rows("dialogues", "train")},
        score=lambda gold, predictions: Score({"lines": len(predictions)}),
        format=TREC_RUN,
    ),
}
'''
GOOD = [
    {"id": "one", "turn": 0, "words": 1},
    {"id": "one", "turn": 1, "words": 1},
    {"id": "two", "turn": 0, "words": 2},
]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a dataset `chatter` in `more` and its build in `build`."""
    place = tmp_path_factory.mktemp("place")
    folder = place / "more" / "chatter"
    (folder / "sample").mkdir(parents=True)
    (folder / "chatter.py").write_text(SCRIPT)
    (folder / "README.md").write_text(CARD)
    (folder / "tasks.py").write_text(TASKS)
    (folder / "sample" / "chatter.txt").write_text(SAMPLE)
    build(open_source(Dataset("chatter", folder), None, sample=True), place / "build")
    return place


@pytest.fixture
def run(place, tmp_path, monkeypatch, capfd):
    """Run a command in a folder in which `build` is that of the invented dataset."""
    monkeypatch.setattr(signal, "signal", lambda *args: None)
    (tmp_path / "build").symlink_to(place / "build")

    def run(*args, text="", more=place / "more", cwd=tmp_path):
        monkeypatch.chdir(cwd)
        monkeypatch.setenv("PARLEY_DATASETS", str(more))
        monkeypatch.setattr(sys, "argv", ["parley", *args])
        with piped(text if isinstance(text, bytes) else text.encode()) as stdin:
            monkeypatch.setattr(sys, "stdin", stdin)
            with pytest.raises(SystemExit) as ended:
                main()
        out, err = capfd.readouterr()
        return SimpleNamespace(returncode=ended.value.code, stdout=out, stderr=err)

    return run


def piped(data):
    """Return the end of a pipe to read `data` from."""
    read, write = os.pipe()

    def fill():
        with os.fdopen(write, "wb") as file, suppress(BrokenPipeError):
            file.write(data)

    threading.Thread(target=fill, daemon=True).start()
    return os.fdopen(read)


def lines(predictions):
    return "".join(json.dumps(each) + "\n" for each in predictions)


def test_a_file_is_scored_in_any_order_compressed_or_from_a_pipe(run, tmp_path):
    found = []
    for text in (GOOD, GOOD[::-1]):
        for packed in (bytes, gzip.compress):
            data = packed(lines(text).encode())
            (tmp_path / "mine").write_bytes(data)
            for args, piped in ((("mine",), b""), (("-",), data)):
                done = run("score", "chatter", "words", *args, "--json", text=piped)
                assert done.returncode == 0, done.stderr
                found.append(json.loads(done.stdout))
    for each in found:
        each.pop("predictions")
    assert found == [found[0]] * 8
    assert found[0] == {
        "dataset": "chatter",
        "task": "words",
        "options": {"unit": "words"},
        "sample": True,
        "unit": "fraction",
        "metrics": {"right": 2 / 3, "by_side": {"left": 0.25, "none": None}},
        "undefined": {"by_side": {"none": "no side"}},
        "spread": {"right": {"sd": 0.125}},
        "counts": {"turns": 3, "one0one1two0": 12, "words": 1},
        "moved": [],
        "references": [
            {
                "name": "a paper's",
                "metrics": {"right": "0.9"},
                "place": "paper, Table 1",
                "note": "on other turns",
            }
        ],
    }


def test_the_table_shows_the_score_and_what_it_rests_on(run):
    shown = run("score", "chatter", "words", "-", text=lines(GOOD)).stdout
    assert "sample, not the dataset" in shown
    assert shown.startswith("chatter words --unit words: standard input\n")
    rows = [line.split() for line in shown.splitlines()]
    for row in (
        ["this", "0.667"],
        ["±", "0.125"],
        ["a", "paper's", "[1]", "0.9"],
        ["this", "0.250", "undefined"],
    ):
        assert row in rows
    assert "by_side none: undefined, no side" in shown
    assert "±: the sample SD over folds" in shown
    assert "[1] paper, Table 1; on other turns" in shown
    assert "letters" not in shown
    letters = run("score", "chatter", "words", "-", "--unit", "letters", text=lines(GOOD)).stdout
    assert "paper, Table 2" in letters


BAD = {
    "a field is missing": ('{"id": "one", "turn": 0}', 'line 1 (id "one", turn 0): words: missing'),
    "a field too many": (
        '{"id": "one", "turn": 0, "words": 1, "x": 2}',
        'line 1 (id "one", turn 0): x: unknown field, found 2',
    ),
    "a wrong type": (
        '{"id": "one", "turn": 0, "words": 1.5}',
        'line 1 (id "one", turn 0): words: expected an integer, found 1.5',
    ),
    "a key of a wrong type": (
        '{"id": "one", "turn": true, "words": 1}',
        "turn: expected an integer, found true",
    ),
    "out of range": (
        '{"id": "one", "turn": 0, "words": 101}',
        'line 1 (id "one", turn 0): words: expected at most 100, found 101',
    ),
    "an unknown key": (
        '{"id": "nine", "turn": 0, "words": 1}',
        'line 1 (id "nine", turn 0): there is no such id and turn to predict',
    ),
    "no object": ("1", "line 1: expected an object, found 1"),
    "no JSON": ("{id: 1}", "line 1: invalid JSON: "),
    "not UTF-8": (b'{"id": "\xff"}', "line 1: invalid UTF-8: the byte 0xff"),
    "not finite": (
        '{"id": "one", "turn": 0, "words": NaN}',
        'line 1 (id "one", turn 0): words: NaN is not JSON',
    ),
    "infinite": ('{"id": "one", "turn": 0, "words": 1e999}', "the number 1e999 is too large"),
    "a huge integer": (
        f'{{"id": "one", "turn": 0, "words": {"9" * 5000}}}',
        "line 1: words: the number 999999999999999999999999999999 is too large",
    ),
    "nested deeply": (f'{{"id": {"[" * 90_000}', "invalid JSON: nested too deeply at column"),
    "a lone surrogate": (
        '{"id": "one", "turn": 0, "words": "\\ud800"}',
        "line 1 (id \"one\", turn 0): words: '\\ud800' is a lone surrogate",
    ),
    "a byte order mark": ('\ufeff{"id": "one"}', "line 1: invalid JSON: unexpected BOM"),
    "a key of JSON twice": (
        '{"id": "one", "turn": 0, "words": 1, "words": 2}',
        "line 1 (id \"one\", turn 0): words: the key 'words' appears twice",
    ),
    "an empty line": ("", "line 1: expected a prediction, found an empty line"),
    "text that acts on a terminal": ('{"\\u001b[2J": 1}', "\\x1b[2J: unknown field, found 1"),
    "text that forges a line": ('{"a\\nb": 1}', "a\\nb: unknown field, found 1"),
}


@pytest.mark.parametrize(("line", "message"), BAD.values(), ids=list(BAD))
def test_what_is_wrong_is_named_by_line_and_key(run, line, message):
    line = line if isinstance(line, bytes) else line.encode()
    done = run("score", "chatter", "words", "-", text=line + b"\n")
    assert (done.returncode, done.stdout) == (1, "")
    assert message in done.stderr
    assert "standard input: cannot be scored" in done.stderr


def test_all_problems_of_a_file_are_told_at_once(run):
    text = lines([GOOD[0], GOOD[0], {**GOOD[1], "words": "1"}]) + "nothing\n"
    done = run("score", "chatter", "words", "-", text=text)
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "standard input: cannot be scored as JSON Lines, 1 of 3 predictions are missing:",
        '  line 2 (id "one", turn 0): stands twice, first in line 1',
        '  line 3 (id "one", turn 1): words: expected an integer, found "1"',
        "  line 4: invalid JSON: Expecting value at column 1",
        '  id "two", turn 0: missing',
        "  build/chatter is built of the sample, not of the dataset.",
    ]


def test_the_same_cause_is_told_once_with_its_count_and_first_places(run):
    wrong = [{**each, "more": number} for number, each in enumerate(GOOD * 4)]
    text = lines(wrong) + lines([{**GOOD[1], "words": "a"}]) + "{}\n"
    done = run("score", "chatter", "words", "-", text=text)
    assert done.stderr.splitlines()[:-1] == [
        "standard input: cannot be scored as JSON Lines:",
        '  line 1 (id "one", turn 0); line 2 (id "one", turn 1); line 3 (id "two", turn 0) '
        "and 9 more: more: unknown field, found 0, 1, 2",
        '  line 13 (id "one", turn 1): words: expected an integer, found "a"',
        "  line 14: id: missing, expected a string",
        "  line 14: turn: missing, expected an integer",
        "  line 14: words: missing, expected an integer",
    ]
    run_of_none = run("score", "chatter", "words", "--baseline", "none")
    places = 'id "one", turn 0; id "one", turn 1; id "two", turn 0'
    assert f"  {places}: missing" in run_of_none.stderr.splitlines()


def test_a_flood_of_problems_is_cut(run, monkeypatch):
    various = "".join(f'{{"{chr(97 + n) * 9}": 1}}\n' for n in range(26))
    done = run("score", "chatter", "words", "-", text=various * 100)
    assert len(done.stderr.splitlines()) == 23
    assert "the first 20 problems; there may be more" in done.stderr
    monkeypatch.setattr(predictions, "_MOST_WRONG", 1000)
    done = run("score", "chatter", "words", "-", text="x\n" * 3000)
    (_, told, over, _) = done.stderr.splitlines()
    assert told.startswith("  line 1; line 2; line 3 and 997 more: invalid JSON")
    assert over == "  1,000 lines are wrong; nothing was read beyond"


def test_no_more_is_read_than_is_told(place, monkeypatch):
    task = tasks_of(Dataset("chatter", place / "more" / "chatter"))["words"]
    monkeypatch.setattr(predictions, "_MOST_WRONG", 50)
    endless = itertools.count()
    with pytest.raises(RecordError):
        validate_predictions(endless, task, {("one", 0): "Hi!"}, "numbers")
    assert next(endless) == 50


def test_a_file_that_unpacks_without_end_is_read_no_further(run, monkeypatch):
    """Each line of it is sound, so that only its size can end it."""
    monkeypatch.setattr(predictions, "_LARGEST", 1_000_000)
    text = "".join(f"one Q0 {number} 1 1 x\n" for number in range(400_000)).encode()
    done = run("score", "chatter", "run", "-", text=gzip.compress(text))
    (_, problem, _) = done.stderr.splitlines()
    assert problem == "  it has more than 1,000,000 bytes; nothing was read beyond"


def tar(data):
    """Return an archive of one file."""
    with io.BytesIO() as out:
        with tarfile.open(fileobj=out, mode="w") as archive:
            archive.addfile(tarfile.TarInfo("mine.jsonl"), io.BytesIO(data))
        return out.getvalue()


OTHERS = {
    "a list": (json.dumps(GOOD).encode(), "it is one JSON text: write each prediction as an"),
    "a list over lines": (json.dumps(GOOD, indent=1).encode(), "it is one JSON text"),
    "xz": (lzma.compress(b"{}"), "it is compressed with xz: decompress it"),
    "zstd": (b"\x28\xb5\x2f\xfd\x04", "it is compressed with zstd"),
    "lz4": (b"\x04\x22\x4d\x18d", "it is compressed with lz4"),
    "bzip2": (bz2.compress(b"{}"), "it is compressed with bzip2"),
    "zip": (b"PK\x03\x04", "it is a zip archive: name a file"),
    "7z": (b"7z\xbc\xaf\x27\x1c", "it is a 7z archive"),
    "tar": (tar(b"{}"), "it is a tar archive"),
    "a compressed tar": (gzip.compress(tar(b"{}")), "it is a tar archive"),
    "gzip twice": (gzip.compress(gzip.compress(b"{}")), "it is compressed twice"),
    "Parquet": (b"PAR1\x15\x04", "it is Parquet: write a line of text"),
    "Arrow": (b"ARROW1\0\0", "it is Arrow data"),
    "UTF-16": (lines(GOOD).encode("utf-16"), "it is in UTF-16"),
    "nothing": (b"", "it is empty"),
}


@pytest.mark.parametrize(("data", "message"), OTHERS.values(), ids=list(OTHERS))
@pytest.mark.parametrize("task", ["words", "run"])
def test_what_is_no_file_of_predictions_is_named(run, task, data, message):
    if message.startswith("it is one JSON text") and task == "run":
        message = "expected six fields"
    done = run("score", "chatter", task, "-", text=data)
    assert (done.returncode, done.stdout) == (1, "")
    assert f"  {message}" in done.stderr or f": {message}" in done.stderr
    if not message.startswith("expected"):
        assert len(done.stderr.splitlines()) == 3


def test_a_topic_may_be_named_as_such_a_file_begins(run, place, tmp_path):
    for name in ("PAR1", "PK", "BZh"):
        done = run("score", "chatter", "run", "-", text=f"{name} Q0 d 1 1.0 x\n")
        assert "there is no such query_id to predict" in done.stderr


def test_of_a_line_without_end_nothing_more_is_said(run):
    done = run("score", "chatter", "words", "/dev/zero")
    (_, problem, _) = done.stderr.splitlines()
    assert problem == "  line 1: has 1,000,000 bytes or more; nothing was read beyond it"


def test_a_closed_standard_input_is_an_error(place, monkeypatch):
    task = tasks_of(Dataset("chatter", place / "more" / "chatter"))["words"]
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(UsageError, match="standard input is closed; name a file"):
        read("-", task, {})


def test_damaged_gzip_is_named(run):
    done = run("score", "chatter", "words", "-", text=gzip.compress(lines(GOOD).encode())[:-9])
    assert done.returncode == 1
    assert "damaged gzip data: Compressed file ended" in done.stderr
    assert "compress or copy it again" in done.stderr


def test_what_stands_before_the_damage_is_named_too(run):
    text = f"nonsense{' ' * 300_000}\n{lines(GOOD)}".encode()
    done = run("score", "chatter", "words", "-", text=gzip.compress(text)[:-9])
    message, first, damage, _ = done.stderr.splitlines()
    assert message.endswith("standard input: cannot be scored as JSON Lines:")
    assert first.startswith("  line 1: invalid JSON")
    assert damage.startswith("  damaged gzip data")


def test_true_is_no_key_that_is_one(run):
    text = lines([{**GOOD[1], "turn": True}, *GOOD[::2]])
    done = run("score", "chatter", "words", "-", text=text)
    assert 'id "one", turn 1: missing' in done.stderr


RUNS = {
    "five fields": ("one Q0 d1 1 0.5", "expected six fields, QUERY Q0 DOCUMENT RANK SCORE TAG"),
    "no rank": ("one Q0 d1 first 0.5 x", 'rank: expected a whole number, found "first"'),
    "no number": ("one Q0 d1 1 0,5 x", 'score: expected a finite number, found "0,5"'),
    "a byte order mark": ("\ufeffone Q0 d1 1 0.5 x", "unexpected BOM, a byte order mark"),
    "not finite": (
        "one Q0 d1 1 nan x",
        'line 1 (query_id "one", document_id "d1"): score: expected a finite number, found "nan"',
    ),
    "infinite": ("one Q0 d1 1 1e999 x", 'score: expected a finite number, found "1e999"'),
    "unknown": (
        "six Q0 d1 1 0.5 x",
        'line 1 (query_id "six", document_id "d1"): there is no such query_id to predict',
    ),
    "twice": (
        "one Q0 d1 1 0.5 x\none Q0 d1 2 0.4 x",
        'line 2 (query_id "one", document_id "d1"): stands twice, first in line 1',
    ),
    "missing": ("one Q0 d1 1 0.5 x", 'query_id "two": missing'),
    "a hit beside none": (
        "one Q0 - 1 0 x\none Q0 d1 1 0.5 x",
        'line 2 (query_id "one", document_id "d1"): stands beside line 1, though - says',
    ),
    "none beside a hit": ("one Q0 d1 1 0.5 x\none Q0 - 1 0 x", "stands beside line 1, though -"),
}


@pytest.mark.parametrize(("text", "message"), RUNS.values(), ids=list(RUNS))
def test_what_is_wrong_with_a_run_is_named(run, text, message):
    done = run("score", "chatter", "run", "-", text=text + "\n")
    assert (done.returncode, done.stdout) == (1, "")
    assert message in done.stderr


def test_a_run_is_scored(run):
    text = "two Q0 d\u00a02 1 -.5e-3 x\none\tQ0 d1 1 2 x\r\none Q0 d3 2 1. x\n"
    done = run("score", "chatter", "run", "-", "--json", text=text)
    assert json.loads(done.stdout)["metrics"] == {"lines": 3}, done.stderr


ODD = {
    "sound": "one Q0 d1 1 0.5 x",
    "spaces": " one\t Q0  d1 01 +5.e-1 x\r",
    "wide spaces": "one Q0 d\u00a0\u2003 1 0.5 x",
    "a zero byte": "one Q0 d1 1 0.5 \0",
    "fields of another line": "one Q0 d1 1 0.5\nx one Q0 d2 1 0.5 x",
    "no fields": "",
    "an underscore": "one Q0 d1 1 0_5 x",
    "other digits": "one Q0 d1 \u0663 0.5 x",
    "a byte order mark": "\ufeffone Q0 d1 1 0.5 x",
    "no UTF-8": b"one Q0 d1 1 0.5 \xff",
    "not finite": "one Q0 d1 1 1e999 x",
    "a sign": "one Q0 d1 1 + x",
    "twice": "two Q0 d3 1 0.5 x",
    "none": "one Q0 - 1 0.5 x",
    "unknown": "six Q0 d1 1 0.5 x",
}


@pytest.mark.parametrize("odd", ODD.values(), ids=list(ODD))
@pytest.mark.parametrize("before", [0, 3, 30])
def test_many_lines_at_once_are_read_as_one_by_one(place, tmp_path, monkeypatch, odd, before):
    monkeypatch.setattr(predictions, "_AT_ONCE", 200)
    task = tasks_of(Dataset("chatter", place / "more" / "chatter"))["run"]
    file = tmp_path / "run"
    sound = b"".join(b"two Q0 d%d %d -%d x\n" % (n, n, n) for n in range(before))
    file.write_bytes(sound + (odd if isinstance(odd, bytes) else odd.encode()) + b"\n")

    def found():
        try:
            made = read(str(file), task, {("one",): 1, ("two",): 2} if before else {("one",): 1})
        except RecordError as error:
            return str(error)
        return list(made.items())

    quick = found()
    monkeypatch.setattr(Run, "keep_all", lambda *_: set())
    assert quick == found()


def test_what_a_baseline_predicts_can_be_kept_and_scores_the_same(run, tmp_path):
    args = ("score", "chatter", "words", "--unit", "letters", "--json")
    done = run(*args, "--baseline", "ones", "--save-predictions", "kept.jsonl")
    assert done.returncode == 0, done.stderr
    kept = (tmp_path / "kept.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in kept] == [{**each, "words": 1} for each in GOOD]
    again = json.loads(run(*args, "kept.jsonl").stdout)
    assert again | {"predictions": "baseline ones"} == json.loads(done.stdout)
    once_more = run(*args, "--baseline", "ones", "--save-predictions", "kept.jsonl")
    assert once_more.returncode == 1
    assert "kept.jsonl: already exists" in once_more.stderr
    nowhere = run(*args, "--baseline", "ones", "--save-predictions", "nowhere/kept.jsonl")
    assert nowhere.returncode == 1
    assert "nowhere/kept.jsonl: there is no folder nowhere to make it in" in nowhere.stderr


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "0.5"])
@pytest.mark.parametrize("document", ["d1", "d 1"])
def test_a_baseline_predicts_nothing_that_no_file_could_hold(place, value, document):
    task = tasks_of(Dataset("chatter", place / "more" / "chatter"))["run"]
    made = [{"query_id": "one", "document_id": document, "score": value}]
    with pytest.raises(RecordError, match=r"prediction 1.*(score: expected|found 7)"):
        validate_predictions(made, task, {("one",): None}, "made")
    assert len(
        validate_predictions(
            [made[0] | {"document_id": "d1", "score": 1.0}], task, {("one",): None}, ""
        )
    )


def test_one_thing_is_scored(place):
    built = find_folder(place / "build", Dataset("chatter", place / "more" / "chatter"))
    for given in ({}, {"file": "-", "baseline": "ones"}, {"file": "-", "keep": place / "kept"}):
        with pytest.raises(UsageError, match="either predictions or a baseline"):
            score(built, "words", {}, **given)


@pytest.mark.parametrize(
    ("args", "status", "message"),
    [
        (("nothing",), 2, "chatter has no task 'nothing'; there are: words, run"),
        (("words",), 2, "scores either FILE or a --baseline. Baselines: ones, none, lazy"),
        (("words", "-", "--baseline", "ones"), 2, "scores either FILE or a --baseline"),
        (("words", "--baseline", "best"), 2, "no baseline 'best'; there are: ones, none, lazy"),
        (("words", "-", "--unit", "lines"), 2, "no such value; there are: words, letters"),
        (("words", "-", "--unit", "x", "--build", "x"), 2, "there are: words, letters"),
        (("words", "-", "--part", "x"), 2, "No such option: --part. There are: --build"),
        (("run", "-", "--unit", "words"), 2, "No such option"),
        (("words", "-", "--save-predictions", "out"), 2, "a --baseline"),
        (("words", "-", "--template"), 2, "--template scores nothing: leave FILE and"),
        (("words", "--baseline", "ones", "--template"), 2, "--template scores nothing"),
        (("words", "nowhere"), 1, "nowhere: No such file or directory"),
        (("words", "-", "--build", "x"), 2, "Run `parley build chatter --build x` first"),
        (("words", "--baseline", "none"), 1, "3 of 3 predictions are missing"),
        (("words", "--baseline", "lazy"), 1, "chatter/tasks.py fails on build"),
    ],
)
def test_what_cannot_be_asked_for_is_answered_with_what_can(run, tmp_path, args, status, message):
    done = run("score", "chatter", *args)
    assert (done.returncode, done.stdout) == (status, "")
    assert message in done.stderr
    assert not (tmp_path / "out").exists()


def test_the_template_says_what_a_file_holds(run, place, tmp_path):
    found = json.loads(run("score", "chatter", "words", "--template", "--json").stdout)
    assert (found["due"], found["sample"]) == (3, True)
    assert found["example"].keys() == found["fields"].keys()
    shown = run("score", "chatter", "words", "--template").stdout
    assert "one for each id and turn, 3 in all; scored on all turns\n" in shown
    assert json.dumps(found["example"]) in shown.splitlines()
    assert "a sample, not the dataset" in shown
    elsewhere = run("score", "chatter", "run", "--template", cwd=place)
    assert "one Q0 d1 1 0.5 parley" in elsewhere.stdout.splitlines()
    assert "one or more for each of 2 query_id; scored on the dialogues\n" in elsewhere.stdout
    unbuilt = run("score", "chatter", "words", "--template", "--build", "nowhere").stdout
    assert "one for each id and turn; scored on all turns\n" in unbuilt
    assert "a sample" not in unbuilt


def test_tasks_are_listed(run):
    (words, _) = json.loads(run("tasks", "chatter", "--json").stdout)
    assert (words["dataset"], words["task"]) == ("chatter", "words")
    assert words["options"] == {"unit": ["words", "letters"]}
    shown = run("tasks", "chatter").stdout
    assert ["predicted", "the", "number", "of", "words"] in map(str.split, shown.splitlines())
    assert "ones, none, lazy" in shown


def test_a_page_is_renewed_between_its_marks_and_only_there(run, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"# Before\n\n{BEGIN}\nold\n{END}\n\nafter\n")
    assert run("tasks", "chatter", "--update", "page.md").returncode == 0
    text = page.read_text()
    assert text.startswith(f"# Before\n\n{BEGIN}\n\n### `chatter words`\n")
    assert text.endswith(f"{END}\n\nafter\n")
    assert "\nold\n" not in text
    assert "    parley score chatter words FILE [--unit words|letters]\n" in text
    rows = [line for line in text.splitlines() if line.startswith("| ") and "paper" in line]
    assert rows == [
        "| a paper's [1] | 0.9 | paper, Table 1 |",
        "| letters `--unit letters` | 0.1 | paper, Table 2 |",
    ]
    assert "[1] on other turns" in text
    run("tasks", "chatter", "--update", "page.md")
    assert page.read_text() == text
    for bad in ("# Page\n", f"{END}\n{BEGIN}\n", f"{BEGIN}\n{BEGIN}\n{END}\n"):
        page.write_text(bad)
        done = run("tasks", "chatter", "--update", "page.md")
        assert done.returncode == 1
        assert f"page.md: expected the lines {BEGIN} and {END} once each" in done.stderr
        assert page.read_text() == bad


BROKEN = {
    "cannot be imported": ("import nothing_like_it", "cannot be imported: ModuleNotFoundError"),
    "holds no task": ("TASKS = {'words': 1}", "TASKS['words']: expected a Task, found int"),
    "holds no dict": ("TASKS = 1", "defines no dict TASKS"),
    "an example of other fields": (
        TASKS.replace('"one", "turn": 0', '"one", "tern": 0'),
        "TASKS['words'].example: expected fields of ['id', 'turn', 'words'], found ['tern']",
    ),
    **{
        f"a reference of {number}": (
            TASKS.replace('{"right": "0.9"}', f'{{"right": {number}}}'),
            "TASKS['words'].references, a paper's, right: expected a finite number",
        )
        for number in ("float('nan')", "'inf'", "'1e999'", "'a few'")
    },
    **{
        f"an option named {option}": (
            TASKS.replace('options={"unit": (', f'options={{"{option}": ('),
            f"TASKS['words'].options: --{option} is an option of `parley score` itself",
        )
        for option in OWN_OPTIONS
    },
}


@pytest.mark.parametrize(("text", "message"), BROKEN.values(), ids=list(BROKEN))
def test_broken_tasks_break_nothing_else(run, place, tmp_path, text, message):
    folder = tmp_path / "broken" / "chatter"
    shutil.copytree(place / "more" / "chatter", folder)
    (folder / "tasks.py").write_text(text)
    for args in (("tasks",), ("score", "chatter", "words", "-")):
        done = run(*args, more=folder.parent)
        assert done.returncode == 1
        assert message in done.stderr
        assert "chatter/tasks.py" in done.stderr
    for args in (("score", "--help"), ("show", "chatter", "--sample")):
        assert run(*args, more=folder.parent).returncode == 0


def test_an_option_may_have_the_name_of_an_argument(run, place, tmp_path):
    folder = tmp_path / "other" / "chatter"
    shutil.copytree(place / "more" / "chatter", folder)
    (folder / "tasks.py").write_text(TASKS.replace("unit", "file"))
    args = ("score", "chatter", "words", "-", "--file", "letters", "--json")
    done = run(*args, text=lines(GOOD), more=folder.parent)
    assert json.loads(done.stdout)["options"] == {"file": "letters"}, done.stderr


def test_the_own_options_of_the_command_are_those_that_it_has(run):
    shown = run("score", "chatter", "words", "--help").stdout
    assert {*re.findall(r"^ +(?:-h, )?--([\w-]+)", shown, re.MULTILINE)} == {*OWN_OPTIONS, "unit"}


SCORES = {
    "no score": ("return Score(\n", "return dict(\n"),
    "a number that is none": ('"left": 0.25', '"left": float("nan")'),
    "a spread that is none": ("Folds(0.125)", "Folds(float('inf'))"),
    "a spread of nothing": ('{"right": Folds(0.125)}', '{"left": Folds(0.125)}'),
    "a count that is none": ("unit: 1}", "unit: float('nan')}"),
    "an error": ("return Score(\n", "return gold['nothing'](\n"),
}


@pytest.mark.parametrize(("old", "new"), SCORES.values(), ids=list(SCORES))
def test_a_score_that_is_none_is_an_error_of_the_script(run, place, tmp_path, old, new):
    folder = tmp_path / "broken" / "chatter"
    shutil.copytree(place / "more" / "chatter", folder)
    assert old in TASKS
    (folder / "tasks.py").write_text(TASKS.replace(old, new))
    for args in (("-",), ("--baseline", "ones", "--save-predictions", "kept.jsonl")):
        done = run("score", "chatter", "words", *args, text=lines(GOOD), more=folder.parent)
        assert (done.returncode, done.stdout) == (1, "")
        assert "chatter/tasks.py" in done.stderr
    assert not (tmp_path / "kept.jsonl").exists()  # the same command, mended, does it all


def test_too_little_memory_is_a_message(run, place, tmp_path):
    folder = tmp_path / "large" / "chatter"
    shutil.copytree(place / "more" / "chatter", folder)
    grow = "    raise MemoryError\n    right = ["
    (folder / "tasks.py").write_text(TASKS.replace("    right = [", grow))
    done = run("score", "chatter", "words", "-", text=lines(GOOD), more=folder.parent)
    assert done.returncode == 1
    assert done.stderr.startswith("there is not enough memory")
