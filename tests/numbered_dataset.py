"""A dataset for `PARLEY_DATASETS` whose two splits number their dialogues from 0."""

import jsonlines

from parley.authoring.new import write_skeleton

_SCRIPT = '''"""Numbered: a split numbers its dialogues from 0."""

from parley import Builder, ClassLabel, Config, Field, File, View

ID, ACT = Field(int, "the dialogue, from 0 in each split"), ClassLabel(["ask", "tell"])
DIALOGUE = {"id": ID, "turns": Field([Field(str, "its text")], "the turns")}
COLUMNS = {"id": ID, "turn": Field(int, "its turn"), "act": Field(ACT, "whether it asks")}
PIN = {"url": "https://example.org/1.0/file", "sha256": "0" * 64}
FILES = {split: [File(f"{split}.jsonl", DIALOGUE, **PIN)] for split in ("train", "test")}


@View("an act", COLUMNS, of="dialogues", key=("id", "turn"))
def acts(records):
    """Yield the act of each turn."""
    for record in records:
        for turn, text in enumerate(record["turns"]):
            act = "ask" if text.endswith("?") else "tell"
            yield {"id": record["id"], "turn": turn, "act": act}


class Numbered(Builder):
    """Dialogues of two splits."""

    VERSION, HOMEPAGE, LICENSE = "1.0.0", "https://example.org/numbered", "cc-by-4.0"
    CONFIGS = [Config("dialogues", "a dialogue", FILES, key="id", splits_share_keys=True), acts]
'''
_TRANSCRIPT = '''"""The transcript of a Numbered dialogue."""

from parley.read import Transcript, Turn

CONFIGS, TABLES = ("dialogues",), {"acts": "id"}


def transcript(row):
    """Return the transcript of a row."""
    return Transcript(f"Dialogue {row['id']}", turns=[Turn("one", text) for text in row["turns"]])
'''
_TASKS = '''"""The acts of both splits."""

from parley import Field
from parley.tasks import OneOf, Score, Task

ID = Field(int, "the dialogue")


def gold(data):
    """Return the act of each turn, and its dialogue."""
    return {
        (split, row["id"], row["turn"]): row | {"dialogue_ids": [f"{split}/{row['id']}"]}
        for split in ("train", "test") for row in data.rows_with_names("acts", split)
    }


def score(gold, predictions):
    """Return the share of right acts."""
    right = [predictions[key].get("act") == due["act"] for key, due in gold.items()]
    return Score({"right": right})


TASKS = {"acts": Task(
    summary="the act of a turn", evaluated_on="all turns", configs=("acts",),
    key={"split": Field({"train", "test"}, "the split"), "id": ID, "turn": Field(int, "its turn")},
    answer={"act": OneOf(["ask", "tell"], "its act")},
    gold=gold, score=score, metrics={"right": "share"}, per_prediction=("right",),
)}
'''
TEXTS = {
    ("train", 0): ["Is it raining?", "It rains."],
    ("train", 1): ["The bus was late."],
    ("test", 0): ["I like plums.", "What’s a plum?"],
    ("test", 1): ["Where is the key?", "Under the mat.", "It is not."],
}
"""Split and id -> the texts, of which those with a question mark ask."""


def write(place):
    """Write the dataset, and return the folder to name in `PARLEY_DATASETS`."""
    folder = write_skeleton("numbered", place / "more")
    for name in ("figures.py", "pins.py", "sample/dialogues.jsonl"):
        (folder / name).unlink()
    for name, text in (("numbered", _SCRIPT), ("transcript", _TRANSCRIPT), ("tasks", _TASKS)):
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    for (split, id), texts in TEXTS.items():
        with jsonlines.open(folder / "sample" / f"{split}.jsonl", "a") as file:
            file.write({"id": id, "turns": texts})
    return folder.parent
