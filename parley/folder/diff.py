"""Compares two built folders of one dataset, row by row."""

from collections import Counter
from dataclasses import asdict, dataclass, field
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from parley.collection import Dataset, get
from parley.errors import OutputError, UsageError
from parley.figures import A_SAMPLE, Data, figures
from parley.folder.verify import read_provenance


@dataclass(frozen=True)
class Change:
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
    changed: list[Change] = field(default_factory=list)
    reordered: bool = False

    @property
    def differs(self) -> bool:
        """Whether anything is not the same."""
        return (
            self.old_rows != self.new_rows
            or self.reordered
            or any((self.schema, self.added, self.removed, self.changed))
        )


@dataclass
class Difference:
    """How two built folders differ.

    Args:
        dataset: The dataset of both.
        splits: Every split that either has, of every config.
        provenance: (what, old, new) of version, sources and so on that are not the same.
        figures: (name, old, new) of each documented figure that was measured otherwise.
    """

    dataset: str
    splits: list[SplitDifference]
    provenance: list[tuple[str, Any, Any]]
    figures: list[tuple[str, Any, Any]]

    @property
    def differs(self) -> bool:
        """Whether anything is not the same."""
        return bool(self.figures or self.provenance) or any(s.differs for s in self.splits)

    def as_dict(self) -> dict[str, Any]:
        """Return it all for JSON."""
        return {"differs": self.differs, **asdict(self)}


def compare(old: Path, new: Path) -> Difference:
    """Compare two built folders of the same dataset.

    Raises:
        UsageError: they are of two datasets.
        OutputError: one of them is not a built folder or cannot be read.
    """
    provenances = [read_provenance(folder) for folder in (old, new)]
    names = [provenance["dataset"] for provenance in provenances]
    if names[0] != names[1]:
        raise UsageError(f"{old} is of {names[0]}, {new} of {names[1]}: not the same dataset")
    dataset = get(names[0])
    data = [Data(folder, dataset.module) for folder in (old, new)]
    try:
        splits = [
            _compare_split(dataset, data[0], data[1], config, split)
            for config, split in _all_splits(data)
        ]
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:  # as invalid UTF-8
        raise OutputError(f"a Parquet file cannot be read: {error}") from error
    measured = [
        {
            f.name: f.measured
            for f in figures(dataset.statistics, each, A_SAMPLE if p["sample"] else "")
        }
        for each, p in zip(data, provenances, strict=True)
    ]
    first, second = measured  # one of them may have a category that the other lacks
    either = dict.fromkeys([*first, *second])
    moved = [(n, first.get(n), second.get(n)) for n in either if first.get(n) != second.get(n)]
    before, after = (
        {k: v for k, v in p.items() if k not in ("configs", "dataset")} for p in provenances
    )
    return Difference(dataset.name, splits, changes(before, after, ""), moved)


def _all_splits(data: list[Data]) -> list[tuple[str, str]]:
    """Return every split that either folder has, the declared configs first."""
    configs = dict.fromkeys(data[0].module.SPLITS)
    for each in data:
        configs |= dict.fromkeys(sorted(p.name for p in each.folder.iterdir() if p.is_dir()))
    return [
        (config, split)
        for config in configs
        for split in dict.fromkeys(split for each in data for split in each.splits(config))
    ]


def _compare_split(
    dataset: Dataset, old: Data, new: Data, config: str, split: str
) -> SplitDifference:
    result = SplitDifference(config, split)
    there = [split in each.splits(config) for each in (old, new)]
    before = old.rows(config, split) if there[0] else []
    after = new.rows(config, split) if there[1] else []
    result.old_rows = len(before) if there[0] else None
    result.new_rows = len(after) if there[1] else None
    if all(there):
        result.schema = _schema_changes(*(_schema(each, config, split) for each in (old, new)))
    columns = getattr(dataset.statistics, "KEYS", {}).get(config, ())
    left, right = _by_key(before, columns), _by_key(after, columns)
    if not columns:
        right = _like(left, right)
    result.added = [key for key in right if key not in left]
    result.removed = [key for key in left if key not in right]
    result.changed = [
        Change(key, list(changes(row, right[key], "")))
        for key, row in left.items()
        if key in right and row != right[key]
    ]
    result.reordered = [k for k in left if k in right] != [k for k in right if k in left]
    return result


def _like(left: dict[str, Any], right: dict[str, Any]) -> dict[str, Any]:
    """Return rows that have no key under the names of the rows of `left` that they match.

    Rows are aligned by content, as diff(1) aligns lines; where as many rows stand in each other's
    place, they are the same rows, changed.
    """
    names, rows = list(left), list(right.values())
    old, new = ([repr(row) for row in side.values()] for side in (left, right))
    result = {}
    for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        paired = tag == "equal" or (tag == "replace" and b - a == d - c)
        for n in range(c, d):
            result[names[a + n - c] if paired else f"new row {n}"] = rows[n]
    return result


def _by_key(rows: list[dict[str, Any]], columns: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    """Return rows by key; by place where the config has none. A repeated key is numbered."""
    seen: Counter[str] = Counter()
    result = {}
    for number, row in enumerate(rows):
        key = " ".join(str(row.get(column)) for column in columns) if columns else f"row {number}"
        seen[key] += 1
        result[key if seen[key] == 1 else f"{key} ({seen[key]})"] = row
    return result


def _schema(data: Data, config: str, split: str) -> pa.Schema:
    return pq.read_schema(data.files(config, split)[0])


def _schema_changes(old: pa.Schema, new: pa.Schema) -> list[str]:
    names = dict.fromkeys([*old.names, *new.names])
    types = [{name: str(schema.field(name).type) for name in schema.names} for schema in (old, new)]
    return [
        f"{name}: {types[0].get(name, 'absent')} -> {types[1].get(name, 'absent')}"
        for name in names
        if types[0].get(name) != types[1].get(name)
    ]


def changes(old: Any, new: Any, path: str) -> list[tuple[str, Any, Any]]:
    """Return (path, old, new) of the innermost values that are not the same."""
    if isinstance(old, dict) and isinstance(new, dict) and old.keys() == new.keys():
        inner = [(f"{path}.{key}" if path else key, old[key], new[key]) for key in old]
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        inner = [(f"{path}[{n}]", *pair) for n, pair in enumerate(zip(old, new, strict=True))]
    else:
        return [] if old == new else [(path, old, new)]
    return [change for p, before, after in inner for change in changes(before, after, p)]
