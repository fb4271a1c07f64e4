"""The README and docs: their Python runs, where `org` on the Hub and `build` hold the samples."""

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
import typer
from hub import User

from parley.building.built import open_folder
from parley.building.collection import discover
from parley.cli import app
from parley.declaring.tasks import OWN_OPTIONS

ROOT = Path(__file__).parent.parent
PAGES = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
}
# What test_adding, test_catalogue and test_training run
ELSEWHERE = {"docs/adding.md", "docs/catalogue.md"}
REWARD = "## A reward for reinforcement learning"
SCRIPTS = {  # the blocks of Python of a page as one script
    name: "\n".join(blocks)
    for name, text in PAGES.items()
    if name not in ELSEWHERE
    and (blocks := re.findall(r"^```python\n(.*?)^```$", text.split(REWARD)[0], re.M | re.S))
}
TRAINING, PUBLISHING = "docs/training.md", "docs/publishing.md"


@pytest.mark.parametrize("page", [*sorted(ROOT.glob("*/README.md")), *(ROOT / p for p in PAGES)])
def test_no_page_says_to_install_another_project(page):
    """On the package index, parley is somebody else's."""
    text = page.read_text(encoding="utf-8")
    assert not re.search(r"""install[^\n]*["' ]parley\b""", text)


def lacking(code):
    """Return which modules a script imports that are in an extra and not installed."""
    required = importlib.metadata.requires("parley-datasets")
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
    made = json.loads((sample_build / "casino" / "provenance.json").read_text())
    cached = tmp_path / "cache" / "built" / made["version"] / "casino"  # as if fetched and built
    shutil.copytree(sample_build / "casino", cached)
    (cached / "provenance.json").write_text(json.dumps(made | {"sample": False}))
    return tmp_path


def run(code, hub, place):
    (place / "section.py").write_text(code, encoding="utf-8")
    for _ in range(5):
        done = subprocess.run(
            [sys.executable, "section.py"],
            cwd=place,
            # one thread, as on busy cores several wait for each other most of the time
            env=hub.environ(place / "hf")
            | {"OMP_NUM_THREADS": "1", "PYTHONUTF8": "1", "PARLEY_CACHE": str(place / "cache")},
            capture_output=True,
            encoding="utf-8",
        )
        # pyarrow aborts now and then as a process ends that left a stream (apache/arrow#45214)
        if done.returncode != -signal.SIGABRT:
            break
    assert done.returncode == 0, done.stderr
    assert [status for _, _, status in hub.log if status >= 500] == []
    asked = any(path.startswith("/api/datasets/org/") for _, path, _ in hub.log)
    assert asked == ("org/" in code)


@pytest.mark.parametrize("page", SCRIPTS)
def test_the_python_of_a_page_runs(page, hub, place, grouped_build):
    if missing := lacking(SCRIPTS[page]):
        pytest.skip(f"not installed: {', '.join(missing)}")
    if page == TRAINING:  # with a model made for it, and row groups enough for two workers
        if multiprocessing.get_start_method() != "fork":
            pytest.skip("workers are spawned here, for which a script needs a `__main__`")
        import tiny_model

        tiny_model.save(place / "my-model")
        hub.seed("org/casino", grouped_build / "casino")
    run(SCRIPTS[page], hub, place)


def test_the_collate_function_labels_what_the_assistant_says(sample_build, place):
    """It refuses a template that marks nothing: a model would train on nothing."""
    if missing := lacking(code := SCRIPTS[TRAINING]):
        pytest.skip(f"not installed, but comes with the extra `trainers`: {', '.join(missing)}")
    import tiny_model
    import transformers

    tiny_model.save(place / "my-model")
    tokenizer = transformers.AutoTokenizer.from_pretrained(place / "my-model")
    (function,) = re.findall(r"^def collate.*?(?=^\S)", code, re.MULTILINE | re.DOTALL)
    scope = {"tokenizer": tokenizer}
    exec(function, scope)
    built = open_folder(sample_build / "casino")
    rows = built.rows("messages", "train")
    batch = scope["collate"](rows)
    assert len(batch["labels"]) == len(rows)
    for tokens, labels, row in zip(batch["input_ids"], batch["labels"], rows, strict=True):
        own = labels != -100
        assert (tokens[own] == labels[own]).all()
        said = [each["content"] for each in row["messages"] if each["role"] == "assistant"]
        assert tokenizer.decode(labels[own]) == "".join(f"{text}{tiny_model.END}" for text in said)
    marks = r"\{%-? *(end)?generation *-?%\}"
    tokenizer.chat_template = re.sub(marks, "", tokenizer.chat_template)
    with pytest.raises(ValueError, match=r"the template needs \{% generation %\}"):
        scope["collate"](rows)


def test_the_commands_of_publishing_run(hub, real_build, tmp_path):
    """In their order, the Python between them too, logged in by the environment."""
    text = PAGES[PUBLISHING]
    commands = re.findall(r"^    (parley .+?)(?: +#.*)?$", text, re.MULTILINE)
    assert len(commands) == 4
    hub.tokens["hf_writes"] = User("ana", orgs=("org",))
    shutil.copytree(real_build / "casino", tmp_path / "build" / "casino")
    for command in commands:
        if command.startswith("parley verify"):
            run(SCRIPTS[PUBLISHING], hub, tmp_path)
        done = subprocess.run(
            [sys.executable, "-m", *command.split()],
            cwd=tmp_path,
            env=hub.environ(tmp_path / "hf", "hf_writes"),
            capture_output=True,
            encoding="utf-8",
        )
        assert done.returncode == 0, done.stdout + done.stderr
    assert hub.tags("org/casino").keys() == {f"v{discover()['casino'].builder.VERSION}"}


def anchors(text):
    """Return the anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", [*PAGES, "examples/README.md", "benchmarks/README.md"])
def test_every_link_within_the_repository_leads_somewhere(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^()\s]+)\)", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S))
    for link in links:
        path, _, anchor = link.partition("#")
        if re.match(r"\w+:", path):
            continue
        target = (ROOT / page).parent / path if path else ROOT / page
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(target.read_text(encoding="utf-8")), link


def test_the_readme_is_short_and_leads_to_every_page():
    assert len(PAGES["README.md"].splitlines()) <= 150
    linked = set(re.findall(r"\]\((docs/\w+\.md)\)", PAGES["README.md"]))
    assert linked == set(PAGES) - {"README.md"}


def test_no_paragraph_stands_twice():
    """What two pages say, one of them will say wrongly one day."""
    seen = {}
    for page, text in PAGES.items():
        for paragraph in re.split(r"\n\n+", text):
            if len(paragraph) > 120:
                assert seen.setdefault(paragraph, page) == page


def test_the_commands_of_the_pages_exist():
    """Each `parley ...` of a page is a command with options that it has."""
    pattern = re.compile(r"^(?:    )?(?:\w+=\S+ )?parley (\S.*?)(?:  +#.*)?$", re.M)
    found = [line for text in PAGES.values() for line in pattern.findall(text)]
    assert len(found) > 20
    known = typer.main.get_command(app).commands
    parts = [job.part for dataset in discover().values() for job in dataset.jobs.values()]
    for line in found:
        name, *rest = line.split()
        assert name in known, line
        options = {option for each in known[name].params for option in each.opts}
        options |= {f"--{each}" for each in (*OWN_OPTIONS, *parts)}
        for option in rest if name != "run" else ():  # its options are the jobs' own
            if option.startswith("--"):
                assert option.partition("=")[0] in options, line
