"""Build hooks: the dataset folders in the wheel; what the package index shows."""

import re
from pathlib import Path
from typing import Any

from hatchling.builders.config import BuilderConfig
from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface


class DatasetFolders(BuildHookInterface[BuilderConfig]):
    """Adds each folder that holds a script of its own name, as `parley/collection_data/NAME`."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Name the folders; an editable install finds them in the checkout instead."""
        if version == "editable":
            return
        for script in Path(self.root).glob("*/*.py"):
            folder = script.parent
            if script.stem == folder.name and folder.name != "parley":
                target = f"parley/collection_data/{folder.name}"
                build_data["force_include"][str(folder)] = target


class ProjectPage(MetadataHookInterface):
    """Makes links and README of the package index from `repository` in pyproject.toml."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the links and the README, whose links lead to the files of this version."""
        repository = self.config["repository"]
        files = f"{repository}/blob/v{metadata['version']}"
        metadata["urls"] = {
            "Repository": repository,
            "Documentation": f"{files}/docs/using.md",
            "Changelog": f"{files}/CHANGELOG.md",
            "Issues": f"{repository}/issues",
            "Security": f"{repository}/security/advisories/new",
        }
        readme = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        readme = re.sub(r"^```mermaid\n.*?^```\n\n?", "", readme, flags=re.DOTALL | re.MULTILINE)
        readme = re.sub(
            r"(!\[[^\]]*\]\()(?!https:|#)", rf"\1{repository}/raw/v{metadata['version']}/", readme
        )
        readme = re.sub(r"(?<!!)(\[[^\]]*\]\()(?!https:|#)", rf"\1{files}/", readme)
        metadata["readme"] = {"content-type": "text/markdown", "text": readme}
