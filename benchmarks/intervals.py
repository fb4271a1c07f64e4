"""Coverage of the 95% intervals: how often they hold the true value, in simulated test sets.

    python benchmarks/intervals.py BUILDS [TASK...|labels|differences]

Test sets have the clusters of the real build: all rows, or so many of them. Where a task has one
kind of cluster, the clusters themselves are drawn; where it has two, they stay, and each row gets
the right answer of a drawn one. A model answers a row rightly with a chance that differs between
clusters of each kind, so that the answers of one agree; else it gives the right answer of another
row, or in a game makes no deal. Of probabilities the right one is only likely to be high. The true
value is the mean over many test sets of all rows.

`labels` has agreement: two annotators say of each turn whether it has a label. How common it is,
and how often they are wrong, differs between dialogues.

`differences` has p of two models: how often it is at most 0.05 if they are alike, and if the second
is worse. Each makes errors of its own, which agree within a cluster. Beside it is the share of a
permutation test that swaps their answers.
"""

import math
import sys
from collections import defaultdict
from collections.abc import Collection
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from parley.base.numbers import is_number
from parley.base.values import flat
from parley.builds.built_folder import open_folder
from parley.declaration.registry import discover
from parley.scoring.agreement import alpha_of, kappa
from parley.scoring.differences import p_of_error
from parley.scoring.gold import load_gold
from parley.scoring.intervals import Metric, Spread
from parley.scoring.metrics import Epoch, Evaluation, Names, TaskRows
from parley.tasks.games import Playing
from parley.tasks.prediction_formats import TREC_RUN

SETS, TRUE = 200, 60  # test sets; those of all rows for the true value
SIZES = (0, 100, 30, 12)  # rows of a test set, 0 for all
MODELS = (0.4, 0.0)  # log odds of a right answer
SPREAD = 0.8  # standard deviation of the log odds between clusters of a kind


class World:
    """A task whose test sets and answers are drawn."""

    def __init__(self, folder: Path, name: str, seed: int) -> None:
        self.built, self.name = open_folder(folder), name
        self.task = self.built.dataset.task(name)
        self.is_run = self.task.format is TREC_RUN
        self.options = self.task.chosen({})
        gold, _ = load_gold(self.built, name, self.options)
        self.rows = TaskRows(self.built, name, self.options, gold)
        self.draw = np.random.default_rng(seed)
        self.answers: dict[Any, Any] = {}
        if self.task.has_right_answers:
            self.answers = {key: self.task.right(answer) for key, answer in gold.items()}
        elif not self.is_run:
            people = self.task.baselines[next(iter(self.task.baselines))]
            for each in people(self.built, **self.options):
                self.answers[tuple(each[field] for field in self.task.key)] = each
        self.by_fold: dict[Any, list[Any]] = {}
        for key, answer in gold.items():
            self.by_fold.setdefault(answer.get("fold"), []).append(key)
        game, self.others = self.task.asking, [*self.answers.values()]
        if isinstance(game, Playing):
            self.others = [{game.agreed: None}]

    def test_set(self, count: int, is_part: bool = True) -> tuple[TaskRows, list[Any]]:
        """Return so many drawn rows, with their clusters, and the predictions of each model."""
        keys, kinds = [*self.rows.gold], [kind for kind in self.rows.clusters if kind]
        members = defaultdict[Any, list[Any]](list)
        for kind in kinds:
            for number, cluster in enumerate(self.rows.clusters[kind]):
                for key in cluster:
                    members[key].append((kind, number))
        copies = [(0, key) for key in keys]
        if len(kinds) == 1:
            (of,) = (self.rows.clusters[kind] for kind in kinds)
            drawn = self.draw.integers(len(of), size=len(of))
            copies = [(number, key) for number, place in enumerate(drawn) for key in of[place]]
        if count:
            chosen = self.draw.choice(len(copies), min(count, len(copies)), replace=False)
            copies = [copies[place] for place in sorted(chosen)]
        effects = defaultdict[Any, Any](lambda: SPREAD * self.draw.normal(size=len(MODELS)))
        found = {kind: defaultdict[Any, list[Any]](list) for kind in self.rows.clusters}
        gold: dict[Any, Any] = {}
        models: list[Any] = [{} for _ in MODELS]
        for number, key in copies:
            own = (f"{number} {key[0]}" if self.is_run else (number, key[0]), *key[1:])
            answer, source = self.rows.gold[key], key
            if len(kinds) > 1 and self.task.has_right_answers:
                alike = self.by_fold[answer.get("fold")]
                source = alike[self.draw.integers(len(alike))]
                answer = self.rows.gold[source]
            of_row = [(number, *each) for each in members[key]]
            for each in of_row:
                found[each[1]][each].append(own)
            if len(kinds) > 1:
                one, other = ([e for e in of_row if e[1] == kind] for kind in kinds)
                for pair in product(one, other):
                    found[""][pair].append(own)
            odds = np.array(MODELS) + sum(effects[each] for each in of_row)
            chances = 1 / (1 + np.exp(-odds))
            if self.is_run:
                judgments = [{**row, "query_id": own[0]} for row in answer["judgments"]]
                answer = {**answer, "judgments": judgments}
            for model, chance in zip(models, chances, strict=True):
                if self.is_run:
                    for row in answer["judgments"]:
                        noise = self.draw.normal() * 4 * (1 - chance)
                        model[own[0], row["document_id"]] = {"score": row["relevance"] + noise}
                else:
                    is_right = self.draw.random() < chance
                    other = self.others[self.draw.integers(len(self.others))]
                    model[own] = self.unsure(self.answers[source] if is_right else other)
            gold[own] = answer
        rows = TaskRows(self.built, self.name, self.options, gold, is_part)
        rows.clusters = {kind: [*of.values()] for kind, of in found.items()}
        return rows, models

    def unsure(self, answer: Any) -> Any:
        """Return an answer with probabilities in steps of 0.01 for those of 0 and 1."""
        if "probabilities" not in answer:
            return answer
        names, due = zip(*answer["probabilities"].items(), strict=True)
        drawn = self.draw.dirichlet([0.4 + 3 * each for each in due]).round(2)
        return {"probabilities": dict(zip(names, drawn / drawn.sum(), strict=True))}

    def coverage(self, count: int, sets: int) -> dict[Names, list[float]]:
        """Return the share of intervals that hold the true value, by metric; of the difference."""
        true: dict[Names, list[list[float]]] = {}
        for _ in range(TRUE):
            rows, models = self.test_set(0, is_part=bool(count))
            scores = [flat(Epoch(rows, model).score.metrics) for model in models]
            for names in scores[0].keys() & scores[1].keys():
                pair = [of[names] for of in scores]
                if all(map(is_number, pair)):
                    true.setdefault(names, []).append(pair)
        means = {names: np.mean(pairs, axis=0) for names, pairs in true.items()}
        held: dict[Names, list[list[bool]]] = {}
        for _ in range(sets):
            rows, models = self.test_set(count, is_part=bool(count))
            one, other = (Evaluation([Epoch(rows, found)]) for found in models)
            for names in means.keys() & one.metrics.keys():
                own, less = means[names]
                known = held.setdefault(names, [[], []])
                by = one.metrics[names].minus(other.metrics[names])
                found = (one.metrics[names].interval, by.interval)
                for kept, interval, number in zip(known, found, (own, own - less), strict=True):
                    if interval:
                        kept.append(bool(interval.low <= number <= interval.high))
        return {
            names: [float(np.mean(each)) if len(each) > sets / 2 else math.nan for each in known]
            for names, known in held.items()
        }


