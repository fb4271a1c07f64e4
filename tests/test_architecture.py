"""docs/architecture.md lists every folder, and imports lead up its table of rooms."""

import ast
import re
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import parley
from parley.declaration.registry import discover, folders

ROOT = Path(__file__).parent.parent
TOOL = ROOT / "parley"
LAYOUT = (ROOT / "docs/architecture.md").read_text(encoding="utf-8").split("## Code layout")[1]
PAGE = {".js", ".css", ".html"}
ROOMS = re.findall(r"^\| `(\w+)/` \|", LAYOUT, re.MULTILINE)


def lines_of(text):
    """Return the number of lines that are not blank."""
    return sum(bool(line.strip()) for line in text.splitlines())


def imports():
    """Return module -> imported modules of parley, also for types alone."""
    modules = {
        ".".join(path.relative_to(TOOL).with_suffix("").parts).removesuffix(".__init__"): path
        for path in TOOL.rglob("*.py")
        if "skeleton" not in path.parts  # a dataset folder
    }
    found = {name: set() for name in modules}
    for name, path in modules.items():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                of = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
            elif isinstance(node, ast.Import):
                of = [alias.name for alias in node.names]
            else:
                continue
            ours = {module.removeprefix("parley.") for module in of if module.startswith("parley.")}
            found[name] |= ours & modules.keys() - {name}
    return found


def test_the_page_names_every_folder():
    folders = {path.parent.name for path in TOOL.glob("*/__init__.py")}
    assert sorted(ROOMS) == sorted(folders)
    assert len(folders) <= 16
    assert not folders & {*parley.__all__}  # importing a room would replace the function


def test_a_room_imports_from_those_above_it():
    place = {folder: number for number, folder in enumerate(ROOMS)}
    downward = [
        f"{module} imports {other}"
        for module, others in imports().items()
        for other in others
        if (own := module.partition(".")[0]) in place
        and place.get(other.partition(".")[0], len(place)) > place[own]
    ]
    assert not downward


def test_no_modules_import_each_other_in_a_circle():
    TopologicalSorter(imports()).prepare()  # names the modules of a circle in its error


def test_a_script_of_the_page_calls_none_that_is_loaded_after_it():
    dialogues = (TOOL / "page/templates/dataset-dialogues.html").read_text(encoding="utf-8")
    (loaded,) = re.findall(r'"(.+)"\.split', dialogues)
    later = set()
    for script in reversed(["every_page", *loaded.split()]):
        text = (TOOL / f"page/assets/{script}.js").read_text(encoding="utf-8")
        for other in later:
            used = other + (r"\b" if other.isupper() else r"\(")
            method = rf"  (?:async )?{other}\("  # of the same name
            assert not re.search(rf"^(?!{method}).*(?<![\w.]){used}", text, re.M), (script, other)
        later |= {*re.findall(r"^(?:async )?(?:function|class|const) (\w+)", text, re.M)}
    assert len(later) > 50


def test_no_room_has_more_lines_than_its_budget():
    rooms = re.findall(r"^\| `([\w/.*]+)` \|.*\| ([\d,]+) \|$", LAYOUT, re.MULTILINE)
    (most,) = re.findall(r"^\| in all \| \| ([\d,]+) \|$", LAYOUT, re.MULTILINE)
    assert len(rooms) > len(ROOMS)
    in_all = 0
    for name, budget in rooms:
        above = TOOL if name.endswith("/") else ROOT
        files = above.glob(name) if "*" in name else (above / name).rglob("*.py")
        texts = [path.read_text(encoding="utf-8") for path in files]
        lines = sum(map(lines_of, texts))
        what = f"{name} has {lines} lines: raise its number in docs/architecture.md to the next 250"
        assert 0 < lines <= int(budget.replace(",", "")), what
        in_all += lines
    assert in_all <= int(most.replace(",", ""))
    (of_page,) = re.findall(r"^\| JavaScript, CSS and templates \|.*\| ([\d,]+) \|$", LAYOUT, re.M)
    page = [path for path in TOOL.rglob("*.*") if path.suffix in PAGE]
    texts = [path.read_text(encoding="utf-8") for path in page]
    assert 0 < sum(map(lines_of, texts)) <= int(of_page.replace(",", ""))


def test_the_tool_names_no_dataset():
    examples = {TOOL / "api.py", TOOL / "cli/examples.py"}  # those for users take real ones
    files = [*{*TOOL.rglob("*.py")} - examples, ROOT / "pyproject.toml", ROOT / "hatch_build.py"]
    assert len(files) > 30
    for file in files:
        text = file.read_text(encoding="utf-8").lower()
        assert not [name for name in discover() if name in text], file


def test_a_dataset_folder_shadows_nothing_of_the_standard_library():
    paths = {path for home in folders() for path in home.glob("*/*.py")}
    own = {path.stem for path in paths if path.parent.name in discover()}
    assert own
    assert not own & sys.stdlib_module_names
