"""The public API: what it names is there and described, and others use nothing else of parley."""

import ast
import re
from pathlib import Path

import api_page
import pytest

import parley

ROOT = Path(__file__).parent.parent
HOMES = ["examples", "benchmarks", "parley/skeleton", "tests/more_datasets"]
HOMES += [path.parent.name for path in ROOT.glob("*/*.py") if path.stem == path.parent.name]
PAGES = [ROOT / "README.md", *ROOT.glob("*/README.md"), *ROOT.glob("docs/*.md")]


def used(code):
    """Yield each name of parley, and each module within it, that some code uses."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "parley":
            inside = node.module.partition(".")[2]
            yield from [inside] if inside else (alias.name for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (a.name[7:] for a in node.names if a.name.startswith("parley."))
        elif isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "parley":
            yield node.attr


def test_every_public_name_is_there():
    assert set(parley.__all__) == {*parley._PLACES, "__version__"}
    for name in parley.__all__:
        getattr(parley, name)


@pytest.mark.parametrize("code", ["from parley.cli import main", "import parley.cli", "parley.cli"])
def test_what_is_not_public_is_noticed(code):
    assert not set(used(code)) <= set(parley.__all__)


@pytest.mark.parametrize("home", HOMES)
def test_code_uses_public_names_alone(home):
    files = [path for path in (ROOT / home).rglob("*.py") if "__pycache__" not in path.parts]
    assert files
    for path in files:
        assert set(used(path.read_text(encoding="utf-8"))) <= set(parley.__all__), path


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_pages_use_public_names_alone(page):
    text = page.read_text(encoding="utf-8")
    for block in re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        assert set(used(block)) <= set(parley.__all__), block


def test_the_page_is_renewed():
    """`make docs` does it."""
    assert api_page.PAGE.read_text(encoding="utf-8") == api_page.page()
