from .api import browse, build, connect, dataset, fetch, labels, load, score, verify
from .api import list as list  # noqa: A004
from .api import open as open  # noqa: A004
from .base.console import print_message
from .base.errors import (
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
from .base.replace import beside, write_whole, writing
from .base.values import row_differences
from .base.version import __version__
from .declaration.configs import Config, View
from .declaration.figures import (
    Data,
    Differs,
    check,
    counted,
    documented,
)
from .declaration.jobs import Job
from .declaration.tokenizer import moses_tokenizer
from .rows.builder import Builder
from .rows.parquet import write_table
from .schema.features import ClassLabel, Value
from .schema.shapes import CHAT, Checked, Converted, Field, chat_of, problems
from .source.files import File, Folder

__all__ = ["CHAT", "Builder", "Checked", "ClassLabel", "Config", "Converted", "Data"]
__all__ += ["Differs", "FetchError", "Field", "File", "Folder", "Job", "MissingSplitError"]
__all__ += ["OutputError", "ParleyError", "Problem", "PublishError", "RecordError", "RowError"]
__all__ += ["ScriptError", "SourceError", "UsageError", "Value", "View", "__version__", "beside"]
__all__ += ["browse", "build", "chat_of", "check", "connect", "counted", "dataset", "documented"]
__all__ += ["fetch", "labels", "list", "load", "moses_tokenizer", "open", "print_message"]
__all__ += ["problems", "row_differences", "score", "verify", "write_table", "write_whole"]
__all__ += ["writing"]
