"""`parley check` reports each broken rule of a dataset folder."""

import itertools
import re
import shutil

import pytest

from parley.build import build
from parley.collection import Dataset, get
from parley.errors import UsageError
from parley.linting import folder_rules
from parley.linting.dataset_folder import DatasetFolder
from parley.linting.run import RULES, check_folder, run_rule
from parley.source.files import Source
from parley.starting.new import write_skeleton

_numbers = itertools.count()


def test_a_dataset_without_tasks_is_reported(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "PARLEY_DATASETS='a b' parley check tea" in run("new", "tea", "a b")[1]
    monkeypatch.setenv("PARLEY_DATASETS", "a b")
    for command in ("tasks", "score"):
        status, out, err = run(command, "tea")
        assert (status, out) == (2, "")
        assert re.match(r"tea(:| has) no tasks; ", err)


# A broken one -------------------------------------------------------------------------------

SCRIPT, CARD = "skeleton.py", "README.md"
SAMPLE = "sample/dialogues.jsonl"
NEW = None  # replace the whole file
OWN = '''from parley.figures import check


@check
def ids_are_short(data):
    """Ids have two letters."""
    for row in data.rows("dialogues", "train"):
        if len(row["id"]) == 2:
            yield {}
'''
# defect: (file, old text, new text), (rule, message)
BREAKS = {
    # the script
    "a syntax error": (
        (SCRIPT, "DIALOGUE = {", "DIALOGUE = ("),
        ("script_declares", r"cannot be imported: SyntaxError: .*line \d+"),
    ),
    "a name that is not defined": (
        (SCRIPT, "DIALOGUE = {", "DIALOGUE = DIALOG or {"),
        ("script_declares", r"skeleton.py, line \d+: cannot be imported: NameError: name 'DIALOG'"),
    ),
    "an end of the process": (
        (SCRIPT, "DIALOGUE = {", "raise SystemExit(0)\nDIALOGUE = {"),
        ("script_declares", "cannot be imported: SystemExit"),
    ),
    "no invented record": (
        (SCRIPT, "(invented)", ""),
        ("script_opens_with_what_it_is", "shows no record"),
    ),
    "no word on what a row is": (
        (SCRIPT, "A row is the record", "It is the record"),
        ("script_opens_with_what_it_is", "describes no row"),
    ),
    "no builder": (
        (SCRIPT, "class Skeleton(Builder)", "class Skeleton"),
        ("script_declares", "skeleton.py: expected one class of Builder, found 0"),
    ),
    "a declaration of a file": (
        (SCRIPT, "    size=423,\n", '    size="423",\n'),
        ("script_declares", r"line \d+: File\('dialogues.jsonl'\): size: expected .*'423'"),
    ),
    "a declaration of the class": (
        (SCRIPT, 'VERSION = "1.0.0"', 'VERSION = "one"'),
        ("script_declares", r"line \d+: \w+: VERSION: .*docs/adding.md"),
    ),
    # the sample and its build
    "no sample": (
        (SAMPLE, "", None),
        ("sample_builds", "sample/dialogues.jsonl: missing; write a few invented records"),
    ),
    "a sample without records": (
        (SAMPLE, NEW, ""),
        ("sample_builds", "dialogues.jsonl: at least one record|expected at least one record"),
    ),
    "a record of another shape": (
        (SAMPLE, '"rating": 5', '"rating": 6'),
        (
            "sample_builds",
            "line 1: rating: expected 1 or 2 or 3 or 4 or 5, found 6. .*in the sample",
        ),
    ),
    "a key that comes twice": (
        (SAMPLE, '"id": "s2"', '"id": "s1"'),
        ("sample_builds", "dialogues.jsonl, line 2: the key 's1' appears twice, first in .*line 1"),
    ),
    "a row without a column": (
        (SCRIPT, 'yield {"id": record["id"], **chat_of(said)}', "yield chat_of(said)"),
        ("sample_builds", "skeleton.py fails: .*KeyError: 'id'"),
    ),
    "a row of another type": (
        (SCRIPT, 'yield {"id": record["id"], **', 'yield {"id": len(record["turns"]), **'),
        ("sample_builds", r"messages/train\[0\].id: expected string, found \d"),
    ),
    "a file that is left before its end": (
        (SCRIPT, "    for record in records:", "    for record in [next(iter(records))]:"),
        ("sample_builds", "dialogues.jsonl: not read to its end. `records` and `rows` must"),
    ),
    "rows that change records": (
        (
            SCRIPT,
            "        said = (",
            '        record["id"] += ""; record["turns"].reverse()\n        said = (',
        ),
        ("records_stay_as_they_are", r"rows changes record 0: .*change a copy"),
    ),
    "a word for what is missing": (
        (SCRIPT, "**chat_of(said)}", '**chat_of(said, "N/A")}'),
        ("missing_is_null", r"messages/train\[0\].messages\[0\].content: is 'N/A'; make it null"),
    ),
    "chats out of turn": (
        (SCRIPT, '"customer": "user", "clerk": "assistant"', '"customer": "user", "clerk": "bot"'),
        ("sample_verifies", r"chats: messages/train\[0\]: expected"),
    ),
    "a turn that is lost": (
        (SCRIPT, "**chat_of(said)}", '**chat_of(said), "source_turns": [[0]]}'),
        ("sample_verifies", r"chats: messages/train\[0\]: .*source_turns"),
    ),
    "a dialogue without a chat": (
        (
            SCRIPT,
            "        said = (",
            '        if record["id"] == "s2":\n            continue\n        said = (',
        ),
        ("views_show_every_dialogue", "messages/train: .* record 1;"),
    ),
    "a check that fails": (
        ("checks.py", NEW, OWN.format("row['texts']")),
        ("sample_verifies", "ids_are_short: the check failed: KeyError: 'texts'"),
    ),
    "a check that does not hold": (
        ("checks.py", NEW, OWN.format("row['id'] + ' is long'")),
        ("sample_verifies", "ids_are_short: s1 is long; .*: Ids have"),
    ),
    "checks that cannot be imported": (
        ("checks.py", NEW, "from parley import nothing\n"),
        ("modules_load", r"checks.py, line 1: cannot be imported: ImportError: .*'nothing'"),
    ),
    # the card
    "no card": ((CARD, "", None), ("card_can_be_read", r"README.md: no card to read: ")),
    "no front matter": (
        (CARD, "---\nlicense", "license"),
        ("card_can_be_read", "expected YAML front matter between two lines of ---"),
    ),
    "a heading less": (
        (CARD, "## Known limits\n", ""),
        ("card_has_its_parts", "lacks Known limits; let its .* be How to load, "),
    ),
    "a heading more": (
        (CARD, "## Known limits\n", "## Known limits\n\n## Thanks\n"),
        ("card_has_its_parts", "has the unknown Thanks"),
    ),
    "a mark less": (
        (CARD, "<!-- parley: generated to here -->\n", ""),
        ("card_can_be_read", "the line <!-- parley: generated to here --> comes 0 times; have it"),
    ),
    "a task that the Hub does not know": (
        (CARD, "- text-generation", "- dialogue-generation"),
        (
            "card_is_valid_for_the_hub",
            "task_categories: the Hub knows no dialogue-generation; take",
        ),
    ),
    "no language": (
        (CARD, "language:\n- en\n", ""),
        ("card_is_valid_for_the_hub", "the front matter lacks language; add it"),
    ),
    "a field that the card does not describe": (
        (CARD, "| `source_turns` |", "| `turns` |"),
        ("card_describes_every_field", "Fields lacks `source_turns` of messages; describe it"),
    ),
    "a row that is no JSON": (
        (CARD, '  "rating": 5\n', '  "rating": 5,\n'),
        ("card_shows_a_row", "What a row looks like: expected a row as ```json"),
    ),
    "a row of other columns": (
        (CARD, '  "rating": 5\n', '  "score": 5\n'),
        ("card_shows_a_row", "columns of dialogues: id"),
    ),
    "another citation": (
        (CARD, "author = {Someone, Ann}", "author = {Else, Ann}"),
        ("card_cites", "script's CITATION"),
    ),
    # the other modules
    "a figure that fails": (
        ("figures.py", 'dialogue["turns"]', 'dialogue["turn"]'),
        ("figures_compute", "size.dialogues fails: KeyError: 'turn'"),
    ),
    "a figure that takes too many keys": (
        ("figures.py", "what: str)", "what: str, split: str)"),
        (
            "modules_load",
            r"figures.py, line \d+: cannot be imported: ValueError: size takes 2 keys",
        ),
    ),
    "a transcript that fails": (
        ("transcript.py", 'row["rating"] is None', 'row["score"] is None'),
        ("transcript_lays_out_every_row", r"dialogues/train\[0\]: fails: KeyError: 'score'"),
    ),
    "a transcript without turns": (
        ("transcript.py", 'for turn in row["turns"]]', "for turn in ()]"),
        ("transcript_lays_out_every_row", r"dialogues/train\[0\]: has no turns; give them"),
    ),
    "a transcript of no configs": (
        ("transcript.py", "CONFIGS =", "_CONFIGS ="),
        ("transcript_lays_out_every_row", "transcript.py: defines no CONFIGS"),
    ),
    "a transcript of another config": (
        ("transcript.py", '("dialogues",)', '("dialogues", "chats")'),
        ("transcript_lays_out_every_row", "CONFIGS: .*chats"),
    ),
    "facets that fail": (
        ("transcript.py", 'len(row["turns"])}', 'row["rating"] + 1}'),
        ("transcript_lays_out_every_row", r"dialogues/train\[1\]: fails: TypeError: "),
    ),
    "an export that fails": (
        ("export.py", NEW, "EXPORTS = {'odd': lambda data, folder: data.rows('dialogue')[0]}\n"),
        ("exports_write_the_sample", "export.py: .*cannot be exported .IndexError"),
    ),
    "a job that is none": (
        ("jobs.py", NEW, "JOBS = {'train': print}\n"),
        ("modules_load", r"JOBS\['train'\]: expected a Job, found builtin_function_or_method"),
    ),
}


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


@pytest.mark.parametrize(("change", "due"), BREAKS.values(), ids=list(BREAKS))
def test_a_broken_rule_is_reported_in_one_line(tmp_path, change, due):
    check, message = due
    found, name = broken(tmp_path, *change)
    lines = found[check].problems
    problems = [line for each in found.values() for line in each.problems]
    assert any(re.search(message.replace("skeleton", name), line) for line in lines), problems
    for each in found.values():
        for line in each.problems:
            assert "\n" not in line
            assert re.search(r"[;.] \S", line), f"no remedy: {line}"
            assert "cannot be checked" not in line
    failed = [each.name for each in found.values() if each.failed]
    assert len(failed) <= 3, failed  # the cause is easy to see


@pytest.mark.parametrize(
    ("file", "old", "new", "problems"),
    [
        ("tea.py", "", "", 0),
        ("tea.py", '"rating?": {1, 2, 3, 4, 5}', '"rating?": (int, float)', 1),
        ("tea.py", '"train"', '"test"', 1),
        ("tea.py", "cc-by-4.0", "mit", 1),
        ("tea.py", 'VERSION = "1', 'VERSION = "2', 1),
        ("figures.py", '"turns": 6, ', "", 1),
    ],
)
def test_a_change_of_what_was_measured_is_reported(tmp_path, file, old, new, problems):
    before = Dataset("tea", write_skeleton("tea", tmp_path / "before"))
    build(Source(before, before.sample), tmp_path / "out", measure=True)
    after = Dataset("tea", shutil.copytree(before.folder, tmp_path / "after"))
    text = (after.folder / file).read_text()
    assert old in text
    (after.folder / file).write_text(text.replace(old, new) if old else text)
    folder = DatasetFolder(after, tmp_path)
    assert len(run_rule(folder_rules.measured_is_up_to_date, folder).problems) == problems


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
    assert [line[10:].replace(" ", "_") for line in lines if ":" not in line] == [
        check.__name__ for check in RULES
    ]


# A folder that is not found --------------------------------------------------------------------


@pytest.fixture
def more(tmp_path, monkeypatch):
    """A folder of one dataset, tea, which PARLEY_DATASETS names."""
    monkeypatch.chdir(tmp_path)
    write_skeleton("tea", tmp_path / "more")
    monkeypatch.setenv("PARLEY_DATASETS", "more")
    return tmp_path / "more"


def test_an_unknown_name_gets_the_nearest(more):
    with pytest.raises(UsageError, match=r"'tee'; .*tea\?"):
        get("tee")


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


def test_a_path_instead_of_a_name_is_understood(more, monkeypatch):
    with pytest.raises(UsageError, match=r"Did you mean tea\?"):
        get("more/tea")
    monkeypatch.delenv("PARLEY_DATASETS")
    with pytest.raises(UsageError, match=f"tea, .*PARLEY_DATASETS .*{more}"):
        get("more/tea")


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
