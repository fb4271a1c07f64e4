"""Every task of every dataset: its baselines, references and page hold."""

import json
import sys
from operator import or_
from pathlib import Path

import pytest
from every_task import TASKS
from processes import python

from parley.base.errors import OutputError, Problem
from parley.base.values import flat
from parley.builds.built_folder import open_folder
from parley.builds.card_parts import overview, with_parts
from parley.declaration.measured import measured
from parley.scoring.evaluate import POLICIES, Result, score
from parley.scoring.gold import Part, load_gold
from parley.scoring.metrics import Epoch, TaskRows
from parley.scoring.predictions import write
from parley.tasks.prediction_formats import TREC_RUN, UNREADABLE
from parley.tasks.task import MEASURED, Undefined
from parley.verification.task_rules import problems_of_answers, right_answers

NEEDED = ("sklearn", "scipy", "ir_measures")  # the packages that the extra `tasks` brings
PAGE = Path(__file__).parent.parent / "docs" / "tasks.md"


@pytest.fixture(params=TASKS)
def case(request):
    """Each task in turn: its dataset, its name and its declaration."""
    return TASKS[request.param]


@pytest.fixture
def built(case, sample_build):
    """The sample build of the dataset of the task."""
    return open_folder(sample_build / case[0].name)


def test_a_task_and_its_references_agree_with_themselves_and_with_its_scores(case, built):
    dataset, name, task = case
    scores = measured(dataset).scores[name]  # of one baseline at least
    assert scores.keys() == task.measured().keys() == {n for n, each in scores.items() if each}
    assert task.node.fits(task.example)
    (line,) = task.format.lines([task.example])
    assert task.format.parse(line.encode()) == task.example
    for reference in task.references:
        found = score(built, name, reference.options, baseline=next(iter(task.baselines)))
        assert flat(reference.metrics).keys() <= flat(found.score.metrics).keys(), reference.name


def test_every_baseline_scores_and_so_does_a_file_of_it(case, built, tmp_path):
    _, name, task = case
    for baseline in task.baselines:
        file = tmp_path / baseline
        (result := score(built, name, {}, baseline=baseline)).save(file)
        expected = result.as_dict()
        assert set(task.metrics) <= {part for path in flat(expected["metrics"]) for part in path}
        assert expected["sample"]
        assert sum(expected["counts"].values()) > 0
        json.dumps(expected, allow_nan=False)
        found = score(built, name, {}, file=str(file)).as_dict()
        assert found | {"predictions": f"baseline {baseline}"} == expected
        for option, values in task.options.items():
            for value in values:
                found = score(built, name, {option: value}, baseline=baseline)
                assert found.options[option] == value


@pytest.mark.parametrize("builds", ["sample_build", "real_build"])
def test_gold_is_the_best_in_every_part(case, builds, request):
    """In a pilot of ten, in each published subset, alone: what a part lacks costs no score."""
    dataset, name, task = case
    folder, options = request.getfixturevalue(builds) / dataset.name, task.chosen({})
    if not folder.is_dir() or not task.has_right_answers:
        pytest.skip("nothing of it is in PARLEY_SOURCE, or no prediction is the right one")
    folder = open_folder(folder)
    subsets = map(Part, task.subsets if builds == "real_build" else ())  # the sample has none
    for part in (Part(limit=10), *subsets):
        gold, others = load_gold(folder, name, options, part)
        found = problems_of_answers(TaskRows(folder, name, options, gold, bool(others)))
        assert [each for each in found if type(each) is str] == [], part
        for key, each in [*right_answers(task, gold).items()][:10]:
            rows = TaskRows(folder, name, options, {key: gold[key]}, is_part=True)
            own = Epoch(rows, {key: each}).score
            assert all(own.metrics[of] == task.ends_of([of])[1] for of in task.per_prediction)


@pytest.mark.parametrize("is_right", [True, False])
def test_no_interval_passes_an_end_of_its_metric(case, built, monkeypatch, is_right):
    """Not of answers that are nearly all right, and not of those that are nearly all wrong."""
    _, name, task = case
    for few in ("FEW", "FEW_CORRELATED"):
        monkeypatch.setattr(f"parley.scoring.metrics.{few}", 2)
    gold, _ = load_gold(built, name, task.chosen({}))
    people = next(iter(task.baselines.values()))(built, **task.chosen({}))
    own = [*right_answers(task, gold).values()] if task.has_right_answers else [*people]
    answers = [task.without_key(each) for each in own]
    found = {}
    for place, each in enumerate(own):
        other = answers[place - (is_right == (place % 5 == 1))]  # of the row before
        found[tuple(each[field] for field in task.key)] = {**each, **other}
    rows = TaskRows(built, name, task.chosen({}), gold, is_part=True)
    metrics = Epoch(rows, found).metrics
    few = name == "agreement"  # of a group, in the sample
    assert few or any(metric.interval for metric in metrics.values())
    for path, metric in metrics.items():
        least, most = task.ends_of(path)
        assert metric.interval is None or least <= metric.interval.low
        assert metric.interval is None or metric.interval.high <= most


