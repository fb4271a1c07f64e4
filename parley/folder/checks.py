"""What must hold of any built folder, one function a check.

Each yields a message for everything that contradicts its docstring. What a folder says of itself
is compared with its Parquet, never followed: no path that stands in it is opened.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import datasets
import pyarrow as pa
import pyarrow.parquet as pq

from parley.build import PROVENANCE, generate, strict_builder
from parley.collection import Dataset
from parley.figures import Data, Figure
from parley.folder.card import GENERATED, card_configs, parse, prose, stated_figures
from parley.rows.arrow import Digest
from parley.rows.features import arrow_schema, card_yaml
from parley.source import pins
from parley.source.files import Source

CARD = "README.md"
_TEXT = 16_000_000  # bytes of a card or provenance; ours have some 100,000


@dataclass(frozen=True)
class Folder:
    """A built folder while it is verified.

    Args:
        dataset: What it should be a build of.
        path: Where it is.
        provenance: What it says of itself.
        data: Its rows.
        source: The upstream files, if they are at hand.
        figures: The documented figures, recomputed from its rows.
    """

    dataset: Dataset
    path: Path
    provenance: dict[str, Any]
    data: Data
    source: Source | None
    figures: list[Figure]

    @property
    def splits(self) -> list[tuple[str, str]]:
        """The declared splits that are there."""
        declared = self.dataset.module.SPLITS
        return [(c, s) for c, splits in declared.items() for s in splits if self.data.files(c, s)]

    def tables(self) -> Iterator[tuple[str, str, pa.Table]]:
        """Yield config, split and table of every file."""
        for config, split in self.splits:
            for file in self.data.files(config, split):
                yield config, split, pq.read_table(file)


def files_of(path: Path) -> dict[str, Path]:
    """Return every file, link and device in a built folder, by its name in it.

    Left out is what begins with a dot: `.gitattributes` and `.cache`, which huggingface_hub adds
    to what it downloads.
    """
    found = (p for p in sorted(path.rglob("*")) if p.is_symlink() or not p.is_dir())
    named = {p.relative_to(path).as_posix(): p for p in found}
    return {name: p for name, p in named.items() if not name.startswith(".")}


def read_text(path: Path) -> str:
    """Return the text of a card or provenance, which nobody vouches for.

    Raises:
        ValueError: it is missing, a link, a device, far too large or not UTF-8.
    """
    if path.is_symlink() or not path.is_file():
        raise ValueError(f"{path.name} is missing")
    if (size := path.stat().st_size) > _TEXT:
        raise ValueError(f"{size:,} bytes are too many, at most {_TEXT:,}")
    return path.read_text(encoding="utf-8")


def files(folder: Folder) -> Iterator[str]:
    """The folder holds its card, its provenance and Parquet files, these byte for byte."""
    stated = {
        str(file.get("path")): file
        for config in folder.provenance["configs"].values()
        for split in config.values()
        for file in split["files"]
    }
    found = files_of(folder.path)
    yield from (f"{name}: missing" for name in sorted({*stated, CARD} - found.keys()))
    for name, path in found.items():
        if path.is_symlink() or not path.is_file():
            yield f"{name}: expected a file, found a link or device"
        elif name in stated:
            if wrong := pins.problem(path, _pin(stated[name])):
                yield f"{name}: {wrong}"
        elif name not in (PROVENANCE, CARD):
            yield f"{name}: unknown file"


def _pin(stated: dict[str, Any]) -> pins.Pin:
    return {"size": stated["bytes"], "sha256": stated["sha256"]}


def schema(folder: Folder) -> Iterator[str]:
    """Every file has the schema of its config's features, in its columns and in its footer."""
    for config, split, table in folder.tables():
        expected = folder.dataset.module.FEATURES[config]
        found = datasets.Features.from_arrow_schema(table.schema)
        if found != expected:
            yield f"{config}/{split}: expected the features {expected}, found {found}"
        elif table.schema.metadata != arrow_schema(expected).metadata:
            yield f"{config}/{split}: the footer's features are not in the form that builds write"


def provenance(folder: Folder) -> Iterator[str]:
    """The provenance names this version and its pins, and a missing source for a missing split."""
    module, stated = folder.dataset.module, folder.provenance
    missing = set(stated["missing"])
    due = {
        file: dict(pin)
        for file, pin in module.SOURCES.items()
        if not stated["sample"] and file not in missing
    }
    for what, expected in (("version", str(folder.dataset.builder.VERSION)), ("sources", due)):
        if stated.get(what) != expected:
            yield f"{what}: expected {expected}, found {stated.get(what)}"
    yield from (f"missing: {file} is no source" for file in sorted(missing - set(module.SOURCES)))
    for config, splits in module.SPLITS.items():
        for split, needed in splits.items():
            lacking = missing.intersection([needed] if isinstance(needed, str) else needed)
            if (config, split) not in folder.splits:
                if not lacking:
                    yield f"{config}/{split}: not there, though no source of it is missing"
                elif folder.source and folder.source.has(folder.dataset, config, split):
                    yield f"{config}/{split}: not there, though its source is at hand"


