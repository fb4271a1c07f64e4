"""Score the first baseline of every task and print a line for each: its first metrics.

    python examples/score_every_task.py build

Needs `pip install ".[tasks]"`.
"""

import sys
from itertools import islice
from pathlib import Path

import parley


def flat(metrics, *path):
    """Yield each number of nested metrics with the names that lead to it."""
    for name, value in metrics.items():
        if isinstance(value, dict):
            yield from flat(value, *path, name)
        else:
            yield " ".join([*path, name]), value


if len(sys.argv) != 2:
    sys.exit("usage: score_every_task.py BUILD, the folder of built datasets")
for name in parley.datasets():
    for task, declared in parley.dataset(name).tasks.items():
        baseline = next(iter(declared.baselines))
        found = parley.score(Path(sys.argv[1]) / name, task, baseline=baseline)
        shown = (
            f"{metric} {'undefined' if value is None else format(value, '.3f')}"
            for metric, value in islice(flat(found.as_dict()["metrics"]), 3)
        )
        print(f"{name} {task}, {baseline}: {', '.join(shown)}")
