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

import functools
import importlib.util
import inspect
import keyword
import os
import re
import sys
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType
from typing import Any

from parley.errors import Problem, ScriptError, UsageError

# what a builder script defines beside its builder: declarations, then functions with what they
# take, the last of `read` and `records` with a default
DECLARED = ("SOURCES", "SPLITS", "FEATURES", "TO_RECORD", "RECORDS")
FUNCTIONS = {
    "read": ("path", "shape", "loads"),
    "records": ("config", "paths", "read"),
    "rows": ("config", "records"),
}
_PINS = ({"sha256"}, {"git_blob"}, {"git_tree", "member"})  # what fixes the content of a source


_YAML = {"true", "false", "yes", "no", "on", "off", "null", "y", "n"}
_PACKAGES = {
    "datasets", "huggingface_hub", "jsonlines", "numpy", "orjson", "pandas", "parley",
    "parley_datasets", "pyarrow", "requests", "rich", "typer", "urllib3", "yaml",
}  # fmt: skip
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
        if any(_scripts(folder)):
            continue
        if (folder / f"{folder.name}.py").is_file():
            raise UsageError(
                f"PARLEY_DATASETS names {folder}, which is a dataset folder itself",
                remedy=f"Name the folder above it, {folder.resolve().parent}.",
            )
        raise UsageError(
            f"PARLEY_DATASETS names {folder}, which holds no dataset", remedy=_where_else(folder)
        )
    return [collection_folder(), *extra]


def wrong_name(name: str) -> str:
    """Return why no dataset may have this name, or "" if one may."""
    if not re.fullmatch("[a-z][a-z0-9_]*", name):
        return "a name has lower-case letters, digits and _, and begins with a letter"
    if keyword.iskeyword(name) or keyword.iskeyword(name.title()):  # the title names the class
        return "it is a word of Python"
    if name in _YAML:
        return "YAML, in which a card is written, takes it for a value"
    if name in sys.stdlib_module_names:
        return "it is the name of a module of Python, which the script would hide"
    if name in _PACKAGES:
        return "it is the name of a package, which the script would hide"
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
        except FileNotFoundError as error:
            remedy = f"`parley check {self.name}` says what a dataset folder needs."
            raise UsageError(f"{self.card}: there is no dataset card", remedy=remedy) from error
        except (OSError, UnicodeError) as error:
            raise UsageError(f"{self.card}: the dataset card cannot be read: {error}") from error

    @property
    def module(self) -> ModuleType:
        """The builder script, imported (this imports `datasets`).

        Raises:
            ScriptError: naming everything that it does not declare as it should.
        """
        module = _load(self.name, self.folder / f"{self.name}.py")
        if module not in _SOUND:
            if found := list(_wrong_declarations(module)):
                raise ScriptError(
                    str(self.folder / f"{self.name}.py"),
                    *found,
                    remedy="docs/adding.md says what a script declares.",
                )
            _SOUND.append(module)
        return module

    def beside(self, name: str) -> ModuleType | None:
        """Return an optional module of the folder, imported, or None if it has none."""
        path = self.folder / f"{name}.py"
        return _load(self.name, path) if path.exists() else None

    @property
    def figures(self) -> ModuleType | None:
        """The module of documented figures, if the folder has one."""
        return self.beside("figures")

    @property
    def documented_rows(self) -> dict[str, dict[str, int]]:
        """Config -> split -> the rows that a document states, as `ROWS` of `figures.py` says."""
        return dict(getattr(self.figures, "ROWS", {}))

    @property
    def checks(self) -> ModuleType | None:
        """The module of what must hold of the rows, if the folder has one."""
        return self.beside("checks")

    @property
    def keys(self) -> dict[str, tuple[str, ...]]:
        """Config -> the columns that tell its rows apart, as far as `checks.py` says so."""
        return dict(getattr(self.checks, "KEYS", {}))

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
        if (module := self.beside(file)) is None:
            return {}
        if not isinstance(found := getattr(module, name, None), dict):
            raise ScriptError(f"{module.__file__}: defines no dict {name}")
        return dict(found)

    @property
    def transcript(self) -> ModuleType | None:
        """The module that lays a row out for reading, if the folder has one."""
        module = self.beside("transcript")
        if module and not hasattr(module, "CONFIGS"):
            raise ScriptError(
                f"{module.__file__}: defines no CONFIGS, the configs it can read",
                remedy='As an example: CONFIGS = ("dialogues",).',
            )
        return module

    @property
    def builder(self) -> Any:
        """The builder class: the one GeneratorBasedBuilder that the script defines."""
        return _builders(self.module)[0]

    def info(self, config: str) -> Any:
        """Return the `datasets.DatasetInfo` of a config."""
        # datasets wants a place for what it builds; nothing goes there, and no folder is made
        return self.builder(config_name=config, cache_dir="memory://", hash="unused").info


_SOUND: list[ModuleType] = []  # scripts that were looked at


def _builders(module: ModuleType) -> list[Any]:
    import datasets

    return [
        value
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, datasets.GeneratorBasedBuilder)
        and value.__module__ == module.__name__
    ]


