"""Find dataset folders and import their modules; docs/adding.md describes the files of a folder."""

import importlib
import keyword
import math
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from parley.base.disk import read_regular
from parley.base.errors import (
    MOST_PROBLEMS,
    MissingSplitError,
    OutputError,
    ParleyError,
    Problem,
    ScriptError,
    UsageError,
    require_known,
    words_of,
)
from parley.base.extras import lacking
from parley.declaration.layout import Layout, layout_of
from parley.schema.shapes import problems

if TYPE_CHECKING:
    from parley.declaration.configs import Config, View
    from parley.declaration.jobs import Job
    from parley.declaration.script import Script
    from parley.source.files import Source
    from parley.tasks.task import Task


_TAKEN = {"true", "false", "yes", "no", "on", "off", "null", "y", "n"}  # by YAML
_TAKEN |= {"figures", "checks", "transcript", "charts", "export", "jobs", "pins", "subsets"}
_TAKEN |= {"main", "memory", "system", "temp", "information_schema", "pg_catalog"}  # by DuckDB
_TAKEN |= {"tasks", "views", "datasets", "parley", *sys.stdlib_module_names}
_LAYOUT = (
    "To use your own, set PARLEY_DATASETS to a folder of folders NAME, each with its script "
    "NAME.py, in lower case."
)
CITATION = "CITATION.bib"
IN_WHEEL = "collection_data"
"""The folder of parley's own datasets in the installed package."""


def collection_folder() -> Path:
    """Return the folder of parley's own datasets."""
    package = Path(__file__).parent.parent
    installed = package / IN_WHEEL
    return installed if installed.is_dir() else package.parent


def folders() -> list[Path]:
    """Return the folders with datasets: the collection, then `PARLEY_DATASETS`."""
    more = os.environ.get("PARLEY_DATASETS")
    extra = [Path(folder) for folder in (more or "").split(os.pathsep) if folder]
    for folder in extra:
        if not folder.is_dir():
            raise UsageError(f"PARLEY_DATASETS: no folder {folder}")
        if not any(_scripts(folder)):
            raise UsageError(f"PARLEY_DATASETS: {folder} holds no dataset", remedy=_LAYOUT)
    return [collection_folder(), *extra]


def wrong_name(name: str) -> str:
    """Return why a dataset cannot have this name, or ""."""
    if not re.fullmatch("[a-z][a-z0-9_]*", name):
        return "a name has lower-case letters, digits and _, and begins with a letter"
    # the title names the class
    if keyword.iskeyword(name) or keyword.iskeyword(name.title()) or name in _TAKEN:
        return "it means something else in Python, YAML or SQL, or is that of another module"
    return ""


def _scripts(home: Path) -> Iterator[Path]:
    """Yield the scripts of a folder's datasets."""
    for script in sorted(home.glob("*/*.py")):
        if script.stem == script.parent.name and not wrong_name(script.stem):
            yield script


def discover() -> dict[str, "Dataset"]:
    """Return name -> dataset, sorted by name."""
    datasets: dict[str, Dataset] = {}
    for home in folders():
        for script in _scripts(home):
            name = script.stem
            if name in datasets:
                what = f"two datasets are named {name}: {datasets[name].folder} and {script.parent}"
                raise UsageError(what, remedy="Rename one of the folders.")
            datasets[name] = Dataset(name, script.parent)
    return dict(sorted(datasets.items()))


def get(name: str) -> "Dataset":
    """Return the dataset of this name, or raise UsageError with the known names."""
    if name in (datasets := discover()):
        return datasets[name]
    near = get_close_matches(Path(name).name.lower(), datasets, 1)
    hint = f"Did you mean {near[0]}?" if near else _LAYOUT
    hint += " Give the name alone." if near and "/" in name else ""
    raise UsageError(f"no dataset is named {name!r}; there are: {', '.join(datasets)}", remedy=hint)


