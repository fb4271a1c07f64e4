"""Comparing logs: intervals, paired differences and p-values, cost, and logs that do not agree."""

import itertools
import json
import math
import random
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics

import parley
from parley.base.errors import UsageError
from parley.builds.built_folder import find_folder
from parley.declaration.registry import discover
from parley.scoring.differences import SIGNS, holm, paired_differences
from parley.scoring.metrics import Epoch, Evaluation, TaskRows
from parley.tasks.prediction_formats import UNREADABLE
from parley.tasks.task import Score

RIGHT = {"satisfaction": "Undecided", "likeness": "Undecided"}
WRONG = {"satisfaction": "Slightly satisfied", "likeness": "Slightly like"}


def outcomes(sample_build, dialogues):
    """Return invented rows of casino's outcomes, two sides to a dialogue."""
    gold = {(n, side): RIGHT for n in range(dialogues) for side in ("one", "two")}
    rows = TaskRows(find_folder(sample_build, discover()["casino"]), "outcomes", {}, gold)
    rows.clusters = {"dialogues": [[(n, "one"), (n, "two")] for n in range(dialogues)]}
    rows.task = replace(rows.task, ends=rows.task.ends | {"mae": (0, math.inf)})
    return rows, gold


def guesses(gold, share, seed):
    """Return predictions, a share of them right."""
    draw = random.Random(seed)
    return {key: WRONG if draw.random() > share else RIGHT for key in gold}


def evaluated(rows, *epochs):
    return Evaluation([Epoch(rows, each) for each in epochs])


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
    one, other = (evaluated(rows, guesses(gold, *each)) for each in ((0.8, 1), (0.6, 2)))
    values = [1 - by_dialogue(each.epochs[0].predictions) for each in (one, other)]  # steps away
    due = stats.ttest_1samp(values[0], 0).confidence_interval()
    assert interval_of(one.metrics[MAE].interval) == pytest.approx(interval_of(due), abs=1e-12)
    due = stats.ttest_rel(*values).confidence_interval()
    by = paired_differences(one, other, [MAE])[MAE]
    assert interval_of(by.interval) == pytest.approx(interval_of(due), abs=1e-12)
    read = {key: RIGHT if key[0] else {UNREADABLE: "no answer"} for key in gold}
    worse = {key: WRONG if key == (7, "one") else RIGHT for key in gold}  # the others are equal
    by = paired_differences(evaluated(rows, worse), evaluated(rows, read), [MAE])[MAE]
    due = stats.ttest_1samp(1 - by_dialogue(worse)[1:], 0).confidence_interval()
    assert interval_of(by.interval) == pytest.approx(interval_of(due), abs=1e-12)


def test_where_participants_come_again_the_variance_is_two_way(sample_build):
    rows, gold = outcomes(sample_build, 40)
    people = {(n, side): n * (side == "one") % 5 for n, side in gold}  # some in many dialogues
    own = [[key for key in gold if people[key] == who] for who in range(5)]
    rows.clusters |= {"participants": own, "": [[key] for key in gold]}
    found = {key: RIGHT if people[key] else WRONG for key in gold}
    metric = evaluated(rows, found).metrics[MAE]
    apart = np.array([0.0 if found[key] is RIGHT else 1.0 for key in gold])
    due = 0.0
    for of, sign in zip(rows.clusters.values(), (1, 1, -1), strict=True):
        without = [apart[[key not in keys for key in gold]].mean() for keys in of]
        due += sign * (len(of) - 1) * np.var(without)
    assert metric.error == pytest.approx(math.sqrt(due))
    assert metric.error > 1.5 * math.sqrt(metric.spreads[0].variance)


TIES = {  # of tasks, but for those that dialogues and participants tie
    "dialogues": "craigslist_bargains deal", "participants": "duo agreement",
    "conversations": "cosrec intents, cosrec retrieval",
    "scenarios": "casino deals, craigslist_bargains deals",
}  # fmt: skip


def test_what_ties_the_rows_of_a_task_is_named(sample_build, run):
    due = {task: [kind] for kind, tasks in TIES.items() for task in tasks.split(", ")}
    both = "strategies partner-priorities beliefs decisions bids final-deal outcomes"
    due |= {f"casino {name}": ["dialogues", "participants"] for name in both.split()}
    every = ((each, *task) for each in discover().values() for task in each.tasks.items())
    assert {f"{each.name} {name}": [*task.clusters] for each, name, task in every} == due
    given = "casino", "final-deal", "--baseline", "commonest", "--json", "--build", sample_build
    kinds = json.loads(run("score", *given).stdout)["clusters"]
    assert [*kinds] == ["dialogues", "participants"]