TURNS, GUESSED = 12, 0.15  # turns of a dialogue; the mean share that an annotator guesses


def said(draw: np.random.Generator, share: float, dialogues: int) -> tuple[Any, Any]:
    """Return whether two annotators see a label in each turn, and the dialogue of each."""
    of_turn = np.repeat(np.arange(dialogues), TURNS)
    odds = math.log(share / (1 - share)) + SPREAD * draw.normal(size=dialogues)
    chance = (1 / (1 + np.exp(-odds)))[of_turn]
    guesses = draw.uniform(0, 2 * GUESSED, dialogues)[of_turn]
    has, *others = draw.random((3, len(of_turn))) < chance
    found = np.where(draw.random((2, len(has))) < guesses, others, has)
    return found.astype(int), of_turn


def labels(sets: int = 1000) -> None:
    """Print a table: the share of intervals of alpha and kappa that hold it; how many there are."""
    draw, sizes = np.random.default_rng(0), (8, 15, 30, 60, 100)
    print(f"| a label of | {' | '.join(f'{size} dialogues' for size in sizes)} |")
    for share in (0.01, 0.05, 0.2, 0.5):
        codes, of_turn = said(draw, share, 40_000)
        true, cells = kappa(*codes, of_turn, 2).value, []
        for size in sizes:
            held: list[list[bool]] = [[], []]
            for _ in range(sets):
                codes, of_turn = said(draw, share, size)
                found = alpha_of(codes, of_turn, 2), kappa(*codes, of_turn, 2)
                for kept, metric in zip(held, found, strict=True):
                    if of := metric.interval:
                        kept.append(of.low <= true <= of.high)
            ends = dict.fromkeys(f"{100 * np.mean(of):.0f}" for of in held if len(of) > sets / 20)
            share_of = f" ({100 * len(held[0]) / sets:.0f})" if ends else "none"
            cells.append(" to ".join(ends) + share_of)
        print(f"| {share:.0%} of turns | {' | '.join(cells)} |", flush=True)


SWAPS, WORSE = 99, 1.4  # random swaps; the errors of a model that is worse, of those of another
DRAWN = {  # clusters -> the sizes of all, and in how many of them the models differ
    "60 of 4 rows": ([4] * 60, 60),
    "60 of 1 to 20 rows": ([*range(1, 21)] * 3, 60),
    "10 of 24 rows": ([24] * 10, 10),
    "60 of 4 rows, 10 differ": ([4] * 60, 10),
    "60 of 4 rows, 5 differ": ([4] * 60, 5),
}