@dataclass(frozen=True)
class Dataset:
    """A dataset folder; its modules are imported on first use."""

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
        remedy = f"`parley check {self.name}` says what a dataset folder needs."
        return _read(self.card, "card", UsageError, remedy)

    @cached_property
    def builder(self) -> "type[Script]":
        """The builder class of the script, with its citation.

        ScriptError lists every mistake in the script, or names the file of the citation.
        """
        from parley.declaration.script import Script
        from parley.source.files import REMEDY

        module = load_module(self.name, self.folder, self.name)
        classes = (value for value in vars(module).values() if isinstance(value, type))
        declared = (value for value in classes if value.__module__ == module.__name__)
        builders = [value for value in declared if issubclass(value, Script)]
        if len(builders) != 1:
            script = self.folder / f"{self.name}.py"
            what = f"{script}: expected one class of Builder, found {len(builders)}"
            raise ScriptError(what, remedy=REMEDY)
        builders[0].CITATION = self._citation()
        return builders[0]

    @property
    def published(self) -> str:
        """The year of the first work to cite, "" if the citation names none."""
        year = re.search(r"\byear\s*=\s*[{\"]?(\d{4})", self.builder.CITATION)
        return year[1] if year else ""

    def _citation(self) -> str:
        """Return the BibTeX text beside the script, or raise ScriptError."""
        path, remedy = self.folder / CITATION, "Write the BibTeX entry of what to cite."
        text = _read(path, "citation", ScriptError, remedy).strip()
        if not text.startswith("@"):
            begins = Problem("", "text that begins with @", f"{text!r:.60}")
            raise ScriptError(str(path), begins, remedy=remedy)
        return text

    @property
    def configs(self) -> "dict[str, Config | View]":
        """Name -> config, in the order of the script."""
        return self.builder.configs()

    @property
    def splits(self) -> "dict[str, dict[str, tuple[Source, ...]]]":
        """Config -> split -> its sources."""
        return self.builder.splits()

    @cached_property
    def sources(self) -> "dict[str, Source]":
        """Path in upstream's layout -> source."""
        lists = (sources for splits in self.splits.values() for sources in splits.values())
        return {source.path: source for sources in lists for source in sources}

    @property
    def pins(self) -> dict[str, dict[str, Any]]:
        """Path -> pin of the source."""
        return {path: source.pin for path, source in self.sources.items()}

    @cached_property
    def meanings(self) -> dict[str, str]:
        """CONFIG.COLUMN -> its meaning, of columns and of the fields within them."""
        configs = self.configs.items()
        return {f"{name}.{f.path}": f.meaning for name, config in configs for f in config.fields}

    @property
    def default(self) -> str:
        """The default config."""
        return next(iter(self.configs))

    @property
    def language(self) -> str:
        """The language of its dialogues, "" if the script names none or several."""
        return next(iter(self.builder.LANGUAGES)) if len(self.builder.LANGUAGES) == 1 else ""

    @property
    def version(self) -> str:
        """The version of the rows."""
        return str(self.builder.VERSION)

    def require(self, config: str, split: str | None = None) -> None:
        """Raise UsageError unless it declares this config, and this split of it."""
        require_known(self.name, "config", config, self.splits)
        if split is not None:
            require_known(self.name, f"split of {config}", split, self.splits[config])

    @cached_property
    def splits_share_ids(self) -> bool:
        """Whether the id of a dialogue is unique only within a split."""
        return any(self.configs[name].splits_share_keys for name in self.layout.configs)

    def dialogue_id(self, split: str, value: Any) -> str:
        """Return the id of a dialogue from its value in a row: SPLIT/ID where splits share ids."""
        return f"{split}/{value}" if self.splits_share_ids else str(value)

    def features(self, config: str) -> Any:
        """Return the `datasets.Features` of a config."""
        from parley.schema.features import datasets_features

        self.require(config)
        return datasets_features(self.configs[config].features)

    @contextmanager
    def running(
        self,
        file: str,
        on: object,
        odd: Callable[[], Iterable[Problem]] = tuple,
        kind: type[ParleyError] = ScriptError,
    ) -> Iterator[None]:
        """Name a file of the folder in errors of its functions, and the build or row.

        `odd` gives what is wrong with the rows; `kind` is the class of the error. Errors of parley
        and of disks stay as they are, and so does a missing package, of which the caller names the
        extra.
        """
        try:
            yield
        except MissingSplitError as error:
            raise OutputError(f"{on}: {error}") from error
        except (ParleyError, OSError):
            raise
        except Exception as error:  # an unverified folder may hold anything
            if isinstance(error, ModuleNotFoundError) and lacking(error):
                raise
            what = f"{self.name}/{file} fails on {on} ({words_of(error)})"
            remedy = f"If `parley verify {self.name}` holds for the folder, fix {file}; "
            remedy += "else the folder is damaged: build it again."
            raise kind(what, *islice(odd(), MOST_PROBLEMS), remedy=remedy) from error

    def load_module(self, name: str) -> ModuleType | None:
        """Import an optional module of the folder, or return None."""
        exists = module_path(self.folder, name).exists()
        return load_module(self.name, self.folder, name) if exists else None

    @property
    def figures(self) -> ModuleType | None:
        """The module `figures.py`, or None."""
        return self.load_module("figures")

    @property
    def documented_rows(self) -> dict[str, dict[str, int]]:
        """Config -> split -> documented number of rows, from `ROWS` of `figures.py`."""
        rows = getattr(self.figures, "ROWS", {})
        if wrong := list(problems(rows, {str: {str: int}}, "ROWS")):
            raise ScriptError(str(self.folder / "figures.py"), *wrong)
        return dict(rows)

    @property
    def checks(self) -> ModuleType | None:
        """The module `checks.py`, or None."""
        return self.load_module("checks")

    @property
    def exports(self) -> dict[str, Any]:
        """Format -> function of (data, folder) that writes it, from `export.py`."""
        return self._declared("export", "EXPORTS")

    @property
    def charts(self) -> dict[str, Any]:
        """Name -> function of (data) that returns a chart, from `charts.py`."""
        return self._declared("charts", "CHARTS")

    @property
    def jobs(self) -> "dict[str, Job]":
        """Name -> job, from `jobs.py`; ScriptError if one is wrong."""
        from parley.declaration.jobs import Job

        jobs = self._declared("jobs", "JOBS")
        wrong = {name: job for name, job in jobs.items() if not isinstance(job, Job)}
        causes = [Problem(f"JOBS[{n!r}]", "a Job", type(job).__name__) for n, job in wrong.items()]
        if causes:
            raise ScriptError(str(self.folder / "jobs.py"), *causes, remedy="Write Job(function).")
        return jobs

    def job(self, name: str) -> "Job":
        """Return the job of this name, or raise UsageError with the known names."""
        jobs = self.jobs
        require_known(self.name, "job", name, jobs)
        return jobs[name]

    @cached_property
    def tasks(self) -> "dict[str, Task]":
        """Name -> task, from `tasks.py` or `tasks/`; ScriptError if one is wrong."""
        tasks = self._declared("tasks", "TASKS")
        if causes := [*_task_problems(tasks)]:
            raise ScriptError(str(module_path(self.folder, "tasks")), *causes)
        return tasks

    def task(self, name: str) -> "Task":
        """Return the task of this name, or raise UsageError with the known names."""
        tasks = self.tasks
        require_known(self.name, "task", name, tasks)
        return tasks[name]

    def _declared(self, file: str, name: str) -> dict[str, Any]:
        """Return a dict of an optional module, or {}."""
        if (module := self.load_module(file)) is None:
            return {}
        if not isinstance(entries := getattr(module, name, None), dict):
            raise ScriptError(f"{module.__file__}: defines no dict {name}")
        return dict(entries)

    @cached_property
    def layout(self) -> Layout:
        """How its dialogues are laid out, by `transcript.py` if there is one."""
        module = self.load_module("transcript")
        return (
            layout_of(module, self.configs, self.meanings) if module else Layout((*self.configs,))
        )