def test_a_participant_is_the_one_whose_answer_is_predicted(sample_build):
    casino = find_folder(sample_build, discover()["casino"])
    of = discover()["casino"].tasks["partner-priorities"].clusters["participants"](casino)
    for row in casino.rows("participants"):
        assert row["speaker_id"] not in of[row["dialogue_id"], row["speaker"]]
    rows = [{"dialogue_id": n, "language": n, "dialogue": [{"user_id": "1"}]} for n in ("en", "ja")]
    of = discover()["duo"].tasks["agreement"].clusters["participants"]
    assert len({*itertools.chain(*of(SimpleNamespace(rows=lambda *_: rows)).values())}) == 2


def test_models_that_lack_as_many_rows_are_compared_on_those_of_both(sample_build):
    rows, gold = outcomes(sample_build, 12)
    one, other = (Epoch(rows, guesses(gold, *each)) for each in ((0.8, 1), (0.6, 2)))
    keys = [[key for key in gold if key[0] != out] for out in (0, 1)]
    found = [Evaluation([of.within(kept)]) for of, kept in zip((one, other), keys, strict=True)]
    both = [Evaluation([of.within({*keys[0]} & {*keys[1]})]) for of in (one, other)]
    by, due = paired_differences(*found, [NAME])[NAME], paired_differences(*both, [NAME])[NAME]
    assert by == replace(due, rows=20)


# dialogues that one is right in
@pytest.mark.parametrize(("ours", "theirs"), [(40, 0), (14, 5), (5, 0), (1, 0), (3, 3), (0, 0)])
def test_p_is_that_of_scipy_over_dialogues(ours, theirs, sample_build):
    """Of all ways of giving few differences a sign, and of some of many; some have one row."""
    whole, gold = outcomes(sample_build, 40)
    gold = {key: each for key, each in gold.items() if key[0] % 3 or key[1] == "one"}
    rows = Epoch(whole, guesses(whole.gold, 1, 0)).within(gold).rows
    right = [{n for n in range(40) if n < ours}, {n for n in range(40) if n >= 40 - theirs}]
    if ours == theirs:  # and the difference is exactly 0
        right[1] = {n + 3 for n in right[0]}
    answers = ({key: RIGHT if key[0] in of else WRONG for key in gold} for of in right)
    one, other = (evaluated(rows, each) for each in answers)
    by = paired_differences(one, other, [NAME])[NAME]
    of = np.zeros(40)
    for number, _ in gold:
        of[number] += (number in right[0]) - (number in right[1])
    assert by.value == pytest.approx(sum(of) / len(gold))
    of = [*of[of != 0], 0, 0]  # of more zeros it would take as many ways as they have signs
    due = stats.permutation_test((of,), np.sum, permutation_type="samples", n_resamples=50_000)
    error = 1e-12 if len(of) < 15 else 5 * math.sqrt(due.pvalue * (1 - due.pvalue) / SIGNS)
    assert by.p == pytest.approx(due.pvalue, abs=error)
    assert by.p >= 1 / (SIGNS + 1)  # the difference itself is one of the ways
    same = paired_differences(one, one, [NAME])[NAME]
    assert (same.value, same.p, same.interval) == (0, 1, None)


def no_means(due, said):
    """Return metrics that are no mean over rows, of numbers from 0 to 4."""
    return {
        "f1": metrics.f1_score(due > 1, said > 1),
        "auc": metrics.roc_auc_score(due > 1, said),
        "kappa": metrics.cohen_kappa_score(due, said, weights="quadratic"),
        "pearson": stats.pearsonr(due, said).statistic,
    }


