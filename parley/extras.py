"""Which extra of this tool brings a package that is not installed."""

import re
from importlib.metadata import requires

_DISTRIBUTIONS = {"sklearn": "scikit-learn"}  # packages that are not installed under their name


def extra_of(package: str) -> str:
    """Return the extra of this tool that brings a package, or "" if none does."""
    name = _DISTRIBUTIONS.get(package, package.replace("_", "-"))
    for requirement in requires("parley-datasets") or ():
        found = re.match(rf"{re.escape(name)}\b.*extra == [\"'](\w+)", requirement)
        if found:
            return found[1]
    return ""
