"""`parley check` reports each broken rule of a dataset folder; `new` and `pin` help to make one."""

import json
import os
import re
import shutil
from ast import literal_eval

import pytest
from build_changes import edit

from parley.authoring.new import SKELETON, write_skeleton
from parley.base.errors import UsageError
from parley.builds.build import build
from parley.builds.sources import Sources
from parley.declaration.registry import Dataset, discover, get
from parley.source.files import File
from parley.source.hashes import PLACEHOLDER, problem
from parley.verification import card_rules, folder_rules
from parley.verification.measure import measure
from parley.verification.results import run_check
from parley.verification.rules import RULES, DatasetFolder, check_folder


def test_every_rule_holds(dataset):
    checks = check_folder(dataset)
    assert [check for check in checks if check.failed] == []
    skipped = [check.name for check in checks if check.skipped]
    assert skipped == ["tasks_ask_for_right_answers"] * (dataset.name == "cosrec")


def test_a_script_imports_each_module_that_its_modules_import(dataset):
    """`datasets` before 4 copies no others; tests/compat.py loads the scripts with them."""

    def imported(module):
        text = (dataset.folder / f"{module}.py").read_text(encoding="utf-8")
        return set(re.findall(r"^from \.(\w+)", text, re.MULTILINE))

    script = (dataset.folder / f"{dataset.name}.py").read_text(encoding="utf-8")
    assert not re.search(r"^from \..*#", script, re.MULTILINE)  # taken for a file to copy
    direct = imported(dataset.name)
    assert set().union(*map(imported, direct)) <= direct


FILES = [path.relative_to(SKELETON).as_posix() for path in SKELETON.rglob("*.*")]
FILES = sorted(file for file in FILES if not file.endswith(".pyc"))


def test_a_skeleton_passes_every_rule(tmp_path, run):
    status, out, err = run("new", "tea_talk", tmp_path / "a b")
    assert status == 0, err
    assert (out + err).endswith(f"PARLEY_DATASETS='{tmp_path}/a b' parley check tea_talk\n")
    folder = tmp_path / "a b" / "tea_talk"
    texts = {p.relative_to(folder).as_posix(): p.read_text() for p in folder.rglob("*.*")}
    assert sorted(texts) == sorted(file.replace("skeleton", "tea_talk") for file in FILES)
    assert "class TeaTalk(Builder" in texts["tea_talk.py"]
    assert not [file for file, text in texts.items() if "skeleton" in text.lower()]
    checks = check_folder(Dataset("tea_talk", folder))
    unfinished = [check.name for check in checks if check.failed or check.skipped]
    assert unfinished == ["placeholders_are_replaced"]


NO_NAMES = ["Tea", "tea-talk", "2tea", "", "tea/talk", "..", "tea\n", "~"]
NO_NAMES += ["class", "true", "none", "yes", "no", "on", "off", "null", "y", "n"]  # Python, YAML
NO_NAMES += ["json", "statistics", "parley", "datasets", "figures", "jobs", "views"]  # modules
NO_NAMES += ["main", "memory", "system", "temp", "information_schema", "pg_catalog"]  # DuckDB
NO_NAMES += ["builder", "config", "iterator"]  # its class would hide another


