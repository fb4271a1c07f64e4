"""CaSiNo's tasks against plain loops: what a score must be, on the sample and on the real data."""

import random
import re
from itertools import groupby, permutations, product
from statistics import mean, median

import numpy as np
import pytest
from build_changes import in_memory
from sklearn import metrics

from parley.base.errors import RecordError
from parley.base.numbers import agrees
from parley.builds.built_folder import open_folder
from parley.scoring.evaluate import score
from parley.scoring.gold import Part

SEVEN = ["small-talk", "self-need", "other-need", "no-need", "elicit-pref", "uv-part", "vouch-fair"]
ITEMS = ["Food", "Water", "Firewood"]
SIDES = ["mturk_agent_1", "mturk_agent_2"]
_SCALE = "Extremely dis{0}|Slightly dis{0}|Undecided|Slightly {0}|Extremely {0}"  # from the lowest
SCALES = {"satisfaction": "satisfied", "likeness": "like"}
SCALES = {name: _SCALE.format(word).split("|") for name, word in SCALES.items()}
WORTH = {"High": 5, "Medium": 4, "Low": 3}
ORDERS = [" > ".join(order) for order in permutations(ITEMS)]


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

    def scored(task, fields, **options):
        names = built.dataset.tasks[task].key
        found = [dict(zip(names, key, strict=True)) | each for key, each in fields.items()]
        return score(built, task, options, predictions=found).score

    return scored


def same(found, due):
    """Hold numbers, in mappings as deep as may be, to be the same but for rounding."""
    for name in found.keys() | due.keys() if isinstance(due, dict) else ():
        same(found[name], due[name])
    assert isinstance(due, dict) or found == pytest.approx(due, abs=1e-9)


def test_a_question_shows_the_turns_before_its_moment_and_no_other(built):
    """Each text is the number of its turn here."""
    rows = [
        {**row, "text": f"turn {row['turn']}.", "act": bool(row["data"] or row["issue2youget"])}
        for row in built.rows("utterances", "train")
    ]
    chats = {n: [*chat] for n, chat in groupby(rows, lambda row: row["dialogue_id"])}
    built = built.copy_with_rows({("utterances", "train"): rows})
    for name in ("beliefs", "decisions", "bids", "partner-priorities"):
        task = built.dataset.tasks[name]
        for options in task.ids(name).values():
            at = options.get("at", "turns")
            for question in task.asking.questions(built, **options):
                number, side, *turn = question.key
                chat = chats[number]
                theirs = [r["turn"] for r in chat if r["speaker"] != side and not r["act"]]
                end = theirs[int(at[-1]) - 1] + 1 if "after" in at else len(chat)
                assert turn in ([], [end]) or (at == "turns" and chat[turn[0]]["speaker"] == side)
                before = chat[: turn[0] if turn else end]
                talk = question.user.split("The talk")[1]
                shown = re.findall(r"(?m)^(You|Partner): (?:turn (\d+)\.|\[I )", talk)
                if name == "partner-priorities":
                    before = [r for r in before if not r["act"]]
                names = ["You" if r["speaker"] == side else "Partner" for r in before]
                turns = ["" if r["act"] else str(r["turn"]) for r in before]
                assert shown == [*zip(names, turns, strict=True)]


@pytest.mark.parametrize("much", [0.0, 0.1, 0.9])  # of the labels are others
def test_strategies(built, scored, much):
    rows, draw, said = built.rows_with_names("strategies", "train"), random.Random(0), {}
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


def orders_of(built):
    """Return the order of the items of each side, from high to low."""
    return {
        (row["dialogue_id"], row["speaker"]): [row[f"priority_{w.lower()}"] for w in WORTH]
        for row in built.rows("participants", "train")
    }


def test_partner_priorities(built, scored):
    draw, orders = random.Random(0), orders_of(built)
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


