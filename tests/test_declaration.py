"""Mistakes in declarations are errors that name the field; all mistakes are listed at once."""

from types import ModuleType

import datasets
import pytest

import parley
from parley import Builder, ClassLabel, Config, Field, File, Folder, Value
from parley.base.errors import ScriptError
from parley.declaration.jobs import Job
from parley.declaration.layout import layout_of
from parley.read import Facet
from parley.schema.features import datasets_features

URL, SHA256, GIT = "https://example.org/1.0/a.json", "0" * 64, "0" * 40


def file(path="a.json", shape=None, **fields):
    return File(path, shape or {"id": str}, **{"url": URL, "sha256": SHA256} | fields)


def folder(**fields):
    pin = {"url": URL, "member": "data", "git_tree": GIT}
    return Folder("c", {"id": str}, **pin | fields)


def config(name="dialogues", description="all", splits=None, **fields):
    splits = {"train": [file()]} if splits is None else splits
    return Config(name, description, splits, **{"key": "id"} | fields)


def view(name="view", **fields):
    def rows(records):
        yield from records

    rows.__name__ = name
    usual = {"of": "dialogues", "columns": {"id": str}}
    return parley.View("all", **usual | fields)(rows)


def of_shape(shape, **fields):
    return builder(CONFIGS=[config(splits={"train": [file(shape=shape)]}, **fields)])


def builder(**fields):
    given = {
        "__doc__": "Invented.", "VERSION": "1.0.0", "HOMEPAGE": "https://example.org",
        "LICENSE": "cc0-1.0", "CONFIGS": [config()]
    }  # fmt: skip
    declared = {name: value for name, value in (given | fields).items() if value is not ...}
    return type("Invented", (Builder,), declared)


def layout(**names):
    module = ModuleType("transcript")
    usual = {"__file__": "transcript.py", "CONFIGS": ("dialogues",), "transcript": print}
    vars(module).update(usual | names)
    return layout_of(module, {"dialogues": config()}, ["dialogues.id", "dialogues.turns[]"])


def test_a_valid_declaration_is_a_builder_of_datasets():
    commit = f"https://a.b/o/r/{GIT}/main/c"  # with a folder of this name
    here = file("b.json", url=commit, mirrors=[{"url": URL, "git_blob": GIT, "size": 1}])
    there = file()
    splits = {"train": [there], "dev.hard": [folder(files=None)]}
    dialogues = config(splits=splits, splits_share_keys=True)
    files = view("files", of="", splits={"train": [here]}, columns={"label": LABEL}, key="label")
    own = view("own", key=(), splits_share_keys=False)
    made = builder(CONFIGS=[dialogues, view(licence="mit"), files, own])
    assert issubclass(made, datasets.GeneratorBasedBuilder)
    assert [each.name for each in made.BUILDER_CONFIGS] == ["dialogues", "view", "files", "own"]
    assert [each.keys for each in made.CONFIGS] == [("id",), ("id",), ("label",), ()]
    assert [bool(each.splits_share_keys) for each in made.CONFIGS] == [True, True, False, False]
    assert made.DEFAULT_CONFIG_NAME == "dialogues"
    splits = made.splits()
    assert splits["view"] == splits["dialogues"]
    assert [each.path for each in splits["view"]["dev.hard"]] == ["c"]
    assert [made.licence(name) for name in made.configs()] == [
        "cc0-1.0",
        "mit",
        "cc0-1.0",
        "cc0-1.0",
    ]
    ours = view(columns={"label": LABEL, "of": [Value("int8")], "n": int}).features
    label = datasets.ClassLabel(names=["a", "b"])
    due = {"label": label, "of": [datasets.Value("int8")], "n": datasets.Value("int64")}
    assert datasets_features(ours) == datasets.Features(due)
    both = config(splits={"train": [file(), file("b.json", {"id": int})]}, key=())
    assert [both.node.fits({"id": id}) for id in ("a", 1, None)] == [True, True, False]


