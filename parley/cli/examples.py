"""The examples at the end of each help. One may use what those above it wrote."""

EXAMPLES = """
parley list casino
parley fetch casino
parley build --sample
parley build casino --build new
parley verify casino
parley diff build/casino new/casino
parley show casino 12
parley show casino strategies --fields
parley sql "select svo, avg(points_scored) from casino.participants group by all"
parley sql "from casino.strategies" -o strategies.csv
parley browse --sample
parley site casino -o site
parley charts casino
parley export casino csv
parley run cosrec
parley labels casino strategies ann1.csv ann2.csv -o differ.csv
parley tasks casino
parley questions casino outcomes -o questions.jsonl --limit 12
parley score casino outcomes predictions.jsonl
parley score casino outcomes --baseline commonest --save-predictions commonest.jsonl
parley compare predictions.jsonl commonest.jsonl --task casino/outcomes
parley publish casino --repo ORG/casino --dry-run
parley new tea own
parley pin own/tea/sample/dialogues.jsonl https://example.org/dialogues.jsonl
parley check casino
parley card casino
"""
