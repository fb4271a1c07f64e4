"""The exceptions of parley; `ParleyError` is the base of all.

An error says its place, the expected and the found value, and the remedy. Each `Problem` of an
error is one line of it.
"""

from parley.base.errors import FetchError as FetchError
from parley.base.errors import OutputError as OutputError
from parley.base.errors import ParleyError as ParleyError
from parley.base.errors import Problem as Problem
from parley.base.errors import PublishError as PublishError
from parley.base.errors import RecordError as RecordError
from parley.base.errors import RowError as RowError
from parley.base.errors import ScriptError as ScriptError
from parley.base.errors import SourceError as SourceError
from parley.base.errors import UsageError as UsageError

__all__ = sorted(name for name in dir() if not name.startswith("_"))
