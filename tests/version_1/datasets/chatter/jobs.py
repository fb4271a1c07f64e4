# jobs.py
"""Jobs of Chatter."""

import parley


def words(build: str):
    """Count the words."""
    dialogues = parley.open(build).rows("dialogues", "train")
    print(sum(len(turn["text"].split()) for d in dialogues for turn in d["turns"]))


JOBS = {"words": parley.Job(words)}
