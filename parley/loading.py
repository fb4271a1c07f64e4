"""Imports the modules of a dataset folder, which is a package of its own name."""

import importlib
import sys
import traceback
from pathlib import Path
from types import ModuleType

from parley.errors import ScriptError

PACKAGE = "parley_datasets"


def load_module(dataset: str, folder: Path, name: str) -> ModuleType:
    """Import a module of a dataset folder, once however it is reached.

    Args:
        dataset: The dataset, whose package holds the modules of one folder at a time.
        folder: Its folder.
        name: The module.

    Raises:
        ScriptError: it cannot be imported; names the line of the folder that fails.
    """
    package = f"{PACKAGE}.{dataset}"
    known = sys.modules.get(package)
    if known is None or list(known.__path__) != [str(folder)]:
        for each in [each for each in sys.modules if f"{each}.".startswith(f"{package}.")]:
            del sys.modules[each]  # of another folder of this name
        for each, places in ((PACKAGE, []), (package, [str(folder)])):
            sys.modules.setdefault(each, ModuleType(each)).__path__ = places
    importlib.invalidate_caches()  # a folder that was just written is there, too
    path = folder / f"{name}.py"
    try:
        return importlib.import_module(f"{package}.{name}")
    except (Exception, SystemExit) as error:  # whatever it raises, it is the script that is wrong
        lines = [
            frame
            for frame in traceback.extract_tb(error.__traceback__)
            if Path(frame.filename).is_relative_to(folder)
        ]
        place = f"{lines[-1].filename}, line {lines[-1].lineno}" if lines else str(path)
        if isinstance(error, ScriptError):  # of a declaration
            problems, remedy = error.problems, error.remedy
            raise ScriptError(f"{place}: {error.message}", *problems, remedy=remedy) from error
        said = f"{type(error).__name__}: {error}"
        remedy = "Mend it, or what it imports."
        raise ScriptError(f"{place}: cannot be imported: {said}", remedy=remedy) from error
