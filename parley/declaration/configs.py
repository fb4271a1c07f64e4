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
from parley.schema.convert import Conversion
from parley.schema.nodes import Column, Node
from parley.schema.shapes import parse, problems
from parley.source.files import File, Folder, Opened, Source, require

_SPLIT = re.compile(r"(?!all$)\w+(\.\w+)*")  # split names of `datasets`, where "all" is reserved
_NAME = re.compile(r"[A-Za-z]\w*")


Records = Callable[[Mapping[str, Opened]], Iterable[Any]]
Rows = Callable[[Iterable[Any]], Iterable[dict[str, Any]]]
Unjoin = Callable[[Iterable[Any]], Iterable[tuple[str, Any]]]
Rejoin = Callable[[Any, str], Iterable[Any]]
LeftOut = Mapping[str, Mapping[str, int]]


@dataclass(frozen=True, eq=False)
class _Config:
    name: str
    description: str
    _: KW_ONLY
    key: str | Sequence[str] | None
    records: Records | None = None
    splits_share_keys: bool | None = False
    licence: str = ""
    use: str = ""

    @property
    def node(self) -> Node:
        """The parsed shape of what is made into rows."""
        raise NotImplementedError

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns that identify a row."""
        return (self.key,) if isinstance(self.key, str) else tuple(self.key or ())

    @cached_property
    def conversion(self) -> Conversion:
        """The conversion between values of its shape and rows."""
        try:
            return self.node.row()
        except ScriptError as error:
            causes = error.problems or [Problem("", what=error.message)]
            raise ScriptError(f"{type(self).__name__}({self.name!r}): its shape", *causes) from None

    def to_row(self, value: Any) -> dict[str, Any]:
        """Return the row of a value of its shape: of a record, or of what a view's `rows` gives."""
        convert = self.conversion.to_row
        return dict(value) if convert is None else dict(convert(value))

    def to_record(self, row: dict[str, Any]) -> Any:
        """Return the value of a row: the inverse of `to_row`."""
        convert = self.conversion.to_record
        return row if convert is None else convert(row)

    @cached_property
    def features(self) -> dict[str, Any]:
        """The features of its rows (`parley.schema.features`)."""
        return dict(self.conversion.feature)

    @property
    def fields(self) -> list[Column]:
        """Its columns, each followed by the fields within it."""
        return self.node.columns("")[1:]

    def _problems(self) -> Iterable[Problem]:
        if not isinstance(self.name, str) or not _NAME.fullmatch(self.name):
            yield Problem("name", "letters, digits and _", repr(self.name))
        if not isinstance(self.description, str) or not self.description:
            yield Problem("description", "a short description of a row", repr(self.description))
        columns = self.key if isinstance(self.key, list | tuple) else [self.key]
        inherits = isinstance(self, View) and self.of and self.key is None
        if not inherits and not all(isinstance(column, str) for column in columns):
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
        splits_share_keys: Whether splits share keys, so that a key is unique only within a split.
        records: Takes the opened files of a split by path, and yields its records; by default
            the files' records in order.
        shape: The shape of the records of `records`; by default that of the files.
        unjoin: The inverse of `records`, required with it. It takes the joined records in order,
            and yields (path of a file, record of the file) for each record of each file; "" stands
            for any file of the split. If the shape of a file is {str: x}, an entry is its record.
            What it yields for one joined record has the order of each file.
        left_out: Split -> path of a file -> the number of its records that `unjoin` cannot give.
        holds: Takes the row of a dialogue; returns the number of its turns, and its participants.
            `parley verify` compares with it what the views of the config show.
        repeats: Split -> the number of its dialogues that have the same turns as an earlier one, in
            this split or in one before. `parley verify` counts them.
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
        yield from list(_splits_problems(self.splits)) or self._problems_of_counts()
        if (self.records is None) != (self.shape is None):
            yield Problem("shape", what="requires `records`, and `records` requires it")
        is_inverse = callable(self.unjoin) if self.records is not None else self.unjoin is None
        if not is_inverse:
            expected = "with `records`, and only then, a function of (records): their inverse"
            yield Problem("unjoin", expected, repr(self.unjoin))
        if self.holds is not None and not callable(self.holds):
            yield Problem("holds", "a function of (row)", repr(self.holds))

    def _problems_of_counts(self) -> Iterable[Problem]:
        files = {
            f"{split}?": {f"{source.path}?": _count for source in sources}
            for split, sources in self.splits.items()
        }
        yield from problems(self.left_out, files, "left_out")
        yield from problems(self.repeats, dict.fromkeys(files, _count), "repeats")

    @cached_property
    def node(self) -> Node:
        """The parsed shape of its records."""
        if self.shape is not None:
            return parse(self.shape)
        sources = [source for split in self.splits.values() for source in split]
        by_shape = {id(source.shape): source for source in sources}
        first, *others = (source.node for source in by_shape.values())
        return Alternatives([first, *others]) if others else first


