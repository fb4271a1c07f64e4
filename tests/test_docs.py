"""README, docs and cards: commands and Python run in the order of the page, on the samples."""

import collections
import importlib.metadata
import importlib.util
import json
import multiprocessing
import re
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import publish_without_checks
import pytest
import typer
from build_changes import restate
from processes import python

import parley
from parley.builds.built_folder import open_folder
from parley.builds.card import with_numbers
from parley.cli import app
from parley.declaration.registry import discover, get

ROOT = Path(__file__).parent.parent
SKILL = "parley/.agents/skills/parley/SKILL.md"
GUIDES = ["README.md", SKILL, *(f"docs/{path.name}" for path in ROOT.glob("docs/*.md"))]
CARDS = [f"{name}/README.md" for name in discover()]
OTHERS = ["AGENTS.md", "CONTRIBUTING.md", "SECURITY.md"]
OTHERS += ["examples/README.md", "benchmarks/README.md"]
NAMES = [*sorted(GUIDES), *CARDS, *OTHERS]
PAGES = {name: (ROOT / name).read_text(encoding="utf-8") for name in NAMES}
GROUP = typer.main.get_command(app)
KNOWN = {name: GROUP.get_command(None, name) for name in GROUP.list_commands(None)}
HELPS = [each.get_help(typer.Context(each, info_name=name)) for name, each in KNOWN.items()]
PAGES["--help"] = "\n".join([*HELPS, GROUP.get_help(typer.Context(GROUP)), ""])
TRAINING, PUBLISHING = "docs/training.md", "docs/publishing.md"
REWARD = "## A reward for reinforcement learning"  # test_docs_training runs what follows
ELSEWHERE = {  # what runs these pages instead
    "docs/adding.md": "test_docs_adding",
    "docs/catalogue.md": "test_catalogue",
    "docs/labels.md": "test_docs_labels",
    PUBLISHING: "a test below",
}
# Their Python needs a process of its own: it reads a Hub, or loads a trainer or an engine
APART = {TRAINING, PUBLISHING, "docs/engines.md"}

# What does not run here, by its beginning: why, or what runs it
NOT_RUN = {
    "make ": "sets up the environment that runs this test",
    "pip install ": "needs a package index; test_wheel installs the wheel",
    "parley check casino": "takes seconds; test_check checks every dataset",
    "parley card casino": "would renew the dataset's own card; test_cards renews others",
    "parley publish ": "a test below publishes",
    "parley fetch ": "needs upstream's hosts; test_fetch fetches from a local server",
    "parley browse ": "serves until it is stopped; test_site starts it",
    "parley run cosrec catalogue ": "needs gigabytes; test_catalogue runs it on invented files",
    "python examples/": "test_examples and test_finetune_strategies run them",
    "python benchmarks/": "takes minutes and gigabytes",
    "parley score casino strategies full/": "reads what a GPU has trained",
    "parley score cosrec retrieval run.txt": "reads what a search of the whole catalogue found",
    "inspect ": "test_models runs the tasks of inspect",
    "parley score casino partner-priorities LOG": "takes any log; test_models scores some",
    "parley compare logs": "takes logs of any name; test_compare compares some",
}
IN_PLACE_OF = {  # what the samples and this machine have instead
    "--source upstream": "--sample",
    "--source DIR": "--sample",
    "show casino 12": "show casino 2001",
}
BLOCK = re.compile(
    r"^ *```(?P<kind>\w*)\n(?P<code>.*?)^ *```$|(?<=\n\n)(?P<shell>(?:    [^\n]*\n)+)", re.M | re.S
)


def blocks(page):
    """Yield each command and each block of Python of a page, in their order."""
    for found in BLOCK.finditer(PAGES[page].split(REWARD)[0]):
        if found["kind"] == "python":
            yield "python", found["code"]
        elif found["shell"] or found["kind"] in ("", "bash"):
            text = found["shell"] or found["code"]
            text = re.sub(r"\\\n *", "", text)
            lines = [re.sub(r"(^ *\$ )|^ +|  +#.*", "", line) for line in text.splitlines()]
            shown = "\n$ " in f"\n{text}"  # commands with their output
            kept = [
                line
                for line, raw in zip(lines, text.splitlines(), strict=True)
                if line and (not shown or raw.lstrip().startswith("$ "))
            ]
            yield from (("command", line) for line in kept if not line.startswith("{"))