def test_p_of_no_mean_is_students_t_of_leaving_out_each_cluster(sample_build):
    """Clusters are unequal, few and tied; in some both models say the same, or what is as right."""
    draw, cluster = np.random.default_rng(4), np.repeat(range(9), [1, 5, 2, 6, 3, 1, 4, 6, 2])
    due, ours, theirs = draw.integers(5, size=(3, 30))
    ours = np.where(draw.random(30) < 0.5, due, ours)
    theirs = np.where(cluster > 2, theirs, ours)
    gold = {(n, "one"): {"n": number} for n, number in enumerate(due)}
    rows = TaskRows(find_folder(sample_build, discover()["casino"]), "outcomes", {}, gold)
    rows.clusters = {"dialogues": [[key for key in gold if cluster[key[0]] == n] for n in range(9)]}

    def score(gold, found):
        return Score(no_means(*np.array([(gold[key]["n"], found[key]["n"]) for key in gold]).T))

    ends = dict.fromkeys(("kappa", "pearson"), (-1, 1))
    rows.task = replace(rows.task, score=score, metrics=no_means(due, ours), ends=ends)
    models = ({key: {"n": n} for key, n in zip(gold, of, strict=True)} for of in (ours, theirs))
    one, other = (evaluated(rows, each) for each in models)
    without = []
    for kept in [cluster >= 0, *(cluster != n for n in range(9))]:
        first, second = ([*no_means(due[kept], of[kept]).values()] for of in (ours, theirs))
        without.append(np.subtract(first, second))
    error = np.sqrt(8 * np.var(without[1:], axis=0))
    shares = np.bincount(cluster) / 30
    freedom = (shares**2).sum() ** 2 / (shares**4).sum() - 1
    p_values = np.maximum(2 * stats.t.sf(abs(without[0]) / error, freedom), 1 / 32)
    found = paired_differences(one, other, one.metrics).values()
    assert [by.value for by in found] == pytest.approx(without[0])
    assert [by.p for by in found] == pytest.approx(p_values)
    assert [by.interval is None for by in found] == [True, True, False, False]  # of so few rows


def judged(sample_build, gold, *files, **kinds):
    """Return scores of invented dialogues of duo, each of one person, and of other kinds."""
    duo = find_folder(sample_build, discover()["duo"])
    of = {(n,): {"group": "en ed", "score": each, "others": None} for n, each in gold}
    rows = TaskRows(duo, "agreement", {"aspect": "preference"}, of)
    rows.clusters = {"participants": [[key] for key in of], **kinds}
    return [evaluated(rows, {(n,): {"score": file[n]} for n, _ in gold}) for file in files]


def test_p_of_correlations_depends_on_neither_scale_nor_order(sample_build):
    draw = np.random.default_rng(2)
    due, one, other = draw.integers(1, 6, size=(3, 20)) + draw.random((3, 20)).round(1)
    gold = [*enumerate(due.tolist())]
    found = paired_differences(*(pair := judged(sample_build, gold, one, other)), pair[0].metrics)
    assert len(found) == 3
    for scaled in (other, other * 20, other + 3, other / 10):
        pair = judged(sample_build, gold[::-1], one, scaled)
        for name, by in paired_differences(*pair, found).items():
            assert 0 < found[name].p < 1
            assert by.p == pytest.approx(found[name].p, rel=1e-9)
    pair = judged(sample_build, gold, one, one * 20)
    assert [by.p for by in paired_differences(*pair, found).values()] == [1, 1, 1]


@pytest.mark.parametrize("differ", [0, 1, 3, 5])
def test_p_of_few_clusters_that_differ_is_at_least_that_of_swapping_them(differ, sample_build):
    gold = [*enumerate(range(40))]
    worse = [39 - n if n < differ else n for n in range(40)]
    pair = judged(sample_build, gold, range(40), worse)
    found = paired_differences(*pair, pair[0].metrics).values()
    assert all(2.0 ** (1 - max(differ, 1)) <= by.p <= 1 for by in found)
    assert differ != 5 or {by.p for by in found} == {1 / 16}  # by the jackknife alone it is less
    keys = [(n,) for n, _ in gold]
    kinds = {"pairs": [keys[:20], keys[20:]], "": [[key] for key in keys]}
    pair = judged(sample_build, gold, range(40), worse, **kinds)
    assert {by.p for by in paired_differences(*pair, pair[0].metrics).values()} == {1}


@pytest.mark.parametrize("right", [0, 1])
def test_a_share_of_none_or_all_has_an_interval_as_wide_as_there_are_dialogues(right, sample_build):
    one, single = outcomes(sample_build, 1)  # which has no interval
    metrics = evaluated(one, guesses(single, 1, 0)).metrics
    assert not any(each.interval for each in metrics.values())
    rows, gold = outcomes(sample_build, 12)
    due = stats.binomtest(12 * right, 12).proportion_ci(method="exact")
    for epochs in (1, 2):
        metrics = evaluated(rows, *[guesses(gold, float(right), 0)] * epochs).metrics
        assert interval_of(metrics[NAME].interval) == pytest.approx(interval_of(due))
        assert metrics[MAE].interval is None  # no dialogue moves it


