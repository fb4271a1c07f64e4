"""Load every config of every build with `load_dataset`, and count configs, splits and rows.

python examples/load_every_config.py build
"""

import sys
import tempfile
from pathlib import Path

import datasets

datasets.disable_progress_bars()
if len(sys.argv) != 2:
    sys.exit("usage: load_every_config.py BUILD, the folder of builds")
print(f"{'dataset':20} configs  splits       rows")
for folder in sorted(Path(sys.argv[1]).iterdir()):
    configs = datasets.get_dataset_config_names(str(folder))
    with tempfile.TemporaryDirectory() as cache:
        loaded = [datasets.load_dataset(str(folder), each, cache_dir=cache) for each in configs]
        rows = [len(split) for splits in loaded for split in splits.values()]
    print(f"{folder.name:20} {len(configs):7} {len(rows):7} {sum(rows):10,}")