COMMANDS = [(page, each) for page in PAGES for kind, each in blocks(page) if kind == "command"]
SCRIPTS = {  # the Python of a page as one script
    page: "\n".join(each for kind, each in blocks(page) if kind == "python") for page in PAGES
}


def lacking(code):
    """Return which modules a script imports that are in an extra and not installed."""
    required = importlib.metadata.requires("parley-datasets")
    extra = {re.match(r"[\w-]+", line)[0].replace("-", "_") for line in required if "extra" in line}
    imported = set(re.findall(r"^(?:import|from) (\w+)", code, re.MULTILINE))
    return sorted(name for name in imported & extra if not importlib.util.find_spec(name))


@pytest.fixture
def place(hub, sample_build, tmp_path):
    for name, dataset in discover().items():
        hub.seed(f"org/{name}", sample_build / name, tags=[f"v{dataset.version}"])
    shutil.copytree(sample_build, tmp_path / "build")
    for file in ("ann1.csv", "ann2.csv"):
        (tmp_path / file).write_text("dialogue_id,turn,labels\n2001,0,small-talk\n")
    scored = parley.score(sample_build / "casino", "outcomes", baseline="commonest")
    scored.save(tmp_path / "predictions.jsonl")
    asked = parley.questions("casino", "outcomes", build=sample_build)
    samples = [json.dumps({"doc": each, "resps": [["no idea"]]}) for each in asked]
    (tmp_path / "samples.jsonl").write_text("\n".join(samples))  # as lm-evaluation-harness has them
    cached = tmp_path / "cache" / "built" / get("casino").version / "casino"  # as if fetched
    shutil.copytree(sample_build / "casino", cached)
    restate(cached, "sample", False)
    return tmp_path


def stands_for(command):
    """Return a command as the samples can run it."""
    for written, instead in IN_PLACE_OF.items():
        command = command.replace(written, instead)
    if command.startswith("parley build") and "--sample" not in command:
        command += " --sample"
    return command.replace("parley build --sample", "parley build duo --sample")  # one is enough


@pytest.mark.parametrize("page", sorted(PAGES.keys() - ELSEWHERE))
def test_the_blocks_of_a_page_run_in_its_order(page, run, place, monkeypatch):
    monkeypatch.chdir(place)
    monkeypatch.setenv("PARLEY_CACHE", str(place / "cache"))
    names = {"__name__": "__main__"}
    for kind, code in blocks(page):
        if kind == "python":
            if page not in APART:
                exec(compile(code, page, "exec"), names)
        elif code.startswith("export "):
            for setting in shlex.split(code, comments=True)[1:]:
                monkeypatch.setenv(*setting.split("=", 1))
        elif not code.startswith(tuple(NOT_RUN)):
            program, *arguments = shlex.split(stands_for(code))
            assert program == "parley", code
            done = run(*arguments)
            assert done.returncode == 0, (code, done.stdout + done.stderr)


