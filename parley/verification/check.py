"""A check, of a build or of a dataset folder: run so that its failure hides no other."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from parley.base.errors import ParleyError, one_line
from parley.declaration.figures import definition_of

OnStep = Callable[[str, str], None]  # dataset and name of the check


class NotChecked(str):
    """Why something was not checked, which a check yields beside problems."""


class Note(str):
    """What a check counted, which it yields beside problems."""


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


def run_check(check: Callable[..., Iterator[str]], *arguments: Any, skipped: str = "") -> Check:
    """Return what a check yields, and its error as problems; `skipped` is why it is not run."""
    problems, reasons, notes = list[str](), [skipped] if skipped else [], list[str]()
    kinds: dict[type, list[str]] = {NotChecked: reasons, Note: notes}
    try:
        for each in check(*arguments) if not skipped else ():
            if not isinstance(each, str):
                raise TypeError(f"expected a message, found {each!r:.60}")
            kinds.get(type(each), problems).append(each)
    except ParleyError as error:
        problems += lines_of(error)
    except MemoryError:  # blames no script
        raise
    except Exception as error:
        problems.append(one_line(f"the check failed: {type(error).__name__}: {error}"))
    return Check(check.__name__, definition_of(check), problems, "; ".join(reasons), notes)


def lines_of(error: ParleyError) -> Iterator[str]:
    """Yield each problem of an error as one line with its remedy."""
    remedy = f". {error.remedy}" if error.remedy else ""
    for problem in error.problems or ("",):
        said = ": ".join(part for part in (error.message, str(problem)) if part)
        yield one_line(said.removesuffix(".") + remedy)
