"""What is broken in the sample of CaSiNo."""

from mutations import DROP

GUARDS = {
    "official_split_is_a_partition": "official_split(?! swapped).*",
    "views": "(utterances|speakers|strategies|messages|scenarios).*|participants(?!.*guess).*",
    "priority_folds_are_partitions": r"priority_folds\[\](?!\.seeds|\.train swapped).*",
}
ROWS = {
    "priority_folds_are_partitions": {  # each tests the same
        "priority_folds/train": lambda rows: [row | rows[0] | {"fold": row["fold"]} for row in rows]
    }
}
UNGUARDED = {
    "official_split": "swapped", "priority_folds[].train": "swapped",
    "priority_folds[].seeds": "fewer twice none swapped", "priority_folds[].seeds[]": "another"
}  # fmt: skip

_LABELS = "labels among small-talk, "
_LAST = r"task_data.data: expected the last entry alone to end it"
_SIDE = "[0].participant_info.mturk_agent_1"
_GUESSES = "opponent-modeling/casino_ix2guessing.json"

RECORDS = [
    ("data/casino.json", place, change, message)
    for place, change, message in (
        ("[0].annotations[0]", ["Hi", "smalltalk"], _LABELS),
        ("[0].annotations[0]", ["Hi"], _LABELS),
        ("[3].dialogue_id", 2002, r"\[3\]: the key 2002 appears twice, first in row 1$"),
        ("[1].annotations[-1][0]", "Never said.", r"dialogue 2002: annotations\[8\].*Never said"),
        ("[0].chat_logs[0].task_data", {"data": "maybe"}, r'expected "accept_deal" or .*"maybe"'),
        ("[0].chat_logs", [], r"\[0\]: chat_logs: expected at least one entry"),
        ("[0].chat_logs[0].text", "Walk-Away", r"\[0\]: chat_logs\[0\].text: expected that of"),
        ("[0].chat_logs[12].task_data", {}, r"chat_logs\[12\].text: expected that of"),
        ("[0].chat_logs", lambda logs: [*logs, logs[0]], _LAST),
        ("[0].chat_logs[12]", DROP, f"{_LAST}, found None"),
        ("[0].chat_logs[11]", DROP, r"chat_logs\[11\].id: expected the other side's deal before"),
        ("[0].chat_logs[11].id", "mturk_agent_1", r"\[12\].id: expected the other side's deal"),
        ("[0].chat_logs[11].task_data.issue2theyget.Water", "3", r"\[11\].task_data: Water: "),
        (f"{_SIDE}.value2issue.Low", "Water", r"agent_1.value2issue: expected each issue once"),
        (f"{_SIDE}.outcomes.points_scored", 0, r"outcomes.points_scored: expected 18 by the deal"),
    )
] + [
    (_GUESSES, "2001", DROP, ": expected guesses of .* 2001$"),
    (_GUESSES, "", lambda guesses: guesses | {"7": guesses["2001"]}, ": expected guesses of .* 7$"),
]

OPTIONAL = r"chat_logs\[\]\.task_data\.data|\d+"

SAMPLE = (
    "dialogues 52892566 official_split 59592c31 d50c9e4b 234e66cc utterances d782092b "
    "speakers cc97d2fd participants 5a0ef434 strategies b49a907c messages 7d01459e scenarios "
    "cbe2cd96 priority_folds 7c8956ae"
)