@pytest.mark.parametrize("name", [*NO_NAMES, next(iter(discover()))])
def test_new_refuses_a_wrong_name(tmp_path, name):
    with pytest.raises(UsageError):
        write_skeleton(name, tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("make", [os.mkdir, lambda p: p.touch(), lambda p: p.symlink_to("nowhere")])
def test_new_overwrites_nothing(tmp_path, make):
    make(tmp_path / "tea")
    with pytest.raises(UsageError):
        write_skeleton("tea", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["tea"]


def test_a_printed_pin_is_that_of_the_file_or_folder(tmp_path, run, monkeypatch):
    (tmp_path / "en").mkdir()
    (tmp_path / "it's.json").write_text("[1]")
    (tmp_path / "en" / "0.json").write_text("{}")
    for name, url in (("it's.json", "https://example.org/a b"), ("en", "")):
        given = [str(tmp_path / name), *([url] if url else [])]
        ((path, pin),) = literal_eval(f"{{{run('pin', *given).stdout}}}").items()
        assert path == name
        assert problem(tmp_path / name, pin) is None
        assert pin["url"] == (url or "https://upstream.invalid/en.zip")
        assert len(File(path, {"id": int}, **pin).pin) == 3 if url else pin["member"] == "en"
    monkeypatch.chdir(tmp_path)
    assert list(literal_eval(f"{{{run('pin', './en/0.json').stdout}}}")) == ["en/0.json"]
    assert run("pin", "../absent/../en").returncode == 2
    for wrong in (["absent"], ["."], ["en", "archive.zip"], ["en", "http://example.org/en.zip"]):
        assert run("pin", tmp_path / wrong[0], *wrong[1:]).returncode == 2


SCRIPT, CHECKS, FIGURES, LAYOUT = "skeleton.py", "checks.py", "figures.py", "transcript.py"
FACET = "from parley.read import Facet\n"
CARD, SAMPLE, CITATION = "README.md", "sample/dialogues.jsonl", "CITATION.bib"
NEW = None  # replace the whole file
SAID_TURN = '{"speaker": "clerk", "text": "No."}, '
OWN = '''from parley.declaration.figures import check


@check
def ids_are_short(data):
    """Ids have two letters."""
    for row in data.rows("dialogues", "train"):
        if len(row["id"]) == 2:
            yield row["texts"]
'''
SAID = "        said = ("  # a line of the view
TURN_ABOUT = f"        roles = dict(zip(roles, [*roles.values()][::-1]))\n{SAID}"
SKIP = f'        if record["id"] == "s2":\n            continue\n{SAID}'
EXPORT = "EXPORTS = {'odd': lambda data, folder: [][0]}\n"
CHART = """from parley.read import Bar, Bars
CHARTS = {"odd": lambda data: Bars("turns", "", "turns", ("n",), (Bar("1", ()),))}
"""
TASK = """from parley import Field
from parley.tasks import Asking, OneOf, Question, Score, Subset, Task


def turns(data):
    for row in data.rows("dialogues", "train"):
        for n, turn in enumerate(row["turns"]):
            yield (row["id"], n), turn, row["turns"][: n + 1]


def gold(data):
    return {key: {"speaker": turn["speaker"]} for key, turn, _ in turns(data)}


DRAWN = (["clerk"] * 4 + ["customer"]) * 99


def score(gold, found):
    hits = [found[key].get("speaker") == due["speaker"] for key, due in gold.items()]
    return Score({"right": hits, "by": {"all": hits}})


def questions(data):
    for key, turn, seen in turns(data):
        talk = " / ".join(each["text"] for each in seen)
        yield Question(key, "Is the last turn of customer or clerk?", talk)


SPEAKER = Task(
    summary="who speaks", evaluated_on="all turns", configs=("dialogues",),
    key={"id": Field(str, "the dialogue"), "turn": Field(int, "from 0")},
    answer={"speaker": OneOf(["customer", "clerk"], "who")}, asking=Asking("1", questions),
    metrics={"right": "the share of right answers", "by": "the same"},
    gold=gold, score=score, columns=("dialogues.turns[].text",),
    baselines={"clerk": lambda data: (dict(zip(KEY, key), speaker="clerk") for key in gold(data))},
)
KEY, TASKS = SPEAKER.key, {"speaker": SPEAKER}
"""
GOLD_OF_MESSAGES = """gold=lambda data: {
        (row["id"], n): {"speaker": {"user": "customer", "assistant": "clerk"}[message["role"]]}
        for row in data.rows("messages", "train")
        for message, turns in zip(row["messages"], row["source_turns"]) for n in turns
    }"""
ONE_ANSWER = """
    gold=lambda data: {k: {"speaker": "customer", "due": of} for k, of in gold(data).items()},
    score=lambda gold, found: score({key: of["due"] for key, of in gold.items()}, found)"""
SUBSET = "gold=gold, subsets={'some': Subset('a paper', frozenset({ID}))}"
LESS = "lower=('by',), gold="
CUSTOMERS = "lambda data: dict.fromkeys(gold(data), {'speaker': 'customer'})"
ODD = 'type("Odd", (OneOf,), {"read": lambda *_: "clerk"})(["customer", "clerk"], "who")'
ALIKE = ('["customer", "clerk"]', '{"clerk": [], "customer": ["clerk"]}')
SHOWN = (", talk)", ', turn["speaker"] + talk)')


def task_with(*changes):
    return [("tasks.py", NEW, TASK.replace(*each)) for each in changes]


TWICE = "    options={'a': ('x-y', 'x'), 'b': ('z', 'y-z')},\n    gold="
JOINED = """holds=holds, records=lambda sources: [*sources["dialogues.jsonl"]], unjoin=iter,
            shape=__import__("parley").Converted(DIALOGUE, DIALOGUE, lambda r: r["x"], dict)"""
# rule: (file, old text, new text)
BREAKS = {
    "modules_load": [
        (SCRIPT, "class Skeleton(Builder)", "class Skeleton"),
        (SCRIPT, "DIALOGUE = {", "raise SystemExit(0)\nDIALOGUE = {"),
        ("pins.py", '"size": 423', '"size": "423"'),
        (SCRIPT, 'VERSION = "1.0.0"', 'VERSION = "one"'), (CITATION, "", None),
        (CITATION, "@inproceedings", "inproceedings"),
        (CHECKS, NEW, "from parley import nothing\n"),
        (LAYOUT, "CONFIGS =", FACET + 'FACETS = {"turns": Facet("{}")}\nCONFIGS ='),
        (FIGURES, "what: str)", "what: str, split: str)"),
        ("jobs.py", NEW, "JOBS = {'train': print}\n"),
        ("tasks.py", NEW, TASK.replace("    gold=", TWICE)),
        ("tasks.py", NEW, TASK.replace(*ALIKE)), (LAYOUT, "CONFIGS =", "_CONFIGS ="),
        (LAYOUT, "CONFIGS =", '__import__("parley").read.Note("act", "asks")\nCONFIGS ='),
        (LAYOUT, '("dialogues",)', '("dialogues", "chats")')
    ],
    "every_field_has_a_meaning": [
        (SCRIPT, 'Field(str, "what is said")', "str"), (SCRIPT, "**CHAT", '**CHAT, "n?": int'),
        (SCRIPT, '"what is said"', '"?"')
    ],
    "sample_builds": [
        (SCRIPT, '"clerk": "assistant"', '"clerk": "system"'), (SAMPLE, "", None),
        (SAMPLE, '"rating": 5', '"rating": 6'), (SAMPLE, '"id": "s2"', '"id": "s1"'),
        (SCRIPT, '"id": record["id"], **', "**"),
        (SCRIPT, 'record["id"], **', 'len(record["turns"]), **'),
        (SCRIPT, "roles[turn[", "rolls[turn["), (SCRIPT, "holds=holds", JOINED),
        (SCRIPT, " in records:", " in [next(iter(records))]:")
    ],
    "sample_shows_each_alternative": [
        (SCRIPT, '"rating?": Field({1, 2, 3, 4, 5}', '"rating?": Field((int, float)'),
        (SCRIPT, '"text": Field(str,', '"text": Field((str, None),')
    ],
    "views_are_of_dialogues": [(SCRIPT, "holds=holds, ", "")],
    "sample_verifies": [
        (SCRIPT, SAID, SKIP), (SCRIPT, 'in record["turns"])', 'in record["turns"][1:])'),
        (SCRIPT, "chat_of(said)}", 'chat_of(said), "source_turns": [[0]]}'), (CHECKS, NEW, OWN)
    ],
    "figures_compute": [
        (FIGURES, 'dialogue["turns"]', 'dialogue["turn"]'),
        (FIGURES, ", what: str) -> float:", ") -> float:\n    what = ...\n    return {'x': 1}")
    ],
    "tasks_score_the_sample": [
        *task_with(
            ("turns[].text", "turn[].text"), ('(row["id"], n)', '("9", n)'),
            ('Score({"right"', 'Score({"wrong"'), ('speaker="clerk")', "**gold(data)[key])"),
            ('.get("speaker")', '["speaker"]'),
            ('"right": hits', '"right": [True for _ in hits]'),
            ('all": hits', 'all": [True for _ in hits]'),
            ('"right": hits', '"right": [1 - hit for hit in hits]'),
            ('.get("speaker")', '.get("speaker", due["speaker"])'),
            ('.get("speaker")', '.get("speaker", "clerk")'),
            ("gold=gold", "gold=lambda data: {key: {'speaker': 'me'} for key in gold(data)}"),
            ("gold=gold, score=score", ONE_ANSWER), ("gold=gold", SUBSET.replace("ID", "1")),
            ("gold=gold", "gold=gold, ends={'right': (0, float('inf'))}"),
            ('speaker="clerk")', 'speaker=DRAWN.pop())')
        )
    ],
    "tasks_ask_for_right_answers": [
        *task_with(
            ('OneOf(["customer", "clerk"], "who")', ODD),
            ("customer or clerk?", "customer or another?"), ('each["text"]', 'each["speaker"]'),
            SHOWN, ("seen in turns(data):", "seen in [*turns(data)][1:]:"),
            ("gold=gold", "gold=lambda data: dict([*gold(data).items()][:2])"),
            ("talk = ", "raise KeyError(key) # ")
        ),
        ("tasks.py", NEW, TASK.replace("gold=gold", GOLD_OF_MESSAGES).replace(*SHOWN))
    ],
    "charts_are_drawn": [("charts.py", NEW, CHART), ("charts.py", NEW, CHART.replace("()", "1"))],
    "exports_write_the_sample": [("export.py", NEW, EXPORT)],
    "transcript_lays_out_every_row": [
        (LAYOUT, 'in row["turns"]]', 'in row["turns"][::-1]]'),
        (LAYOUT, 'turn["text"])', 'turn["text"][:9])'),
        (LAYOUT, 'turn["speaker"], turn["text"]', 'turn["text"], turn["speaker"]'),
        (LAYOUT, 'turn["speaker"],', '"clerk",'),
        (SCRIPT, 'turn["text"])', 'turn["text"].upper())'), (SCRIPT, SAID, TURN_ABOUT),
        (LAYOUT, "CONFIGS =", 'TABLES = {"messages": "source_turns"}\nCONFIGS ='),
        (LAYOUT, "turns=[", 'language="ja", turns=['),
    ],
    "card_can_be_read": [
        (CARD, "", None), (CARD, "---\nlicense", "license"),
        (CARD, "parley: load from", "parley: loads from")
    ],
    "card_has_its_parts": [
        (CARD, "## Known limits\n", ""),
        (CARD, "## Known limits\n", "## Known limits\n\n## Thanks\n")
    ],
    "card_has_the_form_of_the_hub": [
        (CARD, "[text-generation]", "[dialogues]"), (CARD, "language: [en]\n", ""),
        (SCRIPT, '"cc-by-4.0"', '"CC BY 4.0"'), (SCRIPT, '("en",)', '("japanese",)'),
        (CITATION, "year = {2026}\n}", "year = {2026}"), (CITATION, "someone2026skeleton,", ""),
        (CITATION, "Someone, Ann},", "Someone, Ann}")
    ],
    "card_is_up_to_date": [
        (CARD, '"build/skeleton", "dialogues"', '"build/skeleton"'),
        (CARD, "license: cc-by-4.0", "license: mit"),
        (CARD, "One split or", "3<!-- size.splits --> splits or"),
        (CITATION, "author = {Someone, Ann}", "author = {Else, Ann}")
    ]
}  # fmt: skip
ALL_BREAKS = [(rule, *change) for rule, changes in BREAKS.items() for change in changes]


def write(folder, file, old, new):
    if old is NEW:
        (folder / file).write_text(new)
    elif new is None:
        (folder / file).unlink()
    else:
        edit(folder / file, old, new)


def broken(tmp_path, file, old, new):
    write(write_skeleton("skeleton", tmp_path), file, old, new)
    dataset = Dataset("skeleton", tmp_path / "skeleton")
    return {check.name: check for check in check_folder(dataset)}


@pytest.mark.parametrize(("rule", "file", "old", "new"), ALL_BREAKS)
def test_a_broken_rule_is_reported_in_one_line(tmp_path, rule, file, old, new):
    found = broken(tmp_path, file, old, new)
    assert found[rule].problems
    for each in found.values():
        for line in each.problems:
            assert "\n" not in line
            assert re.search(r"[;.] \S", line), f"no remedy: {line}"
            assert rule == "sample_verifies" or "the check failed" not in line
    failed = [each.name for each in found.values() if each.failed]
    assert len(failed) <= 3, failed  # the cause is easy to see
    skipped = [each.name for each in found.values() if each.skipped]
    assert rule != "card_is_up_to_date" or skipped == ["placeholders_are_replaced"]


@pytest.mark.parametrize("gold", ["gold=gold", GOLD_OF_MESSAGES, LESS + "gold", LESS + CUSTOMERS])
def test_a_sound_task_breaks_no_rule(tmp_path, gold):
    task = TASK.replace("gold=gold", gold)
    if LESS in gold:  # beside a share of right ones
        task = task.replace('"all": hits', '"all": [1.0 - hit for hit in hits]')
    found = broken(tmp_path, "tasks.py", NEW, task).values()
    assert [each.name for each in found if each.failed] == ["card_is_up_to_date"]


@pytest.mark.parametrize(("file", "old", "new", "problems"), [
    ("tea.py", "", "", 0), ("tea.py", "Field({1, 2, 3, 4, 5}", "Field((int, float)", 1),
    ("tea.py", '"train"', '"test"', 1), ("tea.py", "cc-by-4.0", "mit", 1),
    ("tea.py", 'VERSION = "1', 'VERSION = "2', 1), ("figures.py", '"turns": 6, ', "", 1),
])  # fmt: skip
def test_a_change_of_what_was_measured_is_reported(tea, tmp_path, file, old, new, problems):
    build(Sources(tea, tea.sample), tmp_path / "out", measure=measure)
    after = Dataset("tea", shutil.copytree(tea.folder, tmp_path / "after"))
    edit(after.folder / file, old, new)
    folder = DatasetFolder(after, tmp_path)
    assert len(run_check(folder_rules.measured_is_up_to_date, folder).problems) == problems


@pytest.mark.parametrize(("file", "old", "new", "left"), [
    (CARD, "", "", 11), (CARD, "Describe the dataset, its", "Talks in a shop, their", 10),
    (CARD, "Unsuitable uses; known errors.", "Few talks.", 10),
    (CARD, "Unsuitable uses; known errors.\n", "", 11),
    (CARD, "A missing `rating` is null.", "Dates are parsed.", 11),
    (CARD, "Nothing else is changed; no record is left out.", "Dates are parsed.", 10),
    (CITATION, "The Title of the Paper", "Shops", 10),
    ("tea.py", ": describe the dataset in a line here,", ": talks in a shop,", 10),
    ("tea.py", "https://example.org/", PLACEHOLDER, 12)
])  # fmt: skip
def test_a_placeholder_is_an_error_once_tea_is_measured(tea, tmp_path, file, old, new, left):
    edit(tea.folder / file, old, new)
    folder, rule = DatasetFolder(tea, tmp_path), card_rules.placeholders_are_replaced
    assert run_check(rule, folder).skipped
    build(Sources(tea, tea.sample), tmp_path / "out", measure=measure)
    assert len(run_check(rule, folder).problems) == left


LONG = ('"turns": [', f'"turns": [{4 * SAID_TURN}')
DOUBLE = ('{"id": "s1"', '{"id": "s0", "turns": TURNS}\n{"id": "s1"')
DECLARED = (SCRIPT, "holds=holds", "holds=holds, repeats={'train': 1}")


@pytest.mark.parametrize(("change", "upstream", "wrong"), [
    ((LAYOUT, 'in row["turns"]]', 'in row["turns"][:4]]'), LONG, "transcripts"),  # sample: all
    (DECLARED, ("", ""), "transcripts"), (DECLARED, DOUBLE, ""),
    ((SCRIPT, "", ""), DOUBLE, "transcripts"), ((SCRIPT, "", ""), ("", ""), ""),
    (*task_with(("gold=gold", SUBSET.replace("ID", "'s9'"))), ("", ""), "subsets"),
    (*task_with(("gold=gold", SUBSET.replace("ID", "'s2'"))), ("", ""), ""),
    ((SCRIPT, "what is said", "what is said, or empty"), ("Yes, please.", ""), ""),
    ((SCRIPT, "", ""), ("Yes, please.", ""), "empty_texts"),
])  # fmt: skip
def test_what_the_sample_does_not_show_is_verified(
    run, tmp_path, monkeypatch, change, upstream, wrong
):
    folder = write_skeleton("skeleton", tmp_path)
    write(folder, *change)
    dataset, files = Dataset("skeleton", folder), tmp_path / "files"
    failed = {check.name for check in check_folder(dataset) if check.failed}
    assert failed <= {"card_is_up_to_date"}
    shutil.copytree(dataset.sample, files)
    text = (files / "dialogues.jsonl").read_text()
    turns = json.dumps(json.loads(text.splitlines()[0])["turns"])
    edit(files / "dialogues.jsonl", upstream[0], upstream[1].replace("TURNS", turns))
    build(Sources(dataset, files), tmp_path / "out")
    monkeypatch.setenv("PARLEY_DATASETS", str(tmp_path))
    _, out, _ = run("verify", "skeleton", "--build", tmp_path / "out", "--json")
    failed = [each["name"] for each in json.loads(out)[0]["checks"] if each["problems"]]
    assert failed == ([wrong] if wrong else [])
    monkeypatch.setattr("parley.hub.publish.require_reachable", lambda *_: None)
    where = ("--repo", "org/a", "--dry-run", "--endpoint", "http://127.0.0.1:9")
    _, _, err = run("publish", "skeleton", "--build", tmp_path / "out", *where)
    assert "parley verify" in err or not wrong


def test_the_command_fails_with_a_line_for_each_rule(run, more):
    edit(more / "tea" / CARD, "## Known limits\n", "")
    status, out, err = run("check", "tea")
    assert (status, err) == (1, "")
    first, *lines, last = out.splitlines()
    assert (first, last) == ("tea", "FAILED: tea")
    failed = lines.index("  FAILED  card has its parts")
    assert lines.pop(failed + 1).startswith("    README.md: ")
    rules = [line[10:].partition(":")[0] for line in lines]
    assert [rule.replace(" ", "_") for rule in rules] == [check.__name__ for check in RULES]


@pytest.fixture
def more(tea, tmp_path, monkeypatch):
    """A folder of one dataset, tea, which PARLEY_DATASETS names."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PARLEY_DATASETS", "more")
    return tmp_path / "more"


def test_a_script_or_folder_with_another_name_is_no_dataset(more):
    write_skeleton("coffee", more)
    (more / "coffee/coffee.py").rename(more / "coffee/builder.py")
    with pytest.raises(UsageError):
        get("coffee")
    (more / "tea").rename(more / "Green-Tea")
    with pytest.raises(UsageError):  # then no dataset is left
        get("Green-Tea")


def test_two_datasets_of_one_name_are_refused(more):
    (more / "casino").mkdir()
    (more / "casino/casino.py").touch()
    with pytest.raises(UsageError, match="casino"):
        get("tea")


def test_what_a_dataset_lacks_is_named(more, run):
    for command in ("tasks tea", "score tea rating"):
        status, out, err = run(*command.split())
        assert (status, out) == (2, "")
        assert err.startswith("tea")
    with (more / "tea" / "figures.py").open("a") as module:
        module.write("ROWS = {'dialogues': {'train': 'few'}}\n")
    status, out, err = run("list", "tea")
    assert (status, "ROWS.dialogues.train: " in out + err) == (1, True)


def test_a_module_of_the_folder_is_executed_once(more):
    """By the script, by another module, or by its name."""
    (more / "tea" / "marks.py").write_text("import os\nclass Mark: pass\n")
    (more / "tea" / "checks.py").write_text("from . import marks\n")
    script = more / "tea" / "tea.py"
    text = script.read_text().replace("    VERSION =", "    MARK = Mark\n    VERSION =")
    script.write_text(text.replace("from parley", "from .marks import Mark\nfrom parley", 1))
    dataset, again = (Dataset("tea", more / "tea") for _ in range(2))
    assert dataset.checks.marks is dataset.load_module("marks")
    assert dataset.builder.MARK is dataset.load_module("marks").Mark
    assert again.builder is dataset.builder


@pytest.mark.parametrize("level", [".", "more/tea", "more/tea/sample", "more/tea/tea.py"])
def test_a_wrong_level_is_reported(more, monkeypatch, level):
    monkeypatch.setenv("PARLEY_DATASETS", level)
    with pytest.raises(UsageError) as error:
        get("tea")
    assert "\n" not in str(error.value)
