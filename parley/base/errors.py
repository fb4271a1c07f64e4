"""Exceptions of parley; the message of each is complete."""

import errno
import re
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from parley.base.secret import without_secrets

MOST_PROBLEMS = 20
_PLACES = 3  # named for each cause
# The text that differs between problems of one cause
_VARYING = re.compile(r"\d+|, (found|such as) .*", re.DOTALL)


@dataclass(frozen=True)
class Problem:
    """A problem and its place."""

    place: str  # a file, a line, a path in a record
    expected: str = ""
    found: str = ""
    what: str = ""  # in words, if expected and found are not enough

    def at(self, place: str) -> "Problem":
        """Return the problem with `place` before its own place."""
        return replace(self, place=place + self.place)

    def __str__(self) -> str:
        expected = self.expected and f"expected {self.expected}"
        found = self.found and f"found {self.found}"
        text = ", ".join(filter(None, (self.what, expected, found)))
        return f"{self.place}: {text}" if self.place else text


class Causes:
    """Problems of the parts of a file, grouped by cause.

    A message names a part, then `mark`, then the place within the part.
    """

    def __init__(self, mark: str = ": ") -> None:
        self._mark = mark
        self._counts: Counter[tuple[str, ...]] = Counter()
        self._first: dict[tuple[str, ...], tuple[Problem, list[str], list[str]]] = {}

    def __len__(self) -> int:
        return len(self._first)

    def add(self, part: str, problem: Problem) -> None:
        """Add a problem of a part; its place is within the part, or ""."""
        texts = (problem.place, problem.what, problem.expected)
        cause = tuple(_VARYING.sub("", text) for text in texts)
        self._counts[cause] += 1
        _, parts, within = self._first.setdefault(cause, (problem, [], []))
        if len(parts) < _PLACES:
            inner = problem.place.lstrip(".") if self._mark else problem.place
            parts.append(part)
            within.append(inner and self._mark + inner)

    def problems(self) -> list[Problem]:
        """Return the first problem of each cause, with its first places and how many others."""
        problems = []
        for cause, (problem, parts, within) in self._first.items():
            more = self._counts[cause] - len(parts)
            after = f" and {more:,} more" if more else ""
            if len(parts) > 1 and len({*within}) == 1:
                place = "; ".join(parts) + after + (within[0] and f": {within[0].lstrip('.: ')}")
            else:
                places = (part + inner for part, inner in zip(parts, within, strict=True))
                place = "; ".join(places) + after
            problems.append(replace(problem, place=place))
        return problems


class Interrupted(KeyboardInterrupt):
    """Ctrl-C or a similar signal; Python and libraries swallow other classes in places."""

    def __init__(self, signum: int) -> None:
        super().__init__(signum)
        self.signum = signum


class ParleyError(Exception):
    """A problem of the input, the network or the disk.

    Args:
        message: The failure; "" if the one problem is enough.
        problems: The problems.
        remedy: Advice for the user.

    Attributes:
        status: The exit status of the command.
    """

    status = 1

    def __init__(self, message: str = "", *problems: Problem, remedy: str = "") -> None:
        super().__init__(message, *problems)
        self.message, self.problems, self.remedy = message, problems, remedy

    def __str__(self) -> str:
        lines = [shorten(str(problem)) for problem in self.problems[:MOST_PROBLEMS]]
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


class UsageError(ParleyError):
    """The command asked for a dataset, config or dialogue that does not exist."""

    status = 2


class ScriptError(ParleyError):
    """Code of a dataset folder is wrong."""


class SourceError(ParleyError):
    """A source is missing, or differs from its pin."""


class FetchError(SourceError):
    """A source could not be downloaded."""


class RecordError(ParleyError):
    """A record differs from its shape."""


class RowError(ParleyError):
    """A row does not fit its config's features exactly."""


class OutputError(ParleyError):
    """An output folder cannot be written or read."""


class PublishError(ParleyError):
    """The Hub failed, refused or returned something else."""


class Failures(ParleyError):
    """Several errors of one command."""

    def __init__(self, errors: Iterable[ParleyError]) -> None:
        super().__init__()
        self.errors = tuple(errors)
        self.status = max(error.status for error in self.errors)

    def __str__(self) -> str:
        return "\n".join(map(str, self.errors))


NO_MEMORY = "there is not enough memory for this: give it more, or less to do"


def is_no_memory(error: BaseException | None) -> bool:
    """Tell whether an error, or one that led to it, is too little memory."""
    seen = set()  # an error may be its own cause
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        # pyarrow's is a MemoryError, too
        if isinstance(error, MemoryError) or getattr(error, "errno", 0) == errno.ENOMEM:
            return True
        error = error.__cause__ or error.__context__
    return False


def require_memory(error: BaseException) -> None:
    """Raise an error again if it is too little memory, which blames no code and no file."""
    if isinstance(error, MemoryError):
        raise error


def words_of(error: BaseException) -> str:
    """Return an error of a dataset's code in words; raise it again as `require_memory` does."""
    require_memory(error)
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:  # its own code makes the words
        return f"{type(error).__name__}, without a message"


def require_known(of: str, what: str, name: str, known: Collection[str]) -> None:
    """Raise UsageError, which names those that exist, unless a name is one of them."""
    if name not in known:
        raise UsageError(f"{of} has no {what} {name!r}; there are: {', '.join(known) or 'none'}")


def require_utf8(path: object) -> None:
    """Raise UsageError if a path is not UTF-8: the libraries for Parquet cannot open it."""
    if not re.search("[\ud800-\udfff]", str(path)):
        return
    if (encoding := sys.getfilesystemencoding()) != "utf-8":
        what = f"{path}: cannot be read in a locale with the encoding {encoding}"
        raise UsageError(what, remedy="Set PYTHONUTF8=1.")
    raise UsageError(f"{path}: is not UTF-8", remedy="Rename the file or folder.")


def few(names: Sequence[str], most: int = 3) -> str:
    """Return the first names, each shortened, and how many more there are."""
    more = f" and {len(names) - most} more" if names[most:] else ""
    return ", ".join(map(shorten, names[:most])) + more


def shorten(line: str, most: int = 500) -> str:
    """Shorten a long line in the middle, with secrets hidden before."""
    line = without_secrets(line)
    last = most * 2 // 5
    return line if len(line) <= most else f"{line[: most - last]}…{line[1 - last :]}"


def one_line(text: str) -> str:
    """Return a text without its line breaks."""
    return re.sub(r"\s*\n\s*", " ", text.strip())


class MissingSplitError(ParleyError):
    """A figure needs a split that was not built, since its source was missing."""
