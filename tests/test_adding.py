"""docs/adding.md can be followed as it stands: every block of it runs, in the page's order."""

import contextlib
import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from parley.checking.new import SKELETON

from parley.checking.card import HEADINGS
from parley.folder.card import BEGIN, END
from parley.source.pins import git_tree, problem

PAGE = (Path(__file__).parent.parent / "docs" / "adding.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
PYTHON = [code for kind, code in BLOCKS if kind == "python" and not code.startswith("# ")]
TEXTS = [text for kind, text in BLOCKS if kind == "text"]
SAMPLE = SKELETON / "sample" / "dialogues.jsonl"


@pytest.fixture
def place(tmp_path):
    """A folder with a clone of upstream, and `parley` on the path."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "parley").write_text(f'#!/bin/sh\nexec {sys.executable} -m parley "$@"\n')
    (tmp_path / "bin" / "parley").chmod(0o755)
    data = tmp_path / "clone" / "data"
    data.mkdir(parents=True)
    (data / SAMPLE.name).write_bytes(SAMPLE.read_bytes())
    git = ["git", "-C", str(tmp_path / "clone"), "-c", "user.name=a", "-c", "user.email=a@b.c"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "One"]):
        subprocess.run([*git, *command], check=True)
    return tmp_path


def run(commands, place):
    """Run a shell script, and return what it prints."""
    env = {key: value for key, value in os.environ.items() if not key.startswith("PARLEY_")}
    done = subprocess.run(
        ["bash", "-e"],
        input=commands,
        cwd=place,
        env=env | {"PATH": f"{place / 'bin'}:{env['PATH']}", "PYTHONUTF8": "1"},
        capture_output=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_every_command_and_file_works_in_the_order_of_the_page(place):
    """A block of Python that begins with the name of a file of the folder is that file."""
    commands = ""
    for kind, code in BLOCKS:
        if kind == "bash":
            commands += code
        elif kind == "python" and code.startswith("# "):
            name = code.split()[1]
            commands += f"cat > more/chatter/{name} <<'END-OF-FILE'\n{code}END-OF-FILE\n"
    printed = run(commands, place)
    assert printed.count("chatter: all checks hold") == 2
    assert "of 6 documented figures 4 match, 1 differs, 1 not reproducible." in printed
    assert (place / "chatter-csv" / "turns.csv").read_text().count("\n") == 7
    words = sum(len(text.split()) for text in re.findall('"text": "(.*?)"', SAMPLE.read_text()))
    assert printed.splitlines()[-1] == str(words)
    card = (place / "more" / "chatter" / "README.md").read_text()
    assert "| `size.turns` | 6 | 6 | matches | paper, table 1 |" in card


def test_the_pins_that_git_and_the_shell_give_are_those_that_the_tool_compares(place):
    (commands,) = [code for kind, code in BLOCKS if kind == "bash" and "rev-parse" in code]
    sha256, size, _, git_blob, tree = run(commands, place).splitlines()
    file = place / "clone" / "data" / SAMPLE.name
    pin = {"url": "", "size": int(size)}
    assert problem(file, pin | {"sha256": sha256.split()[0]}) is None
    assert problem(file, pin | {"git_blob": git_blob}) is None
    assert tree == git_tree([file])


def test_a_shape_finds_what_the_page_says():
    (code,) = [code for code in PYTHON if "problems(" in code]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code, {})
    assert printed.getvalue() in TEXTS


def test_plain_text_is_read_as_the_page_says(tmp_path):
    (code,) = [code for code in PYTHON if "def read(" in code]
    names = {}
    exec(code, names)
    file = tmp_path / "dialogues.txt"
    file.write_text("customer\tHello\nclerk\tHi\n\nclerk\tAnyone?\n\n")
    shapes = []

    def read(path, shape):
        for record in names["read"](path, shape):
            shape(record)
            shapes.append(shape)
            yield record

    found = list(names["records"]("dialogues", {file.name: str(file)}, read))
    assert found == [
        (0, {"id": 0, "turns": ["customer\tHello", "clerk\tHi"]}),
        (1, {"id": 1, "turns": ["clerk\tAnyone?"]}),
    ]
    assert len(shapes) == 5
    with pytest.raises(ValueError, match="customer or clerk, a tab and a text"):
        names["line"]("cat\tMeow")
    file.write_text("customer\tHello\n")
    with pytest.raises(ValueError, match="expected an empty line at the end"):
        list(names["records"]("dialogues", {file.name: str(file)}))


def test_the_page_names_the_headings_and_marks():
    assert "".join(f"{heading}\n" for heading in HEADINGS) in TEXTS
    assert f"{BEGIN}\n{END}\n" in TEXTS
