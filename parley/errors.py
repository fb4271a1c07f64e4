"""The exceptions of parley; `ParleyError` is the base of all.

An error says its place, the expected and the found value, and the remedy. Each `Problem` of an
error is one line of it.
"""

from parley.base.errors import (
    FetchError,
    OutputError,
    ParleyError,
    Problem,
    PublishError,
    RecordError,
    RowError,
    ScriptError,
    SourceError,
    UsageError,
)

__all__ = [
    "FetchError",
    "OutputError",
    "ParleyError",
    "Problem",
    "PublishError",
    "RecordError",
    "RowError",
    "ScriptError",
    "SourceError",
    "UsageError",
]
