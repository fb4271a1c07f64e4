"""Finds the dataset folders and loads what stands in them.

A dataset is a folder `<name>/` that holds `<name>.py`, the builder, and beside it `README.md`,
the card; `sample/`, invented records in upstream's layout; and optionally `statistics.py`, the
documented figures, `transcript.py`, how a row is laid out for reading, and `export.py`, other
formats to write it in. A script may import what stands beside it.
"""

import functools
import importlib.util
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from parley.errors import UsageError

# what a builder script defines beside its builder
NEEDED = ("SOURCES", "SPLITS", "FEATURES", "TO_RECORD")


def folders() -> list[Path]:
    """Return where datasets are looked for: the collection, then `PARLEY_DATASETS`."""
    installed = Path(__file__).parent / "collection_data"
    home = installed if installed.is_dir() else Path(__file__).parent.parent
    more = os.environ.get("PARLEY_DATASETS")
    extra = [Path(folder) for folder in (more or "").split(os.pathsep) if folder]
    for folder in extra:
        if not folder.is_dir():
            raise UsageError(f"PARLEY_DATASETS names {folder}, which is no folder")
    return [home, *extra]


def discover() -> dict[str, "Dataset"]:
    """Return every dataset by name, in the order of their names."""
    found: dict[str, Dataset] = {}
    for home in folders():
        for script in sorted(home.glob("*/*.py")):
            name = script.parent.name
            if script.stem == name and re.fullmatch("[a-z][a-z0-9_]*", name):
                if name in found:
                    raise UsageError(
                        f"two datasets are named {name}: {found[name].folder} and {script.parent}. "
                        "Rename one of the folders."
                    )
                found[name] = Dataset(name, script.parent)
    return dict(sorted(found.items()))


def get(name: str) -> "Dataset":
    """Return the dataset of this name, or raise UsageError naming those that exist."""
    datasets = discover()
    if name not in datasets:
        raise UsageError(f"no dataset is named {name!r}; there are: {', '.join(datasets)}")
    return datasets[name]


@dataclass(frozen=True)
class Dataset:
    """One dataset folder. Its modules are imported when first asked for."""

    name: str
    folder: Path

    @property
    def sample(self) -> Path:
        """The folder of invented records in upstream's layout."""
        return self.folder / "sample"

    @property
    def card(self) -> Path:
        """The dataset card."""
        return self.folder / "README.md"

    def read_card(self) -> str:
        """Return the text of the dataset card, or raise UsageError."""
        try:
            return self.card.read_text(encoding="utf-8")
        except (OSError, UnicodeError) as error:
            raise UsageError(f"{self.card}: the dataset card cannot be read: {error}") from error

    @property
    def module(self) -> ModuleType:
        """The builder script, imported (this imports `datasets`)."""
        path = self.folder / f"{self.name}.py"
        module = _load(self.name, path)
        lacking = [name for name in NEEDED if not hasattr(module, name)]
        if lacking:
            raise UsageError(
                f"{path}: defines no {', '.join(lacking)}; see 'Add a dataset' in the README"
            )
        if unknown := set(getattr(module, "BY_LINE", ())) - set(module.SPLITS):
            names = ", ".join(sorted(unknown))
            raise UsageError(f"{path}: BY_LINE names {names}; expected configs that SPLITS has")
        return module

    @property
    def exports(self) -> dict[str, Any]:
        """Format -> the function of (data, folder) that writes it, from `export.py`."""
        path = self.folder / "export.py"
        return dict(_load(self.name, path).EXPORTS) if path.exists() else {}

    @property
    def statistics(self) -> ModuleType | None:
        """The module of documented figures, if the folder has one."""
        path = self.folder / "statistics.py"
        return _load(self.name, path) if path.exists() else None

    @property
    def transcript(self) -> ModuleType | None:
        """The module that lays a row out for reading, if the folder has one."""
        path = self.folder / "transcript.py"
        return _load(self.name, path) if path.exists() else None

    @property
    def builder(self) -> Any:
        """The builder class: the one GeneratorBasedBuilder that the script defines."""
        import datasets

        module = self.module
        classes = [
            value
            for value in vars(module).values()
            if isinstance(value, type)
            and issubclass(value, datasets.GeneratorBasedBuilder)
            and value.__module__ == module.__name__
        ]
        if len(classes) != 1:
            raise UsageError(
                f"{self.folder / self.name}.py: expected one GeneratorBasedBuilder, "
                f"found {len(classes)}"
            )
        return classes[0]


@functools.cache
def _load(dataset: str, path: Path) -> ModuleType:
    package = f"parley_datasets.{dataset}"
    # packages, so that a script can import what stands beside it: `from . import`
    for name, places in (("parley_datasets", []), (package, [str(path.parent)])):
        if name not in sys.modules:
            sys.modules[name] = ModuleType(name)
            sys.modules[name].__path__ = places
    name = f"{package}.{path.stem}"  # datasets names a builder by the last part
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path}: cannot be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # so that datasets can find and pickle the builder
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # whatever a script raises, it is the script that is wrong
        raise UsageError(f"{path}: cannot be imported: {type(error).__name__}: {error}") from error
    return module
