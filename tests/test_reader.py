import os
import re
import time
from itertools import islice, product
from string import ascii_letters

import pytest

from parley.base.errors import RecordError
from parley.base.strict_json import loads
from parley.schema.shapes import Checked, fitting, problems
from parley.source.files import File, Folder
from parley.source.reader import Reader

SHAPE = {
    "id": str, "score": (int, float, None), "label?": {"good", "bad"},
    "turns": [{"speaker": {"a", "b"}, "text": str}], "users": {str: [str]},
}  # fmt: skip
NUMBER = {"n": int}
GOOD = {"id": "1", "score": 2, "turns": [{"speaker": "a", "text": ""}], "users": {"u": ["k"]}}


@pytest.mark.parametrize(("change", "path", "found"), [
    ({"extra": 1}, ".extra", "1"), ({"": 1}, '.""', "1"), ({"id": 1}, ".id", "1"),
    ({"score": "2"}, ".score", '"2"'), ({"score": True}, ".score", "true"),
    ({"label": "fair"}, ".label", '"fair"'), ({"turns": {}}, ".turns", "{}"),
    ({"turns": [*GOOD["turns"], {"speaker": "c", "text": ""}]}, ".turns[1].speaker", '"c"'),
    ({"turns": [{"text": ""}]}, ".turns[0].speaker", ""),
    ({"users": {"u": [1]}}, ".users.u[0]", "1"),
])  # fmt: skip
def test_a_problem_names_path_and_found(change, path, found):
    assert list(problems(GOOD, SHAPE)) == []
    (problem,) = problems({**GOOD, **change}, SHAPE)
    assert str(problem).startswith(f"{path}: ")
    assert str(problem).endswith(found)


def even(value):
    if value % 2:
        raise ValueError("an even number")


MANY = {f"feeling {number}" for number in range(33)} | {"Caring"}
WHO = ({"who": {"human"}, "text": str}, {"who": {"bot"}, "text": str, "model": str})


@pytest.mark.parametrize(("value", "shape", "expected"), [
    ("Carring", MANY, '"Caring"'), (5, MANY, "34"),
    ({"who": "bot", "text": "", "model": 1}, WHO, ".model: "), (True, {1, 2}, "1 or 2"),
    (1.0, {1, 2}, "1 or 2"), ([2, 3], [even], "[1]: "),
    (3, (Checked(int, even), None), "an even number or null"),
])  # fmt: skip
def test_a_problem_names_the_nearest_expected_value(value, shape, expected):
    (problem,) = problems(value, shape)
    assert expected in str(problem)


@pytest.mark.parametrize(("text", "place"), [
    (b'{"a": 1, "a": 1}', ".a: "), (b'[{"a": {"b": 1, "b": 2}}]', "[0].a.b: "),
    (b'{"a": [1, {"b": NaN}]}', ".a[1].b: "), (b'{"a": -Infinity}', ".a: "),
    (b'{"a": 1e999}', ".a: "), (b'{"a": -1e-400}', ".a: "), (b'{"a": 9223372036854775808}', ".a: "),
    (b'{"a": -9223372036854775809}', ".a: "), (b'{"a": ' + b"9" * 5000 + b"}", ".a: "),
    (b'["\\ud83d\\ude00", "\\ud83d"]', "[1]: "), (b'{"\\udc00": 1}', r".\udc00: "),
    (b'{"a": 1,\n "b" 2}', "line 2"), (b'{"a": ' + b"[" * 5000 + b"]" * 5000 + b"}", "nested"),
    (b'{"a": "\xff"}', "position 7"), (b'\xef\xbb\xbf{"a": 1}', "line 1"),
])  # fmt: skip
def test_json_that_python_accepts_silently_is_refused(text, place):
    with pytest.raises(ValueError, match=re.escape(place)):
        loads(text)


def declared(shape, path="file.json", **options):
    return File(path, shape, url="https://example.org/file", sha256="0" * 64, **options)


@pytest.fixture
def reader(tmp_path):
    return Reader(tmp_path)


def records(reader, source):
    return [record for _, record in reader.read(source)]


def test_no_record_follows_a_wrong_one(tmp_path, reader):
    """Otherwise `rows` could fail first and hide the problems."""
    (tmp_path / "file.json").write_text('[{"n": 1}, {"n": "2"}, {"n": 3}, {"m": 4}]')
    for_each = reader.read(declared(NUMBER))
    assert next(for_each) == ("", {"n": 1})
    with pytest.raises(RecordError) as error:
        next(for_each)
    places = [str(problem).partition(": ")[0] for problem in error.value.problems]
    assert places == ["file.json[1].n", "file.json[3].m", "file.json[3].n"]  # all of the file


def test_a_passed_file_is_checked_again_only_if_it_or_its_shape_changed(tmp_path, reader):
    path = tmp_path / "file.json"
    path.write_text('[{"n": 1}]')
    checked = []
    source = declared({"n": Checked(int, checked.append)})
    assert [records(reader, source) for _ in range(2)] == [[{"n": 1}]] * 2
    assert checked == [1]
    with pytest.raises(RecordError):
        records(reader, declared({"n": str}))
    state = path.stat()
    time.sleep(0.02)  # a tick of the clock
    path.write_text('[{"m": 1}]')  # of the same length
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    with pytest.raises(RecordError):
        records(reader, source)