@dataclass(frozen=True, eq=False)
class View(_Config):
    """A config computed from records, without conversion back to them.

    It decorates a function, which takes the records of a split in order, yields rows, and gives the
    view its name.

    Args:
        description: A short description of a row.
        columns: The shape of a row, as {"turn": Field(int, "its place"), "text": str}. A
            `Value` or a `ClassLabel`, whose values are names, may replace a type.
        key, splits_share_keys: See `Config`; by default those of the config that `of` names.
        licence, use: See `Config`.
        of: The config whose dialogues it shows; without `splits`, also whose records it takes.
        splits: Split -> its files; by default those of the config that `of` names.
        records: Takes the opened files of `splits`; see `Config`.
        rejoin: Takes a build and a split; gives the same records as `records` from the rows of
            configs, or none if these are not built. Without it, only the source gives them.
        shows: What of the dialogues the rows show -> the column that names it: `dialogues` by
            their ids, or "" if each is a row, in order; `turns` by their places from 0, a text
            standing for a turn; `participants` as `holds` names them. By default: the first column
            of the key; `source_turns` or `turn`; `speaker` if it is in the key.
        left_out: Split -> `dialogues`, `turns` or `participants` -> the number that its rows leave
            out on purpose.

    Raises:
        ScriptError: the declaration has mistakes; names all of them.
    """

    name: str = field(init=False)
    rows: Rows = field(init=False)
    columns: Any
    _: KW_ONLY
    key: str | Sequence[str] | None = None
    splits_share_keys: bool | None = None
    of: str = ""
    splits: Mapping[str, Sequence[Source]] = field(default_factory=dict)
    rejoin: Rejoin | None = None
    shows: Mapping[str, str] | None = None
    left_out: LeftOut = field(default_factory=dict)

    def __call__(self, rows: Rows) -> "View":
        """Make it the view of a function; ScriptError names all mistakes of the declaration."""
        object.__setattr__(self, "name", rows.__name__)
        object.__setattr__(self, "rows", rows)
        require(self, self.name, list(self._problems()))
        _ = self.conversion  # raises a ScriptError for a shape that gives no columns
        return self

    def inherit(self, whole: Config) -> None:
        """Take what it does not state from the config that `of` names."""
        for name in ("key", "splits_share_keys"):
            if getattr(self, name) is None:
                object.__setattr__(self, name, getattr(whole, name))

    @cached_property
    def node(self) -> Node:
        """The parsed shape of what `rows` yields."""
        return parse(self.columns)

    @property
    def shown(self) -> dict[str, str]:
        """What of the dialogues the rows show -> its column: `shows`, or the usual."""
        if self.shows is not None or not self.keys:
            return dict(self.shows or {})
        usual = {"dialogues": self.keys[0]}
        if turns := [name for name in ("source_turns", "turn") if name in self.features]:
            usual["turns"] = turns[0]
        if "speaker" in self.keys[1:]:
            usual["participants"] = "speaker"
        return usual

    def _problems(self) -> Iterable[Problem]:
        yield from super()._problems()
        if not self.of and not self.splits:
            yield Problem("of", what="expected a config, or `splits`")
        for name in ("records", "rejoin"):
            if getattr(self, name) is not None and not self.splits:
                yield Problem(name, what="requires `splits`")
        if self.splits:
            yield from _splits_problems(self.splits)
        if self.rejoin is not None and not callable(self.rejoin):
            yield Problem("rejoin", "a function of (build, split)", repr(self.rejoin))
        if not isinstance(self.columns, dict):
            yield Problem("columns", "a dict of columns", f"{self.columns!r:.60}")
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
        elif others := [entry for entry in sources if not isinstance(entry, File | Folder)]:
            yield Problem(place, "a list of Files and Folders", f"{others[0]!r:.60}")
        elif len(set(sources)) < len(sources):
            yield Problem(place, what="names a file twice")
