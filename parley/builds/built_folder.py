"""A build: the folder that `parley build` writes and other commands open."""

import hashlib
import shlex
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any

from parley.base.errors import MissingSplitError, OutputError, UsageError, require_memory
from parley.builds.frozen import frozen
from parley.builds.provenance import (
    CARD,
    PROVENANCE,
    TEXTS,
    read_provenance,
    read_text,
    shard_names,
)
from parley.declaration.registry import Dataset, get
from parley.schema.features import datasets_features, item_of, labels_of
from parley.source.hashes import Pin, alone, places

if TYPE_CHECKING:
    import pyarrow as pa

_AT_ONCE = 1000  # rows that are Python objects at once, where not all are asked for


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Turn errors of reading Parquet into an OutputError that names the file."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        require_memory(error)
        raise OutputError(f"{path}: unreadable Parquet file: {error}") from error


class BuiltFolder:
    """A folder with the Parquet, card and provenance of one dataset, all untrusted.

    Its metadata is only compared: no path from it is opened, and no link in it is followed. Its
    methods raise OutputError for a file that cannot be read. `shown` is the folder that messages
    name, where `path` is a copy of it.
    """

    def __init__(
        self, path: Path, dataset: Dataset, provenance: dict[str, Any], shown: Path | None = None
    ) -> None:
        self.path = path
        self.dataset = dataset
        self.provenance = provenance
        self.shown_path = shown or path
        self._rows: dict[tuple[str, str], list[dict[str, Any]]] = {}
        self._tables: dict[Path, pa.Table] = {}
        self._texts: dict[str, str] = {}

    def __repr__(self) -> str:
        configs = self.provenance["configs"]
        kind = f"sample of {self.dataset.name}" if self.is_sample else self.dataset.name
        splits = sum(map(len, configs.values()))
        contents = f"{len(configs)} configs, {splits} splits"
        return f"<{kind} {self.version} in {self.shown_path}: {contents}>"

    def features(self, config: str) -> Any:
        """Return the `datasets.Features` of a config."""
        return datasets_features(self.column_types(config))

    def column_types(self, config: str) -> Mapping[str, Any]:
        """Return the features of a config of the dataset."""
        self.dataset.require(config)
        return self.dataset.configs[config].features

    def record(self, config: str, row: dict[str, Any]) -> Any:
        """Return the upstream record of a row of a lossless config."""
        return self.dataset.configs[config].to_record(row)

    @property
    def is_sample(self) -> bool:
        """Whether it is built from the sample."""
        return bool(self.provenance["sample"])

    @property
    def missing(self) -> list[str]:
        """The sources that were missing when it was built."""
        return list(self.provenance["missing"])

    @property
    def mirrored(self) -> dict[str, Pin]:
        """Source -> the pin that the provenance states, where it is a mirror's."""
        stated, own = self.provenance["sources"], self.dataset.pins
        mirrors = {file: places(pin)[1:] for file, pin in own.items() if file in stated}
        return {file: stated[file] for file in mirrors if stated[file] in map(alone, mirrors[file])}

    @property
    def version(self) -> str:
        """The dataset's version."""
        return str(self.provenance["version"])

    def command(self, command: str, *more: str) -> str:
        """Return the command line of a command on this build."""
        return typed(command, self.dataset.name, self.shown_path.parent, *more)

    @property
    def rebuild(self) -> str:
        """The command that builds it again."""
        return self.command("build")

    @property
    def split_entries(self) -> dict[str, dict[str, Any]]:
        """Config -> split -> its entry in the provenance."""
        return dict(self.provenance["configs"])

    @property
    def parquet_files(self) -> dict[str, Pin]:
        """Name -> size and sha256 of each Parquet file that the build must have, and no other."""
        return {
            str(file["path"]): {"size": file["bytes"], "sha256": file["sha256"]}
            for splits in self.split_entries.values()
            for made in splits.values()
            for file in made["files"]
        }

    def require_whole(self) -> None:
        """Raise OutputError if it has lost a file."""
        splits = [(config, name) for config, of in self.split_entries.items() for name in of]
        if lost := ["/".join(each) for each in splits if not self.files(*each)]:
            what = f"{self.path}: files are missing: {', '.join(lost)}"
            raise OutputError(what, remedy=f"Run {self.rebuild} again.")

    def files(self, config: str, split: str) -> list[Path]:
        """Return the Parquet files of a split in their order; [] if one is missing or a link."""
        folder = self.path.absolute() / config  # pyarrow takes a leading ~ for the home folder
        made = self.split_entries.get(config, {}).get(split, {"files": []})
        found = [folder / name for name in shard_names(split, len(made["files"]))]
        try:  # a link could lead anywhere
            whole = all(path.is_file() and not path.is_symlink() for path in found)
            return found if whole and not folder.is_symlink() else []
        except OSError:  # a name that is too long for the system
            return []

    def splits(self, config: str) -> list[str]:
        """Return the existing splits of a config, the declared ones first, in their order.

        UsageError if there is no such config.
        """
        if not (made := self.split_entries.get(config)):
            self.dataset.require(config)
        names = dict.fromkeys((*self.dataset.splits.get(config, ()), *sorted(made or ())))
        return [split for split in names if self.files(config, split)]

    @property
    def declared_splits(self) -> list[tuple[str, str]]:
        """The declared (config, split) pairs that exist."""
        return [(c, s) for c, of in self.dataset.splits.items() for s in of if self.files(c, s)]

    def tables(self, config: str, split: str, *, keep: bool = True) -> "Iterator[pa.Table]":
        """Yield the table of each file of a split, kept for the next call unless told not to.

        Errors as in `rows`.
        """
        from pyarrow.parquet import ParquetFile

        if not (paths := self.files(config, split)):
            what = f"the folder has lost {config}/{split}, which was built"
            if split in self.split_entries.get(config, {}):
                raise MissingSplitError(what, remedy=f"Run {self.rebuild} again.")
            self.dataset.require(config, split)
            raise MissingSplitError(f"{config}/{split} was not built: its source is missing")
        for path in paths:
            if (table := self._tables.get(path)) is None:
                with _readable(path), ParquetFile(path, page_checksum_verification=True) as file:
                    table = file.read()
            if keep:
                self._tables[path] = table
            yield table

    def each_row(self, config: str, split: str) -> Iterator[dict[str, Any]]:
        """Yield the rows of a split; errors as in `rows`.

        Of a split that `rows` has not read, a few are Python objects at once.
        """
        if (config, split) in self._rows:
            yield from self._rows[config, split]
            return
        for table in self.tables(config, split, keep=False):
            for batch in table.to_batches(_AT_ONCE):
                with _readable(self.path / config):  # Python lacks some values, as late dates
                    found = batch.to_pylist()
                yield from found

    def ids(self, config: str, split: str) -> Iterator[Any]:
        """Yield the first column of a split, which names its rows."""
        for table in self.tables(config, split, keep=False):
            with _readable(self.path / config):
                if not table.num_columns:
                    raise ValueError("it has no columns")
                found = table.column(0).to_pylist()
            yield from found

    def rows(self, config: str, *splits: str) -> list[dict[str, Any]]:
        """Return the rows of these splits, in order; they are read once, kept, and cannot change.

        Without splits: the rows of all that were built. UsageError if there is no such config or
        split; MissingSplitError if one of them was not built, or none of the config.
        """
        rows = []
        if not splits and not self.split_entries.get(config):
            self.dataset.require(config)
        for split in splits or self.split_entries.get(config) or self.dataset.splits[config]:
            if (config, split) not in self._rows:
                self._rows[config, split] = list(map(frozen, self.each_row(config, split)))
            rows += self._rows[config, split]
        return rows

    def copy_with_rows(self, rows: Mapping[tuple[str, str], list[dict[str, Any]]]) -> "BuiltFolder":
        """Return a copy that has other rows in these splits, as `rows` gives them."""
        found = copy(self)
        found._rows = {**self._rows, **rows}
        return found

    def rows_with_names(self, config: str, *splits: str) -> list[dict[str, Any]]:
        """Return what `rows` does, with the names of labels instead of their numbers."""
        return list(self._with_names(config, self.rows(config, *splits)))

    def each_row_with_names(self, config: str, split: str) -> Iterator[dict[str, Any]]:
        """Yield the rows of a split as `rows_with_names` does, a few as Python objects at once."""
        return self._with_names(config, self.each_row(config, split))

    def _with_names(self, config: str, rows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        self.dataset.require(config)
        features = self.dataset.configs[config].features
        labels = ((column, labels_of(item_of(f) or f)) for column, f in features.items())
        names = {column: found for column, found in labels if found}
        for row in rows:
            try:
                named = {column: _label_names(row[column], of) for column, of in names.items()}
            except IndexError as error:
                what = f"{self.path}: {config}: row {next(iter(row.values()))!r:.60}: {error}"
                raise OutputError(what, remedy=f"Run {self.command('verify')}.") from error
            yield row | named

    @property
    def card(self) -> str:
        """The text of its card."""
        return self.text(CARD)

    def hashes(self) -> dict[str, str]:
        """Return the sha256 of each file of the build by its name: of Parquet, as recorded."""
        found = {name: str(file["sha256"]) for name, file in self.parquet_files.items()}
        return found | {n: hashlib.sha256(self.text(n).encode()).hexdigest() for n in TEXTS}

    def text(self, name: str) -> str:
        """Return a text, which is read once: what is verified is what `hashes` states."""
        try:
            if name not in self._texts:
                self._texts[name] = read_text(self.path / name)
            return self._texts[name]
        except ValueError as error:
            what = f"{self.shown_path / name}: {error}"
            raise OutputError(what, remedy=f"Run {self.rebuild} again.") from error

    def contents(self) -> dict[str, Path]:
        """Return every file, link, device and empty folder in it by its relative name."""
        return {
            path.relative_to(self.path).as_posix(): path
            for path in sorted(self.path.rglob("*"))
            if path.is_symlink() or not path.is_dir() or not any(path.iterdir())
        }


def _label_names(value: Any, names: list[str]) -> Any:
    if isinstance(value, list):
        return [_label_names(each, names) for each in value]
    if value is not None and value not in range(len(names)):
        raise IndexError(f"no label has the number {value}")
    return None if value is None else names[value]


def open_folder(path: Path, dataset: Dataset | None = None) -> BuiltFolder:
    """Open a build of the given dataset, or of the dataset that its provenance names.

    OutputError if it is no build, belongs to another dataset, or has a broken provenance.
    """
    provenance = read_provenance(path)
    name = provenance["dataset"]
    if dataset is None:
        return BuiltFolder(path, get(name), provenance)
    if name != dataset.name:
        raise OutputError(f"{path}: expected a build of {dataset.name}, found one of {name!r}")
    return BuiltFolder(path, dataset, provenance)


def files_of(dataset: Dataset, path: Path) -> list[str]:
    """Return the names of the files of a dataset's build, [] if the folder is none."""
    try:
        built = open_folder(path, dataset)
    except OutputError:
        return []
    return [*TEXTS, *built.parquet_files]


def find_folder(build: Path, dataset: Dataset) -> BuiltFolder:
    """Open the build of a dataset in the folder of `--build`; UsageError if there is none."""
    path = build / dataset.name
    if path.is_dir():
        return open_folder(path, dataset)
    if (build / PROVENANCE).is_file():
        what = f"{build}: is itself a build"
        remedy = f"Name the folder above it: {build.resolve().parent}"
        raise UsageError(what, remedy=remedy)
    raise no_build(f"{path}: no such folder", dataset.name, build)


def no_build(what: str, name: str, build: Path) -> UsageError:
    """Return the error that the folder `build` has no build of a dataset, and how to make one."""
    remedy = f"Run {typed('build', name, build)} first; with --sample it builds invented rows."
    return UsageError(what, remedy=remedy)


def typed(command: str, name: str, build: Path, *more: str) -> str:
    """Return the command line of a command on a dataset's build below the folder `build`."""
    given = [] if build == Path("build") else ["--build", str(build)]
    return f"`{shlex.join(['parley', command, name, *given, *more])}`"