def _wrong_declarations(module: ModuleType) -> Iterator[Problem]:
    """Yield what a script does not declare as it should."""
    lacking = [name for name in DECLARED if not isinstance(getattr(module, name, None), dict)]
    yield from (Problem(name, what="missing, expected a dict") for name in lacking)
    for name, arguments in FUNCTIONS.items():
        if not callable(function := getattr(module, name, None)):
            yield Problem(name, what="missing, expected a function")
        elif not _takes(function, *{2, len(arguments)}):
            takes = f"a function of ({', '.join(arguments)})"
            last = f", {arguments[2]} with a default" if arguments[2:] else ""
            yield Problem(name, takes + last, str(inspect.signature(function)))
    if len(found := _builders(module)) != 1:
        yield Problem("", "one GeneratorBasedBuilder", str(len(found)))
    if lacking or len(found) != 1:
        return
    yield from _wrong_sources(module)
    builder = found[0]
    named = {config.name for config in builder.BUILDER_CONFIGS}
    for config in module.SPLITS:
        if config not in named:
            yield Problem("BUILDER_CONFIGS", what=f"has no config {config}, which SPLITS has")
        if config not in module.FEATURES:
            yield Problem("FEATURES", what=f"has no config {config}, which SPLITS has")
        elif not isinstance(features := module.FEATURES[config], _features()):
            yield Problem(f"FEATURES[{config!r}]", "datasets.Features", f"{features!r:.60}")
    yield from (
        Problem("BUILDER_CONFIGS", what=f"has the config {config}, which SPLITS does not have")
        for config in sorted(named - set(module.SPLITS))
    )
    if builder.DEFAULT_CONFIG_NAME not in module.SPLITS:
        yield Problem(
            "DEFAULT_CONFIG_NAME", "a config of SPLITS", repr(builder.DEFAULT_CONFIG_NAME)
        )
    for name, where in (("BY_LINE", "SPLITS"), ("TO_RECORD", "SPLITS"), ("RECORDS", "TO_RECORD")):
        for config in getattr(module, name, ()):
            if config not in getattr(module, where):
                yield Problem(name, what=f"names {config}, which {where} does not have")
    for config, to_record in module.TO_RECORD.items():
        if not (callable(to_record) and _takes(to_record, 1)):
            yield Problem(f"TO_RECORD[{config!r}]", "a function of (row)", f"{to_record!r:.60}")
        if config not in module.RECORDS:
            what = f"has no config {config}, whose rows TO_RECORD takes back"
            yield Problem("RECORDS", what=what)


def _features() -> type:
    import datasets

    return datasets.Features  # type: ignore[no-any-return]


def _takes(function: Any, *counts: int) -> bool:
    """Tell whether a function can be called with these numbers of arguments, as far as it says."""
    try:
        signature = inspect.signature(function)
    except ValueError:  # of some builtins, as dict
        return True
    try:
        for count in counts:
            signature.bind(*range(count))
    except TypeError:
        return False
    return True


def _wrong_sources(module: ModuleType) -> Iterator[Problem]:
    for source, pin in module.SOURCES.items():
        if not isinstance(pin, dict) or "url" not in pin:
            yield Problem(f"SOURCES[{source!r}]", what="names no url")
            continue
        for number, place in enumerate([pin, *pin.get("mirrors", ())]):
            where = f"SOURCES[{source!r}]" + (f".mirrors[{number - 1}]" if number else "")
            if not isinstance(place, dict):
                yield Problem(where, "a dict", repr(place))
            elif sum(kind <= place.keys() for kind in _PINS) != 1:
                expected = "one of sha256, git_blob, or git_tree with member"
                yield Problem(where, expected, ", ".join(place))
            elif number and (len(pin.keys() & {"sha256", "git_blob"}) != 1 or "url" not in place):
                yield Problem(
                    where, what="a mirror is a file of its own url, of a source that is one"
                )
    for source, others in getattr(module, "STAND_INS", {}).items():
        if not isinstance(others, tuple):
            yield Problem(f"STAND_INS[{source!r}]", "a tuple of sources", repr(others))
            continue
        for name in (source, *others):
            if name not in module.SOURCES:
                yield Problem("STAND_INS", what=f"names {name!r}, which SOURCES does not have")
    for config, splits in module.SPLITS.items():
        if not isinstance(splits, dict) or not splits:
            yield Problem(f"SPLITS[{config!r}]", "a dict of splits", repr(splits))
            continue
        for split, needed in splits.items():
            where = f"SPLITS[{config!r}][{split!r}]"
            if not isinstance(needed, tuple) or not needed:
                yield Problem(where, "a tuple of sources", repr(needed))
            else:
                for source in needed:
                    if source not in module.SOURCES:
                        yield Problem(where, what=f"names {source!r}, which SOURCES does not have")


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
        raise ScriptError(f"{path}: cannot be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # so that datasets can find and pickle the builder
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # whatever it raises, it is the script that is wrong
        del sys.modules[name]
        said = f"{type(error).__name__}: {error}"
        lines = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == str(path)]
        line = f", line {lines[-1].lineno}" if lines else ""
        remedy = "Mend it, or what it imports."
        raise ScriptError(f"{path}{line}: cannot be imported: {said}", remedy=remedy) from error
    return module
