"""Generate files in the layouts of CoSRec and CaSiNo for benchmarks and large tests.

    python benchmarks/generate.py 100000 DIR

writes CoSRec's. Parquet compresses the invented words about as well as English.
"""

import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

RAW = "dataset/raw/conversations.jsonl"
CASINO = "data/casino.json"
_SAMPLE = Path(__file__).parent.parent / "casino" / "sample" / CASINO


def conversations(dialogues: int, seed: int = 0) -> Iterator[dict[str, str]]:
    """Yield lines of CoSRec's conversations.jsonl: 10 to 24 turns of 5 to 22 words each."""
    draw = random.Random(seed)
    words = _words(draw)
    for number in range(dialogues):
        turns = [
            f"{'US'[turn % 2]}: {' '.join(draw.choices(words, k=draw.randint(5, 22)))}"
            for turn in range(2 * draw.randint(5, 12))
        ]
        yield {f"CoSRec-Raw_{number}": "\n".join(turns)}


def negotiations(dialogues: int, seed: int = 0) -> Iterator[dict[str, Any]]:
    """Yield records of casino.json: those of the sample in turn, with other numbers and texts."""
    draw = random.Random(seed)
    words = _words(draw)
    sample = json.loads(_SAMPLE.read_bytes())
    for number in range(dialogues):
        record = sample[number % len(sample)]
        texts = {
            turn["text"]: " ".join(draw.choices(words, k=len(turn["text"].split())))
            for turn in record["chat_logs"]
            if not turn["task_data"]
        }
        turns = [
            turn | {"text": texts.get(turn["text"], turn["text"])} for turn in record["chat_logs"]
        ]
        labels = [[texts[text], labels] for text, labels in record["annotations"]]
        yield record | {"dialogue_id": number, "chat_logs": turns, "annotations": labels}


def _words(draw: random.Random) -> list[str]:
    return [f"{draw.getrandbits(40):x}" for _ in range(2000)]


def write(folder: Path, dialogues: int, seed: int = 0) -> Path:
    """Write a source folder with this number of raw conversations, and return it."""
    path = folder / RAW
    path.parent.mkdir(parents=True)
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in conversations(dialogues, seed))
    return folder


def write_casino(folder: Path, dialogues: int) -> Path:
    """Write a source folder with this number of negotiations, and return it."""
    path = folder / CASINO
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(list(negotiations(dialogues))), encoding="utf-8")
    return folder


if __name__ == "__main__":
    write(Path(sys.argv[2]), int(sys.argv[1]))
