"""Scoring through an invented dataset: what a file must hold, and what comes of it."""

import gzip
import hashlib
import itertools
import json
import re
import shutil
import sys

import numpy as np
import pytest

from parley import __version__
from parley.authoring.new import write_skeleton
from parley.base.errors import NO_MEMORY, RecordError, UsageError
from parley.builds.build import build
from parley.builds.built_folder import open_folder
from parley.builds.card_parts import marks
from parley.builds.sources import open_source
from parley.declaration.registry import Dataset
from parley.scoring.gold import Part, in_order_of_pilots, load_gold
from parley.scoring.predictions import read, validate_predictions
from parley.verification.measure import measure

SAMPLE = """\
{"id": "one", "turns": [{"speaker": "clerk", "text": "Hi!"}, {"speaker": "clerk", "text": "Yes?"}]}
{"id": "two", "turns": [{"speaker": "customer", "text": "Is anybody there?"}]}
"""
TASKS = '''"""Tasks of an invented dataset."""

from parley import Checked, Data, Field
from parley.tasks import TREC_RUN, Reference, Score, Subset, Task, Undefined


def turns(data: Data):
    return {(row["id"], number): turn for row in data.rows("dialogues", "train")
            for number, turn in enumerate(row["turns"])}


def score(gold, predictions, unit):
    right = [p.get("words") == len(gold[key]["text"].split()) for key, p in predictions.items()]
    order = "".join(f"{name}{turn}" for name, turn in predictions)
    return Score(
        {"right": right, "by_side": {"left": 0.25, "none": Undefined("no side")}},
        {"turns": len(right), order: len(order), unit: 1},
    )


def few(number):
    if number > 100:
        raise ValueError("at most 100")


def ones(data, unit):
    return [{"id": name, "turn": turn, "words": 1} for name, turn in turns(data)]


def lazy(data, unit):
    import sklearn_that_nobody_has


TASKS = {
    "words": Task(
        summary="the number of words", evaluated_on="all turns", configs=("dialogues",),
        key={"id": Field(str, "the dialogue"), "turn": Field(int, "its turn")},
        answer={"words": Field(Checked(int, few), "how many")},
        metrics={"right": "share", "by_side": "the same a side"},
        gold=lambda data, unit: turns(data), score=score,
        baselines={"ones": ones, "none": lambda data, unit: [], "lazy": lazy},
        references=(
            Reference("a paper's", {"right": "0.9"}, "paper, Table 1", "on other turns"),
            Reference("a part's", {"right": "0.8"}, "paper", "", {}, "first", "its own rule"),
            Reference("ones", options={"unit": "words"}),
            Reference("letters", {"right": "0.1"}, "paper, Table 2", options={"unit": "letters"}),
        ),
        options={"unit": ("words", "letters")},
        subsets={"first": Subset("a paper", frozenset({"one"})),
                 "gone": Subset("a paper", frozenset({"one", "six"}))},
    ),
    "run": Task(
        summary="an order of the turns", evaluated_on="the dialogues", configs=("dialogues",),
        key={"query_id": Field(str, "the dialogue"), "document_id": Field(str, "a turn")},
        answer={"score": Field(float, "its score")}, format=TREC_RUN,
        metrics={"lines": "how many"}, ends={"lines": (0, float("inf"))},
        gold=lambda data: {(row["id"],): row for row in data.rows("dialogues", "train")},
        score=lambda gold, predictions: Score({"lines": len(predictions)}),
    ),
}
'''
PLACES = (("one", 0, 1), ("one", 1, 1), ("two", 0, 2))
GOOD = [{"id": name, "turn": turn, "words": words} for name, turn, words in PLACES]


def lines(predictions):
    return "".join(json.dumps(each) + "\n" for each in predictions)


