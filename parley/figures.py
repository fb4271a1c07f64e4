"""Documented figures: each value beside the function that recomputes it from the built Parquet.

A dataset folder's `statistics.py` holds functions like

    @documented("36.97", "paper, appendix A")
    def age_mean(data: Data) -> float:
        \"\"\"Mean age of the participants, without the one who gave 3.\"\"\"
        return mean(p["demographics"]["age"] for p in participants(data) ...)

or, for a table, a mapping of documented values over a function that returns a mapping with the
same keys. The docstring's first line is the definition. How a value is written says how exact
it is: 846 must be equal; "36.97" is rounded to two decimals, so 36.965 to 36.975 matches;
"17e3" is rounded to thousands.
"""

import functools
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from decimal import Decimal, InvalidOperation
from importlib.metadata import requires
from pathlib import Path
from types import ModuleType
from typing import Any

from parley.errors import ParleyError

Value = int | float | str
MATCHES, DIFFERS, NOT_REPRODUCIBLE = "matches", "differs", "not reproducible"
NOT_CHECKED, UNEXPLAINED = "not checked", "UNEXPLAINED"
VERDICTS = (MATCHES, DIFFERS, NOT_REPRODUCIBLE, NOT_CHECKED, UNEXPLAINED)
A_SAMPLE = "this is the invented sample"


@dataclass(frozen=True)
class Known:
    """A difference that is known: what the data gives, written like a documented value, and why."""

    measured: Value
    reason: str


OUR_CARD = "our card"  # how the place of a figure begins that only our own card states


@dataclass(frozen=True)
class Figure:
    """One documented figure and what became of it.

    Args:
        name: Stable name: the function's, and for a table ".key" after it.
        documented: The value as documented.
        place: Document and place in it.
        definition: What is computed.
        measured: The computed value as written, or None where it was not computed.
        verdict: matches, differs, not reproducible, not checked or UNEXPLAINED.
        reason: Why it is not "matches".
    """

    name: str
    documented: Value
    place: str
    definition: str
    measured: Value | None
    verdict: str
    reason: str = ""

    @property
    def stated(self) -> str:
        """The documented value for people: "17e3" is "about 17000"."""
        text = str(self.documented)
        return f"about {Decimal(text):f}" if (_exponent(text) or 0) > 0 else text

    def as_dict(self) -> dict[str, Any]:
        """Return the figure for JSON."""
        return asdict(self)


class MissingSplitError(ParleyError):
    """A figure needs a split that was not built, since its source was missing."""


class Data:
    """The rows of a built folder, by config and split, read from its Parquet when first asked for.

    Args:
        folder: A folder as `parley build` leaves it.
        module: The dataset's builder script, imported.
    """

    def __init__(self, folder: Path, module: ModuleType) -> None:
        self.folder = folder
        self.module = module
        self._rows: dict[tuple[str, str], list[dict[str, Any]]] = {}

    def splits(self, config: str) -> list[str]:
        """Return the splits of a config that are there."""
        return sorted({path.name.rsplit("-", 3)[0] for path in self.files(config, "*")})

    def rows(self, config: str, *splits: str) -> list[dict[str, Any]]:
        """Return the rows of these splits, in order.

        Raises:
            MissingSplitError: one of them was not built.
        """
        import pyarrow.parquet as pq  # not at the top: cards are read without it

        rows = []
        for split in splits:
            if (config, split) not in self._rows:
                files = self.files(config, split)
                if not files:
                    raise MissingSplitError(
                        f"{config}/{split} was not built: its source is missing"
                    )
                tables = (pq.read_table(file) for file in files)
                self._rows[config, split] = [row for t in tables for row in t.to_pylist()]
            rows += self._rows[config, split]
        return rows

    def files(self, config: str, split: str) -> list[Path]:
        """Return the Parquet files of a split; none that is a link."""
        return parquet_files(self.folder, config, split)


def parquet_files(folder: Path, config: str, split: str = "*") -> list[Path]:
    """Return the Parquet files of a split in a built folder; none that is a link."""
    if (folder / config).is_symlink():  # a link could lead anywhere
        return []
    found = (folder / config).glob(f"{split}-[0-9]*-of-[0-9]*.parquet")
    return sorted(path for path in found if path.is_file() and not path.is_symlink())


def check(function: Callable[[Data], Iterator[str]]) -> Callable[[Data], Iterator[str]]:
    """Mark a function that yields a message for everything that contradicts its docstring."""
    function.is_check = True  # type: ignore[attr-defined]
    return function


def checks_of(module: ModuleType | None) -> list[Callable[[Data], Iterator[str]]]:
    """Return the functions of a statistics module that are marked with `check`, in its order."""
    values = vars(module).values() if module else ()
    return [value for value in values if getattr(value, "is_check", False)]


@dataclass(frozen=True)
class _Documentation:
    documented: Value | Mapping[str, Value]
    place: str
    known: Known | Mapping[str, Known] | None
    not_reproducible: str

    def table(self) -> Mapping[str, Value]:
        """Return the documented values by key; a single one has the key ""."""
        return self.documented if isinstance(self.documented, Mapping) else {"": self.documented}


