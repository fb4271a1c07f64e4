"""The public API: its names exist, its examples run, and other code uses no other names."""

import ast
import doctest
import os
import re
import shutil
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest
from processes import python

import parley
from parley import read, tasks
from parley.page import serve

ROOT = Path(__file__).parent.parent
USER = ["list", "load", "open", "fetch", "build", "verify", "questions", "score", "compare"]
USER += ["labels", "connect", "browse"]
HOMES = ["examples", "parley/authoring/skeleton"]
HOMES += [path.parent.name for path in ROOT.glob("*/*.py") if path.stem == path.parent.name]
PAGES = [ROOT / "README.md", *ROOT.glob("*/README.md"), *ROOT.glob("docs/*.md")]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
DOORS = {"": parley, "tasks": tasks, "read": read}
PUBLIC = {name: set(door.__all__) for name, door in DOORS.items()}


def private(code):
    """Return the names of parley in code that are not public."""
    found, doors = [], set()  # the doors that the code imports as modules
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "parley":
            module = node.module.partition(".")[2]
            doors |= {alias.name for alias in node.names if not module} & PUBLIC.keys()
            found += [(module, alias.name) for alias in node.names]
        elif isinstance(node, ast.Import):
            found += [("", a.name[7:]) for a in node.names if a.name.startswith("parley.")]
        elif isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "parley":
            found.append(("", node.attr))
        elif isinstance(node, ast.Attribute) and getattr(node.value, "id", "") in doors:
            found.append((node.value.id, node.attr))
    return [
        each for each in found if each[1] not in PUBLIC.get(each[0], ()) and each[1] not in doors
    ]


def test_every_public_name_exists_and_help_is_short():
    assert len(parley.__all__) <= 51
    assert set(USER) < set(parley.__all__)
    for door in DOORS.values():
        assert all(getattr(door, name) is not None for name in door.__all__)
    exec("assert not hasattr(parley, 'Task')", {"parley": parley})  # a namespace without a name
    assert all(callable(getattr(parley, name)) for name in USER)  # no module of this name
    text = python("-m", "pydoc", "parley").stdout  # a process without `datasets`
    # Python 3.13 and later break a long signature into a line for each parameter
    assert len(text.splitlines()) <= (330 if sys.version_info < (3, 13) else 400)
    assert text.index("\nFUNCTIONS\n") < 40 * 50
    for name in USER:
        assert re.search(rf"^    {name}\(", text, re.MULTILINE), name


def test_datasets_examples_and_pages_use_only_public_names():
    for home in HOMES:
        files = [path for path in (ROOT / home).rglob("*.py") if "__pycache__" not in path.parts]
        assert files
        for path in files:
            assert not private(path.read_text(encoding="utf-8")), path
    for page in PAGES:
        for block in BLOCK.findall(page.read_text(encoding="utf-8")):
            assert not private(block), (page, block)


@pytest.mark.parametrize("name", USER)
def test_the_example_of_a_function_runs(name, sample_build, tmp_path, monkeypatch):
    real = os.environ.get("PARLEY_SOURCE", "")
    (example,) = doctest.DocTestFinder(recurse=False).find(
        getattr(parley, name), name, globs={"parley": parley}
    )
    assert example.examples
    if name in ("load", "fetch"):
        if not real:
            pytest.skip("PARLEY_SOURCE is not set: no real upstream files at hand")
        shutil.copytree(Path(real, "casino"), tmp_path / "cache" / "casino")
        monkeypatch.setenv("PARLEY_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("PARLEY_SOURCE", raising=False)
    monkeypatch.chdir(tmp_path)
    if name not in ("load", "build"):
        (tmp_path / "build").symlink_to(sample_build)
    if name == "compare":
        for file in ("mine.jsonl", "other.jsonl"):
            parley.score("build/casino", "outcomes", baseline="commonest").save(tmp_path / file)
    for file in ("ann1.csv", "ann2.csv") if name == "labels" else ():
        (tmp_path / file).write_text("dialogue_id,turn,labels\n2001,0,small-talk\n")
    if name == "browse":  # what ends it
        monkeypatch.setattr(serve.SiteParts, "make_asked", Mock(side_effect=KeyboardInterrupt))
    failed, _ = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example)
    assert not failed