def test_an_interval_of_epochs_stays_within_the_unit(sample_build):
    rows, gold = outcomes(sample_build, 12)
    right, wrong = (guesses(gold, share, 0) for share in (1, 0))
    epochs = [right, right | {key: wrong[key] for key in [*gold][:3]}]
    found = interval_of(evaluated(rows, *epochs).metrics[NAME].interval)
    assert 0 < found[0] < 1 - 3 / 48 < found[1] < 1


def test_a_share_of_many_dialogues_has_wilsons_interval(sample_build):
    whole, gold = outcomes(sample_build, 2000)
    gold = {key: each for key, each in gold.items() if key[1] == "one"}
    found = Evaluation([Epoch(whole, guesses(whole.gold, 0.97, 0)).within(gold)]).metrics[NAME]
    due = stats.binomtest(round(found.value * len(gold)), len(gold)).proportion_ci(method="wilson")
    assert interval_of(found.interval) == pytest.approx(interval_of(due), abs=1e-4)


def test_auc_is_computed_anew_without_each_dialogue(sample_build):
    from sklearn.metrics import roc_auc_score

    draw = random.Random(5)
    gold = {(str(n),): {"probability": draw.random() < 0.5} for n in range(120)}
    found = {key: {"probability": round(draw.random(), 1)} for key in gold}
    bargains = find_folder(sample_build, discover()["craigslist_bargains"])
    metric = Epoch(TaskRows(bargains, "deal", {}, gold), found).metrics["auc",]
    truth, chances = (
        np.array([each["probability"] for each in of.values()]) for of in (gold, found)
    )
    due = [roc_auc_score(np.delete(truth, n), np.delete(chances, n)) for n in range(120)]
    assert metric.value + metric.spreads[0].shifts == pytest.approx(due, abs=1e-12)
    error = math.sqrt(119 / 120 * sum((np.array(due) - np.mean(due)) ** 2))
    assert metric.error == pytest.approx(error)
    few = dict([*gold.items()][:49])
    of_few = Epoch(TaskRows(bargains, "deal", {}, few), {key: found[key] for key in few})
    assert of_few.metrics["auc",].interval is None
    odds = metric.value / (1 - metric.value)
    half = stats.t.ppf(0.975, 119) * error / (metric.value * (1 - metric.value))
    ends = [odds * math.exp(each) for each in (-half, half)]
    assert interval_of(metric.interval) == pytest.approx([each / (1 + each) for each in ends])


def test_a_correlation_of_some_rows_counts_those_alone(sample_build):
    """A person's other dialogues, in another group or unreadable, are none of its rows."""
    duo = find_folder(sample_build, discover()["duo"])
    for persons, has_interval in ((15, True), (14, False)):
        groups = ("en ed", "en wow", "en ed") * persons
        gold = {
            (n,): {"group": group, "score": n % 5, "others": None} for n, group in enumerate(groups)
        }
        found = {(n,): {UNREADABLE: "?"} if n % 3 == 2 else {"score": 7 * n % 11} for (n,) in gold}
        rows = TaskRows(duo, "agreement", {"aspect": "preference"}, gold)
        rows.clusters = {"participants": [[*gold][n : n + 3] for n in range(0, len(gold), 3)]}
        metric = evaluated(rows, found).metrics["person", "en ed", "pearson"]
        assert metric.spreads[0].sizes.tolist() == [1] * persons
        assert bool(metric.interval) == has_interval


def test_holms_correction_keeps_the_order_and_never_falls():
    assert holm([0.04, 0.01, 0.03, 0.5]) == pytest.approx([0.09, 0.04, 0.09, 0.5])
    assert holm([0.9, 0.8]) == [1, 1]


CAMP = json.dumps({"You": {"satisfaction": "Undecided", "likeness": "Slightly like"}})