@pytest.mark.slow
def test_the_first_example_prints_what_the_readme_shows(real_build, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("build").symlink_to(real_build)  # where `parley.load` looks first
    example = re.search(r"```python\n(.*?)```\n\n```text\n(.*?)```", PAGES["README.md"], re.S)
    code, shown = example.groups()
    exec(code, {})
    assert re.sub(" +$", "", capsys.readouterr().out, flags=re.M) == shown


def test_each_reason_not_to_run_a_command_is_needed():
    unused = [each for each in NOT_RUN if not any(c.startswith(each) for _, c in COMMANDS)]
    assert unused == []


NAMED = """
from collections import Counter
due = by_pyarrow.to_pylist()
rows = [name for name, in by_duckdb.fetchall()]
for found in (by_polars.collect()["action"], by_pandas, rows, by_dask, by_spark):
    assert list(found) == due
lists = lists_by_polars.collect()["labels"].to_list()
assert lists == [labels for labels, in lists_by_duckdb.fetchall()]
assert {type(label) for labels in lists for label in labels} == {str}
duckdb.sql(f"create view test as from '{path}'")
assert dict(duckdb.sql(CONSOLE).fetchall()) == Counter(due)
"""  # after docs/engines.md: each engine gives the labels the same names

NUMBERS = """
from pathlib import Path
from statistics import fmean
chats = [
    (each["dialogue_id"], turn, entry["id"], entry["text"], entry["task_data"])
    for each in json.loads(Path(ROOT, "casino/sample/data/casino.json").read_bytes())
    for turn, entry in enumerate(each["chat_logs"])
]
wood = sorted(entry[:4] for entry in chats if "firewood" in entry[3].lower())
assert firewood.fetchall() == wood
said = {}
for _, _, side, text, data in chats:
    said.setdefault(side, []).extend([] if data else [len(text.split(" "))])
due = sorted((side, len(words), fmean(words)) for side, words in said.items())
assert sorted(lengths.rows()) == due
marks = {}
for file in Path(ROOT, "duo/sample").glob("*/en/*.json"):
    each = json.loads(file.read_bytes())
    for aspect, mark in each["subjective_evaluation"].items():
        marks.setdefault((0, each["setting"], aspect), []).append(mark)
    for key, given in each.get("objective_evaluation", {}).items():
        if key.endswith("_scores"):
            marks.setdefault((1, each["setting"], key[:-7]), []).extend(given)
labels = ("ed", "wow"), "preference stylistic_similarity consistency empathy engagingness".split()
found = {(s, labels[0][n], labels[1][a]): (*row,) for (s, n, a), row in scores.T.items()}
assert found == {key: (len(given), fmean(given)) for key, given in marks.items()}
file = Path(ROOT, "craigslist_bargains/sample/test.json")
acts = [act for each in json.loads(file.read_bytes()) for act in each["events"]]
kinds = Counter(act["action"] for act in acts)
assert {names[each["values"]]: each["counts"] for each in counts.to_pylist()} == kinds
for agent, side in enumerate(("buyer", "seller")):
    made = [act for act in acts if (act["agent"], act["action"]) == (agent, "offer")]
    made = [act["data"]["price"] for act in made]
    assert offers.loc[side, "count"] == len(made)
    assert not made or offers.loc[side, "mean"] == fmean(made)
"""  # each example gives the numbers of upstream's files


def apart(code, hub, place):
    """Run a script in a process of its own, whose Hub is the local one."""
    (place / "section.py").write_text(code, encoding="utf-8")
    env = hub.environ(place / "hf") | {"PYTHONUTF8": "1", "PARLEY_CACHE": str(place / "cache")}
    env["OMP_NUM_THREADS"] = "1"  # as on busy cores several wait for each other most of the time
    command = [sys.executable, "section.py"]
    for _ in range(5):
        done = subprocess.run(command, cwd=place, env=env, capture_output=True, encoding="utf-8")
        # pyarrow aborts now and then as a process ends that left a stream (apache/arrow#45214)
        if done.returncode != -signal.SIGABRT:
            break
    assert done.returncode == 0, done.stderr
    assert [status for _, _, status in hub.log if status >= 500] == []
    asked = any(path.startswith("/api/datasets/org/") for _, path, _ in hub.log)
    assert asked == ("org/" in code)


@pytest.mark.slow
@pytest.mark.parametrize("page", sorted(APART))
def test_the_python_that_needs_its_own_process_runs(page, hub, place, grouped_build):
    if missing := lacking(SCRIPTS[page]):
        pytest.skip(f"not installed: {', '.join(missing)}")
    if page == TRAINING:  # with a model made for it, and row groups enough for two workers
        if multiprocessing.get_start_method() != "fork":
            pytest.skip("workers are spawned here, for which a script needs a `__main__`")
        import tiny_model

        tiny_model.save(place / "my-model")
        hub.seed("org/casino", grouped_build / "casino")
    code = SCRIPTS[page]
    if page == "docs/engines.md":
        (console,) = re.findall(r"^```sql\n(.*?)^```$", PAGES[page], re.M | re.S)
        code += NAMED.replace("CONSOLE", repr(console)) + NUMBERS.replace("ROOT", repr(str(ROOT)))
    apart(code, hub, place)


@pytest.mark.slow
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
    with pytest.raises(ValueError, match=r"\{% generation %\}"):
        scope["collate"](rows)


@pytest.mark.slow
def test_the_commands_of_publishing_run(hub, real_build, tmp_path):
    """In their order, the Python between them too; test_publish has what is verified before."""
    text = PAGES[PUBLISHING]
    commands = re.findall(r"^    (parley .+?)(?: +#.*)?$", text, re.MULTILINE)
    assert len(commands) == 3
    shutil.copytree(real_build / "casino", tmp_path / "build" / "casino")
    for command in commands:
        if command.startswith("parley verify"):
            apart(SCRIPTS[PUBLISHING], hub, tmp_path)
        _, *arguments = command.split()
        program = [publish_without_checks.__file__] if "publish" in command else ["-m", "parley"]
        python(*program, *arguments, cwd=tmp_path, env=hub.environ(tmp_path / "hf", "hf_writes"))
    assert hub.tags("org/casino").keys() == {f"v{discover()['casino'].builder.VERSION}"}


def anchors(text):
    headings = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_each_help_ends_in_examples_and_names_no_type_of_python():
    for name, text in zip(KNOWN, HELPS, strict=True):
        assert re.search(rf"\n  Examples:\n\n(      parley {name} .*\n?){{1,2}}$", text)
        assert not re.search(r"<\w", text)


@pytest.mark.parametrize("page", NAMES)
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
    linked = set(re.findall(r"\]\((docs/[\w-]+\.md)\)", PAGES["README.md"]))
    assert linked == {page for page in PAGES if page.startswith("docs/")}


def test_the_commands_of_the_pages_exist():
    """Each `parley ...` of a page is a command with options that it has, run or not."""
    found = [line for _, line in COMMANDS if re.match(r"(\w+=\S+ )*parley ", line)]
    assert len(found) > 20
    for line in found:
        name, *rest = line.split("parley ", 1)[1].split()
        assert name in KNOWN, line
        params = KNOWN[name].params
        options = {option for each in params for option in (*each.opts, *each.secondary_opts)}
        for option in rest if name != "run" else ():  # its options are the jobs' own
            if option.startswith("--"):
                assert option.partition("=")[0] in options, line


def test_pages_install_this_project_and_extras_that_it_has():
    """On the package index, parley is somebody else's."""
    text = "\n".join(PAGES.values())
    assert not re.search(r"""install\b[^\n]*["' ]parley\b(?!-datasets)""", text)
    known = importlib.metadata.metadata("parley-datasets").get_all("Provides-Extra")
    named = re.findall(r'"(?:\.|parley-datasets)\[([\w,]+)\]"', text)
    assert {extra for each in named for extra in each.split(",")} <= {*known}


def counts():
    """Return what pages may count: rows of splits, measured and counted numbers, and figures."""
    found, verdicts = {}, collections.Counter()
    for name in discover():
        known = json.loads((ROOT / name / "measured.json").read_text())
        for config, splits in known["splits"].items():
            for split, each in splits.items():
                found[f"{name}.{config}.{split}"] = each.get("rows", each.get("documented"))
        found |= {f"{name}.{key}": number for key, number in known["counted"].items()}
        verdicts.update(figure["verdict"] for figure in known["figures"].values())
    found |= {f"figures.{key.replace(' ', '-')}": number for key, number in verdicts.items()}
    return found | {"figures": verdicts.total()}


# What is counted, of a dataset; a pilot, a model or a row group has other numbers
NOUNS = r"(?:datasets|figures|tests|dialogues|utterances|chats|scenarios|judgments|records)"
BARE = re.compile(rf"\b(?:\d[\d,]+|four|five|six)(?: \w+)? {NOUNS}\b")


@pytest.mark.parametrize("page", sorted(PAGES.keys() - {*CARDS, "benchmarks/README.md"}))
def test_every_count_of_a_page_is_the_measured_one(page):
    """A number before `<!-- NAME -->` is that of NAME; a count without a name is none."""
    text = re.sub(r"`[^`\n]*`|<!-- parley: .*? -->", "", PAGES[page])
    assert with_numbers(text, counts(), page) == text
    prose = re.sub(r"^```.*?^```|^    .*?$", "", text, flags=re.M | re.S)
    assert BARE.findall(" ".join(prose.split())) == []