def f1(due: Any, found: Any, weights: Any) -> Any:
    """Return F1 of weighted rows, as the following functions do it: over the last axis."""
    return 2 * (weights * due * found).sum(-1) / (weights * (due + found)).sum(-1)


def auc(due: Any, found: Any, weights: Any) -> Any:
    """Return the area under the ROC curve; no two scores are equal."""
    order = np.argsort(np.broadcast_to(found, weights.shape), axis=-1)
    of, due = np.take_along_axis(weights, order, -1), due[order]
    below = (of * (1 - due)).cumsum(-1)
    return (of * due * below).sum(-1) / (of * due).sum(-1) / below[..., -1]


def pearson(due: Any, found: Any, weights: Any, is_kappa: bool = False) -> Any:
    """Return a correlation, or quadratic kappa."""
    count = weights.sum(-1)
    x, y = ((weights * of).sum(-1) / count for of in (due, found))
    one, other = due - x[..., None], found - y[..., None]
    xx, yy, xy = ((weights * of).sum(-1) / count for of in (one**2, other**2, one * other))
    return 2 * xy / (xx + yy + (x - y) ** 2) if is_kappa else xy / np.sqrt(xx * yy)


def steps(values: Any) -> Any:
    """Return values as an answer on a scale from 0 to 4."""
    return np.clip(np.round(values + 2), 0, 4)


NO_MEANS: dict[str, tuple[Any, Any, Any]] = {  # metric -> it, what is right, what is answered
    "F1": (f1, lambda values: 1.0 * (values > 0), lambda values: 1.0 * (values > 0)),
    "AUC": (auc, lambda values: 1.0 * (values > 0), lambda values: values),
    "kappa": (partial(pearson, is_kappa=True), steps, steps),
    "pearson": (pearson, lambda values: values, lambda values: values),
}


def p_values(metric: str, sizes: Any, differ: int, noise: float, draw: Any) -> tuple[Any, float]:
    """Draw two models; return p of their difference in a metric, and that of swapping answers."""
    value, as_due, as_answer = NO_MEANS[metric]
    cluster = np.repeat(np.arange(len(sizes)), sizes)
    of_cluster, of_row = draw.normal(size=(3, len(sizes))), draw.normal(size=(3, len(cluster)))
    truth, one, other = of_cluster[:, cluster] + of_row
    other = np.where(cluster < differ, noise * other, one)
    due, one, other = as_due(truth), as_answer(truth + one), as_answer(truth + other)
    kept = np.vstack([cluster >= 0, *(cluster != each for each in range(len(sizes)))]) * 1.0
    left = value(due, one, kept) - value(due, other, kept)
    by = Metric(float(left[0]), (Spread(left[1:] - left[0], np.array(sizes)),))
    is_other = draw.random((SWAPS, len(sizes)))[:, cluster] < 0.5
    swapped = np.where(is_other, other, one), np.where(is_other, one, other)
    first, second = (value(due, each, np.ones(each.shape)) for each in swapped)
    as_far = (abs(first - second) >= abs(left[0]) - 1e-9).sum()
    return p_of_error(by, len({*cluster[one != other]})), (as_far + 1) / (SWAPS + 1)


def differences(sets: int = 1000) -> None:
    """Print a table: of 100 pairs of models, those with p of at most 0.05; in brackets by swaps."""
    print(f"| clusters | {' | '.join(f'{name} | {name}, worse' for name in NO_MEANS)} |")
    for clusters, (sizes, differ) in DRAWN.items():
        cells = []
        for metric, noise in product(NO_MEANS, (1, WORSE)):
            draw = np.random.default_rng(0)
            found = [p_values(metric, sizes, differ, noise, draw) for _ in range(sets)]
            own, swapped = 100 * (np.array(found, float) <= 0.05).mean(axis=0)
            cells.append(f"{own:.1f} ({swapped:.1f})")
        print(f"| {clusters} | {' | '.join(cells)} |", flush=True)


def main(folder: Path, tasks: Collection[str]) -> None:
    """Print a table: the coverage of a task's first metric; the least and the most of all."""
    for name, function in (("labels", labels), ("differences", differences)):
        if name in tasks:
            function()
            return
    of_size = ("first", "all", "difference")
    heads = [f"{size or 'all'}, {what}" for size in SIZES for what in of_size]
    print(f"| task | {' | '.join(heads)} |")
    for dataset in discover().values():
        for name in dataset.tasks:
            if tasks and name not in tasks:
                continue
            world = World(folder / dataset.name, name, 0)
            cells = list[str]()
            for size in SIZES:
                found = world.coverage(size, SETS if size else SETS // 2)
                for names, shares in found.items():
                    print(f"<!-- {name} {size} {' '.join(names)}: {shares} -->", flush=True)
                first = next(each for each in world.task.metrics if any(each in n for n in found))
                own = [shares[0] for names, shares in found.items() if first in names]
                kinds = [own, *zip(*found.values(), strict=True)]
                for each in kinds:
                    known = [share for share in each if not math.isnan(share)]
                    ends = [f"{100 * of(known):.0f}" for of in (min, max) if known]
                    cells.append(" to ".join(dict.fromkeys(ends)) or "–")
            print(f"| {dataset.name} {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
