"""Build, check, load and score dialogue datasets.

For users: `list`, `load`, `open`, `fetch`, `build`, `verify`, `score`, `labels`, `connect` and
`browse`.
For the script of a dataset: `Builder` and its parts, as `help(parley.Builder)` shows; for its
figures and checks `documented`, `counted` and `check`; and all exceptions. `parley.tasks` has the
words of tasks, `parley.read` those of transcripts, charts and exports.
"""

from typing import TYPE_CHECKING

from parley.base.door import opened

if TYPE_CHECKING:
    from parley.api import browse, build, connect, dataset, fetch, labels, load, score, verify
    from parley.api import list as list  # noqa: A004
    from parley.api import open as open  # noqa: A004
    from parley.base.console import print_message
    from parley.base.errors import (
        FetchError,
        MissingSplitError,
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
    from parley.base.replace import beside, write_whole, writing
    from parley.base.values import row_differences
    from parley.base.version import __version__
    from parley.declaration.configs import Config, View
    from parley.declaration.jobs import Job
    from parley.declaration.verdicts import (
        Data,
        Differs,
        check,
        counted,
        documented,
        moses_tokenizer,
    )
    from parley.rows.builder import Builder
    from parley.rows.parquet import write_table
    from parley.schema.features import ClassLabel, Value
    from parley.schema.shapes import CHAT, Checked, Converted, Field, chat_of, problems
    from parley.source.files import File, Folder

_PLACES = {
    "parley.api": "browse build connect dataset fetch labels list load open score verify",
    "parley.base.console": "print_message",
    "parley.base.replace": "beside write_whole writing",
    "parley.base.errors": "FetchError MissingSplitError OutputError ParleyError Problem "
    "PublishError RecordError RowError ScriptError SourceError UsageError",
    "parley.base.values": "row_differences",
    "parley.base.version": "__version__",
    "parley.rows.builder": "Builder",
    "parley.declaration.configs": "Config View",
    "parley.declaration.verdicts": "Data Differs check counted documented moses_tokenizer",
    "parley.declaration.jobs": "Job",
    "parley.rows.parquet": "write_table",
    "parley.schema.features": "ClassLabel Value",
    "parley.schema.shapes": "CHAT Checked Converted Field chat_of problems",
    "parley.source.files": "File Folder",
}
__all__ = ["CHAT", "Builder", "Checked", "ClassLabel", "Config", "Converted", "Data"]
__all__ += ["Differs", "FetchError", "Field", "File", "Folder", "Job", "MissingSplitError"]
__all__ += ["OutputError", "ParleyError", "Problem", "PublishError", "RecordError", "RowError"]
__all__ += ["ScriptError", "SourceError", "UsageError", "Value", "View", "__version__", "beside"]
__all__ += ["browse", "build", "chat_of", "check", "connect", "counted", "dataset", "documented"]
__all__ += ["fetch", "labels", "list", "load", "moses_tokenizer", "open", "print_message"]
__all__ += ["problems", "row_differences", "score", "verify", "write_table", "write_whole"]
__all__ += ["writing"]
__getattr__ = opened(__name__, _PLACES)


def __dir__() -> tuple[str, ...]:
    """Return what users need: `help(parley)` shows the functions, not the words of scripts."""
    functions = tuple(_PLACES["parley.api"].split())
    return (*functions, "__all__", "__doc__", "__file__", "__name__", "__path__", "__version__")
