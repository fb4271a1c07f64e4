"""`parley new` writes a folder that passes `parley check` and builds from its files."""

import io
import itertools
import json
import os
import subprocess
import zipfile
from ast import literal_eval

import pytest

from parley.authoring.linting.dataset_folder import DatasetFolder
from parley.authoring.linting.run import check_folder
from parley.authoring.starting.new import SKELETON, write_draft, write_skeleton
from parley.base.errors import ParleyError, UsageError
from parley.building.build import build
from parley.building.built import open_folder
from parley.building.collection import Dataset, discover
from parley.building.sources import open_source
from parley.declaring.declaration import File
from parley.declaring.pins import problem
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
    checks = check_folder(DatasetFolder(Dataset("tea_talk", folder), tmp_path))
    unfinished = [check.name for check in checks if check.failed or check.skipped]
    assert unfinished == ["placeholders_are_replaced"]


NO_NAMES = {
    "a name has lower-case": ("Tea", "tea-talk", "2tea", "", "tea/talk", "..", "tea\n", "~"),
    "Python": ("class", "true", "none"),
    "YAML": ("yes", "no", "on", "off", "null", "y", "n"),
    "the name of a module": ("json", "statistics", "parley", "datasets"),
    "may have a module": ("figures", "jobs", "views"),
    "its class .* would hide": ("builder", "config", "iterator"),
}


