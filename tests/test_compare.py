"""Comparing logs: intervals, paired differences and p-values, cost, and logs that do not agree."""

import itertools
import json
import math
import random

import numpy as np
import pytest
from model_server import serving
from scipy import stats

from parley.asking.client import Sampling
from parley.asking.log import Questions
from parley.asking.run import Settings, ask
from parley.building.built import find_folder
from parley.building.collection import discover
from parley.declaring.questions import Playing
from parley.declaring.spread import RESAMPLES, SEED, resamples
from parley.scoring.compare import Rows, holm, intervals, p_value
from parley.scoring.gold import ALL, Part, load_gold

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


def test_intervals_of_means_are_those_of_scipy_over_dialogues(sample_build):
    rows, gold = outcomes(sample_build, 25)
    one, other = guesses(gold, 0.8, 1), guesses(gold, 0.6, 2)
    samples = [rows.samples(each) for each in (one, other)]
    by = {NAME: samples[0][NAME] - samples[1][NAME]}
    values = [by_dialogue(each) for each in (one, other)]
    for found, of in ((samples[0], values[0]), (by, values[0] - values[1])):
        how = {"method": "percentile", "n_resamples": RESAMPLES, "rng": np.random.default_rng(SEED)}
        due = stats.bootstrap((of,), np.mean, **how).confidence_interval
        mine = intervals(found)[NAME]
        assert (mine.low, mine.high) == pytest.approx((due.low, due.high), abs=1e-12)


@pytest.mark.parametrize("dialogues", [4, 8, 12])  # all ways of the first two, some of the last
def test_p_is_that_of_scipy_over_dialogues(dialogues, sample_build):
    rows, gold = outcomes(sample_build, dialogues)
    one, other = guesses(gold, 0.9, 3), guesses(gold, 0.4, 4)
    by = rows.numbers(one)[NAME] - rows.numbers(other)[NAME]
    p = p_value(by, rows.swapped(one, other)[NAME], len(rows.units))
    of = by_dialogue(one) - by_dialogue(other)
    due = stats.permutation_test((of,), np.mean, permutation_type="samples", n_resamples=math.inf)
    is_all = 2**dialogues <= RESAMPLES
    error = 1e-12 if is_all else 4 * math.sqrt(due.pvalue * (1 - due.pvalue) / RESAMPLES)
    assert by == pytest.approx(of.mean())
    assert p == pytest.approx(due.pvalue, abs=error)
    assert p_value(0.0, rows.swapped(one, one)[NAME], len(rows.units)) == 1


def test_auc_is_computed_anew_for_each_sample(sample_build, monkeypatch):
    from sklearn.metrics import roc_auc_score

    few = resamples(40)[:50]
    monkeypatch.setattr("parley.scoring.compare.resamples", lambda size: few)

    draw = random.Random(5)
    gold = {(str(n),): draw.random() < 0.5 for n in range(40)}
    found = {key: {"probability": round(draw.random(), 1)} for key in gold}
    bargains = find_folder(sample_build, discover()["craigslist_bargains"])
    samples = Rows(bargains, "deal", {}, gold).samples(found)[("auc",)]
    truth = np.array([*gold.values()])
    chances = np.array([each["probability"] for each in found.values()])
    due = [roc_auc_score(truth[places], chances[places]) for places in few]
    assert samples == pytest.approx(due, abs=1e-12)


@pytest.mark.parametrize(
    ("of", "due"),
    [
        ("casino outcomes", {"mae", "quadratic_kappa"}),
        ("casino strategies", set()),
        ("casino deals", {"fairness", "share_of_most"}),
        ("craigslist_bargains deal", {"auc"}),
        ("duo agreement", {"person", "others"}),
    ],
)
def test_metrics_over_readable_answers_or_deals_alone_are_told(of, due, sample_build):
    dataset, name = of.split()
    built = find_folder(sample_build, discover()[dataset])
    task = built.dataset.task(name)
    options = task.chosen({})
    gold, _ = load_gold(built, name, options, ALL)
    if isinstance(task.asking, Playing):
        people = task.baselines[task.asking.people](built, **options)
        found = {tuple(each[part] for part in task.key): each for each in people}
    else:
        found = {key: dict(task.target(value)) for key, value in gold.items()}
    rows = Rows(built, name, options, gold)
    numbers = rows.numbers(found)
    is_game = isinstance(task.asking, Playing)
    told = {each[0] for each in rows.over_told([found]) if numbers[each] > 0 or not is_game}
    assert told - {"f1_by_label"} == due  # some labels are in no row of the sample