def test_an_unreadable_prediction_is_wrong_or_dropped(case, built):
    _, name, task = case
    if task.format is TREC_RUN:
        pytest.skip("a TREC run has no unreadable predictions")
    predictions = [*next(iter(task.baselines.values()))(built, **task.chosen({}))]
    first = {**{field: predictions[0][field] for field in task.key}, UNREADABLE: "nonsense"}
    given = {"predictions": [first, *predictions[1:]]}
    wrong, dropped = (score(built, name, {}, policy=policy, **given) for policy in POLICIES)
    assert wrong.coverage == dropped.coverage == (len(predictions) - 1) / len(predictions)
    found, rest = (flat(each.score.metrics) for each in (wrong, dropped))
    for path, value in found.items():  # an unreadable one makes no number undefined
        assert isinstance(value, Undefined) <= isinstance(rest.get(path, value), Undefined), path


def test_one_answer_for_nearly_all_questions_is_told(sample_build, run, tmp_path, monkeypatch):
    built = open_folder(sample_build / "casino")
    gold, _ = load_gold(built, "strategies", {}, Part())
    keys = [dict(zip(("dialogue_id", "turn"), key, strict=True)) for key in gold]
    right = built.dataset.tasks["strategies"].right
    for answers, is_uniform in (
        ([right(each) for each in gold.values()], False),
        ([{"labels": []}] * 5 + [{"labels": ["no-need"]}] * (len(keys) - 5), False),
        ([{"labels": []}] * 2 + [{"labels": ["no-need"]}] * (len(keys) - 2), True),
        ([{"labels": ["no-need"]}] * len(keys), True),
    ):
        found = score(built, "strategies", {}, predictions=map(or_, keys, answers))
        assert found.is_uniform == is_uniform
    found.save(file := tmp_path / "mine.jsonl")
    command = ("score", "casino", "strategies", file, "--build", sample_build)
    assert json.loads(run(*command, "--json").stdout)["distinct_answers"] == 1
    shown = run(*command).stdout
    monkeypatch.setattr(Result, "is_uniform", False)
    assert shown != run(*command).stdout
    monkeypatch.undo()
    found.evaluation.rows.gold = dict.fromkeys(gold, next(iter(gold.values())))
    assert not found.is_uniform  # as the right answers are alike


def test_without_the_extra_it_says_so(case, sample_build, monkeypatch, run):
    dataset, name, task = case
    for module in {*(m for m in sys.modules if m.split(".")[0] in NEEDED), *NEEDED}:
        monkeypatch.setitem(sys.modules, module, None)
    for baseline in task.baselines:
        arguments = (dataset.name, name, "--baseline", baseline, "--build", sample_build)
        status, _, said = run("score", *arguments)
        if status:
            assert (said.count("\n"), "[tasks]" in said) == (1, True)


def test_listing_tasks_needs_no_package_of_theirs():
    absent = "".join(f"sys.modules[{name!r}] = None; " for name in NEEDED)
    program = f"import sys; {absent}sys.argv[1:] = ['tasks', '--json']; import parley.cli as cli; "
    assert len(json.loads(python("-c", f"{program}cli.main()").stdout)) == len(TASKS)


def test_the_page_on_tasks_is_fresh():
    tasks = [(dataset.name, name, task) for dataset, name, task in TASKS.values()]
    text = PAGE.read_text(encoding="utf-8")
    renewed = with_parts(text, "docs/tasks.md", {"tasks": overview(tasks)})
    assert renewed == text, "run `make measure`"


def test_a_measured_reference_is_measured_again(case, real_build):
    dataset, name, task = case
    if not (real_build / dataset.name).is_dir():
        pytest.skip(f"nothing of {dataset.name} is in PARLEY_SOURCE")
    folder = open_folder(real_build / dataset.name)
    for reference in task.references:
        if reference.place == MEASURED:
            found = score(folder, name, reference.options, baseline=reference.name)
            assert found.wrong_references == [], reference.name


def test_a_baseline_that_misses_its_reference_is_told(built, case):
    _, name, task = case
    reference = next((each for each in task.references if each.place == MEASURED), None)
    if reference is None:
        pytest.skip("no baseline was measured")
    for options in task.ids(name).values():
        found = score(built, name, options, baseline=reference.name)
        assert found.as_dict()["wrong_references"] == []  # of a sample other numbers are due
        found.is_sample = False
        wrong = found.wrong_references
        assert all(reference.name in each.place for each in wrong)
        if options == task.chosen(reference.options):
            assert wrong
        else:  # it may leave out groups of the reference
            assert all(each.found != "None" for each in wrong)


def test_score_fails_if_a_baseline_misses_its_reference(sample_build, monkeypatch, run):
    monkeypatch.setattr(Result, "wrong_references", [Problem("a length", "0.5", "0.4")])
    score = ("score", "duo", "agreement", "--baseline", "length")
    status, out, _ = run(*score, "--build", sample_build)
    assert (status, "a length" in out) == (1, True)


def test_runs_are_written_in_the_order_in_which_they_are_ranked(tmp_path):
    task = next(t for _, _, t in TASKS.values() if t.format is TREC_RUN)
    found = [("q", "a", 0.5), ("q", "c", 0.5), ("q", "b", 2.0)]
    names = ("query_id", "document_id", "score")
    write(tmp_path / "run", task, [dict(zip(names, each, strict=True)) for each in found])
    ranks = [line.split()[2:4] for line in (tmp_path / "run").read_text().splitlines()]
    assert ranks == [["b", "1"], ["c", "2"], ["a", "3"]]
    with pytest.raises(OutputError):
        write(tmp_path / "run", task, [])
