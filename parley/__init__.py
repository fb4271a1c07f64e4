"""Parley builds, checks and publishes dialogue datasets as Hub folders that load everywhere."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from parley.api import datasets, load, open, score  # noqa: A004 - as `parley.open`
    from parley.builder import Builder
    from parley.chats import CHAT, chat_of
    from parley.declaration import Config, File, Folder, View
    from parley.shapes import Checked, Converted, as_json, null_or_absent

__version__ = "1.0.0"

# Imported when first asked for: `import parley` brings neither `datasets` nor pyarrow.
_PLACES = {
    "CHAT": "parley.chats",
    "Builder": "parley.builder",
    "Checked": "parley.shapes",
    "Config": "parley.declaration",
    "Converted": "parley.shapes",
    "File": "parley.declaration",
    "Folder": "parley.declaration",
    "View": "parley.declaration",
    "as_json": "parley.shapes",
    "chat_of": "parley.chats",
    "datasets": "parley.api",
    "load": "parley.api",
    "null_or_absent": "parley.shapes",
    "open": "parley.api",
    "score": "parley.api",
}
__all__ = [  # noqa: RUF022 - what is declared with, then what is done with it
    "Builder",
    "Checked",
    "Config",
    "Converted",
    "File",
    "Folder",
    "View",
    "CHAT",
    "as_json",
    "chat_of",
    "null_or_absent",
    "datasets",
    "load",
    "open",
    "score",
    "__version__",
]


def __getattr__(name: str) -> Any:
    if (place := _PLACES.get(name)) is None:
        raise AttributeError(f"module 'parley' has no attribute {name!r}")
    return getattr(importlib.import_module(place), name)
