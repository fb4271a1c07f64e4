"""`parley new` writes a folder that passes `parley check` and builds from its files."""

import itertools
import json
import os
from ast import literal_eval

import pytest

from parley.authoring.linting.run import check_folder
from parley.authoring.starting.draft import Stated
from parley.authoring.starting.new import SKELETON, write_draft, write_skeleton
from parley.base.errors import ParleyError, UsageError
from parley.building.build import build
from parley.building.folder import open_folder
from parley.building.registry import Dataset, discover
from parley.building.upstream import open_source
from parley.reading.dialogues import dialogues
from parley.source.files import File
from parley.source.pins import problem
from parley.verifying.verify import verify

_numbers = itertools.count()


# A skeleton -----------------------------------------------------------------------------------

FILES = [path.relative_to(SKELETON).as_posix() for path in SKELETON.rglob("*.*")]
FILES = sorted(file for file in FILES if not file.endswith(".pyc"))


def test_a_skeleton_passes_every_rule(tmp_path, run):
    status, out, err = run("new", "tea_talk", tmp_path / "a b")
    assert status == 0, err
    assert (out + err).endswith(f"PARLEY_DATASETS='{tmp_path}/a b' parley check tea_talk\n")
    folder = tmp_path / "a b" / "tea_talk"
    texts = {p.relative_to(folder).as_posix(): p.read_text() for p in folder.rglob("*.*")}
    assert sorted(texts) == sorted(file.replace("skeleton", "tea_talk") for file in FILES)
    assert "class TeaTalk(Builder" in texts["tea_talk.py"]
    assert not [file for file, text in texts.items() if "skeleton" in text.lower()]
    checks = check_folder(Dataset("tea_talk", folder))
    unfinished = [check.name for check in checks if check.failed or check.skipped]
    assert unfinished == ["placeholders_are_replaced"]


NO_NAMES = ["Tea", "tea-talk", "2tea", "", "tea/talk", "..", "tea\n", "~"]
NO_NAMES += ["class", "true", "none", "yes", "no", "on", "off", "null", "y", "n"]  # Python, YAML
NO_NAMES += ["json", "statistics", "parley", "datasets", "figures", "jobs", "views"]  # modules
NO_NAMES += ["builder", "config", "iterator"]  # its class would hide another


