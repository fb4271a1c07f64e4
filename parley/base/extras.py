"""The extras that install optional packages."""

import functools
import re
from collections.abc import Callable
from importlib.metadata import requires
from typing import ParamSpec, TypeVar

from parley.base.errors import ParleyError

P = ParamSpec("P")
T = TypeVar("T")
_DISTRIBUTIONS = {"sklearn": "scikit-learn"}  # import name -> distribution


def lacking(error: ModuleNotFoundError) -> ParleyError | None:
    """Return the error that says what to install; None if no extra brings the module."""
    package = (error.name or "").partition(".")[0]
    if not (extra := extra_of(package)):
        return None
    name = f"parley-datasets[{extra}]"
    remedy = f'Run `pip install "{name}"`, or `".[{extra}]"` in Parley\'s own folder.'
    return ParleyError(f"the package {package} is not installed", remedy=remedy)


def naming_extras(function: Callable[P, T]) -> Callable[P, T]:
    """Return a function whose ModuleNotFoundError says what to install."""

    @functools.wraps(function)
    def call(*args: P.args, **options: P.kwargs) -> T:
        try:
            return function(*args, **options)
        except ModuleNotFoundError as error:
            if words := lacking(error):
                error.msg = str(words)
            raise

    return call


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
