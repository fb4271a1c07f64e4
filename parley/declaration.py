"""What a dataset's script declares: its upstream files, and the configs that are made of them.

Each part checks itself when it is made, and `parley.Builder` checks that they fit together. A
mistake is a ScriptError that names the field.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from parley.errors import Problem, ScriptError

if TYPE_CHECKING:
    from datasets import Features

    from parley.rows.reader import Opened

_DIGITS = {"sha256": 64, "git_blob": 40, "git_tree": 40}
_SPLIT = re.compile(r"\w+(\.\w+)*")  # as `datasets` names splits
_NAME = re.compile(r"[A-Za-z]\w*")

Records = Callable[[Mapping[str, "Opened"]], Iterable[Any]]
Rows = Callable[[Iterable[Any]], Iterable[dict[str, Any]]]


@dataclass(frozen=True, eq=False)
class _Source:
    path: str
    shape: Any
    _: KW_ONLY
    url: str
    size: int | None = None
    sha256: str = ""
    git_blob: str = ""
    read: str | Callable[[Any, Any], Iterable[Any]] = ""
    validate: Callable[[Any], None] | None = None

    def _problems(self) -> Iterable[Problem]:
        from parley.rows.formats import FORMATS

        parts = PurePosixPath(self.path).parts
        if not parts or self.path != "/".join(parts) or {"..", "/"} & set(parts):
            yield Problem("path", "a path within upstream's layout", repr(self.path))
        yield from _url_problems("url", self.url)
        if not isinstance(self.size, int | None):
            yield Problem("size", "a number of bytes", repr(self.size))
        for kind, digits in _DIGITS.items():
            found = getattr(self, kind, "")
            if found and not re.fullmatch(f"[0-9a-f]{{{digits}}}", str(found)):
                yield Problem(kind, f"{digits} hexadecimal digits", repr(found))
        if isinstance(self.read, str) and self.read not in FORMATS:
            known = ", ".join(FORMATS)
            yield Problem("read", f"one of {known}, or a function", repr(self.read))

    def _require(self, found: Iterable[Problem]) -> None:
        if found := list(found):
            raise ScriptError(f"{type(self).__name__}({self.path!r})", *found)


def _url_problems(place: str, url: Any) -> Iterable[Problem]:
    if not isinstance(url, str) or not url.startswith("https://"):
        yield Problem(place, "an https:// URL", repr(url))
    elif branch := re.search("/(main|master|HEAD)/", url):
        yield Problem(place, "the id of a commit", f"the branch {branch[1]}, which changes")


@dataclass(frozen=True, eq=False)
class File(_Source):
    """A pinned upstream file.

    Args:
        path: Where it lies in upstream's layout, and so in the source folder and the sample.
        shape: What each of its records looks like (`parley.shapes`).
        url: Where upstream has it: an address that names one version.
        size: Its bytes, if they are known.
        sha256: The hash of its content; or
        git_blob: what git names its content by.
        read: The format that holds its records (`parley.rows.formats`), by its ending if left
            out; or a function of (open binary file, decoder of JSON) that yields them.
        validate: Called with each record that fits the shape; raises ValueError with what
            contradicts itself in it.
        mirrors: Files that serve where the URL does not answer: each a dict of url, one hash and
            perhaps size.
        fallbacks: Files from which the same can be had where this one is missing.
    """

    _: KW_ONLY
    mirrors: Sequence[Mapping[str, Any]] = ()
    fallbacks: Sequence["File"] = ()

    def __post_init__(self) -> None:
        from parley.rows.formats import BY_SUFFIX

        if not self.read:
            suffix = PurePosixPath(self.path).suffix
            object.__setattr__(self, "read", BY_SUFFIX.get(suffix, ""))
        self._require(self._problems())

    def _problems(self) -> Iterable[Problem]:
        yield from super()._problems()
        yield from _hash_problems("", self.pin)
        for number, mirror in enumerate(self.mirrors):
            place = f"mirrors[{number}]"
            if not isinstance(mirror, Mapping):
                yield Problem(place, "a dict", repr(mirror))
                continue
            yield from _url_problems(f"{place}.url", mirror.get("url"))
            yield from _hash_problems(place, mirror)
            for key in mirror.keys() - {"url", "size", "sha256", "git_blob"}:
                yield Problem(f"{place}.{key}", what="unknown key")
        for other in self.fallbacks:
            if not isinstance(other, File):
                yield Problem("fallbacks", "Files", repr(other))

    @cached_property
    def pin(self) -> dict[str, Any]:
        """What fixes its content, as `parley.source.pins` has it."""
        given = {"url": self.url, "size": self.size}
        given |= {"sha256": self.sha256, "git_blob": self.git_blob}
        pin = {key: value for key, value in given.items() if value not in ("", None)}
        return pin | (
            {"mirrors": [dict(mirror) for mirror in self.mirrors]} if self.mirrors else {}
        )


def _hash_problems(place: str, pin: Mapping[str, Any]) -> Iterable[Problem]:
    if len(pin.keys() & {"sha256", "git_blob"}) != 1:
        yield Problem(place, "one of sha256 and git_blob", ", ".join(pin))


@dataclass(frozen=True, eq=False)
class Folder(_Source):
    """A pinned folder of files that hold records in one format, in an archive upstream.

    With `git_tree` its files are taken out of the archive when it is fetched, and lie in a folder
    at `path`. With `sha256` or `git_blob` the archive itself lies there, and its files are read
    in it.

    Args:
        path: Where the folder or the archive lies in upstream's layout.
        shape: What each record looks like (`parley.shapes`).
        url: Where upstream has the zip archive.
        member: The folder within the archive.
        git_tree: What git names the folder's content by: a flat folder of files; or
        sha256: the hash of the archive; or
        git_blob: what git names the archive by.
        size: The bytes of the archive, if they are known.
        files: How many files the folder has, if that is known.
        only: A pattern that the names of its files match, as "*.json"; the others hold no records.
        read: The format of the files, by their ending if left out: a `.json` file is one value.
        validate: As a file's.
    """

    _: KW_ONLY
    member: str
    git_tree: str = ""
    files: int | None = None
    only: str = "*"

    def __post_init__(self) -> None:
        from parley.rows.formats import BY_SUFFIX

        if not self.read:
            found = {**BY_SUFFIX, "": "json value", ".json": "json value"}
            suffix = PurePosixPath(self.only).suffix
            object.__setattr__(self, "read", found.get(suffix, ""))
        self._require(self._problems())

    def _problems(self) -> Iterable[Problem]:
        yield from super()._problems()
        if sum(map(bool, (self.sha256, self.git_blob, self.git_tree))) != 1:
            yield Problem("", "one of git_tree, sha256 and git_blob", "none, or several")
        if not isinstance(self.member, str) or not self.member:
            yield Problem("member", "a folder in the archive", repr(self.member))

    @property
    def is_archive(self) -> bool:
        """Whether the archive itself is kept, and its files are read in it."""
        return not self.git_tree

    @cached_property
    def pin(self) -> dict[str, Any]:
        """What fixes its content, as `parley.source.pins` has it."""
        given: dict[str, Any] = {"url": self.url, "size": self.size}
        if self.git_tree:
            given |= {"member": self.member, "git_tree": self.git_tree, "files": self.files}
        given |= {"sha256": self.sha256, "git_blob": self.git_blob}
        return {key: value for key, value in given.items() if value not in ("", None)}


Source = File | Folder


def _key(key: str | Sequence[str]) -> tuple[str, ...]:
    return (key,) if isinstance(key, str) else tuple(key)


@dataclass(frozen=True, eq=False)
class Config:
    """A config whose rows keep everything: each is made of one record, and goes back to it.

    Args:
        name: Its name.
        description: What a row is, in a few words.
        splits: Split -> the files that it is made from.
        key: The column or columns that tell its rows apart, over all splits.
        splits_share_keys: Whether upstream has some of them in several splits, so that the key
            tells rows apart in each split alone; of the views of this config, too.
        records: Takes the opened files of a split by their paths, and yields its records; left
            out, these are the files' records in order.
        shape: What a record of `records` looks like; left out, as those of the files.
        licence: What the Hub calls its licence, where it is not the dataset's.
    """

    name: str
    description: str
    splits: Mapping[str, Sequence[Source]]
    _: KW_ONLY
    key: str | Sequence[str]
    records: Records | None = None
    shape: Any = None
    splits_share_keys: bool = False
    licence: str = ""

    def __post_init__(self) -> None:
        _require(self, [*_config_problems(self), *self._problems()])

    def _problems(self) -> Iterable[Problem]:
        yield from _splits_problems(self.splits)
        if (self.records is None) != (self.shape is None):
            yield Problem("shape", what="stands with `records`, whose records it describes")

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns that tell its rows apart."""
        return _key(self.key)

    @cached_property
    def record_shape(self) -> Any:
        """What each record looks like that a row is made of."""
        if self.shape is not None:
            return self.shape
        shapes: list[Any] = []
        for sources in self.splits.values():
            shapes += [each.shape for each in sources if not any(each.shape is s for s in shapes)]
        return shapes[0] if len(shapes) == 1 else tuple(shapes)

    @cached_property
    def conversion(self) -> Any:
        """How its records become rows and come back (`parley.rows.conversion`)."""
        from parley.rows.conversion import conversion

        try:
            return conversion(self.record_shape)
        except ScriptError as error:
            found = error.problems
            raise ScriptError(f"Config({self.name!r}): its shape", *found) from None

    @cached_property
    def features(self) -> "Features":
        """The features of its rows."""
        return _features(self.conversion.feature)

    def to_row(self, record: Any) -> dict[str, Any]:
        """Return the row of a record."""
        convert = self.conversion.to_row
        return dict(record) if convert is None else dict(convert(record))

    def to_record(self, row: dict[str, Any]) -> Any:
        """Return the record of a row: the inverse of `to_row`."""
        convert = self.conversion.to_record
        return row if convert is None else convert(row)

    def rows(self, records: Iterable[Any]) -> Iterable[dict[str, Any]]:
        """Yield the row of each record."""
        convert = self.conversion.to_row
        return records if convert is None else map(convert, records)


