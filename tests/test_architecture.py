"""docs/architecture.md lists every room, and imports run down its table."""

import ast
import re
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parent.parent
TOOL = ROOT / "parley"
FRONT = {"__init__", "__main__"}  # the version; `python -m parley`, which calls cli


def rooms():
    """Return the rows of the page's table, from top to bottom: rooms, and modules of rooms."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    cells = re.findall(r"^\| (`[^|]+) \|", page.split("## Code layout")[1], re.MULTILINE)
    return [set(re.findall(r"`([\w/]+?)(?:\.py|/)`", cell)) for cell in cells]


def imports():
    """Return module -> imported modules of parley, without imports for types."""
    modules = {
        ".".join(path.relative_to(TOOL).with_suffix("").parts).removesuffix(".__init__"): path
        for path in TOOL.rglob("*.py")
        if "skeleton" not in path.parts  # a dataset folder
    }
    found = {name: set() for name in modules}
    for name, path in modules.items():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for_types = {
            inner
            for node in ast.walk(tree)
            if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
            for inner in ast.walk(node)
        }
        for node in set(ast.walk(tree)) - for_types:
            if isinstance(node, ast.ImportFrom) and node.module:
                of = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
            elif isinstance(node, ast.Import):
                of = [alias.name for alias in node.names]
            else:
                continue
            ours = {module.removeprefix("parley.") for module in of if module.startswith("parley.")}
            found[name] |= ours & modules.keys() - {name}
    return found


def test_the_page_names_every_room():
    named = [room for row in rooms() for room in row if "/" not in room]
    folders = {path.name for path in TOOL.iterdir() if path.is_dir()} - {"__pycache__"}
    assert sorted(named) == sorted(folders | {path.stem for path in TOOL.glob("*.py")} - FRONT)


def test_a_room_imports_from_those_below_it():
    place = {room: number for number, row in enumerate(rooms()) for room in row}

    def of(module):
        return place.get(module.replace(".", "/"), place.get(module.partition(".")[0]))

    upward = [
        f"{module} imports {other}"
        for module, others in imports().items()
        for other in others
        if {module, other}.isdisjoint(FRONT) and of(module) > of(other)
    ]
    assert not upward


def test_no_modules_import_each_other_in_a_circle():
    TopologicalSorter(imports()).prepare()  # names the modules of a circle in its error


def test_one_module_makes_texts_to_print():
    """It escapes control characters, so that no text of a stranger acts on a terminal."""
    makers = [path for path in TOOL.rglob("*.py") if "rich.text" in path.read_text("utf-8")]
    assert makers == [TOOL / "terminal" / "console.py"]