SOUND = lines(GOOD).encode()


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a dataset `chatter` in `more` and its build in `build`."""
    place = tmp_path_factory.mktemp("place")
    folder = write_skeleton("chatter", place / "more")
    (folder / "tasks.py").write_text(TASKS)
    (folder / "sample" / "dialogues.jsonl").write_text(SAMPLE)
    build(
        open_source(Dataset("chatter", folder), None, sample=True), place / "build", measure=measure
    )
    return place


@pytest.fixture
def chatter(place):
    return Dataset("chatter", place / "more" / "chatter")


@pytest.fixture
def run(run, place, tmp_path, monkeypatch):
    """Run a command in a folder in which `build` is that of the invented dataset."""
    (tmp_path / "build").symlink_to(place / "build")
    monkeypatch.chdir(tmp_path)

    def run_here(*args, text=b"", tasks=None, folder=place / "more" / "chatter"):
        if tasks is not None:
            folder = tmp_path / "changed" / "chatter"
            shutil.copytree(place / "more" / "chatter", folder, dirs_exist_ok=True)
            (folder / "tasks.py").write_text(tasks)
        stdin = text if isinstance(text, bytes) else text.encode()
        return run(*args, stdin=stdin, PARLEY_DATASETS=folder.parent)

    return run_here


WORDS = ("score", "chatter", "words")


def test_a_file_is_scored_in_any_order_compressed_or_from_a_pipe(run, chatter, tmp_path):
    found = []
    for text in (GOOD, GOOD[::-1]):
        for packed in (bytes, gzip.compress):
            data = packed(lines(text).encode())
            (tmp_path / "mine").write_bytes(data)
            for args, piped in ((("mine",), b""), (("-",), data)):
                done = run(*WORDS, *args, "--json", text=piped)
                assert done.returncode == 0, done.stderr
                found.append(json.loads(done.stdout))
    for each in found:
        each.pop("predictions")
    assert found == [found[0]] * 8
    reference, part, _ = found[0]["references"]
    assert (reference["metrics"], reference["place"]) == ({"right": 0.9}, "paper, Table 1")
    assert (part["rows"], part["rule"]) == ("first", "its own rule")
    text = "".join(json.dumps(e, sort_keys=True, separators=(",", ":")) + "\n" for e in GOOD)
    proof = found[0]["provenance"]
    assert proof["predictions"] == hashlib.sha256(text.encode()).hexdigest()
    assert (proof["parley"], proof["version"]) == (__version__, chatter.version)
    due = {
        "metrics": {"right": 2 / 3, "by_side": {"left": 0.25, "none": None}},
        "undefined": {"by_side": {"none": "no side"}},
        "counts": {"turns": 3, "one0one1two0": 12, "words": 1}, "clusters": {"dialogues": 2},
        "coverage": 1.0, "unreadable": {}, "wrong_references": [], "run": {}, "sample": True,
    }  # fmt: skip
    assert found[0] | due == found[0]
    text = "two Q0 d\u00a02 1.0 -.5e-3 x\none\tQ0 d1 1 2 x\r\none Q0 d3 2 1. x\n"
    done = run("score", "chatter", "run", "-", "--json", text=text)
    assert json.loads(done.stdout)["metrics"] == {"lines": 3}, done.stderr


def test_the_table_shows_the_score_and_what_it_rests_on(run):
    shown = run(*WORDS, "-", text=SOUND).stdout
    rows = [line.split() for line in shown.splitlines()]
    for row in ("this 0.667", "a paper's [1] 0.9", "this 0.250 undefined"):
        assert row.split() in rows
    assert any(row[:1] == ["95%"] for row in rows)
    for text in ("unit=words", "standard input", "no side", "[1] paper, Table 1; on other turns"):
        assert text in shown
    assert "letters" not in shown
    assert "paper, Table 2" in run(*WORDS, "-", "--set", "unit=letters", text=SOUND).stdout


UNREAD = lines([*GOOD[:2], {"id": "two", "turn": 0, "unreadable": "nonsense"}])


@pytest.mark.parametrize(("text", "options", "right", "coverage", "others"), [
    (SOUND, (), 2 / 3, 1.0, (0, 1)), (SOUND, ("--subset", "first"), 1.0, 1.0, (3, 0)),
    (SOUND, ("--ids", "first"), 1.0, 1.0, (3, 1)), (UNREAD, (), 2 / 3, 2 / 3, (0, 1)),
    (UNREAD, ("--unreadable", "drop"), 1.0, 2 / 3, (3, 1)),
    (SOUND, ("--subset", "first", "--limit", "1"), 1.0, 1.0, (3, 1)),
])  # fmt: skip
def test_references_name_other_rows_than_those_scored(
    run, tmp_path, text, options, right, coverage, others
):
    """All rows, or a subset. An unreadable prediction is wrong or left out."""
    (tmp_path / "first").write_text("one\n")
    found = json.loads(run(*WORDS, "-", *options, "--json", text=text).stdout)
    assert found["metrics"]["right"] == right
    assert found["coverage"] == coverage
    assert found["policy"] == ("drop" if "drop" in options else "wrong")
    stated = {each["name"]: each["metrics"]["right"] for each in found["references"]}
    assert stated == {"a paper's": 0.9, "a part's": 0.8, "ones": 0.667}
    shown = run(*WORDS, "-", *options, text=text).stdout
    assert f"{coverage:.1%}" in shown
    assert "a part's, its own rule" in shown
    assert tuple(map(shown.count, ("(all rows)", "(first)"))) == others
    (tmp_path / "first").write_text("one\nsix\n")  # no such dialogue
    assert run(*WORDS, "-", "--ids", "first", text=text).returncode == 2


def test_a_column_epoch_is_read_as_the_epochs_of_a_log_are(run):
    again = [{**GOOD[0], "words": 99}, *GOOD[1:]]
    of = [{**each, "epoch": n} for n, epoch in ((1, GOOD), (2, again)) for each in epoch]
    found = json.loads(run(*WORDS, "-", "--json", text=lines(of)).stdout)
    alone = [json.loads(run(*WORDS, "-", "--json", text=lines(e)).stdout) for e in (GOOD, again)]
    assert (found["epochs"], alone[0]["epochs"]) == (2, 1)
    assert found["metrics"]["right"] == sum(each["metrics"]["right"] for each in alone) / 2
    odd = [[*of, of[0]], [*of, GOOD[0]], [*of[:-1], {**of[-1], "epoch": "2"}]]
    half = [*GOOD, *of[len(GOOD) :]]
    odd += [[{**each, "epoch": n} for each in GOOD] for n in (0, 10**9)]
    for wrong in (*odd, half, half[::-1]):
        assert run(*WORDS, "-", text=lines(wrong)).returncode == 1
    assert "epoch 2, " in run(*WORDS, "-", text=lines(of[:-1])).stderr


def test_a_subset_of_ids_that_do_not_exist_is_refused(chatter, place, monkeypatch):
    built = open_folder(place / "build" / "chatter", chatter)
    monkeypatch.setattr(type(built), "is_sample", False)
    options = {"unit": "words"}
    assert load_gold(built, "words", options, Part("first"))[0]
    with pytest.raises(UsageError, match="six"):
        load_gold(built, "words", options, Part("gone"))


def test_a_pilot_is_of_the_lowest_sha256():
    """By `printf '(%d,)' N | sha256sum`: the same for everyone."""
    assert in_order_of_pilots((n,) for n in range(6)) == [(n,) for n in (2, 1, 4, 3, 5, 0)]


def test_a_file_of_a_pilot_alone_is_told_of_limit(run, chatter):
    (first,) = in_order_of_pilots((e["id"], e["turn"]) for e in GOOD)[:1]
    of_pilot = [each for each in GOOD if (each["id"], each["turn"]) == first]
    assert "--limit 1" in run(*WORDS, "-", text=lines(of_pilot)).stderr
    others = [each for each in GOOD if each not in of_pilot]
    assert "--limit" not in run(*WORDS, "-", text=lines(others)).stderr


def test_where_nothing_is_readable_nothing_can_be_left(run):
    text = lines([{"id": e["id"], "turn": e["turn"], "unreadable": "?"} for e in GOOD])
    for policy in ("drop", "guess"):
        done = run(*WORDS, "-", "--unreadable", policy, text=text)
        assert (done.returncode, done.stdout) == (2, "")


FIRST = 'line 1 (id "one", turn 0): '
EXAMPLE = '{"id": "ID", "turn": 1, "words": 1}'
HIT = 'line 1 (query_id "one", document_id "d1"): '
# task and fault -> text, and its place in the message with the field, or the kind of the file
BAD = {
    "words: a field too few": ('{"id": "one", "turn": 0}', FIRST + "words"),
    "words: true is no 1": (lines([{**GOOD[1], "turn": True}]), 'turn 1; id "two", turn 0'),
    "words: range": (lines([{**GOOD[0], "words": 101}]), FIRST + "words"),
    "words: of another option": (lines(GOOD[1:]), "--set unit=letters"),
    "words: NaN": (lines([{**GOOD[0], "words": float("nan")}]), FIRST + "words"),
    "words: an empty line": ("\n", "line 1: "),
    "words: a text that acts": ('{"\\u001b[2J": 1}', "\\x1b[2J: "),
    "words: a list": (json.dumps(GOOD), EXAMPLE),
    "words: damaged gzip": (gzip.compress(SOUND)[:-9], "gzip"),
    "run: five fields": ("one Q0 d1 1 0.5", HIT),
    "run: an underscore": ("one Q0 d1 1 0_5 x", "score: "),
    "run: other digits": ("one Q0 d1 1 \u0663 x", HIT + "score: "),
    "run: no UTF-8": (b"one Q0 d1 1 0.5 \xff", "0xff"),
    "run: byte order mark": ("\ufeffone Q0 d1 1 0.5 x", "BOM"),
    "run: infinite": ("one Q0 d1 1 1e999 x", HIT + "score"),
    "run: unknown": ("six Q0 d1 1 0.5 x", 'line 1 (query_id "six", document_id "d1"): '),
    "run: broken, not missing": ("one Q0 d 1 1st x\ntwo Q0 d 1 1 x", "TREC"),
    "run: missing": ("one Q0 d1 1 0.5 x", 'query_id "two": '),
    "run: beside none": ("one Q0 - 1 0 x\none Q0 d1 1 0.5 x", "line 1"),
    "run: none beside": ("one Q0 d1 1 0.5 x\none Q0 - 1 0 x", "line 1"),
    "run: CSV": (
        "query_id,document_id,score\none,d1,0.5\n",
        "QUERY_ID Q0 DOCUMENT_ID 1 1.0 parley",
    ),
    "run: nothing": (b"", "standard input"),
}


@pytest.mark.parametrize("fault", BAD)
def test_what_is_wrong_is_named_by_line_and_key_or_kind(run, fault):
    text, where = BAD[fault]
    done = run("score", "chatter", fault.partition(":")[0], "-", text=text)
    assert (done.returncode, done.stdout) == (1, "")
    assert where in done.stderr
    assert "standard input" in done.stderr


def places(done):
    """Return the place of each problem of a file of predictions."""
    return [line.strip().split(": ")[0] for line in done.stderr.splitlines()[1:]]


def test_all_problems_are_told_at_once_each_cause_with_its_count_and_first_places(run):
    text = lines([GOOD[0], GOOD[0], {**GOOD[1], "words": "1"}]) + "nothing\n"
    one, two, three = ('id "one", turn 0', 'id "one", turn 1', 'id "two", turn 0')
    found = places(run(*WORDS, "-", text=text))
    assert found[:-1] == [f"line 2 ({one})", f"line 3 ({two})", "line 4", three]
    wrong = [{**each, "more": number} for number, each in enumerate(GOOD * 4)]
    found = places(run(*WORDS, "-", text=lines(wrong) + "{}\n"))
    assert found[0] == f"line 1 ({one}); line 2 ({two}); line 3 ({three}) and 9 more"
    assert found[1:] == ["line 13"] * 3
    text = f"nonsense{' ' * 300_000}\n{lines(GOOD)}".encode()
    found = places(run(*WORDS, "-", text=gzip.compress(text)[:-9]))
    assert (found[0], len(found)) == ("line 1", 3)  # of the file, and what it may hold


def test_no_more_is_read_than_is_told(run, chatter):
    done = run(*WORDS, "-", text="".join(f'{{"{chr(97 + n) * 9}": 1}}\n' for n in range(26)) * 100)
    assert len(done.stderr.splitlines()) == 22
    done = run(*WORDS, "/dev/zero")
    (_, problem) = done.stderr.splitlines()
    assert problem.startswith("  line 1: ")
    assert "1,000,000" in problem
    done = run(*WORDS, "-", text=gzip.compress((b"x" + b" " * 900_000 + b"\n") * 143, 1))
    assert "128,000,000" in done.stderr.splitlines()[2]
    endless = itertools.count()
    with pytest.raises(RecordError, match="100,000 "):
        validate_predictions(endless, chatter.tasks["words"], {("one", 0): "Hi!"}, "numbers")
    assert next(endless) == 100_000


def test_a_closed_standard_input_is_an_error(chatter, monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(UsageError):
        read("-", chatter.tasks["words"], {})


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "0.5"])
def test_a_baseline_predicts_nothing_that_no_file_could_hold(chatter, value):
    task, gold = chatter.tasks["run"], {("one",): None}
    sound = {"query_id": "one", "document_id": "d1", "score": 1.0}
    assert len(validate_predictions([sound], task, gold, "")) == 1
    for wrong in ({"score": value}, {"document_id": "d 1"}, {"document_id": "\ud800"}):
        with pytest.raises(RecordError, match="prediction 1"):
            validate_predictions([sound | wrong], task, gold, "made")


@pytest.mark.parametrize(("args", "status", "message"), [
    ("nothing", 2, "words, run"), ("words", 2, "ones, none, lazy"),
    ("words --baseline best", 2, "ones, none, lazy"),
    ("words - --set unit=lines", 2, "words, letters"), ("run - --set unit=words", 2, "'unit'"),
    ("words --baseline ones --template", 2, "--template"), ("words nowhere", 2, "nowhere: "),
    ("words - --build x", 2, "`parley build chatter --build x`"),
    ("words --baseline none", 1, "3 of 3"), ("words --baseline lazy", 1, "chatter/tasks.py"),
])  # fmt: skip
def test_what_cannot_be_asked_for_is_answered_with_what_can(run, tmp_path, args, status, message):
    done = run("score", "chatter", *args.split())
    assert (done.returncode, done.stdout) == (status, "")
    assert message in done.stderr
    assert not (tmp_path / "out").exists()


def test_the_template_says_what_a_file_holds(run):
    found = json.loads(run(*WORDS, "--template", "--json").stdout)
    assert found["example"].keys() == found["fields"].keys()
    assert json.dumps(found["example"]) in run(*WORDS, "--template").stdout.splitlines()
    said = run("score", "chatter", "run", "--template").stdout
    assert "QUERY_ID Q0 DOCUMENT_ID 1 1.0 parley" in said


ACTS = "\x1b[2J\x9b31m\u202egnp\u200b\x07\r"  # clears the screen, colours, turns, hides, rings
TEXTS = ["the number of words", "all turns", "the dialogue", "how many", "share", "the same a side"]
TEXTS += ["right", "left", "no side", "ones", "none", "a paper's", "paper, Table 1"]
TEXTS += ["on other turns", "an order of the turns"]


def test_texts_of_a_strangers_tasks_and_jobs_are_shown_instead_of_acting(run, tmp_path):
    tasks = TASKS
    for text in TEXTS:
        assert f'"{text}"' in tasks
        tasks = tasks.replace(f'"{text}"', repr(text + ACTS))
    tasks = tasks.replace('{"turns": len', f"{{{ACTS!r}: len")
    more = f"inputs={ACTS!r}, columns=({ACTS!r},), leak={ACTS!r}"
    tasks = tasks.replace('options={"unit": (', f'{more}, options={{"unit": (')
    jobs = tmp_path / "changed" / "chatter" / "jobs.py"
    jobs.parent.mkdir(parents=True)
    jobs.write_text(
        "import typer\nfrom parley.declaration.jobs import Job\n\n\n"
        f"def job(part: str = typer.Option('', help={ACTS!r}, metavar={ACTS!r})):\n"
        f"    {ACTS!r}\n\n\nJOBS = {{'job': Job(job), {ACTS!r}: Job(job)}}\n"
    )
    jobs = ["run"], ["run", "chatter"], ["run", "chatter", "job", "--help"]
    shown = ["tasks"], [*WORDS, "--template"], [*WORDS, "-"], *jobs
    refused = [*WORDS, "--baseline", "best"], [*WORDS, "--baseline"]
    for args in (*shown, *refused):
        done = run(*args, text=SOUND, tasks=tasks)
        said = done.stdout + done.stderr
        assert done.returncode == (2 if args in refused else 0), (args, said)
        assert not set(said) & set(ACTS) - set("[2J31mgnp"), args
        assert "\\x1b[2J" in said or args[-1] == "--baseline", args


def test_tasks_are_listed_and_a_page_is_renewed_between_its_marks(run, tmp_path):
    (words, _) = json.loads(run("tasks", "chatter", "--json").stdout)
    assert (words["dataset"], words["task"], words["key"]) == ("chatter", "words", ["id", "turn"])
    assert words["fields"]["id"] == {"values": "a string", "meaning": "the dialogue"}
    assert words["options"] == {"unit": ["words", "letters"]}
    assert "ones, none, lazy" in run("tasks", "chatter").stdout
    page, (begin, end) = tmp_path / "page.md", marks("tasks")
    update = ("tasks", "chatter", "--update", "page.md")
    page.write_text(f"# Before\n\n{begin}\nold\n{end}\n\nafter\n")
    for _ in range(2):
        assert run(*update).returncode == 0
        before, text, after = re.split(f"{begin}|{end}", page.read_text())
        assert (before, after) == ("# Before\n\n", "\n\nafter\n")
        assert text.startswith("\n\n| task |")
        assert "[`chatter words`]" in text
    page.write_text(wrong := f"{end}\n{begin}\n")
    assert run(*update).returncode == 1
    assert page.read_text() == wrong


WRONG = ("{}", *(f'{{"right": {n}}}' for n in ("float('nan')", "'1e999'", "'a few'", "'90'")))
BROKEN = [  # old text of tasks.py, new text
    *((TASKS, text) for text in ("import nothing_like_it", "TASKS = {'words': 1}", "TASKS = 1")),
    ('"the number of words"', "3"),
    ('Field(int, "its turn")', "int"),
    ('{"words": Field(Checked(int, few), "how many")}', "('words',)"),
    (
        '{"words": Field(Checked(int, few), "how many")}',
        "{at: __import__('parley').tasks.Whole(0, 9, 'words', at) for at in ('x', 'x.y')}",
    ),
    ('"paper, Table 1"', '"run with this tool"'),
    *(('{"right": "0.9"}', text) for text in WRONG),
    ('"letters")}', '"a/b")}'),
    ('"run": Task', '"words-letters": Task'),
    ("score=score,", 'score=score, clusters=dict.fromkeys("abc"),'),
]


@pytest.mark.parametrize(("old", "new"), BROKEN)
def test_broken_tasks_are_an_error_that_names_the_module(run, old, new):
    assert old in TASKS
    for args in (("tasks",), (*WORDS, "-")):
        done = run(*args, tasks=TASKS.replace(old, new))
        assert done.returncode == 1
        assert "chatter/tasks.py" in done.stderr


def test_numbers_of_numpy_are_numbers_of_python(run, chatter):
    """In a score, of which they could be written otherwise, and in predictions of a program."""
    tasks = TASKS.replace('"left": 0.25', '"left": np.float32(0.25)')
    tasks = tasks.replace('"turns": len(right)', '"turns": np.int64(len(right))')
    tasks = tasks.replace('"right": right', '"right": np.array(right)')
    tasks = tasks.replace("from p", "import numpy as np\nfrom p", 1)
    found = run(*WORDS, "-", "--json", text=SOUND, tasks=tasks).stdout
    assert json.loads(found) == json.loads(run(*WORDS, "-", "--json", text=SOUND).stdout)
    given = [each | {"turn": np.int64(each["turn"]), "words": np.int32(1)} for each in GOOD]
    gold = {(each["id"], each["turn"]): "" for each in GOOD}
    found = validate_predictions(given, chatter.tasks["words"], gold, "").values()
    assert json.dumps([*found]) == json.dumps([each | {"words": 1} for each in GOOD])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return Score(\n", "return dict(\n"),
        ("return Score(\n", "return gold['nothing'](\n"),
        *(('"left": 0.25', f'"left": {n}') for n in ("float('nan')", "1.01", "10**5000")),
        ('"right": right', '"right": right[1:]'),
        ('"right": right', '"right": [float("inf")] * len(right)'),
        ('"right": right', '"right": ["yes"] * len(right)'),
        *(("unit: 1}", f"unit: {n}}}") for n in ("float('nan')", "2**63")),
        *(('(row["id"], number): turn', f"{key}: turn") for key in ('row["id"]', '(row["id"],)')),
        ("number): turn", 'number): turn["text"]'),
        *(
            ("score=score,", f"score=score, clusters={{'people': lambda data: {{{of}}}}},")
            for of in ("", "k: 'An' for k in turns(data)", "k: [] for k in turns(data)")
        ),
    ],
)
def test_a_wrong_score_or_gold_is_an_error_of_the_script(run, tmp_path, old, new):
    assert old in TASKS
    tasks = TASKS.replace(old, new)
    for args in (("-",), ("--baseline", "ones", "--save-predictions", "kept.jsonl")):
        done = run(*WORDS, *args, text=SOUND, tasks=tasks)
        assert (done.returncode, done.stdout) == (1, "")
        assert "chatter/tasks.py" in done.stderr
    assert not (tmp_path / "kept.jsonl").exists()  # the same command, mended, does it all


def test_any_error_of_a_script_is_a_message_of_one_line(run):
    tasks = TASKS.replace("    right = [", "    raise BaseException('odd')\n    right = [")
    with pytest.raises(AssertionError, match=r"'[^'\\]*BaseException: odd[^\\]*\\n'"):
        run(*WORDS, "-", text=SOUND, tasks=tasks)


OUT_OF_MEMORY = [
    "MemoryError", "__import__('pyarrow').ArrowMemoryError('malloc of size 64 failed')",
    "OSError(12, 'Cannot allocate memory')",
]  # fmt: skip
BUILD = ("build", "chatter", "--sample", "--build", "out")
CHECK = "from parley.declaration.figures import check\n\n\n@check\ndef sound(data):\n    yield\n"


@pytest.mark.parametrize(("file", "line", "error", "command"), [
    *(("tasks.py", "    right = [", error, (*WORDS, "-")) for error in OUT_OF_MEMORY),
    ("checks.py", "    yield", OUT_OF_MEMORY[0], ("verify", "chatter")),
    ("transcript.py", "    return ", OUT_OF_MEMORY[0], ("show", "chatter")),
    ("transcript.py", "    return ", OUT_OF_MEMORY[0], ("verify", "chatter")),
    ("chatter.py", "class ", OUT_OF_MEMORY[0], BUILD),
])  # fmt: skip
def test_too_little_memory_is_a_message(run, place, tmp_path, file, line, error, command):
    """Although any other error, here before a line of a module, is a mistake of the module."""
    folder = shutil.copytree(place / "more" / "chatter", tmp_path / "changed" / "chatter")
    (folder / "checks.py").write_text(CHECK)
    before, _, after = (folder / file).read_text().partition(line)
    indent = line[: -len(line.lstrip())]
    (folder / file).write_text(f"{before}{indent}raise {error}\n{line}{after}")
    done = run(*command, text=SOUND, folder=folder)
    assert done.returncode == 1
    assert NO_MEMORY in done.stderr, done.stderr
