"""CaSiNo's tasks against plain loops: what a score must be, on the sample and on the real data."""

import random
from itertools import product
from statistics import mean, median

import pytest

from parley.base.errors import RecordError
from parley.building.folder import open_folder
from parley.tasks.evaluate import score

SEVEN = ["small-talk", "self-need", "other-need", "no-need", "elicit-pref", "uv-part", "vouch-fair"]
ITEMS = ["Food", "Water", "Firewood"]
SIDES = ["mturk_agent_1", "mturk_agent_2"]
_SCALE = "Extremely dis{0}|Slightly dis{0}|Undecided|Slightly {0}|Extremely {0}"  # from the lowest
SCALES = {
    "satisfaction": _SCALE.format("satisfied").split("|"),
    "likeness": _SCALE.format("like").split("|"),
}
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
    """Score predictions of a task."""
    return lambda task, predictions: score(built, task, {}, found=predictions).score


def same(found, due):
    """Hold numbers, in mappings as deep as may be, to be the same but for rounding."""
    for name in found.keys() | due.keys() if isinstance(due, dict) else ():
        same(found[name], due[name])
    assert isinstance(due, dict) or found == pytest.approx(due, abs=1e-9)


def by_fold(rows):
    """Return the rows of each fold."""
    folds = sorted({row["fold"] for row in rows})
    return [[row for row in rows if row["fold"] == fold] for fold in folds]


def test_strategies(built, scored):
    rows = built.named("strategies", "train")
    draw = random.Random(0)
    for much in (0.0, 0.1, 0.9):  # of the labels are others
        predictions = []
        for row in rows:
            labels = [s for s in SEVEN if (s in row["labels"]) != (draw.random() < much)]
            row["guess"] = {*labels}
            key = {name: row[name] for name in ("dialogue_id", "turn")}
            predictions.append(key | {"labels": draw.sample(labels, len(labels))})
        found = scored("strategies", predictions)
        f1, joint = {label: [] for label in SEVEN}, []
        for part in by_fold(rows):
            pairs = [({*row["labels"]} & {*SEVEN}, row["guess"]) for row in part]
            joint.append(100 * mean(truth == guess for truth, guess in pairs))
            for label in SEVEN:
                hits = sum(label in truth and label in guess for truth, guess in pairs)
                named = sum((label in truth) + (label in guess) for truth, guess in pairs)
                f1[label].append(200 * hits / named if named else None)

        def mean_of_known(values):
            return mean(value for value in values if value is not None)

        each = [mean_of_known(part) for part in zip(*f1.values(), strict=True)]
        by_label = {label: mean_of_known(values) for label, values in f1.items()}
        due = {"f1": mean(each), "joint_accuracy": mean(joint), "f1_by_label": by_label}
        same(found.metrics, due)
        assert found.counts["utterances"] == len(rows)


class WithoutLabels:
    """The rows of a build, but that no utterance has a label."""

    def __init__(self, built):
        self.built = built

    def named(self, config, split):
        return [row | {"labels": []} for row in self.built.named(config, split)]


def test_a_label_that_never_occurs_is_not_predicted(sample_build):
    built = open_folder(sample_build / "casino")
    for baseline in built.dataset.tasks["strategies"].baselines.values():
        predictions = list(baseline(WithoutLabels(built)))
        assert len(predictions) == len(built.rows("strategies", "train"))
        assert not any(prediction["labels"] for prediction in predictions)


