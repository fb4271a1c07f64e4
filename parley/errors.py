"""What can go wrong, as exceptions that carry what they know.

ParleyError              all of them; printed, the message is for people and complete
├── UsageError           asked for something that there is not (exit status 2)
├── ScriptError          a dataset folder's own code does not keep to what the tool expects
├── SourceError          an upstream file is missing or not the pinned one
│   └── FetchError       it could not be brought here
├── RecordError          a file does not hold what its record shape says
├── RowError             a builder gave a row that its features cannot hold exactly
├── OutputError          the output folder cannot be written or read
├── PublishError         the Hub could not be reached or refused, or gave back something else
└── Failures             several of them, of several datasets
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

MOST_PROBLEMS = 20


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong.

    Args:
        place: Where: a file, a line, a path in a record.
        expected: What was expected there.
        found: What was found instead.
        what: What is wrong in words, where it is no matter of expected and found.
    """

    place: str
    expected: str = ""
    found: str = ""
    what: str = ""

    def at(self, place: str) -> "Problem":
        """Return the same problem, of something that itself stands at `place`."""
        return replace(self, place=place + self.place)

    def __str__(self) -> str:
        parts = (f"expected {self.expected}", f"found {self.found}")
        stated = (
            part for part, given in zip(parts, (self.expected, self.found), strict=True) if given
        )
        said = self.what or ", ".join(stated)
        return f"{self.place}: {said}" if self.place else said


class ParleyError(Exception):
    """Something is wrong with the input, the network or the disk, and the message says what.

    Args:
        message: What happened; "" where the one problem says it all.
        problems: What is wrong, each with its place.
        remedy: What to do about it.

    Attributes:
        status: The exit status of a command that fails with it.
    """

    status = 1

    def __init__(self, message: str = "", *problems: Problem, remedy: str = "") -> None:
        super().__init__(message, *problems)
        self.message, self.problems, self.remedy = message, problems, remedy

    def __str__(self) -> str:
        lines = [cut(str(problem)) for problem in self.problems[:MOST_PROBLEMS]]
        if len(self.problems) >= MOST_PROBLEMS:
            lines.append(f"(the first {MOST_PROBLEMS} problems; there may be more)")
        if self.message and lines:
            lines = [f"{self.message}:", *(f"  {line}" for line in lines)]
        elif self.message:
            lines = [self.message]
        if not self.remedy:
            return "\n".join(lines)
        if len(lines) == 1:
            return f"{lines[0].removesuffix('.')}. {self.remedy}"
        return "\n".join([*lines, f"  {self.remedy}"])

    def __reduce__(self) -> tuple[object, ...]:
        return _made_again, (type(self), self.message, self.problems, self.remedy)


def _made_again(
    kind: type[ParleyError], message: str, problems: tuple[Problem, ...], remedy: str
) -> ParleyError:
    return kind(message, *problems, remedy=remedy)


class UsageError(ParleyError):
    """The command asked for a dataset, config or dialogue that does not exist."""

    status = 2


class ScriptError(ParleyError):
    """A dataset folder's own code does not keep to what the tool expects of it."""


class SourceError(ParleyError):
    """A source is missing, or differs from its pin."""


class FetchError(SourceError):
    """A source could not be downloaded."""


class RecordError(ParleyError):
    """A source file does not hold what its record shape says."""


class RowError(ParleyError):
    """A row does not fit its config's features exactly."""


class OutputError(ParleyError):
    """An output folder cannot be written, or is not what a build leaves."""


class PublishError(ParleyError):
    """The Hub could not be reached, refused, or does not give back what was published."""


class Failures(ParleyError):
    """Several errors of one command, which keep their kinds.

    Attributes:
        errors: Each of them.
    """

    def __init__(self, errors: Iterable[ParleyError]) -> None:
        super().__init__()
        self.errors = tuple(errors)
        self.status = max(error.status for error in self.errors)

    def __str__(self) -> str:
        return "\n".join(map(str, self.errors))

    def __reduce__(self) -> tuple[object, ...]:
        return Failures, (self.errors,)


def cut(line: str) -> str:
    """Return a line of an error without the middle of what is too long to read, as an id can be."""
    return line if len(line) <= 500 else f"{line[:300]}…{line[-199:]}"
