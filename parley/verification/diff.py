"""Compares two builds of one dataset, row by row."""

import shlex
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass, field
from difflib import SequenceMatcher
from typing import Any

import pyarrow as pa

from parley.base.errors import UsageError, shorten
from parley.base.strict_json import loads
from parley.builds.built_folder import BuiltFolder
from parley.declaration.figures import A_SAMPLE
from parley.source.hashes import hash_file
from parley.verification.changes import changes, exactly_equal
from parley.verification.figures import figures


@dataclass(frozen=True)
class ChangedRow:
    """A row that is in both folders and not the same: key, and path, old and new of each field."""

    key: str
    fields: list[tuple[str, Any, Any]]


@dataclass
class SplitDifference:
    """How one split differs. Rows are counted; None where a folder does not have the split."""

    config: str
    split: str
    old_rows: int | None = None
    new_rows: int | None = None
    schema: list[str] = field(default_factory=list)
    added: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    changed: list[ChangedRow] = field(default_factory=list)
    reordered: bool = False

    @property
    def differs(self) -> bool:
        """Whether anything differs."""
        changes = (self.schema, self.added, self.removed, self.changed, self.reordered)
        return any(changes) or self.old_rows != self.new_rows


@dataclass
class BuildDifference:
    """The differences of two builds of a dataset."""

    dataset: str
    splits: list[SplitDifference]  # every split that either has, of every config
    provenance: list[tuple[str, Any, Any]]  # (key, old, new) of each difference
    figures: list[tuple[str, Any, Any]]  # (name, old, new) of each figure with another value

    @property
    def differs(self) -> bool:
        """Whether anything differs."""
        return bool(self.figures or self.provenance) or any(s.differs for s in self.splits)

    def as_dict(self) -> dict[str, Any]:
        """Return it all for JSON."""
        return {"differs": self.differs, **asdict(self)}


def compare_builds(old: BuiltFolder, new: BuiltFolder) -> BuildDifference:
    """Compare two builds; UsageError if they are of two datasets."""
    both = (old, new)
    names = [folder.dataset.name for folder in both]
    if names[0] != names[1]:
        what = f"{old.path} holds {names[0]}, {new.path} holds {names[1]}: not the same dataset"
        raise UsageError(what)
    splits = [_compare_split(old, new, config, split) for config, split in _all_splits(both)]
    first, second = map(_measured, both)
    names_of_either = first | second  # one of them may have a category that the other lacks
    pairs = ((name, first.get(name), second.get(name)) for name in names_of_either)
    changed = [(name, before, after) for name, before, after in pairs if before != after]
    left_out = {"configs", "dataset", "format"}
    before, after = ({k: v for k, v in f.provenance.items() if k not in left_out} for f in both)
    return BuildDifference(names[0], splits, list(changes(before, after, "")), changed)


def _measured(folder: BuiltFolder) -> dict[str, Any]:
    """Return the measured value of each documented figure."""
    every = figures(folder.dataset.figures, folder, A_SAMPLE if folder.is_sample else "")
    return {figure.name: figure.measured for figure in every}


def _all_splits(both: tuple[BuiltFolder, BuiltFolder]) -> list[tuple[str, str]]:
    """Return every split that either folder has, the declared configs first."""
    configs = dict.fromkeys(both[0].dataset.configs)
    for folder in both:
        configs |= dict.fromkeys(sorted(folder.split_entries))
    return [
        (config, split)
        for config in configs
        for split in dict.fromkeys(split for folder in both for split in _splits(folder, config))
    ]


