"""Comparing logs: intervals, paired differences and p-values, cost, and logs that do not agree."""

import itertools
import json
import math
import random
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from parley.building.folder import find_folder
from parley.building.registry import discover
from parley.models.compare import SWAPS, holm, paired_differences
from parley.tasks.rows import Measured, Rows

RIGHT = {"satisfaction": "Undecided", "likeness": "Undecided"}
WRONG = {"satisfaction": "Slightly satisfied", "likeness": "Slightly like"}


def outcomes(sample_build, dialogues):
    """Return invented rows of casino's outcomes, two sides to a dialogue."""
    gold = {(n, side): tuple(RIGHT.values()) for n in range(dialogues) for side in ("one", "two")}
    return Rows(find_folder(sample_build, discover()["casino"]), "outcomes", {}, gold), gold


def guesses(gold, share, seed):
    """Return predictions, a share of them right."""
    draw = random.Random(seed)
    return {key: WRONG if draw.random() > share else RIGHT for key in gold}


def by_dialogue(predictions):
    """Return the mean of each dialogue, which has two sides."""
    right = [each is RIGHT for each in predictions.values()]
    return np.array(right, float).reshape(-1, 2).mean(axis=1)


NAME = ("satisfaction",)
MAE = ("mae", "satisfaction")


def interval_of(found):
    """Return an interval as a pair."""
    return found.low, found.high


def test_intervals_of_means_are_those_of_scipy_over_dialogues(sample_build):
    rows, gold = outcomes(sample_build, 25)
    one, other = (Measured([(rows, guesses(gold, *each))]) for each in ((0.8, 1), (0.6, 2)))
    values = [1 - by_dialogue(each.epochs[0][1]) for each in (one, other)]  # steps away
    due = stats.ttest_1samp(values[0], 0).confidence_interval()
    assert interval_of(one.metrics[MAE].interval) == pytest.approx(interval_of(due), abs=1e-12)
    due = stats.ttest_rel(*values).confidence_interval()
    by = paired_differences(one, other, [MAE])[MAE]
    assert interval_of(by.interval) == pytest.approx(interval_of(due), abs=1e-12)


@pytest.mark.parametrize("dialogues", [4, 8, 14])  # all ways of the first two, some of the last
def test_p_is_that_of_scipy_over_dialogues(dialogues, sample_build):
    rows, gold = outcomes(sample_build, dialogues)
    one, other = (Measured([(rows, guesses(gold, *each))]) for each in ((0.9, 3), (0.4, 4)))
    by = paired_differences(one, other, [NAME])[NAME]
    of = by_dialogue(one.epochs[0][1]) - by_dialogue(other.epochs[0][1])
    due = stats.permutation_test((of,), np.mean, permutation_type="samples", n_resamples=math.inf)
    is_all = 2**dialogues <= SWAPS
    error = 1e-12 if is_all else 4 * math.sqrt(due.pvalue * (1 - due.pvalue) / SWAPS)
    assert by.value == pytest.approx(of.mean())
    assert by.p == pytest.approx(due.pvalue, abs=error)
    same = paired_differences(one, one, [NAME])[NAME]
    assert (same.value, same.p, same.interval) == (0, 1, None)


@pytest.mark.parametrize("right", [0, 1])
def test_a_share_of_none_or_all_has_an_interval_as_wide_as_there_are_dialogues(right, sample_build):
    one, single = outcomes(sample_build, 1)  # which has no interval
    metrics = Measured([(one, guesses(single, 1, 0))]).metrics
    assert not any(each.interval for each in metrics.values())
    rows, gold = outcomes(sample_build, 12)
    metrics = Measured([(rows, guesses(gold, float(right), 0))]).metrics
    odds = stats.t.ppf(0.975, 11) ** 2 / 12
    due = (0, odds / (1 + odds)) if not right else (1 / (1 + odds), 1)
    assert interval_of(metrics[NAME].interval) == pytest.approx(due)
    assert metrics[MAE].interval is None  # no dialogue moves it


