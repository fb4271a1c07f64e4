"""A door: a package whose names stand in modules behind it, each imported on first use.

All at once would take as long as typer, rich and pyarrow.
"""

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any


def opened(door: str, places: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a door, which imports a name and keeps it."""
    module_of = {name: module for module, names in places.items() for name in names.split()}

    def get(name: str) -> Any:
        if name not in module_of:
            raise AttributeError(f"module {door!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(module_of[name]), name)
        setattr(sys.modules[door], name, value)
        return value

    return get
