"""Build, check, load and score dialogue datasets.

For users: `list`, `load`, `open`, `fetch`, `build`, `verify`, `score`, `connect`, and
`browse`.
For the script of a dataset: `Builder` and its parts, as `help(parley.Builder)` shows.
The other files of a dataset take theirs from the modules that have `__all__`, such as
`parley.tasks.task`, `parley.building.figures` and `parley.reading.transcript`.
`parley.base.errors` has the exceptions.
"""

from parley.base.errors import ParleyError
from parley.base.version import __version__
from parley.building.builder import Builder
from parley.building.configs import Config, View
from parley.programs import browse, build, connect, dataset, fetch, load, score, verify
from parley.programs import list as list  # noqa: A004
from parley.programs import open as open  # noqa: A004
from parley.schema.chats import CHAT, chat_of
from parley.schema.features import ClassLabel, Value
from parley.schema.shapes import Checked, Converted, Field, problems
from parley.source.files import File, Folder

__all__ = ["CHAT", "Builder", "Checked", "ClassLabel", "Config", "Converted", "Field", "File"]
__all__ += ["Folder", "ParleyError", "Value", "View", "__version__", "browse"]
__all__ += ["build", "chat_of", "connect", "dataset", "fetch", "list", "load", "open"]
__all__ += ["problems", "score", "verify"]


def __dir__() -> tuple[str, ...]:
    """Return what users need: `help(parley)` shows the functions, not the words of scripts."""
    home = "parley.programs"
    functions = (each for each in __all__ if getattr(globals()[each], "__module__", "") == home)
    return (*functions, "__all__", "__doc__", "__file__", "__name__", "__path__", "__version__")