@pytest.mark.parametrize("absent", [0.0, float("nan")])
def test_f1_of_strategies_is_that_of_scikit_learn(absent):
    from sklearn.metrics import f1_score

    tasks = discover()["casino"].load_module("tasks")
    strategies = tasks.strategies
    draw = np.random.default_rng(0)
    for rows, share in ((1, 0.3), (3, 0.1), (50, 0.5)):
        truth, said = (draw.random((rows, len(strategies.SEVEN))) < share for _ in range(2))
        truth[:, 0] = said[:, 0] = False
        due = f1_score(truth, said, average=None, zero_division=absent)
        found = strategies.positive_f1(truth, said, absent)
        assert found == pytest.approx(100 * due, abs=1e-12, nan_ok=True)


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

    def logged(task, model, answer, limit=0, name="", swap=False, fields=(), **options):
        dataset, each = task.split()
        built = find_folder(sample_build, discover()[dataset])
        chosen = built.dataset.task(each).chosen(options)
        questions = Questions(built, each, chosen, Part("", limit), swap=swap)
        roles = getattr(questions.asking, "roles", [""])
        path = tmp_path / f"{name or model}.{each}.jsonl"
        reply = answer if callable(answer) else lambda request: answer
        models = dict.fromkeys(roles, model) | ({roles[-1]: "script:joint"} if swap else {})
        with serving(reply) as server:
            ask(questions, Settings(models, Sampling(dict(fields)), server.url), path)
        return path

    return logged


@pytest.fixture
def compared(sample_build, run, monkeypatch):
    """Return a function that compares logs by the command, with few samples; returns its tables."""
    monkeypatch.setattr("parley.scoring.compare.resamples", lambda size: resamples(size)[:50])

    def compared(*logs, **given):
        more = [part for name, value in given.items() for part in ("--set", f"{name}={value}")]
        status, out, err = run("compare", *logs, *more, "--build", sample_build, "--json")
        assert not status, err
        return json.loads(out)

    return compared


def test_logs_are_compared_by_task_with_their_cost(logged, compared, sample_build, run):
    camp = {"satisfaction": "Slightly satisfied", "likeness": "Extremely like"}
    logs = [
        logged("casino outcomes", "one", json.dumps(camp)),
        logged("casino outcomes", "two", json.dumps(camp | {"likeness": "Extremely dislike"})),
        logged("casino deals", "one", "[Walk-Away]"),
        logged("casino deals", "one", "[Walk-Away]", swap=True, name="swapped"),
    ]
    prices = ["--price", "one=1,1", "--price", "script:joint=0,0"]
    outcomes, deals = compared(*logs, *prices, price="two=2,10")
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
    assert second["cost"] == pytest.approx(second["run"]["asked"] * (7 * 2 + 3 * 10) / 1e6)
    assert deals["logs"][0]["label"] == "mturk_agent_1=one, mturk_agent_2=one"
    shown = deals["logs"][0]["metrics"]
    assert "unreadable" not in shown
    assert shown["points"] == {"mturk_agent_1": 5, "mturk_agent_2": 5}
    calls = [
        call for line in logs[3].read_text().splitlines()[1:] for call in json.loads(line)["calls"]
    ]
    asked = [call for call in calls if call["model"] != "script:joint"]
    assert {call["role"] for call in asked} == {"mturk_agent_1", "mturk_agent_2"}
    assert deals["logs"][1]["cost"] == pytest.approx(len(asked) * (7 + 3) / 1e6)
    assert [each["cost"] for each in compared(*logs[:1], price="two=2,10")[0]["logs"]] == [None]
    assert (deals["logs"][1]["metrics"], len(deals["logs"][1]["differs"])) == ({}, 1)
    shown = run("compare", *logs[::2], "--metric", "points", "--build", sample_build).stdout
    assert "points mturk_agent_1" in shown
    assert "5.000 (5.000…5.000)" in shown


