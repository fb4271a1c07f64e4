"""Every task of every dataset: what it declares holds, and each kind of bad file is named."""

import gzip
import json
import math
import random
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from test_task_files import piped

from parley import cli
from parley.collection import Dataset, discover
from parley.errors import OutputError, RecordError, ScriptError
from parley.figures import agrees
from parley.folder.built import open_folder
from parley.scoring import evaluate, spread
from parley.scoring.evaluate import score
from parley.scoring.leaderboard import renewed
from parley.scoring.prediction_formats import JSON_LINES, TREC_RUN
from parley.scoring.predictions import write
from parley.shapes import fitter
from parley.tasks import MEASURED, Reference, flat, tasks_of
from parley.terminal.console import print_output
from parley.terminal.tasks import lay_out_score

TASKS = {
    f"{dataset.name} {name}": (dataset, name, task)
    for dataset in discover().values()
    for name, task in tasks_of(dataset).items()
}
NEEDED = ("sklearn", "scipy", "ir_measures")  # the packages that the extra `tasks` brings
PAGE = Path(__file__).parent.parent / "docs" / "tasks.md"


@pytest.fixture(autouse=True)
def _few_resamples(monkeypatch):
    """Draw fewer samples than a reader gets: intervals are the same code with any number."""
    monkeypatch.setattr(spread, "RESAMPLES", 20)


@pytest.fixture(params=TASKS)
def case(request):
    """Each task in turn: its dataset, its name and what it declares."""
    return TASKS[request.param]


@pytest.fixture(params=[k for k, (_, _, task) in TASKS.items() if task.format is JSON_LINES])
def json_case(request):
    """Each task in turn whose predictions are JSON Lines."""
    return TASKS[request.param]


@pytest.fixture
def built(case, sample_build):
    """The sample build of the dataset at hand."""
    return open_folder(sample_build / case[0].name)


def made(built, task, name, file):
    """Write what the first baseline predicts on a build, and return the score."""
    return score(built, name, {}, baseline=next(iter(task.baselines)), keep=file)


def test_what_a_task_declares_agrees_with_itself(case):
    _, _, task = case
    assert fitter(task.shape)(task.example)
    assert task.example.keys() == task.fields.keys()
    (line,) = task.format.lines([task.example])
    assert task.format.parse(line.encode()) == task.example
    assert task.baselines
    for reference in task.references:
        assert reference.options.items() <= {
            (option, value) for option, values in task.options.items() for value in values
        }
        assert (reference.place == MEASURED) <= (reference.name in task.baselines)


def test_every_baseline_scores_under_the_names_that_are_declared(case, built):
    _, name, task = case
    for baseline in task.baselines:
        found = score(built, name, {}, baseline=baseline).as_dict()
        paths = flat(found["metrics"])
        assert set(task.metrics) <= {part for path in paths for part in path}
        assert found["sample"]
        assert sum(found["counts"].values()) > 0
        json.dumps(found, allow_nan=False)
    for reference in task.references:
        found = score(built, name, reference.options, baseline=next(iter(task.baselines)))
        named = flat(found.as_dict()["metrics"])
        assert flat(reference.metrics).keys() <= named.keys(), reference.name
        assert all(math.isfinite(float(each)) for each in flat(reference.metrics).values())


def test_every_choice_of_its_options_scores(case, built):
    _, name, task = case
    for option, values in task.options.items():
        for value in values:
            for baseline in task.baselines:
                found = score(built, name, {option: value}, baseline=baseline)
                assert found.options[option] == value


def test_a_file_of_what_a_baseline_predicts_scores_the_same_in_any_order(
    case, built, tmp_path, monkeypatch
):
    _, name, task = case
    for baseline in task.baselines:
        file = tmp_path / baseline
        expected = score(built, name, {}, baseline=baseline, keep=file).as_dict()
        expected.pop("predictions")
        lines = file.read_bytes().splitlines(keepends=True)
        random.Random(0).shuffle(lines)
        (tmp_path / "shuffled").write_bytes(b"".join(lines))
        (tmp_path / "packed").write_bytes(gzip.compress(b"".join(lines[::-1])))
        with piped(b"".join(lines)) as stdin:
            monkeypatch.setattr(sys, "stdin", stdin)
            for where in (file, tmp_path / "shuffled", tmp_path / "packed", "-"):
                found = score(built, name, {}, file=str(where)).as_dict()
                found.pop("predictions")
                assert found == expected, where


