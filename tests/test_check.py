"""`parley check` reports each broken rule of a dataset folder."""

import itertools
import re
import shutil

import pytest

from parley.authoring.linting import card_rules, folder_rules
from parley.authoring.linting.dataset_folder import DatasetFolder
from parley.authoring.linting.run import RULES, check_folder
from parley.authoring.starting.new import write_skeleton
from parley.base.errors import UsageError
from parley.building.build import build
from parley.building.registry import Dataset, get
from parley.building.sources import Sources
from parley.source.pins import PLACEHOLDER
from parley.verifying.check import run_check

_numbers = itertools.count()


def test_a_dataset_without_tasks_is_reported(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "PARLEY_DATASETS='a b' parley check tea" in run("new", "tea", "a b")[1]
    monkeypatch.setenv("PARLEY_DATASETS", "a b")
    for command in (("tasks", "tea"), ("score", "tea", "rating")):
        status, out, err = run(*command)
        assert (status, out) == (2, "")
        assert re.match(r"tea(:| has) no task", err)


# A broken one -------------------------------------------------------------------------------

SCRIPT, CHECKS, FIGURES, LAYOUT = "skeleton.py", "checks.py", "figures.py", "transcript.py"
CARD, SAMPLE = "README.md", "sample/dialogues.jsonl"
NEW = None  # replace the whole file
OWN = '''from parley.building.figures import check


@check
def ids_are_short(data):
    """Ids have two letters."""
    for row in data.rows("dialogues", "train"):
        if len(row["id"]) == 2:
            yield {}
'''
SAID = "        said = ("  # a line of the view
SKIP = f'        if record["id"] == "s2":\n            continue\n{SAID}'
TWO_ROWS = f'        record["id"] += ""; record["turns"].reverse()\n{SAID}'
EXPORT = "EXPORTS = {'odd': lambda data, folder: [][0]}\n"
TASK = """from parley.tasks import Score, Task


def gold(data):
    return {(row["id"],): row["turns"][0]["speaker"] for row in data.rows("dialogues", "train")}


FIRST = Task(
    summary="who speaks first",
    evaluated_on="all dialogues",
    configs=("dialogues",),
    fields={"id": "the dialogue", "first": "a speaker"},
    shape={"id": str, "first": str},
    key=("id",),
    example={"id": "s7", "first": "nobody"},
    metrics={"right": "the share of right answers"},
    gold=gold,
    score=lambda gold, found: Score({"right": sum("first" in found[key] for key in gold)}),
    baselines={"clerk": lambda data: ({"id": id, "first": "clerk"} for (id,) in gold(data))},
    unit="dialogues",
)
TASKS = {"first": FIRST}
"""
OTHERS = (
    "    inputs='its turns',\n    columns=('dialogues.turns[].text', 'dialogues.turn'),\n    gold="
)
JOINED = """holds=holds, records=lambda sources: [*sources["dialogues.jsonl"]],
            shape=__import__("parley").Converted(DIALOGUE, DIALOGUE, lambda r: r["x"], dict)"""
OF_LABELS = TASK.replace('"first": str', '"first": {"clerk", "customer"}').replace(
    "nobody", "clerk"
)
BREAKS = {  # rule: (file, old text, new text, part of the message)
    "script_declares": [
        (SCRIPT, "DIALOGUE = {", "DIALOGUE = (", r"cannot be imported: SyntaxError: .*line \d+"),
        (SCRIPT, "DIALOGUE = {", "DIALOGUE = DIALOG or {", r"line \d+: .*NameError: name 'DIALOG'"),
        (SCRIPT, "DIALOGUE = {", "raise SystemExit(0)\nDIALOGUE = {", "imported: SystemExit"),
        (SCRIPT, "DIALOGUE = {", "raise BaseException\nDIALOGUE = {", "imported: BaseException"),
        (SCRIPT, "class Skeleton(Builder)", "class Skeleton", "one class of Builder, found 0"),
        ("pins.py", '"size": 423', '"size": "423"', r"line \d+: File\('dialogues.*\): size: "),
        (SCRIPT, 'VERSION = "1.0.0"', 'VERSION = "one"', r"line \d+: \w+: VERSION: "),
    ],
    "script_opens_with_what_it_is": [
        (SCRIPT, "(invented)", "", "shows no record"),
        (SCRIPT, "A row is the record", "It is the record", "describes no row"),
    ],
    "every_field_has_a_meaning": [
        (SCRIPT, 'Field(str, "what is said")', "str", r"dialogues: turns\[\].text has no meaning"),
        (SCRIPT, "**CHAT", '**CHAT, "n?": int', "messages: n has no meaning"),
    ],
    "sample_builds": [
        (SAMPLE, "", None, "sample/dialogues.jsonl: missing; write a few invented records"),
        (SAMPLE, NEW, "", "dialogues.jsonl: at least one record|expected at least one record"),
        (SAMPLE, '"rating": 5', '"rating": 6', "line 1: rating: .*, found 6. .*in .*/sample"),
        (SAMPLE, '"id": "s2"', '"id": "s1"', "line 2: the key 's1' appears twice, first in .*line"),
        (SCRIPT, '"id": record["id"], **', "**", r"train\[0\]; \[1\]: id: missing"),
        (SCRIPT, '"clerk": "assistant"', '"clerk": "bot"', r"\.role: expected .*, found .bot"),
        (
            SCRIPT,
            'record["id"], **',
            'len(record["turns"]), **',
            r"train\[0\]; \[1\]: id: expected a string, ",
        ),
        (SCRIPT, "roles[turn[", "rolls[turn[", r"skeleton.py, line \d+ fails: .*line 1: NameError"),
        (SCRIPT, "holds=holds", JOINED, r"line \d+ fails: records\[0\]: KeyError: 'x'"),
        (SCRIPT, " in records:", " in [next(iter(records))]:", "not read to its end. `rec"),
    ],
    "records_stay_as_they_are": [
        (SCRIPT, SAID, TWO_ROWS, r"rows changes record 0: .*change a copy"),
    ],
    "missing_is_null": [
        (SCRIPT, "chat_of(said)", 'chat_of(said, "N/A")', r"messages/train\[0\].*is 'N/A'"),
    ],
    "sample_shows_each_alternative": [
        (
            SCRIPT,
            '"rating?": Field({1, 2, 3, 4, 5}',
            '"rating?": Field((int, float)',
            r"dialogues.rating: .*poi",
        ),
        (
            SCRIPT,
            '"text": Field(str,',
            '"text": Field((str, None),',
            r"dialogues.turns\[\].text: .* null here",
        ),
    ],
    "views_are_of_dialogues": [(SCRIPT, "holds=holds, ", "", "says not what .*; give holds=")],
    "sample_verifies": [
        (SCRIPT, SAID, SKIP, "shown: messages/train: leaves out 1 of 2 dialogues,"),
        (SCRIPT, 'in record["turns"])', 'in record["turns"][1:])', "leaves out 2 of 6 turns"),
        (SCRIPT, '"clerk": "assistant"', '"clerk": "system"', r"chats: messages/train\[0\]: exp"),
        (
            SCRIPT,
            "chat_of(said)}",
            'chat_of(said), "source_turns": [[0]]}',
            "chats: .*source_turns",
        ),
        (CHECKS, NEW, OWN.format("row['texts']"), "ids_are_short: the check failed: KeyErr"),
        (CHECKS, NEW, OWN.format("row['id'] + ' is long'"), "ids_are_short: s1 is long; .*: Ids"),
    ],
    "modules_load": [
        (CHECKS, NEW, "from parley import nothing\n", r"checks.py, line 1: cannot.*ImportError: "),
        (FIGURES, "what: str)", "what: str, split: str)", r"line \d+: cannot.*size takes 2 keys"),
        ("jobs.py", NEW, "JOBS = {'train': print}\n", r"JOBS\['train'\]: expected a Job, "),
    ],
    "figures_compute": [
        (FIGURES, 'dialogue["turns"]', 'dialogue["turn"]', "size.dialogues fails: KeyErr"),
    ],
    "tasks_score_the_sample": [
        ("tasks.py", NEW, TASK.replace("    gold=", OTHERS), r"no column dialogues.turn; name"),
        ("tasks.py", NEW, TASK, "first: shape: first: takes any text, .*'clerk', 'customer'"),
        *(
            ("tasks.py", NEW, OF_LABELS.replace(old, new), message)
            for old, new, message in (
                ('(row["id"],)', '("9",)', r"first: gold: no row of dialogues has .*'9'"),
                ('Score({"right"', 'Score({"wrong"', r"metrics.wrong: is not in the `metrics` of "),
                (
                    '"clerk"} for (id,) in gold(data)',
                    "first} for (id,), first in gold(data).items()",
                    "first: clerk: gives all right answers",
                ),
                ('"first" in found[key]', 'found[key]["first"] == "clerk"', r"unreadable.*KeyErr"),
            )
        ),
    ],
    "exports_write_the_sample": [("export.py", NEW, EXPORT, "cannot be exported .IndexError")],
    "transcript_lays_out_every_row": [
        (LAYOUT, 'row["rating"] is', 'row["score"] is', r"train\[0\]: fails: KeyError: 'score'"),
        (LAYOUT, 'for turn in row["turns"]]', "for turn in ()]", r"train\[0\]: has no turns; give"),
        (LAYOUT, 'in row["turns"]]', 'in row["turns"][:2]]', r"lacks the text of .turns\[2\].text"),
        (LAYOUT, "CONFIGS =", "_CONFIGS =", "transcript.py: defines no CONFIGS"),
        (LAYOUT, "CONFIGS =", 'TABLES = {"x": "y"}\nCONFIGS =', "TABLES: no column x.y"),
        (LAYOUT, '("dialogues",)', '("dialogues", "chats")', "CONFIGS: .*chats"),
        (LAYOUT, 'len(row["turns"])}', 'row["rating"] + 1}', r"train\[1\]: fails: TypeError: "),
    ],
    "card_can_be_read": [
        (CARD, "", None, r"README.md: no card to read: "),
        (CARD, "---\nlicense", "license", "expected YAML front matter between two lines of ---"),
        (CARD, "<!-- parley: load to here -->\n", "", "lines .*load to here --> once each"),
        (CARD, "parley: load from", "parley: loads from", "no part is named loads"),
    ],
    "card_has_its_parts": [
        (CARD, "## Known limits\n", "", "lacks Known limits; let its .* be Splits, "),
        (CARD, "## Biases and impact\n", "", "lacks Biases and impact; "),
        (CARD, "## Known limits\n", "## Known limits\n\n## Thanks\n", "has the unknown Thanks"),
    ],
    "card_is_valid_for_the_hub": [
        (CARD, "- text-generation", "- dialogues", "task_categories: the Hub knows no dialogues"),
        (CARD, "language: [en]\n", "", "the front matter lacks language; add it"),
        (SCRIPT, '"cc-by-4.0"', '"GPLv3"', "LICENSE: the Hub knows no licence GPLv3; .*gpl-3.0"),
        (SCRIPT, '("en",)', '("english",)', "LANGUAGES: english is no code of a language; take"),
    ],
    "card_is_up_to_date": [
        (CARD, '"build/skeleton", "dialogues"', '"build/skeleton"', "the part load is stale; run"),
        (CARD, "license: cc-by-4.0", "license: mit", r"license of .*expected cc-by-4.0, found mit"),
        (CARD, "One split or", "3<!-- size.splits --> splits or", "size.splits is not counted"),
        (SCRIPT, "a chat, the clerk", "a talk, the clerk", "the part fields is stale"),
        (SCRIPT, "author = {Someone, Ann}", "author = {Else, Ann}", "the part citation is stale"),
    ],
}
ALL_BREAKS = [(rule, *change) for rule, changes in BREAKS.items() for change in changes]


def broken(tmp_path, file, old, new):
    """Return the results for a skeleton with one defect, and its unique name."""
    name = f"broken_{next(_numbers)}"
    path = write_skeleton(name, tmp_path) / file.replace("skeleton", name)
    if old is NEW:
        path.write_text(new)
    elif new is None:
        path.unlink()
    else:
        text = path.read_text()
        title = name.title().replace("_", "")
        old, new = (
            part.replace("skeleton", name).replace("Skeleton", title) for part in (old, new)
        )
        assert text.count(old) == 1, f"{old!r} is not there once"
        path.write_text(text.replace(old, new))
    work = tmp_path / "work"
    work.mkdir()
    dataset = Dataset(name, tmp_path / name)
    return {check.name: check for check in check_folder(DatasetFolder(dataset, work))}, name


@pytest.mark.parametrize(("rule", "file", "old", "new", "message"), ALL_BREAKS)
def test_a_broken_rule_is_reported_in_one_line(tmp_path, rule, file, old, new, message):
    found, name = broken(tmp_path, file, old, new)
    lines = found[rule].problems
    problems = [line for each in found.values() for line in each.problems]
    assert any(re.search(message.replace("skeleton", name), line) for line in lines), problems
    for each in found.values():
        for line in each.problems:
            assert "\n" not in line
            assert re.search(r"[;.] \S", line), f"no remedy: {line}"
            assert rule == "sample_verifies" or "the check failed" not in line
    failed = [each.name for each in found.values() if each.failed]
    assert len(failed) <= 3, failed  # the cause is easy to see
    skipped = [each.name for each in found.values() if each.skipped]
    assert rule != "card_is_up_to_date" or skipped == ["placeholders_are_replaced"]


@pytest.mark.parametrize(
    ("file", "old", "new", "problems"),
    [
        ("tea.py", "", "", 0),
        ("tea.py", "Field({1, 2, 3, 4, 5}", "Field((int, float)", 1),
        ("tea.py", '"train"', '"test"', 1),
        ("tea.py", "cc-by-4.0", "mit", 1),
        ("tea.py", 'VERSION = "1', 'VERSION = "2', 1),
        ("figures.py", '"turns": 6, ', "", 1),
    ],
)
def test_a_change_of_what_was_measured_is_reported(tmp_path, file, old, new, problems):
    before = Dataset("tea", write_skeleton("tea", tmp_path / "before"))
    build(Sources(before, before.sample), tmp_path / "out", measure=True)
    after = Dataset("tea", shutil.copytree(before.folder, tmp_path / "after"))
    text = (after.folder / file).read_text()
    assert old in text
    (after.folder / file).write_text(text.replace(old, new) if old else text)
    folder = DatasetFolder(after, tmp_path)
    assert len(run_check(folder_rules.measured_is_up_to_date, folder).problems) == problems


@pytest.mark.parametrize(
    ("file", "old", "new", "fewer"),
    [
        (CARD, "", "", 0),
        (CARD, "Describe the dataset, its", "Talks in a shop, their", 1),
        (CARD, "Unsuitable uses; known errors.", "Few talks.", 1),
        ("tea.py", "The Title of the Paper", "Shops", 1),
        ("tea.py", ": describe the dataset in a line here,", ": talks in a shop,", 1),
    ],
)
def test_a_placeholder_is_an_error_once_the_dataset_is_measured(tmp_path, file, old, new, fewer):
    dataset = Dataset("tea", write_skeleton("tea", tmp_path))
    text = (dataset.folder / file).read_text()
    assert old in text
    (dataset.folder / file).write_text(text.replace(old, new) if old else text)
    folder, rule = DatasetFolder(dataset, tmp_path), card_rules.placeholders_are_replaced
    assert run_check(rule, folder).skipped
    build(Sources(dataset, dataset.sample), tmp_path / "out", measure=True)
    assert len(run_check(rule, folder).problems) == 10 - fewer


def test_a_homepage_that_is_none_is_an_error_once_the_dataset_is_measured(tmp_path):
    dataset = Dataset("tea", write_skeleton("tea", tmp_path))
    script = dataset.folder / "tea.py"
    script.write_text(script.read_text().replace("https://example.org/", PLACEHOLDER))
    folder, rule = DatasetFolder(dataset, tmp_path), folder_rules.sources_have_addresses
    assert run_check(rule, folder).skipped
    build(Sources(dataset, dataset.sample), tmp_path / "out", measure=True)
    assert run_check(rule, folder).failed


def test_the_command_fails_with_a_line_for_each_rule(run, tmp_path, monkeypatch):
    folder = write_skeleton("tea", tmp_path)
    card = (folder / "README.md").read_text()
    (folder / "README.md").write_text(card.replace("## Known limits\n", ""))
    monkeypatch.setenv("PARLEY_DATASETS", str(tmp_path))
    status, out, err = run("check", "tea")
    assert (status, err) == (1, "")
    first, *lines, last = out.splitlines()
    assert (first, last) == ("tea", "FAILED: tea")
    failed = lines.index("  FAILED  card has its parts")
    assert lines.pop(failed + 1).startswith("    README.md: lacks Known limits; let its ")
    rules = [line[10:].partition(":")[0] for line in lines]
    assert [rule.replace(" ", "_") for rule in rules] == [check.__name__ for check in RULES]


# A folder that is not found --------------------------------------------------------------------


@pytest.fixture
def more(tmp_path, monkeypatch):
    """A folder of one dataset, tea, which PARLEY_DATASETS names."""
    monkeypatch.chdir(tmp_path)
    write_skeleton("tea", tmp_path / "more")
    monkeypatch.setenv("PARLEY_DATASETS", "more")
    return tmp_path / "more"


def test_a_script_with_another_name_is_reported(more):
    write_skeleton("coffee", more)
    for name in ("coffee", "tea"):  # then no dataset is left
        (more / name / f"{name}.py").rename(more / name / "builder.py")
        with pytest.raises(UsageError, match=r"more/coffee holds builder\.py.*coffee\.py"):
            get("coffee")


def test_a_folder_with_a_wrong_name_is_reported(more):
    (more / "tea").rename(more / "Green-Tea")
    write_skeleton("coffee", more)
    with pytest.raises(UsageError, match=r"Rename more/Green-Tea: .*lower-case"):
        get("Green-Tea")


@pytest.mark.parametrize(
    ("level", "message"),
    [
        (".", "no dataset. Name the folder in it, more"),
        ("more/tea", "name the folder above it, .*/more"),
        ("more/tea/sample", "no dataset. A dataset is a folder NAME"),
        ("more/tea/tea.py", "no folder"),
        ("nowhere", "no folder"),
    ],
)
def test_a_wrong_level_is_reported_with_the_right_one(more, monkeypatch, level, message):
    monkeypatch.setenv("PARLEY_DATASETS", level)
    with pytest.raises(UsageError) as error:
        get("tea")
    assert re.search(message, str(error.value)), error.value
    assert "\n" not in str(error.value)