@pytest.fixture(scope="module")
def logs(inspect_runs, sample_build, tmp_path_factory):
    """Name of a model -> its log; `half` answers some questions, `twice` in one of two epochs."""
    turns = itertools.count()
    outcomes, folder = "casino outcomes", tmp_path_factory.mktemp("logs")
    asked = {  # task, answer, settings
        "one": (outcomes, lambda *_: CAMP, {}),
        "half": (outcomes, lambda chat, _: CAMP if len(chat[-1]["content"]) % 2 == 1 else "?", {}),
        "part": (outcomes, lambda *_: CAMP, {"limit": 3}),
        "twice": (outcomes, lambda *_: CAMP if next(turns) % 3 else "?", {"epochs": 2}),
        "none": (outcomes, lambda *_: "", {}),
        "game": ("casino deals", lambda *_: "[Walk-Away]", {}),
        "swapped": ("casino deals", lambda *_: "[Walk-Away]", {"swap": True, "limit": 1}),
        "duo": ("duo agreement", lambda *_: '{"score": 3}', {}),
    }
    return {
        name: Path(inspect_runs.ask(task, reply, sample_build, folder / name, name=name, **given))
        for name, (task, reply, given) in asked.items()
    }


def changed(log, path, change):
    """Write a changed copy of a log."""
    from inspect_ai.log import read_eval_log, write_eval_log

    change(opened := read_eval_log(str(log)))
    write_eval_log(opened, str(path))
    return path


@pytest.fixture
def compared(sample_build, run):
    """Return a function that compares logs by the command; returns its tables."""

    def compared(*args):
        status, out, err = run("compare", *args, "--build", sample_build, "--json")
        assert not status, err
        return json.loads(out)["tasks"]

    return compared


def names(problems):
    return [each.partition(":")[0] for each in problems]


def test_logs_are_compared_by_task(logs, compared, sample_build, run):
    given = ("one", "half", "twice", "game", "swapped")
    outcomes, deals = compared(*(logs[name] for name in given))
    first, half, twice = outcomes["logs"]
    assert outcomes["lower_is_better"] == ["mae"]
    assert (first["differences"], first["unreadable"], first["coverage"]) == ({}, 0, 1)
    for other in (half, twice):
        by = other["differences"]["likeness"]
        due = other["metrics"]["likeness"] - first["metrics"]["likeness"]
        assert by["value"] == pytest.approx(due)
        assert by["value"] < 0
        assert by["interval"]["low"] <= by["value"] <= by["interval"]["high"]
        asked, run_of = other["asked"], other["run"]
        assert (run_of["input_tokens"], run_of["output_tokens"]) == (7 * asked, 3 * asked)
        assert run_of["cost"] is None  # as inspect knows no price of it
        assert 0 < other["unreadable"] < asked
    tested = [by for log in (half, twice) for by in log["differences"].values() if by["p"]]
    assert [by["p_holm"] for by in tested] == holm([by["p"] for by in tested])
    assert len(tested) > 2
    assert (half["settings"], names(twice["settings"])) == ([], ["epochs"])
    assert twice["asked"] == 2 * half["asked"]
    walked, swapped = deals["logs"]
    assert (swapped["metrics"], names(swapped["differs"])) == ({}, ["swap"])
    assert walked["label"] == "mturk_agent_1=mockllm/game, mturk_agent_2=mockllm/game"
    assert "unreadable" not in walked["metrics"]
    assert walked["metrics"]["points"] == {"mturk_agent_1": 5, "mturk_agent_2": 5}
    shown = run("compare", logs["game"], "--metric", "points", "--build", sample_build).stdout
    assert "points mturk_agent_1" in shown


def test_logs_of_other_parts_or_rows_are_marked_and_not_compared(logs, compared, tmp_path):
    other = changed(
        logs["one"], tmp_path / "other.eval", lambda log: log.eval.metadata.update(rows="0" * 64)
    )
    (table,) = compared(other, logs["one"], logs["part"])
    rows, first, part = table["logs"]
    assert table["first"] == str(logs["one"])
    assert (rows["metrics"], names(rows["differs"])) == ({}, ["rows"])
    assert part["metrics"].keys() == first["metrics"].keys() == {"satisfaction", "likeness"}
    assert (first["differs"], names(part["differs"])) == ([], ["part"])
    assert rows["differences"] == first["differences"] == part["differences"] == {}


def test_what_cannot_be_compared_is_refused(logs, sample_build, run, tmp_path):
    log, file = logs["one"], tmp_path / "mine.jsonl"
    file.write_text("{}")
    for status, *given in (
        (2, tmp_path),  # without a log
        (2, log, "--metric", "f1"),
        (2, logs["none"], "--unreadable", "drop"),  # which leaves no answer
        (2, log, "--unreadable", "right"),
        (2, tmp_path / "none.eval"),
        (2, file),  # of which task?
        (2, log, logs["duo"], file),
        (2, file, "--task", "casino/nothing"),
        (1, logs["duo"], file),  # of another task
    ):
        assert run("compare", *given, "--build", sample_build)[0] == status, given


