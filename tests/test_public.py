"""The public API: its names exist, `help` describes them, and other code uses no other names."""

import ast
import pydoc
import re
from pathlib import Path

import pytest

import parley

ROOT = Path(__file__).parent.parent
HOMES = ["examples", "benchmarks", "parley/authoring/skeleton"]
HOMES += [path.parent.name for path in ROOT.glob("*/*.py") if path.stem == path.parent.name]
PAGES = [ROOT / "README.md", *ROOT.glob("*/README.md"), *ROOT.glob("docs/*.md")]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def used(code):
    """Yield each name and each module of parley that code uses."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "parley":
            inside = node.module.partition(".")[2]
            yield from [inside] if inside else (alias.name for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (a.name[7:] for a in node.names if a.name.startswith("parley."))
        elif isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "parley":
            yield node.attr


def test_every_public_name_exists_and_help_describes_it():
    assert set(parley.__all__) == {*parley._PLACES, "__version__"}
    text = pydoc.plain(pydoc.render_doc(parley))
    for name in parley._PLACES:
        assert getattr(parley, name) is not None
        assert re.search(rf"^    (class )?{name}\b", text, re.MULTILINE), name


@pytest.mark.parametrize("code", ["from parley.cli import main", "import parley.cli", "parley.cli"])
def test_private_names_are_noticed(code):
    assert not set(used(code)) <= set(parley.__all__)


def test_datasets_examples_and_pages_use_only_public_names():
    for home in HOMES:
        files = [path for path in (ROOT / home).rglob("*.py") if "__pycache__" not in path.parts]
        assert files
        for path in files:
            assert set(used(path.read_text(encoding="utf-8"))) <= set(parley.__all__), path
    for page in PAGES:
        for block in BLOCK.findall(page.read_text(encoding="utf-8")):
            assert set(used(block)) <= set(parley.__all__), (page, block)
