"""Mistakes in declarations are errors that name the field; all mistakes are listed at once."""

import re

import datasets
import pytest

from parley import Builder, ClassLabel, Config, Field, File, Folder, Value, View
from parley.base.errors import ScriptError
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
    given = {"of": "dialogues", "rows": iter, "features": {"id": str}, "key": "id"}
    return View(name, "all", **given | fields)


def of_shape(shape, **fields):
    return builder(CONFIGS=[config(splits={"train": [file(shape=shape)]}, **fields)])


def builder(**fields):
    given = {
        "__doc__": "Invented.",
        "VERSION": "1.0.0",
        "HOMEPAGE": "https://example.org",
        "LICENSE": "cc0-1.0",
        "CITATION": "@misc{invented}",
        "CONFIGS": [config()],
    }
    declared = {name: value for name, value in (given | fields).items() if value is not ...}
    return type("Invented", (Builder,), declared)


def test_a_valid_declaration_is_a_builder_of_datasets():
    here = file("b.json", mirrors=[{"url": URL, "git_blob": GIT, "size": 1}])
    there = file(fallbacks=[here])
    made = builder(
        CONFIGS=[
            config(splits={"train": [there], "dev.hard": [folder(files=None)]}),
            view(key=(), licence="mit"),
            view("files", of="", splits={"train": [here]}, features={"label": LABEL}, key="label"),
        ]
    )
    assert issubclass(made, datasets.GeneratorBasedBuilder)
    assert [each.name for each in made.BUILDER_CONFIGS] == ["dialogues", "view", "files"]
    assert made.DEFAULT_CONFIG_NAME == "dialogues"
    assert list(made.sources()) == ["a.json", "b.json", "c"]
    assert made.splits("view") == made.splits("dialogues")
    assert [made.licence(name) for name in made.configs()] == ["cc0-1.0", "mit", "cc0-1.0"]
    ours = view(features={"label": ClassLabel(["a", "b"]), "of": [Value("int8")], "n": int})
    theirs = view(features={"label": LABEL, "of": [datasets.Value("int8")], "n": int})
    due = datasets.Features({"label": LABEL, "of": [datasets.Value("int8")], "n": Int})
    assert [datasets_features(each.features) for each in (ours, theirs)] == [due, due]


