"""The extras that install optional packages."""

import re
from importlib.metadata import requires

_DISTRIBUTIONS = {"sklearn": "scikit-learn"}  # import name -> distribution


def extra_of(package: str) -> str:
    """Return the extra that installs a package, or ""."""
    name = _DISTRIBUTIONS.get(package, package.replace("_", "-"))
    for requirement in requires("parley-datasets") or ():
        found = re.match(rf"{re.escape(name)}\b.*extra == [\"'](\w+)", requirement)
        if found:
            return found[1]
    return ""
