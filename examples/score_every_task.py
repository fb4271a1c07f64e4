"""Score the first baseline of every task and print its primary metric and its ends.

    python examples/score_every_task.py build

Needs `pip install ".[tasks]" -c constraints.txt`.
"""

import sys
from pathlib import Path

import parley

if len(sys.argv) != 2:
    sys.exit("usage: score_every_task.py BUILD, the folder of builds")
print(f"{'dataset':20} {'task':19} {'baseline':15} score")
for folder in sorted(Path(sys.argv[1]).iterdir()):
    for task, declared in parley.dataset(folder.name).tasks.items():
        baseline = next(iter(declared.baselines))
        found = parley.score(folder, task, baseline=baseline)
        names, value = [], found.as_dict()["metrics"]
        while isinstance(value, dict):
            name, value = next(iter(value.items()))
            names.append(name)
        shown = "undefined" if value is None else format(value, ".3f")
        least, most = declared.ends_of(names)
        scored = f"{shown} {' '.join(names)} ({least:g} to {most:g})"
        print(f"{folder.name:20} {task:19} {baseline:15} {scored}")