def test_a_share_of_many_dialogues_has_wilsons_interval(sample_build):
    whole, gold = outcomes(sample_build, 2000)
    gold = {key: each for key, each in gold.items() if key[1] == "one"}
    found = Measured([whole.within(gold, guesses(gold, 0.97, 0))]).metrics[NAME]
    due = stats.binomtest(round(found.value * len(gold)), len(gold)).proportion_ci(method="wilson")
    assert interval_of(found.interval) == pytest.approx(interval_of(due), abs=1e-4)


def test_auc_is_computed_anew_without_each_dialogue(sample_build):
    from sklearn.metrics import roc_auc_score

    draw = random.Random(5)
    gold = {(str(n),): draw.random() < 0.5 for n in range(40)}
    found = {key: {"probability": round(draw.random(), 1)} for key in gold}
    bargains = find_folder(sample_build, discover()["craigslist_bargains"])
    metric = Rows(bargains, "deal", {}, gold).measure(found)[1]["auc",]
    truth = np.array([*gold.values()])
    chances = np.array([each["probability"] for each in found.values()])
    due = [roc_auc_score(np.delete(truth, n), np.delete(chances, n)) for n in range(40)]
    assert metric.value + metric.shifts == pytest.approx(due, abs=1e-12)
    error = math.sqrt(39 / 40 * sum((np.array(due) - np.mean(due)) ** 2))
    assert metric.error == pytest.approx(error)
    odds = metric.value / (1 - metric.value)
    half = stats.t.ppf(0.975, 39) * error / (metric.value * (1 - metric.value))
    ends = [odds * math.exp(each) for each in (-half, half)]
    assert interval_of(metric.interval) == pytest.approx([each / (1 + each) for each in ends])


def test_holm_closes_the_tests_of_bonferroni():
    draw = random.Random(6)
    for count in range(7):
        values = [round(draw.random() ** 3, 2) for _ in range(count)]
        families = [
            family
            for size in range(1, count + 1)
            for family in itertools.combinations(range(count), size)
        ]
        due = [
            max(min(1, len(f) * min(values[n] for n in f)) for f in families if each in f)
            for each in range(count)
        ]
        assert holm(values) == pytest.approx(due)


# The command ---------------------------------------------------------------------------------


@pytest.fixture
def logged(sample_build, tmp_path):
    """Return a function that asks a model which gives one answer, and returns its log."""
    evals = pytest.importorskip("evals", reason="needs the extra models")

    def logged(task, model, answer, name="", **given):
        reply = answer if callable(answer) else lambda messages, schema: answer
        log = evals.ask(task, reply, sample_build, tmp_path / "asked", name=model, **given)
        path = tmp_path / f"{name or model}.{task.split()[1]}.eval"
        return Path(log).rename(path)

    return logged


@pytest.fixture
def compared(sample_build, run):
    """Return a function that compares logs by the command; returns its tables."""

    def compared(*logs, **given):
        more = [part for name, value in given.items() for part in (f"--{name}", value)]
        status, out, err = run("compare", *logs, *more, "--build", sample_build, "--json")
        assert not status, err
        return json.loads(out)

    return compared


