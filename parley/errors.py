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

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

MOST_PROBLEMS = 20
_PLACES = 3  # of one cause, which are named
_VARYING = re.compile(r"\d+|, (found|such as) .*", re.DOTALL)  # from place to place, of one cause


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong.

    Args:
        place: Where: a file, a line, a path in a record.
        expected: What was expected there.
        found: What was found instead.
        what: What is wrong in words, where expected and found do not say it all.
    """

    place: str
    expected: str = ""
    found: str = ""
    what: str = ""

    def at(self, place: str) -> "Problem":
        """Return the same problem, of something that itself stands at `place`."""
        return replace(self, place=place + self.place)

    def __str__(self) -> str:
        parts = (
            self.what,
            self.expected and f"expected {self.expected}",
            self.found and f"found {self.found}",
        )
        said = ", ".join(filter(None, parts))
        return f"{self.place}: {said}" if self.place else said


class Causes:
    """What is wrong with the parts of a file, as it is found: each cause is told once.

    Args:
        mark: Stands between a part and a place in it: ": " after "line 3", nothing after "[3]".
    """

    def __init__(self, mark: str = ": ") -> None:
        self._mark = mark
        self._counts: Counter[tuple[str, ...]] = Counter()
        self._first: dict[tuple[str, ...], list[tuple[str, str, Problem]]] = {}

    def __len__(self) -> int:
        """Return how many causes there are."""
        return len(self._first)

    def add(self, part: str, problem: Problem) -> None:
        """Note a problem of a part; its place is one in that part, or "" for all of it."""
        said = (problem.place, problem.what, problem.expected)
        cause = tuple(_VARYING.sub("", each) for each in said)
        self._counts[cause] += 1
        if self._counts[cause] <= _PLACES:
            inner = problem.place.lstrip(".") if self._mark else problem.place
            self._first.setdefault(cause, []).append((part, inner and self._mark + inner, problem))

    def told(self) -> list[Problem]:
        """Return a problem for each cause: its first places, and how many more there are."""
        return [
            self._joined(cause, *zip(*each, strict=True)) for cause, each in self._first.items()
        ]

    def _joined(
        self,
        cause: tuple[str, ...],
        parts: tuple[str, ...],
        inner: tuple[str, ...],
        found: tuple[Problem, ...],
    ) -> Problem:
        more = self._counts[cause] - len(parts)
        after = f" and {more:,} more" if more else ""
        if len(parts) == 1:
            where = parts[0] + inner[0]
        elif len({*inner}) == 1:
            where = "; ".join(parts) + after + (inner[0] and f": {inner[0].lstrip('.: ')}")
        else:
            where = "; ".join(map(str.__add__, parts, inner)) + after
        return Problem(
            where,
            ", ".join(dict.fromkeys(each.expected for each in found if each.expected)),
            ", ".join(dict.fromkeys(each.found for each in found if each.found)),
            "; ".join(dict.fromkeys(each.what for each in found if each.what)),
        )


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
