"""The words of a dataset's `jobs.py` and `export.py`: commands of its own, and their output."""

from parley.base.console import print_message
from parley.base.replace import write_whole, writing
from parley.declaring.features import arrow_schema, card_yaml
from parley.declaring.jobs import Job
from parley.reading.export.convokit import utterance, write_corpus
from parley.rows.digest import Digest
from parley.rows.parquet import write as write_parquet

__all__ = [
    "Digest",
    "Job",
    "arrow_schema",
    "card_yaml",
    "print_message",
    "utterance",
    "write_corpus",
    "write_parquet",
    "write_whole",
    "writing",
]
