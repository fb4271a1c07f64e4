import json
import os
import shutil
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from parley.build import build
from parley.collection import get
from parley.errors import RecordError
from parley.rows.reader import Reader
from parley.rows.strict_json import loads
from parley.shapes import fitter, problems
from parley.source.files import Source

SHAPE = {
    "id": str,
    "score": (int, float, None),
    "label?": {"good", "bad"},
    "turns": [{"speaker": {"a", "b"}, "text": str}],
    "users": {str: [str]},
}
NUMBER = {"n": int}
A_NUMBER = "expected an integer or a number with a decimal point or null"
GOOD = {"id": "1", "score": 2, "turns": [{"speaker": "a", "text": ""}], "users": {"u": ["k"]}}


def texts(value, shape):
    return list(map(str, problems(value, shape)))


def test_of_many_values_the_nearest_is_named_and_what_was_found_is_not_pushed_out():
    many = {f"feeling {number}" for number in range(33)} | {"Caring"}
    assert texts("Carring", many) == [
        'expected one of 34 values, such as "Caring", found "Carring"'
    ]
    assert texts(5, many) == ["expected one of 34 values, found 5"]


def test_a_fitting_record_has_no_problems():
    assert list(problems(GOOD, SHAPE)) == []
    assert list(problems({**GOOD, "score": None, "label": "bad", "users": {}}, SHAPE)) == []


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"extra": 1}, ".extra: unknown field, found 1"),
        ({"id": 1}, ".id: expected a string, found 1"),
        ({"id": None}, ".id: expected a string, found null"),
        ({"score": "2"}, f'.score: {A_NUMBER}, found "2"'),
        ({"score": True}, f".score: {A_NUMBER}, found true"),
        ({"label": "fair"}, '.label: expected "bad" or "good", found "fair"'),
        ({"turns": {}}, ".turns: expected a list, found {}"),
        ({"turns": ["x"]}, '.turns[0]: expected an object, found "x"'),
        (
            {"turns": [*GOOD["turns"], {"speaker": "c", "text": ""}]},
            '.turns[1].speaker: expected "a" or "b", found "c"',
        ),
        ({"turns": [{"text": ""}]}, '.turns[0].speaker: missing, expected "a" or "b"'),
        ({"users": {"u": [1]}}, ".users.u[0]: expected a string, found 1"),
    ],
)
def test_a_problem_names_path_expected_and_found(change, problem):
    assert texts({**GOOD, **change}, SHAPE) == [problem]


def test_alternatives_name_the_field_that_is_wrong():
    shape = ({"who": {"human"}, "text": str}, {"who": {"bot"}, "text": str, "model": str})
    assert texts({"who": "bot", "text": "", "model": 1}, shape) == [
        ".model: expected a string, found 1"
    ]


def test_one_and_true_are_not_the_same_value():
    assert texts(True, {1, 2}) == ["expected 1 or 2, found true"]
    assert texts(1.0, {1, 2}) == ["expected 1 or 2, found 1.0"]


def test_a_function_says_what_it_expects():
    def even(value):
        if value % 2:
            raise ValueError("an even number")

    assert texts([2, 3], [even]) == ["[1]: expected an even number, found 3"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b'{"a": 1, "a": 2}', "'a' stands twice"),
        (b'{"a": 1, "a": 1}', "'a' stands twice"),
        (b'{"a": NaN}', "NaN is not JSON"),
        (b'{"a": -Infinity}', "-Infinity is not JSON"),
        (b'{"a": 1e999}', "1e999 is too large"),
        (b'{"a": 1,\n "b" 2}', "line 2"),
        (b'{"a": [1, {"b": NaN}]}', r"^\.a\[1\]\.b: NaN is not JSON$"),
        (b'[{"a": {"b": 1, "b": 1}}]', r"^\[0\]\.a\.b: the key 'b' stands twice"),
        (b'{"a": 9223372036854775808}', r"^\.a: the number 9223372036854775808 is too large$"),
        (b'{"a": -1e-400}', r"^\.a: the number -1e-400 is too small$"),
        (b'["\\ud83d\\ude00", "\\ud83d"]', r"^\[1\]: '\\ud83d' is a lone surrogate$"),
        (b'{"\\udc00": 1}', r"^\.\\udc00: the key '\\udc00' holds a lone surrogate$"),
        (b'{"a": ' + b"[" * 5000 + b"]" * 5000 + b"}", "nested too deeply: line 1 column 106"),
        (b'{"a": "\xff"}', "utf-8"),
        (b'\xef\xbb\xbf{"a": 1}', "BOM"),
    ],
)
def test_json_that_python_would_pass_over_is_refused(text, message):
    with pytest.raises(ValueError, match=message):
        loads(text)


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1, "b": [1, 2.5, null], "c": {"d": "x"}}',
        '{"a":1,"b":[1,2.5,null]}',
        '{"a, b": ": , ", "a,b": "1, 1: 1", "a:b": "\\": , \\""}',
    ],
)
def test_spaces_in_a_line_change_nothing(text):
    assert loads(text) == json.loads(text)
    assert loads(f"{text}\n".encode()) == json.loads(text)


