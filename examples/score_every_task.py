"""Score the first baseline of every task and print a line for each: its first metrics.

    python examples/score_every_task.py build

Needs `pip install ".[tasks]"`.
"""

import sys
from itertools import islice
from pathlib import Path

from parley.collection import discover
from parley.folder.built import open_folder
from parley.scoring.evaluate import score
from parley.tasks import flat, tasks_of

if len(sys.argv) != 2:
    sys.exit("usage: score_every_task.py BUILD, the folder of built datasets")
for dataset in discover().values():
    for name, task in tasks_of(dataset).items():
        built = open_folder(Path(sys.argv[1]) / dataset.name)
        baseline = next(iter(task.baselines))
        metrics = flat(score(built, name, {}, baseline=baseline).as_dict()["metrics"])
        shown = (
            f"{' '.join(path)} {'undefined' if value is None else format(value, '.3f')}"
            for path, value in islice(metrics.items(), 3)
        )
        print(f"{dataset.name} {name}, {baseline}: {', '.join(shown)}")
