"""Verifies a built folder: that it is whole and consistent, and every documented figure.

Everything is read from the folder's Parquet. What the folder says of itself, in
`provenance.json` and in its card, is compared with that and never followed: no path that stands
in it is opened.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import datasets
import pyarrow as pa
import pyarrow.parquet as pq

from parley.build import PROVENANCE, generate, strict_builder
from parley.cards import parse
from parley.collection import Dataset
from parley.errors import OutputError, ParleyError
from parley.features import arrow_schema
from parley.figures import A_SAMPLE, UNEXPLAINED, Data, Figure, checks, figures
from parley.rows import Digest
from parley.sources import Source

_MOST = 10  # problems shown of one check


@dataclass(frozen=True)
class Check:
    """One check: what must hold, and what contradicts it."""

    name: str
    definition: str
    problems: list[str]
    skipped: str = ""

    @property
    def failed(self) -> bool:
        """Whether anything contradicts it."""
        return bool(self.problems)


@dataclass(frozen=True)
class Verification:
    """What was found out about one built folder."""

    dataset: str
    rows: int
    checks: list[Check] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)

    @property
    def failed(self) -> bool:
        """Whether a check failed or a figure is unexplained."""
        return any(check.failed for check in self.checks) or bool(self.count(UNEXPLAINED))

    def count(self, verdict: str) -> int:
        """Return how many figures have this verdict."""
        return sum(figure.verdict == verdict for figure in self.figures)

    def as_dict(self) -> dict[str, Any]:
        """Return it all for JSON."""
        return {
            "dataset": self.dataset,
            "rows": self.rows,
            "failed": self.failed,
            "checks": [vars(check) for check in self.checks],
            "figures": [figure.as_dict() for figure in self.figures],
        }


@dataclass(frozen=True)
class _Folder:
    """A built folder while it is verified."""

    dataset: Dataset
    path: Path
    provenance: dict[str, Any]
    splits: list[tuple[str, str]]
    data: Data

    def tables(self) -> Iterator[tuple[str, str, pa.Table]]:
        for config, split in self.splits:
            for file in sorted((self.path / config).glob(f"{split}-*-of-*.parquet")):
                yield config, split, pq.read_table(file)


def verify(dataset: Dataset, path: Path, source: Source | None = None) -> Verification:
    """Verify a built folder of a dataset.

    Args:
        dataset: The dataset.
        path: Its built folder.
        source: Its upstream files, if they are at hand, to hold the rows against.

    Raises:
        OutputError: there is no built folder, or its provenance cannot be read.
    """
    provenance = read_provenance(path)
    if provenance.get("dataset") != dataset.name:
        raise OutputError(
            f"{path / PROVENANCE}: expected the dataset {dataset.name}, "
            f"found {provenance.get('dataset')!r}"
        )
    data = Data(path, dataset.module)
    splits = [(c, s) for c in dataset.module.SPLITS for s in data.splits(c)]
    folder = _Folder(dataset, path, provenance, splits, data)
    found = [_run(function, folder) for function in (_files, _schema, _counts, _digests)]
    if readable := not found[1].failed:
        found += [_run(function, folder) for function in (_keys, _labels)]
        found += [_run_on_data(function, data) for function in checks(dataset.statistics)]
        found.append(_source_check(folder, source))
    why_not = "" if readable else "the Parquet files are damaged"
    if provenance["sample"]:
        why_not = A_SAMPLE
    recomputed = list(figures(dataset.statistics, data, why_not))
    rows = sum(split["rows"] for c in provenance["configs"].values() for split in c.values())
    return Verification(dataset.name, rows, found, recomputed)


def read_provenance(path: Path) -> dict[str, Any]:
    """Return what a built folder says of itself; raise OutputError if it says nothing sound."""
    file = path / PROVENANCE
    try:
        provenance = json.loads(file.read_text(encoding="utf-8"))
        for config in provenance["configs"].values():
            for split in config.values():
                _ = int(split["rows"]), str(split["digest"]), list(split["files"])
    except FileNotFoundError:
        raise OutputError(
            f"{path}: not a built folder (no {PROVENANCE}); run `parley build`"
        ) from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise OutputError(f"{file}: not what parley writes: {error!r}") from error
    return dict(provenance)


def _run(function: Callable[[_Folder], Iterator[str]], folder: _Folder) -> Check:
    problems: list[str] = []
    try:
        problems += function(folder)
    except Exception as error:  # a damaged file can make its reader raise anything
        problems.append(f"{type(error).__name__}: {error}")
    return Check(function.__name__.strip("_"), function.__doc__ or "", problems)


def _run_on_data(function: Callable[[Data], Iterator[str]], data: Data) -> Check:
    problems: list[str] = []
    try:
        problems += function(data)
    except Exception as error:  # rows that no check expects must not hide the rest
        problems.append(f"the check failed: {type(error).__name__}: {error}")
    return Check(function.__name__, function.__doc__ or "", problems)


def _files(folder: _Folder) -> Iterator[str]:
    """The folder holds the card, the provenance and its Parquet files, byte for byte."""
    stated = {
        str(file.get("path")): file
        for config in folder.provenance["configs"].values()
        for split in config.values()
        for file in split["files"]
    }
    found = {
        path.relative_to(folder.path).as_posix(): path
        for path in sorted(folder.path.rglob("*"))
        if path.is_symlink() or not path.is_dir()
    }
    yield from (f"{name}: missing" for name in sorted(stated.keys() - found.keys()))
    for name, path in found.items():
        if path.is_symlink():
            yield f"{name}: a link, where a file is expected"
        elif name in stated:
            content = path.read_bytes()
            if (size := len(content)) != stated[name].get("bytes"):
                yield f"{name}: expected {stated[name].get('bytes')} bytes, found {size}"
            elif (digest := hashlib.sha256(content).hexdigest()) != stated[name].get("sha256"):
                yield f"{name}: sha256 expected {stated[name].get('sha256')}, found {digest}"
        elif name not in (PROVENANCE, "README.md"):
            yield f"{name}: unknown file"


def _schema(folder: _Folder) -> Iterator[str]:
    """Every file has the schema of its config's features, in its columns and in its footer."""
    for config, split, table in folder.tables():
        expected = folder.dataset.module.FEATURES[config]
        found = datasets.Features.from_arrow_schema(table.schema)
        if found != expected:
            yield f"{config}/{split}: expected the features {expected}, found {found}"
        elif table.schema.metadata != arrow_schema(expected).metadata:
            yield f"{config}/{split}: the footer's features are not in the form that builds write"


