"""The examples at the end of each help. A later one may use what an earlier one wrote."""

EXAMPLES = {
    "": ("parley build --sample", "parley show casino"),
    "list": ("parley list", "parley list casino --json"),
    "fetch": ("parley fetch casino",),
    "build": ("parley build casino", "parley build --sample"),
    "verify": ("parley verify casino",),
    "diff": ("parley build casino --build new", "parley diff build/casino new/casino"),
    "show": ("parley show casino 12", "parley show casino strategies --fields"),
    "sql": (
        'parley sql "select svo, avg(points_scored) from casino.participants group by all"',
        'parley sql "from casino.strategies" -o strategies.csv',
    ),
    "browse": ("parley browse casino", "parley browse --sample"),
    "site": ("parley site casino -o site",),
    "charts": ("parley charts casino",),
    "export": ("parley export casino csv", "parley export casino convokit -o corpus"),
    "run": ("parley run", "parley run cosrec catalogue --help"),
    "labels": ("parley labels casino strategies ann1.csv ann2.csv -o differ.csv",),
    "tasks": ("parley tasks casino",),
    "questions": ("parley questions casino outcomes -o questions.jsonl --limit 12",),
    "score": (
        "parley score casino outcomes mine.jsonl",
        "parley score casino outcomes --baseline commonest --save-predictions commonest.jsonl",
    ),
    "compare": (
        "parley compare logs",
        "parley compare mine.jsonl commonest.jsonl --task casino/outcomes",
    ),
    "publish": ("parley publish casino --repo ORG/casino --dry-run",),
    "new": ("parley new tea own",),
    "pin": ("parley pin own/tea/sample/dialogues.jsonl https://example.org/dialogues.jsonl",),
    "check": ("PARLEY_DATASETS=own parley check tea",),
    "card": ("PARLEY_DATASETS=own parley card tea",),
}
