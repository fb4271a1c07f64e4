"""Build hook: the dataset folders travel in the wheel as `parley/collection_data/`."""

from pathlib import Path
from typing import Any

from hatchling.builders.config import BuilderConfig
from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class DatasetFolders(BuildHookInterface[BuilderConfig]):
    """Adds each folder that holds a script of its own name."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Name the folders; an editable install finds them in the checkout instead."""
        if version == "editable":
            return
        for script in Path(self.root).glob("*/*.py"):
            folder = script.parent
            if script.stem == folder.name and folder.name != "parley":
                target = f"parley/collection_data/{folder.name}"
                build_data["force_include"][str(folder)] = target
