# checks.py
"""Checks of Chatter's rows."""

from parley import check


@check
def no_text_is_empty(data):
    """Each turn has a text."""
    for row in data.rows("dialogues", "train"):
        if any(not turn["text"].strip() for turn in row["turns"]):
            yield f"{row['id']}: expected texts, found an empty one"