@dataclass(frozen=True, eq=False)
class View:
    """A config whose rows show records in another form, without a way back.

    Args:
        name: Its name.
        description: What a row is, in a few words.
        of: The config from which it takes its splits and records; or
        splits: split -> the files that it is made from, with
        records: as in `Config`.
        rows: Takes the records of a split, in order, and yields the rows.
        features: The columns of a row, as in a shape: {"turn": int, "text": str}; a feature of
            `datasets`, as a ClassLabel, may stand for a type.
        key: The column or columns that tell its rows apart, over all splits; () where its
            documented schema has none.
        splits_share_keys: As in `Config`.
        sentinels: Whether its documented schema has "" and -1.0 for what is missing.
        licence: What the Hub calls its licence, where it is not the dataset's.
    """

    name: str
    description: str
    splits: Mapping[str, Sequence[Source]] = field(default_factory=dict)
    _: KW_ONLY
    rows: Rows
    features: Any
    key: str | Sequence[str]
    of: str = ""
    records: Records | None = None
    sentinels: bool = False
    splits_share_keys: bool = False
    licence: str = ""

    def __post_init__(self) -> None:
        from parley.rows.conversion import feature_of

        _require(self, [*_config_problems(self), *self._problems()])
        try:
            features = _features(feature_of(self.features))
        except ScriptError as error:
            raise ScriptError(f"View({self.name!r}): its features", *error.problems) from None
        object.__setattr__(self, "features", features)

    def _problems(self) -> Iterable[Problem]:
        if bool(self.of) == bool(self.splits):
            yield Problem("of", what="names a config, or `splits` names files, and not both")
        if self.splits:
            yield from _splits_problems(self.splits)
        if not callable(self.rows):
            yield Problem("rows", "a function of (records)", repr(self.rows))

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns that tell its rows apart."""
        return _key(self.key)


def _require(config: Config | View, found: list[Problem]) -> None:
    if found:
        raise ScriptError(f"{type(config).__name__}({config.name!r})", *found)


def _config_problems(config: Config | View) -> Iterable[Problem]:
    if not isinstance(config.name, str) or not _NAME.fullmatch(config.name):
        yield Problem("name", "letters, digits and _", repr(config.name))
    if not isinstance(config.description, str) or not config.description:
        yield Problem("description", "what a row is, in a few words", repr(config.description))
    if not all(isinstance(column, str) for column in _key(config.key)):
        yield Problem("key", "a column, or several", repr(config.key))
    if config.records is not None and not callable(config.records):
        yield Problem("records", "a function of (sources)", repr(config.records))


def _splits_problems(splits: Any) -> Iterable[Problem]:
    if not isinstance(splits, Mapping) or not splits:
        yield Problem("splits", "a dict of split -> files", repr(splits))
        return
    for split, sources in splits.items():
        place = f"splits[{split!r}]"
        if not isinstance(split, str) or not _SPLIT.fullmatch(split):
            yield Problem(place, "a name of letters, digits, _ and dots", repr(split))
        if not isinstance(sources, Sequence) or not sources:
            yield Problem(place, "a list of Files and Folders", repr(sources))
        elif wrong := [each for each in sources if not isinstance(each, File | Folder)]:
            yield Problem(place, "a list of Files and Folders", repr(wrong[0]))


def _features(feature: Any) -> "Features":
    import datasets

    def made(each: Any) -> Any:
        if isinstance(each, str):
            return datasets.Value(each)
        if isinstance(each, list):
            return [made(each[0])]
        return {name: made(inner) for name, inner in each.items()} if type(each) is dict else each

    return datasets.Features(made(feature))