def test_logs_are_compared_by_task(logged, compared, sample_build, run):
    camp = {"satisfaction": "Slightly satisfied", "likeness": "Extremely like"}
    logs = [
        logged("casino outcomes", "one", json.dumps(camp)),
        logged("casino outcomes", "two", json.dumps(camp | {"likeness": "Extremely dislike"})),
        logged("casino deals", "one", "[Walk-Away]"),
    ]
    outcomes, deals = compared(*logs)
    first, second = outcomes["logs"]
    assert second["metrics"]["satisfaction"] == first["metrics"]["satisfaction"] > 0
    assert second["differences"]["satisfaction"] | {"interval": None} == {
        "value": 0,
        "interval": None,
        "p": 1,
        "p_holm": 1,
        "rows": None,
    }
    by = second["differences"]["likeness"]
    assert by["value"] == second["metrics"]["likeness"] - first["metrics"]["likeness"] < 0
    assert by["interval"]["low"] <= by["value"] <= by["interval"]["high"]
    assert by["p_holm"] == min(1, 2 * by["p"])
    assert (first["differences"], first["unreadable"], first["coverage"]) == ({}, 0, 1)
    asked = second["run"]["asked"]
    assert (second["run"]["input_tokens"], second["run"]["output_tokens"]) == (7 * asked, 3 * asked)
    assert second["run"]["cost"] is None  # as inspect knows no price of it
    (walked,) = deals["logs"]
    assert walked["label"] == "mturk_agent_1=mockllm/one, mturk_agent_2=mockllm/one"
    assert "unreadable" not in walked["metrics"]
    assert walked["metrics"]["points"] == {"mturk_agent_1": 5, "mturk_agent_2": 5}
    shown = run("compare", *logs[::2], "--metric", "points", "--build", sample_build).stdout
    assert "points mturk_agent_1" in shown


def test_logs_of_other_parts_or_rows_are_marked_and_not_compared(logged, compared, run):
    from inspect_ai.log import read_eval_log, write_eval_log

    whole = logged("casino outcomes", "one", "", name="all")
    part = logged("casino outcomes", "two", "", limit=4, name="part")
    log = read_eval_log(str(whole))
    log.eval.metadata["rows"] = "0" * 64
    write_eval_log(log, str(other := whole.with_name("other.eval")))
    (table,) = compared(other, whole, part)
    rows, first, limit = table["logs"]
    assert table["first"] == str(whole)
    assert (rows["metrics"], rows["differs"][0].partition(":")[0]) == ({}, "rows")
    assert first["metrics"] == limit["metrics"] == {"satisfaction": 0, "likeness": 0}
    assert (first["differs"], limit["differs"][0].partition(":")[0]) == ([], "part")
    assert rows["differences"] == first["differences"] == limit["differences"] == {}
    (whole.parent / "empty").mkdir()
    for given in (
        [whole.parent / "empty"],
        [whole, "--metric", "f1"],
        [whole, "--unreadable", "drop"],  # has no readable answer
        [whole, "--unreadable", "right"],
        [whole.parent / "none.eval"],
        [__file__],
    ):
        assert run("compare", *given, "--build", whole.parent)[0] == 2, given


def test_answers_that_one_log_lacks_are_in_the_differences_of_no_mean_over_readable_ones(
    logged, compared, sample_build, run
):
    camp = json.dumps({"satisfaction": "Undecided", "likeness": "Slightly like"})

    def partly(messages, schema):
        return camp if len(messages[-1]["content"]) % 2 == 0 else "?"

    logs = [logged("casino outcomes", "one", camp), logged("casino outcomes", "two", partly)]
    of_scale = ["likeness", "mae.likeness"]
    more = [part for name in of_scale for part in ("--metric", name)]
    first, second = compared(*logs, *more)[0]["logs"]
    rows = second["run"]["asked"]
    read = rows - second["unreadable"]
    assert 0 < read < rows
    assert second["coverage"] == read / rows
    values = [each["metrics"] for each in (first, second)]
    errors = [each["mae"]["likeness"] for each in values]
    by = second["differences"]
    assert errors[0] != errors[1]
    assert by["mae"]["likeness"]["value"] == 0
    assert by["mae"]["likeness"]["rows"] == read
    assert by["likeness"]["rows"] is None
    assert by["likeness"]["value"] == values[1]["likeness"] - values[0]["likeness"] < 0
    shown = run("compare", *logs, *more, "--build", sample_build).stdout
    assert f"{read / rows:.1%}" in shown

    more += ["--unreadable", "drop"]
    table = compared(*logs, *more)[0]
    first, second = table["logs"]
    assert (table["policy"], second["coverage"]) == ("drop", read / rows)
    assert first["metrics"] == values[0]
    given = ["--unreadable", "drop", "--build", sample_build, "--json"]
    alone = json.loads(run("score", "casino", "outcomes", logs[1], *given).stdout)["metrics"]
    assert second["metrics"]["mae"]["likeness"] == pytest.approx(alone["mae"]["likeness"])
    assert second["metrics"]["likeness"] == pytest.approx(alone["likeness"])
    by = second["differences"]["likeness"]
    assert (by["value"], by["rows"]) == (0, read)


