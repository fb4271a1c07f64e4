"""Build, check, load and score dialogue datasets.

For users: `list`, `load`, `open`, `fetch`, `build`, `verify`, `score`, `connect`, and
`browse`.
For the script of a dataset: `Builder` and its parts, as `help(parley.Builder)` shows.
The other files of a dataset take theirs from the modules that have `__all__`, such as
`parley.tasks.task`, `parley.building.figures` and `parley.reading.transcript`.
`parley.base.errors` has the exceptions.
"""

import importlib
from typing import TYPE_CHECKING, Any

from parley.base.errors import ParleyError
from parley.base.version import __version__

if TYPE_CHECKING:
    from parley.building.builder import Builder
    from parley.building.configs import Config, View
    from parley.programs import browse, build, connect, dataset, fetch, load, score, verify
    from parley.programs import list as list  # noqa: A004
    from parley.programs import open as open  # noqa: A004
    from parley.schema.chats import CHAT, chat_of
    from parley.schema.features import ClassLabel, Value
    from parley.schema.shapes import Checked, Converted, Field, problems
    from parley.source.files import File, Folder

_FUNCTIONS: tuple[str, ...] = ("browse", "build", "connect", "dataset", "fetch")
_FUNCTIONS += ("list", "load", "open", "score", "verify")
# Module -> names, imported on first use: all at once would take as long as typer and rich
_WORDS = {
    "parley.building.builder": ("Builder",),
    "parley.building.configs": ("Config", "View"),
    "parley.programs": _FUNCTIONS,
    "parley.schema.chats": ("CHAT", "chat_of"),
    "parley.schema.features": ("ClassLabel", "Value"),
    "parley.schema.shapes": ("Checked", "Converted", "Field", "problems"),
    "parley.source.files": ("File", "Folder"),
}
_PLACES = {name: module for module, names in _WORDS.items() for name in names}
__all__ = ["CHAT", "Builder", "Checked", "ClassLabel", "Config", "Converted", "Field", "File"]
__all__ += ["Folder", "ParleyError", "Value", "View", "__version__", "browse"]
__all__ += ["build", "chat_of", "connect", "dataset", "fetch", "list", "load", "open"]
__all__ += ["problems", "score", "verify"]


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module 'parley' has no attribute {name!r}")
    return getattr(importlib.import_module(_PLACES[name]), name)


def __dir__() -> tuple[str, ...]:
    """Return what users need: `help(parley)` shows the functions, not the words of scripts."""
    return (*_FUNCTIONS, "__all__", "__doc__", "__file__", "__name__", "__path__", "__version__")
