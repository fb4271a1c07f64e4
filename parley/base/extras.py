"""The extras that install optional packages."""

import re
from importlib.metadata import requires

_DISTRIBUTIONS = {"sklearn": "scikit-learn"}  # import name -> distribution


def extra_of(package: str) -> str:
    """Return the extra that installs a package and the fewest others, or ""."""
    name = _DISTRIBUTIONS.get(package, package.replace("_", "-"))
    named: dict[str, list[str]] = {}
    for requirement in requires("parley-datasets") or ():
        if found := re.search(r"extra == [\"'](\w+)", requirement):
            named.setdefault(found[1], []).append(requirement)
    holding = [
        e for e, all_ in named.items() if any(re.match(rf"{re.escape(name)}\b", r) for r in all_)
    ]
    return min(holding, key=lambda extra: len(named[extra]), default="")
