"""What `parley show` and the page read of a built folder: each dialogue, once."""

import copy
import math
import re
import shutil
from contextlib import suppress
from dataclasses import replace

import pyarrow as pa
import pytest
from build_changes import retable

from parley.base.errors import OutputError, ScriptError
from parley.builds.built_folder import find_folder
from parley.builds.frozen import frozen
from parley.cli.show_commands import find_dialogue
from parley.declaration.registry import get
from parley.read.dialogues import dialogues
from parley.read.transcript import Note, Transcript, Turn


@pytest.fixture
def folder(sample_build):
    """Open the sample build of a dataset."""
    return lambda name: find_folder(sample_build, get(name))


def column(built, config, *columns):
    """Return these columns of a config, with the labels by name."""
    return [tuple(row[column] for column in columns) for row in built.rows_with_names(config)]


def test_every_dialogue_is_read_once_and_knows_its_places(sample_build, dataset):
    built = find_folder(sample_build, dataset)
    found = {}
    for each in dialogues(built):
        assert each.id not in found
        found[each.id] = each
        assert each.transcript.language in dataset.builder.LANGUAGES
    due = {}
    for config in dataset.layout.configs:
        for split in built.splits(config):
            for row in built.rows(config, split):
                due.setdefault(str(next(iter(row.values()))), []).append((config, split))
    assert {id: list(each.places) for id, each in found.items()} == due
    assert all((each.config, each.split) == each.places[0] for each in found.values())


def test_of_a_config_only_the_dialogues_are_read_that_no_richer_one_has(folder, monkeypatch):
    module = get("casino").load_module("transcript")
    monkeypatch.setattr(module, "CONFIGS", ("strategies", "dialogues"))
    labelled = {id for (id,) in column(folder("casino"), "strategies", "dialogue_id")}
    every = [id for (id,) in column(folder("casino"), "dialogues", "dialogue_id")]
    found = list(dialogues(folder("casino")))
    read = [each.row["dialogue_id"] for each in found if each.config == "dialogues"]
    assert read == [id for id in every if id not in labelled]
    assert 0 < len(read) < len(every)


def test_related_rows_are_those_of_the_dialogue(folder):
    built = folder("craigslist_bargains")
    for each in dialogues(built):
        acts = [act["dialogue_id"] for act in each.beside["dialogue_acts"]]
        assert acts == [each.id] * len(each.row["events"])


@pytest.mark.parametrize("change", [
    lambda row: row.update(dialogue_id=7), lambda row: row["chat_logs"][0].update(text="x"),
], ids=["a field", "an entry of a list"])  # fmt: skip
def test_a_function_cannot_change_rows_that_others_read(folder, monkeypatch, change):
    built = folder("casino")
    due = list(built.each_row("dialogues", "train"))
    rows = built.rows("dialogues", "train")
    with pytest.raises(TypeError):
        change(rows[0])
    rows.clear()  # the list is the caller's own
    rows = built.rows("dialogues", "train")
    for own in (copy.deepcopy(rows[0]), built.record("dialogues", rows[0])):
        with suppress(TypeError):  # a record shares some of its parts with a row
            change(own)
    assert built.rows("dialogues", "train") == due
    built.features("dialogues").pop("chat_logs")
    assert "chat_logs" in built.features("dialogues")
    monkeypatch.setitem(vars(built.dataset.layout), "transcript", change)
    with pytest.raises(ScriptError):
        _ = next(dialogues(built)).transcript


FROZEN = [  # a value, and the methods that would change it with their arguments
    ({"a": 1}, {
        "__setitem__": ("a", 2), "__delitem__": ("a",), "__ior__": ({"b": 2},), "clear": (),
        "pop": ("a",), "popitem": (), "setdefault": ("b", 2), "update": ({"b": 2},),
    }),
    ([2, 1], {
        "__setitem__": (0, 3), "__delitem__": (0,), "__iadd__": ([3],), "__imul__": (2,),
        "append": (3,), "clear": (), "extend": ([3],), "insert": (0, 3), "pop": (),
        "remove": (2,), "reverse": (), "sort": (),
    }),
]  # fmt: skip


@pytest.mark.parametrize(
    ("due", "name", "given"), [(due, *each) for due, names in FROZEN for each in names.items()]
)
def test_no_method_changes_what_is_frozen(due, name, given):
    for value in (frozen(due), frozen([due])[0], frozen({"x": due})["x"]):
        with pytest.raises(TypeError):
            getattr(value, name)(*given)
        assert value == due
    getattr(changed := copy.deepcopy(frozen(due)), name)(*given)
    assert changed != due


def test_a_transcript_of_another_form_is_an_error_that_names_the_field(folder, monkeypatch):
    each = next(dialogues(folder("duo")))
    for change, field in (
        ({"notes": ("a label",)}, "notes[0]"),
        ({"notes": (Note("a label", detail=None),)}, "notes[0].detail"),
        ({"notes": "a label"}, "notes"),
        ({"action": "yes"}, "action"),
        ({"text": None}, "text"),
        ({"text": "\ud800"}, "text"),
    ):
        made = Transcript("a title", turns=[replace(Turn("a", "b"), **change)])
        monkeypatch.setitem(vars(each.dataset.layout), "transcript", lambda row, made=made: made)
        with pytest.raises(ScriptError, match=re.escape(f" turns[0].{field}: ")):
            _ = each.transcript
    monkeypatch.setitem(vars(each.dataset.layout), "transcript", lambda row: row)
    with pytest.raises(ScriptError):
        _ = each.transcript


@pytest.mark.parametrize("value", [None, math.nan, True, [1]])
@pytest.mark.parametrize(
    ("name", "config"), [("casino", "dialogues"), ("craigslist_bargains", "dialogue_acts")]
)
def test_a_row_whose_id_names_nothing_is_an_error(sample_build, tmp_path, name, config, value):
    build = shutil.copytree(sample_build / name, tmp_path / name)
    place, ids = pa.field("dialogue_id", pa.array([value]).type), lambda table: [value] * len(table)
    for file in (build / config).glob("train-*.parquet"):
        retable(file, lambda table: table.drop("dialogue_id").append_column(place, [ids(table)]))
    built = find_folder(tmp_path, get(name))
    message = rf"{config}/train\[0\]\.dialogue_id: "
    with pytest.raises(OutputError, match=message):
        find_dialogue(built.dataset, None, built, "")
    with pytest.raises(OutputError, match=message):
        list(dialogues(built))


@pytest.mark.parametrize(("name", "change", "field"), [
    ("casino", {"chat_logs": 5}, "[0].chat_logs: "),
    ("casino", {"chat_logs": [{"text": "x"}]}, "[0].chat_logs[0].id: "),
    ("casino", {"participant_info": None}, "participant_info is null"),
    ("duo", {"language": True}, "[0].language: ")
])  # fmt: skip
def test_a_row_of_another_shape_is_an_error_that_names_the_field(folder, name, change, field):
    each = next(dialogues(folder(name)))
    with pytest.raises(ScriptError, match=re.escape(field)):
        _ = replace(each, row=each.row | change).transcript
