"""The words of a dataset's `jobs.py` and `export.py`: commands of its own, and their output."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from parley.base.console import print_message
    from parley.base.replace import beside, write_whole, writing
    from parley.building.jobs import Job
    from parley.building.rows.digest import Digest
    from parley.building.rows.parquet import write_parquet
    from parley.reading.export.convokit import convokit, write_corpus
    from parley.schema.features import arrow_schema, card_yaml

# Name -> its module, imported on first use: the help of a job needs no pyarrow
_PLACES = {
    "Digest": "parley.building.rows.digest",
    "Job": "parley.building.jobs",
    "arrow_schema": "parley.schema.features",
    "beside": "parley.base.replace",
    "card_yaml": "parley.schema.features",
    "convokit": "parley.reading.export.convokit",
    "print_message": "parley.base.console",
    "write_corpus": "parley.reading.export.convokit",
    "write_parquet": "parley.building.rows.parquet",
    "write_whole": "parley.base.replace",
    "writing": "parley.base.replace",
}
__all__ = ["Digest", "Job", "arrow_schema", "beside", "card_yaml", "convokit", "print_message"]
__all__ += ["write_corpus", "write_parquet", "write_whole", "writing"]


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module 'parley.jobs' has no attribute {name!r}")
    return getattr(importlib.import_module(_PLACES[name]), name)
