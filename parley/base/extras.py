"""The extras that install optional packages."""

import re
from importlib.metadata import requires

_DISTRIBUTIONS = {"sklearn": "scikit-learn"}  # import name -> distribution


def extra_of(package: str) -> str:
    """Return the extra that installs a package and the fewest others, or ""."""
    name = _DISTRIBUTIONS.get(package, package.replace("_", "-"))
    by_extra: dict[str, list[str]] = {}
    for requirement in requires("parley-datasets") or ():
        if match := re.search(r"extra == [\"'](\w+)", requirement):
            by_extra.setdefault(match[1], []).append(requirement)
    needs = re.compile(rf"{re.escape(name)}\b").match
    extras = [extra for extra, requirements in by_extra.items() if any(map(needs, requirements))]
    return min(extras, key=lambda extra: len(by_extra[extra]), default="")
