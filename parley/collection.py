"""Finds the dataset folders and loads what stands in them.

A dataset is a folder `<name>/` that holds `<name>.py`, the builder script, and beside it
`README.md`, the card; `sample/`, invented records in upstream's layout; and optionally

    figures.py     the documented figures
    checks.py      what must hold of the rows
    transcript.py  how a dialogue reads and what it is found by
    export.py      other formats to write it in
    jobs.py        what else can be done with it
    tasks.py       what can be scored on it

A script may import what stands beside it.
"""

import keyword
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from parley.errors import ScriptError, UsageError
from parley.loading import load_module

if TYPE_CHECKING:
    from parley.builder import Builder
    from parley.declaration import Config, Source, View


_YAML = {"true", "false", "yes", "no", "on", "off", "null", "y", "n"}
_BESIDE = {"figures", "checks", "transcript", "export", "jobs", "tasks", "views"}


def collection_folder() -> Path:
    """Return the folder of the collection's own datasets."""
    installed = Path(__file__).parent / "collection_data"
    return installed if installed.is_dir() else Path(__file__).parent.parent


def folders() -> list[Path]:
    """Return where datasets are looked for: the collection, then `PARLEY_DATASETS`."""
    more = os.environ.get("PARLEY_DATASETS")
    extra = [Path(folder) for folder in (more or "").split(os.pathsep) if folder]
    for folder in extra:
        if not folder.is_dir():
            raise UsageError(f"PARLEY_DATASETS names {folder}, which is no folder")
        if not any(_scripts(folder)):
            what = f"PARLEY_DATASETS names {folder}, which holds no dataset"
            raise UsageError(what, remedy=_where_else(folder))
    return [collection_folder(), *extra]


def wrong_name(name: str) -> str:
    """Return why no dataset may have this name, or "" if one may."""
    if not re.fullmatch("[a-z][a-z0-9_]*", name):
        return "a name has lower-case letters, digits and _, and begins with a letter"
    if keyword.iskeyword(name) or keyword.iskeyword(name.title()):  # the title names the class
        return "it is a word of Python"
    if name in _YAML:
        return "YAML, in which a card is written, takes it for a value"
    if name in sys.stdlib_module_names or name in ("datasets", "parley"):
        return "it is the name of a module, which the script would hide in its own folder"
    if name in _BESIDE:
        return f"{name}.py stands beside the script of a dataset"
    return ""


def _scripts(home: Path) -> Iterator[Path]:
    """Yield the scripts of a folder's datasets."""
    for script in sorted(home.glob("*/*.py")):
        if script.stem == script.parent.name and not wrong_name(script.stem):
            yield script


def _where_else(home: Path) -> str:
    """Return what to do about a folder that holds no dataset."""
    if (home / f"{home.name}.py").is_file():
        return f"It is a dataset folder itself: name the folder above it, {home.resolve().parent}."
    for below in sorted(path for path in home.iterdir() if path.is_dir()):
        if any(_scripts(below)):
            return f"Name the folder in it, {below}."
        if any(below.glob("*.py")):
            return _why_none(below)
    return "A dataset is a folder NAME with the script NAME.py in it; `parley new` writes one."


def _why_none(folder: Path) -> str:
    """Return what to do about a folder that is no dataset's."""
    if wrong := wrong_name(folder.name):
        return f"Rename {folder}: {wrong}."
    there = ", ".join(sorted(path.name for path in folder.glob("*.py"))) or "no script"
    return f"{folder} holds {there}: name its script as the folder, {folder.name}.py."


def discover() -> dict[str, "Dataset"]:
    """Return every dataset by name, in the order of their names."""
    found: dict[str, Dataset] = {}
    for home in folders():
        for script in _scripts(home):
            name = script.stem
            if name in found:
                raise UsageError(
                    f"two datasets are named {name}: {found[name].folder} and {script.parent}",
                    remedy="Rename one of the folders.",
                )
            found[name] = Dataset(name, script.parent)
    return dict(sorted(found.items()))


def get(name: str) -> "Dataset":
    """Return the dataset of this name, or raise UsageError naming those that exist."""
    datasets = discover()
    if name not in datasets:
        raise UsageError(
            f"no dataset is named {name!r}; there are: {', '.join(datasets)}",
            remedy=_hint(name, list(datasets)),
        )
    return datasets[name]


