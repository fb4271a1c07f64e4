"""Generate files in the layout of CoSRec for benchmarks and large tests.

    python benchmarks/generate.py 100000 DIR

Parquet compresses the invented words about as well as English.
"""

import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path

RAW = "dataset/raw/conversations.jsonl"


def conversations(dialogues: int, seed: int = 0) -> Iterator[dict[str, str]]:
    """Yield lines of CoSRec's conversations.jsonl: 10 to 24 turns of 5 to 22 words each."""
    draw = random.Random(seed)
    words = [f"{draw.getrandbits(40):x}" for _ in range(2000)]
    for number in range(dialogues):
        turns = [
            f"{'US'[turn % 2]}: {' '.join(draw.choices(words, k=draw.randint(5, 22)))}"
            for turn in range(2 * draw.randint(5, 12))
        ]
        yield {f"CoSRec-Raw_{number}": "\n".join(turns)}


def write(folder: Path, dialogues: int, seed: int = 0) -> Path:
    """Write a source folder with this number of raw conversations, and return it."""
    path = folder / RAW
    path.parent.mkdir(parents=True)
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in conversations(dialogues, seed))
    return folder


if __name__ == "__main__":
    write(Path(sys.argv[2]), int(sys.argv[1]))
