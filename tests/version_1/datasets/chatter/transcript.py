# transcript.py
"""The layout and the filters of a dialogue."""

from parley import Facets, Note, Table, Transcript, Turn

CONFIGS = ("dialogues",)  # the first column of each is the id
ORDER = {"speaks": ("customer", "clerk")}  # facet -> its values in their order
PHRASES = {"words": "said {} words"}  # facet -> its clause: "one participant said 9 words"


def transcript(row) -> Transcript:
    """Return the transcript of a row."""
    asks = (Note("asks", "act", by="rule"),)
    turns = [Turn(t["speaker"], t["text"], asks if "?" in t["text"] else ()) for t in row["turns"]]
    return Transcript(
        title=f"Dialogue {row['id']}",
        entry=f"{row['id']} · {len(turns)} turns",  # its line in a list
        turns=turns,
        after=[("turns", str(len(turns)))],  # facts, each a label and a text; `before` has the same
        sides={"customer": [("wants", "a kettle")], "clerk": []},
        tables=[Table("ratings", ("customer",), (("service", (str(row["rating"] or ""),)),))],
    )


def facets(row) -> Facets:
    """Return values, numbers or lists of them, or a dict of them by participant."""
    words = {"customer": 0, "clerk": 0}
    for turn in row["turns"]:
        words[turn["speaker"]] += len(turn["text"].split())
    speaks = [turn["speaker"] for turn in row["turns"]]
    return {"rating": row["rating"], "speaks": speaks, "words": words}
