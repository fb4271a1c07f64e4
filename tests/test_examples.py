"""The examples run and print the output that their README shows."""

import os
import re
from pathlib import Path

import pytest
from processes import python

from parley.declaration.registry import discover

EXAMPLES = Path(__file__).parent.parent / "examples"
README = (EXAMPLES / "README.md").read_text()
SHOWN = re.findall(r"```\n\$ python examples/(.+)\n([^`]+)```", README)
SCRIPTS = ["load_every_config.py", "score_every_task.py"]  # the others take a GPU or 377 GB


@pytest.fixture
def run(tmp_path):
    """Run an example in a folder whose `build` is the given one; warnings are errors."""

    def run(command, build):
        if not (tmp_path / "build").exists():
            (tmp_path / "build").symlink_to(build)
        script, *arguments = command.split()
        env = {**os.environ, "HF_HOME": str(tmp_path / "hf"), "PYTHONUTF8": "1"}
        done = python("-W", "error", EXAMPLES / script, *arguments, cwd=tmp_path, env=env)
        assert done.stderr == ""
        return done.stdout

    return run


def test_the_readme_has_every_example():
    sections = re.findall(r"^## (\S+)$", README, re.MULTILINE)
    assert sorted(sections) == sorted(path.name for path in EXAMPLES.glob("*.py"))
    assert [command.split()[0] for command, _ in SHOWN] == SCRIPTS


@pytest.mark.slow
@pytest.mark.parametrize(("command", "shown"), SHOWN, ids=lambda text: text.split()[0])
def test_examples_print_the_lines_of_the_readme(command, shown, run, real_build):
    lines = [line for line in shown.splitlines() if line != "..."]
    assert [line for line in run(command, real_build).splitlines() if line in lines] == lines


@pytest.mark.slow
def test_examples_run_in_the_demo(run, sample_build):
    *lines, last = run("demo.py shown", sample_build).splitlines()
    assert len(lines) < 45
    assert last.endswith("/shown/demo-site/index.html")
    starts = [lines.index(f"$ python examples/{each} shown/demo") for each in SCRIPTS]
    loaded, scored = lines[starts[0] + 2 : starts[1]], lines[starts[1] + 2 : -1]
    assert [line.split()[0] for line in loaded] == [*discover()]
    assert len(scored) == sum(len(dataset.tasks) for dataset in discover().values())
    assert all(line.endswith(")") for line in scored)  # with its unit