def _counts(folder: _Folder) -> Iterator[str]:
    """Rows are as many as the provenance and the card say."""
    counted: Counter[tuple[str, str]] = Counter()
    for config, split, table in folder.tables():
        counted[config, split] += table.num_rows
    stated = {
        (config, split): entry["rows"]
        for config, splits in folder.provenance["configs"].items()
        for split, entry in splits.items()
    }
    card, _ = parse((folder.path / "README.md").read_text(encoding="utf-8"), "README.md")
    on_card = {
        (info["config_name"], split["name"]): split["num_examples"]
        for info in card.get("dataset_info", ())
        for split in info["splits"]
    }
    for config, split in sorted(counted.keys() | stated.keys() | on_card.keys()):
        key = config, split
        numbers = (counted.get(key), stated.get(key), on_card.get(key))
        if len(set(numbers)) > 1:
            found, provenance, card_rows = ("none" if n is None else n for n in numbers)
            yield f"{config}/{split}: {found} rows, provenance {provenance}, card {card_rows}"


def _digests(folder: _Folder) -> Iterator[str]:
    """The rows of every split have the digest that the provenance states."""
    for config, split in folder.splits:
        digest = Digest()
        digest.update(folder.data.rows(config, split))
        stated = folder.provenance["configs"].get(config, {}).get(split, {}).get("digest")
        if digest.hexdigest() != stated:
            yield f"{config}/{split}: expected {stated}, found {digest.hexdigest()}"


def _keys(folder: _Folder) -> Iterator[str]:
    """No two rows of a split have the same key."""
    keys = getattr(folder.dataset.statistics, "KEYS", {})
    for config, split in folder.splits:
        if columns := keys.get(config):
            rows = folder.data.rows(config, split)
            counts = Counter(tuple(row[column] for column in columns) for row in rows)
            for key, count in counts.items():
                if count > 1:
                    yield f"{config}/{split}: {', '.join(map(str, key))} comes {count} times"


def _labels(folder: _Folder) -> Iterator[str]:
    """Every ClassLabel is one of its names."""
    for config, split in folder.splits:
        features = folder.dataset.module.FEATURES[config]
        for number, row in enumerate(folder.data.rows(config, split)):
            for path in _wrong_labels(row, features, ""):
                yield f"{config}/{split}[{number}]{path}"


def _wrong_labels(value: Any, feature: Any, path: str) -> Iterator[str]:
    if isinstance(feature, datasets.ClassLabel):
        if value is not None and not 0 <= value < len(feature.names):
            yield f"{path}: expected 0 to {len(feature.names) - 1}, found {value}"
    elif isinstance(feature, dict) and isinstance(value, dict):
        for name, inner in feature.items():
            yield from _wrong_labels(value[name], inner, f"{path}.{name}")
    elif isinstance(feature, list | datasets.List) and isinstance(value, list):
        inner = feature[0] if isinstance(feature, list) else feature.feature
        for index, item in enumerate(value):
            yield from _wrong_labels(item, inner, f"{path}[{index}]")


def _source_check(folder: _Folder, source: Source | None) -> Check:
    """Return the check that every upstream record comes back from its row, and gives that row."""
    name = "source"
    definition = "Every upstream record gives the row that was built, and comes back from it."
    if source is None:
        return Check(name, definition, [], skipped="the upstream files are not at hand")
    problems: list[str] = []
    try:
        for config, split in folder.splits:
            problems += _against_source(folder, source, config, split)
    except ParleyError as error:
        problems.append(str(error))
    return Check(name, definition, problems)


def _against_source(folder: _Folder, source: Source, config: str, split: str) -> Iterator[str]:
    module = folder.dataset.module
    if not source.has(folder.dataset, config, split):
        yield f"{config}/{split}: built, though its source is missing"
        return
    builder = strict_builder(folder.dataset, config, source.folder)
    (generator,) = (g for g in builder._split_generators(None) if str(g.name) == split)
    rows = folder.data.rows(config, split)
    made = list(generate(folder.dataset, builder, generator))
    if len(made) != len(rows):
        yield f"{config}/{split}: {len(rows)} rows, but the source gives {len(made)}"
    for number, (row, due) in enumerate(zip(rows, made, strict=False)):
        if row != due:
            yield f"{config}/{split}[{number}]: is not the row that the source gives"
    if to_record := module.TO_RECORD.get(config):
        records = builder.records(**generator.gen_kwargs)
        for number, (row, (_, record)) in enumerate(zip(rows, records, strict=False)):
            if to_record(row) != record:
                yield f"{config}/{split}[{number}]: does not come back as the upstream record"


def shown(problems: list[str]) -> list[str]:
    """Return the first problems, and how many more there are."""
    more = len(problems) - _MOST
    return problems[:_MOST] + ([f"and {more} more"] if more > 0 else [])