LABEL = ClassLabel({"a": "it", "b": ""})
TWO_OF_A_URL = [file(), file("b.json", sha256="1" * 64)]
WRONG = {  # the field or file that an error names -> declarations
    "size": [lambda: file(size="423"), lambda: file(size=-1), lambda: file(size=True)],
    "url": [
        lambda: file(url=None), lambda: file(url="http://a.b/c"),  # which may be changed on the way
        lambda: file(url="https://a.b/o/r/main/c"),  # of a branch
        lambda: file(url="https://a.b/archive/master.zip"), lambda: file(url="https://a.b/HEAD/c"),
    ],
    "": [lambda: file(sha256=""), lambda: file(git_blob=GIT), lambda: folder(git_tree="")],
    "sha256": [lambda: file(sha256="00"), lambda: file(sha256=7)],
    "path": [lambda: file("/a.json"), lambda: file("../a.json"), lambda: file(7, read="json")],
    "read": [lambda: file(read="xml"), lambda: file("data"), lambda: file(read=7)],
    "validate": [lambda: file(validate="sound")],
    "shape": [
        lambda: file(shape={"id": object}), lambda: file(shape={str: int, "a": str}),
        lambda: file(shape={"x?": [[str, int]]}), lambda: config(records=iter),
        lambda: config(shape={"id": str}), lambda: view(columns={"id": object}),
        lambda: view(columns={"id": datasets.Value("string")}),
    ],
    "mirrors": [lambda: file(mirrors={"url": URL}), lambda: file(mirrors=[URL])],
    "mirrors[0]": [lambda: file(mirrors=[{"url": URL}])],
    "mirrors[0].sha256": [lambda: file(mirrors=[{"url": URL, "sha256": "00"}])],
    "mirrors[0].path": [lambda: file(mirrors=[{"url": URL, "sha256": SHA256, "path": "b"}])],
    "member": [lambda: folder(member="../data"), lambda: folder(member="data/")],
    "files": [lambda: folder(files="3")],
    "b.json.url": [lambda: builder(CONFIGS=[config(splits={"train": TWO_OF_A_URL})])],
    "name": [lambda: config("all-dialogues"), lambda: view("_messages")],
    "description": [lambda: config(description="")],
    "splits": [lambda: config(splits={})],
    "splits['dev-1']": [lambda: config(splits={"dev-1": [file()]})],
    "splits['all']": [lambda: config(splits={"all": [file()]})],
    "splits['train']": [
        lambda: config(splits={"train": []}), lambda: config(splits={"train": file()}),
        lambda: config(splits={"train": ["a.json"]}),
        lambda: config(splits={"train": [file()] * 2}),
    ],
    "key": [
        lambda: config(key=7), lambda: of_shape({"uuid": str}), lambda: of_shape({"id": [str]}),
        lambda: of_shape({"id": {"a": str}}), lambda: config(key=None),
        lambda: view(of="", splits={"train": [file()]}),
        lambda: builder(CONFIGS=[config(), view(columns={"uuid": str})]),
    ],
    "records": [lambda: config(records="all", shape={"id": str}), lambda: view(records=iter)],
    "unjoin": [
        lambda: config(records=iter, shape={"id": str}), lambda: config(unjoin=iter),
        lambda: config(records=iter, shape={"id": str}, unjoin=1),
    ],
    "licence": [lambda: config(licence=None)],
    "left_out.test": [lambda: config(left_out={"test": {"a.json": 1}})],
    "left_out.train.b.json": [lambda: config(left_out={"train": {"b.json": 1}})],
    "left_out.train.a.json": [lambda: config(left_out={"train": {"a.json": -1}})],
    "left_out.train.rows": [lambda: view(left_out={"train": {"rows": 1}})],
    "left_out.train.turns": [lambda: view(left_out={"train": {"turns": "1"}})],
    "repeats.test": [lambda: config(repeats={"test": 1})],
    "the record": [lambda: of_shape(str), lambda: view(columns={})],
    "columns": [
        lambda: of_shape({"id": str, "Split": str}), lambda: of_shape({"id": str, "ID": str}),
        lambda: view(columns=[str]),
    ],
    ".x": [lambda: of_shape({"id": str, "x?": (str, None)})],
    ".id": [lambda: of_shape({"id": (str, [str])})],
    "of": [
        lambda: view(of="", key="id"), lambda: builder(CONFIGS=[config(), view(of="x")]),
        lambda: builder(CONFIGS=[config(), view(), view("other", of="view")]),
    ],
    "rejoin": [lambda: view(splits={"train": [file()]}, rejoin="all")],
    "run": [lambda: Job(lambda: None)],
    "x.zip": [
        lambda: Job(Job, {"x": {"x.zip": {"url": URL, "size": 1}}}),
        lambda: Job(Job, {"x": {"x.zip": {"url": URL, "sha256": SHA256}}}),
    ],
    "BESIDE": [lambda: layout(BESIDE={"dialogues": "uuid"}), lambda: layout(BESIDE=["dialogues"])],
    "SPEAKERS.user": [lambda: layout(SPEAKERS={"user": 1})],
    "SAID.uuid": [lambda: layout(SAID={"uuid": "text"})],
    "FACETS": [lambda: layout(FACETS=["turns"]), lambda: layout(FACETS={"turns": "{} turns"})],
    "FACETS.turns": [
        lambda: layout(FACETS={"turns": Facet("many", column="dialogues")}),
        lambda: layout(FACETS={"turns": Facet(3, column="dialogues")}),
        *(
            lambda at=at: layout(FACETS={"turns": Facet(column=at)})
            for at in ("", "dialogues.uuid", "dialogues.turns[]")
        ),
    ],
    "the docstring": [lambda: builder(__doc__=...)],
    "VERSION": [lambda: builder(VERSION=...), lambda: builder(VERSION="1.0")],
    "HOMEPAGE": [lambda: builder(HOMEPAGE=...)],
    "LICENSE": [lambda: builder(LICENSE="")],
    "LANGUAGES": [lambda: builder(LANGUAGES="en")],
    "meaning": [lambda: Field(int, "a\nb"), lambda: Field(int, 3)],
    "names: 'b'": [
        lambda: ClassLabel({"a": "", "b": None}), lambda: ClassLabel({"a": "", "b": "it\nit"}),
        lambda: ClassLabel({"b": "<!-- it"}),
    ],
    "names": [
        lambda: ClassLabel({}), lambda: ClassLabel({1: "it"}), lambda: ClassLabel("ab"),
        lambda: ClassLabel(["a", "a"]),
    ],
    "CITATION": [lambda: builder(CITATION="@misc{invented}")],
    "CONFIGS": [
        lambda: layout(CONFIGS=()), lambda: builder(CONFIGS=...), lambda: builder(CONFIGS=config()),
        lambda: builder(CONFIGS={"dialogues": config()}),
        lambda: builder(CONFIGS=[config("talks")]), lambda: builder(CONFIGS=[config(), config()]),
        lambda: builder(CONFIGS=[view("dialogues", of="", key="id", splits={"train": [file()]})]),
    ],
    "a.json": [
        lambda: builder(CONFIGS=[config(), config("more")]),
        lambda: builder(CONFIGS=[config(splits={"train": [file()], "test": [file()]})]),
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("field", "declare"), [(field, each) for field, wrong in WRONG.items() for each in wrong]
)
def test_an_error_names_the_field(field, declare):
    with pytest.raises(ScriptError) as error:
        declare()
    places = [problem.place for problem in error.value.problems] or [""]
    assert any(field in f"{error.value.message} {place}" for place in places), error.value
    assert len(places) <= 2, "too many problems"


def test_an_error_lists_all_mistakes_of_a_part():
    for declare, due in (
        (lambda: file("/a", url="x", size="1", sha256="0"), "path read url size sha256"),
        (lambda: config("-", "", {}, key=7), "name description key splits"),
        (lambda: builder(VERSION="1", LICENSE="", CONFIGS=[]), "VERSION LICENSE CONFIGS"),
        (
            lambda: layout(transcript=1, titles=1, FACETS=1, CONFIGS="dialogues", TABLES={"x": 1}),
            "CONFIGS TABLES.x FACETS transcript titles",
        ),
    ):
        with pytest.raises(ScriptError) as error:
            declare()
        assert [problem.place for problem in error.value.problems] == due.split()
