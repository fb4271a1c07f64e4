"""What is broken in the sample of CaSiNo."""

from mutations import DROP

GUARDS = {
    "official_split_is_a_partition": "official_split(?! swapped).*",
    "views": "(utterances|speakers|results|strategies|messages|scenarios).*"
    "|participants(?!.*guess).*",
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

_SIDE = "participant_info.mturk_agent_1"
_GUESSES = "opponent-modeling/casino_ix2guessing.json"

RECORDS = [
    ("data/casino.json", place, change, named)
    for place, change, named in (
        ("[0].annotations[0]", ["Hi", "smalltalk"], "[0].annotations[0]: "),
        ("[0].annotations[0]", ["Hi"], "[0].annotations[0]: "),
        ("[3].dialogue_id", 2002, "[3]: the key 2002 "),
        ("[1].annotations[-1][0]", "Never said.", "dialogue 2002: annotations[8]: "),
        ("[0].chat_logs[0].task_data", {"data": "maybe"}, ".task_data.data: "),
        ("[0].chat_logs", [], "[0]: chat_logs: "),
        ("[0].chat_logs[0].text", "Walk-Away", "[0]: chat_logs[0].text: "),
        ("[0].chat_logs[12].task_data", {}, "chat_logs[12].text: "),
        ("[0].chat_logs", lambda logs: [*logs, logs[0]], "chat_logs[12].task_data.data: "),
        ("[0].chat_logs[12]", DROP, "chat_logs[11].task_data.data: "),
        ("[0].chat_logs[11]", DROP, "chat_logs[11].id: "),
        ("[0].chat_logs[11].id", "mturk_agent_1", "chat_logs[12].id: "),
        ("[0].chat_logs[11].task_data.issue2theyget.Water", "3", "[11].task_data: Water: "),
        (f"[0].{_SIDE}.value2issue.Low", "Water", f"{_SIDE}.value2issue: "),
        (f"[0].{_SIDE}.outcomes.points_scored", 0, f"{_SIDE}.outcomes.points_scored: expected 18 "),
    )
] + [
    (_GUESSES, "2001", DROP, "2001"),
    (_GUESSES, "", lambda guesses: guesses | {"7": guesses["2001"]}, "some of 7"),
]

OPTIONAL = r"chat_logs\[\]\.task_data\.data|\d+"

SAMPLE = (
    "dialogues 52892566 official_split 59592c31 d50c9e4b 234e66cc utterances d782092b "
    "speakers cc97d2fd participants 5a0ef434 results 0e39c7ea strategies b49a907c messages "
    "7d01459e scenarios cbe2cd96 priority_folds 7c8956ae"
)
