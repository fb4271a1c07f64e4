"""CaSiNo's tasks against plain loops: what a score must be, on the sample and on the real data."""

import random
from itertools import product
from statistics import mean, median

import numpy as np
import pytest
from build_changes import in_memory

from parley.base.errors import RecordError
from parley.rows.built_folder import open_folder
from parley.tasks.evaluate import score

metrics = pytest.importorskip("sklearn.metrics", reason="it is in the extra `tasks`")

SEVEN = ["small-talk", "self-need", "other-need", "no-need", "elicit-pref", "uv-part", "vouch-fair"]
ITEMS = ["Food", "Water", "Firewood"]
SIDES = ["mturk_agent_1", "mturk_agent_2"]
_SCALE = "Extremely dis{0}|Slightly dis{0}|Undecided|Slightly {0}|Extremely {0}"  # from the lowest
SCALES = {"satisfaction": "satisfied", "likeness": "like"}
SCALES = {name: _SCALE.format(word).split("|") for name, word in SCALES.items()}
WORTH = {"High": 5, "Medium": 4, "Low": 3}


@pytest.fixture(params=["sample", "real"])
def built(request):
    """The sample's build and, where upstream's files are at hand, the real one."""
    folder = request.getfixturevalue(f"{request.param}_build") / "casino"
    if not folder.is_dir():
        pytest.skip("nothing of casino is in PARLEY_SOURCE")
    return open_folder(folder)


@pytest.fixture
def scored(built):
    """Score predictions of a task: a mapping of keys to fields."""

    def scored(task, fields):
        names = built.dataset.tasks[task].key
        found = [dict(zip(names, key, strict=True)) | each for key, each in fields.items()]
        return score(built, task, {}, predictions=found).score

    return scored


def same(found, due):
    """Hold numbers, in mappings as deep as may be, to be the same but for rounding."""
    for name in found.keys() | due.keys() if isinstance(due, dict) else ():
        same(found[name], due[name])
    assert isinstance(due, dict) or found == pytest.approx(due, abs=1e-9)


@pytest.mark.parametrize("much", [0.0, 0.1, 0.9])  # of the labels are others
def test_strategies(built, scored, much):
    rows, draw, said = built.named("strategies", "train"), random.Random(0), {}
    for row in rows:
        row["said"] = [s for s in SEVEN if (s in row["labels"]) != (draw.random() < much)]
        said[row["dialogue_id"], row["turn"]] = {
            "labels": draw.sample(row["said"], len(row["said"]))
        }
    f1, joint = [], []
    for fold in {row["fold"] for row in rows}:
        truth, guess = (
            np.array([[s in row[name] for s in SEVEN] for row in rows if row["fold"] == fold])
            for name in ("labels", "said")
        )
        f1.append(100 * metrics.f1_score(truth, guess, average=None, zero_division=np.nan))
        joint.append(100 * metrics.accuracy_score(truth, guess))
    by_label = dict(zip(SEVEN, np.nanmean(f1, axis=0), strict=True))
    due = {"f1": mean(np.nanmean(f1, axis=1)), "joint_accuracy": mean(joint)}
    found = scored("strategies", said)
    same(found.metrics, {**due, "f1_by_label": by_label})
    assert found.counts["utterances"] == len(rows)


def test_a_label_that_never_occurs_is_not_predicted(sample_build):
    built = in_memory(sample_build / "casino")
    rows = built.held["strategies/train"]
    for row in rows:
        row["labels"] = []
    for baseline in built.dataset.tasks["strategies"].baselines.values():
        assert [each["labels"] for each in baseline(built)] == [[] for _ in rows]