@pytest.mark.parametrize(
    ("name", "why"), [(name, why) for why, names in NO_NAMES.items() for name in names]
)
def test_new_refuses_a_wrong_name(tmp_path, name, why):
    with pytest.raises(UsageError, match=why):
        write_skeleton(name, tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("make", [os.mkdir, lambda p: p.touch(), lambda p: p.symlink_to("nowhere")])
def test_new_overwrites_nothing(tmp_path, make):
    make(tmp_path / "tea")
    with pytest.raises(UsageError, match="already exists"):
        write_skeleton("tea", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["tea"]


def test_new_refuses_the_name_of_another_dataset(tmp_path):
    name = next(iter(discover()))
    with pytest.raises(UsageError, match=f"{name} has this name already"):
        write_skeleton(name, tmp_path)


# A draft of files in each format --------------------------------------------------------------


def jsonl(*values):
    return "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values)


def zipped(files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return out.getvalue()


def frames(dialogue):
    user = {"service": "Trains", "state": {"slot_values": {f"to{dialogue}": ["Alder"]}}}
    system = {"service": "Trains", "actions": [{"act": "OFFER", "slot": "", "values": []}]}
    turns = [
        {"speaker": "USER", "utterance": "A seat, please.", "frames": [user]},
        {"speaker": "SYSTEM", "utterance": "To where?", "frames": [system, system]},
    ]
    return {"dialogue_id": f"1_{dialogue:05}", "services": ["Trains"], "turns": turns * 3}


def goal(number):
    log = [{"text": f"Turn {turn} of it.", "metadata": {"n": turn}} for turn in range(4)]
    return {"goal": {"taxi": {}, "hotel": {"area": "north"}}, "log": log[: 2 + number % 3]}


def talks(*turns, key="id"):
    said = [{"text": "Oh hello there.", **turn} for turn in turns]
    return jsonl(*({key: f"t{number}", "said": said} for number in range(3)))


ODD_KEYS = {
    "ok": {"a?": 1, "`|\n": 2},
    '"""\\N{x}': "a",
    "{x}": {"": {}},
    "naïve key": {"_type": "Value", "dtype": "int8"},
    "list": {"struct": ["x"]},
}
# kind: (files, (rows, key, whether chats are found))
FORMATS = {
    "JSON lists in folders, a schema beside them": (
        {
            f"{split}/dialogues_{n:03}.json": json.dumps(
                [frames(10 * n + k + at) for k in range(3)]
            )
            for at, split in ((0, "train"), (200, "dev"), (400, "test"))
            for n in range(7)
        }
        | {f"{split}/schema.json": '[{"service_name": "Trains"}]' for split in ("train", "dev")},
        ({"train": 21, "validation": 21, "test": 21}, ("dialogue_id",), True),
    ),
    "one object of dialogues by name": (
        {"data.json": json.dumps({f"PMUL{n}.json": goal(n) for n in range(9)})},
        ({"train": 9}, ("id",), True),
    ),
    "texts in folders of an archive": (
        {
            "talks-2.1.zip": zipped(
                {f"talks/q{n}/q{n}ec.txt": "g\tgo up\nf\tokay\n" for n in range(6)}
                | {"talks/LICENCE": "", "__MACOSX/talks/._x.txt": "x", "README.md": "read"}
            )
        },
        ({"train": 6}, ("file",), False),
    ),
    "numbered lines with tabs, some odd": (
        {"train.txt": "1 your persona: i ski.\n2 hi\tyo\t\ta|b\n\n1 \x0bé\r\n", "valid.txt": "1 x"},
        ({"train": 4, "validation": 1}, ("file", "number"), False),
    ),
    "a table": (
        {
            f"{split}.csv": "conv_id,utterance_idx,Is it sure?,utterance\n"
            + "".join(f'hit:{n // 2},{n % 2 + 1},yes,"a, ""b"""\n' for n in range(6))
            for split in ("train", "test")
        },
        ({"train": 6, "test": 6}, ("file", "number"), False),
    ),
    "a table whose key is of two columns": (
        {
            "all.tsv": "conv_id\tidx\ttext\n"
            + "".join(f"c{n // 2}\t{n % 2}\thi\n" for n in range(6))
        },
        ({"train": 6}, ("conv_id", "idx"), False),
    ),
    "a table of which a row has more cells": (
        {"train.csv": "a,b\n1,2\n", "test.csv": "a,b\n1,2\n1,2,3\n"},
        ({"train": 2, "test": 3}, ("file", "number"), False),
    ),
    "JSON Lines of what is not the same everywhere": (
        {
            "all.jsonl": jsonl(
                {"id": "a", "n": 1, "m": None, "o": None, "o_absent": 1, "deep": [[{"x": [{}]}]]},
                {"id": "b", "n": 1.5, "s": None, "e": "", "deep": [[]], "o_absent": 2},
                {"id": "c", "n": 2, "m": 3, "s": {"a": 1}, "e": "é", "deep": [], "o_absent": 3},
            )
        },
        ({"train": 3}, ("id",), False),
    ),
    "JSON Lines under a JSON name, with an id twice": (
        {"all.json": jsonl(*({"id": 1, "turns": ["Hello there.", "Oh hello."]} for _ in range(3)))},
        ({"train": 3}, (), True),
    ),
    "lines of one entry": (
        {"all.jsonl": jsonl({"x-1": {"a": 1}}, {"x-2": {"a": 2, "b": "c"}}, {"x-3": {"a": 3}})},
        ({"train": 3}, ("id",), False),
    ),
    "lists of lists": (
        {"all.json": '[[{"a": 1}], [{"a": 2}], []]'},
        ({"train": 3}, ("file", "number"), False),
    ),
    "a JSON value a file, in two folders": (
        {
            f"{split}/{n}.json": json.dumps({"said": [{"who": "x", "text": "oh no"}], "n": 1})
            for split in ("train", "test")
            for n in range(5)
        },
        ({"train": 5, "test": 5}, ("file",), True),
    ),
    "speakers under keys of many forms": (
        {"all.jsonl": talks({"sender_name": "An"}, {"sender_name": "Bo", "at": 1})},
        ({"train": 3}, ("id",), True),
    ),
    "speakers with long names": (
        {"all.jsonl": talks({"Speaker": "An" * 25}, {"Speaker": "Bo" * 25})},
        ({"train": 3}, ("id",), True),
    ),
    "speakers with names that are too long": (
        {"all.jsonl": talks({"speaker": "An" * 50}, {"speaker": "Bo" * 50})},
        ({"train": 3}, ("id",), False),
    ),
    "speakers that are numbers": (
        {"all.jsonl": talks({"agent": 0}, {"agent": 7, "at": 1})},
        ({"train": 3}, ("id",), True),
    ),
    "turns of several forms, each with its speaker": (
        {"all.jsonl": talks({"from_whom": "An", "a": 1}, {"from_whom": "Bo", "b": 1})},
        ({"train": 3}, ("id",), True),
    ),
    "turns with a key that no column can have": (
        {"all.jsonl": talks({"speaker": "An", "at?": 1}, {"speaker": "Bo", "at?": 1})},
        ({"train": 3}, ("id",), False),
    ),
    "a key with the name of a column of chats": (
        {"all.jsonl": talks({"role": "An"}, {"role": "Bo"}, key="messages")},
        ({"train": 3}, ("messages",), False),
    ),
    "an id after the turns": (
        {"all.jsonl": jsonl(*({"said": ["Oh hi.", "Oh bye."], "id": n} for n in range(3)))},
        ({"train": 3}, ("id",), True),
    ),
    "turns alone": (
        {"all.jsonl": jsonl(*({"said": ["Oh hi.", "Oh bye."]} for _ in range(3)))},
        ({"train": 3}, ("file", "number"), True),
    ),
    "a column named like that of its number": (
        {"all.jsonl": jsonl(*({"number": n} for n in ("a", "a", None)))},
        ({"train": 3}, ("file", "number"), False),
    ),
    "columns of chats that are none": (
        {"all.jsonl": jsonl({"id": 1, "messages": [1], "source_turns": ["a"]})},
        ({"train": 1}, ("id",), False),
    ),
    "keys that no column can have": (
        {"odd.json": json.dumps([ODD_KEYS | {"id": number} for number in range(3)])},
        ({"train": 3}, ("id",), False),
    ),
    "names of files that are code": (
        {"a\"'\n{x}`|\\.json": '[{"id": "\\"\\"\\"", "speaker\\"": "{x}"}, {"id": "b"}]'},
        ({"train": 2}, ("id",), False),
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


def drafted(tmp_path, name, paths):
    """Draft a dataset, check it, build it from the files that it was drafted from, verify it."""
    folder, notes = write_draft(name, tmp_path / "more", paths)
    assert sorted(path.name for path in folder.parent.iterdir()) == [name]
    assert not any("\n" in note for note in notes)
    dataset = Dataset(name, folder)
    (tmp_path / "work").mkdir()
    checks = check_folder(DatasetFolder(dataset, tmp_path / "work"))
    assert {check.name: check.problems for check in checks if check.failed} == {}
    source = open_source(dataset, tmp_path / "upstream")
    build(source, tmp_path / "build")
    built = open_folder(tmp_path / "build" / name, dataset)
    assert [check for check in verify(built, source).checks if check.failed] == []
    return dataset, built, notes


@pytest.mark.parametrize(("files", "due"), FORMATS.values(), ids=FORMATS)
def test_a_draft_builds_from_its_files(tmp_path, upstream, files, due):
    (rows, key, chats), name = due, f"drafted_{next(_numbers)}"
    folder = upstream(name, files)
    given = [folder / each for each in dict.fromkeys(file.split("/")[0] for file in files)]
    dataset, built, _ = drafted(tmp_path, name, given)
    assert {split: len(built.rows("dialogues", split)) for split in rows} == rows
    assert list(dataset.splits["dialogues"]) == list(rows)
    assert dataset.configs["dialogues"].keys == key
    assert ("messages" in dataset.configs) == chats


# The content of the folder ------------------------------------------------------------------------

REAL = {
    "casino": (["casino/data/casino.json"], {"train": 1030}, True),
    "duo": (["duo/ed/en", "duo/ed/ja"], {"train": 225}, True),
    "craigslist_bargains": (
        ["craigslist_bargains/test.json", "craigslist_bargains/validation.json"],
        {"validation": 597, "test": 838},
        False,
    ),
    "cosrec": (["cosrec/dataset/crowd/intent_annotations.jsonl"], {"train": 291}, False),
}


def strings(value):
    if isinstance(value, dict):
        return set().union(*map(strings, value), *map(strings, value.values()))
    if isinstance(value, list):
        return set().union(*map(strings, value))
    return {value} if isinstance(value, str) else set()


@pytest.mark.parametrize(("files", "rows", "chats"), REAL.values(), ids=REAL)
def test_a_draft_copies_no_real_text(tmp_path, source, files, rows, chats):
    if absent := [file for file in files if not (source / file).exists()]:
        pytest.skip(f"{absent} is not in PARLEY_SOURCE")
    name = f"drafted_{next(_numbers)}"
    (tmp_path / "upstream").mkdir()
    (tmp_path / "upstream" / name).symlink_to((source / files[0]).parent)
    dataset, built, _ = drafted(tmp_path, name, [source / file for file in files])
    assert {split: len(built.rows("dialogues", split)) for split in rows} == rows
    assert ("messages" in dataset.configs) == chats
    texts = {
        each for split in rows for row in built.rows("dialogues", split) for each in strings(row)
    }
    folder = "".join(path.read_text() for path in dataset.folder.rglob("*.*") if path.is_file())
    assert [text for text in texts if len(text) > 40 and (text in folder)] == []
    sample = [path.stat().st_size for path in dataset.sample.rglob("*") if path.is_file()]
    assert sum(sample) < 10_000


def test_the_sample_shows_each_branch(tmp_path, upstream):
    one, other = {"is": "a", "x": 1}, {"is": "b", "y": None}
    values = [{"id": n, "b": n % 2 > 0, "of": [one, other] * (n % 3), "n": n / 2 if n % 2 else None}
              for n in range(40)]  # fmt: skip
    values[3]["some"] = {"p": [1]}
    folder = upstream("tea", {"all.jsonl": jsonl(*values)})
    dataset, _, _ = drafted(tmp_path, "tea", [folder])
    lines = (dataset.sample / "all.jsonl").read_text().splitlines()
    sample = [json.loads(line) for line in lines]
    assert len(sample) <= 3
    assert [(turn["is"], turn.get("y", 1) is None) for turn in sample[0]["of"]] == [
        ("a", False),
        ("b", False),
        ("b", True),
    ]
    assert {each["n"] is None for each in sample} == {"some" in each for each in sample}
    assert {each["n"] is None for each in sample} == {True, False}


def git(folder, *command):
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    done = subprocess.run(
        ["git", "-C", str(folder), *who, *command], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@pytest.mark.parametrize("remote", ["https://github.com/o/r.git", "git@github.com:o/r", "/else"])
def test_a_clone_of_a_public_repository_gives_the_urls(tmp_path, upstream, remote):
    many = {f"main/en/{n}.json": f'{{"id": {n}}}' for n in range(5)}
    folder = upstream("tea", {**many, "main/a b.json": '{"id": 7}', "main/new.json": '{"id": 8}'})
    git(folder, "init", "-q")
    git(folder, "remote", "add", "origin", remote)
    git(folder, "add", "main/en", "main/a b.json")
    git(folder, "commit", "-qm", "Add data")
    commit = git(folder, "rev-parse", "HEAD")
    made, notes = write_draft(
        "tea", tmp_path / "more", [folder / "main/en", folder / "main/a b.json"]
    )
    dataset = Dataset("tea", made)
    urls = {path: pin["url"] for path, pin in dataset.pins.items()}
    if remote == "/else":
        assert urls["en"] == "https://upstream.invalid/en.zip"
    else:
        assert urls == {
            "main/en": f"https://github.com/o/r/archive/{commit}.zip",
            "main/a b.json": f"https://raw.githubusercontent.com/o/r/{commit}/main/a%20b.json",
        }
        assert dataset.pins["main/en"]["member"] == f"r-{commit}/main/en"
        open_source(dataset, tmp_path / "upstream")  # the clone itself is upstream's layout
    assert any("no URL" in note for note in notes) == (remote == "/else")
    (folder / "main/en/1.json").write_text('{"id": 9}')
    for number, file in enumerate(("main/new.json", "main/en")):  # unknown to git, changed
        _, notes = write_draft(f"tea_{number}", tmp_path / "more", [folder / file])
        assert any("no URL" in note for note in notes)


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


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"a.json": '[{"id": NaN}]'}, "NaN is not JSON"),
        ({"a.json": b'[{"id": "\xe9"}]'}, "codec can't decode"),
        ({"a.json": "[]"}, "found no records"),
        ({"a.pkl": "x"}, "no file of a known format"),
        ({"a.zip": "x"}, "not a zip file"),
        ({"a.zip": zipped({"a.json": "[]"})}, "expected a folder"),
        ({"a.zip": zipped({"d/a.json": "[]", "../d/b.json": "[]"})}, "outside the folder"),
    ],
)
def test_a_failed_draft_leaves_nothing(tmp_path, upstream, files, said):
    folder = upstream("tea", files)
    given = [*folder.glob("*.zip")] or [folder]
    with pytest.raises(ParleyError) as error:
        write_draft("tea", tmp_path / "more", given)
    assert said in str(error.value)
    assert not (tmp_path / "more").exists()


LINES = {"files": {f"{n}.txt": "a\n" * 3 for n in "ab"}, "a zip": zipped({"d/a.txt": "\n" * 6})}


@pytest.mark.parametrize("given", LINES)
def test_a_draft_holds_few_records(tmp_path, upstream, monkeypatch, given):
    monkeypatch.setattr("parley.authoring.starting.given._MOST", 5)
    files = LINES[given]
    folder = upstream("tea", files if given == "files" else {"a.zip": files})
    with pytest.raises(UsageError, match=r"at most 5 records in all"):
        write_draft("tea", tmp_path / "more", [*folder.glob("*.zip")] or [folder])


@pytest.mark.parametrize("most", ["_DIRECTORY", "_FILES"])
def test_a_draft_refuses_an_archive_of_many_entries(tmp_path, upstream, monkeypatch, most):
    monkeypatch.setattr(f"parley.fetching.archive.{most}", 1)
    folder = upstream("tea", {"a.zip": zipped({"d/a.json": "[]", "d/b.json": "[]"})})
    with pytest.raises(ParleyError, match=r"a\.zip: is refused"):
        write_draft("tea", tmp_path / "more", [folder / "a.zip"])


def test_an_interrupted_draft_leaves_nothing(tmp_path, upstream, monkeypatch):
    folder = upstream("tea", {"a.json": '[{"id": 1}]'})

    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("parley.authoring.starting.new.renewed_card", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_draft("tea", tmp_path / "more", [folder])
    assert list((tmp_path / "more").iterdir()) == []


def test_the_command_prints_its_guesses(tmp_path, upstream, monkeypatch, run):
    folder = upstream("tea", {"train.json": '[{"id": "a"}]', "dev.json": '[{"id": "b"}]'})
    status, out, err = run("new", "tea", tmp_path / "a b", "--from", *sorted(folder.iterdir()))
    assert status == 0, err
    *guesses, _, command, _ = (out + err).splitlines()
    assert all(line.startswith("guessed: ") for line in guesses)
    assert "splits, by the names of files: train.json -> train, dev.json -> validation" in out + err
    assert command == f"PARLEY_DATASETS='{tmp_path}/a b' parley check tea"
    monkeypatch.setenv("PARLEY_DATASETS", str(tmp_path / "a b"))
    status, out, err = run("check", "tea")
    assert status == 0, err
    (line,) = [line for line in (out + err).splitlines() if "addresses" in line]
    assert "https://upstream.invalid/" in line
    assert "train.json" in line