@pytest.mark.parametrize("name", [*NO_NAMES, next(iter(discover()))])
def test_new_refuses_a_wrong_name(tmp_path, name):
    with pytest.raises(UsageError):
        write_skeleton(name, tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("make", [os.mkdir, lambda p: p.touch(), lambda p: p.symlink_to("nowhere")])
def test_new_overwrites_nothing(tmp_path, make):
    make(tmp_path / "tea")
    with pytest.raises(UsageError):
        write_skeleton("tea", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["tea"]


# A draft of files in each format --------------------------------------------------------------


def jsonl(*values):
    return "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values)


def talks(*turns, key="id"):
    said = [{"text": "Oh hello there.", **turn} for turn in turns]
    return jsonl(*({key: f"t{number}", "said": said} for number in range(3)))


SAID = {"turns": "said", "text": "text"}
BESIDE = {"text": "texts", "speaker": "whose"}
ROWS = {"dialogue": "conv_id", "speaker": "who", "text": "said"}
TABLE = "conv_id,idx,who,said\n" + "".join(f'c{n // 2},{n % 2},x,"a, ""b"""\n' for n in range(6))
ODD_KEYS = {
    "ok": {"a?": 1, "`|\n": 2},
    '"""\\N{x}': "a",
    "{x}": {"": {}},
    "naïve key": {"_type": "Value", "dtype": "int8"},
    "x": {"<!-- parley: fields from here -->": 1, "../../x": 2},
    "list": {"struct": ["x"]},
}
ODD_LABELS = ("<b>", "a|b", "`c`", "<!-- parley: fields to here -->")
# kind: (files, what is stated, (rows, key))
FORMATS = {
    "JSON lists in folders": (
        {
            f"{split}/dialogues_{n:03}.json": json.dumps(
                [{"id": f"{at + 10 * n + k}", "said": [{"text": "Hi."}] * 2} for k in range(3)]
            )
            for at, split in ((0, "train"), (200, "dev"), (400, "test"))
            for n in range(2)
        },
        SAID,
        ({"train": 6, "validation": 6, "test": 6}, ("id",)),
    ),
    "one object of dialogues by name": (
        {"data.json": json.dumps({f"P{n}.json": {"said": ["Oh."] * (n % 3)} for n in range(9)})},
        {"turns": "said"},
        ({"train": 9}, ("id",)),
    ),
    "a table of a spreadsheet": (
        {"a.csv": f"\ufeff{TABLE}"},
        {},
        ({"train": 6}, ("conv_id", "idx")),
    ),
    "a table whose rows are turns": ({"a.csv": TABLE}, ROWS, ({"train": 3}, ("conv_id",))),
    "JSON Lines of what is not the same everywhere": (
        {
            "all.jsonl": jsonl(
                {"id": "a", "n": 1, "m": None, "o": None, "deep": [[{"x": [{}]}]]},
                {"id": "b", "n": 1.5, "s": None, "e": "", "deep": [[]]},
                {"id": "c", "n": 2, "m": 3, "s": {"a": 1}, "e": "é", "deep": []},
            )
        },
        {},
        ({"train": 3}, ("id",)),
    ),
    "JSON Lines under a JSON name, with an id twice": (
        {"all.json": jsonl(*({"id": 1, "turns": ["Hello there."]} for _ in range(3)))},
        {},
        ({"train": 3}, ()),
    ),
    "a JSON value a file, in two folders": (
        {
            f"{split}/{n}.json": json.dumps({"said": [{"who": 1, "text": "oh no"}], "n": at + n})
            for at, split in ((0, "train"), (9, "test"))
            for n in range(5)
        },
        SAID | {"speaker": "who"},
        ({"train": 5, "test": 5}, ("n",)),
    ),
    "lists of texts beside lists of speakers": (
        {"all.jsonl": jsonl(*({"texts": ["Oh hi."], "whose": ["An"], "n": n} for n in range(3)))},
        BESIDE,
        ({"train": 3}, ("n",)),
    ),
    "keys, labels and a file's name that are code, or that no column or card can have": (
        {
            "a\"'\n{x}`|\\.json": json.dumps(
                [ODD_KEYS | {"id": number, "label": ODD_LABELS[number % 4]} for number in range(60)]
            )
        },
        {},
        ({"train": 60}, ("id",)),
    ),
}


@pytest.fixture
def upstream(tmp_path):
    """A function that writes files into upstream/NAME, and returns that folder."""

    def write(name, files):
        folder = tmp_path / "upstream" / name
        for path, content in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            raw = content if isinstance(content, bytes) else content.encode()
            (folder / path).write_bytes(raw)
        return folder

    return write


def drafted(tmp_path, name, paths, **stated):
    """Draft a dataset, check it, build it from the files that it was drafted from, verify it."""
    folder, notes = write_draft(name, tmp_path / "more", paths, Stated(**stated))
    assert sorted(path.name for path in folder.parent.iterdir()) == [name]
    assert not any("\n" in note for note in notes)
    dataset = Dataset(name, folder)
    checks = check_folder(dataset)
    assert {check.name: check.problems for check in checks if check.failed} == {}
    source = open_source(dataset, tmp_path / "upstream")
    build(source, tmp_path / "build")
    built = open_folder(tmp_path / "build" / name, dataset)
    assert [check for check in verify(built, source).checks if check.failed] == []
    return dataset, built, notes


@pytest.mark.parametrize(("files", "stated", "due"), FORMATS.values(), ids=FORMATS)
def test_a_draft_builds_from_its_files(tmp_path, upstream, files, stated, due):
    (rows, key), name = due, f"drafted_{next(_numbers)}"
    folder = upstream(name, files)
    given = [folder / each for each in dict.fromkeys(file.split("/")[0] for file in files)]
    dataset, built, notes = drafted(tmp_path, name, given, **stated)
    assert {split: len(built.rows("dialogues", split)) for split in rows} == rows
    assert list(dataset.splits["dialogues"]) == list(rows)
    assert dataset.configs["dialogues"].keys == key
    said = [turn.text for each in dialogues(built) if stated for turn in each.transcript.turns]
    assert bool(said) == bool(stated)
    if "said" in stated.values() and "text" not in stated:
        assert set(said) == {"Oh."}
    named = {each.split(": ")[0].split("/")[0] for each in notes}  # each file, or its folder
    assert named >= {" ".join(file.split("/")[0].split()) for file in files} or len(files) > 5


def test_a_printed_pin_is_that_of_the_file_or_folder(tmp_path, upstream, run):
    folder = upstream("tea", {"it's.json": "[1]", "en/0.json": "{}"})
    for name, url in (("it's.json", "https://example.org/a b"), ("en", "")):
        given = [str(folder / name), *([url] if url else [])]
        ((path, pin),) = literal_eval(f"{{{run('pin', *given).stdout}}}").items()
        assert path == name
        assert problem(folder / name, pin) is None
        assert pin["url"] == (url or "https://upstream.invalid/en.zip")
        assert len(File(path, {"id": int}, **pin).pin) == 3 if url else pin["member"] == "en"
    assert {run("pin", place).returncode for place in (folder / "absent", folder)} == {2}


BY_ID = {"dialogue": "id", "text": "text"}
TALKS = {"all.jsonl": talks({"who": "An"}, {"who": "Bo"})}
# Files, what is stated of them, and a text that the error names
BAD = [
    *(({"a.json": text}, {}, "a.json") for text in ('[{"id": NaN}]', b'[{"id": "\xe9"}]')),
    ({"a.csv": "a,b\n1,2\n1,2,3\n"}, {}, "a.csv"),
    ({"a.csv": ",a\n0,2\n"}, {}, "columns"),
    ({"a.csv": "id;text;who\n1;Hi.;An\n"}, {}, "id;text;who"),
    ({"a.csv": "1,2\n3,4\n"}, {}, "a.csv"),  # no header
    ({"a.json": '[{"id": "a"}]', "b.csv": "id\n1\n"}, {}, "b.csv"),
    ({"a.json": "[[1]]"}, {}, "columns"),
    ({f"{n}.json": '{"said": ["Oh."]}' for n in range(5)}, {"turns": "said"}, "--turns"),  # no id
    ({"a.json": "[]"}, {}, "no records"),
    ({"a.pkl": "x"}, {}, ".json"),
    # the row has a list of keys and values in place of a turn
    ({"a.jsonl": talks({"speaker": "An", "at?": 1})}, SAID, "--turns"),
    *((TALKS, {"turns": name}, name) for name in ("nothing", "id", "said")),
    *((TALKS, {"text": name}, name) for name in ("nothing", "id", "said")),
    (TALKS, {"turns": "said", "text": "text", "speaker": "whom"}, "whom"),
    (TALKS, {"turns": "said", "text": "nothing"}, "nothing"),
    ({"a.json": '[{"id": 1, "texts": ["a", "b"], "whose": ["An"]}]'}, BESIDE, "record 1"),
    (TALKS, {"dialogue": "id", "text": "nothing"}, "nothing"),
    (TALKS, {"dialogue": "said", "text": "id"}, "said"),
    ({"a.csv": "id,text\n1,a\n2,b\n1,c\n"}, BY_ID, "id 1"),
    ({"a.csv": "id,text\n2,a\n", "b.csv": "id,text\n2,b\n"}, BY_ID, "id 2"),
    *((TALKS, {name: "id"}, f"--{name}") for name in ("speaker", "dialogue")),
    (TALKS, {"turns": "said", "text": "text", "dialogue": "id"}, "--dialogue"),
]


@pytest.mark.parametrize(("files", "stated", "named"), BAD)
def test_a_failed_draft_leaves_nothing(tmp_path, upstream, files, stated, named):
    folder = upstream("tea", files)
    with pytest.raises(ParleyError) as error:
        write_draft("tea", tmp_path / "more", [folder], Stated(**stated))
    assert named in str(error.value)
    assert "Error(" not in str(error.value)
    assert not [*(tmp_path / "more").glob("*")]


def test_a_draft_reads_no_archive_link_or_fifo(tmp_path, upstream):
    folder = upstream("tea", {"a.json": '[{"id": 1}]', "a.zip": "x"})
    os.mkfifo(folder / "fifo.json")
    (folder / "link.json").symlink_to(tmp_path / "secret.json")
    (tmp_path / "secret.json").write_text('[{"id": 2}]')
    for name in ("a.zip", "fifo.json"):
        with pytest.raises(UsageError):
            write_draft("tea", tmp_path / "more", [folder / name])
    made, notes = write_draft("tea", tmp_path / "more", [folder])
    assert [*Dataset("tea", made).pins] == ["a.json"]
    assert "link.json: left out, a link" in notes


def test_the_command_prints_what_it_took(tmp_path, upstream, monkeypatch, run):
    folder = upstream("tea", {"train.jsonl": talks({"who": "An"}), "dev.jsonl": jsonl({"id": "b"})})
    stated = ("--turns", "said", "--speaker", "who", "--text", "text")
    given = (folder / "train.jsonl", folder / "train.jsonl")
    status, out, err = run("new", "tea", tmp_path / "a b", *given, *stated)
    assert status == 0, err
    first, *_, command, _ = (out + err).splitlines()
    assert first == "train.jsonl: json lines, 3 values -> split train"
    assert command == f"PARLEY_DATASETS='{tmp_path}/a b' parley check tea"
    monkeypatch.setenv("PARLEY_DATASETS", str(tmp_path / "a b"))
    status, out, err = run("check", "tea")
    assert status == 0, err
    (line,) = [line for line in (out + err).splitlines() if "placeholders" in line]
    assert "https://upstream.invalid/" in line
    assert run("new", "two", tmp_path / "b", *stated).returncode == 2