def test_partner_priorities(built, scored):
    rows = built.rows("participants", "train")
    orders = {
        (row["dialogue_id"], row["speaker"]): [row[f"priority_{w.lower()}"] for w in WORTH]
        for row in rows
    }
    draw = random.Random(0)
    guessed = {key: draw.sample(ITEMS, 3) for key in orders}
    for key in draw.sample([*guessed], len(guessed) // 3):
        guessed[key][1:] = [None, None]
    found = scored("partner-priorities", {key: {"order": each} for key, each in guessed.items()})
    exact, first = [], []
    for fold in built.rows("priority_folds", "train"):
        sides = [(number, *pair) for number in fold["test"] for pair in (SIDES, SIDES[::-1])]
        pairs = [(guessed[number, one], orders[number, other]) for number, one, other in sides]
        exact.append(100 * mean(guess == truth for guess, truth in pairs))
        first.append(100 * mean(guess[0] == truth[0] for guess, truth in pairs))
    same(found.metrics, {"exact_order": mean(exact), "top_1": mean(first)})


def test_outcomes(built, scored):
    task, draw = built.dataset.tasks["outcomes"], random.Random(0)
    gold = {key: dict(task.target(each)) for key, each in task.gold(built).items()}
    said = {key: {n: draw.choice(scale) for n, scale in SCALES.items()} for key in gold}
    unread, *read = gold
    found = scored("outcomes", said | {unread: {"unreadable": "?"}})
    for name, scale in SCALES.items():
        due, answers = ([scale.index(each[k][name]) for k in read] for each in (gold, said))
        kappa = metrics.cohen_kappa_score(due, answers, weights="quadratic", labels=range(5))
        right = sum(map(int.__eq__, due, answers)) / len(gold)
        same(found.metrics[name], right)
        same(found.metrics["quadratic_kappa"][name], kappa)
        same(found.metrics["mae"][name], metrics.mean_absolute_error(due, answers))


def test_deals(built, scored):
    draw, said, deals, games = random.Random(0), {}, [], []
    ways = [dict(zip(ITEMS, each, strict=True)) for each in product(range(4), repeat=3)]
    pairs = list(zip(ways, reversed(ways), strict=True))  # both sides' packages
    for row in built.rows("scenarios", "train"):

        def points(shares, row=row):
            orders = (row[side]["value2issue"] for side in SIDES)
            sides = zip(orders, shares, strict=True)
            return [sum(WORTH[w] * items[each[w]] for w in WORTH) for each, items in sides]

        every, shares, is_deal = [*map(points, pairs)], draw.choice(pairs), draw.random() < 0.8
        allocation = dict(zip(SIDES, shares, strict=True)) if is_deal else None
        said[row["dialogue_id"],] = {"allocation": allocation}
        got = points(shares) if is_deal else [5, 5]
        better = [e for e in every if e[0] >= got[0] and e[1] >= got[1] and sum(e) > sum(got)]
        games.append((got, not better))
        if is_deal:
            deals.append((sum(got) / max(map(sum, every)), min(got) / sum(got)))
    found = scored("deals", said)
    share_of_most, fairness = map(mean, zip(*deals, strict=True))
    gained = list(zip(SIDES, zip(*(got for got, _ in games), strict=True), strict=True))
    due = {
        "deals": len(deals) / len(games), "walk_aways": 1 - len(deals) / len(games),
        "points": {side: mean(each) for side, each in gained},
        "median_points": {side: median(each) for side, each in gained},
        "below_walk_away": {side: mean(n < 5 for n in each) for side, each in gained},
        "joint_points": mean(sum(got) for got, _ in games),
        "pareto_optimal": mean(optimal for _, optimal in games), "share_of_most": share_of_most,
        "fairness": fairness
    }  # fmt: skip
    same({name: found.metrics[name] for name in due}, due)
    assert found.counts == {"scenarios": len(games), "deals": len(deals)}


def test_what_people_agreed_on_has_the_points_that_are_recorded(built):
    sides = built.rows("participants", "train")
    said = built.rows("utterances", "train")
    found = score(built, "deals", {}, baseline="people").score
    for side in SIDES:
        own = [row["data"] for row in said if row["speaker"] == side]
        points = mean(row["points_scored"] for row in sides if row["speaker"] == side)
        of_side = {name: found.metrics[name][side] for name in ("points", "turns", "walked_away")}
        scenarios = found.counts["scenarios"]
        left = own.count("walk_away") / scenarios
        same(of_side, {"points": points, "turns": len(own) / scenarios, "walked_away": left})
    assert found.counts["deals"] == sum(row["deal"] for row in sides) / 2


def waters(mine, theirs):
    """Return an allocation with so many packages of water a side."""
    first = {"Food": 1, "Water": mine, "Firewood": 2}
    other = {"Food": 2, "Water": theirs, "Firewood": 1}
    return {"allocation": dict(zip(SIDES, (first, other), strict=True))}


NO_DEAL = {"allocation": None}


@pytest.mark.parametrize(("task", "fields", "path"), [
    ("strategies", {"labels": ["showing-empathy"]}, r"labels\[0\]"),
    ("strategies", {"labels": ["no-need"] * 2}, "labels"),
    ("partner-priorities", {"order": ITEMS[:2]}, "order"),
    ("partner-priorities", {"order": [*ITEMS[:2], "Wood"]}, "order"),
    ("partner-priorities", {"order": [*ITEMS[:2], "Food"]}, "order"),
    ("partner-priorities", {"order": [{}, 1, True]}, "order"),
    ("deals", waters(1, 1), "allocation: .* Water .*1 \\+ 1"), ("deals", waters(4, -1), "Water"),
    ("deals", waters(True, 2), "Water"), ("deals", {"allocation": {}}, "allocation.mturk_agent_1"),
    ("deals", {"end": "turn_limit"}, "end"), ("deals", {"walked_away": SIDES[0]}, "walked_away"),
    ("deals", NO_DEAL | {"end": "turn_limit", "walked_away": SIDES[0]}, "walked_away"),
    ("deals", NO_DEAL | {"walked_away": "buyer"}, "walked_away"),
    ("deals", {"turns": {SIDES[0]: 3}}, "turns.mturk_agent_2"),
    ("deals", {"malformed": {SIDES[0]: 3, SIDES[1]: -1}}, "malformed.mturk_agent_2"),
])  # fmt: skip
def test_what_a_prediction_may_not_say(sample_build, task, fields, path):
    baselines = {"strategies": "majority", "partner-priorities": "guesses", "deals": "people"}
    built = open_folder(sample_build / "casino")
    first, *rest = built.dataset.tasks[task].baselines[baselines[task]](built)
    with pytest.raises(RecordError, match=rf"prediction 1 \(dialogue_id 200\d.*\): .*{path}.*: "):
        score(built, task, {}, predictions=[{**first, **fields}, *rest])