def _compare_split(old: BuiltFolder, new: BuiltFolder, config: str, split: str) -> SplitDifference:
    result = SplitDifference(config, split)
    both = (old, new)
    is_in = [split in _splits(folder, config) for folder in both]
    before = old.rows(config, split) if is_in[0] else []
    after = new.rows(config, split) if is_in[1] else []
    result.old_rows = len(before) if is_in[0] else None
    result.new_rows = len(after) if is_in[1] else None
    declared = old.dataset.configs.get(config)  # none of a folder too many
    columns = declared.keys if declared else ()
    if all(is_in):
        one, other = (next(folder.tables(config, split)).schema for folder in both)
        result.schema = list(_schema_changes(one, other))
        # a column of only one folder is a schema change, not repeated for every row
        shared = [name for name in other.names if name in one.names]
        before, after = ([{n: row[n] for n in shared} for row in rows] for rows in (before, after))
        columns = columns if {*columns} <= {*shared} else ()
    left, right = _by_key(before, columns), _by_key(after, columns)
    if not columns:
        right = _aligned(left, right)
    result.added = [_name(key) for key in right if key not in left]
    result.removed = [_name(key) for key in left if key not in right]
    result.changed = [
        ChangedRow(_name(key), list(changes(row, right[key], "")))
        for key, row in left.items()
        if key in right and not exactly_equal(row, right[key])
    ]
    result.reordered = [k for k in left if k in right] != [k for k in right if k in left]
    one, other = (folder.provenance["built_with"] for folder in both)
    if all(is_in) and not result.differs and one == other:
        one, other = (folder.files(config, split) for folder in both)
        if [hash_file(path, "sha256") for path in one] != [hash_file(p, "sha256") for p in other]:
            result.schema = ["equal rows in files of other bytes, so that readers may differ"]
    return result


def _splits(built: BuiltFolder, config: str) -> list[str]:
    return built.splits(config) if config in built.split_entries else []


RowKey = tuple[tuple[str, ...], int]  # of a row: its key columns, and which row with these values


def _aligned(left: dict[RowKey, Any], right: dict[RowKey, Any]) -> dict[RowKey, Any]:
    """Name rows without a key after the rows of `left` that they match.

    Rows are aligned by content, as diff(1) aligns lines; equally many replaced rows count as
    changed rows.
    """
    names, rows = list(left), list(right.values())
    old, new = ([repr(row) for row in side.values()] for side in (left, right))
    result = {}
    for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        paired = tag == "equal" or (tag == "replace" and b - a == d - c)
        for n in range(c, d):
            result[names[a + n - c] if paired else ((f"new row {n}",), 1)] = rows[n]
    return result


def _by_key(rows: list[dict[str, Any]], columns: tuple[str, ...]) -> dict[RowKey, dict[str, Any]]:
    """Return rows by key, or by number without one. A repeated key is numbered."""
    seen: Counter[tuple[str, ...]] = Counter()
    result = {}
    for number, row in enumerate(rows):
        key = tuple(str(row.get(column)) for column in columns) or (f"row {number}",)
        seen[key] += 1
        result[key, seen[key]] = row
    return result


def _name(key: RowKey) -> str:
    values, number = key
    text = values[0] if len(values) == 1 else shlex.join(values)
    return text if number == 1 else f"{text} ({number})"


def _schema_changes(old: pa.Schema, new: pa.Schema) -> Iterator[str]:
    types = [
        {  # a damaged file may have two columns of one name
            name: ", ".join(str(s.field(at).type) for at in s.get_all_field_indices(name))
            for name in s.names
        }
        for s in (old, new)
    ]
    for name in dict.fromkeys((*old.names, *new.names)):
        one, other = (side.get(name, "absent") for side in types)
        if one != other:
            yield f"{name}: {one} -> {other}"
    shared = [[name for name in one if name in other] for one, other in (types, types[::-1])]
    if shared[0] != shared[1]:
        yield f"columns in another order: {', '.join(shared[1])}"
    unchanged = {name for name in types[0] if types[0][name] == types[1].get(name)}
    for path, one, other in changes(_footer(old, unchanged), _footer(new, unchanged), "features"):
        yield shorten(f"footer, {path}: {one} -> {other}")


def _footer(schema: pa.Schema, names: Collection[str]) -> Any:
    """Return what the footer says of the features of these columns; its text if it is no JSON."""
    text = (schema.metadata or {}).get(b"huggingface", b"")
    try:
        features = loads(text)["info"]["features"]
        return {name: feature for name, feature in features.items() if name in names}
    except (ValueError, LookupError, TypeError, AttributeError):
        return repr(text)
