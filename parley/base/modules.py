"""Import the modules of a dataset folder as a package."""

import importlib
import sys
import traceback
from pathlib import Path
from types import ModuleType

from parley.base.errors import Interrupted, ScriptError

PACKAGE = "parley_datasets"


def module_path(folder: Path, name: str) -> Path:
    """Return the path of a folder's module: `NAME.py`, or the folder of a package."""
    package = folder / name
    return package if (package / "__init__.py").exists() else folder / f"{name}.py"


def load_module(dataset: str, folder: Path, name: str) -> ModuleType:
    """Import a module of a dataset folder once; ScriptError names its line that fails."""
    package = f"{PACKAGE}.{dataset}"
    known = sys.modules.get(package)
    if known is None or list(known.__path__) != [str(folder)]:
        for each in [each for each in sys.modules if f"{each}.".startswith(f"{package}.")]:
            del sys.modules[each]  # of another folder with this name
        for each, places in ((PACKAGE, []), (package, [str(folder)])):
            sys.modules.setdefault(each, ModuleType(each)).__path__ = places
    importlib.invalidate_caches()  # finds a new folder, too
    try:
        return importlib.import_module(f"{package}.{name}")
    except (Interrupted, KeyboardInterrupt):
        raise
    except BaseException as error:  # any other is the script's
        place = line_of(error, dataset) or str(module_path(folder, name))
        if isinstance(error, ScriptError):  # a wrong declaration
            problems, remedy = error.problems, error.remedy
            raise ScriptError(f"{place}: {error.message}", *problems, remedy=remedy) from error
        said = f"{type(error).__name__}: {error}"
        remedy = "Fix it or its imports."
        raise ScriptError(f"{place}: cannot be imported: {said}", remedy=remedy) from error


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
