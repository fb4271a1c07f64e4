"""The Python in the README runs, where `org` on the Hub and `build` hold the samples."""

import importlib.metadata
import importlib.util
import json
import multiprocessing
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hub import User

from parley.collection import discover

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
SECTIONS = {  # by heading, with its blocks of Python as one script
    heading: "\n".join(blocks)
    for heading, text in re.findall(r"^## (.+)\n((?:(?!## ).*\n)*)", README, re.MULTILINE)
    if (blocks := re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
}


def lacking(code):
    """Return which modules a script imports that are in an extra and not installed."""
    required = importlib.metadata.requires("parley")
    extra = {re.match(r"[\w-]+", line)[0].replace("-", "_") for line in required if "extra" in line}
    imported = set(re.findall(r"^(?:import|from) (\w+)", code, re.MULTILINE))
    return sorted(name for name in imported & extra if not importlib.util.find_spec(name))


@pytest.fixture
def place(hub, sample_build, tmp_path):
    """Fill the Hub, and return a folder to work in."""
    for name in discover():
        folder = sample_build / name
        version = json.loads((folder / "provenance.json").read_text())["version"]
        hub.seed(f"org/{name}", folder, tags=[f"v{version}"])
    (tmp_path / "build").symlink_to(sample_build)
    return tmp_path


def run(code, hub, place):
    (place / "section.py").write_text(code, encoding="utf-8")
    for _ in range(5):
        done = subprocess.run(
            [sys.executable, "section.py"],
            cwd=place,
            # one thread, as on busy cores several wait for each other most of the time
            env=hub.environ(place / "hf") | {"OMP_NUM_THREADS": "1", "PYTHONUTF8": "1"},
            capture_output=True,
            encoding="utf-8",
        )
        # pyarrow aborts now and then as a process ends that left a stream (apache/arrow#45214)
        if done.returncode != -signal.SIGABRT:
            break
    assert done.returncode == 0, done.stderr
    assert [status for _, _, status in hub.log if status >= 500] == []
    assert any(path.startswith("/api/datasets/org/") for _, path, _ in hub.log)


@pytest.mark.parametrize("section", [name for name in SECTIONS if name != "Train on it"])
def test_the_python_of_a_section_runs(section, hub, place):
    if missing := lacking(SECTIONS[section]):
        pytest.skip(f"not installed: {', '.join(missing)}")
    run(SECTIONS[section], hub, place)


def test_the_python_of_train_on_it_runs(hub, place, grouped_build):
    """With a model made for it, and row groups enough for two workers."""
    if multiprocessing.get_start_method() != "fork":
        pytest.skip("workers are spawned here, for which a script needs a `__main__`")
    code = SECTIONS["Train on it"]
    if missing := lacking(code):
        pytest.skip(f"not installed, but comes with the extra `trainers`: {', '.join(missing)}")
    import tiny_model

    tiny_model.save(place / "my-model")
    hub.seed("org/casino", grouped_build / "casino")
    run(code, hub, place)


def test_the_commands_of_publish_your_own_copy_run(hub, real_build, tmp_path):
    """In their order, the Python between them too, logged in by the environment."""
    text = README.split("\n## Publish your own copy\n")[1].split("\n## ")[0]
    commands = re.findall(r"^    \.venv/bin/(parley .+?)(?: +#.*)?$", text, re.MULTILINE)
    assert len(commands) == 3
    hub.tokens["hf_writes"] = User("ana", orgs=("org",))
    shutil.copytree(real_build / "casino", tmp_path / "build" / "casino")
    for command in commands:
        if command.startswith("parley verify"):
            run(SECTIONS["Publish your own copy"], hub, tmp_path)
        done = subprocess.run(
            [sys.executable, "-m", *command.split()],
            cwd=tmp_path,
            env=hub.environ(tmp_path / "hf", "hf_writes"),
            capture_output=True,
            encoding="utf-8",
        )
        assert done.returncode == 0, done.stdout + done.stderr
    assert hub.tags("org/casino").keys() == {f"v{discover()['casino'].builder.VERSION}"}