def test_an_unfinished_log_of_a_folder_is_marked_and_one_by_name_is_an_error(
    logged, compared, sample_build, run
):
    from inspect_ai.log import read_eval_log, write_eval_log

    whole = logged("casino outcomes", "one", "", name="all")
    log = read_eval_log(str(whole))
    log.status, log.samples = "cancelled", log.samples[:2]
    write_eval_log(log, str(whole.with_name("part.eval")))
    whole.with_name("damaged.eval").write_bytes(whole.read_bytes()[:-2000])
    done, unfinished = sorted(
        compared(whole.parent)[0]["logs"], key=lambda each: not each["metrics"]
    )
    assert (done["label"], done["differs"]) == ("mockllm/one", [])
    assert unfinished["metrics"] == {}
    assert "cancelled" in unfinished["differs"][0]
    assert "damaged.eval" in run("compare", whole.parent, "--build", sample_build).stderr
    for name in ("part", "damaged"):
        given = [whole.parent, whole.with_name(f"{name}.eval")]
        assert run("compare", *given, "--build", sample_build)[0] == 1


def test_files_of_predictions_are_compared_with_logs(logged, compared, sample_build, run, tmp_path):
    camp = json.dumps({"satisfaction": "Undecided", "likeness": "Slightly like"})
    log = logged("casino outcomes", "one", camp)
    part = logged("casino outcomes", "two", camp, limit=3)
    file, given = tmp_path / "mine.jsonl", ("--build", sample_build)
    save = "--baseline", "commonest", "--save-predictions", file
    assert run("score", "casino", "outcomes", *save, *given).returncode == 0
    for logs, limit in (([log], 0), ([part], 3)):
        one, mine = compared(*logs, file)[0]["logs"]
        assert (mine["label"], mine["differs"], mine["run"]) == ("mine", [], {})
        alone = run("score", "casino", "outcomes", file, "--limit", limit, "--json", *given)
        due = json.loads(alone.stdout)["metrics"]
        assert mine["metrics"] == {name: due[name] for name in mine["metrics"]}
        by = mine["differences"]["likeness"]["value"]
        assert by == pytest.approx(mine["metrics"]["likeness"] - one["metrics"]["likeness"])
    _, three = compared(log, part, file)[0]["logs"][:2]
    assert [each.partition(":")[0] for each in three["differs"]] == ["part"]
    assert compared(file, task="casino/outcomes")[0]["first"] == str(file)
    other = logged("duo agreement", "one", '{"score": 3}')
    for paths in ([file], [log, other, file], [file, "--task", "casino/nothing"]):
        assert run("compare", *paths, *given).returncode == 2
    assert run("compare", other, file, *given).returncode == 1  # of another task


def test_epochs_are_compared_as_means(logged, compared):
    camp = {"satisfaction": "Undecided", "likeness": "Slightly like"}
    turns = itertools.count()

    def at_times(messages, schema):
        return json.dumps(camp) if next(turns) % 3 else "?"

    logs = [
        logged("casino outcomes", "one", json.dumps(camp)),
        logged("casino outcomes", "two", at_times, epochs=2),
    ]
    one, two = compared(*logs)[0]["logs"]
    assert two["asked"] == 2 * one["asked"]
    assert 0 < two["unreadable"] < two["asked"]
    assert [each.partition(":")[0] for each in two["settings"]] == ["epochs"]
    by = two["differences"]["likeness"]
    assert by["value"] == pytest.approx(two["metrics"]["likeness"] - one["metrics"]["likeness"])
    assert by["interval"]["low"] <= by["value"] <= by["interval"]["high"]
    assert 0 < by["p"] <= 1
