"""Load every config of every built folder with `load_dataset`, as anyone would.

python examples/load_every_config.py build
"""

import sys
import tempfile
from pathlib import Path

import datasets

datasets.disable_progress_bars()
for folder in sorted(Path(sys.argv[1]).iterdir()):
    for config in datasets.get_dataset_config_names(str(folder)):
        with tempfile.TemporaryDirectory() as cache:
            loaded = datasets.load_dataset(str(folder), config, cache_dir=cache)
            rows = ", ".join(f"{split} {len(rows):,}" for split, rows in loaded.items())
            columns = ", ".join(next(iter(loaded.values())).column_names)
            print(f'load_dataset("{folder}", "{config}"): {rows} rows of {columns}')