def test_partner_priorities(built, scored):
    rows = built.rows("participants", "train")
    rows = {(row["dialogue_id"], row["speaker"]): row for row in rows}
    orders = {key: [row[f"priority_{w.lower()}"] for w in WORTH] for key, row in rows.items()}
    draw = random.Random(0)
    guessed = {key: draw.sample(ITEMS, 3) for key in orders}
    for key in draw.sample([*guessed], len(guessed) // 3):
        guessed[key][1:] = [None, None]
    keys = ("dialogue_id", "speaker", "order")
    predictions = [dict(zip(keys, (*key, order), strict=True)) for key, order in guessed.items()]
    found = scored("partner-priorities", predictions)
    exact, first = [], []
    for fold in built.rows("priority_folds", "train"):
        sides = [(number, *pair) for number in fold["test"] for pair in (SIDES, SIDES[::-1])]
        pairs = [(guessed[number, one], orders[number, other]) for number, one, other in sides]
        exact.append(100 * mean(guess == truth for guess, truth in pairs))
        first.append(100 * mean(guess[0] == truth[0] for guess, truth in pairs))
    same(found.metrics, {"exact_order": mean(exact), "top_1": mean(first)})
    # the participants' own guesses as they stand
    both, highest = [], []
    for (number, side), row in rows.items():
        partner = rows[number, SIDES[side == SIDES[0]]]
        highest.append(row["guess_partner_highest_item"] == partner["priority_high"])
        right = row["guess_partner_lowest_item"] == partner["priority_low"]
        both.append(highest[-1] and right)
    found = score(built, "partner-priorities", {}, baseline="guesses").score
    # the folds have equally many dialogues, so that the mean over them is that over all sides
    same(found.metrics, {"exact_order": 100 * mean(both), "top_1": 100 * mean(highest)})


def test_outcomes(built, scored):
    metrics = pytest.importorskip("sklearn.metrics", reason="it is in the extra `tasks`")
    task, draw = built.dataset.tasks["outcomes"], random.Random(0)
    gold = {key: dict(task.target(each)) for key, each in task.gold(built).items()}
    said = {key: {n: draw.choice(scale) for n, scale in SCALES.items()} for key in gold}
    unread = next(iter(said))
    predictions = [
        {"dialogue_id": key[0], "speaker": key[1]}
        | (each if key != unread else {"unreadable": "?"})
        for key, each in said.items()
    ]
    found = scored("outcomes", predictions)
    for name, scale in SCALES.items():
        pairs = [(gold[k][name], said[k][name]) for k in gold if k != unread]
        right = sum(due == answer for due, answer in pairs) / len(gold)
        due, answers = ([scale.index(each) for each in side] for side in zip(*pairs, strict=True))
        kappa = metrics.cohen_kappa_score(due, answers, weights="quadratic", labels=range(5))
        same(found.metrics[name], right)
        same(found.metrics["quadratic_kappa"][name], kappa)
        same(found.metrics["mae"][name], metrics.mean_absolute_error(due, answers))


def test_deals(built, scored):
    scenarios = built.rows("scenarios", "train")
    draw = random.Random(0)
    predictions, points, best, optimal, walked = [], [], [], [], []
    for row in scenarios:
        mine = {item: draw.randrange(4) for item in ITEMS}
        shares = {SIDES[0]: mine, SIDES[1]: {item: 3 - mine[item] for item in ITEMS}}
        walked.append(draw.random() < 0.2)
        allocation = None if walked[-1] else shares
        turns = {side: draw.randrange(9) for side in SIDES}
        given = {"turns": turns, "malformed": {SIDES[0]: 0, SIDES[1]: turns[SIDES[1]] // 3}}
        given |= {"walked_away": draw.choice(SIDES)} if walked[-1] else {}
        key = {"dialogue_id": row["dialogue_id"]}
        predictions.append(key | {"allocation": allocation} | given)

        def worth(side, items, row=row):
            order = row[side]["value2issue"]
            return sum(WORTH[level] * items[order[level]] for level in WORTH)

        ways = [dict(zip(ITEMS, each, strict=True)) for each in product(range(4), repeat=3)]
        # the other side's packages, in the same order
        pairs = zip(ways, reversed(ways), strict=True)
        every = [(worth(SIDES[0], one), worth(SIDES[1], other)) for one, other in pairs]
        got = (5, 5) if walked[-1] else tuple(worth(side, shares[side]) for side in SIDES)
        points.append(got)
        best.append(max(one + other for one, other in every))
        better = [e for e in every if e[0] >= got[0] and e[1] >= got[1] and sum(e) > sum(got)]
        optimal.append(not better)
    found = scored("deals", predictions)
    joint = [sum(got) for got in points]
    agreed = [place for place, gone in enumerate(walked) if not gone]

    def by_side(value):
        return {side: mean(value(each, side) for each in predictions) for side in SIDES}

    due = {
        "deals": 1 - mean(walked),
        "walked_away": by_side(lambda each, side: each.get("walked_away") == side),
        "turns": by_side(lambda each, side: each["turns"][side]),
        "malformed": by_side(lambda each, side: each["malformed"][side]),
        "points": {SIDES[n]: mean(got[n] for got in points) for n in range(2)},
        "joint_points": mean(joint),
        "share_of_most": mean(joint[each] / best[each] for each in agreed),
        "pareto_optimal": mean(optimal),
        "walk_aways": mean(walked),
        "median_points": {SIDES[n]: median(got[n] for got in points) for n in range(2)},
        "fairness": mean(min(points[each]) / joint[each] for each in agreed),
        "below_walk_away": {SIDES[n]: mean(got[n] < 5 for got in points) for n in range(2)},
        "turn_limits": 0,
        "unreadable": 0,
    }
    same(found.metrics, due)
    assert found.counts == {"scenarios": len(scenarios), "deals": walked.count(False)}


def test_what_people_agreed_on_has_the_points_that_are_recorded(built):
    sides = built.rows("participants", "train")
    found = score(built, "deals", {}, baseline="people").score
    for side in SIDES:
        due = mean(row["points_scored"] for row in sides if row["speaker"] == side)
        assert found.metrics["points"][side] == pytest.approx(due, abs=1e-9)
    assert found.counts["deals"] == sum(row["deal"] for row in sides) / 2
    scenarios = found.counts["scenarios"]
    said = built.rows("utterances", "train")
    for side in SIDES:
        own = [row for row in said if row["speaker"] == side]
        left = sum(row["data"] == "walk_away" for row in own)
        assert found.metrics["turns"][side] == pytest.approx(len(own) / scenarios, abs=1e-9)
        assert found.metrics["walked_away"][side] == pytest.approx(left / scenarios, abs=1e-9)
    assert found.metrics["walk_aways"] == pytest.approx(sum(found.metrics["walked_away"].values()))


def waters(mine, theirs):
    """Return an allocation with so many packages of water a side."""
    rest = {"Food": 1, "Firewood": 2}
    other = {item: 3 - count for item, count in rest.items()}
    return {SIDES[0]: rest | {"Water": mine}, SIDES[1]: other | {"Water": theirs}}


NO_DEAL = {"allocation": None}


@pytest.mark.parametrize(
    ("task", "fields", "path"),
    [
        ("strategies", {"labels": ["showing-empathy"]}, r"labels\[0\]"),
        ("strategies", {"labels": ["no-need"] * 2}, "labels"),
        ("strategies", {"labels": "no-need"}, "labels"),
        ("partner-priorities", {"order": ITEMS[:2]}, "order"),
        ("partner-priorities", {"order": [*ITEMS[:2], "Wood"]}, "order"),
        ("partner-priorities", {"order": [*ITEMS[:2], "Food"]}, "order"),
        ("partner-priorities", {"order": [{}, 1, True]}, "order"),
        ("deals", {"allocation": waters(1, 1)}, "allocation: .* Water .*1 \\+ 1"),
        ("deals", {"allocation": waters(4, -1)}, "Water"),
        ("deals", {"allocation": waters(1.0, 2)}, "Water"),
        ("deals", {"allocation": waters(True, 2)}, "Water"),
        ("deals", {"allocation": {}}, "allocation.mturk_agent_1"),
        ("deals", {"end": "turn_limit"}, "end"),
        ("deals", {"walked_away": SIDES[0]}, "walked_away"),
        ("deals", NO_DEAL | {"end": "turn_limit", "walked_away": SIDES[0]}, "walked_away"),
        ("deals", NO_DEAL | {"walked_away": "buyer"}, "walked_away"),
        ("deals", {"turns": {SIDES[0]: 3}}, "turns.mturk_agent_2"),
        ("deals", {"malformed": {SIDES[0]: 3, SIDES[1]: -1}}, "malformed.mturk_agent_2"),
    ],
)
def test_what_a_prediction_may_not_say(sample_build, task, fields, path):
    baselines = {"strategies": "majority", "partner-priorities": "guesses", "deals": "people"}
    built = open_folder(sample_build / "casino")
    first, *rest = built.dataset.tasks[task].baselines[baselines[task]](built)
    with pytest.raises(RecordError, match=rf"prediction 1 \(dialogue_id 200\d.*\): .*{path}.*: "):
        score(built, task, {}, found=[{**first, **fields}, *rest])
