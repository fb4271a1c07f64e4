"""Builds a hub folder: rows from a builder, checked, into Parquet with a card beside it."""

import hashlib
import json
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any

import datasets
import pyarrow as pa
import pyarrow.parquet as pq

from parley import __version__
from parley.cards import render, splits_section
from parley.collection import Dataset
from parley.errors import RecordError, RowError
from parley.features import arrow_schema, card_yaml
from parley.output import replacing
from parley.records import Strict
from parley.rows import Digest, to_batch
from parley.sources import Source

PROVENANCE = "provenance.json"
BATCH = 500  # rows that are converted at once


@dataclass(frozen=True)
class Split:
    """One built split: how many rows, bytes of Parquet and of Arrow data, and which digest."""

    config: str
    name: str
    rows: int
    size: int
    arrow_size: int
    digest: str
    file: str
    sha256: str
    seconds: float


def build(
    dataset: Dataset,
    source: Source,
    output: Path,
    on_rows: Callable[[str, int], None],
    update_card: bool = False,
) -> list[Split]:
    """Build one dataset into `output/<name>`, replacing what stood there only when all is done.

    Args:
        dataset: What to build.
        source: Its upstream files; splits whose files are missing are left out.
        output: The folder that takes one folder a dataset.
        on_rows: Called with "name config/split" and its rows written so far.
        update_card: Also write the generated parts of the dataset folder's own card anew.

    Raises:
        RecordError: a source file does not hold what it should.
        RowError: a builder gave rows that do not fit.
        OutputError: the folder cannot be written.
    """
    with replacing(output / dataset.name, PROVENANCE) as folder:
        splits: list[Split] = []
        infos: list[dict[str, Any]] = []
        for config in dataset.module.SPLITS:
            builder = strict_builder(dataset, config, source.folder)
            built = [
                _write(generator, builder, folder, dataset.name, on_rows)
                for generator in builder._split_generators(None)
                if source.has(dataset, config, str(generator.name))
            ]
            splits += built
            if built:
                infos.append(_dataset_info(builder, built))
        _write_json(folder / PROVENANCE, _provenance(dataset, source, splits))
        card = render_card(dataset, splits, infos, source.sample)
        (folder / "README.md").write_text(card, encoding="utf-8")
    if update_card:
        card = render_card(dataset, splits, infos, source.sample, declare_all=True)
        dataset.card.write_text(card, encoding="utf-8")
    return splits


def render_card(
    dataset: Dataset,
    splits: list[Split],
    infos: list[dict[str, Any]],
    sample: bool,
    declare_all: bool = False,
) -> str:
    """Return the dataset's card for what was built.

    With `declare_all`, `configs` names the splits that were not built too: the card in the
    dataset folder speaks of the dataset, the one in a hub folder of the files beside it.
    """
    built = {(split.config, split.name): split.rows for split in splits}
    declared = dataset.module.SPLITS
    return render(
        dataset.card.read_text(encoding="utf-8"),
        str(dataset.card),
        {
            config: [name for name in names if declare_all or (config, name) in built]
            for config, names in declared.items()
        },
        dataset.builder.DEFAULT_CONFIG_NAME,
        infos,
        splits_section(
            [(c, name, built.get((c, name))) for c, names in declared.items() for name in names],
            sample,
        ),
    )


def strict_builder(dataset: Dataset, config: str, data_dir: Path) -> Any:
    """Return a builder of the config that reads `data_dir` and checks each record it reads."""
    base = dataset.builder
    strict = type(base.__name__, (Strict, base), {"__module__": base.__module__})
    with tempfile.TemporaryDirectory() as cache:  # datasets wants one, though nothing goes there
        return strict(config_name=config, data_dir=str(data_dir), cache_dir=cache, hash="strict")