@pytest.mark.parametrize("at", ["turns", "after-3", "end"])
def test_beliefs(built, scored, at):
    """Probabilities that are sure, tied, rounded, wrong or unreadable."""
    gold = built.dataset.tasks["beliefs"].gold(built, at)
    draw, said = np.random.default_rng(0), {}
    for number, key in enumerate(gold):
        chances = draw.dirichlet([0.5] * 6).round(2)
        sure, tied = np.eye(6)[draw.integers(6)], np.array([0.5, 0, 0, 0, 0.5, 0])
        said[key] = (chances, sure, tied, np.roll([0.5] + [0.1] * 5, number // 4))[number % 4]
        said[key] = said[key] * 0.9 if number % 8 == 7 else said[key]  # another sum
    lost = {key: {"unreadable": "?"} for key in [*gold][2::9]}
    answers = {key: believed(map(float, each)) for key, each in said.items()}
    found = scored("beliefs", answers | lost, at=at)
    read = {key: each / each.sum() for key, each in said.items() if key not in lost}
    places = {key: ORDERS.index(max(p := gold[key]["probabilities"], key=p.get)) for key in gold}
    truth, chances = [places[key] for key in read], np.array([*read.values()])
    share, lacking = len(read) / len(gold), len(lost) / len(gold)
    brier = metrics.brier_score_loss(truth, chances, labels=range(6)) * share + 2 * lacking
    same(found.metrics["brier"], brier)
    others = len({*[*gold][7::8]} - lost.keys())
    assert found.counts.get("sums other than 1", 0) == others
    log_loss = -np.log(np.maximum(chances[range(len(truth)), truth], 0.005)).mean()
    same(found.metrics["log_loss"], log_loss * share - np.log(0.005) * lacking)
    exact, top, bins, by_k = {}, [], {}, {}
    for key, each in read.items():
        due = places[key]
        most = [n for n in range(6) if each[n] > max(each) - 1e-9]
        exact[key] = (due in most) / len(most)
        firsts = [sum(each[n] for n in range(6) if ORDERS[n].startswith(item)) for item in ITEMS]
        best = [item for item, p in zip(ITEMS, firsts, strict=True) if p > max(firsts) - 1e-9]
        top.append((ORDERS[due].split(" > ")[0] in best) / len(best))
        bins.setdefault(int(np.ceil(max(each) * 10 - 1e-9)), []).append((max(each), exact[key]))
    same(found.metrics["exact_order"], sum(exact.values()) / len(gold))
    same(found.metrics["top_1"], sum(top) / len(gold))
    away = [abs(sum(p for p, _ in each) - sum(r for _, r in each)) for each in bins.values()]
    same(found.metrics["calibration_error"], sum(away) / len(read))
    assert [each.count for each in found.calibration] == [len(bins[n]) for n in sorted(bins)]
    for key, each in gold.items():
        by_k.setdefault("6+" if each["k"] > 5 else str(each["k"]), []).append(exact.get(key, 0))
    for k, each in by_k.items() if at == "turns" else ():
        same(found.metrics["exact_order_by_k"][k], mean(each))


def test_decisions(built, scored):
    draw, task = random.Random(0), built.dataset.tasks["decisions"]
    gold = {key: each["decision"] for key, each in task.gold(built).items()}
    said = {key: draw.choice([due, "accept", "reject", "walk_away"]) for key, due in gold.items()}
    lost = {key: {"unreadable": "?"} for key in [*gold][::9]}
    found = scored("decisions", {key: {"decision": each} for key, each in said.items()} | lost)
    pair = [*gold.values()], ["" if key in lost else each for key, each in said.items()]
    accepts = [[each == "accept" for each in of] for of in pair]
    same(found.metrics["f1_accept"], metrics.f1_score(*accepts))
    same(found.metrics["accuracy"], metrics.accuracy_score(*pair))
    recall = metrics.recall_score(*pair, labels=sorted({*pair[0]}), average="macro")
    same(found.metrics["balanced_accuracy"], recall)


def test_bids(built, scored):
    draw, orders = random.Random(0), orders_of(built)
    gold = {
        (row["dialogue_id"], row["speaker"], row["turn"]): row["issue2youget"]
        for row in built.rows("utterances", "train")
        if row["issue2youget"]
    }
    said = {key: {item: draw.randrange(4) for item in ITEMS} for key in gold}
    lost = {key: {"unreadable": "?"} for key in [*gold][::9]}
    found, cosines, exact, away = scored("bids", said | lost), [], [], []
    for key in gold.keys() - lost.keys():
        mine, theirs = (np.array([of[key][item] for item in ITEMS]) for of in (said, gold))
        one, other = (np.append(own, 3 - own) for own in (mine, theirs))
        cosines.append(one @ other / np.linalg.norm(one) / np.linalg.norm(other))
        exact.append(said[key] == gold[key])
        both = [orders[key[0], side] for side in sorted(SIDES, key=key[1].__ne__)]
        worth = [[5 - order.index(item) for item in ITEMS] for order in both]
        away.append([abs((one - other)[:3] @ worth[0]), abs((one - other)[3:] @ worth[1])])
    same(found.metrics["cosine"], sum(cosines) / len(gold))
    same(found.metrics["exact"], sum(exact) / len(gold))
    same(found.metrics["points_mae"], dict(zip(("own", "partner"), np.mean(away, 0), strict=True)))


def test_scores_are_those_of_the_paper_where_its_input_is_known(real_build):
    """Equal probabilities, and a planner that accepts every deal: arXiv 2605.04507."""
    built = open_folder(real_build / "casino")
    part = Part("bond2026-agent-1")
    uniform = score(built, "beliefs", {}, baseline="uniform", part=part)
    assert uniform.score.metrics["brier"] / 6 == pytest.approx(5 / 36, abs=1e-12)
    stated = {of.metrics.get("brier"): of.rule for of in uniform.references}
    papers = {number: re.findall(r"paper's (\d\.\d+)", rule) for number, rule in stated.items()}
    of_paper = [n for n, paper in papers.items() if paper and agrees(n, 6 * float(*paper))]
    assert of_paper == ["0.51", "0.68", "1.16"]
    few = score(built, "decisions", {}, baseline="half", part=Part(limit=40))
    each = uniform.without_interval, uniform.without_interval, few.without_interval
    names = "brier", "calibration_error", "f1_accept"
    assert len({of[name,] for of, name in zip(each, names, strict=True)}) == 3  # reasons
    accepted = score(built, "decisions", {}, baseline="accept", part=part).score
    assert f"{accepted.metrics['f1_accept']:.4f}" == "0.9259"
    of_both_sides = built.dataset.tasks["decisions"].baselines["accept"](built)
    assert score(built, "decisions", {}, predictions=of_both_sides, part=part).score == accepted


def test_references_after_k_utterances_are_those_of_their_source(real_build):
    """Of as many sides, and together its weighted means; the audit file states the latter."""
    built, found = open_folder(real_build / "casino"), []
    task = built.dataset.tasks["partner-priorities"]
    for reference in task.references:
        if "8B" in reference.name:
            rows = len(task.gold(built, **reference.options))
            found.append([rows, *map(float, reference.metrics.values())])
    rows, *metrics = np.array(found).T
    assert [*rows] == [2060, 2060, 2060, 2058, 2052]
    means = [np.average(each, weights=range(5, 0, -1)) for each in metrics]
    assert means == pytest.approx([53.84, 76.21], abs=0.005)


def test_outcomes(built, scored):
    draw, gold = random.Random(0), {}
    for row in built.rows_with_names("participants", "train"):
        answers = {"satisfaction": row["satisfaction"], "likeness": row["opponent_likeness"]}
        gold[row["dialogue_id"], row["speaker"]] = answers
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
    people = built.dataset.tasks["deals"].baselines["people"](built)
    told = [{name: each[name] for name in ("dialogue_id", "allocation")} for each in people]
    final = score(built, "final-deal", {}, predictions=told).score
    assert final.metrics == {"exact": 1, "items": 1}


def waters(mine, theirs):
    """Return an allocation with so many packages of water a side."""
    first = {"Food": 1, "Water": mine, "Firewood": 2}
    other = {"Food": 2, "Water": theirs, "Firewood": 1}
    return {"allocation": dict(zip(SIDES, (first, other), strict=True))}


def believed(chances):
    """Return probabilities of the first orders, and 0 of the others."""
    return {"probabilities": dict.fromkeys(ORDERS, 0) | dict(zip(ORDERS, chances, strict=False))}


NO_DEAL = {"allocation": None}


@pytest.mark.parametrize(("task", "fields", "path"), [
    ("strategies", {"labels": ["showing-empathy"]}, r"labels\[0\]"),
    ("strategies", {"labels": ["no-need"] * 2}, "labels"),
    ("partner-priorities", {"order": ITEMS[:2]}, "order"),
    ("partner-priorities", {"order": [*ITEMS[:2], "Food"]}, "order"),
    ("beliefs", believed([0]), "probabilities: "),
    ("beliefs", believed([1.1, -0.1]), f"{ORDERS[0]}.*\n.*{ORDERS[1]}"),
    ("beliefs", {"probabilities": dict.fromkeys(ORDERS[1:], 0.2)}, "probabilities"),
    ("beliefs", {"probabilities": believed([1])["probabilities"] | {"Wood": 0}}, "Wood"),
    ("beliefs", believed([float("nan"), 1]), f"probabilities.{ORDERS[0]}"),
    ("bids", {"Water": 4}, "Water"), ("deals", waters(4, -1), "Water"),
    ("deals", waters(1, 1), "allocation: .* Water .*1 \\+ 1"),
    ("deals", {"end": "turn_limit"}, "end"), ("deals", {"walked_away": SIDES[0]}, "walked_away"),
    ("deals", NO_DEAL | {"end": "turn_limit", "walked_away": SIDES[0]}, "walked_away"),
    ("deals", NO_DEAL | {"walked_away": "buyer"}, "walked_away"),
    ("deals", {"turns": {SIDES[0]: 3}}, "turns.mturk_agent_2"),
    ("deals", {"malformed": {SIDES[0]: 3, SIDES[1]: -1}}, "malformed.mturk_agent_2"),
])  # fmt: skip
def test_what_a_prediction_may_not_say(sample_build, task, fields, path):
    built = open_folder(sample_build / "casino")
    declared = built.dataset.tasks[task]
    first, *rest = next(iter(declared.baselines.values()))(built, **declared.chosen({}))
    with pytest.raises(RecordError, match=rf"prediction 1 \(dialogue_id 200\d.*\): .*{path}.*: "):
        score(built, task, {}, predictions=[{**first, **fields}, *rest])
