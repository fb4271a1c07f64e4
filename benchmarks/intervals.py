"""Coverage of the 95% intervals: how often they hold the true value, in simulated test sets.

    python benchmarks/intervals.py BUILDS

A test set is drawn, dialogue by dialogue, from those of the real build. A model answers a row
rightly with a chance that differs between dialogues, so that the answers of one agree; else it
gives the right answer of another row, or in a game makes no deal. The true value is that of so many
rows as 20 times the real ones.
"""

import math
import sys
from pathlib import Path
from typing import Any

import numpy as np

from parley.base.nested import flat
from parley.building.folder import open_folder
from parley.building.registry import discover
from parley.models.compare import paired_differences
from parley.tasks.formats import TREC_RUN
from parley.tasks.games import Playing
from parley.tasks.gold import load_gold
from parley.tasks.rows import Measured, Rows

SETS, LARGE, SIZES = 200, 20, (20, 60)  # of test sets; dialogues of one
MODELS = ((3.0, 2.0), (2.0, 2.0))  # of the Beta distribution of a dialogue's chance


class World:
    """A task whose test sets and answers are drawn."""

    def __init__(self, folder: Path, name: str, seed: int) -> None:
        self.built, self.name = open_folder(folder), name
        self.task = self.built.dataset.task(name)
        self.is_run = self.task.format is TREC_RUN
        self.options = self.task.chosen({})
        gold, _ = load_gold(self.built, name, self.options)
        self.rows = Rows(self.built, name, self.options, gold)
        self.draw = np.random.default_rng(seed)
        self.answers: dict[Any, Any] = {}
        if self.task.target:
            self.answers = {key: dict(self.task.target(answer)) for key, answer in gold.items()}
        elif not self.is_run:
            people = self.task.baselines[next(iter(self.task.baselines))]
            for each in people(self.built, **self.options):
                self.answers[tuple(each[field] for field in self.task.key)] = each
        game, self.others = self.task.asking, [*self.answers.values()]
        if isinstance(game, Playing):
            self.others = [{game.agreed: None}]

    def test_set(self, count: int) -> tuple[Rows, list[Any]]:
        """Return the rows of so many drawn dialogues, and the predictions of each of `MODELS`."""
        gold: dict[Any, Any] = {}
        models: list[Any] = [{} for _ in MODELS]
        units: list[Any] = []
        for number, place in enumerate(self.draw.integers(0, len(self.rows.units), count)):
            units.append([])
            chances = [self.draw.beta(*model) for model in MODELS]
            for key in self.rows.units[place]:
                own = (f"{number} {key[0]}" if self.is_run else (number, key[0]), *key[1:])
                units[-1].append(own)
                answer = self.rows.gold[key]
                if self.is_run:
                    answer = [{**row, "query_id": own[0]} for row in answer]
                    for found, chance in zip(models, chances, strict=True):
                        for row in answer:
                            noise = self.draw.normal() * 4 * (1 - chance)
                            score = {"score": row["relevance"] + noise}
                            found[own[0], row["document_id"]] = score
                else:
                    for found, chance in zip(models, chances, strict=True):
                        is_right = self.draw.random() < chance
                        other = self.others[self.draw.integers(len(self.others))]
                        found[own] = self.answers[key] if is_right else other
                gold[own] = answer
        rows = Rows(self.built, self.name, self.options, gold, is_part=count in SIZES)
        rows.units = units  # those drawn, not those of the ids
        return rows, models

    def coverage(self, count: int) -> dict[str, list[float]]:
        """Return the share of intervals that hold the true value, by metric; of the difference."""
        large, models = self.test_set(LARGE * len(self.rows.units))
        true = [
            {n: v for n, v in flat(large.score(found).metrics).items() if isinstance(v, float)}
            for found in models
        ]
        held: dict[str, list[list[bool]]] = {}
        for _ in range(SETS):
            rows, models = self.test_set(count)
            one, other = (Measured([(rows, found)]) for found in models)
            by = paired_differences(one, other, one.metrics)
            for names in true[0].keys() & true[1].keys() & by.keys():
                metric, value = one.metrics[names], true[0][names]
                known = held.setdefault(" ".join(names), [[], []])
                due = (value, value - true[1][names])
                found = (metric.interval, by[names].interval)
                for kept, interval, number in zip(known, found, due, strict=True):
                    if interval:
                        kept.append(bool(interval.low <= number <= interval.high))
        return {
            name: [float(np.mean(each)) if len(each) > SETS / 2 else math.nan for each in known]
            for name, known in held.items()
        }


def main(folder: Path) -> None:
    """Print a table: the least and the most coverage over the metrics of a task."""
    heads = [f"{what}, {size} dialogues" for size in SIZES for what in ("score", "difference")]
    print(f"| task | {' | '.join(heads)} |")
    for dataset in discover().values():
        for name in dataset.tasks:
            world = World(folder / dataset.name, name, 0)
            cells = []
            for size in SIZES:
                found = world.coverage(size)
                for metric, shares in sorted(found.items()):
                    print(f"<!-- {name} {size} {metric}: {shares} -->", flush=True)
                for each in zip(*found.values(), strict=True):
                    known = [share for share in each if not math.isnan(share)]
                    shown = f"{100 * min(known):.0f} to {100 * max(known):.0f}" if known else "–"
                    cells.append(shown)
            print(f"| {dataset.name} {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
