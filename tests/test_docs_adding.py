"""Every block of docs/adding.md runs, in the order of the page."""

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from parley.authoring.new import SKELETON
from parley.declaration.measured import FILE

DOCS = Path(__file__).parent.parent / "docs"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = BLOCK.findall((DOCS / "adding.md").read_text(encoding="utf-8"))
(TASKS,) = [  # of the same dataset
    code
    for _, code in BLOCK.findall((DOCS / "tasks.md").read_text(encoding="utf-8"))
    if code.startswith("# tasks.py")
]
SAMPLE = SKELETON / "sample" / "dialogues.jsonl"  # stands for upstream's file

WRITE = """
import pathlib, re, sys
from parley.verification.card_rules import TO_REPLACE, TO_WRITE
card = pathlib.Path(sys.argv[1])
text = card.read_text()
for title in TO_WRITE:
    text = re.sub(f"(## {title}\\n\\n).*", r"\\1Ours.", text)
card.write_text(re.sub("|".join(TO_REPLACE), "Ours", text))
citation = card.parent / "CITATION.bib"
citation.write_text(re.sub("|".join(TO_REPLACE), "Ours", citation.read_text()))
sample = card.parent / "sample" / "dialogues.jsonl"
sample.write_text(sample.read_text().replace("kettle", "teapot").replace("you", "you two"))
"""


@pytest.fixture
def place(tmp_path):
    """A folder with a clone of upstream, and `parley` on the path."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "parley").write_text(f'#!/bin/sh\nexec {sys.executable} -m parley "$@"\n')
    (tmp_path / "bin" / "parley").chmod(0o755)
    data = tmp_path / "clone" / "data"
    data.mkdir(parents=True)
    (data / SAMPLE.name).write_bytes(SAMPLE.read_bytes())
    return tmp_path


def run(commands, place):
    """Run a shell script, and return what it prints."""
    env = {key: value for key, value in os.environ.items() if not key.startswith("PARLEY_")}
    env |= {"PATH": f"{place / 'bin'}:{env['PATH']}", "PYTHONUTF8": "1"}
    env |= {"HF_HOME": str(place / "hf"), "PARLEY_CACHE": str(place / "cache")}
    done = subprocess.run(
        ["bash", "-e"], input=commands, cwd=place, env=env, capture_output=True, encoding="utf-8"
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def file(code):
    """Return the command that writes a block into the file that its first line names."""
    return f"cat > more/chatter/{code.split()[1]} <<'END-OF-FILE'\n{code}END-OF-FILE\n"


@pytest.mark.slow
def test_every_command_and_file_works_in_the_order_of_the_page(place):
    commands = ""
    for kind, code in BLOCKS:
        if kind == "bash":
            commands += code
        elif kind == "python" and code.startswith("# "):
            commands += file(code)
        elif code.startswith("import parley"):
            commands += f"{sys.executable} - <<'END-OF-FILE'\n{code}END-OF-FILE\n"
    measure = "parley build chatter --source upstream --measure"
    card = place / "more" / "chatter" / "README.md"
    write = f"{sys.executable} -c {shlex.quote(WRITE)} {card}"
    assert measure in commands
    commands = commands.replace(measure, f"{file(TASKS)}{write}\n{measure}")  # told in words
    printed = run(commands, place)
    assert "Hello! Is the kettle still there?\n" in printed
    assert printed.count("chatter: all checks hold") == 2
    assert "of 3 documented figures 2 match, 1 differs." in printed
    assert (place / "chatter-convokit" / "utterances.jsonl").read_text().count("\n") == 6
    words = sum(len(text.split()) for text in re.findall('"text": "(.*?)"', SAMPLE.read_text()))
    assert printed.splitlines()[-1] == str(words)
    assert '"verdict": "differs"' in (place / "more" / "chatter" / FILE).read_text()


def test_the_declarations_print_the_output_of_the_page():
    """The blocks without a file name are one script; a text block is the output before it."""
    names, printed = {}, ""
    for kind, code in BLOCKS:
        if kind == "text":
            assert printed == code
        elif kind == "python" and not code.startswith(("# ", "import parley")):
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(code, names)
            printed = out.getvalue()
    read = {"moods.csv": [{"id": "a", "mood": "calm"}], "test": {"a.json": names["talk"]}}
    talks = [*names["with_moods"](read)]
    assert talks == [{**names["talk"], "file": "a.json", "mood": "calm"}]
    again = [("test", names["talk"]), ("moods.csv", read["moods.csv"][0])]
    assert [*names["without_moods"](talks)] == again
