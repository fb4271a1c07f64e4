import pytest

from parley.collection import get
from parley.errors import RecordError
from parley.records import Strict
from parley.shapes import problems
from parley.strict_json import loads

SHAPE = {
    "id": str,
    "score": (int, float, None),
    "label?": {"good", "bad"},
    "turns": [{"speaker": {"a", "b"}, "text": str}],
    "users": {str: [str]},
}
A_NUMBER = "expected an integer or a number with a decimal point or null"
GOOD = {"id": "1", "score": 2, "turns": [{"speaker": "a", "text": ""}], "users": {"u": ["k"]}}


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
    assert list(problems({**GOOD, **change}, SHAPE)) == [problem]


def test_alternatives_name_the_field_that_is_wrong():
    shape = ({"who": {"human"}, "text": str}, {"who": {"bot"}, "text": str, "model": str})
    assert list(problems({"who": "bot", "text": "", "model": 1}, shape)) == [
        ".model: expected a string, found 1"
    ]


def test_one_and_true_are_not_the_same_value():
    assert list(problems(True, {1, 2})) == [": expected 1 or 2, found true"]
    assert list(problems(1.0, {1, 2})) == [": expected 1 or 2, found 1.0"]


def test_a_function_says_what_it_expects():
    def even(value):
        if value % 2:
            raise ValueError("an even number")

    assert list(problems([2, 3], [even])) == ["[1]: expected an even number, found 3"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b'{"a": 1, "a": 2}', "'a' stands twice"),
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


def test_all_problems_of_a_file_come_at_once(tmp_path):
    class Builder:
        class config:  # noqa: N801
            data_dir = str(tmp_path)

        def read(self, path, shape):
            return [{"n": 1}, {"n": "2"}, {"n": 3}, {"m": 4}]

    class StrictBuilder(Strict, Builder):
        pass

    good = []
    with pytest.raises(RecordError) as error:
        good.extend(StrictBuilder().read(str(tmp_path / "file.json"), {"n": int}))
    assert str(error.value).splitlines() == [
        'file.json[1].n: expected an integer, found "2"',
        "file.json[3].m: unknown field, found 4",
        "file.json[3].n: missing, expected an integer",
    ]


def test_an_unknown_dataset_names_those_there_are():
    with pytest.raises(Exception, match="no dataset is named 'casinno'; there are: casino, "):
        get("casinno")