def counts(folder: Folder) -> Iterator[str]:
    """Rows are as many as the provenance and the card say."""
    counted: Counter[tuple[str, str]] = Counter()
    for config, split, table in folder.tables():
        counted[config, split] += table.num_rows
    stated = {
        (config, split): entry["rows"]
        for config, splits in folder.provenance["configs"].items()
        for split, entry in splits.items()
    }
    front, _ = _card(folder)
    on_card = {
        (info["config_name"], split["name"]): split["num_examples"]
        for info in front["dataset_info"]
        for split in info["splits"]
    }
    for config, split in sorted(counted.keys() | stated.keys() | on_card.keys()):
        key = config, split
        numbers = (counted.get(key), stated.get(key), on_card.get(key))
        if len(set(numbers)) > 1:
            found, said, card_rows = ("none" if n is None else n for n in numbers)
            yield f"{config}/{split}: {found} rows, provenance {said}, card {card_rows}"


def card(folder: Folder) -> Iterator[str]:
    """The card is the dataset's, but for configs, features and figures, which are the folder's."""
    front, body = _card(folder)
    own, own_body = parse(folder.dataset.read_card(), str(folder.dataset.card))
    for key in sorted({*own, *front} - {*GENERATED}):
        if front.get(key) != own.get(key):
            yield f"{key}: expected {own.get(key)}, found {front.get(key)}"
    if prose(body) != prose(own_body):
        yield f"the text is not that of {folder.dataset.name}/README.md; build it again"
    built: dict[str, list[str]] = {}
    for config, split in folder.splits:
        built.setdefault(config, []).append(split)
    if front["configs"] != card_configs(built, folder.dataset.builder.DEFAULT_CONFIG_NAME):
        yield "configs: not the configs, splits and files that are there"
    for info in front["dataset_info"]:
        features = folder.dataset.module.FEATURES.get(info["config_name"])
        if features is None or info["features"] != card_yaml(features):
            yield f"dataset_info: not the features of {info['config_name']}"
        elif info["license"] != _licence(folder.dataset, info["config_name"]):
            yield f"dataset_info: not the licence of {info['config_name']}"
    if folder.provenance["sample"]:
        return
    stated = stated_figures(body)
    for figure in folder.figures:
        documented, measured, verdict = stated.pop(figure.name, ("", "", ""))
        if documented != figure.stated:
            said = documented or "nothing"
            yield f"{figure.name}: documented {figure.stated}, the card says {said}"
        elif measured and figure.measured is not None and measured != str(figure.measured):
            yield f"{figure.name}: measured {figure.measured}, the card says {measured}"
        elif measured and figure.measured is not None and verdict != figure.verdict:
            yield f"{figure.name}: {figure.verdict}, the card says {verdict}"
    yield from (f"{name}: on the card, but no documented figure" for name in stated)


def _licence(dataset: Dataset, config: str) -> str:
    return str(strict_builder(dataset, config, dataset.sample).info.license)


def _card(folder: Folder) -> tuple[dict[str, Any], str]:
    return parse(read_text(folder.path / CARD), CARD)


def digests(folder: Folder) -> Iterator[str]:
    """The rows of every split have the digest that the provenance states."""
    for config, split in folder.splits:
        digest = Digest()
        digest.update(folder.data.rows(config, split))
        stated = folder.provenance["configs"].get(config, {}).get(split, {}).get("digest")
        if digest.hexdigest() != stated:
            yield f"{config}/{split}: expected {stated}, found {digest.hexdigest()}"


def keys(folder: Folder) -> Iterator[str]:
    """No two rows of a split have the same key."""
    columns_of = getattr(folder.dataset.statistics, "KEYS", {})
    for config, split in folder.splits:
        if columns := columns_of.get(config):
            rows = folder.data.rows(config, split)
            found = Counter(tuple(row[column] for column in columns) for row in rows)
            for key, count in found.items():
                if count > 1:
                    yield f"{config}/{split}: {', '.join(map(str, key))} comes {count} times"


def labels(folder: Folder) -> Iterator[str]:
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


def source(folder: Folder) -> Iterator[str]:
    """Every upstream record gives the row that was built, and comes back from it."""
    if folder.source is None:
        return
    for config, split in folder.splits:
        if folder.source.has(folder.dataset, config, split):
            yield from _against_source(folder, folder.source, config, split)


def _against_source(folder: Folder, source: Source, config: str, split: str) -> Iterator[str]:
    builder = strict_builder(folder.dataset, config, source.folder)
    (generator,) = (g for g in builder._split_generators(None) if str(g.name) == split)
    rows = folder.data.rows(config, split)
    made = list(generate(folder.dataset, builder, generator))
    if len(made) != len(rows):
        yield f"{config}/{split}: {len(rows)} rows, but the source gives {len(made)}"
    for number, (row, due) in enumerate(zip(rows, made, strict=False)):
        if row != due:
            yield f"{config}/{split}[{number}]: is not the row that the source gives"
    if to_record := folder.dataset.module.TO_RECORD.get(config):
        records = builder.records(**generator.gen_kwargs)
        for number, (row, (_, record)) in enumerate(zip(rows, records, strict=False)):
            if to_record(row) != record:
                yield f"{config}/{split}[{number}]: does not come back as the upstream record"