def test_answers_that_one_log_lacks_are_in_the_differences_of_no_mean_over_readable_ones(
    logs, compared, sample_build, run
):
    given = (logs["one"], logs["half"], "--metric", "likeness", "--metric", "mae.likeness")
    first, second = compared(*given)[0]["logs"]
    rows = second["asked"]
    read = rows - second["unreadable"]
    assert second["coverage"] == read / rows
    assert first["metrics"]["mae"] != second["metrics"]["mae"]
    by = second["differences"]
    assert (by["mae"]["likeness"]["value"], by["mae"]["likeness"]["rows"]) == (0, read)
    assert by["likeness"]["rows"] is None
    assert f"{read / rows:.1%}" in run("compare", *given, "--build", sample_build).stdout
    drop = "--unreadable", "drop"
    (table,) = compared(*given, *drop)
    assert (table["policy"], table["logs"][0]["metrics"]) == ("drop", first["metrics"])
    second = table["logs"][1]
    args = "casino", "outcomes", logs["half"], *drop, "--build", sample_build, "--json"
    alone = json.loads(run("score", *args).stdout)["metrics"]
    assert second["coverage"] == read / rows
    assert second["metrics"]["mae"]["likeness"] == pytest.approx(alone["mae"]["likeness"])
    assert second["metrics"]["likeness"] == pytest.approx(alone["likeness"])
    by = second["differences"]["likeness"]
    assert (by["value"], by["rows"]) == (0, read)


def test_an_unfinished_log_of_a_folder_is_marked_and_one_by_name_is_an_error(
    logs, compared, sample_build, run, tmp_path
):
    def cut(log):
        log.status, log.samples = "cancelled", log.samples[:2]

    (tmp_path / "all.eval").write_bytes(whole := logs["one"].read_bytes())
    (tmp_path / "damaged.eval").write_bytes(whole[:-2000])
    changed(logs["one"], tmp_path / "part.eval", cut)
    done, unfinished = compared(tmp_path)[0]["logs"]
    assert (done["label"], done["differs"]) == ("mockllm/one", [])
    assert unfinished["metrics"] == {}
    assert "cancelled" in unfinished["differs"][0]
    assert "damaged.eval" in run("compare", tmp_path, "--build", sample_build).stderr
    for name, status in (("part", 1), ("damaged", 1), ("absent", 2)):
        given = [tmp_path, tmp_path / f"{name}.eval"]
        assert run("compare", *given, "--build", sample_build)[0] == status
    with pytest.raises(UsageError):
        parley.compare(build=sample_build)


def test_files_of_predictions_are_compared_with_logs(logs, compared, sample_build, run, tmp_path):
    file, given = tmp_path / "mine.jsonl", ("--build", sample_build)
    save = "--baseline", "commonest", "--save-predictions", file
    assert run("score", "casino", "outcomes", *save, *given).returncode == 0
    for name, limit in (("one", 0), ("part", 3)):
        one, mine = compared(logs[name], file)[0]["logs"]
        assert (mine["label"], mine["differs"], mine["run"]) == ("mine", [], {})
        alone = run("score", "casino", "outcomes", file, "--limit", limit, "--json", *given)
        due = json.loads(alone.stdout)["metrics"]
        assert mine["metrics"] == {name: due[name] for name in mine["metrics"]}
        by = mine["differences"]["likeness"]["value"]
        assert by == pytest.approx(mine["metrics"]["likeness"] - one["metrics"]["likeness"])
    whole = compared(file, "--task", "casino/outcomes")
    assert whole[0]["first"] == str(file)
    (ids := tmp_path / "ids").write_text("2001\n")
    for part in (("--limit", 3), ("--ids", ids)):
        given_part = *part, "--json", *given
        due = json.loads(run("score", "casino", "outcomes", file, *given_part).stdout)["metrics"]
        for found in compared(file, file, "--task", "casino/outcomes", *part)[0]["logs"]:
            assert found["metrics"] == {name: due[name] for name in found["metrics"]}
        assert run("compare", logs["one"], file, *given_part)[0] == 2  # a log of all