def _read(path: Path, what: str, kind: type[ParleyError], remedy: str) -> str:
    try:
        return read_regular(path).decode("utf-8")
    except (OSError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or error
        raise kind(f"{path}: no {what} to read: {why}", remedy=remedy) from error


def _task_problems(tasks: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield the problems of the declarations of tasks, by their names."""
    from parley.tasks.task import Task

    owners: dict[str, str] = {}
    for name, task in tasks.items():
        place = f"TASKS[{name!r}]"
        if not isinstance(task, Task):
            yield Problem(place, "a Task", type(task).__name__)
        elif wrong := [*task.problems(name)]:
            yield from wrong
        else:
            ids = task.ids(name)
            if len(ids) < math.prod(map(len, task.options.values())):
                yield Problem(f"{place}.options", what="two choices have one id; rename one")
            for id in ids:
                if (owner := owners.setdefault(id, name)) != name:
                    what = f"has the id {id} with its options, as TASKS[{owner!r}] has"
                    yield Problem(place, what=what)


PACKAGE = "parley_datasets"


def module_path(folder: Path, name: str) -> Path:
    """Return the path of a folder's module: `NAME.py`, or the folder of a package."""
    package = folder / name
    return package if (package / "__init__.py").exists() else folder / f"{name}.py"


def load_module(dataset: str, folder: Path, name: str) -> ModuleType:
    """Import a module of a dataset folder once; ScriptError names its line that fails."""
    package = f"{PACKAGE}.{dataset}"
    imported = sys.modules.get(package)
    if imported is None or list(imported.__path__) != [str(folder)]:
        for path in [path for path in sys.modules if f"{path}.".startswith(f"{package}.")]:
            del sys.modules[path]  # of another folder with this name
        for path, places in ((PACKAGE, []), (package, [str(folder)])):
            sys.modules.setdefault(path, ModuleType(path)).__path__ = places
    elif module := sys.modules.get(f"{package}.{name}"):
        return module
    importlib.invalidate_caches()  # finds a new folder, too
    try:
        return importlib.import_module(f"{package}.{name}")
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # any other is the script's
        place = line_of(error, dataset) or str(module_path(folder, name))
        if isinstance(error, ScriptError):  # a wrong declaration
            problems, remedy = error.problems, error.remedy
            raise ScriptError(f"{place}: {error.message}", *problems, remedy=remedy) from error
        what = f"{place}: cannot be imported: {words_of(error)}"
        raise ScriptError(what, remedy="Fix it or its imports.") from error


def line_of(error: BaseException, dataset: str) -> str:
    """Return the file and the line of a dataset's modules that an error comes from, or ""."""
    package = sys.modules.get(f"{PACKAGE}.{dataset}")
    folders = list(package.__path__) if package else []
    lines = [
        f"{frame.filename}, line {frame.lineno}"
        for frame in traceback.extract_tb(error.__traceback__)
        if any(Path(frame.filename).is_relative_to(folder) for folder in folders)
    ]
    return lines[-1] if lines else ""
