"""Declarations of a dataset's configs: `Config` and `View`.

Each validates itself, and `parley.Builder` validates their combination. A mistake raises a
ScriptError that names the field.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from typing import Any

from parley.base.errors import Problem, ScriptError
from parley.schema.composites import Alternatives
from parley.schema.nodes import Conversion, Node
from parley.schema.shapes import parse, problems
from parley.source.files import File, Folder, Opened, Source, require

_SPLIT = re.compile(r"(?!all$)\w+(\.\w+)*")  # split names of `datasets`, where "all" is reserved
_NAME = re.compile(r"[A-Za-z]\w*")


Records = Callable[[Mapping[str, Opened]], Iterable[Any]]
Rows = Callable[[Iterable[Any]], Iterable[dict[str, Any]]]
Unjoin = Callable[[Iterable[Any]], Iterable[tuple[str, Any]]]
LeftOut = Mapping[str, Mapping[str, int]]


@dataclass(frozen=True, eq=False)
class _Config:
    name: str
    description: str
    _: KW_ONLY
    key: str | Sequence[str]
    records: Records | None = None
    splits_share_keys: bool = False
    licence: str = ""
    use: str = ""

    @property
    def node(self) -> Node:
        """The parsed shape of what is made into rows."""
        raise NotImplementedError

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns that identify a row."""
        return (self.key,) if isinstance(self.key, str) else tuple(self.key)

    @cached_property
    def conversion(self) -> Conversion:
        """The conversion between values of its shape and rows."""
        try:
            return self.node.row()
        except ScriptError as error:
            found = error.problems or [Problem("", what=error.message)]
            what = f"{type(self).__name__}({self.name!r}): its shape"
            raise ScriptError(what, *found) from None

    def to_row(self, value: Any) -> dict[str, Any]:
        """Return the row of a value of its shape: of a record, or of what a view's `rows` gives."""
        convert = self.conversion.to_row
        return dict(value) if convert is None else dict(convert(value))

    def to_record(self, row: dict[str, Any]) -> Any:
        """Return the value of a row: the inverse of `to_row`."""
        convert = self.conversion.to_record
        return row if convert is None else convert(row)

    def _problems(self) -> Iterable[Problem]:
        if not isinstance(self.name, str) or not _NAME.fullmatch(self.name):
            yield Problem("name", "letters, digits and _", repr(self.name))
        if not isinstance(self.description, str) or not self.description:
            yield Problem("description", "a short description of a row", repr(self.description))
        columns = self.key if isinstance(self.key, list | tuple) else [self.key]
        if not all(isinstance(column, str) for column in columns):
            yield Problem("key", "a column, or several", repr(self.key))
        if not isinstance(self.licence, str):
            yield Problem("licence", "the Hub's name of the licence", repr(self.licence))
        if self.records is not None and not callable(self.records):
            yield Problem("records", "a function of (sources)", repr(self.records))


@dataclass(frozen=True, eq=False)
class Config(_Config):
    """A lossless config: each row is made from one record and converts back to it.

    Args:
        name: Its name.
        description: A short description of a row.
        splits: Split -> its files.
        key: The column or columns that identify a row across all splits; () for none.
        splits_share_keys: Whether splits share keys, so that a key is unique only within a split;
            applies to views of this config, too.
        records: Takes the opened files of a split by path, and yields its records; by default
            the files' records in order.
        shape: The shape of the records of `records`; by default that of the files.
        unjoin: The inverse of `records`, which requires it: takes these records in order, and
            yields the path of a file ("" for any of the split) and a record of it, for each record
            of each file, or each entry where the shape is {str: x}. Those that it yields before
            the next joined record have the order of the file.
        left_out: Split -> path of a file -> the number of its records that `unjoin` cannot give.
        holds: Takes the row of a dialogue; returns the number of its turns, and its participants.
            `parley verify` compares with it what the views of the config show.
        repeats: Split -> the number of its dialogues that have all turns of an earlier one, in this
            split or in one before. `parley verify` counts them.
        licence: The Hub's name of its licence, if it differs from the dataset's.
        use: Its use, in a few words, such as "train a chat model".
    """

    splits: Mapping[str, Sequence[Source]]
    _: KW_ONLY
    shape: Any = None
    unjoin: Unjoin | None = None
    left_out: LeftOut = field(default_factory=dict)
    holds: Callable[[dict[str, Any]], tuple[int, Iterable[Any]]] | None = None
    repeats: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        require(self, self.name, list(self._problems()))

    def _problems(self) -> Iterable[Problem]:
        yield from super()._problems()
        wrong = [*_splits_problems(self.splits)]
        yield from wrong or self._problems_of_counts()
        if (self.records is None) != (self.shape is None):
            yield Problem("shape", what="requires `records`, and `records` requires it")
        if (self.records is None) != (self.unjoin is None) or not callable(self.unjoin or iter):
            expected = "with `records`, and only then, a function of (records): their inverse"
            yield Problem("unjoin", expected, repr(self.unjoin))
        if not callable(self.holds or iter):
            yield Problem("holds", "a function of (row)", repr(self.holds))

    def _problems_of_counts(self) -> Iterable[Problem]:
        files = {
            f"{split}?": {f"{each.path}?": _count for each in some}
            for split, some in self.splits.items()
        }
        yield from problems(self.left_out, files, "left_out")
        yield from problems(self.repeats, dict.fromkeys(files, _count), "repeats")

    @cached_property
    def node(self) -> Node:
        """The parsed shape of its records."""
        if self.shape is not None:
            return parse(self.shape)
        sources = {id(each.shape): each for some in self.splits.values() for each in some}
        first, *others = (each.node for each in sources.values())
        return Alternatives([first, *others]) if others else first

    @cached_property
    def features(self) -> dict[str, Any]:
        """The features of its rows (`parley.schema.features`)."""
        return dict(self.conversion.feature)