def test_logs_of_other_parts_or_rows_are_marked_and_not_compared(logged, compared, run):
    whole = logged("casino outcomes", "one", "", name="all")
    part = logged("casino outcomes", "two", "", limit=4, name="part")
    other = logged("casino outcomes", "three", "", name="other")
    header, *entries = other.read_text().splitlines()
    changed = json.dumps(json.loads(header) | {"rows": "0" * 64}, separators=(",", ":"))
    other.write_text("\n".join([changed, *entries]) + "\n")
    (table,) = compared(other, whole, part.parent)
    rows, first, limit = table["logs"]
    assert table["first"] == str(whole)
    assert (rows["metrics"], rows["differs"][0].partition(":")[0]) == ({}, "rows")
    assert first["metrics"] == limit["metrics"] == {"satisfaction": 0, "likeness": 0}
    assert (first["differs"], limit["differs"][0].partition(":")[0]) == ([], "limit")
    assert rows["differences"] == first["differences"] == limit["differences"] == {}
    older = json.loads(header) | {"asking": "1", "questions": "0" * 64}
    other.write_text("\n".join([json.dumps(older, separators=(",", ":")), *entries]) + "\n")
    (_, old), first = compared(whole, other)[0]["logs"], compared(other)[0]["logs"][0]
    assert [each.partition(":")[0] for each in old["differs"]] == ["asking", "questions"]
    assert old["differences"] == {}
    assert first["label"] == old["label"] == "three, questions 1"
    (whole.parent / "empty").mkdir()
    for given in (
        [whole.parent / "empty"],
        [whole, "--metric", "f1"],
        [whole, "--unreadable", "drop"],  # has no readable answer
        [whole, "--unreadable", "right"],
        [whole, "--price", "1"],
        [whole, "--price", "=1,2"],
        [whole, "--price", "1,nan"],
        [whole.parent / "none.jsonl"],
        [__file__],
    ):
        assert run("compare", *given, "--build", whole.parent)[0] == 2, given


def test_logs_of_one_model_are_told_apart(logged, compared, sample_build, run):
    camp = json.dumps({"satisfaction": "Undecided", "likeness": "Undecided"})
    first = logged("casino outcomes", "one", camp, fields={"temperature": 0})
    header, *entries = first.read_text().splitlines()
    others = {"schema": False, "ask_again": True, "mode": {"": ["no schema"]}}
    stated = json.loads(header)
    changed = stated | others | {"sampling": stated["sampling"] | {"temperature": 1}}
    logs = [first]
    for folder, head in (("a/runs", stated), ("b/runs", changed)):
        logs.append(first.parent / folder / first.name)
        logs[-1].parent.mkdir(parents=True)
        logs[-1].write_text("\n".join([json.dumps(head), *entries]) + "\n")
    (table,) = compared(*logs[:2])
    labels = [each["label"] for each in table["logs"]]
    assert labels == [f"one ({each.parent.name}/{first.stem})" for each in logs[:2]]
    alike, other = (compared(logs[0], each)[0]["logs"][1] for each in logs[1:])
    assert alike["settings"] == alike["differs"] == other["differs"] == []
    names = [each.partition(":")[0] for each in other["settings"]]
    assert names == ["sampling.temperature", "schema", "ask again", "mode"]
    assert other["differences"]["likeness"]["value"] == 0
    table = compared(*logs)[0]
    assert [each["label"] for each in table["logs"]] == [f"one ({each})" for each in logs]
    shown = run("compare", *logs, "--build", sample_build).stdout
    assert "other settings: sampling.temperature: 1, but 0 in" in shown