def test_what_is_missing_twice_or_unknown_is_named(case, built, tmp_path):
    _, name, task = case
    made(built, task, name, tmp_path / "good")
    lines = (tmp_path / "good").read_text(encoding="utf-8").splitlines()
    first, last = (task.format.parse(lines[place].encode()) for place in (0, -1))
    required = task.required or task.key
    kept = [
        line
        for line in lines
        if any(task.format.parse(line.encode())[each] != last[each] for each in required)
    ]
    (unknown,) = task.format.lines([{**first, required[0]: _other(first[required[0]])}])
    (tmp_path / "bad").write_text("\n".join([*kept, lines[0], unknown]) + "\n", encoding="utf-8")
    with pytest.raises(RecordError) as error:
        score(built, name, {}, file=str(tmp_path / "bad"))
    found = {problem.place: problem.what for problem in error.value.problems}
    assert found.pop(_key(task.required, last) or _key(task.key, last)) == "missing"
    twice = found.pop(f"line {len(kept) + 1} ({_key(task.key, first)})")
    assert twice == "stands twice, first in line 1"
    place = f"line {len(kept) + 2} ({_key(task.key, task.format.parse(unknown.encode()))})"
    assert found == {place: f"there is no such {' and '.join(required)} to predict"}


def _other(value):
    return value + 10**6 if isinstance(value, int) else "nobody's"


def _key(names, prediction):
    return ", ".join(f"{name} {json.dumps(prediction[name])}" for name in names)


def test_a_field_of_another_type_is_named_with_line_and_key(json_case, sample_build, tmp_path):
    dataset, name, task = json_case
    built = open_folder(sample_build / dataset.name)
    made(built, task, name, tmp_path / "good")
    lines = (tmp_path / "good").read_text(encoding="utf-8").splitlines()
    second = json.loads(lines[1])
    for field in task.fields:
        for wrong in ([{}], {"no such": 1}, True, "no such value"):
            if fitter(task.shape)({**second, field: wrong}):
                continue
            lines[1] = json.dumps({**second, field: wrong})
            (tmp_path / "bad").write_text("\n".join(lines), encoding="utf-8")
            with pytest.raises(RecordError) as error:
                score(built, name, {}, file=str(tmp_path / "bad"))
            places = [problem.place for problem in error.value.problems]
            assert any(place.startswith("line 2 (") and field in place for place in places)
            assert all(f"{key} " in places[0] for key in task.key)
        for raw in ("NaN", "Infinity", "1e999"):
            line = json.dumps({**second, field: "RAW"}).replace('"RAW"', raw)
            (tmp_path / "bad").write_text("\n".join([*lines[:1], line]), encoding="utf-8")
            with pytest.raises(RecordError, match=rf"line 2 .*: {field}: .*{raw}"):
                score(built, name, {}, file=str(tmp_path / "bad"))