def generate(builder: Any, generator: datasets.SplitGenerator, where: str) -> Iterator[Any]:
    """Yield the rows of a split; a repeated key or a broken record is an error."""
    seen = set()
    try:
        for key, row in builder._generate_examples(**generator.gen_kwargs):
            if key in seen:
                raise RowError(
                    f"{where}: the key {key!r} comes twice; keys must be unique in a split. "
                    "Look for the record that upstream holds twice."
                )
            seen.add(key)
            yield row
    except (ValueError, TypeError, KeyError) as error:
        raise RecordError(f"{where}: {error}") from error


def row_groups(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Gather batches of 500 rows into row groups: 1,000 rows, or more while they are under 1 MB.

    A shorter last batch joins the group before it, so that a small split is one group. Few
    groups are better than many small ones: a process that reads one streamed row and ends can
    abort in pyarrow while the group after it is still being read in the background.
    """
    group: list[pa.RecordBatch] = []
    for batch in batches:
        full = len(group) * BATCH >= 1000 and sum(part.nbytes for part in group) >= 1 << 20
        if full and batch.num_rows == BATCH:
            yield pa.Table.from_batches(group)
            group = []
        group.append(batch)
    if group:
        yield pa.Table.from_batches(group)


def _write(
    generator: datasets.SplitGenerator,
    builder: Any,
    folder: Path,
    name: str,
    on_rows: Callable[[str, int], None],
) -> Split:
    start = time.perf_counter()
    config, split = builder.config.name, str(generator.name)
    where = f"{name} {config}/{split}"
    file = f"{config}/{split}-00000-of-00001.parquet"
    path = folder / file
    path.parent.mkdir(exist_ok=True)
    schema = arrow_schema(builder.info.features)
    digest, arrow_size = Digest(), 0

    def batches() -> Iterator[pa.RecordBatch]:
        nonlocal arrow_size
        rows = generate(builder, generator, where)
        while part := list(islice(rows, BATCH)):
            batch = to_batch(part, schema, where, digest.rows)
            digest.update(part)
            arrow_size += batch.nbytes
            on_rows(where, digest.rows)
            yield batch

    # Small row groups and a page index keep streaming and the dataset viewer quick;
    # content-defined chunking lets the Hub store only what a new version changes.
    with pq.ParquetWriter(
        path, schema, write_page_index=True, use_content_defined_chunking=True
    ) as writer:
        for group in row_groups(batches()):
            writer.write_table(group, row_group_size=group.num_rows)
    return Split(
        config,
        split,
        digest.rows,
        path.stat().st_size,
        arrow_size,
        digest.hexdigest(),
        file,
        hashlib.sha256(path.read_bytes()).hexdigest(),
        time.perf_counter() - start,
    )


def _dataset_info(builder: Any, splits: list[Split]) -> dict[str, Any]:
    """Return one entry of the card's `dataset_info`."""
    return {
        "config_name": builder.config.name,
        "license": builder.info.license,
        "features": card_yaml(builder.info.features),
        "splits": [
            {"name": split.name, "num_bytes": split.arrow_size, "num_examples": split.rows}
            for split in splits
        ],
        "download_size": sum(split.size for split in splits),
        "dataset_size": sum(split.arrow_size for split in splits),
    }


def _provenance(dataset: Dataset, source: Source, splits: list[Split]) -> dict[str, Any]:
    configs: dict[str, Any] = {}
    for split in splits:
        configs.setdefault(split.config, {})[split.name] = {
            "rows": split.rows,
            "digest": split.digest,
            "files": [{"path": split.file, "bytes": split.size, "sha256": split.sha256}],
        }
    return {
        "dataset": dataset.name,
        "version": str(dataset.builder.VERSION),
        "sample": source.sample,
        "missing": source.missing,
        "sources": {
            file: dict(pin)
            for file, pin in dataset.module.SOURCES.items()
            if not source.sample and file not in source.missing
        },
        "built_with": {
            "parley": __version__,
            "datasets": version("datasets"),
            "pyarrow": version("pyarrow"),
        },
        "configs": configs,
    }


def _write_json(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