def test_answers_that_one_log_lacks_are_in_the_differences_of_no_mean_over_readable_ones(
    logged, compared, sample_build, run
):
    camp = json.dumps({"satisfaction": "Undecided", "likeness": "Slightly like"})

    def partly(request):
        return camp if len(request["messages"][-1]["content"]) % 2 == 0 else "?"

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
    assert "coverage" in shown
    assert f"{read / rows:.1%}" in shown
    assert f"{read} rows of both" in shown

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
    assert "dropped" in run("compare", *logs, *more, "--build", sample_build).stdout


def test_an_unfinished_log_of_a_folder_is_marked_and_one_by_name_is_an_error(
    logged, compared, sample_build, run
):
    whole = logged("casino outcomes", "one", "", name="all")
    part = logged("casino outcomes", "two", "", name="part")
    part.write_text("\n".join(part.read_text().splitlines()[:2]) + "\n")
    for name in ("empty", "damaged"):
        (whole.parent / f"{name}.jsonl").write_text('{"log":1}\n' * (name == "damaged"))
    done, unfinished = compared(whole.parent)[0]["logs"]
    assert (done["label"], done["differs"]) == ("one", [])
    assert unfinished["metrics"] == {}
    assert "questions are not asked" in unfinished["differs"][0]
    err = run("compare", whole.parent, "--build", sample_build).stderr
    assert "empty.jsonl" in err
    assert "damaged.jsonl" in err
    for name in ("part.outcomes", "damaged", "empty"):
        given = [whole.parent, whole.parent / f"{name}.jsonl"]
        assert run("compare", *given, "--build", sample_build)[0] == 1 + (name == "empty")


def test_options_of_a_task_are_tables_of_their_own(logged, compared):
    logs = [
        logged("duo agreement", "one", '{"score": 3}', name=aspect, aspect=aspect)
        for aspect in ("empathy", "preference")
    ]
    assert [each["options"] for each in compared(*logs)] == [
        {"aspect": "empathy"},
        {"aspect": "preference"},
    ]


def test_repetitions_are_scored_together(sample_build, run, tmp_path):
    camp = {"satisfaction": "Slightly satisfied", "likeness": "Extremely like"}
    answers = {
        5: camp,
        6: camp | {"likeness": "Slightly like"},
        7: camp | {"likeness": "Slightly like", "satisfaction": "Undecided"},
    }
    more = ["--model", "m", "--build", sample_build, "--log", tmp_path, "--seed", 5, "--json"]

    def asked(*given, status=0):
        with serving(lambda request: json.dumps(answers[request["seed"]])) as server:
            url = ["--base-url", server.url]
            done = run("ask", "casino", "outcomes", *given, *more, *url)
        assert done.returncode == status, done.stderr
        return json.loads(done.stdout) if not status else len(server.requests)

    assert asked("--repeat", 3, status=2) == 0  # at temperature 0
    assert asked("--repeat", 3, "--temperature", 1, "--requests", tmp_path / "r", status=2) == 0
    *first, last = asked("--repeat", 3, "--temperature", 1)
    names = sorted(path.name.split(".")[2] for path in tmp_path.glob("casino.outcomes.*.jsonl"))
    assert names == ["m", "r2", "r3"]
    found, each = last["repeats"], [one["metrics"] for one in (*first, last)]
    likeness = [one["likeness"] for one in each]
    assert found["count"] == 3
    assert found["mean"]["likeness"] == pytest.approx(np.mean(likeness))
    assert found["se_samples"]["likeness"] == pytest.approx(stats.sem(likeness))
    assert found["majority"]["likeness"] == pytest.approx(likeness[1])  # two of three
    assert found["majority"]["satisfaction"] == pytest.approx(each[0]["satisfaction"])
    assert found["passed"]["likeness"] == pytest.approx(
        [np.mean(likeness), (2 * likeness[0] + 3 * likeness[1]) / 3, likeness[0] + likeness[1]]
    )
    (result,) = asked("--temperature", 1)  # the first repetition is a run by itself
    assert result["run"] == first[0]["run"]