@pytest.fixture
def reader(tmp_path):
    def read(path, shape, loads):
        return loads(Path(path).read_bytes())

    return Reader(tmp_path, SimpleNamespace(read=read, __name__="a.script"))


def test_all_problems_of_a_file_come_at_once(tmp_path, reader):
    path = tmp_path / "file.json"
    path.write_text('[{"n": 1}, {"n": "2"}, {"n": 3}, {"m": 4}]')
    good = []
    with pytest.raises(RecordError) as error:
        good.extend(reader.read(str(path), {"n": int}))
    assert str(error.value).splitlines() == [
        'file.json[1].n: expected an integer, found "2"',
        "file.json[3].m: unknown field, found 4",
        "file.json[3].n: missing, expected an integer",
    ]


@pytest.fixture
def later(monkeypatch):
    """Let a minute pass, so that the files of the test are not new."""
    clock = SimpleNamespace(time=lambda: time.time() + 60)
    monkeypatch.setattr("parley.rows.reader.time", clock)


def checks(monkeypatch):
    """Return a list that takes each shape that a file is checked against from now on."""
    shapes = []

    def noted(shape):
        shapes.append(shape)
        return fitter(shape)

    monkeypatch.setattr("parley.rows.reader.fitter", noted)
    return shapes


def test_a_file_that_passed_is_checked_again_once_it_or_its_shape_is_another(
    tmp_path, reader, later, monkeypatch
):
    path = tmp_path / "file.json"
    path.write_text('[{"n": 1}]')
    checked = checks(monkeypatch)
    assert list(reader.read(str(path), NUMBER)) == [{"n": 1}]
    assert list(reader.read(str(path), NUMBER)) == [{"n": 1}]
    assert checked == [NUMBER]
    with pytest.raises(RecordError, match="expected a string"):
        list(reader.read(str(path), {"n": str}))
    state = path.stat()
    time.sleep(0.02)  # a tick of the clock
    path.write_text('[{"m": 1}]')  # of the same length
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    with pytest.raises(RecordError, match="m: unknown field"):
        list(reader.read(str(path), NUMBER))


def test_a_file_written_just_now_is_checked_again(tmp_path, reader, monkeypatch):
    path = tmp_path / "file.json"
    path.write_text('[{"n": 1}]')
    os.utime(path, (0, 0))
    checked = checks(monkeypatch)
    list(reader.read(str(path), NUMBER))
    list(reader.read(str(path), NUMBER))
    assert checked == [NUMBER, NUMBER]


def test_a_file_that_did_not_pass_or_was_not_read_to_its_end_is_checked_again(
    tmp_path, reader, later
):
    path = tmp_path / "file.json"
    path.write_text('[{"n": 1}, {"n": "2"}]')
    next(reader.read(str(path), NUMBER))
    for _ in range(2):
        with pytest.raises(RecordError, match=r"file.json\[1\].n: expected an integer"):
            list(reader.read(str(path), NUMBER))


def test_two_files_read_in_turns_are_each_checked(tmp_path, reader, later):
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_text('[{"n": 1}, {"n": 2}]')
    bad.write_text('[{"n": NaN}]')
    list(reader.read(str(good), NUMBER))
    first = reader.read(str(good), NUMBER)
    assert next(first) == {"n": 1}
    with pytest.raises(RecordError, match="NaN is not JSON"):
        list(reader.read(str(bad), {"n": float}))
    assert list(first) == [{"n": 2}]


def test_a_file_that_another_config_reads_after_one_that_passed_is_checked(tmp_path, later):
    """crowd reads conversations.jsonl, which passed for dialogues, and then keywords.jsonl."""
    dataset, folder = get("cosrec"), tmp_path / "source"
    shutil.copytree(dataset.sample, folder)
    build(Source(dataset, folder, sample=True), tmp_path / "build")
    keywords = folder / "dataset/crowd/keywords.jsonl"
    first, *rest = keywords.read_text().splitlines(keepends=True)
    (conversation, users), *_ = json.loads(first).items()
    user = json.dumps(next(iter(users)))
    twice = f'{{"{conversation}": {{{user}: ["lost"], {json.dumps(users)[1:]}}}\n'
    keywords.write_text("".join([twice, *rest]))
    with pytest.raises(RecordError, match=r"keywords\.jsonl, line 1.*twice in one object"):
        build(Source(dataset, folder, sample=True), tmp_path / "build")


def test_an_unknown_dataset_names_those_there_are():
    with pytest.raises(Exception, match="no dataset is named 'casinno'; there are: casino, "):
        get("casinno")