Int = datasets.Value("int64")
LABEL = datasets.ClassLabel(names=["a", "b"])
WRONG = {  # declaration, field and problem
    # files
    "a size that is a string": (lambda: file(size="423"), "size: .* number of bytes, found '423'"),
    "a size below 0": (lambda: file(size=-1), "size: "),
    "a size that is a flag": (lambda: file(size=True), "size: "),
    "no URL": (lambda: file(url=None), "url: .* https://"),
    "a URL that may be changed on the way": (lambda: file(url="http://a.b/c"), "url: .* https://"),
    "a URL of a branch": (lambda: file(url="https://a.b/o/r/main/c"), "url: .* commit, .* main"),
    "an archive of a branch": (lambda: file(url="https://a.b/archive/master.zip"), "url: .*master"),
    "no hash": (lambda: file(sha256=""), "sha256 and git_blob, found none"),
    "two hashes": (lambda: file(git_blob=GIT), "found sha256, git_blob"),
    "a short hash": (lambda: file(sha256="00"), "sha256: .* 64 hexadecimal digits, found '00'"),
    "a hash that is a number": (lambda: file(sha256=7), "sha256: "),
    "a path from the root": (lambda: file("/a.json"), "path: "),
    "a path outside": (lambda: file("../a.json"), "path: "),
    "a path that is none": (lambda: file(7, read="json"), "path: .* found 7"),
    "an unknown format": (lambda: file(read="xml"), "read: .*json lines.* a function, found 'xml'"),
    "a format that no ending tells": (lambda: file("data"), "read: "),
    "a format that is a number": (lambda: file(read=7), "read: "),
    "a check that is no function": (lambda: file(validate="sound"), "validate: .* function"),
    "any type": (lambda: file(shape={"id": object}), "shape: .*object"),
    "a shape of two items": (lambda: file(shape={"x?": [[str, int]]}), r"\.x\[\]: .* no shape"),
    "mixed keys": (lambda: file(shape={str: int, "a": str}), "shape: .* keys"),
    "mirrors that are one": (lambda: file(mirrors={"url": URL}), "mirrors: .* list of dicts"),
    "a mirror that is a URL": (lambda: file(mirrors=[URL]), "mirrors: .* list of dicts"),
    "a mirror without a hash": (lambda: file(mirrors=[{"url": URL}]), r"mirrors\[0\]: .* none"),
    "a mirror's hash": (lambda: file(mirrors=[{"url": URL, "sha256": "00"}]), r"mirrors\[0\]\.sha"),
    "a mirror's path": (
        lambda: file(mirrors=[{"url": URL, "sha256": SHA256, "path": "b"}]),
        r"mirrors\[0\]\.path: unknown key",
    ),
    "a fallback that is no list": (lambda: file(fallbacks=file("b.json")), "fallbacks: .* list"),
    "a fallback that is a path": (lambda: file(fallbacks=["b.json"]), "fallbacks: .* Files"),
    # folders
    "a folder without a hash": (lambda: folder(git_tree=""), "one of git_tree, found none"),
    "a folder outside": (lambda: folder(member="../data"), "member: "),
    "a folder with a slash": (lambda: folder(member="data/"), "member: "),
    "a count that is a string": (lambda: folder(files="3"), "files: "),
    # configs
    "a name with a dash": (lambda: config("all-dialogues"), "name: .* found 'all-dialogues'"),
    "no description": (lambda: config(description=""), "description: "),
    "a split with a dash": (lambda: config(splits={"dev-1": [file()]}), r"splits\['dev-1'\]: "),
    "a split named all": (lambda: config(splits={"all": [file()]}), r"splits\['all'\]: "),
    "no splits": (lambda: config(splits={}), "splits: "),
    "a split without files": (lambda: config(splits={"train": []}), r"splits\['train'\]: .*\[\]"),
    "a split that is a file": (lambda: config(splits={"train": file()}), r"splits\['train'\]: "),
    "a split of paths": (lambda: config(splits={"train": ["a.json"]}), r"splits\['train'\]: "),
    "a file twice": (lambda: config(splits={"train": [file()] * 2}), "names a file twice"),
    "a key that is a number": (lambda: config(key=7), "key: "),
    "records that are no function": (lambda: config(records="all", shape={"id": str}), "records: "),
    "records without a shape": (lambda: config(records=iter), "shape: "),
    "a shape without records": (lambda: config(shape={"id": str}), "shape: "),
    "a licence that is none": (lambda: config(licence=None), "licence: "),
    "a record that is text": (lambda: of_shape(str), "the record: .*Converted"),
    "null or absent": (lambda: of_shape({"id": str, "x?": (str, None)}), r"\.x: may be absent or"),
    "text or a list": (lambda: of_shape({"id": (str, [str])}), r"\.id: string or a list: "),
    "no column": (lambda: of_shape({"uuid": str}), "key: .* uuid.* 'id'"),
    "a key that is a list": (lambda: of_shape({"id": [str]}), "key: .* found 'id'"),
    "a key that is an object": (lambda: of_shape({"id": {"a": str}}), "key: .* found 'id'"),
    # views
    "a view of nothing": (lambda: view(of=""), "of: .* `splits`"),
    "a view with records of a config": (lambda: view(records=iter), "records: requires"),
    "rows that are no function": (lambda: view(rows=[]), "rows: .* function"),
    "features that are a list": (lambda: view(features=[str]), "features: .* dict of columns"),
    "no features": (lambda: view(features={}), "without keys has no column"),
    "a feature of anything": (lambda: view(features={"id": object}), r"\.id: .* no shape"),
    "a view of no config": (lambda: builder(CONFIGS=[config(), view(of="x")]), "of: .*'x'"),
    "nested views": (
        lambda: builder(CONFIGS=[config(), view(), view("other", of="view")]),
        "of: .* a Config",
    ),
    # the class
    "no docstring": (lambda: builder(__doc__=...), "the docstring: missing"),
    "no version": (lambda: builder(VERSION=...), "VERSION: "),
    "a short version": (lambda: builder(VERSION="1.0"), "VERSION: "),
    "no homepage": (lambda: builder(HOMEPAGE=...), "HOMEPAGE: "),
    "no licence": (lambda: builder(LICENSE=""), "LICENSE: "),
    "a language": (lambda: builder(LANGUAGES="en"), "LANGUAGES: "),
    "a meaning of two lines": (lambda: Field(int, "a\nb"), "meaning: "),
    "a meaning that is no text": (lambda: Field(int, 3), "meaning: "),
    "no citation": (lambda: builder(CITATION="Ann Someone"), "CITATION: .* begins with @"),
    "no configs": (lambda: builder(CONFIGS=...), "CONFIGS: "),
    "configs that are one": (lambda: builder(CONFIGS=config()), "CONFIGS: .* list"),
    "configs by name": (lambda: builder(CONFIGS={"dialogues": config()}), "CONFIGS: .* list"),
    "another default": (lambda: builder(CONFIGS=[config("talks")]), "CONFIGS: .* found talks"),
    "a config twice": (lambda: builder(CONFIGS=[config(), config()]), "has dialogues more than"),
    "only views": (
        lambda: builder(CONFIGS=[view("dialogues", of="", splits={"train": [file()]})]),
        "CONFIGS: has no Config",
    ),
    "two files": (lambda: builder(CONFIGS=[config(), config("more")]), "declared twice"),
    "same fallback": (
        lambda: builder(CONFIGS=[config(splits={"train": [file(fallbacks=[file()])]})]),
        "declared twice",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_an_error_names_the_field(name):
    declare, message = WRONG[name]
    with pytest.raises(ScriptError) as error:
        declare()
    problems = error.value.problems or [""]
    named = [f"{error.value.message} {problem}" for problem in problems]
    assert any(re.search(message, each) for each in named), named
    assert len(named) <= 2, "too many problems"


def test_an_error_lists_all_mistakes_of_a_part():
    for declare, due in (
        (lambda: file("/a", url="x", size="1", sha256="0"), "path read url size sha256"),
        (lambda: config("-", "", {}, key=7), "name description key splits"),
        (lambda: builder(VERSION="1", LICENSE="", CONFIGS=[]), "VERSION LICENSE CONFIGS"),
    ):
        with pytest.raises(ScriptError) as error:
            declare()
        assert [problem.place for problem in error.value.problems] == due.split()
