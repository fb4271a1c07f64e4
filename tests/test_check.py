"""`parley new` writes a folder that `parley check` finds sound, and check names what is broken."""

import itertools
import json
import os
import re
import shutil
import subprocess
import sys

import pytest

from parley.build import build
from parley.checking import run
from parley.checking.new import SKELETON, write_skeleton
from parley.checking.run import CHECKS, NEEDS_REAL_FILES, check_folder, made
from parley.checking.subject import Subject
from parley.collection import Dataset, discover, get, wrong_name
from parley.errors import UsageError
from parley.source.files import open_source

FILES = sorted(path.relative_to(SKELETON).as_posix() for path in SKELETON.rglob("*.*"))
FILES = [file for file in FILES if not file.endswith(".pyc")]
_numbers = itertools.count()


def parley(*args, cwd, more=None):
    env = {key: value for key, value in os.environ.items() if not key.startswith("PARLEY_")}
    return subprocess.run(
        [sys.executable, "-m", "parley", *map(str, args)],
        cwd=cwd,
        env=env if more is None else {**env, "PARLEY_DATASETS": str(more)},
        capture_output=True,
        text=True,
    )


# A new folder -------------------------------------------------------------------------------


def test_what_new_writes_passes_every_check_from_any_folder(tmp_path):
    done = parley("new", "tea_talk", "more", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "PARLEY_DATASETS=more parley check tea_talk" in done.stdout
    folder = tmp_path / "more" / "tea_talk"
    texts = {p.relative_to(folder).as_posix(): p.read_text() for p in folder.rglob("*.*")}
    assert sorted(texts) == sorted(file.replace("skeleton", "tea_talk") for file in FILES)
    assert "class TeaTalk(datasets" in texts["tea_talk.py"]
    assert not [file for file, text in texts.items() if "skeleton" in text.lower()]

    done = parley("check", "tea_talk", "--json", cwd=tmp_path, more="more")
    assert done.returncode == 0, done.stdout
    (found,) = json.loads(done.stdout)
    assert found["dataset"] == "tea_talk"
    assert [check["name"] for check in found["checks"]] == [check.__name__ for check in CHECKS]
    assert not [check for check in found["checks"] if check["problems"] or check["failed"]]
    skipped = {check["name"]: check["skipped"] for check in found["checks"] if check["skipped"]}
    assert skipped == {"card_counts_the_real_data": "name the upstream files with --source"}


NO_NAMES = {
    "a name has lower-case": ("Tea", "tea-talk", "2tea", "", "tea/talk", "..", "tea\n", "~"),
    "a word of Python": ("class", "true", "none"),
    "takes it for a value": ("yes", "no", "on", "off", "null", "y", "n"),
    "a module of Python": ("json", "statistics"),
    "name of a package": ("parley", "parley_datasets", "datasets", "yaml"),
    "stands beside the script": ("figures", "jobs", "views"),
}


@pytest.mark.parametrize(
    ("name", "why"), [(name, why) for why, names in NO_NAMES.items() for name in names]
)
def test_what_no_dataset_may_be_called(more, name, why):
    with pytest.raises(UsageError, match=why):
        write_skeleton(name, more)
    assert [path.name for path in more.iterdir()] == ["tea"]
    if name.isidentifier():  # nor is it found
        (more / name).mkdir()
        (more / name / f"{name}.py").touch()
        assert name not in discover()
        with pytest.raises(UsageError, match=f"Rename .*{name}: .*{why}"):
            get(name)


def test_no_file_of_a_new_folder_takes_the_place_of_another():
    for name in {path.stem for path in SKELETON.glob("*.py")} - {SKELETON.name}:
        assert wrong_name(name)


def test_the_class_of_a_new_script_hides_nothing(tmp_path):
    with pytest.raises(UsageError, match="its class Iterator would hide"):
        write_skeleton("iterator", tmp_path)


def test_of_a_dataset_without_tasks_it_is_said(tmp_path):
    done = parley("new", "tea", "a b", cwd=tmp_path)
    assert "PARLEY_DATASETS='a b' parley check tea" in done.stdout
    for command in ("tasks", "score"):
        done = parley(command, "tea", cwd=tmp_path, more="a b")
        assert (done.returncode, done.stdout) == (2, "")
        assert re.match(r"tea(:| has) no tasks; ", done.stderr)


@pytest.mark.parametrize("make", [os.mkdir, lambda p: p.touch(), lambda p: p.symlink_to("nowhere")])
def test_new_overwrites_nothing(tmp_path, make):
    make(tmp_path / "tea")
    with pytest.raises(UsageError, match="stands there already"):
        write_skeleton("tea", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["tea"]


def test_new_takes_no_name_of_another_dataset(tmp_path):
    name = next(iter(discover()))
    with pytest.raises(UsageError, match=f"{name} has this name already"):
        write_skeleton(name, tmp_path)


# A broken one -------------------------------------------------------------------------------

SCRIPT, VIEWS, CARD = "skeleton.py", "views.py", "README.md"
SAMPLE = "sample/dialogues.jsonl"
NEW = None  # in the place of what stands in a file: all of it
# what is broken: file, what stands there, what is put there, the check, what it says
BREAKS = {
    # the text of the script
    "a syntax error": (
        (SCRIPT, "SPLITS = {", "SPLITS = ("),
        ("script_loads", r"cannot be imported: SyntaxError: .*line \d+"),
    ),
    "a name that is not defined": (
        (SCRIPT, "SPLITS = {", "SPLITS = SPLIT or {"),
        ("script_loads", r"skeleton.py, line \d+: cannot be imported: NameError: name 'SPLIT'"),
    ),
    "an end of the process": (
        (SCRIPT, "SPLITS = {", "raise SystemExit(0)\nSPLITS = {"),
        ("script_loads", "cannot be imported: SystemExit"),
    ),
    "an import of parley": (
        (SCRIPT, "import datasets\n", "import datasets\nfrom parley.figures import chat_of\n"),
        ("script_stands_alone", "skeleton.py, line .*imports parley, .*move what needs it to"),
    ),
    "an import of parley beside the script, in a function": (
        (
            VIEWS,
            "    for record in records:\n",
            "    import parley.figures\n    for record in records:\n",
        ),
        ("script_stands_alone", r"views.py, line \d+: imports parley"),
    ),
    "an import of a library": (
        (SCRIPT, "import datasets\n", "import datasets\nimport numpy as np\n"),
        ("script_stands_alone", "imports numpy; do without it"),
    ),
    "an import of what stands beside as if it did not": (
        (SCRIPT, "from .views import", "from views import"),
        ("script_stands_alone", r"imports views; write `from \.views import \.\.\.`"),
    ),
    "an import of what is not there": (
        (SCRIPT, "from .views import", "from .view import"),
        ("script_stands_alone", "imports .view, which does not stand beside it; add .*view.py"),
    ),
    "a module of the standard library's name": (
        ("statistics.py", NEW, '"""Figures."""\n'),
        ("folder_shadows_nothing", "statistics.py: hides a module of the standard library; give"),
    ),
    "no invented record": (
        (SCRIPT, "(invented)", ""),
        ("script_opens_with_what_it_is", "the docstring shows no invented record; add one"),
    ),
    # what it declares
    "a missing declaration": (
        (SCRIPT, "TO_RECORD = {", "_TO_RECORD = {"),
        ("script_loads", "TO_RECORD: missing, expected a dict. docs/adding.md says"),
    ),
    "a missing function": (
        (SCRIPT, "def rows(", "def lines("),
        ("script_loads", "rows: missing, expected a function"),
    ),
    "a function without a default": (
        (SCRIPT, " = json.loads)", ")"),
        (
            "script_loads",
            r"read: expected a function of \(path, shape, loads\), loads with a default",
        ),
    ),
    "a function that takes more": (
        (SCRIPT, "def rows(\n    config: str, ", "def rows(\n    config: str, split: str, "),
        ("script_loads", r"rows: expected a function of \(config, records\), found \(config: str"),
    ),
    "no builder": (
        (SCRIPT, "(datasets.GeneratorBasedBuilder)", ""),
        ("script_loads", "expected one GeneratorBasedBuilder, found 0"),
    ),
    "no default": (
        (SCRIPT, "    DEFAULT_CONFIG_NAME =", "    DEFAULT ="),
        ("script_loads", "DEFAULT_CONFIG_NAME: expected a config of SPLITS, found None"),
    ),
    "another default": (
        (SCRIPT, 'DEFAULT_CONFIG_NAME = "dialogues"', 'DEFAULT_CONFIG_NAME = "messages"'),
        ("configs_agree", "DEFAULT_CONFIG_NAME: expected dialogues, .*found messages"),
    ),
    "a config without an entry": (
        (SCRIPT, 'datasets.BuilderConfig("messages"', 'datasets.BuilderConfig("chats"'),
        ("script_loads", "BUILDER_CONFIGS: has no config messages, which SPLITS has"),
    ),
    "a config without features": (
        (
            SCRIPT,
            'FEATURES = {"dialogues": _dialogue, **VIEW_FEATURES}',
            "FEATURES = VIEW_FEATURES",
        ),
        ("script_loads", "FEATURES: has no config dialogues, which SPLITS has"),
    ),
    "features that are a dict": (
        (SCRIPT, '"dialogues": _dialogue,', '"dialogues": dict(_dialogue),'),
        ("script_loads", r"FEATURES\['dialogues'\]: expected datasets.Features, found {"),
    ),
    "a config without a description": (
        (SCRIPT, ', description="all dialogues, as published"', ""),
        ("configs_agree", "BUILDER_CONFIGS: dialogues has no description; say what its rows are"),
    ),
    "a split of no source": (
        (
            SCRIPT,
            '{"train": ("dialogues.jsonl",)},\n    **',
            '{"train": ("other.jsonl",)},\n    **',
        ),
        ("script_loads", "names 'other.jsonl', which SOURCES does not have"),
    ),
    "a split of a source that is no tuple": (
        (
            SCRIPT,
            '{"train": ("dialogues.jsonl",)},\n    **',
            '{"train": "dialogues.jsonl"},\n    **',
        ),
        ("script_loads", r"SPLITS\['dialogues'\]\['train'\]: expected a tuple of sources, found"),
    ),
    "a config without splits": (
        (SCRIPT, '"dialogues": {"train": ("dialogues.jsonl",)}', '"dialogues": {}'),
        ("script_loads", r"SPLITS\['dialogues'\]: expected a dict of splits, found {}"),
    ),
    "a pin without a hash": (
        (SCRIPT, '"sha256": "', '"md5": "'),
        ("script_loads", "expected one of sha256, git_blob, or git_tree with member, found url"),
    ),
    "a pin with a hash to come": (
        (SCRIPT, '"sha256": "', '"sha256": "?'),
        ("sources_are_pinned", r"sha256 expected 64 hexadecimal digits, found '\?.*; compute it"),
    ),
    "a URL that may be changed on the way": (
        (SCRIPT, "https://example.org/skeleton/", "http://example.org/skeleton/"),
        ("sources_are_pinned", "expected an https:// URL, found http:"),
    ),
    "a URL that follows a branch": (
        (SCRIPT, "/1.0/", "/main/"),
        ("sources_are_pinned", "the URL follows main, which changes; put the id of a commit"),
    ),
    "no licence": (
        (SCRIPT, 'license="cc-by-4.0"', 'license=""'),
        ("info_is_complete", "_info: license of dialogues: expected what the Hub calls it"),
    ),
    "an _info that fails": (
        (SCRIPT, "FEATURES[self.config.name]", "FEATURES[self.config.title]"),
        ("info_is_complete", "_info: fails for dialogues: AttributeError"),
    ),
    "a way back without a shape": (
        (SCRIPT, 'RECORDS = {"dialogues": DIALOGUE}', "RECORDS = {}"),
        ("script_loads", "RECORDS: has no config dialogues, whose rows TO_RECORD takes back"),
    ),
    "a way back of no config": (
        (SCRIPT, 'TO_RECORD = {"dialogues"', 'TO_RECORD = {"dialogue"'),
        ("script_loads", "TO_RECORD: names dialogue, which SPLITS does not have"),
    ),
    "downloads that nobody compares": (
        (SCRIPT, "                require_pinned(source, path)\n", "                pass\n"),
        (
            "downloads_are_compared_with_their_pins",
            "dialogues: expected a ValueError that names the source .*; call require_pinned first",
        ),
    ),
    # the sample, and what is made of it
    "no sample": (
        (SAMPLE, "", None),
        ("sample_is_there", "sample/dialogues.jsonl: missing; write a few invented records"),
    ),
    "a sample without records": (
        (SAMPLE, NEW, ""),
        ("sample_builds", "dialogues.jsonl: at least one record|expected at least one record"),
    ),
    "a record of another shape": (
        (SAMPLE, '"rating": 5', '"rating": 6'),
        ("sample_builds", "line 1: rating: expected 1 or 2 or 3 or 4 or 5, found 6. .*mend the"),
    ),
    "a key that comes twice": (
        (SAMPLE, '"id": "s2"', '"id": "s1"'),
        ("sample_builds", "dialogues.jsonl, line 2: the key 's1' comes twice, first in .*line 1"),
    ),
    "a row without a column": (
        (SCRIPT, '        "rating": record.get("rating"),\n', ""),
        ("sample_builds", r"dialogues/train\[0\].rating: missing, expected int64"),
    ),
    "a row of another type": (
        (SCRIPT, 'record.get("rating")', 'str(record.get("rating"))'),
        ("sample_builds", r"dialogues/train\[0\].rating: expected int64, found '5'"),
    ),
    "a file that is read in another way": (
        (SCRIPT, "for record in read(path, DIALOGUE)", "for record in [{'id': 's', 'turns': [1]}]"),
        ("sample_builds", "dialogues.jsonl: not read with the `read` it was given. `records` must"),
    ),
    "a file that is left before its end": (
        (SCRIPT, 'yield record["id"], record', 'yield record["id"], record\n            break'),
        ("sample_builds", "dialogues.jsonl: left before its end. `records` must go through"),
    ),
    "a view that fails": (
        (VIEWS, 'enumerate(record["turns"])', 'enumerate(record["turn"])'),
        ("sample_builds", "skeleton.py fails: .*KeyError: 'turn'"),
    ),
    "a shape that is none": (
        (SCRIPT, '"id": str,', '"id": "str",'),
        ("sample_builds", "'str' is no shape"),
    ),
    "a shape of a list of nothing": (
        (SCRIPT, '"turns": [{"speaker": {"customer", "clerk"}, "text": str}]', '"turns": []'),
        ("sample_builds", r"\[\] is no shape"),
    ),
    "a shape that takes anything": (
        (SCRIPT, '"rating?": {1, 2, 3, 4, 5}', '"rating?": lambda value: None'),
        ("shapes_refuse_what_they_do_not_know", "the shape takes anything at rating; say what"),
    ),
    "a shape whose function fails": (
        (SCRIPT, '"rating?": {1, 2, 3, 4, 5}', '"rating?": lambda value: value + 1'),
        ("shapes_refuse_what_they_do_not_know", "at rating fails on an object: TypeError: .*; let"),
    ),
    "rows that change records": (
        (SCRIPT, '"rating": record.get("rating")', '"rating": record.setdefault("rating", None)'),
        ("records_stay_as_they_are", r"rows changes record 1: \.rating: .*change a copy"),
    ),
    "a way back to another record": (
        (SCRIPT, 'record = {"id": row["dialogue_id"],', 'record = {"id": row["dialogue_id"] * 2,'),
        ("rows_go_back_to_records", r"does not come back as the record: \.id: expected 's1'"),
    ),
    "a way back that fails": (
        (SCRIPT, 'record = {"id": row["dialogue_id"],', 'record = {"id": row["id"],'),
        ("rows_go_back_to_records", r"dialogues/train\[0\]: to_record fails: KeyError: 'id'; let"),
    ),
    "a word for what is missing": (
        (VIEWS, '"<start>"', '"N/A"'),
        ("missing_is_null", r"messages/train\[1\].messages\[0\].content: is 'N/A'; make it null"),
    ),
    "chats out of turn": (
        (VIEWS, 'if role == "assistant" and not chat:', "if False:"),
        ("sample_verifies", r"chats: messages/train\[1\]: expected user and assistant by turns"),
    ),
    "a turn that is lost": (
        (VIEWS, "[place for place, _ in said]", "[place for place, _ in said[:1]]"),
        ("sample_verifies", "chats: .*source_turns are not each turn once, in order"),
    ),
    "a text that the dataset's own check misses": (
        (VIEWS, '"\\n".join', '" ".join'),
        ("sample_verifies", "messages_say_what_was_said: messages/train.*mend the rows, or"),
    ),
    "a builder with other splits": (
        (SCRIPT, "SplitGenerator(name=split,", 'SplitGenerator(name="whole",'),
        ("script_alone_makes_the_same_rows", "expected the splits train, found whole"),
    ),
    "a builder that fails alone": (
        (SCRIPT, "rows(self.config.name, records(", "rows(self.config.name, record("),
        ("script_alone_makes_the_same_rows", "fails without the tool: NameError: name 'record'"),
    ),
    "keys that are no columns": (
        ("checks.py", '"messages": ("dialogue_id",)', '"messages": ("uuid",)'),
        (
            "keys_tell_rows_apart",
            r"KEYS\['messages'\]: names uuid, found only dialogue_id, messages, .*; name",
        ),
    ),
    "a check that fails": (
        ("checks.py", 'turn["text"]) for', 'turn["texts"]) for'),
        ("sample_verifies", "messages_say_what_was_said: the check failed: KeyError: 'texts'"),
    ),
    "checks that cannot be imported": (
        ("checks.py", "beside, chat_of,", "beside, chats_of,"),
        ("modules_load", r"checks.py, line \d+: cannot be imported: ImportError: .*'chats_of'"),
    ),
    # the card
    "no card": ((CARD, "", None), ("card_can_be_read", "README.md: there is no dataset card")),
    "no front matter": (
        (CARD, "---\nlicense", "license"),
        ("card_can_be_read", "expected YAML front matter between two lines of ---"),
    ),
    "front matter that is no YAML": (
        (CARD, "pretty_name: Skeleton", "pretty_name: [Skeleton"),
        ("card_can_be_read", "the front matter is not valid YAML"),
    ),
    "a heading less": (
        (CARD, "## Known limits\n", ""),
        ("card_has_its_parts", "lacks the heading '## Known limits'; add it"),
    ),
    "a heading more": (
        (CARD, "## Known limits\n", "## Known limits\n\n## Thanks\n"),
        ("card_has_its_parts", "has an unknown heading '## Thanks'"),
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
        ("card_shows_a_row", "the row under 'What a row looks like' is no JSON"),
    ),
    "a row of other columns": (
        (CARD, '  "rating": 5\n', '  "score": 5\n'),
        ("card_shows_a_row", "the row shown is of no config; give it the columns of dialogues:"),
    ),
    "another citation": (
        (CARD, "author = {Someone, Ann}", "author = {Else, Ann}"),
        ("card_cites", "Citation does not hold the script's CITATION; copy it there"),
    ),
    "features that the card does not have": (
        (SCRIPT, '        "rating": _integer,\n', '        "rating": datasets.Value("int32"),\n'),
        (
            "card_is_up_to_date",
            "not the features of dialogues; renew it: `parley build .*--update-",
        ),
    ),
    # what stands beside the script
    "a figure of another name": (
        ("figures.py", "def size(", "def extent("),
        (
            "card_is_up_to_date",
            "figure extent.turns: the card says nothing, figures.py 6; renew it",
        ),
    ),
    "a figure of another value": (
        ("figures.py", '"turns": 6', '"turns": 7'),
        ("card_is_up_to_date", "figure size.turns: the card says 6, figures.py 7; renew it"),
    ),
    "a figure that fails": (
        ("figures.py", 'dialogue["turns"]', 'dialogue["turn"]'),
        ("figures_compute", "size.dialogues fails: KeyError: 'turn'; mend its function"),
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
        (
            "transcript_lays_out_every_row",
            r"dialogues/train\[0\]: fails: KeyError: 'score'; mend it",
        ),
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
        ("transcript_lays_out_every_row", "CONFIGS names chats, which SPLITS does not have; mend"),
    ),
    "facets that fail": (
        ("transcript.py", 'len(row["turns"])}', 'row["rating"] + 1}'),
        ("transcript_lays_out_every_row", r"dialogues/train\[1\]: fails: TypeError: .*; mend it"),
    ),
    "an export that fails": (
        ("export.py", NEW, "EXPORTS = {'csv': lambda data, folder: data.rows('dialogue')[0]}\n"),
        ("exports_write_the_sample", "export.py: .*cannot be exported .IndexError"),
    ),
    "a job that is none": (
        ("jobs.py", NEW, "JOBS = {'train': print}\n"),
        (
            "jobs_say_what_they_do",
            r"JOBS\['train'\]: expected a Job, found <built-in function print>",
        ),
    ),
}


def broken(tmp_path, file, old, new):
    """Return the checks of a skeleton in which something is broken, under a name of its own."""
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
    return {check.name: check for check in check_folder(Subject(dataset, work))}, name


@pytest.mark.parametrize(("change", "due"), BREAKS.values(), ids=list(BREAKS))
def test_a_broken_folder_is_named_in_one_line(tmp_path, change, due):
    check, message = due
    found, name = broken(tmp_path, *change)
    lines = found[check].problems
    assert any(re.search(message.replace("skeleton", name), line) for line in lines), found
    for each in found.values():
        for line in each.problems:
            assert "\n" not in line
            assert re.search(r"[;.] \S", line), f"it does not say what to do: {line}"
            assert "cannot be checked" not in line
    failed = [each.name for each in found.values() if each.failed]
    assert len(failed) <= 3, failed  # what is wrong is not buried


def test_a_script_that_does_not_end_is_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr(run, "SECONDS", 1)
    endless = 'yield record["id"], record\n            while True:\n                pass'
    found, _ = broken(tmp_path, SCRIPT, 'yield record["id"], record', endless)
    (line,) = found["sample_builds"].problems
    assert "it takes more than 1 seconds; keep the sample small, and look for a loop" in line
    assert found["folder_loads"].skipped == "first mend what fails in: sample builds"


def test_the_command_fails_with_a_line_a_check(tmp_path):
    folder = write_skeleton("tea", tmp_path)
    card = (folder / "README.md").read_text()
    (folder / "README.md").write_text(card.replace("## Known limits\n", ""))
    done = parley("check", "tea", cwd=tmp_path, more=tmp_path)
    assert (done.returncode, done.stderr) == (1, "")
    first, *lines, last = done.stdout.splitlines()
    assert (first, last) == ("tea", "FAILED: tea")
    failed = lines.index("  FAILED  card has its parts")
    assert lines.pop(failed + 1).startswith(
        "    README.md: lacks the heading '## Known limits'; add"
    )
    assert [line[10:].replace(" ", "_") for line in lines if ":" not in line] == [
        check.__name__ for check in CHECKS if check is not NEEDS_REAL_FILES
    ]


def test_counts_that_are_not_those_of_the_real_files_are_named(tmp_path):
    folder = write_skeleton("counted", tmp_path / "more")
    shutil.copytree(folder / "sample", tmp_path / "upstream" / "counted")
    dataset = Dataset("counted", folder)
    build(open_source(dataset, tmp_path / "upstream"), tmp_path / "build", update_card=True)
    (tmp_path / "work").mkdir()
    subject = Subject(dataset, tmp_path / "work", sources=tmp_path / "upstream")
    assert {check.name: check.problems for check in check_folder(subject) if check.skipped} == {}
    card = dataset.read_card()
    assert card.count("num_examples: 2") == 2
    dataset.card.write_text(card.replace("num_examples: 2", "num_examples: 3", 1))
    subject = Subject(dataset, tmp_path, real_builds=tmp_path / "build")
    (line,) = made(NEEDS_REAL_FILES, subject).problems
    assert re.match("README.md: dialogues/train: the card counts .*'num_examples': 3.*renew", line)


# A folder that is not found --------------------------------------------------------------------


@pytest.fixture
def more(tmp_path, monkeypatch):
    """A folder of one dataset, tea, which PARLEY_DATASETS names."""
    monkeypatch.chdir(tmp_path)
    write_skeleton("tea", tmp_path / "more")
    monkeypatch.setenv("PARLEY_DATASETS", "more")
    return tmp_path / "more"


def test_a_name_that_is_not_there_says_which_are(more):
    with pytest.raises(UsageError, match=r"no dataset is named 'tee'; .*Did you mean tea\?"):
        get("tee")


def test_a_script_of_another_name_is_pointed_at(more):
    write_skeleton("coffee", more)
    (more / "coffee" / "coffee.py").rename(more / "coffee" / "builder.py")
    with pytest.raises(UsageError, match=r"more/coffee holds builder\.py, .*: name its script as"):
        get("coffee")
    (more / "tea" / "tea.py").rename(more / "tea" / "builder.py")
    with pytest.raises(UsageError, match=r"holds no dataset.*name its script as the folder, cof"):
        get("coffee")


def test_a_folder_of_no_name_is_pointed_at(more):
    (more / "tea").rename(more / "Green-Tea")
    write_skeleton("coffee", more)
    with pytest.raises(UsageError, match="Rename more/Green-Tea: a name has lower-case letters"):
        get("Green-Tea")


def test_a_path_in_the_place_of_a_name_is_understood(more, monkeypatch):
    with pytest.raises(UsageError, match=r"Did you mean tea\? Give the name alone"):
        get("more/tea")
    monkeypatch.delenv("PARLEY_DATASETS")
    with pytest.raises(UsageError, match=f"Give the name alone, tea, and let .* name {more}"):
        get("more/tea")


@pytest.mark.parametrize(
    ("level", "message"),
    [
        (".", "PARLEY_DATASETS names ., which holds no dataset. Name the folder in it, more."),
        ("more/tea", "is a dataset folder itself. Name the folder above it, .*/more."),
        ("more/tea/sample", "holds no dataset. A dataset is a folder NAME with the script NAME.py"),
        ("more/tea/tea.py", "which is no folder"),
        ("nowhere", "which is no folder"),
    ],
)
def test_a_wrong_level_is_named_with_the_right_one(more, monkeypatch, level, message):
    monkeypatch.setenv("PARLEY_DATASETS", level)
    with pytest.raises(UsageError) as error:
        get("tea")
    assert re.search(message, str(error.value)), error.value
    assert "\n" not in str(error.value)
