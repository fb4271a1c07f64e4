"""What is broken in the sample of CoSRec."""

_INTENT = "CoSRec-Curated_9001_1_0"

GUARDS = {
    "annotated_conversations_are_those_of_dialogues": r"(crowd|curated)(\[\]\.turns.*| .*)",
    "references_hold": r"c.*\.utterance .*|curated\[\]\.intents\[\]\.intents(\[\]\.(id|type))? .*",
    "views": "(queries|utterances|intent_labels|messages).*",
}
ROWS = {"references_hold": {"qrels/curated[0].query_id": f"{_INTENT}#0"}}  # of a search
UNGUARDED = {
    "crowd[].ratings": "swapped",
    **{
        f"{part}[].users{column}": changes
        for part in ("crowd", "curated")
        for column, changes in {
            "": "fewer none swapped null",
            "[].user_id": "another",
            "[].keywords": "fewer twice none swapped",
            "[].keywords[]": "another",
            "[].profile": "another null",
        }.items()
    },
    "prompts": "fewer twice swapped", "prompts[].name": "another", "prompts[].text": "another"
}  # fmt: skip


def _and(line):
    """Add a line for a conversation, for several, or for none."""
    return lambda lines: [*lines, line]


def _intent(**changes):
    """Return a line of a conversation with one intent."""
    intents = [{"id": "x", "query_variants": []} | changes]
    return {"CoSRec-Curated_9999": [{"utterance": 0, "intents": intents}]}


_CURATED, _CROWD = "dataset/curated/", "dataset/crowd/"
_INTENTS = f"{_CURATED}intents.jsonl"

RECORDS = [
    (_INTENTS, "", _and(_intent(type="search", product="B0")), "[0].intents[0].product: unknown"),
    (_INTENTS, "", _and(_intent(type="product_details")), "[0].intents[0].product: missing"),
    (
        _INTENTS, "[0].CoSRec-Curated_9001[1].intents[0].id", "CoSRec-Curated_9_1_0",
        f"9001[1].intents[0].id: expected {_INTENT}, found CoSRec-Curated_9_1_0"
    ),
    ("dataset/raw/conversations.jsonl", "", _and({"a": "U: Hi", "b": "U: Hi"}), "line 4: "),
    *(  # could not be given back
        ("dataset/raw/conversations.jsonl", "", _and({"CoSRec-Raw_9999": text}), ", line 4: ")
        for text in (
            "", "Sure!\nU: Hi", " U: Hi", "u: Hi", "U:Hi", "U: Hi\nS:Hello", "U: Hi\nS: ", "U: \n-"
        )
    ),
    *(
        (f"{_CURATED}qrels.qrels", "", _and(judgment), ", line 37: ")
        for judgment in (
            "", "q 0 d 1", "q\t0\td", "q\t0\td\t", "\t0\td\t1", "q\t0\t\t1", "q\t1\td\t1",
            "q\t0\td\t3", "q\t0\td\t01", "q\t0\td\t1\r", "q#\t0\td\t1", "q\t0\td\t1\t",
            "q#a\t0\td\t1", "q\t0\td\t\u0661",
        )
    ),
    (f"{_CURATED}quality.jsonl", "", _and({}), "line 3: "),
    (f"{_CROWD}quality.jsonl", "", lambda lines: [*lines, lines[0]], "found CoSRec-Crowd_9001"),
    (f"{_CROWD}quality.jsonl", "", _and({"CoSRec-Crowd_9999": []}), "CoSRec-Crowd_9999: "),
    (f"{_CROWD}keywords.jsonl", "", _and({"CoSRec-Crowd_9002": {}}), "CoSRec-Crowd_9002: "),
    (
        f"{_CROWD}profiles.jsonl", "[1].CoSRec-Crowd_9003.A9", "Likes tea.",
        "CoSRec-Crowd_9003.A9: "
    ),
    *(
        (
            f"{_CROWD}intent_annotations.jsonl", "[0].CoSRec-Crowd_9001",
            [{"utterance": place, "intent_annotations": []} for place in places], named
        )
        for places, named in (
            ([-1], "9001[0].utterance: expected 0 to 4,"),
            ([5], "9001[0].utterance: expected 0 to 4,"), ([0, 0], "9001[1].utterance: ")
        )
    )
]  # fmt: skip

OPTIONAL = r"CoSRec-\w+(\.A\w+)?"  # what a file holds is named by ids

SAMPLE = (
    "dialogues 1d044f3a e603cb5a e2a898f4 crowd df5704f3 curated 2cb0bed9 qrels 54b17811 "
    "prompts cbe954d5 queries 2e6fbdd6 utterances e91a31b1 34805bda 0ffbb338 intent_labels "
    "cd1827d2 8ecde3e2 messages d8238d3e 32207a56 b0db2914"
)
