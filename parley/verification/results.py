"""What checks and rules find; each, also one of a dataset folder, fails without hiding another."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NoReturn

from parley.base.errors import ParleyError, one_line, words_of
from parley.declaration.figures import definition_of


@dataclass(frozen=True)
class Aside:
    """What a check yields beside problems: why it did not check something, or what it counted."""

    kind: Literal["not checked", "counted"]
    text: str

    def __str__(self) -> NoReturn:
        """Raise TypeError, as a text would be a problem."""
        raise TypeError(f"expected the function `at` for a place before {self!r}")


Found = str | Aside
"""What a check yields: a problem in words, or what is none."""


def at(place: str, found: Found) -> Found:
    """Return what a check found with a place before it."""
    if isinstance(found, Aside):
        return replace(found, text=f"{place}: {found.text}")
    return f"{place}: {found}"


@dataclass(frozen=True)
class Check:
    """One check: its definition and the problems found."""

    name: str
    definition: str
    problems: list[str]
    skipped: str = ""
    notes: list[str] = field(default_factory=list)  # what it counted

    @property
    def failed(self) -> bool:
        """Whether it found a problem."""
        return bool(self.problems)


def run_check(check: Callable[..., Iterator[Found]], *arguments: Any, skipped: str = "") -> Check:
    """Return what a check yields, and its error as problems; `skipped` is why it is not run."""
    problems, asides = list[str](), list[Aside]()
    try:
        for found in check(*arguments) if not skipped else ():
            if isinstance(found, Aside):
                asides.append(found)
            elif isinstance(found, str):
                problems.append(found)
            else:
                raise TypeError(f"expected a message, found {found!r:.60}")
    except ParleyError as error:
        problems += lines_of(error)
    except Exception as error:
        problems.append(one_line(f"the check failed: {words_of(error)}"))
    why = "; ".join(aside.text for aside in asides if aside.kind == "not checked")
    notes = [aside.text for aside in asides if aside.kind == "counted"]
    return Check(check.__name__, definition_of(check), problems, skipped or why, notes)


def lines_of(error: ParleyError) -> Iterator[str]:
    """Yield each problem of an error as one line with its remedy."""
    remedy = f". {error.remedy}" if error.remedy else ""
    for problem in error.problems or ("",):
        words = ": ".join(part for part in (error.message, str(problem)) if part)
        yield one_line(words.removesuffix(".") + remedy)