def documented(
    value: Value | Mapping[str, Value],
    place: str,
    *,
    differs: Known | Mapping[str, Known] | None = None,
    not_reproducible: str = "",
) -> Callable[[Callable[[Data], Any]], Callable[[Data], Any]]:
    """Mark a function as the computation of a documented figure, or of a table of them.

    Args:
        value: What the document says; for a table a mapping of key to value.
        place: The document, and where in it.
        differs: Where the data is known to differ, by key for a table.
        not_reproducible: Why the data cannot give the figure; the function is then not called.
    """

    def mark(function: Callable[[Data], Any]) -> Callable[[Data], Any]:
        cached = functools.cache(function)
        cached.documentation = _Documentation(  # type: ignore[attr-defined]
            value, place, differs, not_reproducible
        )
        return cached

    return mark


def figures(module: ModuleType | None, data: Data, why_not: str = "") -> Iterator[Figure]:
    """Yield every documented figure of a statistics module, recomputed, in the module's order.

    With `why_not`, none is computed and each is "not checked" for that reason.
    """
    for name, function in vars(module).items() if module else ():
        if isinstance(documentation := getattr(function, "documentation", None), _Documentation):
            yield from _judged(name, function, documentation, data, why_not)


def definition_of(function: Callable[..., Any]) -> str:
    """Return the first paragraph of a function's docstring, on one line."""
    return " ".join((function.__doc__ or "").split("\n\n")[0].split())


def _judged(
    name: str, function: Callable[[Data], Any], what: _Documentation, data: Data, why_not: str
) -> Iterator[Figure]:
    definition, table = definition_of(function), what.table()
    known = what.known if isinstance(what.known, Mapping) else {"": what.known}
    failed = ""
    measured: Mapping[str, Value] = {}
    if not what.not_reproducible and not why_not:
        try:
            found = function(data)
            measured = found if isinstance(found, Mapping) else {"": found}
        except MissingSplitError as error:
            why_not = str(error)
        except ModuleNotFoundError as error:
            if not (extra := _extra_of(error.name or "")):
                raise
            why_not = f"the package {error.name} is not installed; it is in the extra `{extra}`"
        except Exception as error:  # rows that no computation expects must not hide the rest
            failed = f"the computation failed: {type(error).__name__}: {error}"
    for key, value in table.items():
        figure = functools.partial(
            Figure, f"{name}.{key}" if key else name, value, what.place, definition
        )
        if what.not_reproducible:
            yield figure(None, NOT_REPRODUCIBLE, what.not_reproducible)
        elif why_not:
            yield figure(None, NOT_CHECKED, why_not)
        elif key not in measured:
            reason = failed or "the computation gives no value for it"
            yield figure(None, UNEXPLAINED, reason)
        else:
            yield figure(*judge(value, measured[key], known.get(key)))
    for key in measured.keys() - table.keys():
        yield Figure(
            f"{name}.{key}",
            "nothing",
            what.place,
            definition,
            measured[key],
            UNEXPLAINED,
            "the document states no such value",
        )


def _extra_of(package: str) -> str:
    """Return the extra of this tool that brings a package, or "" if none does."""
    name = package.replace("_", "-")
    for requirement in requires("parley") or ():
        found = re.match(rf"{re.escape(name)}\b.*extra == [\"'](\w+)", requirement)
        if found:
            return found[1]
    return ""


def judge(documented: Value, measured: Value, known: Known | None) -> tuple[Value, str, str]:
    """Return the measured value as written, the verdict, and the reason."""
    shown = written(measured, documented)
    if agrees(documented, measured):
        if known is None:
            return shown, MATCHES, ""
        reason = f"was known to differ ({known.measured}: {known.reason}), and does so no longer"
        return shown, UNEXPLAINED, reason
    if known is not None and agrees(known.measured, measured):
        return written(measured, known.measured), DIFFERS, known.reason
    if known is not None:
        return shown, UNEXPLAINED, f"was known to be {known.measured} ({known.reason})"
    return shown, UNEXPLAINED, "differs, and nothing is known of it"


def agrees(stated: Value, measured: Value) -> bool:
    """Tell whether a measured value is the stated one, within the rounding it is stated with."""
    exponent = _exponent(stated)
    if exponent is None:
        return type(measured) is type(stated) and measured == stated
    if isinstance(measured, str) or not math.isfinite(measured):
        return False
    half = Decimal(5).scaleb(exponent - 1)
    # a hair more than half a unit: what is exactly between may have been rounded either way
    return abs(Decimal(measured) - Decimal(str(stated))) <= half + Decimal("1e-9")


def written(measured: Value, like: Value) -> Value:
    """Return a measured number with the decimals of a stated value."""
    exponent = _exponent(like)
    if exponent is None or isinstance(measured, str) or not math.isfinite(measured):
        return measured if not isinstance(measured, float) else repr(measured)
    return f"{measured:.{max(0, -exponent)}f}"


def _exponent(value: Value) -> int | None:
    """Return the decimal position a value is rounded to, or None if it is exact or no number."""
    if not isinstance(value, str):
        return None
    try:
        exponent = Decimal(value).as_tuple().exponent
    except InvalidOperation:
        return None
    return exponent if isinstance(exponent, int) else None
