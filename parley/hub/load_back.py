"""Reads a published dataset with `datasets`, in a subprocess of `publish`.

    python -m parley.hub.load_back PIPE org/name REVISION < {"config": ["split", ...]}

Prints config -> split -> way of loading -> digest of the rows. It ends when the other end of the
pipe closes, and so with the process that started it.
"""

import json
import os
import sys
import threading
from typing import Any

import datasets
import huggingface_hub

from parley.declaring.features import arrow_schema
from parley.hub.guard import guarded
from parley.rows.digest import Digest
from parley.rows.parquet import BATCH


def main() -> None:
    """Load and stream each split, and print the digests."""
    pipe, repo, revision = sys.argv[1:]
    threading.Thread(target=_end_with, args=(int(pipe),), daemon=True).start()
    datasets.disable_progress_bars()
    with guarded(huggingface_hub.constants.ENDPOINT):
        found = {
            config: {split: _digests(repo, revision, config, split) for split in splits}
            for config, splits in json.load(sys.stdin).items()
        }
    print(json.dumps(found))  # noqa: T201


def _end_with(pipe: int) -> None:
    os.read(pipe, 1)  # nothing is written: it returns at the end of the pipe
    os._exit(1)


def _digests(repo: str, revision: str, config: str, split: str) -> dict[str, str]:
    digests = {}
    for way, streaming in (("loaded", False), ("streamed", True)):
        rows: Any = datasets.load_dataset(
            repo, config, split=split, revision=revision, streaming=streaming
        )
        digest = Digest(arrow_schema(rows.features))
        for batch in rows.with_format("arrow").iter(BATCH):
            digest.update(batch)
        digests[way] = digest.hexdigest()
    return digests


if __name__ == "__main__":
    main()