def _hint(name: str, names: list[str]) -> str:
    given = Path(name)
    if given.name != name and given.name in names:
        return (
            f"Did you mean {given.name}? Give the name alone; folders are for --build and --source."
        )
    if (given / f"{given.name}.py").is_file():
        above = given.resolve().parent
        return f"Give the name alone, {given.name}, and let PARLEY_DATASETS name {above}."
    for home in folders()[1:]:
        if (home / given.name).is_dir():
            return _why_none(home / given.name)
    near = get_close_matches(name.lower(), names, 1)
    return f"Did you mean {near[0]}?" if near else ""


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
            remedy = f"`parley check {self.name}` says what a dataset folder needs."
            raise UsageError(f"{self.card}: no card to read: {error}", remedy=remedy) from error

    @cached_property
    def builder(self) -> "type[Builder]":
        """The builder class, imported: the one that the script defines (imports `datasets`).

        Raises:
            ScriptError: naming everything that it does not declare as it should.
        """
        from parley.builder import Builder
        from parley.declaration import REMEDY

        module = load_module(self.name, self.folder, self.name)
        classes = (value for value in vars(module).values() if isinstance(value, type))
        own = (value for value in classes if value.__module__ == module.__name__)
        found = [value for value in own if issubclass(value, Builder)]
        if len(found) != 1:
            script = self.folder / f"{self.name}.py"
            raise ScriptError(
                f"{script}: expected one class of Builder, found {len(found)}", remedy=REMEDY
            )
        return found[0]

    @property
    def configs(self) -> "dict[str, Config | View]":
        """The configs by name, as the script declares them."""
        return self.builder.configs()

    @property
    def splits(self) -> "dict[str, dict[str, tuple[Source, ...]]]":
        """Config -> split -> the sources that it is made from."""
        return {config: dict(self.builder.splits(config)) for config in self.configs}

    @cached_property
    def sources(self) -> "dict[str, Source]":
        """Every upstream file and folder, by its path in upstream's layout."""
        return self.builder.sources()

    @property
    def pins(self) -> dict[str, dict[str, Any]]:
        """What fixes the content of each source, by its path."""
        return {path: source.pin for path, source in self.sources.items()}

    @property
    def default(self) -> str:
        """The config that is loaded where none is named."""
        return next(iter(self.configs))

    @property
    def version(self) -> str:
        """The version of the rows."""
        return str(self.builder.VERSION)

    def features(self, config: str) -> Any:
        """Return the `datasets.Features` of a config."""
        return self.configs[config].features

    def load_module(self, name: str) -> ModuleType | None:
        """Return an optional module of the folder, imported, or None if it has none."""
        there = (self.folder / f"{name}.py").exists()
        return load_module(self.name, self.folder, name) if there else None

    @property
    def figures(self) -> ModuleType | None:
        """The module of documented figures, if the folder has one."""
        return self.load_module("figures")

    @property
    def documented_rows(self) -> dict[str, dict[str, int]]:
        """Config -> split -> the rows that a document states, as `ROWS` of `figures.py` says."""
        return dict(getattr(self.figures, "ROWS", {}))

    @property
    def checks(self) -> ModuleType | None:
        """The module of what must hold of the rows, if the folder has one."""
        return self.load_module("checks")

    @property
    def exports(self) -> dict[str, Any]:
        """Format -> the function of (data, folder) that writes it, from `export.py`."""
        return self._declared("export", "EXPORTS")

    @property
    def jobs(self) -> dict[str, Any]:
        """Name -> what else can be done with the dataset, from `jobs.py`."""
        return self._declared("jobs", "JOBS")

    @property
    def tasks(self) -> dict[str, Any]:
        """Name -> what can be scored on the dataset, from `tasks.py`."""
        return self._declared("tasks", "TASKS")

    def _declared(self, file: str, name: str) -> dict[str, Any]:
        """Return the dict of this name in an optional module, {} if the folder has none."""
        if (module := self.load_module(file)) is None:
            return {}
        if not isinstance(found := getattr(module, name, None), dict):
            raise ScriptError(f"{module.__file__}: defines no dict {name}")
        return dict(found)

    @property
    def transcript(self) -> ModuleType | None:
        """The module that lays a row out for reading, if the folder has one."""
        module = self.load_module("transcript")
        if module and not hasattr(module, "CONFIGS"):
            raise ScriptError(
                f"{module.__file__}: defines no CONFIGS, the configs it can read",
                remedy='As an example: CONFIGS = ("dialogues",).',
            )
        return module