def test_without_the_extra_it_says_so_in_one_line_or_needs_none(
    case, sample_build, monkeypatch, capfd
):
    dataset, name, task = case
    for module in list(sys.modules):
        if module.split(".")[0] in NEEDED:
            monkeypatch.delitem(sys.modules, module)
    for package in NEEDED:
        monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setattr("signal.signal", lambda *args: None)
    for baseline in task.baselines:
        arguments = ["score", dataset.name, name, "--baseline", baseline]
        monkeypatch.setattr(sys, "argv", ["parley", *arguments, "--build", str(sample_build)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        said = capfd.readouterr().err
        if ended.value.code:
            assert said.count("\n") == 1
            assert 'is not installed. Run `pip install "parley-datasets[tasks]"`.' in said


def test_listing_tasks_needs_no_package_of_theirs():
    absent = "".join(f"sys.modules[{name!r}] = None; " for name in NEEDED)
    program = f"import sys; {absent}sys.argv[1:] = ['tasks', '--json']; import parley.cli as cli; "
    done = subprocess.run(
        [sys.executable, "-c", f"{program}cli.main()"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert len(json.loads(done.stdout)) == len(TASKS)


def test_the_page_on_tasks_is_fresh():
    text = PAGE.read_text(encoding="utf-8")
    tasks = [(dataset.name, name, task) for dataset, name, task in TASKS.values()]
    assert renewed(text, "docs/tasks.md", tasks) == text, "parley tasks --update docs/tasks.md"


def test_what_was_measured_is_measured_again(case, real_build):
    dataset, name, task = case
    folder = real_build / dataset.name
    if not folder.is_dir():
        pytest.skip(f"nothing of {dataset.name} is in PARLEY_SOURCE")
    for reference in task.references:
        if reference.place == MEASURED:
            found = score(open_folder(folder), name, reference.options, baseline=reference.name)
            measured = flat(found.as_dict()["metrics"])
            for path, stated in flat(reference.metrics).items():
                assert agrees(stated, measured[path]), (reference.name, path, measured[path])
            assert not found.moved


def test_a_baseline_that_does_not_reach_its_reference_is_told(built, case, capsys):
    _, name, task = case
    references = [each for each in task.references if each.place == MEASURED]
    if not references:
        pytest.skip("no baseline was measured")
    reference = references[0]
    found = score(built, name, reference.options, baseline=reference.name)
    assert found.as_dict()["moved"] == []  # of a sample other numbers are due
    moved = replace(found, is_sample=False).as_dict()["moved"]
    assert moved
    assert all(each.startswith(reference.name) for each in moved)
    print_output(lay_out_score(replace(found, is_sample=False)))
    assert moved[0] in capsys.readouterr().out


def test_a_reference_that_was_measured_is_of_a_baseline(case, monkeypatch):
    dataset, name, task = case
    wrong = replace(task, references=(Reference("nobody", {}, MEASURED),))
    monkeypatch.setattr(Dataset, "tasks", {name: wrong})
    with pytest.raises(ScriptError, match=r"expected a baseline, .*found nobody"):
        tasks_of(dataset)


@pytest.mark.parametrize("of", [lambda key: key[0], lambda key: (*key, 1)])
def test_gold_whose_keys_are_others_than_the_tasks_is_an_error(case, built, monkeypatch, of):
    _, name, task = case

    def gold(data, **options):
        return {of(key): value for key, value in task.gold(data, **options).items()}

    wrong = replace(task, gold=gold)
    monkeypatch.setattr(Dataset, "tasks", {name: wrong})
    with pytest.raises(ScriptError, match=f"{name}: gold: expected tuples of {task.key[0]}"):
        score(built, name, {}, baseline=next(iter(task.baselines)))


def test_runs_are_written_in_the_order_in_which_they_are_ranked(tmp_path):
    task = next((t for _, _, t in TASKS.values() if t.format is TREC_RUN), None)
    if task is None:
        pytest.skip("no task takes a run")
    found = [("q", "a", 0.5), ("q", "c", 0.5), ("q", "b", 2.0)]
    names = ("query_id", "document_id", "score")
    write(tmp_path / "run", task, [dict(zip(names, each, strict=True)) for each in found])
    ranks = [line.split()[2:4] for line in (tmp_path / "run").read_text().splitlines()]
    assert ranks == [["b", "1"], ["c", "2"], ["a", "3"]]
    with pytest.raises(OutputError, match="already exists"):
        write(tmp_path / "run", task, [])


def test_an_interrupted_run_keeps_no_predictions(sample_build, tmp_path, monkeypatch):
    """The same command again would refuse to write over them."""
    dataset, name, task = next(case for case in TASKS.values() if case[2].baselines)

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(evaluate, "get_task", lambda *_: replace(task, score=interrupt))
    built, baseline = open_folder(sample_build / dataset.name), next(iter(task.baselines))
    with pytest.raises(KeyboardInterrupt):
        score(built, name, {}, baseline=baseline, keep=tmp_path / "kept")
    assert list(tmp_path.iterdir()) == []