def test_reading_stops_after_many_causes(tmp_path, reader):
    """Also if a record has several, and a script yields records without end."""
    (tmp_path / "file.json").touch()
    names = map("".join, product(ascii_letters, repeat=3))
    wrong = (dict.fromkeys(islice(names, 3), 1) for _ in range(10_000))
    source = declared(NUMBER, read=lambda file, loads: wrong)
    for read in (reader.read(source), fitting(source.node, wrong, RecordError, "records")):
        with pytest.raises(RecordError):
            next(read)
        assert next(wrong)


ANY = (str, int, None, [str], {str: (str, int)})
READ = {  # format, content, records
    "a JSON list": ("json", b'["a", 1, null]', ["a", 1, None]),
    "a JSON value": ("json value", b'{"a": 1}\n', [{"a": 1}]),
    "JSON Lines": ("json lines", b'{"a": 1}\r\n"b"\nnull\n-1', [{"a": 1}, "b", None, -1]),
    "JSON Lines of one line": ("json lines", '"\u2028\x85\ufeff"'.encode(), ["\u2028\x85\ufeff"]),
    "lines": ("lines", b"a\n\n b \r\nc", ["a", "", " b \r", "c"]),
    "text": ("text", b"a\r\n\nb", ["a\r\n\nb"]),
    "bytes": ("bytes", b"\xff\n", [b"\xff\n"]),
    "CSV": ("csv", b'a,b\r\n"x, ""y""\nz",\r\n', [{"a": 'x, "y"\nz', "b": ""}]),
    "TSV": ("tsv", b'a\tb\n"x\t""\n', [{"a": '"x', "b": '""'}]),
    "CSV of a spreadsheet": ("csv", b"\xef\xbb\xbfa,b\r\n1,2\r\n", [{"a": "1", "b": "2"}]),
    "an empty text": ("text", b"", [""]),
    "no lines": ("lines", b"", []),
}


@pytest.mark.parametrize("name", READ)
def test_each_format_reads(tmp_path, reader, name):
    format, content, due = READ[name]
    (tmp_path / "file").write_bytes(content)
    source = declared((*ANY, lambda value: None), "file", read=format)
    assert records(reader, source) == due
    assert records(reader, source) == due, "differs after the file has passed"


REFUSED = {  # format, content, place
    "an object for a list": ("json", b'{"a": 1}', "file"),
    "a JSON list cut off": ("json", b'["a",\n', "file"),
    "a record of the list": ("json", b"[true]", "file[0]"),
    "a field of the value": ("json value", b'{"a": []}', "file.a"),
    "a line that is blank": ("json lines", b"1\n\n2\n", "file, line 2"),
    "a line of two values": ("json lines", b"1\n2 3\n", "file, line 2"),
    "a line that begins with a space": ("json lines", b"1\n 2\n", "file, line 2"),
    "a line of another shape": ("json lines", b"1\ntrue\n", "file, line 2"),
    "a line of bytes": ("lines", b"a\n\xff\n", "file, line 2"),
    "a marked line": ("lines", b"\xef\xbb\xbfa\n", "file, line 1"),
    "a text of bytes": ("text", b"a\n\xff", "file"),
    "a CSV column twice": ("csv", b"a,a\n1,2\n", "file, row 1"),
    "a short row after a long cell": ("csv", b'a,b\n"\n",2\n1\n', "file, row 3"),
    "a long TSV row": ("tsv", b"a\n1\t2\n", "file, line 2"),
    "a blank CSV line": ("csv", b"a\n\n1\n", "file, row 2"),
    "a quote that is not closed": ("csv", b'a\n"x\n', "file, row 2"),
    "a CSV cell of bytes": ("csv", b"a\n1\n\xff\n", "file, row 3"),
    "a TSV without a header": ("tsv", b"", "file, line 1"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_each_format_names_the_place_of_a_problem(tmp_path, reader, name):
    format, content, place = REFUSED[name]
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(RecordError) as error:
        records(reader, declared(ANY, "file", read=format))
    (problem,) = error.value.problems
    assert str(problem).startswith(f"{place}: ")


def test_a_folder_is_read_in_the_order_of_names(tmp_path, reader):
    source = Folder("talks", NUMBER, url="https://a.b/c", member="t", git_tree="0" * 40)
    (tmp_path / "talks").mkdir()
    with pytest.raises(RecordError, match=r"^talks: "):
        records(reader, source)
    for number, name in ((2, "b.json"), (1, "a.json")):
        (tmp_path / "talks" / name).write_text(f'{{"n": {number}}}')
    assert list(reader.read(source)) == [("a.json", {"n": 1}), ("b.json", {"n": 2})]
    (tmp_path / "talks" / "c.txt").write_text("no record")
    with pytest.raises(RecordError, match=r"^talks/c\.txt: "):
        records(reader, source)


def by_semicolons(file, loads):
    for part in file.read().split(b";"):
        yield loads(part)


def test_a_function_can_read_a_format(tmp_path, reader):
    path = tmp_path / "file.json"
    path.write_bytes(b'{"n": 1};{"n": 2}')
    source = declared(NUMBER, read=by_semicolons)
    assert records(reader, source) == [{"n": 1}, {"n": 2}]
    wrong = {b'{"n": "2"}': r"^file\.json\[1\]\.n: ", b'{"n": 1, "n": 2}': r"^file\.json"}
    for content, place in wrong.items():
        path.write_bytes(b'{"n": 1};' + content)
        with pytest.raises(RecordError, match=place):
            records(reader, source)


def test_each_reading_gives_records_of_its_own(tmp_path, reader):
    (tmp_path / "file.json").write_text('[{"n": 1, "m": [2]}]')
    source = declared({"n": int, "m": [int]})
    for _ in range(2):
        (record,) = records(reader, source)
        assert record == {"n": 1, "m": [2]}
        record["m"].clear()
