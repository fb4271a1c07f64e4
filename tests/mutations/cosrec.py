"""What is broken in the sample of CoSRec."""

from mutations import DROP, swap

_INTENT = "CoSRec-Curated_9001_1_0"

ROWS = {
    "annotated_conversations_are_those_of_dialogues": [
        ("crowd/crowd[0].turns[0].text", "Hi"),
        ("crowd/crowd[0].turns[-1]", DROP),
        ("curated/curated[0]", DROP),
    ],
    "references_hold": [
        ("crowd/crowd[0].intent_annotations[1].utterance", 0),
        ("curated/curated[0].intents[0].utterance", 9),
        ("curated/curated[0].intents[0].utterance", -1),
        ("curated/curated[0].intents[1].intents[0].id", "CoSRec-Curated_9001_1_1"),
        ("curated/curated[0].intents[3].intents", swap(0, 1)),
        ("qrels/curated[0].query_id", f"{_INTENT}#0"),  # of a search
        ("qrels/curated[0].query_id", "CoSRec-Curated_9001_0_7#0"),
    ],
    "views_follow_from_the_conversations": [
        ("queries/curated[0].variants[0]", DROP),
        ("queries/curated[0].judgments", swap(0, 1)),
        ("queries/curated[-1]", DROP),
        ("queries/curated", swap(0, 1)),
        ("qrels/curated[0].query_id", "CoSRec-Curated_9009_0_0#0"),
        ("intent_labels/crowd[3].context[-1]", DROP),
        ("intent_labels/crowd[-1]", DROP),
        ("intent_labels/curated[1].formulations[0]", DROP),
        ("messages/raw[-1]", DROP),
        ("messages/raw[0].messages[-1]", DROP),
        ("messages/raw[0].messages", swap(0, 1)),
        ("messages/raw[0].source_turns[0]", []),
        ("messages/raw[0].source_turns", swap(0, 1)),
        ("messages/raw[0].raters", 3.0),
    ],
    "keys": [("dialogues/crowd[0].dialogue_id", "CoSRec-Raw_9001")],
    "records": [
        ("crowd/crowd[0].users", lambda users: [*users, users[0]]),
        ("curated/curated[0].users[0].keywords", None),
        ("qrels/curated[0].query_id", "CoSRec-Curated_9001_0_0#5"),
        ("qrels/curated[0].type", 0),
    ],
}

UNGUARDED = {
    *(
        f"{part}.users[].{column}"
        for part in ("crowd", "curated")
        for column in ("user_id", "keywords[]", "profile")
    ),
    "prompts.name",
    "prompts.text",
}


def _and(key, value):
    """Add a line for a conversation."""
    return lambda lines: [*lines, {key: value}]


def _and_ids(*ids):
    """Add a line for several conversations, or for none."""
    return lambda lines: [*lines, dict.fromkeys(ids, "U: Hi")]


def _intent(**changes):
    """The intents of a conversation with one intent."""
    return [{"utterance": 0, "intents": [{"id": "x", "query_variants": []} | changes]}]


_CURATED, _CROWD = "dataset/curated/", "dataset/crowd/"
_RATING = {"coherence": 1, "logicality": 1, "informativeness": 1}
_OFF = r"CoSRec-Crowd_9001\[0\].utterance: expected 0 to 4, an utterance of the user in .*, found "

RECORDS = [
    *(
        (f"{_CURATED}{name}.jsonl", "", _and("CoSRec-Curated_9999", value), message)
        for name, value, message in (
            ("quality", [{**_RATING, "fluency": 6}], r"line 3: .*fluency: .*found 6"),
            ("quality", [_RATING], "line 3: .*fluency: missing"),
            ("intents", _intent(type="search", product="B0"), r"line 3: .*product: unknown field"),
            ("intents", _intent(type="product_details"), r"line 3: .*product: missing"),
        )
    ),
    (
        f"{_CURATED}intents.jsonl",
        "[0].CoSRec-Curated_9001[1].intents[0].id",
        "CoSRec-Curated_9_1_0",
        rf"9001\[1\]\.intents\[0\]\.id: expected {_INTENT}, found CoSRec-Curated_9_1_0$",
    ),
    ("dataset/raw/conversations.jsonl", "", _and_ids("a", "b"), "in each line, found a, b$"),
    (f"{_CURATED}quality.jsonl", "", _and_ids(), "in each line, found none$"),
    (f"{_CROWD}quality.jsonl", "", lambda lines: [*lines, lines[0]], "new id .*Crowd_9001"),
    (f"{_CROWD}quality.jsonl", "", _and("CoSRec-Crowd_9999", []), "Crowd_9999: expected an id th"),
    (f"{_CROWD}keywords.jsonl", "", _and("CoSRec-Crowd_9002", {}), "9002: expected no line, as in"),
    (f"{_CROWD}profiles.jsonl", "", _and("CoSRec-Crowd_9002", {}), "9002: expected no line, as in"),
    (
        f"{_CROWD}profiles.jsonl",
        "[1].CoSRec-Crowd_9003.A9",
        "Likes tea.",
        r"CoSRec-Crowd_9003\.A9: expected a user that keywords.jsonl has",
    ),
    *(
        (
            f"{_CROWD}intent_annotations.jsonl",
            "[0].CoSRec-Crowd_9001",
            [{"utterance": place, "intent_annotations": []} for place in places],
            message,
        )
        for places, message in (
            ([-1], f"{_OFF}-1"),
            ([5], f"{_OFF}5"),
            ([0, 0], r"\[1\].utterance: expected each utterance once, found 0"),
        )
    ),
]

OPTIONAL = r"CoSRec-.*"  # what a file holds is named by ids
FREE = (
    r"CoSRec-\w+(\.A\w+(\[\])?)?|CoSRec-\w+\[\]\.(utterance|intent_annotations\[\]\[\]\.query)"
    r"|CoSRec-\w+\[\]\.intents\[\]\.(id|product|query_variants\[\])"
)

SAMPLE = {
    "dialogues": "1d044f3a e603cb5a e2a898f4",
    "crowd": "df5704f3",
    "curated": "2cb0bed9",
    "qrels": "54b17811",
    "prompts": "cbe954d5",
    "queries": "c4135260",
    "intent_labels": "cd1827d2 8ecde3e2",
    "messages": "d8238d3e 32207a56 b0db2914",
}