@dataclass(frozen=True, eq=False)
class View(_Config):
    """A config computed from records or files, without conversion back to records.

    Args:
        name: Its name.
        description: A short description of a row.
        of: The config whose dialogues it shows, which provides its splits and records, unless it
            has its own
        splits: split -> its files, with
        records: as in `Config`, and
        rejoin: a function of (build, split) that gives these records again from the rows of
            configs, or none if these are not built; without it, only the source gives them.
        rows: Takes the records of a split in order, and yields the rows, values of `features`.
        features: The shape of a row: {"turn": int, "text": str}; a `ClassLabel`, whose values are
            names, or a feature of `datasets` may replace a type.
        key: The column or columns that identify a row across all splits; () for none.
        shows: What of the dialogues the rows show -> the column that names it:
            `dialogues` by their ids, or "" if each is a row, in order; `turns` by their places
            from 0, a text standing for a turn; `participants` as `holds` names them. By default:
            the first column of the key; `source_turns` or `turn`; `speaker` if it is in the key.
        left_out: Split -> `dialogues`, `turns` or `participants` -> the number that its rows leave
            out on purpose.
        splits_share_keys: See `Config`.
        licence: See `Config`.
        use: See `Config`.
    """

    splits: Mapping[str, Sequence[Source]] = field(default_factory=dict)
    _: KW_ONLY
    rows: Rows
    features: Any
    of: str = ""
    rejoin: Callable[[Any, str], Iterable[Any]] | None = None
    shows: Mapping[str, str] | None = None
    left_out: LeftOut = field(default_factory=dict)

    def __post_init__(self) -> None:
        require(self, self.name, list(self._problems()))
        # what was declared stays as `node`
        object.__setattr__(self, "features", self.conversion.feature)

    @cached_property
    def node(self) -> Node:
        """The parsed shape of what `rows` yields."""
        return parse(self.features)

    @property
    def shown(self) -> dict[str, str]:
        """What of the dialogues the rows show -> its column: `shows`, or the usual."""
        if self.shows is not None or not self.keys:
            return dict(self.shows or {})
        turns = [name for name in ("source_turns", "turn") if name in self.features]
        sides = [name for name in self.keys[1:] if name == "speaker"]
        found = {"dialogues": [self.keys[0]], "turns": turns, "participants": sides}
        return {kind: columns[0] for kind, columns in found.items() if columns}

    def _problems(self) -> Iterable[Problem]:
        yield from super()._problems()
        if not self.of and not self.splits:
            yield Problem("of", what="expected a config, or `splits`")
        for name in ("records", "rejoin"):
            if getattr(self, name) is not None and not self.splits:
                yield Problem(name, what="requires `splits`")
        if self.splits:
            yield from _splits_problems(self.splits)
        if not callable(self.rows):
            yield Problem("rows", "a function of (records)", repr(self.rows))
        if not callable(self.rejoin or iter):
            yield Problem("rejoin", "a function of (build, split)", repr(self.rejoin))
        if not isinstance(self.features, dict):
            yield Problem("features", "a dict of columns", f"{self.features!r:.60}")
        kinds = {f"{kind}?": _count for kind in ("dialogues", "turns", "participants")}
        yield from problems(self.left_out, {str: kinds}, "left_out")


def _count(number: Any) -> None:
    if type(number) is not int or number < 1:
        raise ValueError("a whole number from 1")


def _splits_problems(splits: Any) -> Iterable[Problem]:
    if not isinstance(splits, Mapping) or not splits:
        yield Problem("splits", "a dict of split -> files", repr(splits))
        return
    for split, sources in splits.items():
        place = f"splits[{split!r}]"
        if not isinstance(split, str) or not _SPLIT.fullmatch(split):
            yield Problem(place, "letters, digits, _ and dots, but not `all`", repr(split))
        if not isinstance(sources, list | tuple) or not sources:
            yield Problem(place, "a list of Files and Folders", f"{sources!r:.60}")
        elif wrong := [each for each in sources if not isinstance(each, File | Folder)]:
            yield Problem(place, "a list of Files and Folders", f"{wrong[0]!r:.60}")
        elif len(set(sources)) < len(sources):
            yield Problem(place, what="names a file twice")
